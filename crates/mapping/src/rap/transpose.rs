//! The three matrix transposes on the discrete memory machine (RAP paper,
//! sections III and VI; Table III).
//!
//! w^2 threads copy a w x w matrix `a` to its transpose `b`, which lies after
//! it; both are placed by the same mapping. (The listing in section VI writes
//! `b[(j + r_i) mod w][i]`, which for a whole warp is column i of `b`: one bank
//! unless `b`'s rows are rotated as well. Here they are, as section IV defines
//! it and as the congestion 1 in Table III needs it.)

use super::congestion::check_width;
use super::dmm::{Dmm, Request};
use super::scheme::Scheme;
use crate::hash::{random_permutation, uniform};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use spadkit_base::error::{Error, Result};
use std::fmt;

/// A transpose algorithm: the order in which threads read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transpose {
    /// Contiguous read, stride write: thread (i, j) copies `a[i][j]`.
    Crsw,
    /// Stride read, contiguous write: thread (i, j) copies `a[j][i]`.
    Srcw,
    /// Diagonal read, diagonal write: thread (i, j) copies `a[(i + j) mod w][j]`.
    Drdw,
}

impl Transpose {
    /// The three transposes.
    pub const ALL: [Transpose; 3] = [Transpose::Crsw, Transpose::Srcw, Transpose::Drdw];

    /// The element of `a` that thread j of warp i reads; it writes the
    /// mirrored element of `b`.
    fn source(self, w: u64, i: u64, j: u64) -> (u64, u64) {
        match self {
            Transpose::Crsw => (i, j),
            Transpose::Srcw => (j, i),
            Transpose::Drdw => ((i + j) % w, j),
        }
    }

    /// One program per warp: read, then write, as physical addresses under
    /// `shifts` (row i is rotated by `shifts[i]`).
    fn programs(self, shifts: &[u32]) -> Vec<Vec<Request>> {
        let w = shifts.len() as u64;
        let place =
            |row: u64, column: u64| row * w + (column + u64::from(shifts[row as usize])) % w;
        let warp = |i: u64| {
            let source = |j: u64| self.source(w, i, j);
            let read = |j| {
                let (row, column) = source(j);
                Some(place(row, column))
            };
            let write = |j| {
                let (row, column) = source(j);
                Some(w * w + place(column, row))
            };
            vec![(0..w).map(read).collect(), (0..w).map(write).collect()]
        };
        (0..w).map(warp).collect()
    }
}

impl fmt::Display for Transpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Transpose::Crsw => "CRSW",
            Transpose::Srcw => "SRCW",
            Transpose::Drdw => "DRDW",
        })
    }
}

/// Means over the draws of the shifts; congestions also over the warps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransposeStats {
    /// Mean congestion of the reads.
    pub read: f64,
    /// Mean congestion of the writes.
    pub write: f64,
    /// Mean time units on the discrete memory machine.
    pub time: f64,
}

/// Runs `transpose` under `samples` draws of `scheme` (raw, ras or rap) on the
/// memory machine of `width` and `latency`.
pub fn transpose_stats(
    transpose: Transpose,
    scheme: Scheme,
    width: u32,
    latency: u64,
    samples: u64,
    seed: u64,
) -> Result<TransposeStats> {
    check_width(width)?;
    let dmm = Dmm::new(u64::from(width), latency)?;
    if !scheme.has_dims(2) || samples == 0 {
        return Err(Error::usage(
            format!("no transpose with mapping {scheme} and {samples} samples"),
            "expected mapping raw, ras or rap and at least 1 sample",
        ));
    }
    // RAW has nothing to draw.
    let samples = if scheme == Scheme::Raw { 1 } else { samples };
    let sums = (0..samples)
        .into_par_iter()
        .map(|sample| {
            let mut rng = ChaCha12Rng::seed_from_u64(seed);
            rng.set_stream(sample);
            let shifts = shifts(scheme, width, &mut rng);
            measure(&dmm, &transpose.programs(&shifts))
        })
        .reduce(|| [0; 3], |a, b| [0, 1, 2].map(|i| a[i] + b[i]));
    let warps = (samples * u64::from(width)) as f64;
    Ok(TransposeStats {
        read: sums[0] as f64 / warps,
        write: sums[1] as f64 / warps,
        time: sums[2] as f64 / samples as f64,
    })
}

fn shifts(scheme: Scheme, width: u32, rng: &mut impl Rng) -> Vec<u32> {
    match scheme {
        Scheme::Raw => vec![0; width as usize],
        Scheme::Ras => (0..width).map(|_| uniform(rng, width)).collect(),
        _ => random_permutation(rng, width as usize),
    }
}

/// Sums over the warps: read congestion, write congestion; and the time.
fn measure(dmm: &Dmm, programs: &[Vec<Request>]) -> [u64; 3] {
    let run = dmm.run(programs);
    let mut has_read = vec![false; programs.len()];
    let mut sums = [0, 0, run.time];
    for dispatch in &run.dispatches {
        let step = usize::from(std::mem::replace(&mut has_read[dispatch.warp], true));
        sums[step] += dispatch.stages;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rap::published::table_iii;

    #[test]
    fn all_of_them_transpose() {
        let w = 8u64;
        let mut rng = ChaCha12Rng::seed_from_u64(4);
        for scheme in [Scheme::Raw, Scheme::Ras, Scheme::Rap] {
            let r = shifts(scheme, w as u32, &mut rng);
            let place = |row: u64, column: u64| {
                (row * w + (column + u64::from(r[row as usize])) % w) as usize
            };
            for transpose in Transpose::ALL {
                let mut memory = vec![0; 2 * (w * w) as usize];
                for (i, j) in (0..w).flat_map(|i| (0..w).map(move |j| (i, j))) {
                    memory[place(i, j)] = 100 * i + j;
                }
                for program in transpose.programs(&r) {
                    for (from, to) in program[0].iter().zip(&program[1]) {
                        memory[to.unwrap() as usize] = memory[from.unwrap() as usize];
                    }
                }
                for (i, j) in (0..w).flat_map(|i| (0..w).map(move |j| (i, j))) {
                    let b = memory[(w * w) as usize + place(j, i)];
                    assert_eq!(b, 100 * i + j, "{transpose} {scheme}");
                }
            }
        }
    }

    #[test]
    fn table_iii_of_the_paper() {
        for (transpose, scheme, read, write) in table_iii() {
            let stats = transpose_stats(transpose, scheme, 32, 5, 4_000, 1).unwrap();
            for (measured, published) in [(stats.read, read), (stats.write, write)] {
                assert!(
                    (measured - published).abs() <= 0.025,
                    "{transpose} {scheme}: {measured}, published {published}"
                );
            }
        }
    }

    #[test]
    fn times_without_randomness_follow_lemma_1() {
        let time = |transpose, scheme, l| {
            let stats = transpose_stats(transpose, scheme, 16, l, 1, 1).unwrap();
            stats.time as u64
        };
        // The second access of a warp starts when all w are dispatched and its
        // first is complete.
        for l in [5, 40] {
            let (w, second) = (16, 16.max(l));
            assert_eq!(
                time(Transpose::Crsw, Scheme::Raw, l),
                second + w * w + l - 1
            );
            assert_eq!(time(Transpose::Drdw, Scheme::Raw, l), second + w + l - 1);
            assert_eq!(time(Transpose::Crsw, Scheme::Rap, l), second + w + l - 1);
            assert_eq!(time(Transpose::Srcw, Scheme::Rap, l), second + w + l - 1);
        }
        // Stride read first: the writes follow after w stages of each read.
        assert_eq!(time(Transpose::Srcw, Scheme::Raw, 5), 16 * 16 + 16 + 5 - 1);
        let refused = |scheme, width, latency, samples| {
            transpose_stats(Transpose::Crsw, scheme, width, latency, samples, 1).is_err()
        };
        assert!(refused(Scheme::W2P, 16, 5, 1));
        assert!(refused(Scheme::Rap, 100_000, 5, 1));
        assert!(refused(Scheme::Rap, 16, 0, 1));
        assert!(refused(Scheme::Rap, 16, 5, 0));
    }
}
