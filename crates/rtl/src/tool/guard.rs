//! Stops the tools of a process that was killed.
//!
//! A tool gets a signal when its parent dies, but the programs that it started
//! in turn (ABC under Yosys, the compiler proper under its driver) do not. So a
//! shell waits at the end of a pipe, through which it learns which process
//! groups run. When the pipe closes, however the kit ended, it kills those that
//! are left.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Lines are `+ ID GROUP` from a tool before its first instruction, and `- ID`
/// from the kit when it has ended, or could not be started.
const SCRIPT: &str = r#"
groups=
while read -r sign id group; do
    left=
    for g in $groups; do
        case $g in "$id":*) ;; *) left="$left $g" ;; esac
    done
    groups=$left
    [ "$sign" = - ] || groups="$groups $id:$group"
done
for g in $groups; do kill -s KILL -- "-${g#*:}"; done
"#;

/// The entry of one tool in the guard's list; dropping it removes the entry.
pub(super) struct Watched {
    id: u32,
    pipe: Option<BorrowedFd<'static>>,
}

/// Makes the tool of `command`, which leads a process group of its own, tell
/// the guard of itself. It does so between fork and exec: were it told of by
/// the kit, a kill in between would leave what the tool had started by then.
pub(super) fn watch(command: &mut Command) -> Watched {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    let pipe = pipe();
    if let Some(pipe) = pipe {
        let tell = move || {
            let group = rustix::process::getpid().as_raw_nonzero().get();
            say(pipe, b'+', &[id, group.unsigned_abs()]);
            Ok(())
        };
        // SAFETY: between fork and exec there are two system calls only;
        // nothing is allocated or locked.
        unsafe { command.pre_exec(tell) };
    }
    Watched { id, pipe }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(pipe) = self.pipe {
            say(pipe, b'-', &[self.id]);
        }
    }
}

/// Writes a line with one system call. Must not allocate. Without a guard the
/// signal of the parent's death still stops the tool.
fn say(pipe: BorrowedFd<'_>, sign: u8, numbers: &[u32]) {
    let mut line = [0; 32];
    line[0] = sign;
    let mut length = 1;
    for number in numbers {
        line[length] = b' ';
        length += 1;
        for place in (0..=number.checked_ilog10().unwrap_or(0)).rev() {
            line[length] = b'0' + (number / 10u32.pow(place) % 10) as u8;
            length += 1;
        }
    }
    line[length] = b'\n';
    let _ = rustix::io::write(pipe, &line[..=length]);
}

/// The pipe on which the guard waits; it reads its end when the last process of the
/// program is gone.
fn pipe() -> Option<BorrowedFd<'static>> {
    // The end that is read is kept, too: where the guard was killed, writing
    // must neither kill a tool (SIGPIPE) nor, once the pipe is full, wait.
    static GUARD: OnceLock<Option<(PipeReader, PipeWriter)>> = OnceLock::new();
    let guard = GUARD.get_or_init(|| start().ok()).as_ref();
    guard.map(|(_, write)| write.as_fd())
}

/// Starts the guard in its own process group, out of reach of Ctrl-C. It keeps
/// none of our file descriptors but the pipe: a process that waits for our
/// output must not wait for the guard.
fn start() -> std::io::Result<(PipeReader, PipeWriter)> {
    let (read, write) = std::io::pipe()?;
    rustix::fs::fcntl_setfl(&write, rustix::fs::OFlags::NONBLOCK)?;
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", SCRIPT, "spadkit-guard"])
        .env_clear()
        .current_dir("/")
        .stdin(read.try_clone()?)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    // It exits with this process, so nothing waits for it.
    shell.spawn()?;
    Ok((read, write))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn lines_are_what_the_shell_reads() {
        let (mut read, write) = std::io::pipe().unwrap();
        say(write.as_fd(), b'+', &[0, 4_194_304]);
        say(write.as_fd(), b'-', &[u32::MAX, 10]);
        drop(write);
        let mut text = String::new();
        read.read_to_string(&mut text).unwrap();
        assert_eq!(text, "+ 0 4194304\n- 4294967295 10\n");
    }
}
