//! Internal errors: a panic ends the program with status 4 and says what to
//! report.

use super::printer::to_stderr;
use crate::interrupt;
use crate::quote::{shell_line, shown_lines};
use std::panic::PanicHookInfo;

/// Exit status of a defect.
const STATUS: i32 = 4;

/// Makes a panic, on whatever thread, end the program: tools are stopped,
/// unfinished files removed.
pub fn end_on_panic() {
    std::panic::set_hook(Box::new(|info| {
        to_stderr(&report(info));
        interrupt::clean_up();
        std::process::exit(STATUS);
    }));
}

fn report(info: &PanicHookInfo) -> String {
    let payload = info.payload();
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    let place = info.location().map_or(String::new(), |at| at.to_string());
    format!(
        "error: spadkit {} panicked at {place}: {}\n  help: this is a defect of spadkit, not of \
         the input: please report it, with this message, the command and its input:\n        {}\n",
        env!("CARGO_PKG_VERSION"),
        shown_lines(&text.unwrap_or_default()),
        shell_line(std::env::args_os()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHILD: &str = "SPADKIT_TEST_PANICS";

    /// The hook ends a process: a second one of this test.
    #[test]
    fn a_panic_on_any_thread_ends_with_status_4() {
        if std::env::var_os(CHILD).is_some() {
            end_on_panic();
            let _ = std::thread::spawn(|| panic!("two\nowners")).join();
            return;
        }
        let name = "cli::defect::tests::a_panic_on_any_thread_ends_with_status_4";
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(STATUS), "{text}");
        assert!(
            text.contains("two\nowners") && text.contains("report it"),
            "{text}"
        );
    }
}
