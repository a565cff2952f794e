//! Haar wavelet by its definition: inner products with the wavelets.

use crate::kernels::bound::{Approx, assert_within, sum};
use crate::kernels::harness::TestKernel;

#[test]
fn decomposition() {
    for (blocks, seed) in [(2usize, 1), (1, 2), (3, 3)] {
        TestKernel::load("haar", "haar")
            .grid([blocks as u32, 1, 1])
            .count("in", 512 * blocks)
            .count("out", 512 * blocks)
            .seed("in", seed)
            .check(|run| {
                let input = run.before::<f32>("in");
                let element = |at: usize| {
                    // The approximations come first; they have one wavelet per block.
                    let per_block = (at / blocks).max(1).ilog2();
                    let n = 1usize << per_block;
                    let (first, width) = if at < blocks {
                        (at * 512, 512)
                    } else {
                        ((at - n * blocks) * (512 / n), 512 / n)
                    };
                    let sign = |i: usize| {
                        if at >= blocks && i >= width / 2 {
                            -1.0
                        } else {
                            1.0
                        }
                    };
                    let scale = Approx::constant(1.0 / (width as f64).sqrt());
                    let term = |i: usize| Approx::exact(input[first + i] * sign(i));
                    // Each level multiplies by a rounded root and rounds.
                    (sum((0..width).map(term)) * scale).rounded(2.0 * 9.0)
                };
                let want: Vec<Approx> = (0..input.len()).map(element).collect();
                assert_within("out", &run.after("out"), &want);
            });
    }
}
