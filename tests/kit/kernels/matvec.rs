//! Matrix times vector, by rows.

use crate::kernels::bound::{Approx, assert_within, sum};
use crate::kernels::harness::TestKernel;

#[test]
fn rows_times_vector() {
    for (blocks, width) in [(2usize, 64usize), (1, 32), (3, 160)] {
        TestKernel::load("matvec", "matvec")
            .grid([blocks as u32, 1, 1])
            .count("out", 32 * blocks)
            .count("matrix", 32 * blocks * width)
            .count("vector", width)
            .scalar("width", width as i32)
            .check(|run| {
                let (matrix, vector) = (run.before::<f32>("matrix"), run.before::<f32>("vector"));
                let row = |row: &[f32]| {
                    let terms = row.iter().zip(&vector);
                    sum(terms.map(|(m, v)| Approx::exact(*m) * Approx::exact(*v)))
                };
                let want: Vec<Approx> = matrix.chunks(width).map(row).collect();
                assert_within("out", &run.after("out"), &want);
            });
    }
}
