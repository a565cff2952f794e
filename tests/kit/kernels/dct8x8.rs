//! DCT 8 x 8 by its definition: floats as sums over cosines, integers with the
//! cosines in fixed point.

use crate::kernels::bound::{Approx, assert_within, sum};
use crate::kernels::harness::TestKernel;
use std::f64::consts::PI;

/// Coefficient k of sample n of the orthonormal DCT-II.
fn basis(k: usize, n: usize) -> f64 {
    let scale = if k == 0 { 0.125f64.sqrt() } else { 0.5 };
    scale * ((2 * n + 1) as f64 * k as f64 * PI / 16.0).cos()
}

/// What input (j) contributes to output (i) along one dimension.
fn weight(inverse: bool, i: usize, j: usize) -> f64 {
    if inverse { basis(j, i) } else { basis(i, j) }
}

fn sizes(name: &str) -> [(usize, usize, [u32; 3]); 2] {
    match name {
        n if n.ends_with("large") => [(128, 32, [2, 1, 1]), (64, 64, [1, 2, 1])],
        n if n.contains("short") => [(64, 32, [2, 1, 1]), (32, 32, [1, 1, 1])],
        "dct_matrix" => [(64, 32, [8, 4, 1]), (32, 16, [4, 2, 1])],
        _ => [(64, 32, [2, 2, 1]), (32, 16, [1, 1, 1])],
    }
}

fn kernel(name: &str, width: usize, height: usize, grid: [u32; 3]) -> TestKernel {
    TestKernel::load("dct8x8", name)
        .grid(grid)
        .count("in", width * height)
        .count("out", width * height)
        .scalar("width", width as i32)
}

/// Index of element (row, column) of the 8 x 8 block that `at` is in.
fn neighbour(at: usize, width: usize, row: usize, column: usize) -> usize {
    let (x, y) = (at % width, at / width);
    (y - y % 8 + row) * width + x - x % 8 + column
}

#[test]
fn floats() {
    for name in [
        "dct",
        "idct",
        "dct_plain",
        "idct_plain",
        "dct_large",
        "idct_large",
        "dct_matrix",
    ] {
        let inverse = name.starts_with("idct");
        for (width, height, grid) in sizes(name) {
            kernel(name, width, height, grid).check(|run| {
                let input = run.before::<f32>("in");
                let element = |at: usize| {
                    let (u, v) = (at / width % 8, at % width % 8);
                    // Per pass: the butterfly's addition (1), the cosine and the
                    // product (2), and the sums.
                    let along = |row: usize| {
                        sum((0..8).map(|c| {
                            let value = Approx::exact(input[neighbour(at, width, row, c)]);
                            (Approx::constant(weight(inverse, v, c)) * value).rounded(1.0)
                        }))
                    };
                    sum((0..8)
                        .map(|r| (Approx::constant(weight(inverse, u, r)) * along(r)).rounded(1.0)))
                };
                let want: Vec<Approx> = (0..input.len()).map(element).collect();
                assert_within(name, &run.after("out"), &want);
            });
        }
    }
}

#[test]
fn shorts() {
    for name in [
        "dct_short",
        "idct_short",
        "dct_short_plain",
        "idct_short_plain",
    ] {
        let inverse = name.starts_with("idct");
        let fixed = |i: usize, j: usize| (weight(inverse, i, j) * 8192.0).round() as i32;
        let round = |v: i32| (v + 4096) >> 13;
        for (width, height, grid) in sizes(name) {
            kernel(name, width, height, grid).check(|run| {
                let input = run.before::<i16>("in");
                let element = |at: usize| {
                    let (u, v) = (at / width % 8, at % width % 8);
                    let along = |row: usize| {
                        let value = |c| i32::from(input[neighbour(at, width, row, c)]);
                        round((0..8).map(|c| fixed(v, c) * value(c)).sum())
                    };
                    round((0..8).map(|r| fixed(u, r) * along(r)).sum()) as i16
                };
                let want: Vec<i16> = (0..input.len()).map(element).collect();
                assert_eq!(run.after::<i16>("out"), want, "{name}");
            });
        }
    }
}

/// Two integers in a word, products rounded: within the roundings of the exact
/// transform.
#[test]
fn pairs() {
    for name in [
        "dct_pairs",
        "idct_pairs",
        "dct_pairs_plain",
        "idct_pairs_plain",
    ] {
        let inverse = name.starts_with("idct");
        for (width, height, grid) in [(64, 32, [2, 1, 1]), (32, 64, [1, 2, 1])] {
            TestKernel::load("dctshort", name)
                .grid(grid)
                .count("in", width * height)
                .count("out", width * height)
                .scalar("width", width as i32)
                .check(|run| {
                    let input = run.before::<i16>("in");
                    for (at, got) in run.after::<i16>("out").into_iter().enumerate() {
                        let (u, v) = (at / width % 8, at % width % 8);
                        let cell = |r, c| f64::from(input[neighbour(at, width, r, c)]);
                        let along = |r| (0..8).map(|c| weight(inverse, v, c) * cell(r, c)).sum();
                        let rows: [f64; 8] = std::array::from_fn(along);
                        let want: f64 = (0..8).map(|r| weight(inverse, u, r) * rows[r]).sum();
                        // A sum has at most seven rounded products: one for the
                        // mean, two for the even part and four for the odd one.
                        // Coefficients are within 2^-14.
                        let spread: f64 = (0..8).map(|r| weight(inverse, u, r).abs()).sum();
                        let each = |most: f64| 7.0 * 0.5 + 8.0 * most / 16384.0;
                        let bound = spread * each(128.0) + each(8.0 * 128.0);
                        let off = (f64::from(got) - want).abs();
                        assert!(off <= bound, "{name} {at}: {got} for {want}");
                    }
                });
        }
    }
}
