//! Stops the tools of a process that was killed.
//!
//! A tool gets a signal when its parent dies, but the programs that it started
//! in turn (ABC under Yosys, the compiler proper under its driver) do not. So
//! a shell waits at the end of a pipe: it is told which process groups run, and
//! when the pipe closes, however the kit ended, it kills those that are left.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Lines are `+ GROUP` for a tool that started and `- GROUP` for one that ended.
const SCRIPT: &str = r#"
groups=
while read -r sign group; do
    left=
    for g in $groups; do [ "$g" = "$group" ] || left="$left $g"; done
    groups=$left
    [ "$sign" = - ] || groups="$groups $group"
done
for g in $groups; do kill -s KILL -- "-$g"; done
"#;

/// The tool that leads this process group runs.
pub(super) fn watch(group: u32) {
    tell('+', group);
}

/// It has ended, and its group with it.
pub(super) fn forget(group: u32) {
    tell('-', group);
}

fn tell(sign: char, group: u32) {
    static GUARD: OnceLock<Option<Mutex<ChildStdin>>> = OnceLock::new();
    // Without a shell the signal of the parent's death still stops the tool.
    if let Some(pipe) = GUARD.get_or_init(start) {
        let mut pipe = pipe.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = pipe.write_all(format!("{sign} {group}\n").as_bytes());
    }
}

/// In a group of its own, where no Ctrl-C gets to, and holding nothing of
/// ours but the pipe: whoever waits for our output must not wait for it.
fn start() -> Option<Mutex<ChildStdin>> {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", SCRIPT, "spadkit-guard"])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    // It ends when we do: there is nobody to wait for it.
    shell.spawn().ok()?.stdin.take().map(Mutex::new)
}
