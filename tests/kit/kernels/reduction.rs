//! Sums: integers exactly, in wide arithmetic; floats within their bound.

use crate::kernels::bound::{Approx, assert_within, sum};
use crate::kernels::harness::TestKernel;

fn total(values: &[i32]) -> i32 {
    values.iter().map(|v| i64::from(*v)).sum::<i64>() as i32
}

#[test]
fn integers() {
    for (name, per_block) in [("reduction", 256), ("reduction_sequential", 512)] {
        for n in [1000, 256, 513, 1] {
            let blocks = usize::div_ceil(n, per_block);
            TestKernel::load("reduction", name)
                .grid([blocks as u32, 1, 1])
                .count("in", n)
                .count("sums", blocks)
                .scalar("n", n as u32)
                .check(|run| {
                    let input = run.before::<i32>("in");
                    let want: Vec<i32> = input.chunks(per_block).map(total).collect();
                    assert_eq!(run.after::<i32>("sums"), want, "{name} {n}");
                });
        }
    }
}

#[test]
fn integers_by_warps() {
    for n in [1000usize, 33] {
        TestKernel::load("reduction", "reduction_warps")
            .grid([n.div_ceil(256) as u32, 1, 1])
            .count("in", n)
            .scalar("n", n as u32)
            .check(|run| {
                assert_eq!(run.after::<i32>("sum"), [total(&run.before("in"))], "{n}");
            });
    }
}

#[test]
fn floats_by_shuffles() {
    for (n, blocks) in [(2000, 2), (300, 1), (5, 3)] {
        TestKernel::load("reduction", "reduction_shuffle")
            .grid([blocks as u32, 1, 1])
            .count("in", n)
            .count("sums", blocks)
            .scalar("n", n as u32)
            .check(|run| {
                let input = run.before::<f32>("in");
                // A block takes every blocks-th stretch of 256.
                let of_block = |b: usize| {
                    let mine = move |i: &usize| i / 256 % blocks == b;
                    let terms = (0..n).filter(mine).map(|i| Approx::exact(input[i]));
                    sum(terms)
                };
                let want: Vec<Approx> = (0..blocks).map(of_block).collect();
                assert_within("sums", &run.after("sums"), &want);
            });
    }
}
