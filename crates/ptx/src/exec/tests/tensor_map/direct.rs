//! A copy as loops over the numbers of its elements: a second implementation.

use super::super::super::tensor_map::{Boxed, TensorMap};
use crate::tensor::Swizzle;

/// A copy: the bytes of the tensor's buffer, and the operands.
pub(super) struct Direct {
    pub tensor: Vec<u8>,
    pub start: Vec<i32>,
    pub offsets: Vec<u16>,
    /// Where it is in shared memory.
    pub shift: u64,
}

impl Direct {
    /// Calls `found` with the place of each element in shared memory, in the
    /// tensor's bytes (none outside of the tensor), and its size.
    pub fn each(&self, map: &TensorMap, mut found: impl FnMut(usize, Option<usize>, usize)) {
        let size = map.element.bytes() as usize;
        let places = match &map.boxed {
            Boxed::Tile(_) => self.boxes(map),
            Boxed::Pixels { .. } => self.pixels(map),
        };
        let row = match &map.boxed {
            Boxed::Tile(extent) => extent[0] as usize,
            Boxed::Pixels { channels, .. } => *channels as usize,
        };
        let pitch = match map.swizzle {
            Swizzle::None => row * size,
            Swizzle::Bytes32 => (row * size).max(32),
            Swizzle::Bytes64 => (row * size).max(64),
            Swizzle::Bytes128 => 128,
        };
        for (n, place) in places.iter().enumerate() {
            for e in 0..row {
                let mut place = place.clone();
                place[0] += e as i64;
                let dense = self.shift as usize + n * pitch + e * size;
                found(swizzled(map.swizzle, dense), self.global(map, &place), size);
            }
        }
    }

    /// The places of the rows of a box.
    fn boxes(&self, map: &TensorMap) -> Vec<Vec<i64>> {
        let Boxed::Tile(extent) = &map.boxed else {
            return Vec::new();
        };
        let mut places = vec![self.start.iter().map(|c| i64::from(*c)).collect::<Vec<_>>()];
        // The innermost loop is the one of the lowest dimension.
        for d in (1..extent.len()).rev() {
            let taken = (0..extent[d]).step_by(map.steps[d] as usize);
            let moved = |place: &Vec<i64>, by: u32| {
                let mut place = place.clone();
                place[d] += i64::from(by);
                place
            };
            places = places
                .iter()
                .flat_map(|place| taken.clone().map(move |by| moved(place, by)))
                .collect();
        }
        places
    }

    /// All places of pixels from the first of an image on, as numbers.
    fn lattice(&self, map: &TensorMap) -> Vec<Vec<i64>> {
        let Boxed::Pixels {
            lower,
            upper,
            count,
            ..
        } = &map.boxed
        else {
            return Vec::new();
        };
        let rank = map.extent.len();
        let first = i64::from(self.start[rank - 1]);
        let axis = |d: usize| -> Vec<i64> {
            let last = map.extent[d] as i64 - 1 + i64::from(upper[d - 1]);
            (i64::from(lower[d - 1])..=last)
                .step_by(map.steps[d] as usize)
                .collect()
        };
        let mut places = Vec::new();
        for image in first..=first + i64::from(*count) {
            let mut of_image = vec![vec![i64::from(self.start[0])]];
            of_image[0].resize(rank, image);
            for d in (1..rank - 1).rev() {
                of_image = of_image
                    .iter()
                    .flat_map(|place| {
                        axis(d).into_iter().map(move |at| {
                            let mut place = place.clone();
                            place[d] = at;
                            place
                        })
                    })
                    .collect();
            }
            places.extend(of_image);
        }
        places
    }

    fn begins(&self, place: &[i64]) -> bool {
        place
            .iter()
            .zip(&self.start)
            .all(|(a, b)| *a == i64::from(*b))
    }

    /// Whether a copy of pixels begins at one of them.
    pub fn on_lattice(&self, map: &TensorMap) -> bool {
        self.lattice(map).iter().any(|place| self.begins(place))
    }

    /// The places of the pixels.
    fn pixels(&self, map: &TensorMap) -> Vec<Vec<i64>> {
        let Boxed::Pixels { count, .. } = &map.boxed else {
            return Vec::new();
        };
        let all = self.lattice(map);
        let begin = all.iter().position(|place| self.begins(place));
        let from = &all[begin.expect("the copy begins at a pixel")..];
        let moved = |place: &Vec<i64>| {
            let mut place = place.clone();
            for (to, by) in place[1..].iter_mut().zip(&self.offsets) {
                *to += i64::from(*by);
            }
            place
        };
        from[..*count as usize].iter().map(moved).collect()
    }

    /// Where an element is in the tensor's bytes.
    fn global(&self, map: &TensorMap, place: &[i64]) -> Option<usize> {
        let inside = |d: usize| place[d] >= 0 && place[d] < map.extent[d] as i64;
        if !(0..place.len()).all(inside) {
            return None;
        }
        let mut at = map.address as i64 + place[0] * i64::from(map.element.bytes());
        for (coordinate, stride) in place[1..].iter().zip(&map.strides) {
            at += coordinate * *stride as i64;
        }
        Some(at as usize)
    }
}

/// As CUDA's programming guide draws it: rows of 128 bytes in eight units of
/// 16, in groups of two, four or eight; the number of a unit in its group is
/// XORed with the number of the row.
fn swizzled(swizzle: Swizzle, at: usize) -> usize {
    let group = match swizzle {
        Swizzle::None => return at,
        Swizzle::Bytes32 => 2,
        Swizzle::Bytes64 => 4,
        Swizzle::Bytes128 => 8,
    };
    let (row, unit, rest) = (at / 128, at / 16 % 8, at % 16);
    let (first, within) = (unit / group * group, unit % group);
    row * 128 + (first + (within ^ (row % group))) * 16 + rest
}
