//! Matrix multiplication: each element as a dot product in double precision.

use crate::kernels::bound::{Approx, assert_within, sum};
use crate::kernels::harness::TestKernel;

#[test]
fn products() {
    for (name, tile, sizes) in [
        ("matmul", 32, [32, 64]),
        ("matmul16", 16, [16, 48]),
        ("matmul_wide", 64, [64, 128]),
    ] {
        for n in sizes {
            let blocks = (n / tile) as u32;
            TestKernel::load("matmul", name)
                .grid([blocks, blocks, 1])
                .count("a", n * n)
                .count("b", n * n)
                .count("c", n * n)
                .scalar("n", n as i32)
                .check(|run| {
                    let (a, b) = (run.before::<f32>("a"), run.before::<f32>("b"));
                    let dot = |i: usize| {
                        let (row, column) = (i / n, i % n);
                        let exact = Approx::exact;
                        sum((0..n).map(|k| exact(a[row * n + k]) * exact(b[k * n + column])))
                    };
                    let want: Vec<Approx> = (0..n * n).map(dot).collect();
                    assert_within(name, &run.after("c"), &want);
                });
        }
    }
}
