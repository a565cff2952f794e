//! Values for programs that carry addresses alone.

static ZEROS: [u64; 64] = [0; 64];

/// Operand of atomics.
static ONES: [u64; 64] = [1; 64];

/// Zeros, and ones for atomics; or values that differ from pass to pass, so
/// that a word which goes astray is seen.
#[derive(Default)]
pub(super) struct Values {
    drawn: Option<Box<Drawn>>,
}

struct Drawn {
    seed: u64,
    passes: u64,
    in_ex: [u64; 64],
    arriving: [u64; 64],
}

impl Values {
    /// Values drawn from `seed`.
    pub(super) fn drawn(seed: u64) -> Self {
        Values {
            drawn: Some(Box::new(Drawn {
                seed,
                passes: 0,
                in_ex: ZEROS,
                arriving: ZEROS,
            })),
        }
    }

    /// A pass enters EX.
    pub(super) fn enter_ex(&mut self) {
        if let Some(drawn) = &mut self.drawn {
            drawn.passes += 1;
            drawn.in_ex = words(drawn.seed ^ drawn.passes);
        }
    }

    /// Operands of the pass in EX.
    pub(super) fn in_ex(&self, atomic: bool) -> &[u64; 64] {
        match &self.drawn {
            Some(drawn) => &drawn.in_ex,
            None if atomic => &ONES,
            None => &ZEROS,
        }
    }

    /// The data of an off-chip pass arrive, and stay until they are taken.
    pub(super) fn arrive(&mut self, warp: usize, tag: u8, pass: u32) {
        if let Some(drawn) = &mut self.drawn {
            let pass = (warp as u64) << 48 | u64::from(tag) << 40 | u64::from(pass) << 32;
            drawn.arriving = words(!drawn.seed ^ pass);
        }
    }

    /// The data from off-chip.
    pub(super) fn arriving(&self) -> &[u64; 64] {
        match &self.drawn {
            Some(drawn) => &drawn.arriving,
            None => &ZEROS,
        }
    }
}

/// A word per lane (SplitMix64).
fn words(seed: u64) -> [u64; 64] {
    let mut state = seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
    std::array::from_fn(|_| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    })
}
