//! Scalar products in double precision.

use crate::kernels::bound::{Approx, assert_within, sum};
use crate::kernels::harness::TestKernel;

#[test]
fn products() {
    for (name, vectors, elements, blocks) in [
        ("scalarprod", 5usize, 2000usize, 2),
        ("scalarprod", 1, 1024, 1),
        ("scalarprod", 3, 77, 4),
        ("scalarprod_long", 3, 2100, 2),
        ("scalarprod_long", 1, 1000, 1),
    ] {
        TestKernel::load("scalarprod", name)
            .grid([blocks, 1, 1])
            .count("a", vectors * elements)
            .count("b", vectors * elements)
            .count("out", vectors)
            .scalar("vectors", vectors as i32)
            .scalar("elements", elements as i32)
            .check(|run| {
                let (a, b) = (run.before::<f32>("a"), run.before::<f32>("b"));
                let product = |i: usize| Approx::exact(a[i]) * Approx::exact(b[i]);
                let dot = |v: usize| sum((v * elements..(v + 1) * elements).map(product));
                let want: Vec<Approx> = (0..vectors).map(dot).collect();
                assert_within("out", &run.after("out"), &want);
            });
    }
}
