//! Tensor maps: the objects of 128 bytes that `cp.async.bulk.tensor` takes.
//!
//! CUDA keeps their bytes opaque, so the encoding here is the kit's own. It
//! holds every field by itself: `tensormap.replace` changes one of them, and a
//! copy of the bytes is the same map.

mod bytes;
mod rules;
mod walk;

pub(super) use bytes::{BYTES, Field, replaced};
pub use rules::Wrong;
pub(super) use walk::Row;

use crate::names::Type;
use crate::tensor::Swizzle;

/// Maps have 1 to 5 dimensions.
pub const MOST_DIMENSIONS: usize = 5;

/// A tensor map, as `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col` of the
/// CUDA driver API take it. Lists begin with the innermost dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Address of the first element.
    pub address: u64,
    /// Type of the elements.
    pub element: Type,
    /// Elements of each dimension.
    pub extent: Vec<u64>,
    /// Bytes between elements of each dimension but the innermost.
    pub strides: Vec<u64>,
    /// The box or the pixels that one copy moves.
    pub boxed: Boxed,
    /// The element stride in each dimension. That of the
    /// innermost does not count.
    pub steps: Vec<u32>,
    /// Layout of the rows in shared memory.
    pub swizzle: Swizzle,
    /// Whether elements outside the tensor are read as NaN; else as zeros.
    pub nan_fill: bool,
}

/// The part of a tensor that one copy moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Boxed {
    /// A box: elements of each dimension.
    Tile(Vec<u32>),
    /// Pixels of an image (PTX ISA, im2col mode): of dimensions channels,
    /// width, height, depth, and images.
    Pixels {
        /// For width, height and depth, the first position that pixels have.
        lower: Vec<i32>,
        /// The last one, counted from the last of the tensor.
        upper: Vec<i32>,
        /// Elements of a pixel.
        channels: u32,
        /// Pixels.
        count: u32,
    },
}

impl TensorMap {
    /// Elements of a row of shared memory, which are neighbours in the
    /// innermost dimension.
    pub(super) fn row_elements(&self) -> u32 {
        match &self.boxed {
            Boxed::Tile(extent) => extent.first().copied().unwrap_or(0),
            Boxed::Pixels { channels, .. } => *channels,
        }
    }

    /// Bytes of a row of the box.
    pub fn row_bytes(&self) -> u64 {
        u64::from(self.row_elements()) * u64::from(self.element.bytes())
    }

    /// Bytes from row to row in shared memory: rows that are narrower than
    /// the span of the swizzle take all of it (CUDA programming guide, swizzle
    /// modes).
    fn pitch(&self) -> u64 {
        self.row_bytes().max(self.swizzle.span())
    }

    /// Rows that a copy moves.
    fn row_count(&self) -> u64 {
        match &self.boxed {
            Boxed::Tile(extent) => {
                let counts = extent.iter().zip(&self.steps).skip(1);
                counts
                    .map(|(n, step)| u64::from(n.div_ceil((*step).max(1))))
                    .product()
            }
            Boxed::Pixels { count, .. } => u64::from(*count),
        }
    }

    /// Bytes that a copy moves, those outside the tensor included.
    pub fn moved_bytes(&self) -> u64 {
        self.row_bytes() * self.row_count()
    }

    /// Bytes of shared memory that they take.
    pub fn shared_bytes(&self) -> u64 {
        self.pitch() * self.row_count()
    }
}
