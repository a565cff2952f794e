//! LU decomposition: L times U is the matrix again, within the backward error
//! |A - L U| <= gamma_n |L| |U| of elimination.

use crate::kernels::bound::{Approx, U, assert_within, sum};
use crate::kernels::harness::TestKernel;

/// The chain of launches for `tiles` x `tiles` tiles.
fn decomposition(tile: usize, tiles: usize) -> TestKernel {
    let suffix = if tile == 16 { "" } else { "22" };
    let n = tile * tiles;
    let mut kernel = TestKernel::load("lud", &format!("lud{suffix}"))
        .alone(3)
        .count("m", n * n)
        .scalar("n", n as i32);
    let t = tile as u32;
    for k in 0..tiles {
        let first = format!("at{k}");
        let rest = (tiles - 1 - k) as u32;
        if k == 0 && rest == 0 {
            break;
        }
        kernel = kernel.add_scalar(&first, "first", (k * tile) as i32);
        let args = ["m", "n", &first];
        let launch = |kernel: TestKernel, part: &str, grid, block| {
            kernel.then(&format!("lud_{part}{suffix}"), grid, block, &args)
        };
        if k > 0 {
            kernel = launch(kernel, "diagonal", [1, 1, 1], [t, 1, 1]);
        }
        if rest > 0 {
            kernel = launch(kernel, "perimeter", [rest, 1, 1], [2 * t, 1, 1]);
            kernel = launch(kernel, "internal", [rest, rest, 1], [t, t, 1]);
        }
    }
    kernel
}

fn check(kernel: &TestKernel, n: usize) {
    kernel.check(|run| {
        let (a, lu) = (run.before::<f32>("m"), run.after::<f32>("m"));
        let at = |row: usize, column: usize| f64::from(lu[row * n + column]);
        let lower = |row: usize, k: usize| if k == row { 1.0 } else { at(row, k) };
        let gamma = n as f64 * U / (1.0 - n as f64 * U);
        for (row, column) in (0..n * n).map(|i| (i / n, i % n)) {
            let terms = (0..=row.min(column)).map(|k| lower(row, k) * at(k, column));
            let (product, size) = terms.fold((0.0, 0.0), |(p, s), t| (p + t, s + t.abs()));
            let error = (product - f64::from(a[row * n + column])).abs();
            assert!(
                error <= gamma * size,
                "({row}, {column}): {error} above {}",
                gamma * size
            );
        }
        // Elimination has taken place at all.
        assert!(n == 1 || a != lu);
    });
}

#[test]
fn tiles_of_16() {
    for tiles in 1..=3 {
        check(&decomposition(16, tiles), 16 * tiles);
    }
    check(&TestKernel::load("lud", "lud"), 48);
}

#[test]
fn tiles_of_22() {
    check(&decomposition(22, 2), 44);
    check(&TestKernel::load("lud", "lud22"), 66);
}

#[test]
fn inner_tiles() {
    for (name, tile) in [("lud_internal", 16), ("lud_internal22", 22)] {
        let n = 3 * tile;
        TestKernel::load("lud", name).check(|run| {
            let a = run.before::<f32>("m");
            let element = |i: usize| {
                let (row, column) = (i / n, i % n);
                let own = Approx::exact(a[i]);
                if row < tile || column < tile {
                    return own;
                }
                let exact = Approx::exact;
                let product = |k: usize| exact(a[row * n + k]) * exact(a[k * n + column]);
                own - sum((0..tile).map(product))
            };
            let want: Vec<Approx> = (0..n * n).map(element).collect();
            assert_within(name, &run.after("m"), &want);
        });
    }
}

/// The first tile alone: lud_diagonal of one tile is the whole decomposition.
#[test]
fn the_diagonal_alone() {
    let kernel = TestKernel::load("lud", "lud_diagonal")
        .count("m", 256)
        .scalar("n", 16);
    check(&kernel, 16);
}
