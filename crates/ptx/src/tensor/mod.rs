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
pub(crate) use element::{float, integer, packed};
pub use fragment::{Bit, Fragment, Place};
pub(crate) use mma::{Arithmetic, MmaForm, mma};
pub(crate) use pieces::{Pieces, pieces};
pub(crate) use sparse::Sparsity;
pub use swizzle::{PIECE, Swizzle};
pub use table::{Fragments, fragments};
pub(crate) use target::Target;
pub(crate) use wgmma::{GroupForm, wgmma};
pub(crate) use wmma::{Held, Side, moved, product};
pub use work::Work;
