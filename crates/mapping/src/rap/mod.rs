//! Random address permute-shift (RAP paper): the discrete memory machine, the
//! mappings RAW, RAS and RAP with their 4-dimensional variants, the congestion
//! of warp accesses under them, and the three transposes. The packed shifts as
//! CUDA are those of [`crate::software::render`].
//!
//! Width w is both the number of banks and the number of threads of a warp.

mod access;
mod congestion;
mod dmm;
mod published;
mod scheme;
mod transpose;

pub use access::AccessKind;
pub use congestion::{CongestionStats, Experiment, WIDTHS};
pub use dmm::{Dispatch, Dmm, Request, Run};
pub use published::{TABLE_II_WIDTHS, table_ii, table_iii, table_iv};
pub use scheme::Scheme;
pub use transpose::{Transpose, TransposeStats, transpose_stats};
