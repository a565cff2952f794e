//! The number of configurations (hash paper, Table 1).

use crate::geometry::Geometry;
use crate::hash::{HashKind, kind};

/// All functions from n to m bits, (2^m)^(2^n), as its decimal logarithm.
pub fn all_functions_log10(g: Geometry) -> f64 {
    f64::from(g.bank_bits()) * g.words() as f64 * 2f64.log10()
}

/// XOR-based functions: m x n matrices, 2^(nm).
pub fn xor_functions(g: Geometry) -> u128 {
    1 << (g.addr_bits() * g.bank_bits())
}

/// Row spaces of dimension m that are spanned by address bits and XORs of two.
///
/// With a ground node for single bits, the pairs are the edges of a graph on
/// n + 1 nodes. The space depends only on the components of this graph. So the
/// row spaces are the partitions into n + 1 - m parts, and their number is a
/// Stirling number of the second kind.
pub fn unique_bitwise_xor(g: Geometry) -> u128 {
    let (nodes, parts) = (g.addr_bits() as usize + 1, g.row_bits() as usize + 1);
    let mut partitions = vec![0u128; parts + 1];
    partitions[0] = 1;
    for _ in 0..nodes {
        for k in (1..=parts).rev() {
            partitions[k] = partitions[k] * k as u128 + partitions[k - 1];
        }
        partitions[0] = 0;
    }
    partitions[parts]
}

/// Configurations of a unit as the paper counts them; for the matrix unit the
/// unique ones.
pub fn of_unit(kind: HashKind, g: Geometry) -> u128 {
    (kind::of(kind).count)(g)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 1: n = 14, m = 5.
    #[test]
    fn table_1() {
        let g = Geometry::new(14, 5).unwrap();
        let log = all_functions_log10(g);
        assert_eq!(log.floor(), 24660.0);
        // 2.38e24660; the paper cuts it to 2.3.
        assert_eq!((10f64.powf(log.fract()) * 10.0).floor(), 23.0);
        assert_eq!(format!("{:.1e}", xor_functions(g) as f64), "1.2e21");
        assert_eq!(
            format!("{:.1e}", of_unit(HashKind::Matrix, g) as f64),
            "1.2e14"
        );
        assert_eq!(of_unit(HashKind::BitvecPerm, g), 10);
        assert_eq!(of_unit(HashKind::BitvecXor, g), 4480);
        assert_eq!(of_unit(HashKind::BitwisePerm, g), 2002);
        assert_eq!(of_unit(HashKind::BitwiseXor, g), 96_560_646);
        assert_eq!(unique_bitwise_xor(g), 12_662_650);
        assert_eq!(of_unit(HashKind::BitvecXor, g), {
            let pairs = crate::search::bitvec::all_pairs(g);
            pairs.iter().map(|p| u128::from(p.masks)).sum()
        });
    }

    #[test]
    fn the_largest_geometry_does_not_overflow() {
        for g in Geometry::all() {
            assert!(of_unit(HashKind::Matrix, g) < xor_functions(g));
            assert!(unique_bitwise_xor(g) <= of_unit(HashKind::BitwiseXor, g));
        }
    }
}
