//! Walk of a copy over a tensor: the elements that it moves, row by row.

use super::{Boxed, MOST_DIMENSIONS, TensorMap};
use std::ops::Range;

/// A row of shared memory: elements that are neighbours in the innermost
/// dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::exec) struct Row {
    /// Offset of the first byte, from the start of the box, before swizzling.
    pub shared: u64,
    /// Address of the first element in global memory, also if that is outside the tensor.
    pub address: u64,
    /// Elements of the row that are inside the tensor.
    pub inside: Range<u32>,
}

/// Places in each dimension; those that a map does not have are 0.
type Coordinates = [i64; MOST_DIMENSIONS];

impl TensorMap {
    /// Calls `each` with the rows of a copy, in the order of shared memory,
    /// until it returns false. `start` is where the copy begins; `offsets` are
    /// added to the places of pixels.
    pub(in crate::exec) fn rows(
        &self,
        start: &[i32],
        offsets: &[u16],
        mut each: impl FnMut(Row) -> bool,
    ) {
        let mut at = [0; MOST_DIMENSIONS];
        for (to, from) in at.iter_mut().zip(start) {
            *to = i64::from(*from);
        }
        let first = at;
        for number in 0..self.row_count() {
            let mut place = at;
            for (to, offset) in place[1..].iter_mut().zip(offsets) {
                *to += i64::from(*offset);
            }
            if !each(self.row(number, &place)) {
                return;
            }
            self.next(&mut at, &first);
        }
    }

    fn row(&self, number: u64, place: &Coordinates) -> Row {
        let size = i64::from(self.element.bytes());
        let mut offset = place[0] * size;
        let mut inside = true;
        let outer = self.extent[1..].iter().zip(&self.strides);
        for (at, (extent, stride)) in place[1..].iter().zip(outer) {
            offset = offset.wrapping_add(at.wrapping_mul(*stride as i64));
            inside &= (0..*extent as i64).contains(at);
        }
        let elements = i64::from(self.row_elements());
        let low = (-place[0]).clamp(0, elements);
        let high = (self.extent[0] as i64 - place[0]).clamp(low, elements);
        Row {
            shared: number * self.pitch(),
            address: self.address.wrapping_add(offset as u64),
            inside: if inside {
                low as u32..high as u32
            } else {
                0..0
            },
        }
    }

    /// The step from one place to the next in a dimension; images follow each other.
    fn step(&self, d: usize) -> i64 {
        match &self.boxed {
            Boxed::Pixels { lower, .. } if d > lower.len() => 1,
            _ => i64::from(self.steps[d]),
        }
    }

    /// The place of the next row.
    fn next(&self, at: &mut Coordinates, first: &Coordinates) {
        for d in 1..self.extent.len() {
            at[d] += self.step(d);
            let (begin, end) = match &self.boxed {
                Boxed::Tile(extent) => (first[d], first[d] + i64::from(extent[d])),
                Boxed::Pixels { lower, upper, .. } => match lower.get(d - 1) {
                    Some(&low) => {
                        let end = self.extent[d] as i64 + i64::from(upper[d - 1]);
                        (i64::from(low), end)
                    }
                    // The next image.
                    None => return,
                },
            };
            if at[d] < end {
                return;
            }
            at[d] = begin;
        }
    }
}
