//! Tensor cores: which element of a matrix each lane holds in which register,
//! and which shapes, types and targets go together.
//!
//! The PTX ISA (sections "Matrix Fragments for mma" and "Warp-level matrix
//! multiply-accumulate") draws the layouts; here they are data
//! ([`Fragment`], the tables of `mma`), for the executor, the analyses and the
//! pictures.

mod descriptor;
mod element;
mod fragment;
mod mma;
mod pieces;
mod sparse;
mod swizzle;
mod table;
mod target;
mod wgmma;
mod wmma;
mod work;

pub use descriptor::{Descriptor, Major};
pub(in crate::ptx) use element::{float, integer, packed};
pub use fragment::{Bit, Fragment, Place};
pub(in crate::ptx) use mma::{Arithmetic, MmaForm, mma};
pub(in crate::ptx) use pieces::{Pieces, pieces};
pub(in crate::ptx) use sparse::Sparsity;
pub use swizzle::{PIECE, Swizzle};
pub use table::{Fragments, fragments};
pub(in crate::ptx) use target::Target;
pub(in crate::ptx) use wgmma::{GroupForm, wgmma};
pub(in crate::ptx) use wmma::{Held, Side, moved, product};
pub use work::Work;
