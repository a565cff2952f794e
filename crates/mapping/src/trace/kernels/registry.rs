//! The table of kernels and the `NAME:param=value,...` syntax.

use super::{histogram, matrix, rodinia, spectral, stencil, synthetic, tree};
use crate::trace::AccessTrace;
use serde::Serialize;
use spadkit_base::error::{Error, Result};
use spadkit_base::quote::did_you_mean;
use std::fmt;

/// An integer parameter of a kernel.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Param {
    /// Name in specs.
    pub name: &'static str,
    /// Value where the spec gives none.
    pub default: u32,
    /// Smallest value.
    pub min: u32,
    /// Largest value.
    pub max: u32,
    /// Whether only powers of two are allowed.
    pub power_of_two: bool,
    /// Meaning of the parameter.
    pub about: &'static str,
}

impl Param {
    const fn new(
        name: &'static str,
        default: u32,
        min: u32,
        max: u32,
        about: &'static str,
    ) -> Self {
        Param {
            name,
            default,
            min,
            max,
            power_of_two: false,
            about,
        }
    }

    const fn power_of_two(mut self) -> Self {
        self.power_of_two = true;
        self
    }

    fn accepts(&self, value: u32) -> bool {
        (self.min..=self.max).contains(&value) && (!self.power_of_two || value.is_power_of_two())
    }
}

/// `tile=16 (power of two from 4 to 32): side of the tile`
impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.power_of_two {
            "power of two from "
        } else {
            ""
        };
        let Param {
            name,
            default,
            min,
            max,
            about,
            ..
        } = self;
        write!(f, "{name}={default} ({kind}{min} to {max}): {about}")
    }
}

/// Parameter values in the order of [`GeneratedKernel::params`].
type Build = fn(&[u32]) -> AccessTrace;

/// A kernel that the kit can generate the trace of.
#[derive(Serialize)]
pub struct GeneratedKernel {
    /// Name in `kernel:NAME`.
    pub name: &'static str,
    /// The kernel and the origin of its accesses, in one line.
    pub about: &'static str,
    /// Parameters of the kernel.
    pub params: &'static [Param],
    #[serde(skip)]
    build: Build,
}

impl GeneratedKernel {
    /// The trace for values in the order of `params`, which are within range.
    fn trace(&self, values: &[u32]) -> AccessTrace {
        let given: Vec<String> = self
            .params
            .iter()
            .zip(values)
            .map(|(p, v)| format!("{}={v}", p.name))
            .collect();
        let mut trace = (self.build)(values);
        trace.name = self.name.to_owned();
        trace.source = format!("spadkit kernel:{}:{}", self.name, given.join(","));
        trace
    }

    /// Parses `param=value,...`; parameters that are not given keep their default.
    fn values(&self, args: Option<&str>) -> Result<Vec<u32>> {
        let mut values: Vec<Option<u32>> = vec![None; self.params.len()];
        for arg in args.into_iter().flat_map(|a| a.split(',')) {
            let Some((name, text)) = arg.split_once('=') else {
                return Err(self.error(format!("'{arg}' is not PARAM=VALUE")));
            };
            let Some(i) = self.params.iter().position(|p| p.name == name) else {
                let near = did_you_mean(name, self.params.iter().map(|p| p.name));
                return Err(self.error(format!("there is no parameter '{name}'{near}")));
            };
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            let value = digits.then(|| text.parse().ok()).flatten();
            let Some(value) = value.filter(|&v| self.params[i].accepts(v)) else {
                return Err(self.error(format!("{name}={text} is out of range")));
            };
            if values[i].replace(value).is_some() {
                return Err(self.error(format!("parameter '{name}' is given twice")));
            }
        }
        let defaults = self.params.iter().map(|p| p.default);
        Ok(values
            .into_iter()
            .zip(defaults)
            .map(|(v, d)| v.unwrap_or(d))
            .collect())
    }

    fn error(&self, what: String) -> Error {
        let params: Vec<String> = self.params.iter().map(Param::to_string).collect();
        Error::usage(
            format!("kernel:{}: {what}", self.name),
            format!("parameters are {}", params.join("; ")),
        )
    }
}

/// The kernels that can be generated, in the order of the documentation.
pub fn list() -> &'static [GeneratedKernel] {
    KERNELS
}

/// The kernel of that name.
pub fn find(name: &str) -> Result<&'static GeneratedKernel> {
    KERNELS.iter().find(|k| k.name == name).ok_or_else(|| {
        let names: Vec<&str> = KERNELS.iter().map(|k| k.name).collect();
        Error::usage(
            format!(
                "there is no kernel '{name}'{}",
                did_you_mean(name, names.iter().copied())
            ),
            format!(
                "kernels are {}; 'spadkit trace --list' shows their parameters",
                names.join(", ")
            ),
        )
    })
}

/// The prefix of names of generated traces, as opposed to files.
pub const PREFIX: &str = "kernel:";

/// The trace of `NAME` or `NAME:param=value,...` (without the `kernel:` prefix).
pub fn generate(spec: &str) -> Result<AccessTrace> {
    let (name, args) = match spec.split_once(':') {
        Some((name, args)) => (name, Some(args)),
        None => (spec, None),
    };
    let kernel = find(name)?;
    let values = kernel.values(args)?;
    Ok(kernel.trace(&values))
}

static KERNELS: &[GeneratedKernel] = &[
    GeneratedKernel {
        name: "transpose",
        about: "matrix transpose through a tile: row-wise stores, column-wise loads",
        params: &[
            Param::new("tile", 16, 2, 32, "side of the tile and of the block").power_of_two(),
            Param::new("pad", 0, 0, 8, "unused words after each row of the tile"),
        ],
        build: matrix::transpose,
    },
    GeneratedKernel {
        name: "reduction",
        about: "tree reduction with strided index (reduce1): stride 2, 4, 8, ...",
        params: &[Param::new("threads", 256, 2, 1024, "threads of the block").power_of_two()],
        build: tree::reduction,
    },
    GeneratedKernel {
        name: "fwt",
        about: "fast Walsh transform, radix 4 with a last radix-2 stage for odd log2n",
        params: &[Param::new("log2n", 11, 4, 12, "log2 of the elements")],
        build: spectral::fwt,
    },
    GeneratedKernel {
        name: "fft",
        about: "radix-2 FFT in place: bit-reversed stores, butterflies, split re/im",
        params: &[Param::new("log2n", 10, 4, 11, "log2 of the elements")],
        build: spectral::fft,
    },
    GeneratedKernel {
        name: "dct8x8",
        about: "8 x 8 DCT of a 32 x 16 area in place: rows, then columns",
        params: &[Param::new("pad", 0, 0, 8, "unused words after each row")],
        build: spectral::dct8x8,
    },
    GeneratedKernel {
        name: "conv-rows",
        about: "separable convolution, rows: 16 columns of threads, halo of 16",
        params: &[
            Param::new("radius", 8, 1, 16, "taps on either side"),
            Param::new("steps", 8, 1, 16, "results per thread"),
            Param::new("rows", 4, 1, 16, "rows of the block"),
        ],
        build: stencil::conv_rows,
    },
    GeneratedKernel {
        name: "nw",
        about: "Needleman-Wunsch wavefront over one tile",
        params: &[Param::new("block", 16, 2, 32, "side of the tile")],
        build: stencil::needleman_wunsch,
    },
    GeneratedKernel {
        name: "scan",
        about: "work-efficient prefix sum: up-sweep and down-sweep, 4 items a thread",
        params: &[Param::new("threads", 256, 32, 1024, "threads of the block").power_of_two()],
        build: tree::scan,
    },
    GeneratedKernel {
        name: "bitonic",
        about: "bitonic sorting network, both elements always written back",
        params: &[Param::new("log2n", 10, 2, 11, "log2 of the elements")],
        build: tree::bitonic,
    },
    GeneratedKernel {
        name: "matmul",
        about: "tiled matrix multiplication (no conflicts with tiles of 16 or 32)",
        params: &[
            Param::new("tile", 32, 2, 32, "side of the tiles and of the block").power_of_two(),
            Param::new("tiles", 1, 1, 64, "tiles along the inner dimension"),
        ],
        build: matrix::matmul,
    },
    GeneratedKernel {
        name: "backprop",
        about: "layer forward of a neural network, 16 x 16 weights (no conflicts)",
        params: &[],
        build: rodinia::backprop,
    },
    GeneratedKernel {
        name: "lavamd",
        about: "particle interactions in one box, 64-bit accesses to 32-byte records",
        params: &[Param::new("particles", 100, 1, 128, "particles of the box")],
        build: rodinia::lavamd,
    },
    GeneratedKernel {
        name: "hist256",
        about: "256-bin histogram, one per warp, with shared atomics on a seeded image",
        params: &[
            Param::new("words", 23, 1, 256, "32-bit words of 4 pixels per thread"),
            Param::new("noise", 24, 0, 256, "0 a smooth image, 256 uniform noise"),
            Param::new("seed", 1, 0, u32::MAX, "seed of the noise"),
        ],
        build: histogram::hist256,
    },
    GeneratedKernel {
        name: "stride",
        about: "one load: thread t < way reads t * stride, the others t",
        params: &[
            Param::new("stride", 32, 0, 512, "words between threads"),
            Param::new("way", 32, 1, 32, "threads with a stride"),
        ],
        build: synthetic::stride,
    },
    GeneratedKernel {
        name: "atomic",
        about: "one atomic: thread t < conflicts updates t * stride, the others t",
        params: &[
            Param::new(
                "stride",
                0,
                0,
                512,
                "0: same word; 32: same bank; 256: same bank, every 4th same lock",
            ),
            Param::new("conflicts", 32, 1, 32, "threads with a stride"),
        ],
        build: synthetic::atomic,
    },
    GeneratedKernel {
        name: "random",
        about: "loads of uniformly random words",
        params: &[
            Param::new("accesses", 64, 1, 8192, "warp accesses"),
            Param::new("words", 4096, 1, 16384, "words of shared memory"),
            Param::new("seed", 1, 0, u32::MAX, "seed of the addresses"),
        ],
        build: synthetic::random,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Values at the corners of every parameter's range.
    fn corners(kernel: &GeneratedKernel) -> Vec<Vec<u32>> {
        let pick = |f: fn(&Param) -> u32| kernel.params.iter().map(f).collect();
        vec![pick(|p| p.min), pick(|p| p.default), pick(|p| p.max)]
    }

    #[test]
    fn every_kernel_is_a_valid_trace_at_the_corners_of_its_parameters() {
        for kernel in list() {
            for values in corners(kernel) {
                let (params, name) = (kernel.params, kernel.name);
                assert!(params.iter().zip(&values).all(|(p, v)| p.accepts(*v)));
                let trace = kernel.trace(&values);
                assert!(!trace.accesses.is_empty(), "{name} {values:?}");
                assert!(trace.block_dim.iter().product::<u32>() <= 1024, "{name}");
                // Reading it back checks addresses, barriers and lengths.
                let text = trace.to_json();
                let again = AccessTrace::from_json(&text, Path::new(name)).unwrap();
                assert_eq!(again, trace, "{name} {values:?}");
            }
        }
    }

    #[test]
    fn the_source_of_a_trace_generates_it_again() {
        let trace = generate("hist256:seed=7,words=2").unwrap();
        let spec = trace.source.strip_prefix("spadkit kernel:").unwrap();
        assert_eq!(spec, "hist256:words=2,noise=24,seed=7");
        assert_eq!(generate(spec).unwrap(), trace);
    }

    #[test]
    fn bad_specs_are_refused_with_what_was_expected() {
        for (spec, reason) in [
            ("", "no kernel ''"),
            ("transposed", "no kernel 'transposed'"),
            ("transpose:", "'' is not PARAM=VALUE"),
            ("transpose:16", "'16' is not PARAM=VALUE"),
            ("transpose:side=16", "no parameter 'side'"),
            ("transpose:tile=24", "tile=24 is out of range"),
            ("transpose:tile=64", "tile=64 is out of range"),
            ("transpose:tile=+16", "tile=+16 is out of range"),
            (
                "transpose:tile=99999999999",
                "tile=99999999999 is out of range",
            ),
            ("transpose:tile=16,tile=16", "given twice"),
            ("backprop:x=1", "no parameter 'x'"),
        ] {
            let error = generate(spec).unwrap_err();
            assert!(error.to_string().contains(reason), "{spec}: {error}");
            assert_eq!(error.exit_status(), 2);
        }
    }
}
