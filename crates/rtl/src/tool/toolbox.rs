//! Finding tools and their versions.

use super::command::{ToolCommand, unexpected_output};
use super::kind::ToolKind;
use super::version::Version;
use crate::error::{Error, Failure, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Asking for a version must be quick; a wrapper may have to load from disk.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

/// A tool that was found, runs, and is recent enough.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Kind of the tool.
    pub kind: ToolKind,
    /// The program.
    pub path: PathBuf,
    /// The version that it reports.
    pub version: Version,
    /// All that it reports about itself, with the commit and the builder: what results
    /// depend on.
    pub build: String,
}

impl Tool {
    /// A run of the tool, to be given its arguments.
    pub fn command(&self) -> ToolCommand {
        ToolCommand::new(self.kind, &self.path)
    }
}

/// The external tools, each looked for once.
#[derive(Debug, Default)]
pub struct Toolbox {
    instead: BTreeMap<ToolKind, PathBuf>,
    version_timeout: Option<Duration>,
    found: Mutex<BTreeMap<ToolKind, Tool>>,
}

impl Toolbox {
    /// The tools of the path and of the `SPADKIT_...` variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses `program` for a tool, regardless of path and variables.
    pub fn with(mut self, kind: ToolKind, program: impl Into<PathBuf>) -> Self {
        self.instead.insert(kind, program.into());
        self
    }

    /// Waits this long for a tool to tell its version.
    pub fn version_timeout(mut self, timeout: Duration) -> Self {
        self.version_timeout = Some(timeout);
        self
    }

    /// The tool, or an error that says how to get it.
    pub fn get(&self, kind: ToolKind) -> Result<Tool> {
        let known = |f: &Mutex<BTreeMap<ToolKind, Tool>>| {
            let found = f.lock().unwrap_or_else(PoisonError::into_inner);
            found.get(&kind).cloned()
        };
        if let Some(tool) = known(&self.found) {
            return Ok(tool);
        }
        let path = self.locate(kind)?;
        let timeout = self.version_timeout.unwrap_or(VERSION_TIMEOUT);
        let (version, build) = ask_version(kind, &path, timeout)?;
        if let Some(minimum) = kind.minimum()
            && version < minimum
        {
            return Err(Error::ToolFailed {
                tool: kind.name().to_owned(),
                what: format!(
                    "{version} ({}) is too old: {minimum} or newer is needed",
                    path.display()
                ),
                failure: Failure::Unusable,
                help: Some(kind.how_to_get()),
            });
        }
        let tool = Tool {
            kind,
            path,
            version,
            build,
        };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.insert(kind, tool.clone());
        Ok(tool)
    }

    /// The tool; `None` if it is not installed. An installed tool that does not
    /// work still is an error.
    pub fn get_optional(&self, kind: ToolKind) -> Result<Option<Tool>> {
        match self.get(kind) {
            Ok(tool) => Ok(Some(tool)),
            Err(Error::ToolMissing { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn locate(&self, kind: ToolKind) -> Result<PathBuf> {
        let named = match self.instead.get(&kind) {
            Some(path) => Some((path.clone().into_os_string(), "the caller".to_owned())),
            None => std::env::var_os(kind.variable())
                .filter(|v| !v.is_empty())
                .map(|v| (v, kind.variable().to_owned())),
        };
        let missing = |note: String| Error::ToolMissing {
            tool: kind.name().to_owned(),
            help: format!("{note}{}", kind.how_to_get()),
        };
        match named {
            Some((program, by)) => which::which(&program).map_err(|_| {
                let program = program.to_string_lossy().into_owned();
                missing(format!("{by} names {program}, which is not a program; "))
            }),
            None => which::which(kind.program()).map_err(|_| missing(String::new())),
        }
    }
}

/// The program that tells the version. `verilator` is a Perl script that starts
/// `verilator_bin` in the same folder, which answers in a twentieth of the
/// time. With VERILATOR_ROOT the script may start another one.
fn answering(kind: ToolKind, path: &Path) -> PathBuf {
    let started = path.with_file_name("verilator_bin");
    let is_script = kind == ToolKind::Verilator
        && path.file_name().is_some_and(|name| name == "verilator")
        && std::env::var_os("VERILATOR_ROOT").is_none();
    if is_script && started.is_file() {
        started
    } else {
        path.to_owned()
    }
}

fn ask_version(kind: ToolKind, path: &Path, timeout: Duration) -> Result<(Version, String)> {
    let output = ToolCommand::new(kind, &answering(kind, path))
        .arg(kind.version_argument())
        .timeout(timeout)
        .run()?;
    let text = output.log();
    let version = Version::find_in(&text).filter(|_| text.contains(kind.version_word()));
    let version = version.ok_or_else(|| {
        let what = format!("({}) does not report its version", path.display());
        unexpected_output(kind, what, &output)
    })?;
    Ok((version, text))
}
