//! The threads that commands work with.

use super::printer::Printer;

/// Makes one for each core, or as many as `RAYON_NUM_THREADS` says. Where the
/// system gives none, the work is done by the program's own thread alone.
pub fn start(printer: &Printer) {
    if rayon::ThreadPoolBuilder::new().build_global().is_ok() {
        return;
    }
    let alone = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread();
    if alone.build_global().is_ok() {
        printer.warn("no threads can be made (ulimit -u?): all work is done on one");
    }
}
