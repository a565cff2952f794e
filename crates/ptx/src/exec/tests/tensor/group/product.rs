//! Each product against the sums of its products.

use super::layout::place;
use super::*;
use crate::exec::tests::tensor::product::{Numbers, element, floats, integers};
use crate::exec::tests::tensor::reference::row_of_b;

fn word(ty: &str, numbers: Numbers, random: &mut Random) -> u32 {
    let mask = u64::MAX >> (64 - bits(ty));
    let parts = (0..32).step_by(bits(ty) as usize);
    parts.fold(0, |all, by| {
        all | ((element(ty, numbers, random) & mask) as u32) << by
    })
}

fn given(p: &Product, numbers: Numbers, random: &mut Random) -> Given {
    let [d, a, b, _] = &p.case.types;
    let shared = (0..SHARED / 4).map(|at| {
        let ty = if at < OF_B / 4 { a } else { b };
        word(ty, numbers, random)
    });
    let shared = shared.collect();
    let metadata = |random: &mut Random| {
        let nibble = |random: &mut Random| match bits(a) {
            32 => [0b0100, 0b1110][random.next() as usize % 2],
            _ => [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110][random.next() as usize % 6],
        };
        (0..8).fold(0u32, |all, n| all | nibble(random) << (4 * n))
    };
    let registers = (0..133 * THREADS).map(|at| match at / THREADS {
        0..128 => word(d, numbers, random),
        128..132 => word(a, numbers, random),
        _ => metadata(random),
    });
    Given {
        shared,
        registers: registers.collect(),
    }
}

/// Bits of an element of shared memory.
fn stored(given: &Given, ty: &str, bit: u32) -> u64 {
    let word = given.shared[bit as usize / 32];
    u64::from(word >> (bit % 32)) & (u64::MAX >> (64 - bits(ty)))
}

/// Bits of an element of `a`, of a sparse one among those that are kept.
fn of_a(p: &Product, given: &Given, row: u32, k: u32) -> u64 {
    let ty = &p.case.types[1];
    let found = if p.held {
        // The formula of the fragment: registers by row and column.
        let per = 32 / bits(ty);
        let register = row % 16 / 8 + 2 * (k / (4 * per));
        let lane = row % 8 * 4 + k % (4 * per) / per;
        let at = (128 + register) * THREADS + row / 16 * 32 + lane;
        let word = given.registers[at as usize];
        u64::from(word >> (k % per * bits(ty))) & (u64::MAX >> (64 - bits(ty)))
    } else {
        stored(given, ty, place(p.descriptors[0], p.by_mn[0], ty, row, k))
    };
    if p.signs[0] * p.signs[1] < 0 {
        found ^ 1 << (bits(ty) - 1)
    } else {
        found
    }
}

/// Bits of an element of the accumulator.
fn sum(p: &Product, registers: &[u32], row: u32, column: u32) -> u64 {
    let ty = bits(&p.case.types[0]);
    let element = column / 8 * 4 + row % 16 / 8 * 2 + column % 2;
    let thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
    let register = element * ty / 32;
    let word = registers[(register * THREADS + thread) as usize];
    u64::from(word >> (element * ty % 32)) & (u64::MAX >> (64 - ty))
}

fn check(p: &Product, numbers: Numbers, random: &mut Random) {
    let given = given(p, numbers, random);
    let (after, outcome) = p.run(&given);
    assert_eq!(outcome.findings, [], "{}", p.instruction());
    let [m, n, k] = p.case.size;
    let b = &p.case.types[2];
    let of_b = |k, column| stored(&given, b, place(p.descriptors[1], p.by_mn[1], b, column, k));
    let depth = if p.case.sparse { k / 2 } else { k };
    for row in 0..m {
        let metadata: Vec<u32> = {
            let first = (132 * THREADS + row / 16 * 32) as usize;
            given.registers[first..first + 32].to_vec()
        };
        for column in 0..n {
            let pairs = (0..depth).map(|at| {
                let from = if p.case.sparse {
                    row_of_b(&p.case, &metadata, row % 16, at)
                } else {
                    at
                };
                (of_a(p, &given, row, at), of_b(from, column))
            });
            let before = if p.adds {
                sum(p, &given.registers, row, column)
            } else {
                0
            };
            let result = sum(p, &after, row, column);
            let verdict = match p.case.types[0].as_str() {
                "s32" => integers(&p.case, pairs, before, result),
                _ => floats(&p.case, pairs, before, result),
            };
            if let Err(text) = verdict {
                panic!("{p:?} {numbers:?} at {row},{column}: {text}");
            }
        }
    }
}

const TYPES: &[&str] = &[
    "f32.f16.f16",
    "f16.f16.f16",
    "f32.bf16.bf16",
    "f32.tf32.tf32",
    "f32.e4m3.e5m2",
    "f16.e5m2.e4m3",
    "s32.s8.u8",
    "s32.u8.s8",
    "s32.b1.b1",
];

/// Every type, with all kinds of numbers, factors in memory and registers.
#[test]
fn products_are_sums_of_products() {
    let mut random = Random(1);
    for types in TYPES {
        for numbers in [Numbers::Tame, Numbers::Any, Numbers::Edges] {
            for (n, held) in [(8, false), (24, true)] {
                let mut p = Product::new(n, types, false);
                p.held = held;
                check(&p, numbers, &mut random);
            }
        }
    }
}

/// Leading and stride offsets of a factor, so that nothing overlaps: blocks of
/// eight runs, then the next ones of the other dimension.
fn strides(mode: u64, by_mn: bool) -> (u32, u32) {
    let wide = [16, 128, 64, 32][mode as usize];
    match (by_mn, mode) {
        (false, 0) => (128, 256),
        (false, _) => (16, 8 * wide),
        (true, 0) => (128, 256),
        (true, _) => (16 * wide, 8 * wide),
    }
}

/// Every swizzle, along both dimensions, of both factors.
#[test]
fn factors_lie_in_every_layout() {
    let mut random = Random(2);
    for mode in 0..4 {
        for (a, b) in [(false, false), (true, true), (true, false), (false, true)] {
            for (types, n) in [("f32.f16.f16", 72), ("f32.bf16.bf16", 40)] {
                let mut p = Product::new(n, types, false);
                p.by_mn = [a, b];
                let (la, sa) = strides(mode, a);
                let (lb, sb) = strides(3 - mode, b);
                p.descriptors = [
                    descriptor(0, mode, la, sa),
                    descriptor(OF_B, 3 - mode, lb, sb),
                ];
                check(&p, Numbers::Tame, &mut random);
            }
        }
        for types in ["f32.tf32.tf32", "f32.e4m3.e4m3", "s32.s8.s8", "s32.b1.b1"] {
            let mut p = Product::new(16, types, false);
            let (leading, stride) = strides(mode, false);
            let of = |start| descriptor(start, mode, leading, stride);
            p.descriptors = [of(0), of(OF_B)];
            check(&p, Numbers::Any, &mut random);
        }
    }
}

/// Steps along K inside a run of 128 bytes; a pattern that begins at another
/// multiple of 128 bytes; offsets that go back, modulo 2^18.
#[test]
fn descriptors_may_start_anywhere() {
    let mut random = Random(3);
    for step in [0, 32, 64, 96] {
        let mut p = Product::new(8, "f32.f16.f16", false);
        p.descriptors = [
            descriptor(step, 1, 16, 1024),
            descriptor(OF_B + step, 1, 16, 1024),
        ];
        check(&p, Numbers::Tame, &mut random);
    }
    for base in 1..8 {
        let mut p = Product::new(8, "f32.f16.f16", false);
        let start = OF_B + 128 * base;
        p.descriptors[1] = descriptor(start, 1, 16, 1024) | u64::from(base) << 49;
        check(&p, Numbers::Tame, &mut random);
    }
    let mut p = Product::new(16, "f32.f16.f16", false);
    p.descriptors[1] = descriptor(OF_B + 4096, 0, 128, 0u32.wrapping_sub(256));
    check(&p, Numbers::Tame, &mut random);
}

/// Signs, clamped sums, sums that begin at zero, the widest result.
#[test]
fn products_have_variants() {
    let mut random = Random(4);
    for (types, signs) in [
        ("f32.f16.f16", [-1, 1]),
        ("f16.f16.f16", [1, -1]),
        ("f32.bf16.bf16", [-1, -1]),
        ("f32.tf32.tf32", [-1, 1]),
        ("f32.e5m2.e5m2", [1, -1]),
    ] {
        let mut p = Product::new(8, types, false);
        (p.signs, p.held) = (signs, signs[0] < 0);
        check(&p, Numbers::Edges, &mut random);
    }
    for types in TYPES {
        let mut p = Product::new(8, types, false);
        p.adds = false;
        check(&p, Numbers::Tame, &mut random);
    }
    let mut p = Product::new(8, "s32.s8.u8", false);
    p.case.more = ".satfinite";
    check(&p, Numbers::Edges, &mut random);
    for types in ["f32.bf16.bf16", "f16.f16.f16", "s32.b1.b1"] {
        let mut p = Product::new(if types == "s32.b1.b1" { 240 } else { 256 }, types, false);
        p.descriptors[1] = descriptor(OF_B, 0, 128, 256);
        check(&p, Numbers::Tame, &mut random);
    }
}

/// Sparse factors: every type and selector, both places of `a`.
#[test]
fn sparse_products_are_sums_of_products() {
    let mut random = Random(5);
    for (types, selectors) in [
        ("f32.f16.f16", 2),
        ("f16.f16.f16", 2),
        ("f32.bf16.bf16", 2),
        ("f32.tf32.tf32", 2),
        ("f32.e4m3.e5m2", 1),
        ("f16.e5m2.e4m3", 1),
        ("s32.s8.u8", 1),
    ] {
        for (selector, held) in (0..selectors).flat_map(|s| [(s, false), (s, true)]) {
            let mut p = Product::new(24, types, true);
            (p.case.selector, p.held) = (selector, held);
            p.descriptors[1] = descriptor(OF_B, 1, 16, 1024);
            check(&p, Numbers::Tame, &mut random);
            p.descriptors[1] = descriptor(OF_B, 0, 128, 512);
            check(&p, Numbers::Edges, &mut random);
        }
    }
    let mut p = Product::new(64, "f32.f16.f16", true);
    p.by_mn = [true; 2];
    let of = |start| descriptor(start, 1, 4096, 1024);
    p.descriptors = [of(0), of(OF_B)];
    check(&p, Numbers::Tame, &mut random);
}
