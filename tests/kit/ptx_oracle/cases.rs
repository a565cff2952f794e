//! Instructions, each as a kernel that applies it to every thread's operands.

use crate::ptx_oracle::operands::{Kind, kind, operand};
use crate::ptx_oracle::run::{THREADS, both};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use std::fmt::Write;

/// An instruction to try: its text, the kind of its result (`pred` for a
/// predicate) and of its operands.
pub struct Case {
    pub text: String,
    pub result: &'static str,
    pub operands: Vec<&'static str>,
}

pub fn case(text: impl Into<String>, result: &'static str, operands: &[&'static str]) -> Case {
    Case {
        text: text.into(),
        result,
        operands: operands.to_vec(),
    }
}

/// Words of a thread: its result and up to five operands.
pub const SLOTS: usize = 6;

/// A kernel that applies an instruction to every thread's operands.
pub fn kernel(case: &Case) -> String {
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
        .replace("$e", names.get(3).map_or("", |n| n))
        .replace("$f", names.get(4).map_or("", |n| n));
    writeln!(text, "{body}\n{store}\nret;\n}}").unwrap();
    text
}

pub fn is_nan(bits: u64, ty: &str) -> bool {
    match ty {
        "f16" => bits & 0x7fff > 0x7c00,
        "bf16" => bits & 0x7fff > 0x7f80,
        "f32" => bits & 0x7fff_ffff > 0x7f80_0000,
        "f64" => bits & (u64::MAX >> 1) > 0x7ff0_0000_0000_0000,
        _ => false,
    }
}

/// The same bits, or both no numbers.
pub fn same(a: u64, b: u64, ty: &str) -> bool {
    match ty {
        "f16x2" => same(a & 0xffff, b & 0xffff, "f16") && same(a >> 16, b >> 16, "f16"),
        "bf16x2" => same(a & 0xffff, b & 0xffff, "bf16") && same(a >> 16, b >> 16, "bf16"),
        _ => a == b || (is_nan(a, ty) && is_nan(b, ty)),
    }
}

/// Tries all cases, with and without vector instructions, on 512 operands each.
pub fn check(cases: &[Case]) {
    let mut rng = ChaCha12Rng::seed_from_u64(cases.len() as u64);
    let mut differences = Vec::new();
    for case in cases {
        let text = kernel(case);
        for vector in [true, false, true, false] {
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
