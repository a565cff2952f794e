//! Sorting: the standard library's stable sort of each block of 1024.

use crate::kernels::harness::TestKernel;

#[test]
fn bitonic() {
    for (blocks, seed) in [(2, 1), (1, 5)] {
        TestKernel::load("sort", "bitonic")
            .grid([blocks as u32, 1, 1])
            .count("keys", 1024 * blocks)
            .seed("keys", seed)
            .check(|run| {
                let mut want = run.before::<u32>("keys");
                want.chunks_mut(1024).for_each(<[u32]>::sort_unstable);
                assert_eq!(run.after::<u32>("keys"), want);
            });
    }
}

#[test]
fn merging_keeps_the_order_of_equals() {
    for (blocks, seed) in [(2, 1), (1, 6)] {
        TestKernel::load("sort", "merge_sort")
            .grid([blocks as u32, 1, 1])
            .count("keys", 1024 * blocks)
            .count("values", 1024 * blocks)
            .seed("keys", seed)
            .check(|run| {
                let (keys, values) = (run.before::<u32>("keys"), run.before::<u32>("values"));
                let mut pairs: Vec<(u32, u32)> = keys.into_iter().zip(values).collect();
                // With keys below 500 there are equals in every block.
                pairs
                    .chunks_mut(1024)
                    .for_each(|block| block.sort_by_key(|p| p.0));
                let (keys, values): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
                assert_eq!(run.after::<u32>("keys"), keys);
                assert_eq!(run.after::<u32>("values"), values);
            });
    }
}
