//! `spad_release_register`: registers the release outputs of relssp
//! (microarchitecture/relssp.md; only where AHEAD > 0).

use super::spad_relssp::RelsspOutputs;

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReleaseInputs {
    /// Synchronous reset.
    pub rst: bool,
    /// A block starts in this slot.
    pub launch: Option<usize>,
    /// The outputs of relssp in this cycle.
    pub now: RelsspOutputs,
}

/// The register.
#[derive(Clone, Debug)]
pub struct ReleaseRegister {
    shown: RelsspOutputs,
    blocks: u32,
}

impl ReleaseRegister {
    /// The register for `blocks` slots, after reset.
    pub fn new(blocks: u32) -> Self {
        ReleaseRegister {
            shown: RelsspOutputs {
                rel_done: u64::MAX >> (u64::BITS - blocks),
                live: 0,
                unlock: 0,
            },
            blocks,
        }
    }

    /// The outputs; registered.
    pub fn eval(&self) -> RelsspOutputs {
        self.shown
    }

    /// The clock edge. A block that is launched does not look dead in its
    /// first cycle.
    pub fn commit(&mut self, inputs: &ReleaseInputs) {
        if inputs.rst {
            *self = ReleaseRegister::new(self.blocks);
            return;
        }
        self.shown = inputs.now;
        if let Some(block) = inputs.launch {
            self.shown.rel_done &= !(1 << block);
            self.shown.live |= 1 << block;
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &ReleaseInputs) -> RelsspOutputs {
        let outputs = self.eval();
        self.commit(inputs);
        outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launched_block_lives_before_its_threads_are_seen() {
        let mut register = ReleaseRegister::new(4);
        assert_eq!(register.eval().rel_done, 0b1111);
        let now = RelsspOutputs {
            rel_done: 0b1111,
            live: 0b0001,
            unlock: 0b0001,
        };
        register.step(&ReleaseInputs {
            rst: false,
            launch: Some(2),
            now,
        });
        let shown = RelsspOutputs {
            rel_done: 0b1011,
            live: 0b0101,
            unlock: 0b0001,
        };
        assert_eq!(register.eval(), shown);
        register.step(&ReleaseInputs {
            rst: true,
            ..ReleaseInputs::default()
        });
        assert_eq!(
            (register.eval().rel_done, register.eval().live),
            (0b1111, 0)
        );
    }
}
