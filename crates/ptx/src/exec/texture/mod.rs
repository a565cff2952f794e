//! Textures and surfaces: arrays of texels, how they are addressed, filtered
//! and converted, and the instructions that read and write them.

mod coordinate;
mod cube;
mod filter;
mod texel;

pub(super) use cube::face;
pub(super) use filter::{Coordinates, fetch, gather};
pub use texel::{Channel, Format};

use super::api::BufferId;
use super::registers::Slot;
use crate::names::{Type, Word};
use crate::scalar::Scalar;

/// The dimensions of a texture, as the coordinates of an instruction or the texels
/// of an array have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// 1, 2 or 3; of a cube 2.
    pub dimensions: u32,
    /// Whether there are several arrays, chosen by an index.
    pub layered: bool,
    /// Whether six faces make a cube.
    pub cube: bool,
}

impl Geometry {
    /// The geometry as instructions have it: `a2d`.
    pub fn text(self) -> &'static str {
        match (self.dimensions, self.layered, self.cube) {
            (_, false, true) => "cube",
            (_, true, true) => "acube",
            (1, false, _) => "1d",
            (1, true, _) => "a1d",
            (2, false, _) => "2d",
            (2, true, _) => "a2d",
            _ => "3d",
        }
    }
}

/// The treatment of a coordinate outside of the texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    /// The texture again.
    Wrap,
    /// The last texel.
    Clamp,
    /// The texture backwards, and again.
    Mirror,
    /// Zeros.
    Border,
}

/// The modes in which a texture is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler {
    /// Per dimension.
    pub address: [AddressMode; 3],
    /// Whether neighbours are weighted; else the nearest texel is read.
    pub linear: bool,
    /// Whether coordinates from 0 to 1 go over all of the texture.
    pub normalized: bool,
}

/// A texture or a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Name of the texture, for messages.
    pub name: String,
    /// The texels, row by row, layer by layer, their channels together.
    pub buffer: BufferId,
    /// Layout of the texels, and how they are read.
    pub shape: Shape,
}

/// The layout of the texels of a texture or a surface, and how they are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Format of a texel.
    pub format: Format,
    /// Dimensions of the texels.
    pub geometry: Geometry,
    /// Texels in each dimension; 1 beyond the last.
    pub extent: [u32; 3],
    /// Arrays; 6 or a multiple of it for cubes, 1 where there is but one.
    pub layers: u32,
    /// Modes of reading; `None` for a surface, which instructions also write.
    pub sampler: Option<Sampler>,
    /// Whether integers are read as numbers up to 1.
    pub normalized_read: bool,
}

/// The operation of an instruction.
pub(super) enum Operation {
    /// Filtered texels; offsets are in texels.
    Fetch {
        offsets: Vec<Slot>,
    },
    /// One channel of the four texels around.
    Gather {
        channel: u32,
        offsets: Vec<Slot>,
    },
    /// Bytes or texels as they are.
    Load(Outside),
    Store {
        formatted: bool,
        outside: Outside,
    },
    Reduce {
        formatted: bool,
        /// The new value, from the old one and the operand.
        update: Scalar,
        outside: Outside,
    },
    Query(Word),
}

/// The treatment of an access outside of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outside {
    /// An access outside the surface is a fault.
    Trap,
    /// The last texel is meant.
    Clamp,
    /// An access outside the surface reads zeros, and writes nothing.
    Zero,
}

/// An instruction.
pub(super) struct TextureOp {
    pub operation: Operation,
    pub geometry: Geometry,
    /// The handle, or the address of one.
    pub handle: Slot,
    /// The handle of the sampler, if it is not that of the texture.
    pub sampler: Option<Slot>,
    pub layer: Option<Slot>,
    pub coordinates: Vec<Slot>,
    /// Whether coordinates are numbers; else integers.
    pub real: bool,
    /// Type of the elements that are read or written.
    pub ty: Type,
    /// Registers that are written, or read by stores and reductions.
    pub data: Vec<Slot>,
    /// Set where the texels are there: always.
    pub resident: Option<Slot>,
}
