//! Neighbourhoods: separable convolution, Needleman-Wunsch wavefront.

use super::block::{Block, Thread};
use crate::trace::AccessTrace;

/// Threads of a row of the convolution's block, and words of its halo.
const CONV_COLUMNS: u32 = 16;

/// Row pass of the separable convolution (CUDA samples): 16 columns of
/// threads, `steps` results per thread, a halo of 16 words on either side.
pub fn conv_rows(values: &[u32]) -> AccessTrace {
    let (radius, steps, rows) = (values[0], values[1], values[2]);
    let row = (steps + 2) * CONV_COLUMNS;
    let at = |t: Thread, step: u32| t.y * row + t.x + step * CONV_COLUMNS;
    let mut block = Block::new([CONV_COLUMNS, rows, 1], rows * row);
    block.phase_then_barrier(|w| {
        (1..=steps).for_each(|step| w.store(0, |t| Some(at(t, step))));
        w.store(1, |t| Some(at(t, 0)));
        w.store(2, |t| Some(at(t, steps + 1)));
    });
    block.phase(|w| {
        for step in 1..=steps {
            for tap in 0..=2 * radius {
                w.load(3, |t| Some(at(t, step) + tap - radius));
            }
        }
    });
    block.finish()
}

/// Needleman-Wunsch on one tile of side b by b threads (Rodinia): a (b + 1) x
/// (b + 1) score tile with its upper and left border, followed by the b x b
/// reference. The wavefront runs over the anti-diagonals.
pub fn needleman_wunsch(values: &[u32]) -> AccessTrace {
    let b = values[0];
    let score = |y: u32, x: u32| y * (b + 1) + x;
    let reference = |y: u32, x: u32| (b + 1) * (b + 1) + y * b + x;
    let mut block = Block::new([b, 1, 1], (b + 1) * (b + 1) + b * b);
    block.phase_then_barrier(|w| {
        w.store(0, |t| (t.x == 0).then_some(score(0, 0)));
        (0..b).for_each(|y| w.store(1, |t| Some(reference(y, t.x))));
    });
    block.phase_then_barrier(|w| w.store(2, |t| Some(score(t.x + 1, 0))));
    block.phase_then_barrier(|w| w.store(3, |t| Some(score(0, t.x + 1))));

    let mut wavefront = |pc: u32, m: u32, cell: &dyn Fn(u32) -> (u32, u32)| {
        // Cell (y, x) of thread t, if it takes part in this anti-diagonal.
        let cell = |t: Thread| (t.x <= m).then(|| cell(t.x));
        block.phase_then_barrier(|w| {
            w.load(pc, |t| cell(t).map(|(y, x)| score(y - 1, x)));
            w.load(pc + 1, |t| cell(t).map(|(y, x)| score(y, x - 1)));
            w.load(pc + 2, |t| cell(t).map(|(y, x)| score(y - 1, x - 1)));
            w.load(pc + 3, |t| cell(t).map(|(y, x)| reference(y - 1, x - 1)));
            w.store(pc + 4, |t| cell(t).map(|(y, x)| score(y, x)));
        });
    };
    for m in 0..b {
        wavefront(4, m, &|t| (m - t + 1, t + 1));
    }
    for m in (0..b - 1).rev() {
        wavefront(9, m, &|t| (b - t, t + b - m));
    }
    block.phase(|w| (1..=b).for_each(|y| w.load(14, |t| Some(score(y, t.x + 1)))));
    block.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wavefront_reads_only_what_was_written() {
        let trace = needleman_wunsch(&[8]);
        let mut written = [false; 81 + 64];
        for access in &trace.accesses {
            for &addr in access.addrs.iter().flatten() {
                match access.op {
                    crate::trace::Op::Store => written[addr as usize] = true,
                    _ => assert!(written[addr as usize], "pc {} word {addr}", access.pc),
                }
            }
        }
        assert!(written.iter().all(|&w| w));
    }

    #[test]
    fn convolution_taps_reach_the_radius() {
        let trace = conv_rows(&[16, 1, 2]);
        let first = &trace.accesses[trace.barriers[0] as usize];
        let last = trace.accesses.last().unwrap();
        assert_eq!((first.addrs[0], first.addrs[16]), (Some(0), Some(48)));
        assert_eq!((last.addrs[15], last.addrs[31]), (Some(47), Some(95)));
    }
}
