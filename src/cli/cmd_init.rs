//! `spadkit init`: a launch file to fill in.

use super::printer::{CommandResult, Printer};
use super::{Example, Execute, Global};
use crate::error::{Error, Result};
use crate::input::is_stdin;
use crate::launch::{Given, GivenArg, Skeleton, read_module};
use crate::output::write_file;
use crate::ptx::Module;
use crate::quote::shell;
use crate::terminal::{Details, Hint, Tone};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Write a launch file for a kernel, to fill in
///
/// The PTX provides names, pointers with the type of their elements, types of
/// scalars, sizes of structs, and the threads of a block if it states them. The
/// rest is marked "fill in". With --grid, --block and --arg, nothing is left to
/// fill in:
///
///   spadkit init saxpy.ptx --grid 16 --block 256 \
///     --arg 0=4096 --arg 2=random:f32:4096
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct InitArgs {
    /// PTX of the kernel.
    input: PathBuf,
    /// Entry of the PTX; needed only if there are several.
    #[arg(long, alias = "kernel", value_name = "NAME")]
    entry: Option<String>,
    /// Thread blocks.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = super::values::parse_grid)]
    grid: Option<[u32; 3]>,
    /// Threads of a block.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = super::values::parse_block)]
    block: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    #[arg(long, value_name = "BYTES")]
    dynamic_shared: Option<u32>,
    /// An argument by name or position from 0: a buffer NAME=INIT:TYPE:COUNT,
    /// with INIT zeros, iota, random or a file, or a scalar NAME=NUMBER.
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = super::values::parsed::<GivenArg>)]
    args: Vec<GivenArg>,
    /// The launch file [default: beside the PTX, with .toml instead of .ptx].
    #[arg(short, long, alias = "out", value_name = "FILE.toml")]
    output: Option<PathBuf>,
    /// Replace an existing file.
    #[arg(long)]
    force: bool,
}

/// The command that writes a launch file for an entry of `module`, which is in `ptx`.
pub(super) fn init_command(ptx: &Path, module: &Module, entry: &str) -> String {
    let command = format!("spadkit init {}", shell(ptx));
    match module.entries().count() {
        0 | 1 => command,
        _ => format!("{command} --entry {}", shell(entry)),
    }
}

impl Execute for InitArgs {
    fn examples() -> &'static [Example] {
        &[
            ("a file to fill in", "init k.ptx"),
            ("filled in", "init k.ptx --grid 16 --block 256 --arg 0=4096"),
        ]
    }

    fn execute(&self, _global: &Global, printer: &Printer) -> Result<()> {
        if is_stdin(&self.input) {
            return Err(Error::usage(
                "a launch file names its PTX, and standard input has no name",
                "save the PTX to a file: spadkit init k.ptx",
            ));
        }
        let module = read_module(&self.input)?;
        let skeleton = Skeleton::new(&module, self.entry.as_deref())?;
        let output = match &self.output {
            Some(output) => output.clone(),
            None => self.input.with_extension("toml"),
        };
        if output.is_file() && !self.force {
            return Err(Error::usage(
                format!("{} already exists", output.display()),
                "name another file with -o, or replace it with --force",
            ));
        }
        let given = Given {
            grid: self.grid,
            block: self.block,
            dynamic_shared: self.dynamic_shared,
            args: self.args.clone(),
        };
        let text = skeleton.text(&from_folder_of(&output, &self.input)?, &given)?;
        write_file(&output, text.as_bytes())?;
        printer.show(&Written {
            launch: output.display().to_string(),
            to_fill_in: text.matches("# fill in").count(),
            text,
        })
    }
}

/// The launch file.
#[derive(Serialize)]
struct Written {
    launch: String,
    /// Lines of the text that are.
    to_fill_in: usize,
    text: String,
}

impl CommandResult for Written {
    fn verdict(&self) -> String {
        let file = &self.launch;
        match self.to_fill_in {
            0 => format!("Wrote {file}: nothing is left to fill in."),
            1 => format!("Wrote {file}: 1 line is a guess, to fill in."),
            left => format!("Wrote {file}: {left} lines are guesses, to fill in."),
        }
    }

    fn tone(&self) -> Tone {
        match self.to_fill_in {
            0 => Tone::Good,
            _ => Tone::Doubt,
        }
    }

    fn details(&self) -> Details {
        let mut details = Details::new();
        let lines = self.text.lines().enumerate();
        for (i, line) in lines.filter(|(_, line)| line.contains("# fill in")) {
            details.verbatim(Tone::Doubt, format!("{:>5}: {}", i + 1, line.trim()));
        }
        details
    }

    fn hints(&self) -> Vec<Hint> {
        let about = match self.to_fill_in {
            0 => "run it with",
            _ => "fill in, then",
        };
        let run = format!("spadkit run {}", shell(&self.launch));
        // The optimiser may remove a race of the source.
        vec![
            Hint::new(about, run.clone()),
            Hint::new(
                "races, also those that -O3 hides if you compile with nvcc -ptx -Xcicc -O0",
                format!("{run} --races"),
            ),
        ]
    }
}

/// The name of `ptx` in a launch file at `output`: the file name if both are in
/// one folder, else the full path.
fn from_folder_of(output: &Path, ptx: &Path) -> Result<String> {
    let folder = |path: &Path| {
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
        std::fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()
    };
    let name = if folder(output) == folder(ptx) {
        ptx.file_name().map(Path::new).unwrap_or(ptx).to_owned()
    } else {
        std::fs::canonicalize(ptx).map_err(|e| Error::io("read", ptx, e))?
    };
    let name = name.to_str().map(str::to_owned);
    name.ok_or_else(|| Error::usage(format!("{} is not UTF-8", ptx.display()), "rename the file"))
}
