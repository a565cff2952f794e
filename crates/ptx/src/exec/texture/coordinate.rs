//! Coordinates to texels: nearest ones, neighbours with their weights, and
//! what lies outside.

use super::AddressMode;

/// Two neighbouring texels in one dimension, none outside of the border, and
/// the weight of the second in 256ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Neighbours {
    pub texels: [Option<u32>; 2],
    pub weight: u32,
}

/// The texel that an index means; none for the border.
pub(super) fn addressed(index: i64, size: u32, mode: AddressMode) -> Option<u32> {
    let n = i64::from(size);
    let inside = (0..n).contains(&index);
    let texel = match mode {
        _ if inside => index,
        AddressMode::Wrap => index.rem_euclid(n),
        AddressMode::Clamp => index.clamp(0, n - 1),
        AddressMode::Mirror => match index.rem_euclid(2 * n) {
            back if back >= n => 2 * n - 1 - back,
            there => there,
        },
        AddressMode::Border => return None,
    };
    Some(texel as u32)
}

/// The place of a coordinate in texels. What is not a number is 0, and what is
/// infinite is far away.
fn place(coordinate: f32, size: u32, (normalized, mode): (bool, AddressMode)) -> f64 {
    const FAR: f64 = (1u64 << 52) as f64;
    let coordinate = f64::from(coordinate);
    let turns = coordinate.floor();
    let place = match mode {
        _ if !normalized => coordinate,
        // As the CUDA C++ Programming Guide has it: the coordinate is brought
        // back between 0 and 1.
        AddressMode::Wrap => (coordinate - turns) * f64::from(size),
        AddressMode::Mirror if turns.rem_euclid(2.0) == 1.0 => {
            (1.0 - (coordinate - turns)) * f64::from(size)
        }
        AddressMode::Mirror => (coordinate - turns) * f64::from(size),
        _ => coordinate * f64::from(size),
    };
    if place.is_nan() {
        0.0
    } else {
        place.clamp(-FAR, FAR)
    }
}

/// The texel that a coordinate lies in.
pub(super) fn nearest(
    coordinate: f32,
    offset: i64,
    size: u32,
    how: (bool, AddressMode),
) -> Option<u32> {
    let index = place(coordinate, size, how).floor() as i64 + offset;
    addressed(index, size, how.1)
}

/// The texels on both sides of a coordinate. The weight has 8 bits after the
/// point (CUDA C++ Programming Guide, linear filtering), to nearest.
pub(super) fn neighbours(
    coordinate: f32,
    offset: i64,
    size: u32,
    how: (bool, AddressMode),
) -> Neighbours {
    let place = place(coordinate, size, how) - 0.5;
    let first = place.floor();
    let index = first as i64 + offset;
    Neighbours {
        texels: [index, index + 1].map(|i| addressed(i, size, how.1)),
        weight: ((place - first) * 256.0).round() as u32,
    }
}
