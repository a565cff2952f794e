//! The languages of Python in which a change can be.

use serde::Serialize;

/// A language of Python in which the author of a kernel lays out its arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Python {
    /// Arrays have a shape, and are accessed by indices.
    Numba,
    /// Tensors have a layout.
    Cute,
    /// Buffers have a layout.
    Gluon,
}

impl Python {
    /// Its name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Python::Numba => "Numba",
            Python::Cute => "CuTe DSL",
            Python::Gluon => "Gluon",
        }
    }

    /// Whether an array has a layout, so that accesses stay what they are.
    pub fn has_layouts(self) -> bool {
        self != Python::Numba
    }
}
