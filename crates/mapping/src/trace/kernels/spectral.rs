//! Butterfly transforms: fast Walsh transform, FFT, DCT 8 x 8.

use super::block::{Block, Thread, Warp};
use crate::trace::AccessTrace;

/// Fast Walsh transform of n elements by n / 4 threads (hash paper, section
/// 3.2.4): `lo = pos & (stride - 1)`, `i0 = ((pos - lo) << 2) + lo`, and the
/// other three of the radix-4 butterfly `stride` apart; a radix-2 stage last
/// where log2 n is odd.
pub fn fwt(values: &[u32]) -> AccessTrace {
    let log2n = values[0];
    let n = 1 << log2n;
    let threads = n / 4;
    let mut block = Block::new([threads, 1, 1], n);
    block.phase_then_barrier(|w| {
        (0..4).for_each(|k| w.store(0, |t| Some(t.x + k * threads)));
    });
    let mut stride = n / 4;
    while stride > 0 {
        let i0 = |pos: u32| {
            let lo = pos & (stride - 1);
            ((pos - lo) << 2) + lo
        };
        block.phase_then_barrier(|w| {
            (0..4).for_each(|k| w.load(1 + k, |t| Some(i0(t.x) + k * stride)));
            (0..4).for_each(|k| w.store(5 + k, |t| Some(i0(t.x) + k * stride)));
        });
        stride /= 4;
    }
    if log2n % 2 == 1 {
        block.phase_then_barrier(|w| {
            for first in [0, threads] {
                let i0 = |t: Thread| 2 * (t.x + first);
                (0..2).for_each(|k| w.load(9 + k, |t| Some(i0(t) + k)));
                (0..2).for_each(|k| w.store(11 + k, |t| Some(i0(t) + k)));
            }
        });
    }
    block.phase(|w| (0..4).for_each(|k| w.load(13, |t| Some(t.x + k * threads))));
    block.finish()
}

/// Radix-2 FFT of n complex elements by n / 2 threads, decimation in time. The
/// input is stored in bit-reversed order, real parts in words 0..n, followed by
/// the imaginary parts. Then come log2 n stages of butterflies in place.
pub fn fft(values: &[u32]) -> AccessTrace {
    let log2n = values[0];
    let n: u32 = 1 << log2n;
    let threads = n / 2;
    let reversed = |i: u32| i.reverse_bits() >> (32 - log2n);
    let mut block = Block::new([threads, 1, 1], 2 * n);
    block.phase_then_barrier(|w| {
        for first in [0, threads] {
            w.store(0, |t| Some(reversed(t.x + first)));
            w.store(1, |t| Some(n + reversed(t.x + first)));
        }
    });
    for half in (0..log2n).map(|stage| 1 << stage) {
        let upper = |t: Thread| {
            let lo = t.x & (half - 1);
            2 * (t.x - lo) + lo
        };
        let words = [0, n, half, n + half];
        block.phase_then_barrier(|w| {
            for (pc, offset) in (2..).zip(words) {
                w.load(pc, |t| Some(upper(t) + offset));
            }
            for (pc, offset) in (6..).zip(words) {
                w.store(pc, |t| Some(upper(t) + offset));
            }
        });
    }
    block.phase(|w| {
        for first in [0, threads] {
            w.load(10, |t| Some(t.x + first));
            w.load(11, |t| Some(n + t.x + first));
        }
    });
    block.finish()
}

/// Sides of the area that one block transforms.
const DCT_WIDTH: u32 = 32;
const DCT_HEIGHT: u32 = 16;
/// Order in which the 8-point DCT reads its inputs (pairs of the first
/// butterfly) and writes its outputs (even coefficients first).
const DCT_READS: [u32; 8] = [0, 7, 1, 6, 2, 5, 3, 4];
const DCT_WRITES: [u32; 8] = [0, 2, 4, 6, 1, 3, 5, 7];

/// 8 x 8 DCT of a 32 x 16 area by 8 x 4 x 2 threads, in place: each thread
/// transforms one row of 8, after a barrier one column of 8.
pub fn dct8x8(values: &[u32]) -> AccessTrace {
    let row = DCT_WIDTH + values[0];
    let mut block = Block::new([8, 4, 2], DCT_HEIGHT * row);
    let column_top = |t: Thread| t.z * 8 * row + t.y * 8 + t.x;
    let row_start = |t: Thread| (t.z * 8 + t.x) * row + t.y * 8;
    block.phase_then_barrier(|w| {
        (0..8).for_each(|k| w.store(0, |t| Some(column_top(t) + k * row)));
    });
    block.phase_then_barrier(|w| dct8(w, 1, row_start, 1));
    block.phase_then_barrier(|w| dct8(w, 17, column_top, row));
    block.phase(|w| (0..8).for_each(|k| w.load(33, |t| Some(column_top(t) + k * row))));
    block.finish()
}

/// One 8-point DCT per thread, its elements `step` apart; sites pc to pc + 15.
fn dct8(w: &mut Warp, pc: u32, start: impl Fn(Thread) -> u32, step: u32) {
    for (pc, k) in (pc..).zip(DCT_READS) {
        w.load(pc, |t| Some(start(t) + k * step));
    }
    for (pc, k) in (pc + 8..).zip(DCT_WRITES) {
        w.store(pc, |t| Some(start(t) + k * step));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addrs(trace: &AccessTrace, i: usize) -> Vec<u32> {
        trace.accesses[i].addrs.iter().copied().flatten().collect()
    }

    #[test]
    fn fwt_addresses_are_those_listed_in_the_hash_paper() {
        let trace = fwt(&[11]);
        // Section 3.2.4, warp 0 with stride 8, the fourth radix-4 stage:
        // 0..7, 32..39, 64..71, 96..103.
        let expected: Vec<u32> = [0, 32, 64, 96].iter().flat_map(|&b| b..b + 8).collect();
        let stage = trace.barriers[3] as usize;
        assert_eq!(addrs(&trace, stage), expected);
        assert_eq!(trace.barriers.len(), 7);
        assert_eq!(trace.accesses.len(), 896);
    }

    /// In every stage, the loads touch each word exactly once.
    fn stages_cover_each_word_once(trace: &AccessTrace, words: usize, stages: usize) {
        for stage in 0..stages {
            let range = trace.barriers[stage] as usize..trace.barriers[stage + 1] as usize;
            let mut seen = vec![0; words];
            for access in &trace.accesses[range] {
                if access.op == crate::trace::Op::Load {
                    access
                        .addrs
                        .iter()
                        .flatten()
                        .for_each(|&a| seen[a as usize] += 1);
                }
            }
            assert!(seen.iter().all(|&n| n == 1), "stage {stage}");
        }
    }

    #[test]
    fn every_stage_covers_each_word_once() {
        stages_cover_each_word_once(&fwt(&[9]), 512, 5);
        stages_cover_each_word_once(&fwt(&[10]), 1024, 5);
        stages_cover_each_word_once(&fft(&[8]), 512, 8);
        stages_cover_each_word_once(&dct8x8(&[0]), 512, 2);
    }

    #[test]
    fn bit_reversed_stores_conflict_in_one_bank() {
        // 32 consecutive elements are n / 32 apart.
        assert_eq!(
            addrs(&fft(&[10]), 0)[..5],
            [0, 512, 256, 768, 128],
            "reversed 0, 1, 2, 3, 4"
        );
    }
}
