//! Histograms of blocks of 7168 bytes.

use crate::kernels::harness::TestKernel;

#[test]
fn each_block_counts_its_values() {
    for (blocks, seed) in [(2usize, 1), (1, 7)] {
        TestKernel::load("bytehist", "bytehist")
            .grid([blocks as u32, 1, 1])
            .count("histograms", 224 * blocks)
            .count("values", 7168 * blocks)
            .seed("values", seed)
            .check(|run| {
                let mut want = vec![0u32; 224 * blocks];
                for (i, value) in run.before::<u8>("values").into_iter().enumerate() {
                    want[i / 7168 * 224 + usize::from(value)] += 1;
                }
                assert_eq!(run.after::<u32>("histograms"), want);
            });
    }
}

/// All values of a thread in one bin: the most that a byte has to count.
#[test]
fn one_value() {
    TestKernel::load("bytehist", "bytehist")
        .grid([1, 1, 1])
        .count("histograms", 224)
        .data("values", &[223u8; 7168])
        .check(|run| {
            let histogram = run.after::<u32>("histograms");
            assert_eq!(histogram[223], 7168);
            assert!(histogram[..223].iter().all(|n| *n == 0));
        });
}
