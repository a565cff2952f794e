//! Where elements are and what they are worth, by the formulas of the PTX
//! ISA's text and not by its tables of bits.

use super::{Case, bits};

/// Row and column of element `i` of a lane, of matrix `n` (d, a, b, c); which
/// of Volta's products it is part of.
pub(super) fn place(case: &Case, n: usize, lane: u32, i: u32) -> (u32, u32, u32) {
    if case.is_quads() {
        return quads(case, n, lane, i);
    }
    let (group, member) = (lane / 4, lane % 4);
    // Elements of a register of 32 bits, or the one of 64.
    let per = (32 / bits(&case.types[n])).max(1);
    let (register, at) = (i / per, i % per);
    let tall = case.size[0] == 16;
    match n {
        1 if tall => {
            let row = group + 8 * (register % 2);
            (0, row, member * per + at + 4 * per * (register / 2))
        }
        1 => (0, group, member * per + at),
        2 => (0, member * per + at + 4 * per * register, group),
        _ => (0, group + 8 * (i / 2), member * 2 + i % 2),
    }
}

fn quads(case: &Case, n: usize, lane: u32, i: u32) -> (u32, u32, u32) {
    let (matrix, high) = (lane / 4 % 4, if lane < 16 { 0 } else { 4 });
    let (row, column) = match (n, case.types[n].as_str()) {
        (1, _) if case.layouts[0] == "row" => (lane % 4 + high, i),
        (1, _) => (i + high, lane % 4),
        (2, _) if case.layouts[1] == "row" => (lane % 4, i + high),
        (2, _) => (i, lane % 4 + high),
        (_, "f16") => (lane % 4 + high, i),
        _ => ((lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)),
    };
    (matrix, row, column)
}

/// The value of an element.
pub(super) fn value(ty: &str, bits: u64) -> f64 {
    let small = |fraction: u32, exponent: u32| {
        let (sign, bias) = (bits >> (fraction + exponent) & 1, (1 << (exponent - 1)) - 1);
        let f = (bits & ((1 << fraction) - 1)) as f64 / f64::from(1 << fraction);
        let e = (bits >> fraction & ((1 << exponent) - 1)) as i32;
        let special = e == (1 << exponent) - 1;
        let magnitude = match e {
            0 => f * 2f64.powi(1 - bias),
            _ if special && ty == "e4m3" && f != 0.875 => (1.0 + f) * 2f64.powi(e - bias),
            _ if special && (f != 0.0 || ty == "e4m3") => f64::NAN,
            _ if special => f64::INFINITY,
            _ => (1.0 + f) * 2f64.powi(e - bias),
        };
        if sign == 1 { -magnitude } else { magnitude }
    };
    match ty {
        "f16" => small(10, 5),
        "bf16" => small(7, 8),
        "e4m3" => small(3, 4),
        "e5m2" => small(2, 5),
        "tf32" => f64::from(f32::from_bits(bits as u32 & 0xffff_e000)),
        "f32" => f64::from(f32::from_bits(bits as u32)),
        "f64" => f64::from_bits(bits),
        "s8" => f64::from(bits as u8 as i8),
        "s4" => bits as f64 - if bits & 8 != 0 { 16.0 } else { 0.0 },
        "s32" => f64::from(bits as u32 as i32),
        _ => bits as f64,
    }
}

/// Half the distance of neighbouring numbers near 1, and of the smallest.
pub(super) fn precision(ty: &str) -> (f64, f64) {
    match ty {
        "f16" => (2f64.powi(-11), 2f64.powi(-25)),
        "f32" => (2f64.powi(-24), 2f64.powi(-150)),
        "f64" => (2f64.powi(-53), 0.0),
        _ => (0.0, 0.0),
    }
}

/// Column of `a` and the row of `b` that it is multiplied by, for element
/// `column` of a row of a sparse `a`.
pub(super) fn row_of_b(case: &Case, metadata: &[u32], row: u32, column: u32) -> u32 {
    let ty = bits(&case.types[1]);
    let (chunk, kept) = match ty {
        32 => (2, 1),
        4 => (8, 4),
        _ => (4, 2),
    };
    let (number, n) = (column / kept, column % kept);
    let chunks = case.size[2] / chunk;
    let first = 4 * (row % 8) + case.selector * chunks / 4;
    let (lane, nibble) = match ty {
        16 | 32 => (first + number / 4, 4 * (row / 8) + number % 4),
        _ => (first + 2 * (number / 8) + row / 8, number % 8),
    };
    let four = metadata[lane as usize] >> (4 * nibble) & 15;
    number * chunk
        + match ty {
            32 => (four & 3) / 2,
            4 => 2 * (four >> (2 * (n / 2)) & 3) + n % 2,
            _ => four >> (2 * n) & 3,
        }
}
