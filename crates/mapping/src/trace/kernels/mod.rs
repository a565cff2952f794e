//! Example inputs: access traces of well-known kernels, generated from their
//! address formulas (hash paper, section 3.2, and the public sources of the
//! CUDA samples and of Rodinia).
//!
//! Each kernel is a function from its parameters to an [`AccessTrace`](crate::trace::AccessTrace) of one
//! thread block; the registry here knows their names, parameters and ranges.

mod block;
mod histogram;
mod matrix;
mod registry;
mod rodinia;
mod spectral;
mod stencil;
mod synthetic;
mod tree;

pub use registry::{GeneratedKernel, PREFIX, Param, find, generate, list};

#[cfg(test)]
mod recorded_tests;
