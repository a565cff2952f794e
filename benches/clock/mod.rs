//! Time that others on the machine do not change much.

use std::sync::LazyLock;
use std::time::Instant;

/// Processor time of this thread in seconds (Linux), else the clock's.
fn processor_time() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|n| n.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |n| n * 1e-9)
}

/// What `run` gives, and the processor time that it takes.
pub fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let before = processor_time();
    let result = run();
    (result, processor_time() - before)
}
