//! Congestion statistics by simulation (RAP paper, section V): the mean and the
//! maximum, over draws of the random numbers and of the access, of the largest
//! number of distinct addresses in one bank.

use super::access::AccessKind;
use super::scheme::{Draw, Element, Scheme};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use spadkit_base::error::{Error, Result};
use std::ops::RangeInclusive;

/// Supported widths.
pub const WIDTHS: RangeInclusive<u32> = 2..=1024;

/// Refuses widths outside [`WIDTHS`].
pub(super) fn check_width(width: u32) -> Result<()> {
    if WIDTHS.contains(&width) {
        return Ok(());
    }
    Err(Error::usage(
        format!("width {width} is not supported"),
        format!("expected {} to {}", WIDTHS.start(), WIDTHS.end()),
    ))
}

/// Samples that share a random stream. The streams depend on the seed and the
/// sample's number alone, so that the result is the same with any number of
/// threads.
const CHUNK: u64 = 512;

/// The sampled access and scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experiment {
    scheme: Scheme,
    access: AccessKind,
    width: u32,
    dims: u32,
}

/// Result of an [`Experiment`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CongestionStats {
    /// Mean congestion.
    pub mean: f64,
    /// Largest congestion seen.
    pub max: u32,
    /// Standard error of the mean.
    pub std_error: f64,
}

impl Experiment {
    /// An access to an array of `dims` dimensions (2 or 4) of size `width`
    /// under `scheme`.
    pub fn new(scheme: Scheme, access: AccessKind, width: u32, dims: u32) -> Result<Self> {
        if dims != 2 && dims != 4 {
            return Err(Error::usage(
                format!("arrays of {dims} dimensions are not supported"),
                "expected 2 or 4",
            ));
        }
        let names = |all: Vec<&str>| format!("with {dims} dimensions: {}", all.join(", "));
        if !scheme.has_dims(dims) {
            let all = Scheme::ALL.iter().filter(|s| s.has_dims(dims));
            return Err(Error::usage(
                format!("mapping {scheme} is not defined for {dims} dimensions"),
                names(all.map(|s| s.name()).collect()),
            ));
        }
        if !access.has_dims(dims) {
            let all = AccessKind::ALL.iter().filter(|a| a.has_dims(dims));
            return Err(Error::usage(
                format!("{access} access is not defined for {dims} dimensions"),
                names(all.map(|a| a.name()).collect()),
            ));
        }
        check_width(width)?;
        Ok(Experiment {
            scheme,
            access,
            width,
            dims,
        })
    }

    /// Draws `samples` samples; the same for the same `seed`, on every machine
    /// and with any number of threads.
    pub fn sample(&self, samples: u64, seed: u64) -> Result<CongestionStats> {
        if samples == 0 {
            return Err(Error::usage(
                "0 samples have no mean",
                "expected at least 1 sample",
            ));
        }
        let chunks = samples.div_ceil(CHUNK);
        let total = (0..chunks)
            .into_par_iter()
            .map(|chunk| {
                let mut rng = ChaCha12Rng::seed_from_u64(seed);
                rng.set_stream(chunk);
                self.chunk(&mut rng, CHUNK.min(samples - chunk * CHUNK))
            })
            .reduce(Sums::default, Sums::add);
        Ok(total.stats(samples))
    }

    fn chunk(&self, rng: &mut impl Rng, samples: u64) -> Sums {
        let mut warp = WarpSampler::new(*self);
        let mut sums = Sums::default();
        for _ in 0..samples {
            let congestion = u64::from(warp.congestion(rng));
            sums = sums.add(Sums {
                sum: congestion,
                squares: congestion * congestion,
                max: congestion,
            });
        }
        sums
    }
}

/// Sums of congestions: whole numbers, so that the order does not matter.
#[derive(Clone, Copy, Default)]
struct Sums {
    sum: u64,
    squares: u64,
    max: u64,
}

impl Sums {
    fn add(self, other: Sums) -> Sums {
        Sums {
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
            max: self.max.max(other.max),
        }
    }

    fn stats(self, samples: u64) -> CongestionStats {
        let n = samples as f64;
        let mean = self.sum as f64 / n;
        let variance = (self.squares as f64 / n - mean * mean).max(0.0);
        CongestionStats {
            mean,
            max: self.max as u32,
            std_error: (variance / n).sqrt(),
        }
    }
}

/// Samples one warp access after another, in the same buffers.
struct WarpSampler {
    experiment: Experiment,
    draw: Draw,
    elements: Vec<Element>,
    load: Vec<u32>,
}

impl WarpSampler {
    fn new(experiment: Experiment) -> Self {
        WarpSampler {
            experiment,
            draw: Draw::new(experiment.scheme, experiment.width),
            elements: Vec::new(),
            load: vec![0; experiment.width as usize],
        }
    }

    fn congestion(&mut self, rng: &mut impl Rng) -> u32 {
        let e = self.experiment;
        let elements = &mut self.elements;
        e.access.elements(e.scheme, e.dims, e.width, rng, elements);
        elements.sort_unstable();
        elements.dedup();
        let load = &mut self.load;
        load.fill(0);
        let mut worst = 0;
        self.draw.banks(rng, elements, |bank| {
            let slot = &mut load[bank as usize];
            *slot += 1;
            worst = worst.max(*slot);
        });
        worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rap::published::{TABLE_II_WIDTHS, table_ii};

    fn sample(
        scheme: Scheme,
        access: AccessKind,
        w: u32,
        dims: u32,
        samples: u64,
    ) -> CongestionStats {
        let experiment = Experiment::new(scheme, access, w, dims).unwrap();
        experiment.sample(samples, 1).unwrap()
    }

    #[test]
    fn table_ii_of_the_paper() {
        for w in TABLE_II_WIDTHS {
            for (scheme, access, published) in table_ii(w) {
                // They have a standard error of at most 0.006.
                let mean = sample(scheme, access, w, 2, 20_000).mean;
                assert!(
                    (mean - published).abs() <= 0.025,
                    "{scheme} {access} w={w}: {mean}, published {published}"
                );
            }
        }
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let experiment = Experiment::new(Scheme::W2P, AccessKind::Random, 16, 4).unwrap();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build()
                .unwrap()
                .install(|| experiment.sample(2000, 9).unwrap())
        };
        assert_eq!(with(1), with(3));
        assert_ne!(with(1), experiment.sample(2000, 10).unwrap());
    }

    #[test]
    fn combinations_that_the_paper_does_not_define_are_refused() {
        use AccessKind::*;
        for (scheme, access, width, dims, reason) in [
            (Scheme::Rap, Stride1, 32, 2, "stride1 access is not defined"),
            (Scheme::Raw, Stride, 32, 4, "stride access is not defined"),
            (Scheme::Rap, Random, 32, 4, "mapping rap is not defined"),
            (Scheme::OneP, Random, 32, 2, "mapping 1p is not defined"),
            (Scheme::Rap, Random, 1, 2, "width 1 "),
            (Scheme::Rap, Random, 1025, 2, "width 1025 "),
            (Scheme::Rap, Random, 32, 3, "3 dimensions"),
        ] {
            let error = Experiment::new(scheme, access, width, dims).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
        let experiment = Experiment::new(Scheme::Rap, Random, 32, 2).unwrap();
        assert!(experiment.sample(0, 1).is_err());
    }

    #[test]
    fn table_iv_exact_entries() {
        use AccessKind::*;
        use Scheme::*;
        let w = 16;
        for scheme in [Raw, Ras, OneP, R1P, ThreeP, W2P, OnePW2R] {
            let mean = |access| sample(scheme, access, w, 4, 50);
            assert_eq!(mean(Contiguous).max, 1, "{scheme}");
            let stride = [Stride1, Stride2, Stride3].map(|s| mean(s).mean);
            let (one, all) = (1.0, f64::from(w));
            match scheme {
                Raw => assert_eq!(stride, [all; 3]),
                Ras => assert!(stride.iter().all(|&s| s > 2.0 && s < 4.5)),
                OneP => assert_eq!(stride, [one, all, all]),
                R1P | ThreeP => assert_eq!(stride, [one; 3]),
                _ => assert!(stride[0] == one && stride[1] > 2.0 && stride[2] > 2.0),
            }
        }
    }

    #[test]
    fn malicious_access_hurts_where_the_paper_says() {
        use Scheme::*;
        let mean = |scheme| sample(scheme, AccessKind::Malicious, 32, 4, 4000).mean;
        assert_eq!(mean(Raw), 32.0);
        assert_eq!(mean(OneP), 32.0);
        // At least 6 with every draw: groups of 6 in one bank.
        assert!(sample(R1P, AccessKind::Malicious, 32, 4, 4000).mean > 6.0);
        for scheme in [Ras, ThreeP, W2P, OnePW2R] {
            assert!(
                (3.3..4.2).contains(&mean(scheme)),
                "{scheme}: {}",
                mean(scheme)
            );
        }
    }
}
