//! Fast Walsh transform against the definition: element i is the sum of all
//! inputs j with the sign of the parity of i AND j.

use crate::kernels::bound::{Approx, assert_within, sum};
use crate::kernels::harness::TestKernel;

#[test]
fn transforms() {
    for (log2n, batches) in [(11, 2), (10, 1), (5, 3), (4, 2)] {
        let n = 1usize << log2n;
        TestKernel::load("fwt", "fwt")
            .grid([batches, 1, 1])
            .block([n as u32 / 4, 1, 1])
            .dynamic_shared(4 * n as u32)
            .count("in", n * batches as usize)
            .count("out", n * batches as usize)
            .scalar("log2n", log2n)
            .check(|run| {
                let input = run.before::<f32>("in");
                let element = |at: usize| {
                    let (base, i) = (at - at % n, at % n);
                    let term = |j: usize| {
                        let value = Approx::exact(input[base + j]);
                        if (i & j).count_ones().is_multiple_of(2) {
                            value
                        } else {
                            -value
                        }
                    };
                    sum((0..n).map(term))
                };
                let want: Vec<Approx> = (0..input.len()).map(element).collect();
                assert_within("out", &run.after("out"), &want);
            });
    }
}
