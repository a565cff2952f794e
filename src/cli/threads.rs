//! The worker threads of the commands.

use super::printer::Printer;
use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::io::ErrorKind;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, available_parallelism};

/// Makes one for each core, or as many as `RAYON_NUM_THREADS` says. Where the
/// system gives fewer, those do the work; where it gives none, the program's
/// own thread does.
pub fn start(printer: &Printer) {
    let given = std::env::var("RAYON_NUM_THREADS").ok();
    let given = given.and_then(|n| n.parse().ok()).filter(|n| *n > 0);
    let wanted = given.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
    // A pool that fails cannot be made again, so the threads come first.
    let mut idle: Vec<Sender<ThreadBuilder>> = Vec::new();
    while idle.len() < wanted {
        let (to, work) = channel::<ThreadBuilder>();
        let thread = Builder::new().spawn(move || work.recv().map(ThreadBuilder::run));
        if thread.is_err() {
            let there = idle.len().max(1);
            printer.warn(format!(
                "could not create more threads (ulimit -u?): running with {there}"
            ));
            break;
        }
        idle.push(to);
    }
    let pool = ThreadPoolBuilder::new().num_threads(idle.len().max(1));
    // An error means that there is one already.
    let _ = if idle.is_empty() {
        pool.use_current_thread().build_global()
    } else {
        pool.spawn_handler(|thread| match idle.pop() {
            Some(to) => to.send(thread).map_err(|_| ErrorKind::BrokenPipe.into()),
            None => Err(ErrorKind::WouldBlock.into()),
        })
        .build_global()
    };
}
