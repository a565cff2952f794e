//! `spad_row_map`: the row index that completes a linear bank function to a
//! bijection (microarchitecture/hash-units.md).

use spadkit_mapping::geometry::Geometry;

/// The row map of a set of pivots.
#[derive(Clone, Debug)]
pub struct RowMapUnit {
    /// Address and bank bits.
    pub geometry: Geometry,
    /// m address bits, as a mask.
    pub pivots: u32,
}

impl RowMapUnit {
    /// The row of word address `addr`.
    ///
    /// Row bit j is address bit m+j unless that bit is a pivot; the displaced
    /// row bits take the low bits that are not pivots, both in ascending order.
    pub fn step(&self, addr: u32) -> u32 {
        let m = self.geometry.bank_bits();
        let mut displaced = self.pivots >> m;
        let mut free = !self.pivots & self.geometry.bank_mask();
        let mut row = (addr & self.geometry.addr_mask()) >> m & !displaced;
        // As many low bits are free as row bits are displaced: of the m pivots,
        // the others are low bits.
        while displaced != 0 && free != 0 {
            row |= (addr >> free.trailing_zeros() & 1) << displaced.trailing_zeros();
            displaced &= displaced - 1;
            free &= free - 1;
        }
        row
    }
}
