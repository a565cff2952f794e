//! Two kernels of Rodinia: one without conflicts, one with 64-bit records.

use super::block::{Block, Thread};
use crate::trace::{AccessTrace, Op};

/// Side of the weight tile.
const LAYER: u32 = 16;

/// Layer forward of back propagation: 16 inputs, then the 16 x 16 weight tile;
/// products, a tree sum over the rows, the sums written out.
pub fn backprop(_: &[u32]) -> AccessTrace {
    let input = |y: u32| y;
    let weight = |y: u32, x: u32| LAYER + y * LAYER + x;
    let mut block = Block::new([LAYER, LAYER, 1], LAYER + LAYER * LAYER);
    block.phase_then_barrier(|w| w.store(0, |t| (t.x == 0).then_some(input(t.y))));
    block.phase_then_barrier(|w| w.store(1, |t| Some(weight(t.y, t.x))));
    block.phase_then_barrier(|w| {
        w.load(2, |t| Some(weight(t.y, t.x)));
        w.load(3, |t| Some(input(t.y)));
        w.store(4, |t| Some(weight(t.y, t.x)));
    });
    for power in (1..=LAYER.ilog2()).map(|i| 1 << i) {
        let adds = |t: Thread| t.y.is_multiple_of(power);
        block.phase_then_barrier(|w| {
            w.load(5, |t| adds(t).then_some(weight(t.y, t.x)));
            w.load(6, |t| adds(t).then_some(weight(t.y + power / 2, t.x)));
            w.store(7, |t| adds(t).then_some(weight(t.y, t.x)));
        });
    }
    block.phase_then_barrier(|w| w.load(8, |t| Some(weight(t.y, t.x))));
    block.phase(|w| w.load(9, |t| (t.x == 0).then_some(weight(t.x, t.y))));
    block.finish()
}

/// Threads of the block, words of a particle (four doubles v, x, y, z), words
/// of a charge.
const PARTICLE_THREADS: u32 = 128;
const PARTICLE_WORDS: u32 = 8;
const CHARGE_WORDS: u32 = 2;

/// Particle interactions of one box with itself: particles of the home box, of
/// the neighbour box and its charges are stored, then every thread's particle
/// meets each particle of the neighbour.
pub fn lavamd(values: &[u32]) -> AccessTrace {
    let particles = values[0];
    let (neighbour, charges) = (particles * PARTICLE_WORDS, 2 * particles * PARTICLE_WORDS);
    let words = charges + particles * CHARGE_WORDS;
    let mut block = Block::new([PARTICLE_THREADS, 1, 1], words);
    let own = |t: Thread, word: u32| (t.x < particles).then_some(t.x * PARTICLE_WORDS + word);
    // Words of v, x, y, z.
    let fields = [0, 2, 4, 6];
    block.phase_then_barrier(|w| {
        for (pc, word) in (0..).zip(fields) {
            w.access(pc, Op::Store, 8, |t| own(t, word));
        }
    });
    block.phase_then_barrier(|w| {
        for (pc, word) in (4..).zip(fields) {
            w.access(pc, Op::Store, 8, |t| own(t, word).map(|a| a + neighbour));
        }
        let charge = |t: Thread| (t.x < particles).then_some(charges + t.x * CHARGE_WORDS);
        w.access(8, Op::Store, 8, charge);
    });
    block.phase_then_barrier(|w| {
        for j in 0..particles {
            // The squared distance takes v, x, y, z; the forces x, y, z again.
            for (pc, word) in (9..).step_by(2).zip([0, 2, 4, 6, 2, 4, 6]) {
                let other = neighbour + j * PARTICLE_WORDS + word;
                w.access(pc, Op::Load, 8, |t| own(t, word));
                w.access(pc + 1, Op::Load, 8, |t| own(t, 0).map(|_| other));
            }
            for pc in 23..27 {
                let charge = charges + j * CHARGE_WORDS;
                w.access(pc, Op::Load, 8, |t| own(t, 0).map(|_| charge));
            }
        }
    });
    block.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::ConflictProfile;

    #[test]
    fn conflicts_are_those_of_the_record_size() {
        let count = |trace: &AccessTrace| ConflictProfile::new(trace, 32).count(|a| a % 32);
        assert_eq!(count(&backprop(&[])).conflicts, 0);
        // 32 records of 8 words: the first word of each is in one of 4 banks.
        assert_eq!(count(&lavamd(&[128])).max_degree, 8);
    }

    #[test]
    fn idle_warps_of_a_small_box_do_nothing() {
        let trace = lavamd(&[32]);
        assert!(trace.accesses.iter().all(|a| a.warp == 0));
        assert_eq!(trace.accesses.len(), 4 + 5 + 32 * 18);
    }
}
