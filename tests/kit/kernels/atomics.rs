//! The synthetic atomics: what each counter receives.

use crate::kernels::harness::TestKernel;

#[test]
fn counters() {
    for (stride, way, times) in [(32u32, 8u32, 3u32), (0, 32, 2), (256, 16, 1), (1, 0, 1)] {
        TestKernel::load("atomics", "atomics")
            .scalar("stride", stride)
            .scalar("way", way)
            .scalar("times", times)
            .check(|run| {
                let mut want = vec![0u32; 8192];
                for (thread, i) in (0..64u32).flat_map(|t| (0..times).map(move |i| (t, i))) {
                    let lane = thread % 32;
                    let word = if lane < way { lane * stride } else { lane };
                    want[word as usize % 8192] += thread + i;
                }
                assert_eq!(run.after::<u32>("counters"), want);
            });
    }
}
