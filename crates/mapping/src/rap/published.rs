//! The figures of the RAP paper's tables, for comparison.

use super::access::AccessKind;
use super::scheme::Scheme;
use super::transpose::Transpose;

/// Widths of Table II.
pub const TABLE_II_WIDTHS: [u32; 5] = [16, 32, 64, 128, 256];

/// Table II: mean congestion of each mapping and access to a w x w matrix, for
/// a width of [`TABLE_II_WIDTHS`]; empty for others.
pub fn table_ii(w: u32) -> Vec<(Scheme, AccessKind, f64)> {
    use AccessKind::{Contiguous, Diagonal, Random, Stride};
    let Some(column) = TABLE_II_WIDTHS.iter().position(|&x| x == w) else {
        return Vec::new();
    };
    let shifted = [3.08, 3.53, 3.96, 4.38, 4.77][column];
    let permuted = [3.20, 3.61, 4.00, 4.41, 4.78][column];
    let random = [2.92, 3.44, 3.90, 4.34, 4.75][column];
    vec![
        (Scheme::Raw, Contiguous, 1.0),
        (Scheme::Raw, Stride, f64::from(w)),
        (Scheme::Raw, Diagonal, 1.0),
        (Scheme::Raw, Random, random),
        (Scheme::Ras, Contiguous, 1.0),
        (Scheme::Ras, Stride, shifted),
        (Scheme::Ras, Diagonal, shifted),
        (Scheme::Ras, Random, random),
        (Scheme::Rap, Contiguous, 1.0),
        (Scheme::Rap, Stride, 1.0),
        (Scheme::Rap, Diagonal, permuted),
        (Scheme::Rap, Random, random),
    ]
}

/// Table III: mean read and write congestion of the transposes for w = 32.
pub fn table_iii() -> [(Transpose, Scheme, f64, f64); 9] {
    use Transpose::{Crsw, Drdw, Srcw};
    [
        (Crsw, Scheme::Raw, 1.0, 32.0),
        (Crsw, Scheme::Ras, 1.0, 3.53),
        (Crsw, Scheme::Rap, 1.0, 1.0),
        (Srcw, Scheme::Raw, 32.0, 1.0),
        (Srcw, Scheme::Ras, 3.53, 1.0),
        (Srcw, Scheme::Rap, 1.0, 1.0),
        (Drdw, Scheme::Raw, 1.0, 1.0),
        (Drdw, Scheme::Ras, 3.53, 3.53),
        (Drdw, Scheme::Rap, 3.61, 3.61),
    ]
}

/// Table IV: the order of the congestion of each mapping and access to an
/// array of size w^4; `L` is log w / log log w.
pub fn table_iv() -> Vec<(Scheme, AccessKind, &'static str)> {
    use AccessKind::{Contiguous, Malicious, Random, Stride1, Stride2, Stride3};
    let rows = [
        (Contiguous, ["1", "1", "1", "1", "1", "1", "1"]),
        (Stride1, ["w", "O(L)", "1", "1", "1", "1", "1"]),
        (Stride2, ["w", "O(L)", "w", "1", "1", "O(L)", "O(L)"]),
        (Stride3, ["w", "O(L)", "w", "1", "1", "O(L)", "O(L)"]),
        (
            Random,
            ["O(L)", "O(L)", "O(L)", "O(L)", "O(L)", "O(L)", "O(L)"],
        ),
        (
            Malicious,
            ["w", "O(L)", "w", "6 O(L of w/6)", "O(L)", "O(L)", "O(L)"],
        ),
    ];
    let schemes = [
        Scheme::Raw,
        Scheme::Ras,
        Scheme::OneP,
        Scheme::R1P,
        Scheme::ThreeP,
        Scheme::W2P,
        Scheme::OnePW2R,
    ];
    rows.into_iter()
        .flat_map(|(access, orders)| {
            schemes
                .into_iter()
                .zip(orders)
                .map(move |(scheme, order)| (scheme, access, order))
        })
        .collect()
}
