//! `spad_row_map`: the row index that completes a linear bank function to a
//! bijection (docs/microarchitecture.md, section 2.5).

use crate::geometry::Geometry;

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
        let is_pivot = |bit: u32| self.pivots >> bit & 1 == 1;
        let mut next_low = 0;
        let mut row = 0;
        for bit in m..self.geometry.addr_bits() {
            let mut source = bit;
            if is_pivot(bit) {
                while is_pivot(next_low) {
                    next_low += 1;
                }
                source = next_low;
                next_low += 1;
            }
            row |= (addr >> source & 1) << (bit - m);
        }
        row
    }
}
