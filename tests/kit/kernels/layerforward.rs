//! The forward pass of a layer by tiles of 16: sums of products.

use crate::kernels::bound::{Approx, sum};
use crate::kernels::harness::TestKernel;

#[test]
fn partial_sums() {
    TestKernel::load("layerforward", "layerforward").check(|run| {
        let (input, weights) = (run.before::<f32>("input"), run.before::<f32>("weights"));
        let partial = run.after::<f32>("partial");
        for (i, &partial) in partial.iter().enumerate() {
            let (block, column) = (i / 16, i % 16);
            let expected = sum((0..16).map(|row| {
                let row = block * 16 + row + 1;
                Approx::exact(input[row]) * Approx::exact(weights[row * 17 + column + 1])
            }));
            let error = (f64::from(partial) - expected.value).abs();
            assert!(error <= expected.error, "{i}: {partial}");
        }
    });
}
