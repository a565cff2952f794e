//! Errors of the kit as the exceptions of `spadkit._errors`.

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use spadkit::error::Error;
use spadkit::ptx::exec::Wrong;

/// The exception for an error: its class says which kind it is, its text is what
/// the command line prints.
pub fn raise(py: Python<'_>, error: Error) -> PyErr {
    if let Error::Interrupted { what } = &error {
        return PyKeyboardInterrupt::new_err(what.clone());
    }
    exception(py, &error).unwrap_or_else(|_| PyRuntimeError::new_err(error.to_string()))
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = match error {
        Error::Usage { .. } => "UsageError",
        Error::Input(_) => "InputError",
        Error::Io { .. } => "FileError",
        Error::CheckFailed { .. } => "CheckFailed",
        Error::ToolMissing { .. } | Error::ToolFailed { .. } => "ToolError",
        Error::Interrupted { .. } | Error::Defect { .. } => "Defect",
    };
    let place = match error {
        Error::Input(at) => Some((at.path.display().to_string(), at.line, at.column)),
        _ => None,
    };
    let class = py.import("spadkit._errors")?.getattr(class)?;
    let value = class.call1((error.to_string(), error.advice(), place))?;
    Ok(PyErr::from_value(value))
}

/// The `ArgumentError` for a rule of tensor maps that is broken.
pub fn wrong_map(py: Python<'_>, wrong: Wrong) -> PyErr {
    let what = format!("tensor map, {}: {}", wrong.key, wrong.what);
    let made = || {
        let class = py.import("spadkit._errors")?.getattr("ArgumentError")?;
        class.call1((&what, &wrong.expected))
    };
    match made() {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}
