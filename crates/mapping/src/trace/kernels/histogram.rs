//! Histogram with shared atomics on a seeded image.

use super::block::{Block, WARP_SIZE};
use crate::hash::uniform;
use crate::trace::AccessTrace;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;

/// Warps of the block; each has a histogram of its own.
const WARPS: u32 = 6;
const THREADS: u32 = WARPS * WARP_SIZE;
const BINS: u32 = 256;
/// Pixels from one ridge of the smooth image to the next.
const PERIOD: u32 = 384;

/// 256-bin histogram (CUDA samples): the sub-histograms are cleared, each
/// thread counts the 4 pixels of each of its words with atomics, the
/// sub-histograms are summed up.
pub fn hist256(values: &[u32]) -> AccessTrace {
    let (words, noise, seed) = (values[0], values[1], values[2]);
    let mut rng = ChaCha12Rng::seed_from_u64(u64::from(seed));
    let mut pixel = |index: u32| {
        let phase = index % PERIOD;
        let smooth = phase.min(PERIOD - phase) * (BINS - 1) / (PERIOD / 2);
        // A mixture that stays below 256.
        let random = if noise == 0 {
            0
        } else {
            uniform(&mut rng, noise)
        };
        smooth * (BINS - noise) / BINS + random
    };
    let mut block = Block::new([THREADS, 1, 1], WARPS * BINS);
    block.phase_then_barrier(|w| {
        (0..WARPS * BINS / THREADS).for_each(|i| w.store(0, |t| Some(t.x + i * THREADS)));
    });
    block.phase_then_barrier(|w| {
        let base = w.index * BINS;
        for word in 0..words {
            for byte in 0..4 {
                w.atomic(1 + byte, |t| {
                    Some(base + pixel(4 * (t.x + word * THREADS) + byte))
                });
            }
        }
    });
    block.phase(|w| {
        for first in [0, THREADS] {
            for warp in 0..WARPS {
                let bin = |x: u32| Some(x + first).filter(|&bin| bin < BINS);
                w.load(5, |t| bin(t.x).map(|bin| bin + warp * BINS));
            }
        }
    });
    block.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Op;

    #[test]
    fn the_image_is_seeded_and_smooth_without_noise() {
        assert_eq!(hist256(&[2, 64, 1]), hist256(&[2, 64, 1]));
        assert_ne!(hist256(&[2, 64, 1]), hist256(&[2, 64, 2]));
        let smooth = hist256(&[4, 0, 1]);
        assert_eq!(smooth, hist256(&[4, 0, 2]));
        for access in smooth.accesses.iter().filter(|a| a.op == Op::Atomic) {
            let lanes: Vec<u32> = access.addrs.iter().copied().flatten().collect();
            assert!(lanes.windows(2).all(|w| w[0].abs_diff(w[1]) <= 6));
        }
    }

    #[test]
    fn each_warp_keeps_to_its_own_histogram() {
        let trace = hist256(&[8, 256, 3]);
        let atomics: Vec<_> = trace
            .accesses
            .iter()
            .filter(|a| a.op == Op::Atomic)
            .collect();
        assert_eq!(atomics.len(), 6 * 8 * 4);
        for access in atomics {
            let range = access.warp * 256..(access.warp + 1) * 256;
            assert!(access.addrs.iter().flatten().all(|a| range.contains(a)));
        }
    }
}
