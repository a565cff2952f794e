//! The cost in cycles of the stages for a fast clock, and the net gain: every
//! kernel of a folder on the SM, once for each choice of stages.
//!
//! ```text
//! cargo run --example stage_cost -- PRESET kernels M,AHEAD,H[=PS]...
//! ```
//!
//! M are the memory stages, AHEAD those that decide the issue, H those of the
//! hash (microarchitecture/parameters.md). PS is the clock period of
//! that machine, as `spadkit synth spad_sm_path --effort speed` measures it; of
//! choices with a period the last column shows kernels per second beside the
//! first such choice. Cycles are compared with those of the first choice.

use spadkit::capture::LaunchInput;
use spadkit::config::{Config, Overlay};
use spadkit::error::{Error, Result};
use spadkit::sm::Setup;
use spadkit::workload::{LaunchWorkload, RunOptions};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(error.exit_status())
        }
    }
}

/// Stages of a path, and its clock period in ps.
struct Choice {
    stages: [String; 3],
    period_ps: Option<f64>,
}

impl Choice {
    fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            Error::usage(
                format!("'{text}' is not a choice of stages"),
                "expected M,AHEAD,H or M,AHEAD,H=PS, as in 4,3,1=985",
            )
        };
        let (stages, period) = match text.split_once('=') {
            Some((stages, period)) => (stages, Some(period)),
            None => (text, None),
        };
        let stages: Vec<String> = stages.split(',').map(str::to_owned).collect();
        let period = period.map(|p| {
            p.parse()
                .ok()
                .filter(|ps: &f64| *ps > 0.0)
                .ok_or_else(wrong)
        });
        Ok(Choice {
            stages: stages.try_into().map_err(|_| wrong())?,
            period_ps: period.transpose()?,
        })
    }

    fn machine(&self, preset: &str) -> Result<Config> {
        let mut machine = Overlay::preset(preset)?;
        let keys = ["path.mem_stages", "path.ahead", "hash.stage"];
        for (key, value) in keys.into_iter().zip(&self.stages) {
            machine.set(key, value)?;
        }
        machine.config()
    }
}

/// The table of `PRESET FOLDER CHOICE...`.
pub fn run(arguments: &[String]) -> Result<String> {
    let [preset, folder, choices @ ..] = arguments else {
        return Err(Error::usage(
            "a preset or a folder is missing".to_owned(),
            "expected PRESET FOLDER M,AHEAD,H[=PS]...",
        ));
    };
    let choices: Vec<Choice> = choices
        .iter()
        .map(|c| Choice::parse(c))
        .collect::<Result<_>>()?;
    let machines: Vec<Config> = choices
        .iter()
        .map(|c| c.machine(preset))
        .collect::<Result<_>>()?;
    let mut cycles: Vec<Vec<f64>> = vec![Vec::new(); choices.len()];
    for file in launch_files(Path::new(folder))? {
        let workload = LaunchWorkload::open(&LaunchInput::at(&file).run(RunOptions::default())?)?;
        let runs = machines
            .iter()
            .map(|machine| Setup::default().run(machine, &workload));
        // A kernel that the machine has no room for is left out for all.
        let Ok(runs) = runs.collect::<Result<Vec<_>>>() else {
            eprintln!("{}: does not run on {preset}", file.display());
            continue;
        };
        for (all, run) in cycles.iter_mut().zip(runs) {
            all.push(run.cycles as f64);
        }
    }
    Ok(table(&choices, &cycles))
}

/// The launch files of `folder` and of the folders in it, in order of name.
fn launch_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = |error| Error::io("read", folder, error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        // The kernels in `faults` are meant to fail.
        if path.is_dir() && path.file_name().is_none_or(|name| name != "faults") {
            files.extend(launch_files(&path)?);
        } else if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn table(choices: &[Choice], cycles: &[Vec<f64>]) -> String {
    let kernels = cycles.first().map_or(0, Vec::len);
    let mut text = format!(
        "{kernels} kernels\n{:>3}{:>7}{:>3}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}\n",
        "M", "AHEAD", "H", "least", "median", "most", "mean", "ps", "speed"
    );
    let timed = choices.iter().position(|c| c.period_ps.is_some());
    for (choice, runs) in choices.iter().zip(cycles) {
        let mut more: Vec<f64> = runs.iter().zip(&cycles[0]).map(|(a, b)| a / b).collect();
        more.sort_by(f64::total_cmp);
        let percent = |ratio: Option<&f64>| match ratio {
            Some(ratio) => format!("{:+.1} %", 100.0 * (ratio - 1.0)),
            None => "-".to_owned(),
        };
        let mean = geometric_mean(more.iter().copied());
        let (period, speed) = match (choice.period_ps, timed) {
            (Some(ps), Some(first)) => {
                let base = choices[first].period_ps.unwrap_or(ps);
                let faster = runs
                    .iter()
                    .zip(&cycles[first])
                    .map(|(a, b)| b * base / (a * ps));
                (format!("{ps:.0}"), format!("{:.2}", geometric_mean(faster)))
            }
            _ => ("-".to_owned(), "-".to_owned()),
        };
        let [m, ahead, h] = &choice.stages;
        text += &format!(
            "{m:>3}{ahead:>7}{h:>3}{:>9}{:>9}{:>9}{:>9}{period:>9}{speed:>9}\n",
            percent(more.first()),
            percent(more.get(more.len() / 2)),
            percent(more.last()),
            percent(Some(&mean)),
        );
    }
    text
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, n), v| (sum + v.ln(), n + 1));
    if count == 0 {
        1.0
    } else {
        f64::exp(sum / f64::from(count))
    }
}
