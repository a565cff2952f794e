//! The warp executor against the plain interpreter: single instructions on
//! edge and random operands, and random control flow.

mod reference;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use spadkit::ptx::Module;
use spadkit::ptx::exec::{self, Memory, Options, Program};
use std::fmt::Write;

/// Threads of a run: four warps.
const THREADS: u32 = 128;

/// What both make of a kernel with one pointer to a buffer of `words`: the
/// buffer afterwards, by the executor and by the interpreter.
fn both(text: &str, words: &[u64], vector: bool) -> (Vec<u64>, Vec<u64>) {
    let module = Module::parse(text, "oracle.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let numbers = |bytes: &[u8]| -> Vec<u64> {
        let chunks = bytes.chunks_exact(8);
        chunks
            .map(|c| u64::from_le_bytes(c.try_into().unwrap()))
            .collect()
    };
    let mut memory = Memory::new();
    let buffer = memory.alloc("data", bytes.clone());
    let launch = exec::Launch {
        entry: "k".to_owned(),
        grid: [1; 3],
        block: [THREADS, 1, 1],
        dynamic_shared: 0,
        params: memory.address(buffer).to_le_bytes().to_vec(),
    };
    let options = Options {
        threads: 1,
        limit: 100_000_000,
        vector,
        ..Options::default()
    };
    let program = Program::new(&module).unwrap();
    let outcome = program.run(&mut memory, &launch, &options);
    let outcome = outcome.unwrap_or_else(|e| panic!("{:?}\n{text}", miette::Report::new(e)));
    assert!(
        outcome.findings.is_empty(),
        "{:?}\n{text}",
        outcome.findings
    );

    let mut global = reference::GlobalMemory::default();
    let address = global.add(bytes);
    let launch = reference::Launch {
        entry: "k",
        grid: [1; 3],
        block: [THREADS, 1, 1],
        dynamic_shared: 0,
        params: &address.to_le_bytes(),
        limit: 100_000_000,
    };
    let count = reference::run(&module, &launch, &mut global);
    let count = count.unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    assert_eq!(
        outcome.thread_instructions, count,
        "thread instructions\n{text}"
    );
    (
        numbers(memory.bytes(buffer)),
        numbers(&global.buffers[0].bytes),
    )
}

/// A kind of operand: its type in PTX, and what its register is.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    ty: &'static str,
    /// `b16`, `b32`, `b64`.
    register: &'static str,
    bits: u32,
}

fn kind(ty: &'static str) -> Kind {
    let bits = match ty {
        "u8" | "s8" => 8,
        "u16" | "s16" | "f16" | "bf16" | "b16" => 16,
        "u64" | "s64" | "f64" | "b64" => 64,
        _ => 32,
    };
    let register = match bits {
        8 | 16 => "b16",
        32 => "b32",
        _ => "b64",
    };
    Kind { ty, register, bits }
}

/// Edge values and random ones, as bits of a type.
fn operand(kind: Kind, rng: &mut ChaCha12Rng) -> u64 {
    let random = rng.next_u64();
    let pick = (rng.next_u32() % 4, rng.next_u32());
    let edges: &[u64] = match kind.ty {
        "f16" | "f16x2" => &[
            0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
            0x7e00, 0x7fff, 0x3555, 0x4248,
        ],
        "bf16" | "bf16x2" => &[
            0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
            0x7fc0, 0x7fff, 0x3eab, 0x4049,
        ],
        "f32" => &[
            0,
            0x8000_0000,
            1,
            0x8000_0001,
            0x7f_ffff,
            0x80_0000,
            0x3f80_0000,
            0xbf80_0000,
            0x7f7f_ffff,
            0xff7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x7fff_ffff,
            0x4f00_0000,
            0xcf00_0000,
            0x4f80_0000,
            0x3f00_0000,
            0x4b80_0000,
            0x3fff_ffff,
            0x3400_0000,
            0x0080_0001,
            0x4000_0000,
            0x5f00_0000,
        ],
        "f64" => &[
            0,
            1 << 63,
            1,
            (1 << 63) | 1,
            0xf_ffff_ffff_ffff,
            0x10_0000_0000_0000,
            0x3ff0_0000_0000_0000,
            0xbff0_0000_0000_0000,
            0x7fef_ffff_ffff_ffff,
            0xffef_ffff_ffff_ffff,
            0x7ff0_0000_0000_0000,
            0xfff0_0000_0000_0000,
            0x7ff8_0000_0000_0000,
            0x41e0_0000_0000_0000,
            0xc1e0_0000_0000_0000,
            0x43e0_0000_0000_0000,
            0x3fe0_0000_0000_0000,
            0x47ef_ffff_ffff_ffff,
            0x36a0_0000_0000_0000,
            0x3810_0000_0000_0000,
        ],
        _ => &[
            0,
            1,
            2,
            3,
            7,
            8,
            15,
            16,
            31,
            32,
            33,
            63,
            64,
            65,
            127,
            128,
            255,
            256,
            0x7fff,
            0x8000,
            0xffff,
            0x10000,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            0x1_0000_0000,
            0x7fff_ffff_ffff_ffff,
            0x8000_0000_0000_0000,
            u64::MAX,
            u64::MAX - 1,
            0x00ff_ffff,
            0x0080_0000,
        ],
    };
    let edge = |n: u32| edges[n as usize % edges.len()];
    let value = match (pick.0, kind.ty) {
        (0 | 1, "f16x2" | "bf16x2") => edge(pick.1) | edge(pick.1 >> 8) << 16,
        (0 | 1, _) => edge(pick.1),
        // Floats of like magnitude, so that sums cancel and round.
        (2, "f32") => (0x3f00_0000 + (random & 0x1ff_ffff)) | ((random >> 32 & 1) << 31),
        (2, "f64") => (0x3fe0_0000_0000_0000 + (random >> 10)) | ((random & 1) << 63),
        (2, "f16") => 0x3800 + (random & 0xfff),
        (2, _) if !kind.ty.contains('f') => random & 0xff,
        _ => random,
    };
    reference::truncate(value, kind.bits)
}

/// An instruction to try: its text, the kind of its result (`pred` for a
/// predicate) and of its operands.
struct Case {
    text: String,
    result: &'static str,
    operands: Vec<&'static str>,
}

fn case(text: impl Into<String>, result: &'static str, operands: &[&'static str]) -> Case {
    Case {
        text: text.into(),
        result,
        operands: operands.to_vec(),
    }
}

/// Words of a thread: its result and up to four operands.
const SLOTS: usize = 5;

/// A kernel that applies an instruction to every thread's operands.
fn kernel(case: &Case) -> String {
    let mut text = String::from(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
         .reg .b64 %at, %base; .reg .b32 %t; .reg .pred %q<5>;\n",
    );
    let registers = |kind: Kind| match kind.register {
        "b16" => "rs",
        "b32" => "r",
        _ => "rd",
    };
    text += ".reg .b16 %rs<6>; .reg .b32 %r<6>; .reg .b64 %rd<6>;\n";
    text += "ld.param.u64 %base, [p]; mov.u32 %t, %tid.x;\n";
    writeln!(text, "mad.wide.u32 %at, %t, {}, %base;", 8 * SLOTS).unwrap();
    let mut names = Vec::new();
    for (i, &ty) in case.operands.iter().enumerate() {
        if ty == "pred" {
            writeln!(text, "ld.global.u32 %r0, [%at+{}];", 8 * (i + 1)).unwrap();
            writeln!(
                text,
                "and.b32 %r0, %r0, 1; setp.ne.u32 %q{}, %r0, 0;",
                i + 1
            )
            .unwrap();
            names.push(format!("%q{}", i + 1));
            continue;
        }
        let kind = kind(ty);
        let name = format!("%{}{}", registers(kind), i + 1);
        writeln!(
            text,
            "ld.global.{} {name}, [%at+{}];",
            kind.register,
            8 * (i + 1)
        )
        .unwrap();
        names.push(name);
    }
    let (result, store) = match case.result {
        "pred" => (
            "%q0".to_owned(),
            "selp.u32 %r0, 1, 0, %q0; st.global.u32 [%at], %r0;".into(),
        ),
        ty => {
            let kind = kind(ty);
            let name = format!("%{}0", registers(kind));
            let store = format!("st.global.{} [%at], {name};", kind.register);
            (name, store)
        }
    };
    let body = case
        .text
        .replace("$d", &result)
        .replace("$a", names.first().map_or("", |n| n))
        .replace("$b", names.get(1).map_or("", |n| n))
        .replace("$c", names.get(2).map_or("", |n| n))
        .replace("$e", names.get(3).map_or("", |n| n));
    writeln!(text, "{body}\n{store}\nret;\n}}").unwrap();
    text
}

fn is_nan(bits: u64, ty: &str) -> bool {
    match ty {
        "f16" => bits & 0x7fff > 0x7c00,
        "bf16" => bits & 0x7fff > 0x7f80,
        "f32" => bits & 0x7fff_ffff > 0x7f80_0000,
        "f64" => bits & (u64::MAX >> 1) > 0x7ff0_0000_0000_0000,
        _ => false,
    }
}

/// The same bits, or both no numbers.
fn same(a: u64, b: u64, ty: &str) -> bool {
    match ty {
        "f16x2" => same(a & 0xffff, b & 0xffff, "f16") && same(a >> 16, b >> 16, "f16"),
        "bf16x2" => same(a & 0xffff, b & 0xffff, "bf16") && same(a >> 16, b >> 16, "bf16"),
        _ => a == b || (is_nan(a, ty) && is_nan(b, ty)),
    }
}

/// Tries all cases, with and without vector instructions.
fn check(cases: &[Case]) {
    let mut rng = ChaCha12Rng::seed_from_u64(cases.len() as u64);
    let mut differences = Vec::new();
    for case in cases {
        let text = kernel(case);
        let mut words = vec![0u64; THREADS as usize * SLOTS];
        for thread in words.chunks_mut(SLOTS) {
            for (i, &ty) in case.operands.iter().enumerate() {
                let mut value = operand(kind(if ty == "pred" { "u32" } else { ty }), &mut rng);
                // What a division by zero gives is nobody's promise.
                let divides = case.text.starts_with("div") || case.text.starts_with("rem");
                if divides && i == 1 && !ty.contains('f') && value == 0 {
                    value = 3;
                }
                thread[i + 1] = value;
            }
        }
        for vector in [true, false] {
            let (ours, expected) = both(&text, &words, vector);
            let at = (0..THREADS as usize)
                .find(|t| !same(ours[t * SLOTS], expected[t * SLOTS], case.result));
            if let Some(thread) = at {
                let row = &words[thread * SLOTS..][..SLOTS];
                differences.push(format!(
                    "{} of {:x?} (vector {vector}): {:#x} instead of {:#x}",
                    case.text,
                    &row[1..=case.operands.len()],
                    ours[thread * SLOTS],
                    expected[thread * SLOTS]
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

const INTEGERS: [&str; 6] = ["u16", "s16", "u32", "s32", "u64", "s64"];

fn bits_of(ty: &'static str) -> &'static str {
    kind(ty).register
}

#[test]
fn integer_arithmetic() {
    let mut cases = Vec::new();
    for ty in INTEGERS {
        for op in ["add", "sub", "min", "max", "mul.lo", "mul.hi", "div", "rem"] {
            cases.push(case(format!("{op}.{ty} $d, $a, $b;"), ty, &[ty, ty]));
        }
        cases.push(case(
            format!("mad.lo.{ty} $d, $a, $b, $c;"),
            ty,
            &[ty, ty, ty],
        ));
        cases.push(case(
            format!("mad.hi.{ty} $d, $a, $b, $c;"),
            ty,
            &[ty, ty, ty],
        ));
        cases.push(case(format!("sad.{ty} $d, $a, $b, $c;"), ty, &[ty, ty, ty]));
        if ty.starts_with('s') {
            cases.push(case(format!("abs.{ty} $d, $a;"), ty, &[ty]));
            cases.push(case(format!("neg.{ty} $d, $a;"), ty, &[ty]));
        }
    }
    for (ty, wide) in [
        ("u16", "u32"),
        ("s16", "s32"),
        ("u32", "u64"),
        ("s32", "s64"),
    ] {
        cases.push(case(format!("mul.wide.{ty} $d, $a, $b;"), wide, &[ty, ty]));
        cases.push(case(
            format!("mad.wide.{ty} $d, $a, $b, $c;"),
            wide,
            &[ty, ty, wide],
        ));
    }
    for ty in ["u32", "s32"] {
        for part in ["lo", "hi"] {
            cases.push(case(
                format!("mul24.{part}.{ty} $d, $a, $b;"),
                ty,
                &[ty, ty],
            ));
            cases.push(case(
                format!("mad24.{part}.{ty} $d, $a, $b, $c;"),
                ty,
                &[ty, ty, ty],
            ));
        }
    }
    for op in ["add.sat", "sub.sat"] {
        cases.push(case(
            format!("{op}.s32 $d, $a, $b;"),
            "s32",
            &["s32", "s32"],
        ));
    }
    for (a, b) in [
        ("u32", "u32"),
        ("s32", "s32"),
        ("u32", "s32"),
        ("s32", "u32"),
    ] {
        let types = ["b32", "b32", "b32"];
        cases.push(case(format!("dp4a.{a}.{b} $d, $a, $b, $c;"), "b32", &types));
        cases.push(case(
            format!("dp2a.lo.{a}.{b} $d, $a, $b, $c;"),
            "b32",
            &types,
        ));
        cases.push(case(
            format!("dp2a.hi.{a}.{b} $d, $a, $b, $c;"),
            "b32",
            &types,
        ));
    }
    for (first, second) in [
        ("add.cc", "addc"),
        ("sub.cc", "subc"),
        ("mad.lo.cc", "madc.hi"),
    ] {
        let three = first.starts_with("mad");
        let rest = if three { ", $c" } else { "" };
        let text = format!(
            "{first}.u32 %t, $a, $b{rest}; {second}.u32 $d, $b, $c{};",
            if three { ", $a" } else { "" }
        );
        cases.push(case(text, "u32", &["u32", "u32", "u32"]));
    }
    check(&cases);
}

#[test]
fn logic_shifts_and_bits() {
    let mut cases = Vec::new();
    for ty in ["b16", "b32", "b64"] {
        for op in ["and", "or", "xor"] {
            cases.push(case(format!("{op}.{ty} $d, $a, $b;"), ty, &[ty, ty]));
        }
        cases.push(case(format!("not.{ty} $d, $a;"), ty, &[ty]));
        cases.push(case(format!("cnot.{ty} $d, $a;"), ty, &[ty]));
        cases.push(case(format!("shl.{ty} $d, $a, $b;"), ty, &[ty, "u32"]));
    }
    for ty in INTEGERS {
        cases.push(case(format!("shr.{ty} $d, $a, $b;"), ty, &[ty, "u32"]));
    }
    for ty in ["u32", "s32", "u64", "s64"] {
        cases.push(case(
            format!("bfe.{ty} $d, $a, $b, $c;"),
            ty,
            &[ty, "u32", "u32"],
        ));
        cases.push(case(format!("bfind.{ty} $d, $a;"), "u32", &[ty]));
        cases.push(case(format!("bfind.shiftamt.{ty} $d, $a;"), "u32", &[ty]));
    }
    for ty in ["b32", "b64"] {
        cases.push(case(format!("popc.{ty} $d, $a;"), "u32", &[ty]));
        cases.push(case(format!("clz.{ty} $d, $a;"), "u32", &[ty]));
        cases.push(case(format!("brev.{ty} $d, $a;"), ty, &[ty]));
        cases.push(case(
            format!("bfi.{ty} $d, $a, $b, $c, $e;"),
            ty,
            &[ty, ty, "u32", "u32"],
        ));
    }
    for table in [0x00, 0x1e, 0x78, 0x80, 0x96, 0xca, 0xe4, 0xe8, 0xfe, 0xff] {
        let three = ["b32", "b32", "b32"];
        cases.push(case(
            format!("lop3.b32 $d, $a, $b, $c, {table:#x};"),
            "b32",
            &three,
        ));
    }
    for (way, mode) in [("l", "clamp"), ("l", "wrap"), ("r", "clamp"), ("r", "wrap")] {
        let text = format!("shf.{way}.{mode}.b32 $d, $a, $b, $c;");
        cases.push(case(text, "b32", &["b32", "b32", "u32"]));
    }
    for mode in ["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"] {
        let text = format!("prmt.b32{mode} $d, $a, $b, $c;");
        cases.push(case(text, "b32", &["b32", "b32", "u32"]));
    }
    check(&cases);
}

const FLOATS: [&str; 4] = ["f16", "bf16", "f32", "f64"];

#[test]
fn floating_point() {
    let mut cases = Vec::new();
    for ty in ["f32", "f64"] {
        for mode in ["rn", "rz", "rm", "rp"] {
            for op in ["add", "sub", "mul"] {
                cases.push(case(format!("{op}.{mode}.{ty} $d, $a, $b;"), ty, &[ty, ty]));
            }
            cases.push(case(
                format!("fma.{mode}.{ty} $d, $a, $b, $c;"),
                ty,
                &[ty, ty, ty],
            ));
            cases.push(case(format!("div.{mode}.{ty} $d, $a, $b;"), ty, &[ty, ty]));
            cases.push(case(format!("rcp.{mode}.{ty} $d, $a;"), ty, &[ty]));
        }
        cases.push(case(format!("copysign.{ty} $d, $a, $b;"), ty, &[ty, ty]));
    }
    for ty in FLOATS.into_iter().chain(["f16x2", "bf16x2"]) {
        let three = [ty, ty, ty];
        cases.push(case(format!("fma.rn.{ty} $d, $a, $b, $c;"), ty, &three));
        for op in ["min", "max"] {
            cases.push(case(format!("{op}.{ty} $d, $a, $b;"), ty, &[ty, ty]));
            if ty != "f64" {
                cases.push(case(format!("{op}.NaN.{ty} $d, $a, $b;"), ty, &[ty, ty]));
            }
        }
        for op in ["add", "sub", "mul"] {
            cases.push(case(format!("{op}.rn.{ty} $d, $a, $b;"), ty, &[ty, ty]));
        }
        for op in ["abs", "neg"] {
            cases.push(case(format!("{op}.{ty} $d, $a;"), ty, &[ty]));
        }
    }
    for op in ["add", "sub", "mul"] {
        for mode in ["ftz", "sat", "ftz.sat"] {
            cases.push(case(
                format!("{op}.rn.{mode}.f32 $d, $a, $b;"),
                "f32",
                &["f32"; 2],
            ));
        }
        cases.push(case(
            format!("{op}.rn.sat.f16 $d, $a, $b;"),
            "f16",
            &["f16"; 2],
        ));
    }
    cases.push(case(
        "fma.rn.ftz.sat.f32 $d, $a, $b, $c;",
        "f32",
        &["f32"; 3],
    ));
    cases.push(case("fma.rn.relu.f16 $d, $a, $b, $c;", "f16", &["f16"; 3]));
    check(&cases);
}

#[test]
fn comparison_and_selection() {
    let mut cases = Vec::new();
    let ordered = ["eq", "ne", "lt", "le", "gt", "ge"];
    for ty in INTEGERS.into_iter().chain(FLOATS) {
        let unordered = ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];
        let more: &[&str] = if FLOATS.contains(&ty) {
            &unordered
        } else {
            &[]
        };
        for word in ordered.iter().chain(more) {
            cases.push(case(
                format!("setp.{word}.{ty} $d, $a, $b;"),
                "pred",
                &[ty, ty],
            ));
        }
        let with = [ty, ty, "pred"];
        cases.push(case(
            format!("setp.lt.and.{ty} $d, $a, $b, $c;"),
            "pred",
            &with,
        ));
        cases.push(case(
            format!("setp.lt.or.{ty} $d|%q4, $a, $b, !$c;"),
            "pred",
            &with,
        ));
        cases.push(case(
            format!("setp.ge.xor.{ty} %q4|$d, $a, $b, $c;"),
            "pred",
            &with,
        ));
        cases.push(case(
            format!("selp.{} $d, $a, $b, $c;", bits_of(ty)),
            ty,
            &with,
        ));
    }
    for word in ["lo", "ls", "hi", "hs"] {
        cases.push(case(
            format!("setp.{word}.u32 $d, $a, $b;"),
            "pred",
            &["u32", "u32"],
        ));
    }
    for ty in ["u32", "s32", "f32"] {
        cases.push(case(
            format!("set.lt.u32.{ty} $d, $a, $b;"),
            "u32",
            &[ty, ty],
        ));
        cases.push(case(
            format!("set.ge.f32.{ty} $d, $a, $b;"),
            "f32",
            &[ty, ty],
        ));
    }
    for class in [
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
    ] {
        for ty in ["f32", "f64"] {
            cases.push(case(format!("testp.{class}.{ty} $d, $a;"), "pred", &[ty]));
        }
    }
    for ty in ["b32", "b64"] {
        cases.push(case(
            format!("slct.{ty}.s32 $d, $a, $b, $c;"),
            ty,
            &[ty, ty, "s32"],
        ));
        cases.push(case(
            format!("slct.{ty}.f32 $d, $a, $b, $c;"),
            ty,
            &[ty, ty, "f32"],
        ));
    }
    check(&cases);
}

#[test]
fn conversions() {
    let mut cases = Vec::new();
    let narrow = ["u8", "s8"];
    let integers = || narrow.into_iter().chain(INTEGERS);
    for to in INTEGERS {
        for from in integers() {
            cases.push(case(format!("cvt.{to}.{from} $d, $a;"), to, &[from]));
            cases.push(case(format!("cvt.sat.{to}.{from} $d, $a;"), to, &[from]));
        }
        for from in ["f16", "f32", "f64"] {
            for mode in ["rni", "rzi", "rmi", "rpi"] {
                cases.push(case(format!("cvt.{mode}.{to}.{from} $d, $a;"), to, &[from]));
            }
        }
    }
    for to in ["f16", "f32", "f64"] {
        for from in integers() {
            for mode in ["rn", "rz", "rm", "rp"] {
                cases.push(case(format!("cvt.{mode}.{to}.{from} $d, $a;"), to, &[from]));
            }
        }
    }
    for (to, from) in [
        ("f16", "f32"),
        ("f16", "f64"),
        ("f32", "f64"),
        ("bf16", "f32"),
    ] {
        for mode in ["rn", "rz", "rm", "rp"] {
            if to == "bf16" && matches!(mode, "rm" | "rp") {
                continue;
            }
            cases.push(case(format!("cvt.{mode}.{to}.{from} $d, $a;"), to, &[from]));
        }
    }
    for (to, from) in [
        ("f32", "f16"),
        ("f64", "f16"),
        ("f64", "f32"),
        ("f32", "bf16"),
    ] {
        cases.push(case(format!("cvt.{to}.{from} $d, $a;"), to, &[from]));
    }
    for ty in ["f16", "f32", "f64"] {
        for mode in ["rni", "rzi", "rmi", "rpi"] {
            cases.push(case(format!("cvt.{mode}.{ty}.{ty} $d, $a;"), ty, &[ty]));
        }
    }
    cases.push(case("cvt.rn.sat.f32.f64 $d, $a;", "f32", &["f64"]));
    cases.push(case("cvt.rn.ftz.f32.f64 $d, $a;", "f32", &["f64"]));
    cases.push(case(
        "cvt.rn.f16x2.f32 $d, $a, $b;",
        "f16x2",
        &["f32", "f32"],
    ));
    cases.push(case(
        "cvt.rn.bf16x2.f32 $d, $a, $b;",
        "bf16x2",
        &["f32", "f32"],
    ));
    cases.push(case(
        "cvt.rn.relu.f16x2.f32 $d, $a, $b;",
        "f16x2",
        &["f32", "f32"],
    ));
    check(&cases);
}

/// Random functions of blocks that jump anywhere: each block mixes its number
/// into the thread's sum and picks the next by the sum, a fuel counter ends
/// it. Irreducible loops, early exits, guarded exits and tables included.
fn random_flow(seed: u64) -> String {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut below = |n: u32| rng.next_u32() % n;
    let blocks = 2 + below(14);
    let mut text = String::from(
        ".version 8.5\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
         .reg .b64 %at, %base; .reg .b32 %t, %x, %y, %fuel; .reg .pred %p, %q;\n\
         ld.param.u64 %base, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %at, %t, 8, %base;\n\
         mad.lo.u32 %x, %t, 2654435761, 12345;\n",
    );
    writeln!(text, "mov.u32 %fuel, {};", 5 + below(60)).unwrap();
    let tables = below(2) == 1;
    for block in 0..blocks {
        writeln!(text, "B{block}:").unwrap();
        writeln!(
            text,
            "sub.u32 %fuel, %fuel, 1; setp.eq.u32 %p, %fuel, 0; @%p bra END;"
        )
        .unwrap();
        writeln!(text, "mad.lo.u32 %x, %x, 1664525, {};", 1013904223 + block).unwrap();
        writeln!(text, "shr.u32 %y, %x, {};", 8 + below(16)).unwrap();
        let target = below(blocks);
        match below(8) {
            0 if tables => {
                let list: Vec<String> = (0..4).map(|_| format!("B{}", below(blocks))).collect();
                writeln!(text, "T{block}: .branchtargets {};", list.join(", ")).unwrap();
                writeln!(text, "and.b32 %y, %y, 3; brx.idx %y, T{block};").unwrap();
            }
            0 | 1 => writeln!(text, "bra B{target};").unwrap(),
            2 => {
                writeln!(
                    text,
                    "and.b32 %y, %y, {}; setp.eq.u32 %q, %y, 0;",
                    1 + below(15)
                )
                .unwrap();
                writeln!(text, "@%q st.global.u32 [%at], %x; @%q exit;").unwrap();
            }
            3 => {
                writeln!(text, "and.b32 %y, %y, 1; setp.eq.u32 %q, %y, 1;").unwrap();
                writeln!(text, "@!%q add.u32 %x, %x, {block};").unwrap();
            }
            _ => {
                let mask = [1, 2, 3, 4, 7][below(5) as usize];
                writeln!(text, "and.b32 %y, %y, {mask}; setp.ne.u32 %q, %y, 0;").unwrap();
                writeln!(
                    text,
                    "@{}%q bra B{target};",
                    if below(2) == 0 { "!" } else { "" }
                )
                .unwrap();
            }
        }
    }
    text += "END:\nst.global.u32 [%at], %x; st.global.u32 [%at+4], %fuel; ret;\n}\n";
    text
}

#[test]
fn random_control_flow_gives_what_one_thread_at_a_time_gives() {
    for seed in 0..1500 {
        let text = random_flow(seed);
        let words = vec![0u64; THREADS as usize];
        let (ours, expected) = both(&text, &words, seed % 2 == 0);
        assert_eq!(ours, expected, "seed {seed}\n{text}");
    }
}
