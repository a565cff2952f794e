//! `cvt` from and to small floating-point numbers: against what CUDA's headers convert
//! to, and against the judgement of `ptxas`.

use super::*;
use crate::scalar::{Sources, define, sources};

/// The operands of a conversion, `WORDS.TO.FROM`, in registers.
fn operands(name: &str) -> String {
    let words: Vec<&str> = name.split('.').collect();
    let [.., to, from] = words[..] else {
        panic!("{name}");
    };
    let register = |ty: &str, n: u32| match ty {
        "e2m1x2" => format!("%b{n}"),
        "f32" => format!("%f{n}"),
        "f16x2" | "bf16x2" => format!("%r{n}"),
        _ if ty.ends_with("x4") && ty != "e2m1x4" => format!("%r{n}"),
        _ => format!("%h{n}"),
    };
    let mut list = vec![register(to, 0), register(from, 1)];
    match from {
        _ if to.ends_with("x4") => list[1] = format!("{{%f1, {}, %f3, %f4}}", register(from, 2)),
        "f32" => list.push(register(from, 2)),
        _ => {}
    }
    if words.contains(&"scaled::n2::ue8m0") {
        list.push("%h3".to_owned());
    }
    if words[0] == "rs" {
        list.push("%r4".to_owned());
    }
    list.join(", ")
}

fn module(instructions: &str) -> Module {
    let text = format!(
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{{\n\
         .reg .b8 %b<5>; .reg .b16 %h<5>; .reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .f32 %f<5>;\n\
         {instructions}\nret;\n}}"
    );
    Module::parse(&text, "t.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// What a conversion, `WORDS.TO.FROM`, computes.
fn conversion(name: &str) -> impl Fn(Sources) -> u64 + use<> {
    let module = module(&format!("cvt.{name} {};", operands(name)));
    let definition = define(&module.functions[0].instructions[0]);
    let compute = definition.unwrap_or_else(|| panic!("{name}")).compute;
    move |x| compute(&x)[0]
}

/// The bits of another number, for the other place.
fn other(n: u64) -> u64 {
    (n * 40503 + 1) & 0xffff
}

/// As `small.cpp`.
fn checksum(name: &str) -> u64 {
    let compute = conversion(name);
    let mut sum = 0xcbf2_9ce4_8422_2325;
    let mut add = |x: Sources| {
        for byte in (compute(x) as u32).to_le_bytes() {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    let all = 0..1u64 << 16;
    match name.rsplit('.').next() {
        Some("f32") => {
            for low in [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff] {
                all.clone()
                    .for_each(|n| add(sources([n << 16 | low, other(n) << 16 | low])));
            }
        }
        Some("f16x2" | "bf16x2") => all.for_each(|n| add(sources([n << 16 | other(n)]))),
        _ => all.for_each(|n| add(sources([n]))),
    }
    sum
}

#[test]
fn conversions_are_those_of_cuda() {
    let lines = include_str!("small.txt").lines();
    let lines: Vec<_> = lines.filter(|l| !l.starts_with('#')).collect();
    assert_eq!(lines.len(), 34);
    for line in lines {
        let (name, expected) = line.split_once(' ').unwrap();
        let sum = checksum(name);
        assert_eq!(format!("{sum:016x}"), expected, "{name}");
    }
}

/// Of all random numbers, as many round up as the part that is cut off says.
#[test]
fn stochastic_rounding_rounds_up_in_proportion() {
    let ulp = |name: &str| match name {
        "e2m1" => 2.0,
        "e2m3" | "e4m3" => 8.0,
        _ => 4.0,
    };
    for name in ["e2m1", "e2m3", "e3m2", "e4m3", "e5m2"] {
        let compute = conversion(&format!("rs.satfinite.{name}x4.f32"));
        let (width, bits) = if name == "e2m1" { (4, 8) } else { (8, 16) };
        for (n, part) in [0.0, 0.25, 0.6328125, 0.999].into_iter().enumerate() {
            // Between 1 and the number above it, in one of the four places.
            let x = (1.0 + part / ulp(name)) as f32;
            let mut inputs = [1f32; 4];
            inputs[3 - n] = x;
            let one = compute(sources([1f32.to_bits().into(); 4]));
            let ups = |random: u32| {
                let [a, b, c, d] = inputs.map(|x| u64::from(x.to_bits()));
                let got = compute([a, b, c, d, random.into()]);
                let up = got - one;
                assert!(
                    up == 0 || up == 1 << (n as u32 * width),
                    "{name} {x} {got:x}"
                );
                u32::from(up != 0)
            };
            let field = |random: u32| match width {
                4 => random << (8 * (n / 2) + 16 * (n % 2)),
                _ => random << (16 * (n / 2)),
            };
            let sum: u32 = (0..1 << bits).map(|random| ups(field(random))).sum();
            let exact = (f64::from(x) - 1.0) * ulp(name) * f64::from(1 << bits);
            assert_eq!(sum, exact as u32, "{name} {x} in place {n}");
            // The bits of the others say nothing.
            assert_eq!(ups(!field((1 << bits) - 1)), 0, "{name} {x} in place {n}");
        }
    }
}

/// What the headers have no function for.
#[test]
fn results_are_bounded_and_scaled() {
    let [minus, infinity] = [-1.5f32, f32::INFINITY].map(|x| u64::from(x.to_bits()));
    let relu = conversion("rn.satfinite.relu.e2m1x2.f32");
    assert_eq!(relu(sources([infinity, minus])), 0x70);
    let halves = conversion("rs.satfinite.relu.f16x2.f32");
    assert_eq!(halves([infinity, minus, 0, 0, 0]), 0x7bff_0000);
    let halves = conversion("rs.bf16x2.f32");
    let number = u64::from(0x3f80_8000u32);
    assert_eq!(halves([number, number, 0x7fff_8000, 0, 0]), 0x3f80_3f81);
    let halves = conversion("rs.f16x2.f32");
    let number = u64::from(0x3f80_1000u32);
    assert_eq!(halves([number, number, 0xefff_1000, 0, 0]), 0x3c00_3c01);
    let wide = conversion("rn.satfinite.relu.bf16x2.e5m2x2");
    assert_eq!(wide(sources([0x7cc0])), 0x7f7f_0000);
    let scaled = conversion("rn.scaled::n2::ue8m0.bf16x2.e5m2x2");
    assert_eq!(scaled(sources([0x3c01, 0x8000])), 0x4000_0000);
    assert_eq!(scaled(sources([0x7c3c, 0xffff])), 0x7fff_7fff);
}

/// The forms that ptxas takes are taken, and no others.
#[test]
fn forms_are_those_of_ptxas() {
    let mut all = Vec::new();
    let lines = include_str!("ptxas_small.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let (types, taken) = line.split_once(" |").unwrap();
        let taken: Vec<&str> = taken.split_whitespace().collect();
        for n in 0..40 {
            let rounding = ["", "rn", "rz", "rp", "rs"][n % 5];
            let flag = |at: usize, word| if ((n / 5) >> at) & 1 != 0 { word } else { "" };
            let words = [rounding, flag(0, "satfinite"), flag(1, "relu")];
            let words = [&words[..], &[flag(2, "scaled::n2::ue8m0")]].concat();
            let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
            let words = words.join(".");
            all.push((format!("{words}.{types}"), taken.contains(&words.as_str())));
        }
    }
    assert!(all.len() > 1500, "{}", all.len());
    let mut wrong = String::new();
    for (name, taken) in all {
        let name = name.trim_start_matches('.');
        let text = format!("cvt.{name} {};", operands(name));
        if is_taken(&text) != taken {
            wrong += &format!("{text} {taken}\n");
        }
    }
    assert_eq!(wrong, "");
}

fn is_taken(instruction: &str) -> bool {
    let module = module(instruction);
    Program::new(&module).unwrap().check("k").is_ok()
}

/// Registers have exactly the size of the numbers; what is random comes from one.
#[test]
fn registers_are_those_of_ptxas() {
    for (text, taken) in [
        ("cvt.rn.satfinite.e2m1x2.f32 %b0, %f1, 0f3F800000;", true),
        ("cvt.rn.satfinite.e2m1x2.f32 %h0, %f1, %f2;", false),
        ("cvt.rn.satfinite.e2m3x2.f32 %r1, %f1, %f2;", false),
        ("cvt.rn.satfinite.e2m1x2.bf16x2 %b1, %rd1;", false),
        ("cvt.rn.f16x2.e2m1x2 %r1, %h1;", false),
        ("cvt.rn.f16x2.e2m3x2 %rd1, %h1;", false),
        (
            "cvt.rs.satfinite.e4m3x4.f32 %r1, {%r1, 0f3F800000, %f1, %f1}, %r2;",
            true,
        ),
        (
            "cvt.rs.satfinite.e4m3x4.f32 %rd1, {%f1, %f1, %f1, %f1}, %r2;",
            false,
        ),
        ("cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f1}, %r2;", false),
        (
            "cvt.rs.satfinite.e4m3x4.f32 %r1, %f1, %f1, %f1, %f1, %r2;",
            false,
        ),
        (
            "cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f1, %f1, %f1}, 7;",
            false,
        ),
        ("cvt.rs.f16x2.f32 %r1, %f1, %f2, 7;", false),
        ("cvt.rs.f16x2.f32 %r1, {%f1, %f2}, %r2;", false),
        ("cvt.rs.f16.f32 %h1, %f1, %r1;", false),
        ("cvt.rn.f16x2.f32 %r1, {%f1, %f2};", false),
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %r1, %h1;", false),
        (
            "cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %r1, %h1, 127;",
            false,
        ),
    ] {
        assert_eq!(is_taken(text), taken, "{text}");
    }
}
