//! Inputs that are not in the repository: traces recorded from CUDA kernels, and a 45 nm cell
//! library. Who has them names them, by absolute paths, and tests compare with them.

use super::tools::skip;
use spadkit::trace::AccessTrace;
use std::path::PathBuf;

/// The folder of the recorded traces, `SPADKIT_TRACES`.
pub fn traces() -> Option<PathBuf> {
    named("SPADKIT_TRACES", "a folder of recorded traces")
}

/// A recorded trace.
pub fn trace(name: &str) -> Option<AccessTrace> {
    let file = traces()?.join(format!("{name}.json"));
    Some(AccessTrace::load(&file).expect("a recorded trace is readable"))
}

/// The Liberty file of the Nangate Open Cell Library, `SPADKIT_NANGATE45`.
pub fn library() -> Option<PathBuf> {
    named("SPADKIT_NANGATE45", "a Liberty file")
}

fn named(variable: &str, what: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    match &path {
        None => skip(&format!("{what} ({variable})")),
        Some(path) => assert!(path.exists(), "{variable}: {} is not there", path.display()),
    }
    path
}
