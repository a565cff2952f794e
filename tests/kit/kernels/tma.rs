//! Copies by tensor maps: the output is the transpose of the input, whatever
//! sticks out of the matrix.

use crate::kernels::harness::TestKernel;

#[test]
fn tiles_by_tensor_copies() {
    for name in ["tma_transpose", "tma_transpose_swizzled"] {
        TestKernel::load("tma", name).check(|run| {
            let (input, output) = (run.before::<i32>("in"), run.after::<i32>("out"));
            for (i, value) in input.iter().enumerate() {
                assert_eq!(output[i % 40 * 52 + i / 40], *value, "{name} {i}");
            }
        });
    }
}
