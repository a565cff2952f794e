//! The data of a bulk copy.

/// The two sides of a bulk copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    /// Whether it copies from shared memory to global memory, else into shared
    /// memory.
    pub stores: bool,
    /// Pieces of the block's shared memory: byte address and bytes.
    pub shared: Vec<(u64, u64)>,
    /// Pieces of global memory, in the order in which they are accessed.
    pub global: Vec<(u64, u64)>,
    /// Byte address of the `mbarrier` at which the bytes arrive, and their
    /// number; of none it belongs to the bulk group of its warp.
    pub arrives: Option<(u64, u32)>,
}

impl Transfer {
    /// Accesses of shared memory that take all banks at once: the aligned rows
    /// of `bytes` bytes that each piece touches.
    pub(super) fn rows(&self, bytes: u64) -> u64 {
        units(&self.shared, bytes)
    }

    /// Segments of global memory of `bytes` bytes. A segment that several
    /// pieces touch counts for each of them, but for neighbours once.
    pub(super) fn segments(&self, bytes: u64) -> u64 {
        let shared_by = |pair: &[(u64, u64)]| last_unit(pair[0], bytes) == pair[1].0 / bytes;
        let twice = self.global.windows(2).filter(|pair| shared_by(pair));
        units(&self.global, bytes) - twice.count() as u64
    }
}

/// Aligned units that the pieces touch, each by itself. No piece is empty.
fn units(pieces: &[(u64, u64)], bytes: u64) -> u64 {
    let of = |&piece: &(u64, u64)| last_unit(piece, bytes) - piece.0 / bytes + 1;
    pieces.iter().map(of).sum()
}

fn last_unit((start, length): (u64, u64), bytes: u64) -> u64 {
    start.saturating_add(length.saturating_sub(1)) / bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_segments_are_those_that_are_touched() {
        let transfer = |shared: &[(u64, u64)], global: &[(u64, u64)]| Transfer {
            shared: shared.to_vec(),
            global: global.to_vec(),
            ..Transfer::default()
        };
        let aligned = transfer(&[(256, 512)], &[(4096, 512)]);
        assert_eq!((aligned.rows(128), aligned.segments(64)), (4, 8));
        let shifted = transfer(&[(272, 512)], &[(4112, 512)]);
        assert_eq!((shifted.rows(128), shifted.segments(64)), (5, 9));
        // Two rows of a tensor in one segment, then one elsewhere.
        let tensor = transfer(&[(0, 96)], &[(0, 32), (48, 16), (640, 48)]);
        assert_eq!((tensor.rows(128), tensor.segments(64)), (1, 2));
    }
}
