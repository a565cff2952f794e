//! Running a tool: input, captured output, time-out, and what went wrong.

use super::guard::{self, Watched};
use super::kind::ToolKind;
use crate::error::{Error, Failure, Result};
use crate::interrupt::{self, Group};
use crate::quote::{shell_line, shown};
use rustix::process::Signal;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time that a tool may run unless the caller says otherwise.
const TIMEOUT: Duration = Duration::from_secs(300);
/// The environment variable that limits the seconds of every tool, instead of all other time-outs.
const TIMEOUT_VARIABLE: &str = "SPADKIT_TIMEOUT";
/// A tool that prints more than this has gone astray.
const MAX_OUTPUT_BYTES: u64 = 256 << 20;
/// A program that was just written may still be open in a process that is
/// being forked by another thread; that passes.
const BUSY_RETRIES: u32 = 10;
/// Lines of the log that go into an error message.
const LOG_TAIL_LINES: usize = 12;

/// A run of a tool, under construction.
pub struct ToolCommand {
    kind: ToolKind,
    program: PathBuf,
    args: Vec<OsString>,
    envs: Vec<(OsString, OsString)>,
    cwd: Option<PathBuf>,
    stdin: Vec<u8>,
    timeout: Duration,
}

/// The output of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// Standard output; bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl ToolCommand {
    pub(super) fn new(kind: ToolKind, program: &Path) -> Self {
        ToolCommand {
            kind,
            program: program.to_owned(),
            args: Vec::new(),
            envs: Vec::new(),
            cwd: None,
            stdin: Vec::new(),
            timeout: TIMEOUT,
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args
            .extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.envs
            .push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Runs in this directory, and has its temporary files there.
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cwd = Some(directory.into());
        self
    }

    /// Standard input of the tool (nothing by default).
    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = text.into();
        self
    }

    /// Stops the tool, with everything that it started, after this time; the
    /// environment variable `SPADKIT_TIMEOUT` (in seconds) overrides it.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Runs the tool; anything but exit status 0 is an error with the end
    /// of the log.
    pub fn run(self) -> Result<ToolOutput> {
        let (status, output) = self.run_any_status()?;
        if status.success() {
            Ok(output)
        } else {
            Err(self.ended_badly(status, &output))
        }
    }

    /// Runs the tool and returns its exit status, for tools that report a
    /// result by it. A crash or a time-out still is an error.
    pub fn run_with_status(self) -> Result<(i32, ToolOutput)> {
        let (status, output) = self.run_any_status()?;
        match status.code() {
            Some(code) => Ok((code, output)),
            None => Err(self.ended_badly(status, &output)),
        }
    }

    /// Output goes to files: a stray grandchild that keeps a pipe open
    /// cannot block us, and nothing needs a thread.
    fn run_any_status(&self) -> Result<(ExitStatus, ToolOutput)> {
        let timeout = timeout_or(self.timeout)?;
        self.check_folder()?;
        let (mut stdin, mut stdout, mut stderr) = (scratch()?, scratch()?, scratch()?);
        stdin.write_all(&self.stdin).map_err(scratch_error)?;
        stdin.rewind().map_err(scratch_error)?;
        interrupt::listen(); // the tool is in a group of its own and would go on
        let (mut child, _watched) = self.spawn(stdin, &stdout, &stderr)?;
        // Each tool has a process group: a time-out must stop its children, too.
        let group = Group::new(child.id());
        let ended = self.wait(&mut child, [&stdout, &stderr], timeout);
        drop(group);
        let output = ToolOutput {
            stdout: read_back(&mut stdout)?,
            stderr: read_back(&mut stderr)?,
        };
        match ended {
            Ok(status) => Ok((status, output)),
            Err((failure, what)) => {
                let _ = child.wait(); // it was killed: reap it
                // A tool may also have been stopped by the signal itself.
                interrupt::check(self.kind.name())?;
                Err(self.failed(failure, what, &output))
            }
        }
    }

    /// Yosys writes the whole name of its folder into ABC's script, where it
    /// would be commands (ABC has one that calls a shell).
    fn check_folder(&self) -> Result<()> {
        let fine = |c: char| c.is_alphanumeric() || " _-./+,:@%=~".contains(c);
        let Some(cwd) = self.cwd.as_ref().filter(|_| self.kind == ToolKind::Yosys) else {
            return Ok(());
        };
        let cwd = std::path::absolute(cwd).map_err(|e| Error::io("find", cwd, e))?;
        if cwd.to_str().is_some_and(|name| name.chars().all(fine)) {
            Ok(())
        } else {
            Err(Error::usage(
                format!(
                    "Yosys cannot work in a folder of this name: {}",
                    cwd.display()
                ),
                "its name would be commands in a script: name folders with SPADKIT_CACHE and \
                 TMPDIR that have letters, digits, spaces and _-./+,:@%=~ only",
            ))
        }
    }

    /// The tool, in the guard's list for as long as the second value lives.
    fn spawn(&self, stdin: File, stdout: &File, stderr: &File) -> Result<(Child, Watched)> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .envs(self.envs.iter().map(|(k, v)| (k, v)))
            .stdin(stdin)
            .stdout(Stdio::from(stdout.try_clone().map_err(scratch_error)?))
            .stderr(Stdio::from(stderr.try_clone().map_err(scratch_error)?))
            .process_group(0);
        die_with_parent(&mut command);
        let watched = guard::watch(&mut command);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
            // Yosys puts the name of its temporary folder into a shell command
            // without quotes. And a killed tool's files are removed with its
            // folder.
            command.env("TMPDIR", ".");
        }
        let mut started = command.spawn();
        for _ in 0..BUSY_RETRIES {
            match &started {
                Err(e) if e.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(Duration::from_millis(20));
                    started = command.spawn();
                }
                _ => break,
            }
        }
        let child = started.map_err(|e| Error::ToolFailed {
            tool: self.kind.name().to_owned(),
            what: format!("could not be started: {}: {e}", self.program.display()),
            failure: Failure::Unusable,
            help: Some(self.kind.how_to_get()),
        })?;
        Ok((child, watched))
    }

    /// The exit status, or why the tool had to be stopped.
    fn wait(
        &self,
        child: &mut Child,
        output: [&File; 2],
        timeout: Duration,
    ) -> Result<ExitStatus, (Failure, String)> {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => {}
                Err(e) => return Err((Failure::Stopped, format!("could not be waited for: {e}"))),
            }
            if interrupt::requested() {
                return Err((Failure::Stopped, "was interrupted".to_owned()));
            }
            if start.elapsed() >= timeout {
                let seconds = timeout.as_secs_f64();
                let what = format!(
                    "did not finish in {seconds} s and was stopped (SPADKIT_TIMEOUT sets the limit)"
                );
                return Err((Failure::TimedOut, what));
            }
            let written: u64 = output
                .iter()
                .filter_map(|f| f.metadata().ok())
                .map(|m| m.len())
                .sum();
            if written > MAX_OUTPUT_BYTES {
                let mib = MAX_OUTPUT_BYTES >> 20;
                let what = format!("printed more than {mib} MiB and was stopped");
                return Err((Failure::Stopped, what));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(4));
        }
    }

    fn ended_badly(&self, status: ExitStatus, output: &ToolOutput) -> Error {
        let failure = match status.code() {
            Some(_) => Failure::Status { log: output.log() },
            None => Failure::Crashed,
        };
        self.failed(failure, describe(status), output)
    }

    fn failed(&self, failure: Failure, what: String, output: &ToolOutput) -> Error {
        Error::ToolFailed {
            tool: self.kind.name().to_owned(),
            what,
            failure,
            help: Some(format!(
                "ran: {}\n{}",
                self.command_line(),
                log_tail(output)
            )),
        }
    }

    fn command_line(&self) -> String {
        let program = std::iter::once(self.program.as_os_str());
        shell_line(program.chain(self.args.iter().map(|a| a.as_os_str())))
    }
}

impl ToolOutput {
    /// Standard output, then standard error.
    pub fn log(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// An error for a tool that succeeded but did not print the expected output.
pub fn unexpected_output(kind: ToolKind, what: impl Into<String>, output: &ToolOutput) -> Error {
    Error::ToolFailed {
        tool: kind.name().to_owned(),
        what: what.into(),
        failure: Failure::Output,
        help: Some(log_tail(output)),
    }
}

/// What a tool wrote into a file. A tool that ended well and wrote none has failed.
pub fn product(kind: ToolKind, path: &Path) -> Result<Vec<u8>> {
    let name = path.file_name().unwrap_or(path.as_os_str()).display();
    match std::fs::read(path) {
        Ok(bytes) if !bytes.is_empty() => Ok(bytes),
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io("read", path, e)),
        _ => Err(cut_off(
            kind,
            format!("ended well, but did not write {name}"),
        )),
    }
}

/// The text of a [`product`], which ends in a line `end`: a tool does not notice that the
/// disk is full.
pub fn product_text(kind: ToolKind, path: &Path, end: &str) -> Result<String> {
    let text = String::from_utf8_lossy(&product(kind, path)?).into_owned();
    if text.lines().next_back() == Some(end) {
        return Ok(text);
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).display();
    Err(cut_off(kind, format!("wrote {name}, which is cut off")))
}

/// An error for a tool that ended well without its whole product.
fn cut_off(kind: ToolKind, what: String) -> Error {
    Error::ToolFailed {
        tool: kind.name().to_owned(),
        what,
        failure: Failure::Output,
        help: Some(format!(
            "is a disk full? If not, {} may be broken",
            kind.program()
        )),
    }
}

/// The user's time-out, if there is one.
fn timeout_or(usual: Duration) -> Result<Duration> {
    let Some(text) = std::env::var_os(TIMEOUT_VARIABLE).filter(|t| !t.is_empty()) else {
        return Ok(usual);
    };
    let seconds = text.to_str().and_then(|t| t.parse::<u32>().ok());
    match seconds {
        Some(seconds @ 1..) => Ok(Duration::from_secs(seconds.into())),
        _ => Err(Error::usage(
            format!("{TIMEOUT_VARIABLE} is {}", text.display()),
            "expected a whole number of seconds, at least 1",
        )),
    }
}

/// The tool gets a SIGKILL when this process dies, however it dies. (The signal
/// is tied to the thread that waits for the tool.) The tool's own children are
/// stopped by the [`guard`].
fn die_with_parent(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        let parent = rustix::process::getpid();
        let set = move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died already.
            if rustix::process::getppid() == Some(parent) {
                Ok(())
            } else {
                Err(rustix::io::Errno::SRCH.into())
            }
        };
        // SAFETY: between fork and exec only two system calls are made, and
        // nothing is allocated or locked.
        unsafe { command.pre_exec(set) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}

/// A clause on how a failed process ended.
fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("failed with exit status {code}"),
        (None, Some(signal)) => format!("crashed: killed by {}", signal_name(signal)),
        (None, None) => "ended with an unknown status".to_owned(),
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => " (illegal instruction)",
        6 => " (abort)",
        7 => " (bus error)",
        8 => " (arithmetic error)",
        9 => " (kill; often: out of memory)",
        11 => " (segmentation fault)",
        _ => "",
    };
    format!("signal {signal}{name}")
}

/// The last lines of both streams.
fn log_tail(output: &ToolOutput) -> String {
    let log = output.log();
    let lines: Vec<&str> = log.lines().filter(|l| !l.trim().is_empty()).collect();
    if lines.is_empty() {
        return "it printed nothing".to_owned();
    }
    let tail = &lines[lines.len().saturating_sub(LOG_TAIL_LINES)..];
    let tail: Vec<String> = tail
        .iter()
        .map(|l| shown(&l.chars().take(300).collect::<String>()).into_owned())
        .collect();
    format!("the end of its log:\n{}", tail.join("\n"))
}

fn scratch() -> Result<File> {
    // In memory: a tool does not notice that the disk of its output is full.
    #[cfg(target_os = "linux")]
    if let Ok(file) = rustix::fs::memfd_create("spadkit", rustix::fs::MemfdFlags::CLOEXEC) {
        return Ok(file.into());
    }
    tempfile::tempfile().map_err(scratch_error)
}

fn scratch_error(e: std::io::Error) -> Error {
    Error::io("use a temporary file in", &std::env::temp_dir(), e)
}

fn read_back(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind().map_err(scratch_error)?;
    file.take(MAX_OUTPUT_BYTES)
        .read_to_end(&mut bytes)
        .map_err(scratch_error)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
    })
}
