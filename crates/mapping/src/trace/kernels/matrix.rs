//! Tiles of dense matrices: transpose and multiplication.

use super::block::Block;
use crate::trace::AccessTrace;

/// Matrix transpose through a tile (hash paper, sections 3.2.1 and 3.2.2):
/// `tile[ty][tx] = in`, barrier, `out = tile[tx][ty]`.
pub fn transpose(values: &[u32]) -> AccessTrace {
    let (tile, pad) = (values[0], values[1]);
    let row = tile + pad;
    let mut block = Block::new([tile, tile, 1], tile * row);
    block.phase_then_barrier(|w| w.store(0, |t| Some(t.y * row + t.x)));
    block.phase(|w| w.load(1, |t| Some(t.x * row + t.y)));
    block.finish()
}

/// Tiled multiplication C = A B: per step along the inner dimension both tiles
/// are stored, then each thread walks a row of A and a column of B.
pub fn matmul(values: &[u32]) -> AccessTrace {
    let (tile, tiles) = (values[0], values[1]);
    let b = tile * tile;
    let mut block = Block::new([tile, tile, 1], 2 * b);
    for _ in 0..tiles {
        block.phase_then_barrier(|w| {
            w.store(0, |t| Some(t.y * tile + t.x));
            w.store(1, |t| Some(b + t.y * tile + t.x));
        });
        block.phase_then_barrier(|w| {
            for k in 0..tile {
                w.load(2, |t| Some(t.y * tile + k));
                w.load(3, |t| Some(b + k * tile + t.x));
            }
        });
    }
    block.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::ConflictProfile;

    fn conflicts(trace: &AccessTrace) -> u64 {
        ConflictProfile::new(trace, 32).count(|a| a % 32).conflicts
    }

    #[test]
    fn transpose_accesses_are_those_listed_in_the_hash_paper() {
        let trace = transpose(&[16, 0]);
        let addrs =
            |i: usize| -> Vec<u32> { trace.accesses[i].addrs.iter().copied().flatten().collect() };
        // Section 3.2.1: 0, 1, 2, ..., 31. Section 3.2.2: 0, 16, 32, ..., 240, 1, 17, ..., 241.
        assert_eq!(addrs(0), (0..32).collect::<Vec<_>>());
        let column = |first: u32| (0..16).map(move |i| first + 16 * i);
        assert_eq!(addrs(8), column(0).chain(column(1)).collect::<Vec<_>>());
        assert_eq!(trace.barriers, [8]);
        // 8-way conflicts in each of the 8 loads.
        assert_eq!(conflicts(&trace), 8 * 7);
    }

    #[test]
    fn one_word_of_padding_removes_the_conflicts_of_a_full_tile() {
        assert_eq!(conflicts(&transpose(&[32, 0])), 32 * 31);
        assert_eq!(conflicts(&transpose(&[32, 1])), 0);
    }

    #[test]
    fn matmul_has_no_conflicts() {
        assert_eq!(conflicts(&matmul(&[32, 2])), 0);
        assert_eq!(conflicts(&matmul(&[16, 2])), 0);
        // 32 warps, 2 stores and 32 times 2 loads, twice.
        assert_eq!(matmul(&[32, 2]).accesses.len(), 2 * 32 * (2 + 64));
    }
}
