//! The part of a matrix that each lane holds.

/// A bit of a place in a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bit {
    /// A bit of the row.
    Row(u8),
    /// A bit of the column.
    Column(u8),
    /// A bit of the number of the matrix, if the lanes of a warp hold several.
    Matrix(u8),
}

/// A place in one of the matrices of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Number of the matrix; 0 if there is one only.
    pub matrix: u32,
    /// Row.
    pub row: u32,
    /// Column.
    pub column: u32,
}

/// Elements of a matrix that a lane holds: a linear map from the bits of the lane and of
/// the element's number to those of the place.
///
/// Elements of a lane are numbered from the low bits of its first register on. The rows of
/// matrix `b` count along `k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Bits of the place that the bits of the lane become, the lowest first.
    pub lane: [Bit; 5],
    /// Bits of the place that the bits of the element's number become, the lowest
    /// first.
    pub element: &'static [Bit],
}

impl Fragment {
    /// Elements of each lane.
    pub fn elements(&self) -> u32 {
        1 << self.element.len()
    }

    /// The place of an element of a lane.
    pub fn place(&self, lane: u32, element: u32) -> Place {
        let mut place = Place::default();
        let of_lane = self.lane.iter().enumerate();
        let of_element = self.element.iter().enumerate();
        let bits = of_lane.map(|(n, &bit)| (bit, lane >> n & 1));
        for (bit, set) in bits.chain(of_element.map(|(n, &bit)| (bit, element >> n & 1))) {
            match bit {
                Bit::Row(n) => place.row |= set << n,
                Bit::Column(n) => place.column |= set << n,
                Bit::Matrix(n) => place.matrix |= set << n,
            }
        }
        place
    }

    /// Number of matrices, rows, columns.
    pub fn size(&self) -> [u32; 3] {
        let all = || self.lane.iter().chain(self.element);
        let count = |is: fn(&Bit) -> bool| 1 << all().filter(|bit| is(bit)).count();
        [
            count(|b| matches!(b, Bit::Matrix(_))),
            count(|b| matches!(b, Bit::Row(_))),
            count(|b| matches!(b, Bit::Column(_))),
        ]
    }
}
