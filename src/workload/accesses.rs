//! INPUT of the commands: an access trace from a file, a generated kernel, or
//! one that is executed.

use crate::capture;
use crate::error::{Error, Result};
use crate::input::STDIN;
use crate::launch::refuse_ptx;
use crate::trace::{AccessTrace, accelsim, kernels};
use std::path::Path;

/// Prefix that names a generated kernel instead of a file.
const KERNEL_PREFIX: &str = "kernel:";

/// Whether `text` can only be an INPUT: it is named like one, or there is such
/// a file.
pub fn is_input(text: &str) -> bool {
    let path = Path::new(text);
    let endings = ["json", "toml", "spt", "warp", "ptx"];
    let named = path.extension().and_then(|e| e.to_str());
    text == STDIN
        || text.starts_with(KERNEL_PREFIX)
        || named.is_some_and(|e| endings.contains(&e))
        || capture::is_launch(path)
        || accelsim::is_accelsim(path)
        || path.exists()
}

/// Reads INPUT: the path of an access trace (`.json`), of an
/// [Accel-Sim trace](accelsim), of a launch file (`.toml`), whose kernel is
/// [executed](capture::access_trace), or `kernel:NAME` or
/// `kernel:NAME:param=value,...` for a generated one
/// ([`kernels`]).
pub fn load_input(input: &str) -> Result<AccessTrace> {
    load_input_with(input, false)
}

/// As [`load_input`]; with `zeros_beyond` a kernel may read outside buffers.
pub fn load_input_with(input: &str, zeros_beyond: bool) -> Result<AccessTrace> {
    if let Some(spec) = input.strip_prefix(KERNEL_PREFIX) {
        return kernels::generate(spec);
    }
    if input.is_empty() {
        return Err(Error::usage(
            "INPUT is empty",
            "expected an access trace (.json), a launch file (.toml), or kernel:NAME \
             (spadkit trace --list)",
        ));
    }
    let path = Path::new(input);
    refuse_ptx(path)?;
    if accelsim::is_accelsim(path) {
        return accelsim::access_trace(&accelsim::find_kernel(path)?, None);
    }
    if capture::is_launch(path) {
        return capture::access_trace_with(path, None, zeros_beyond);
    }
    AccessTrace::load(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_a_kernel_a_file_or_refused() {
        assert_eq!(load_input("kernel:transpose").unwrap().name, "transpose");
        let toml = load_input("a/launch.toml").unwrap_err();
        assert!(toml.to_string().contains("cannot read"), "{toml}");
        let missing = load_input("no/such/file.json").unwrap_err();
        assert!(missing.to_string().contains("cannot read"), "{missing}");
        assert_eq!(missing.exit_status(), 2);
    }
}
