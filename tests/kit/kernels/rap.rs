//! The RAP paper's transposes of a matrix of doubles: every element is where the
//! other index order has it, however the rows are rotated.

use crate::kernels::harness::TestKernel;

#[test]
fn every_layout_transposes() {
    for order in ["crsw", "srcw", "drdw"] {
        for layout in ["raw", "ras", "rap"] {
            let name = format!("{order}_{layout}");
            TestKernel::load("rap", &name).check(|run| {
                let (input, output) = (run.before::<f64>("in"), run.after::<f64>("out"));
                for (i, value) in input.iter().enumerate() {
                    let (y, x) = (i / 32, i % 32);
                    assert_eq!(output[x * 32 + y], *value, "{name} {i}");
                }
            });
        }
    }
}
