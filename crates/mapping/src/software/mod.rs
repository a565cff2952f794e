//! Bank mappings in software, for GPUs that have no hash unit:
//! an array element is stored at a different word of shared memory than its
//! index says.
//!
//! [`Layout`] says where every word is stored, [`Steps`] are the operations that
//! compute it, [`render`] prints them as source code, [`choice`] finds the best
//! layouts for a kernel.

pub mod choice;
mod expression;
mod layout;
mod linear;
mod operation;
pub mod ptx;
mod python;
mod render;
mod shared_layouts;
mod steps;

pub use layout::{Layout, LayoutSpec};
pub use operation::{Step, Steps, Value};
pub use python::numba_function;
pub use render::{Code, Language, cuda_address_function, cuda_function, render};
pub use shared_layouts::{swizzle_of, swizzles};

#[cfg(test)]
mod tests;
