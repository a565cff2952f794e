//! `spadkit share`: the compiler half of scratchpad sharing.

use super::Global;
use super::printer::Printer;
use crate::capture::is_launch;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::launch::LaunchFile;
use crate::output::{check_writable, write_file};
use crate::ptx::Module;
use crate::sharing::{Kernel, LayoutKind, Needs, Placement, Plan};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};

/// Plan and annotate scratchpad sharing for a kernel.
///
/// Two thread blocks share all of their scratchpad but the part T. Says how
/// many blocks are resident, lays the variables out so that the shared ones
/// are needed for the fewest instructions, and places relssp, by which a block
/// lets its partner go on. -o writes the PTX with markers, which run, trace
/// and sim understand and assemblers ignore. For a launch file the golden model
/// of the SM runs the kernel without sharing and with each of the sharing
/// paper's steps.
#[derive(Args)]
pub struct ShareArgs {
    /// Kernel in PTX, or a launch file.
    #[arg(value_name = "KERNEL.ptx|LAUNCH.toml")]
    input: PathBuf,
    /// Entry of the PTX; not needed where it has one.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Threads of a block; PTX alone does not have them.
    #[arg(long, value_name = "X[,Y,Z]", value_parser = parse_block)]
    block: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    #[arg(long, value_name = "BYTES")]
    dynamic_shared: Option<u32>,
    /// Registers of a thread after allocation; if unknown, they limit nothing.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    registers: Option<u32>,
    /// The part of a block's scratchpad that stays its own, 0 to 1; the
    /// machine's if not given (0.1).
    #[arg(long, value_name = "T")]
    sharing: Option<f64>,
    /// Where to put relssp.
    #[arg(long, default_value = "optimal", value_parser = placement())]
    placement: Placement,
    /// How to lay the variables out.
    #[arg(long, default_value = "optimal", value_parser = layout())]
    layout: LayoutKind,
    /// Write the annotated PTX.
    #[arg(short, long, value_name = "FILE.ptx")]
    output: Option<PathBuf>,
    /// Draw the control flow with ranges and placements for Graphviz.
    #[arg(long, value_name = "FILE.dot")]
    dot: Option<PathBuf>,
}

fn placement() -> impl TypedValueParser<Value = Placement> {
    PossibleValuesParser::new(["optimal", "postdom", "none"]).map(|name| match name.as_str() {
        "postdom" => Placement::PostDom,
        "none" => Placement::None,
        _ => Placement::Optimal,
    })
}

fn layout() -> impl TypedValueParser<Value = LayoutKind> {
    PossibleValuesParser::new(["optimal", "declared"]).map(|name| match name.as_str() {
        "declared" => LayoutKind::Declared,
        _ => LayoutKind::Optimal,
    })
}

/// `X`, `X,Y` or `X,Y,Z`, within CUDA's limits.
pub(super) fn parse_block(text: &str) -> std::result::Result<[u32; 3], String> {
    let expected = "expected X, X,Y or X,Y,Z, at most 1024, 1024 and 64, and 1024 in all";
    let sizes: Option<Vec<u32>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    let sizes = sizes.filter(|s| s.len() <= 3).ok_or(expected)?;
    let mut block = [1; 3];
    block[..sizes.len()].copy_from_slice(&sizes);
    let most = [1024, 1024, 64];
    let fits = block
        .iter()
        .zip(most)
        .all(|(&n, most)| (1..=most).contains(&n));
    match fits && block.iter().product::<u32>() <= 1024 {
        true => Ok(block),
        false => Err(expected.to_owned()),
    }
}

/// The kernel and its launch, from the launch file or the options.
struct Input {
    launch: Option<LaunchFile>,
    module: Module,
    entry: Option<String>,
    dynamic: u32,
    needs: Needs,
}

impl Input {
    fn load(args: &ShareArgs) -> Result<Self> {
        match is_launch(&args.input) {
            true => Self::of_launch(args),
            false => Self::of_ptx(args),
        }
    }

    fn of_launch(args: &ShareArgs) -> Result<Self> {
        let given = [
            ("--entry", args.entry.is_some()),
            ("--block", args.block.is_some()),
            ("--dynamic-shared", args.dynamic_shared.is_some()),
            ("--registers", args.registers.is_some()),
        ];
        if let Some((option, _)) = given.iter().find(|o| o.1) {
            return Err(Error::usage(
                format!(
                    "{option} for {}, which is a launch file",
                    args.input.display()
                ),
                "the launch file says it",
            ));
        }
        let launch = LaunchFile::load(&args.input)?;
        let first = &launch.first;
        Ok(Input {
            module: launch.module()?,
            entry: first.entry.as_ref().map(|e| e.value.clone()),
            dynamic: first.dynamic_shared,
            needs: Needs {
                threads: first.block.iter().map(|&n| u64::from(n)).product(),
                registers: launch.registers,
            },
            launch: Some(launch),
        })
    }

    fn of_ptx(args: &ShareArgs) -> Result<Self> {
        let Some(block) = args.block else {
            return Err(Error::usage(
                format!(
                    "{} does not say how many threads a block has",
                    args.input.display()
                ),
                "give --block X,Y,Z, or a launch file (.toml)",
            ));
        };
        Ok(Input {
            launch: None,
            module: read_module(&args.input)?,
            entry: args.entry.clone(),
            dynamic: args.dynamic_shared.unwrap_or(0),
            needs: Needs {
                threads: block.iter().map(|&n| u64::from(n)).product(),
                registers: args.registers,
            },
        })
    }
}

fn read_module(path: &Path) -> Result<Module> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Error::usage(
            format!("{} is not text", path.display()),
            "expected PTX in UTF-8",
        )
    })?;
    Module::parse(&text, &path.display().to_string())
}

pub(super) fn run(args: &ShareArgs, global: &Global, printer: &Printer) -> Result<()> {
    let machine = global.machine()?;
    for file in args.output.iter().chain(&args.dot) {
        check_writable(file)?;
    }
    let input = Input::load(args)?;
    let kernel = Kernel::new(&input.module, input.entry.as_deref(), input.dynamic)?;
    let sharing = args.sharing.unwrap_or(machine.sm.sharing.threshold);
    let choice = (args.layout, args.placement);
    let plan = Plan::new(&kernel, &machine, input.needs, sharing, choice)?;
    let annotated = plan.annotate()?;
    if let Some(file) = &args.output {
        write_file(file, annotated.text.as_bytes())?;
    }
    printer.result(plan.json(&annotated), || text(&plan, &machine))
}

fn text(plan: &Plan, machine: &Config) -> String {
    let _ = machine;
    format!("{}\n", plan.layout.cost)
}
