//! Matrix products through tiles: each element as a dot product in double
//! precision.

use crate::kernels::bound::{Approx, assert_within, sum};
use crate::kernels::harness::{Run, TestKernel};

/// The value of a half, by its definition.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    match exponent {
        0 => sign * fraction * 2f64.powi(-24),
        _ => sign * (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

fn halves(run: &Run, name: &str) -> Vec<Approx> {
    let bits = run.before::<u16>(name);
    bits.into_iter()
        .map(|b| Approx::exact(half(b) as f32))
        .collect()
}

/// Rows of `a` times columns of `b`, both row-major.
#[test]
fn products_of_halves() {
    for name in ["hgemm", "hgemm_swizzled", "hgemm_scalar"] {
        for (m, n, k) in [(128, 128, 64), (64, 192, 96), (192, 64, 32)] {
            TestKernel::load("gemm", name)
                .grid([n as u32 / 64, m as u32 / 64, 1])
                .count("a", m * k)
                .count("b", k * n)
                .count("c", m * n)
                .scalar("n", n as i32)
                .scalar("k", k as i32)
                .check(|run| {
                    let (a, b) = (halves(run, "a"), halves(run, "b"));
                    let dot = |i: usize| {
                        let (row, column) = (i / n, i % n);
                        sum((0..k).map(|j| a[row * k + j] * b[j * n + column]))
                    };
                    let want: Vec<Approx> = (0..m * n).map(dot).collect();
                    assert_within(name, &run.after("c"), &want);
                });
        }
    }
}

/// `c` is column-major; of `a` and `b` the rows are contiguous, or the columns.
#[test]
fn products_of_floats() {
    for (name, k_contiguous) in [("sgemm_nt", false), ("sgemm_tn", true)] {
        for (m, n, k) in [(128, 128, 16), (256, 128, 8)] {
            let at = |i: usize, j: usize, rows: usize| {
                if k_contiguous {
                    i * k + j
                } else {
                    j * rows + i
                }
            };
            TestKernel::load("gemm", name)
                .grid([m as u32 / 128, n as u32 / 128, 1])
                .count("a", m * k)
                .count("b", k * n)
                .count("c", m * n)
                .scalar("m", m as i32)
                .scalar("n", n as i32)
                .scalar("k", k as i32)
                .check(|run| {
                    let (a, b) = (run.before::<f32>("a"), run.before::<f32>("b"));
                    let exact = Approx::exact;
                    let dot = |i: usize| {
                        let (row, column) = (i % m, i / m);
                        sum((0..k).map(|j| exact(a[at(row, j, m)]) * exact(b[at(column, j, n)])))
                    };
                    let want: Vec<Approx> = (0..m * n).map(dot).collect();
                    assert_within(name, &run.after("c"), &want);
                });
        }
    }
}
