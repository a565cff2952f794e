//! Single accesses with a chosen degree of conflict, and random loads.

use super::block::{Block, Thread, WARP_SIZE};
use crate::hash::uniform;
use crate::trace::AccessTrace;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;

/// Threads below `count` are `stride` apart, the others access their own
/// index (hash paper, section 2; atomics paper, Eq. 1).
fn partly_strided(stride: u32, count: u32) -> (Block, impl Fn(Thread) -> Option<u32>) {
    let words = WARP_SIZE.max(stride * (count - 1) + 1);
    let index = move |t: Thread| Some(if t.x < count { t.x * stride } else { t.x });
    (Block::new([WARP_SIZE, 1, 1], words), index)
}

/// A load of one warp (hash paper, section 2).
pub fn stride(values: &[u32]) -> AccessTrace {
    let (mut block, index) = partly_strided(values[0], values[1]);
    block.phase(|w| w.load(0, &index));
    block.finish()
}

/// An atomic of one warp (atomics paper, Fig. 5): stride 0 gives position
/// conflicts, 32 bank conflicts, 256 bank and lock conflicts.
pub fn atomic(values: &[u32]) -> AccessTrace {
    let (mut block, index) = partly_strided(values[0], values[1]);
    block.phase(|w| w.atomic(0, &index));
    block.finish()
}

/// Loads of uniformly random words by one warp.
pub fn random(values: &[u32]) -> AccessTrace {
    let (accesses, words, seed) = (values[0], values[1], values[2]);
    let mut rng = ChaCha12Rng::seed_from_u64(u64::from(seed));
    let mut block = Block::new([WARP_SIZE, 1, 1], words);
    block.phase(|w| {
        (0..accesses).for_each(|_| w.load(0, |_| Some(uniform(&mut rng, words))));
    });
    block.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Op;

    #[test]
    fn the_example_of_the_hash_paper() {
        // way = 4, stride = 32: [0 32 64 96 4 5 6 ... 31].
        let addrs = &stride(&[32, 4]).accesses[0].addrs;
        assert_eq!(addrs[..6], [0, 32, 64, 96, 4, 5].map(Some));
        assert_eq!(addrs[31], Some(31));
    }

    #[test]
    fn an_atomic_is_one_access_that_fits_its_memory() {
        let trace = atomic(&[256, 32]);
        assert_eq!(trace.accesses.len(), 1);
        assert_eq!(trace.accesses[0].op, Op::Atomic);
        assert_eq!(trace.shared_bytes, 4 * (31 * 256 + 1));
        assert_eq!(atomic(&[0, 32]).accesses[0].addrs, vec![Some(0); 32]);
        assert_eq!(atomic(&[0, 32]).shared_bytes, 128);
    }
}
