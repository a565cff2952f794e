//! Work without the interpreter's lock, which Ctrl-C ends.

use pyo3::prelude::*;
use spadkit::interrupt;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often Python's signal handlers get to run.
const POLL: Duration = Duration::from_millis(50);

/// Runs `work` on a thread of its own while other threads of Python run. Where
/// a signal handler raises, Ctrl-C's for one, the work is stopped and the
/// exception is the result.
pub fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (done, wait) = channel();
        let worker = scope.spawn(move || {
            let result = work();
            // The receiver waits for it.
            let _ = done.send(());
            result
        });
        let mut raised = None;
        let wait = std::sync::Mutex::new(wait);
        let ended = || {
            let wait = wait.lock().unwrap_or_else(|e| e.into_inner());
            !matches!(wait.recv_timeout(POLL), Err(RecvTimeoutError::Timeout))
        };
        while !py.detach(ended) {
            if raised.is_none()
                && let Err(error) = py.check_signals()
            {
                interrupt::request();
                raised = Some(error);
            }
        }
        let result = py.detach(|| worker.join());
        if let Some(error) = raised {
            interrupt::clear();
            return Err(error);
        }
        result.map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|t| (*t).to_owned()));
            let what = format!("a panic: {}", text.unwrap_or_default());
            crate::failure::raise(py, spadkit::error::Error::defect(what))
        })
    })
}
