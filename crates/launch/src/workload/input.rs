//! INPUT of the commands: what its name says it is, and what it is read as.

use super::{AccessOptions, LaunchWorkload};
use crate::capture::{LaunchInput, RunOptions};
use crate::launch::{PtxFile, read_module, refuse_ptx};
use spadkit_base::error::{Error, Result};
use spadkit_base::input::{Limit, STDIN, is_stdin};
use spadkit_base::quote::shown_path;
use spadkit_mapping::trace::{AccessTrace, accelsim, kernels};
use spadkit_ptx::{Module, sm_number};
use spadkit_sm::config::Config;
use spadkit_sm::sm::{AccelSimWorkload, TraceFile, WarpText, Workload};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// INPUT of a command. What it is, its name says; nothing is read before it is asked
/// for, and a launch file and its PTX once. A clone shares what is read.
#[derive(Clone, Debug)]
pub enum Input {
    /// A [generated kernel](kernels): `kernel:NAME` or `kernel:NAME:param=value,...`.
    Generated(String),
    /// A launch of a launch file: `.toml`, `.toml:N` or `.toml:ENTRY`.
    Launch(Arc<LaunchInput>),
    /// PTX (`.ptx`), which does not specify a launch.
    Ptx(Arc<PtxFile>),
    /// An [Accel-Sim trace](accelsim), or a list of them.
    AccelSim(PathBuf),
    /// A program text (`.warp`).
    Programs(PathBuf),
    /// A full trace by its name (`.spt`).
    FullTrace(PathBuf),
    /// Standard input, `-`: whatever its first bytes say.
    Stdin,
    /// Any other file: a full trace if it begins like one, else an access trace.
    File(PathBuf),
}

impl From<&str> for Input {
    fn from(name: &str) -> Self {
        if name.starts_with(kernels::PREFIX) {
            Input::Generated(name.to_owned())
        } else {
            Input::from(PathBuf::from(name))
        }
    }
}

impl From<PathBuf> for Input {
    /// The file of that name.
    fn from(path: PathBuf) -> Self {
        if is_stdin(&path) {
            return Input::Stdin;
        }
        if accelsim::is_accelsim(&path) {
            return Input::AccelSim(path);
        }
        if let Some(launch) = LaunchInput::of(&path) {
            return Input::Launch(launch.into());
        }
        match path.extension().and_then(|e| e.to_str()) {
            Some("ptx") => Input::Ptx(PtxFile::new(&path).into()),
            Some("warp") => Input::Programs(path),
            Some("spt") => Input::FullTrace(path),
            _ => Input::File(path),
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.name().display().fmt(f)
    }
}

impl Input {
    /// Name of the input, as the user wrote it.
    pub fn name(&self) -> &Path {
        match self {
            Input::Generated(name) => Path::new(name),
            Input::Launch(launch) => launch.name(),
            Input::Ptx(ptx) => ptx.path(),
            Input::AccelSim(path)
            | Input::Programs(path)
            | Input::FullTrace(path)
            | Input::File(path) => path,
            Input::Stdin => Path::new(STDIN),
        }
    }

    /// The launch, if it is one.
    pub fn launch(&self) -> Option<&LaunchInput> {
        match self {
            Input::Launch(launch) => Some(launch),
            _ => None,
        }
    }

    /// Words of shared memory that a mapping may take on `machine`: those of a block, or of
    /// the kernels of a launch file.
    pub fn shared_room(&self, machine: &Config) -> Result<u32> {
        match self.launch() {
            Some(launch) => Ok(launch.file()?.shared_room(machine.block_words)),
            None => Ok(machine.block_words),
        }
    }

    /// Whether its name can only be that of an INPUT, or there is such a file.
    pub fn is_evident(&self) -> bool {
        match self {
            Input::File(path) => path.extension().is_some_and(|e| e == "json") || path.exists(),
            _ => true,
        }
    }

    /// PTX of the input, as one text.
    pub fn module(&self) -> Result<Module> {
        match self {
            Input::Launch(launch) => launch.module()?.clone().one_text(),
            Input::Ptx(ptx) => ptx.module(),
            other => read_module(other.name()),
        }
    }

    /// The PTX that says for which GPU it is, or the trace that was recorded from one, and
    /// its target: 80 of `sm_80`. Of several, the highest; none if there is none or it
    /// cannot be read.
    pub fn target(&self) -> Option<(&Path, u32)> {
        let recorded = |name: Option<String>| Some((self.name(), sm_number(&name?)?));
        match self {
            Input::Launch(launch) => launch.target(),
            Input::Ptx(ptx) => Some((ptx.path(), ptx.target()?)),
            Input::Generated(_) | Input::AccelSim(_) | Input::Programs(_) => None,
            _ if TraceFile::is_one(self.name()) => {
                recorded(TraceFile::kernel_of(self.name()).ok()?.target)
            }
            // A pipe is read once.
            Input::File(path) if !path.is_file() => None,
            Input::FullTrace(_) => None,
            Input::File(_) | Input::Stdin => recorded(AccessTrace::target_of(self.name())),
        }
    }

    /// The files that it is read from.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        match self {
            Input::Launch(launch) => launch.files(),
            other => Ok(vec![other.name().to_owned()]),
        }
    }

    /// Accesses of one block to shared memory.
    pub fn accesses(&self, options: RunOptions) -> Result<AccessTrace> {
        let path = self.name();
        match self {
            Input::Generated(name) => kernels::generate(&name[kernels::PREFIX.len()..]),
            Input::Launch(launch) => launch.access_trace(options),
            Input::AccelSim(path) => accelsim::access_trace(&accelsim::find_kernel(path)?, None),
            Input::File(path) if path.as_os_str().is_empty() => Err(Error::usage(
                "INPUT is empty",
                "expected an access trace (.json), a launch file (.toml), or kernel:NAME \
                 (spadkit trace --list)",
            )),
            _ => {
                refuse_ptx(path)?;
                if TraceFile::is_one(path) {
                    return Err(Error::usage(
                        format!("{} is a full trace, of all blocks", shown_path(path)),
                        "expected the accesses of one block: a launch file, or a trace of it \
                         (.json); spadkit sim and cosim take full traces",
                    ));
                }
                AccessTrace::load(path).map_err(|error| match error {
                    Error::Input(_) if is_stdin(path) && !begins_like_json(path) => Error::usage(
                        "standard input is no access trace, which is JSON",
                        "name a launch file instead of piping it: its files are relative to \
                         its folder",
                    ),
                    error => error,
                })
            }
        }
    }

    /// Whether it is the accesses of one block, without programs; of a file and of
    /// standard input, the first bytes say it.
    pub fn is_access_trace(&self) -> bool {
        match self {
            Input::Generated(_) | Input::Ptx(_) => true,
            Input::File(path) => !TraceFile::is_one(path),
            Input::Stdin => !TraceFile::is_one(self.name()) && begins_like_json(self.name()),
            Input::Launch(_) | Input::AccelSim(_) | Input::Programs(_) | Input::FullTrace(_) => {
                false
            }
        }
    }

    /// The programs of its warps. `options` are about access traces; the others bring
    /// their own grid and instructions.
    pub fn programs(&self, options: &AccessOptions) -> Result<Box<dyn Workload>> {
        if self.is_access_trace() {
            let trace = self.accesses(options.run())?;
            return Ok(Box::new(options.workload(&trace)?));
        }
        options.refuse(self)?;
        Ok(match self {
            Input::Launch(launch) => Box::new(LaunchWorkload::open(&launch.run(options.run())?)?),
            Input::AccelSim(path) => Box::new(AccelSimWorkload::open(path)?),
            Input::Programs(path) => Box::new(WarpText::load(path)?),
            Input::Stdin if !TraceFile::is_one(self.name()) => {
                Box::new(WarpText::load(self.name())?)
            }
            _ => Box::new(TraceFile::open(self.name())?),
        })
    }
}

/// The accesses of the INPUT `name`.
pub fn load_input(name: &str) -> Result<AccessTrace> {
    Input::from(name).accesses(RunOptions::default())
}

/// Standard input is read by whoever looks at it first, and kept.
fn begins_like_json(stdin: &Path) -> bool {
    const LIMIT: Limit = Limit {
        bytes: 1 << 30,
        expected: "an access trace, a full trace or a program text",
    };
    let begin = |bytes: Vec<u8>| bytes.into_iter().find(|b| !b.is_ascii_whitespace());
    // A byte order mark comes before JSON only; an error comes up again.
    let first = LIMIT.read(stdin).map(begin);
    matches!(first, Ok(Some(b'{' | 0xef) | None) | Err(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_a_kernel_a_file_or_refused() {
        assert_eq!(load_input("kernel:transpose").unwrap().name, "transpose");
        let toml = load_input("a/launch.toml").unwrap_err();
        assert!(toml.to_string().contains("cannot read"), "{toml}");
        let missing = load_input("no/such/file.json").unwrap_err();
        assert!(missing.to_string().contains("cannot read"), "{missing}");
        assert_eq!(missing.exit_status(), 2);
    }

    #[test]
    fn a_name_says_what_it_is() {
        let kind = |name: &str| match Input::from(name) {
            Input::Generated(_) => "generated",
            Input::Launch(_) => "launch",
            Input::Ptx(_) => "ptx",
            Input::AccelSim(_) => "accelsim",
            Input::Programs(_) => "programs",
            Input::FullTrace(_) => "full",
            Input::Stdin => "stdin",
            Input::File(_) => "file",
        };
        for (name, expected) in [
            ("kernel:fwt", "generated"),
            ("a/k.toml", "launch"),
            ("a/k.toml:2", "launch"),
            ("k.ptx", "ptx"),
            ("kernelslist.g", "accelsim"),
            ("a.traceg", "accelsim"),
            ("a.warp", "programs"),
            ("a.spt", "full"),
            ("-", "stdin"),
            ("a.json", "file"),
            ("a.json:1", "file"),
            ("", "file"),
        ] {
            assert_eq!(kind(name), expected, "{name}");
            assert_eq!(Input::from(name).to_string(), name);
        }
        assert!(Input::from("no/such.json").is_evident());
        assert!(!Input::from("xorr").is_evident());
    }

    #[test]
    fn what_is_no_ptx_has_no_target() {
        for name in [
            "kernel:fwt",
            "a.json",
            "no/such.ptx",
            "no/such.toml",
            "/dev/zero",
        ] {
            assert!(Input::from(name).target().is_none(), "{name}");
        }
    }
}
