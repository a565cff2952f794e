//! The accesses of public questions: what goes through shared memory comes out
//! at the expected index.

use crate::kernels::harness::{Number, TestKernel};

/// Runs `name` and expects of element i of the output what `from(i)` says of
/// the input.
fn moves<T: Number>(name: &str, from: impl Fn(usize) -> usize) {
    TestKernel::load("questions", name).check(|run| {
        let (input, output) = (run.before::<T>("in"), run.after::<T>("out"));
        for (i, value) in output.iter().enumerate() {
            assert_eq!(*value, input[from(i)], "{name} {i}");
        }
    });
}

#[test]
fn copies_and_fragments() {
    for name in ["copy_by_columns", "copy_by_rows", "copy_by_rows_room"] {
        moves::<u16>(name, |i| i);
    }
    for name in [
        "rows_of_32_bytes",
        "rows_of_64_bytes",
        "rows_of_128_bytes",
        "rows_rotated",
    ] {
        moves::<u16>(name, |i| i);
    }
    moves::<f32>("fragments_of_tf32", |i| i);
}

#[test]
fn transposes() {
    moves::<u16>("transpose_halves", |i| i % 128 * 128 + i / 128);
    moves::<f64>("tile_doubles", |i| i % 32 * 32 + i / 32);
    TestKernel::load("questions", "read_both_ways").check(|run| {
        let input = run.before::<u16>("in");
        let (rows, columns) = (run.after::<u16>("rows"), run.after::<u16>("columns"));
        for (i, value) in input.iter().enumerate() {
            assert_eq!(rows[i], *value, "{i}");
            assert_eq!(columns[i % 64 * 64 + i / 64], *value, "{i}");
        }
    });
}

#[test]
fn orders_of_a_transform() {
    for bits in [10, 11, 12] {
        let reversed = |i: usize| (i as u32).reverse_bits() as usize >> (32 - bits);
        moves::<f32>(&format!("reverse_{}", 1 << bits), |i| {
            2 * reversed(i / 2) + i % 2
        });
    }
    for each in [4, 8, 16] {
        moves::<f32>(&format!("exchange_{each}"), |i| {
            i / each + i % each * (1024 / each)
        });
    }
}

#[test]
fn one_of_four_addresses() {
    moves::<f32>("quads_apart", |i| i % 16);
    moves::<f32>("quads_in_pairs", |i| i / 8 % 4 * 4 + i % 4);
}

/// Small integers, so that no operation rounds.
fn small(count: i32, factor: i32, modulus: i32) -> Vec<i32> {
    (0..count)
        .map(|i| factor * i % modulus - modulus / 2)
        .collect()
}

/// Both derivatives of a plane, and back, by their definition.
fn derivatives(plane: &[i32], dx: &[i32], dy: &[i32]) -> Vec<i32> {
    let sum = |f: &dyn Fn(usize) -> i32| (0..8).map(f).sum::<i32>();
    let point = |n: usize| (n % 8, n / 8);
    let along: Vec<i32> = (0..64)
        .map(point)
        .map(|(i, j)| sum(&|l| dx[i + 8 * l] * plane[l + 8 * j]))
        .collect();
    let across: Vec<i32> = (0..64)
        .map(point)
        .map(|(i, j)| sum(&|l| dy[j + 8 * l] * plane[i + 8 * l]))
        .collect();
    let back = |(i, j): (usize, usize)| {
        sum(&|l| along[l + 8 * j] * dx[l + 8 * i] + across[i + 8 * l] * dy[l + 8 * j])
    };
    (0..64).map(point).map(back).collect()
}

fn check_derivatives<T: Number + From<f32>>(name: &str) {
    let (input, dx, dy) = (small(512, 7, 11), small(64, 5, 7), small(64, 3, 5));
    let numbers = |all: &[i32]| all.iter().map(|v| T::from(*v as f32)).collect::<Vec<T>>();
    let kernel = TestKernel::load("questions", name)
        .data("in", &numbers(&input))
        .data("dx", &numbers(&dx))
        .data("dy", &numbers(&dy));
    let planes = input.chunks(64);
    let expected: Vec<i32> = planes.flat_map(|p| derivatives(p, &dx, &dy)).collect();
    kernel.check(|run| assert_eq!(run.after::<T>("out"), numbers(&expected), "{name}"));
}

#[test]
fn derivatives_of_a_spectral_element() {
    for name in ["spectral", "spectral_padded"] {
        check_derivatives::<f32>(name);
    }
    for name in ["spectral_double", "spectral_double_padded"] {
        check_derivatives::<f64>(name);
    }
}
