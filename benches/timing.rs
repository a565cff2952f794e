//! Shared by the benches: measured time that other load on the machine hardly changes.

#![allow(dead_code, reason = "each bench uses a part")]

use std::ffi::{c_int, c_long};

#[repr(C)]
struct Timespec {
    seconds: c_long,
    nanoseconds: c_long,
}

unsafe extern "C" {
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
}

/// `CLOCK_THREAD_CPUTIME_ID` of Linux; other systems' clocks have other
/// numbers.
const THREAD_TIME: c_int = 3;

/// Processor time of this thread in seconds, to the nanosecond (the figures in
/// `/proc` move by timer ticks only).
fn processor_time() -> f64 {
    let mut time = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: the structure is POSIX's timespec, and lives through the call.
    let status = unsafe { clock_gettime(THREAD_TIME, &mut time) };
    assert_eq!(status, 0, "no clock for the thread's processor time");
    time.seconds as f64 + time.nanoseconds as f64 * 1e-9
}

/// The result of `run`, and its processor time.
pub fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let before = processor_time();
    let result = run();
    (result, processor_time() - before)
}

/// The median of measurements, the upper one of two.
///
/// # Panics
/// If there are none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
