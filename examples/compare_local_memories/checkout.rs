//! The user's copies of other projects: what of them has to be there, which
//! commit it is, and a test bench around it, built by Verilator.

use spadkit::error::{Error, Result};
use spadkit::tool::{ToolCommand, ToolKind, Toolbox};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// The folder that an environment variable names, if it names one.
pub fn named(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).filter(|folder| !folder.is_empty());
    folder.map(PathBuf::from)
}

/// The folder by its whole name, if it has all of `files`.
pub fn with_files(variable: &str, folder: &Path, files: &[&str], help: &str) -> Result<PathBuf> {
    let missing = |what: String| {
        Error::usage(
            format!("{variable}={}: {what}", folder.display()),
            help.to_owned(),
        )
    };
    if !folder.is_dir() {
        return Err(missing("this is not a folder".into()));
    }
    let absent = files.iter().find(|file| !folder.join(file).is_file());
    if let Some(file) = absent {
        return Err(missing(format!("there is no {file}")));
    }
    let whole = folder.canonicalize();
    whole.map_err(|e| Error::io("read", folder, e))
}

/// The commit of the Git checkout whose top is `folder`, and whether files of
/// it were changed.
pub fn commit(folder: &Path) -> String {
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        let output = command.arg("-C").arg(folder).args(args).output().ok()?;
        if !output.status.success() {
            return None;
        }
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let top = git(&["rev-parse", "--show-toplevel"]).map(PathBuf::from);
    // A copy without .git in a checkout of something else has no commit.
    if top.and_then(|top| top.canonicalize().ok()) != folder.canonicalize().ok() {
        return "no Git checkout, commit unknown".into();
    }
    let hash = git(&["rev-parse", "HEAD"]).unwrap_or("commit unknown".into());
    match git(&["status", "--porcelain", "--untracked-files=no"]) {
        Some(changes)
            if changes
                .lines()
                .any(|l| l.ends_with("v") || l.ends_with("vh")) =>
        {
            format!("{hash} with changed files")
        }
        _ => hash,
    }
}

/// A test bench, built.
pub struct Bench {
    folder: TempDir,
    program: PathBuf,
}

impl Bench {
    /// Builds the bench `top` from files and what `arguments` adds to
    /// Verilator's; `sources` are texts of our own and their names.
    pub fn build(
        top: &str,
        sources: &[(&str, &str)],
        arguments: impl FnOnce(ToolCommand) -> ToolCommand,
    ) -> Result<Bench> {
        let folder = tempfile::tempdir().map_err(|e| Error::io("create", Path::new("/tmp"), e))?;
        for (name, text) in sources {
            let file = folder.path().join(name);
            std::fs::write(&file, text).map_err(|e| Error::io("write", &file, e))?;
        }
        let verilator = Toolbox::new().get(ToolKind::Verilator)?;
        let command = verilator
            .command()
            .args(["--binary", "--timing", "-Wno-fatal", "-Wno-lint", "-O3"])
            .args(["--top-module", top, "--Mdir", "built"]);
        arguments(command)
            .args(sources.iter().map(|(name, _)| name))
            .cwd(folder.path())
            .timeout(Duration::from_secs(1800))
            .run()?;
        let program = folder.path().join(format!("built/V{top}"));
        Ok(Bench { folder, program })
    }

    /// Runs it with words in a file; returns the number after `cycles` in its
    /// output, or an error with the whole output if that does not contain
    /// `end`.
    pub fn cycles(
        &self,
        words: impl Iterator<Item = u16>,
        arguments: &[String],
        end: &str,
    ) -> std::result::Result<u32, String> {
        let file = self.folder.path().join("words.hex");
        let text: String = words.map(|word| format!("{word:x}\n")).collect();
        std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
        let output = Command::new(&self.program)
            .arg(format!("+words={}", file.display()))
            .args(arguments)
            .output()
            .map_err(|e| format!("{}: {e}", self.program.display()))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let cycles = printed
            .lines()
            .find_map(|l| l.strip_prefix("cycles ")?.parse().ok());
        let good = output.status.success() && printed.contains(end);
        cycles
            .filter(|_| good)
            .ok_or_else(|| printed.trim().to_owned())
    }
}
