//! `spad_rap`: random address permute-shift (RAP paper, section IV).

use spadkit_mapping::geometry::Geometry;

/// Element (i, j) of a matrix with w = 2^m columns is in bank (j + r_i) mod w.
#[derive(Clone, Debug)]
pub struct Rap {
    /// Address and bank bits.
    pub geometry: Geometry,
    /// The w shifts.
    pub shifts: Vec<u32>,
}

impl Rap {
    /// The bank of word address `addr` = i w + j.
    pub fn step(&self, addr: u32) -> u32 {
        let w = self.geometry.banks() as u32;
        let addr = addr % self.geometry.words() as u32;
        let (i, j) = (addr / w, addr % w);
        (j + self.shifts[(i % w) as usize]) % w
    }
}
