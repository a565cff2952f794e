//! Tiles that are written one way and read another: the output is the
//! transpose of the input.

use crate::kernels::harness::TestKernel;

#[test]
fn floats_by_rows_and_columns() {
    for name in ["tile_columns", "tile_vector"] {
        TestKernel::load("tiles", name).check(|run| {
            let (input, output) = (run.before::<f32>("in"), run.after::<f32>("out"));
            for (i, value) in input.iter().enumerate() {
                assert_eq!(output[i % 32 * 32 + i / 32], *value, "{name} {i}");
            }
        });
    }
}

#[test]
fn fragments_of_halves() {
    TestKernel::load("tiles", "tile_ldmatrix").check(|run| {
        let (input, output) = (run.before::<u16>("in"), run.after::<u16>("out"));
        for (i, value) in input.iter().enumerate() {
            let (k, m) = (i / 128, i % 128);
            assert_eq!(output[32 * m + k], *value, "element ({m}, {k})");
        }
    });
}

#[test]
fn copies_of_any_size() {
    for n in [1, 255, 1000, 5000] {
        TestKernel::load("tiles", "tile_copy")
            .count("in", n)
            .count("out", n)
            .scalar("n", n as i64)
            .check(|run| assert_eq!(run.before::<f32>("in"), run.after::<f32>("out")));
    }
}
