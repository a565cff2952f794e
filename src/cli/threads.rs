//! The worker threads of the commands.

use super::printer::Printer;
use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::io::ErrorKind;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, available_parallelism};

/// The most threads, as `run --threads` has them.
const MOST: usize = 1024;
/// Address space that the work needs at least, and for each thread beyond its stack.
/// Threads that leave less of it are not made: the work would abort.
const RESERVE: usize = 32 << 20;
const RESERVE_OF_THREAD: usize = 4 << 20;

/// Makes one for each core, or as many as `RAYON_NUM_THREADS` says. Where the
/// system gives fewer, those do the work; where it gives none, the program's
/// own thread does.
pub fn start(printer: &Printer) {
    let wanted = wanted(printer);
    // A pool that fails cannot be made again, so the threads come first.
    let mut idle: Vec<Sender<ThreadBuilder>> = Vec::new();
    while idle.len() < wanted {
        let (to, work) = channel::<ThreadBuilder>();
        let worker = move || work.recv().map(ThreadBuilder::run);
        let room = has_room(RESERVE + (idle.len() + 1) * RESERVE_OF_THREAD);
        if !room || Builder::new().spawn(worker).is_err() {
            let there = idle.len().max(1);
            printer.warn(format!(
                "could not create more threads (ulimit {}?): running with {there}",
                if room { "-u" } else { "-v" }
            ));
            break;
        }
        idle.push(to);
    }
    build(idle);
}

/// Number of threads to make.
fn wanted(printer: &Printer) -> usize {
    let given = std::env::var("RAYON_NUM_THREADS").ok();
    let given = given.and_then(|n| n.parse().ok()).filter(|n| *n > 0);
    let wanted = given.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
    if wanted > MOST && given.is_some() {
        printer.warn(format!(
            "RAYON_NUM_THREADS is {wanted}: running with {MOST} threads at most"
        ));
    }
    wanted.min(MOST)
}

/// Whether so many bytes can be had. They are given back, and none is touched.
fn has_room(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// The pool of these threads.
fn build(mut idle: Vec<Sender<ThreadBuilder>>) {
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
