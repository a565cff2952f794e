//! FFTs against the discrete Fourier transform by its definition.

use crate::kernels::bound::{Approx, U, assert_within};
use crate::kernels::harness::{Run, TestKernel};
use std::f64::consts::TAU;

/// The transform of consecutive groups of n values.
fn check(run: &Run, n: usize) {
    check_at(run, n, |at| (at - at % n, 1));
}

/// The transform of which each value is a part: where its n values begin, and
/// how far apart they lie.
fn check_at(run: &Run, n: usize, place: impl Fn(usize) -> (usize, usize)) {
    let (re, im) = (run.before::<f32>("re"), run.before::<f32>("im"));
    let turn: Vec<(f64, f64)> = (0..n)
        .map(|k| (-TAU * k as f64 / n as f64).sin_cos())
        .collect();
    let (mut want_re, mut want_im) = (Vec::new(), Vec::new());
    for at in 0..re.len() {
        let (base, step) = place(at);
        let k = (at - base) / step;
        let (mut r, mut i, mut magnitude) = (0.0, 0.0, 0.0);
        for j in 0..n {
            let (sin, cos) = turn[j * k % n];
            let (x, y) = (re[base + j * step], im[base + j * step]);
            let (x, y) = (f64::from(x), f64::from(y));
            r += x * cos - y * sin;
            i += x * sin + y * cos;
            magnitude += x.hypot(y);
        }
        // Every value on the way is at most `magnitude`. A stage multiplies by
        // a twiddle that is off by at most 2 units in the last place in each
        // part (4 U each, 6 U together), with a complex product (3 U), and adds
        // (1 U); a radix-8 step counts as three stages.
        let error = 10.0 * U * f64::from(n.ilog2()) * magnitude;
        let approx = |value| Approx {
            error,
            ..Approx::constant(value)
        };
        want_re.push(approx(r));
        want_im.push(approx(i));
    }
    assert_within("re", &run.after("re"), &want_re);
    assert_within("im", &run.after("im"), &want_im);
}

#[test]
fn radix_2() {
    for (log2n, batches) in [(10, 2), (5, 3), (1, 1)] {
        let n = 1usize << log2n;
        TestKernel::load("fft", "fft_radix2")
            .grid([batches, 1, 1])
            .block([n as u32 / 2, 1, 1])
            .dynamic_shared(8 * n as u32)
            .count("re", n * batches as usize)
            .count("im", n * batches as usize)
            .scalar("log2n", log2n)
            .check(|run| check(run, n));
    }
}

#[test]
fn radix_8() {
    for (batches, seed) in [(2, 1), (1, 9)] {
        TestKernel::load("fft", "fft_radix8")
            .grid([batches as u32, 1, 1])
            .count("re", 512 * batches)
            .count("im", 512 * batches)
            .seed("re", seed)
            .check(|run| check(run, 512));
    }
}

#[test]
fn points_1024() {
    for (batches, seed) in [(2, 1), (1, 9)] {
        TestKernel::load("fft", "fft1024")
            .grid([batches as u32, 1, 1])
            .count("re", 1024 * batches)
            .count("im", 1024 * batches)
            .seed("re", seed)
            .check(|run| check(run, 1024));
    }
}

#[test]
fn columns() {
    for (log2n, blocks) in [(4, 2), (3, 1), (1, 3)] {
        let (n, width) = (1usize << log2n, 32 * blocks as usize);
        TestKernel::load("fft", "fft_columns_grid")
            .grid([blocks, 1, 1])
            .block([32, n as u32 / 2, 1])
            .dynamic_shared(256 * n as u32)
            .count("re", n * width)
            .count("im", n * width)
            .scalar("log2n", log2n)
            .check(|run| check_at(run, n, |at| (at % width, width)));
    }
}
