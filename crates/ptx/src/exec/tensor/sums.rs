//! Sums of products.

use super::numbers::{Half, Ones};
use super::tile::Tile;
use crate::tensor::Arithmetic;

/// Columns that are computed together.
const WIDE: usize = 8;

/// The sizes of a product of matrices, and the computation of its sums.
pub(super) struct Products<'a> {
    pub matrices: usize,
    /// Rows, columns, products of a sum.
    pub size: [usize; 3],
    /// Row of `b` of each element of `a`.
    pub rows: &'a [u16],
}

impl Products<'_> {
    /// Adds all products to sums in f16 or f32.
    pub fn floats(
        &self,
        vector: bool,
        arithmetic: Arithmetic,
        [a, b]: [&Tile<f32>; 2],
        sums: &mut Tile<f32>,
    ) {
        if arithmetic == Arithmetic::Half {
            // A product of halves is exact in f32.
            let step = |a: f32, b: f32, sum: f64| sum + f64::from(a * b);
            self.through(vector, a, b, sums, (f64::from, step, Half::of_sum));
        } else {
            self.run(vector, a, b, sums, f32::mul_add);
        }
    }

    /// Adds all products to sums in s32, where they are clamped once.
    pub fn integers(
        &self,
        vector: bool,
        arithmetic: Arithmetic,
        [a, b]: [&Tile<i32>; 2],
        sums: &mut Tile<i32>,
    ) {
        let mut new = Tile::zeros();
        let mut clamped = false;
        match arithmetic {
            Arithmetic::Bits { and: true } => self.run(vector, a, b, &mut new, Ones::of_and),
            Arithmetic::Bits { and: false } => self.run(vector, a, b, &mut new, Ones::of_xor),
            _ => {
                clamped = arithmetic == Arithmetic::Integer { clamped: true };
                self.run(vector, a, b, &mut new, |a, b, c: i32| c + a * b);
            }
        }
        new.add(sums, clamped);
        *sums = new;
    }

    /// Adds all products to the sums, by `step(a, b, sum)`.
    pub fn run<T: Copy>(
        &self,
        vector: bool,
        a: &Tile<T>,
        b: &Tile<T>,
        sums: &mut Tile<T>,
        step: impl Fn(T, T, T) -> T,
    ) {
        self.through(vector, a, b, sums, (|sum| sum, step, |sum| sum));
    }

    /// Adds all products to the sums in another format: into it, a step, out of it.
    fn through<T: Copy, W: Copy>(
        &self,
        vector: bool,
        a: &Tile<T>,
        b: &Tile<T>,
        sums: &mut Tile<T>,
        by: (impl Fn(T) -> W, impl Fn(T, T, W) -> W, impl Fn(W) -> T),
    ) {
        if vector {
            // SAFETY: images are made for vector instructions only where the
            // machine has these.

            unsafe { self.fast(a, b, sums, by) }
        } else {
            self.all(a, b, sums, by)
        }
    }

    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
    unsafe fn fast<T: Copy, W: Copy>(
        &self,
        a: &Tile<T>,
        b: &Tile<T>,
        sums: &mut Tile<T>,
        by: (impl Fn(T) -> W, impl Fn(T, T, W) -> W, impl Fn(W) -> T),
    ) {
        self.all(a, b, sums, by);
    }

    #[inline(always)]
    fn all<T: Copy, W: Copy>(
        &self,
        a: &Tile<T>,
        b: &Tile<T>,
        sums: &mut Tile<T>,
        (into, step, out): (impl Fn(T) -> W, impl Fn(T, T, W) -> W, impl Fn(W) -> T),
    ) {
        let [m, n, k] = self.size;
        for matrix in 0..self.matrices {
            let b = &b.0[matrix * k * n..];
            for row in 0..m {
                let a = &a.0[(matrix * m + row) * k..][..k];
                let rows = &self.rows[row * k..][..k];
                let sums = &mut sums.0[(matrix * m + row) * n..][..n];
                for (block, sums) in sums.chunks_exact_mut(WIDE).enumerate() {
                    let mut eight: [W; WIDE] = std::array::from_fn(|at| into(sums[at]));
                    for (&a, &row) in a.iter().zip(rows) {
                        let b = &b[usize::from(row) * n + block * WIDE..][..WIDE];
                        for at in 0..WIDE {
                            eight[at] = step(a, b[at], eight[at]);
                        }
                    }
                    for (sum, new) in sums.iter_mut().zip(eight) {
                        *sum = out(new);
                    }
                }
            }
        }
    }
}
