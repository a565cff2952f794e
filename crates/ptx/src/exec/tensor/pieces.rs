//! Matrices of values, out of the pieces of 16 bytes that memory has of them.

use super::tile::Tile;
use crate::exec::image::matrices::{Matrices, Part, Stored};
use crate::names::Type;
use crate::tensor::{Major, float, integer};

/// 16 bytes, the lower eight first.
pub(super) type Piece = [u64; 2];

/// A part of a factor, as it has been read.
pub(super) struct View<'a> {
    pub stored: &'a Stored,
    pub part: Part,
    /// Pieces in the order of the part.
    pub pieces: Vec<Piece>,
}

impl View<'_> {
    /// The values of some of it. In the tile rows of `a` (columns of `b`) are
    /// `strides[0]` apart, values along the inner products `strides[1]`.
    pub fn floats(&self, part: &Part, strides: [usize; 2]) -> Tile<f32> {
        // One loop for each type.
        macro_rules! of {
            ($ty:expr) => {
                self.tile(part, strides, |bits| float($ty, bits))
            };
        }
        match self.stored.ty {
            Type::F16 => of!(Type::F16),
            Type::Bf16 => of!(Type::Bf16),
            Type::E4m3 => of!(Type::E4m3),
            Type::E5m2 => of!(Type::E5m2),
            _ => of!(Type::Tf32),
        }
    }

    /// A part of the matrix as integers; single bits count by words.
    pub fn integers(&self, part: &Part, strides: [usize; 2]) -> Tile<i32> {
        macro_rules! of {
            ($ty:expr) => {
                self.tile(part, strides, |bits| integer($ty, bits))
            };
        }
        match self.stored.ty {
            Type::S8 => of!(Type::S8),
            Type::U8 => of!(Type::U8),
            _ => of!(Type::S32),
        }
    }

    #[inline(always)]
    fn tile<T: Copy + Default>(
        &self,
        part: &Part,
        [of_row, of_k]: [usize; 2],
        value: impl Fn(u32) -> T,
    ) -> Tile<T> {
        let bits = Matrices::value_bits(self.stored.ty);
        let per = (128 / bits) as usize;
        let [of_run, of_value] = match self.stored.major {
            Major::K => [of_row, of_k],
            Major::Mn => [of_k, of_row],
        };
        let mut tile = Tile::zeros();
        for (piece_at, piece) in part.pieces.clone().enumerate() {
            for (run_at, run) in part.runs.clone().enumerate() {
                let [low, high] = self.pieces[self.part.number(run, piece) as usize];
                let start = run_at * of_run + piece_at * per * of_value;
                for n in 0..per {
                    let whole = if n < per / 2 { low } else { high };
                    let word = (whole >> (n % (per / 2) * bits as usize)) as u32;
                    let word = word & (u32::MAX >> (32 - bits));
                    tile.0[start + n * of_value] = value(word);
                }
            }
        }
        tile
    }
}
