//! Runs launch files on the GPU of this machine: are its results those of
//! `spadkit run`, how long does a launch take, and how much faster is the kernel
//! under a mapping?
//!
//! ```text
//! cargo run --release --example on_gpu -- kernels/fwt/fwt.toml
//! cargo run --release --example on_gpu -- --hash swizzle:5,0,5 kernels/fwt/fwt.toml
//! ncu --metrics METRICS on_gpu --once kernels/fwt/fwt.toml
//! ```
//!
//! It takes NVIDIA's driver, and no toolkit. A line for each file, of JSON with
//! `--json`.

pub mod driver;
mod kernels;

use clap::Parser;
use driver::Gpu;
use kernels::OnGpu;
use serde::Serialize;
use spadkit::config::Config;
use spadkit::error::{Error, Result};
use spadkit::launch::{Buffer, LaunchFile, Options, compare};
use spadkit::output::write_file;
use spadkit::ptx::Module;
use spadkit::rewrite::{Hashes, Request, rewrite, with_shared};
use spadkit::software::LayoutSpec;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs launch files on the GPU of this machine.
#[derive(Parser)]
struct Arguments {
    /// Launch files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Also run each kernel with all of its shared memory under this mapping.
    #[arg(long, value_name = "SPEC")]
    hash: Option<LayoutSpec>,
    /// The machine for which kernels are rewritten.
    #[arg(long, default_value = "sm90")]
    preset: String,
    /// Timed runs of each kernel; the median counts.
    #[arg(long, default_value_t = 21)]
    runs: usize,
    /// Do not run the kernel in spadkit's executor.
    #[arg(long)]
    unchecked: bool,
    /// Only run the launches once, for a profiler.
    #[arg(long)]
    once: bool,
    /// A line of JSON for each file.
    #[arg(long)]
    json: bool,
    /// Write each buffer after the run, as DIR/FILE.BUFFER.npy.
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
}

/// The result of a launch file on the GPU.
#[derive(Serialize)]
struct Report {
    file: String,
    gpu: String,
    /// For all launches of the file; null with `--once`.
    microseconds: Option<f64>,
    /// Differences from the executor's results.
    executor: Option<Difference>,
    /// The kernel under a mapping.
    rewritten: Option<Rewritten>,
}

/// The differences between buffers.
#[derive(Serialize)]
struct Difference {
    /// Whether all bits are the same.
    equal: bool,
    /// The largest |a - b| / max(1, |b|).
    max_error: f64,
}

#[derive(Serialize)]
struct Rewritten {
    hash: String,
    microseconds: Option<f64>,
    /// The time of the original over this one.
    speed_up: Option<f64>,
    /// Differences from the results of the original.
    original: Difference,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let status = error.exit_status();
            eprintln!("{:?}", miette::Report::new(error));
            ExitCode::from(status)
        }
    }
}

/// Whether every file ran, with the same results under the mapping.
fn run(arguments: &Arguments) -> Result<bool> {
    let gpu = Gpu::open()?;
    let mut ran = true;
    for file in &arguments.files {
        match report(&gpu, arguments, file) {
            Ok(report) => {
                ran &= report.rewritten.as_ref().is_none_or(|r| r.original.equal);
                print(&report, arguments.json);
            }
            Err(error) => {
                ran = false;
                eprintln!("{}: {error}", file.display());
            }
        }
    }
    Ok(ran)
}

fn report(gpu: &Gpu, arguments: &Arguments, path: &Path) -> Result<Report> {
    let file = LaunchFile::load(path)?;
    let module = file.module()?.one_text()?;
    let original = Timed::new(gpu, arguments, &file, &module)?;
    let executor = if arguments.unchecked || arguments.once {
        None
    } else {
        Some(beside_executor(&file, &module, &original)?)
    };
    let rewritten = match &arguments.hash {
        Some(hash) => Some(under(gpu, arguments, (&file, &module), hash, &original)?),
        None => None,
    };
    Ok(Report {
        file: path.display().to_string(),
        gpu: format!("{}, sm_{}, {} SMs", gpu.name, gpu.sm, gpu.sms),
        microseconds: original.microseconds,
        executor,
        rewritten,
    })
}

/// A kernel's results after one run, and its time.
struct Timed {
    outputs: Vec<Vec<u8>>,
    microseconds: Option<f64>,
}

impl Timed {
    fn new(gpu: &Gpu, arguments: &Arguments, file: &LaunchFile, module: &Module) -> Result<Self> {
        let kernels = OnGpu::new(gpu, file, module)?;
        kernels.reset()?;
        kernels.run()?;
        let outputs = kernels.outputs()?;
        if let Some(dir) = &arguments.dump {
            dump(dir, &file.source.path, &outputs)?;
        }
        let mut times = Vec::new();
        for _ in 0..if arguments.once { 0 } else { arguments.runs } {
            kernels.reset()?;
            times.push(kernels.time()?);
        }
        times.sort_by(f64::total_cmp);
        Ok(Timed {
            outputs: outputs.into_iter().map(|(_, _, bytes)| bytes).collect(),
            microseconds: times.get(times.len() / 2).copied(),
        })
    }
}

/// Writes buffers as DIR/FILE.BUFFER.npy.
fn dump(dir: &Path, file: &Path, outputs: &[(&str, &Buffer, Vec<u8>)]) -> Result<()> {
    let stem = file.file_stem().unwrap_or_default().display();
    for (name, buffer, bytes) in outputs {
        write_file(
            &dir.join(format!("{stem}.{name}.npy")),
            &buffer.to_npy(bytes),
        )?;
    }
    Ok(())
}

/// The differences between the GPU's results and the executor's.
fn beside_executor(file: &LaunchFile, module: &Module, gpu: &Timed) -> Result<Difference> {
    let mut prepared = file.prepare(module)?;
    let outcome = prepared.run(&Options::default())?;
    if outcome.has_faults() {
        let what = format!("{} has faults", file.source.path.display());
        return Err(Error::usage(
            what,
            "expected a kernel that `spadkit run` runs",
        ));
    }
    Ok(difference(prepared.buffers().zip(&gpu.outputs).map(
        |((_, buffer, executor), gpu)| compare(buffer.element, gpu, executor, 0.0),
    )))
}

/// The kernel with all of its shared memory under a mapping.
fn under(
    gpu: &Gpu,
    arguments: &Arguments,
    (file, module): (&LaunchFile, &Module),
    hash: &LayoutSpec,
    original: &Timed,
) -> Result<Rewritten> {
    let machine = Config::preset(&arguments.preset)?;
    let prepared = file.prepare(module)?;
    let launches = prepared.launches();
    let entry = &launches[0].entry;
    let hashes = Hashes::All(hash.clone());
    let request = Request::of_launches(&machine, launches, entry, hashes);
    let rewritten = rewrite(module, &request)?;
    let Some(text) = rewritten.text() else {
        let what = format!("{entry} cannot be rewritten under {hash}");
        return Err(Error::usage(what, rewritten.refused().unwrap_or_default()));
    };
    let entries: Vec<String> = launches.iter().map(|l| l.entry.clone()).collect();
    let changed = with_shared(file, &entries, &rewritten);
    let timed = Timed::new(
        gpu,
        arguments,
        &changed,
        &Module::parse(text, &module.name)?,
    )?;
    let buffers = prepared
        .buffers()
        .zip(timed.outputs.iter().zip(&original.outputs));
    Ok(Rewritten {
        hash: hash.to_string(),
        microseconds: timed.microseconds,
        speed_up: original
            .microseconds
            .zip(timed.microseconds)
            .map(|(a, b)| a / b),
        original: difference(buffers.map(|((_, buffer, _), (changed, original))| {
            compare(buffer.element, changed, original, 0.0)
        })),
    })
}

fn difference(buffers: impl Iterator<Item = spadkit::launch::Comparison>) -> Difference {
    buffers.fold(
        Difference {
            equal: true,
            max_error: 0.0,
        },
        |all, one| Difference {
            equal: all.equal && one.ok,
            max_error: all.max_error.max(one.max_error),
        },
    )
}

fn print(report: &Report, json: bool) {
    if json {
        return println!("{}", serde_json::json!(report));
    }
    let said = |what: &str, d: &Difference| {
        if d.equal {
            format!(", the {what}'s results")
        } else {
            format!(", within {:.1e} of the {what}'s results", d.max_error)
        }
    };
    let time = |microseconds: Option<f64>| match microseconds {
        Some(time) => format!("{time:.1} µs"),
        None => "has run".to_owned(),
    };
    let mut line = format!(
        "{}: {} on {}",
        report.file,
        time(report.microseconds),
        report.gpu
    );
    if let Some(executor) = &report.executor {
        line += &said("executor", executor);
    }
    if let Some(r) = &report.rewritten {
        line += &format!("; under {}: {}", r.hash, time(r.microseconds));
        if let Some(factor) = r.speed_up {
            line += &format!(", {factor:.2} times as fast");
        }
        line += &said("original", &r.original);
    }
    println!("{line}");
}
