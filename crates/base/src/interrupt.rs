//! Ctrl-C and termination signals: one handler notes them, and long-running work checks for them.
//!
//! The program [installs](install) the handler at its start. From then on a
//! signal stops all tools, removes unfinished files and ends the program with
//! the status that shells give it: 130 for SIGINT, 143 for SIGTERM, 129 for
//! SIGHUP. A command whose work can stop early calls [`listen`]. The first
//! signal is then only noted, and the work asks [`requested`] now and then. The
//! code that waits for a tool stops it, and the command prints what it has. A
//! second signal ends the program at once. SIGKILL cannot be heard; the tools
//! of a killed process are stopped all the same, by the guard in `spadkit_rtl::tool`.

use crate::error::{Error, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

/// The first signal, 0 before it.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static LISTENING: AtomicBool = AtomicBool::new(false);

/// Installs the handler: from now on, a signal ends the program, its tools and its
/// unfinished files. SIGXFSZ ends nothing.
pub fn install() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        // A file beyond `ulimit -f` is an error of the write, not the end of the program. A
        // handler that only takes note: tools are started without it.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        // Under nohup the end of the terminal is to be ignored. An ignored
        // SIGINT, though, is only what shells give to a script's background.
        let nohup = ignored_signals() >> (SIGHUP - 1) & 1 == 1;
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter();
        let wanted = wanted.filter(|signal| !(nohup && *signal == SIGHUP));
        // Without a handler a signal ends the program as usual: it is there
        // only if somebody can listen, and before this returns.
        let wanted: Vec<i32> = wanted.collect();
        let (ready, wait) = std::sync::mpsc::channel();
        let listener = std::thread::Builder::new().spawn(move || {
            let signals = Signals::new(wanted);
            let _ = ready.send(());
            if let Ok(mut signals) = signals {
                signals.forever().for_each(heard);
            }
        });
        if listener.is_ok() {
            let _ = wait.recv();
        }
    });
}

/// Lets the first signal be noted from now on, instead of ending the program.
pub fn listen() {
    LISTENING.store(true, Ordering::Relaxed);
    install();
}

/// Asks for the work to stop, from a program that links the library and hears
/// signals itself. [`clear`] ends it.
pub fn request() {
    let _ = SIGNAL.compare_exchange(0, SIGINT, Ordering::Relaxed, Ordering::Relaxed);
}

/// The work that [`request`] was for has stopped: other work may begin.
pub fn clear() {
    SIGNAL.store(0, Ordering::Relaxed);
}

/// Whether the user wants the work to stop.
pub fn requested() -> bool {
    SIGNAL.load(Ordering::Relaxed) != 0
}

/// The exit status after a signal, as shells have it.
pub fn exit_status() -> Option<u8> {
    match SIGNAL.load(Ordering::Relaxed) {
        0 => None,
        signal => u8::try_from(128 + signal).ok(),
    }
}

/// An error where the user wants the work to stop; `what` did not get done.
pub fn check(what: &str) -> Result<()> {
    if requested() {
        Err(Error::Interrupted {
            what: what.to_owned(),
        })
    } else {
        Ok(())
    }
}

/// The result of a part of a larger work; `None` if it was interrupted, so that the
/// finished parts can still be shown.
pub fn or_none<T>(part: Result<T>) -> Result<Option<T>> {
    match part {
        Ok(part) => Ok(Some(part)),
        Err(Error::Interrupted { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Bit i-1 for signal i, from what Linux says about this process.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok())
        .unwrap_or(0)
}

fn heard(signal: i32) {
    let before = SIGNAL.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
    if before.is_ok() && LISTENING.load(Ordering::Relaxed) {
        return;
    }
    clean_up();
    std::process::exit(exit_status().map_or(1, i32::from));
}

/// Stops all tools and removes what is unfinished, before the program ends at
/// once. It never blocks: the ending thread itself may hold the lists.
pub fn clean_up() {
    if let Ok(groups) = RUNNING.try_lock() {
        groups.iter().copied().for_each(kill_group);
    }
    if let Ok(paths) = UNFINISHED.try_lock() {
        for path in paths.iter() {
            let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir_all(path));
        }
    }
}

/// A file or folder that is removed if a signal ends the program before this is dropped.
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// The file or folder at `path`, until the value is dropped.
    pub fn new(path: &Path) -> Self {
        unfinished().push(path.to_owned());
        Unfinished(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().retain(|path| *path != self.0);
    }
}

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process group that is killed if a signal ends the program, and when this
/// is dropped: what hangs in it, or what its leader left running.
pub struct Group(u32);

impl Group {
    /// The group that `leader` leads.
    pub fn new(leader: u32) -> Self {
        running().push(leader);
        Group(leader)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        kill_group(self.0);
        running().retain(|leader| *leader != self.0);
    }
}

static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// The groups that run now.
fn running() -> MutexGuard<'static, Vec<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every process of the group that `leader` leads.
fn kill_group(leader: u32) {
    let leader = i32::try_from(leader).ok().and_then(Pid::from_raw);
    if let Some(leader) = leader {
        // An error means that the whole group has ended.
        let _ = kill_process_group(leader, Signal::KILL);
    }
}
