//! Ctrl-C (and a polite kill): heard in one place, asked about where work is
//! done.
//!
//! A command whose work can stop early calls [`listen`] once; the work asks
//! [`requested`] now and then. Who runs a tool listens by that, and the tool is
//! stopped. A second Ctrl-C ends the program at once, and its tools.

use crate::tool::stop_running;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static LISTEN: Once = Once::new();

/// Exit status after a second Ctrl-C, as shells have it.
const INTERRUPTED: i32 = 130;

/// From now on an interrupt is noted instead of ending the program.
pub fn listen() {
    LISTEN.call_once(|| {
        let handler = || {
            if REQUESTED.swap(true, Ordering::Relaxed) {
                stop_running();
                std::process::exit(INTERRUPTED);
            }
        };
        // Without a handler an interrupt ends the program as usual.
        let _ = ctrlc::set_handler(handler);
    });
}

/// Whether the user wants the work to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
