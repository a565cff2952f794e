//! Video instructions against a second definition, on arrays of bytes and
//! halves; packed single precision.

use crate::Module;
use crate::ast::Instruction;
use crate::names::Type;
use crate::scalar::fold;

/// The instruction, with registers of 32 or 64 bits.
fn instruction(text: &str) -> Instruction {
    let module = format!(
        ".version 8.6\n.target sm_100\n.address_size 64\n.entry k() {{\n.reg .b32 %d, %a, %b, %c;\n\
         .reg .b64 %x, %y, %z, %w;\n{text}\n}}"
    );
    let module = Module::parse(&module, "t.ptx").unwrap_or_else(|e| panic!("{e:?} {text}"));
    module.functions[0].instructions[0].clone()
}

fn value(i: &Instruction, operands: &[u64]) -> u64 {
    fold(i, |n, ty: Type| {
        Some(operands[n] & (u64::MAX >> (64 - ty.bits())))
    })
    .unwrap()
}

/// Words with edges of bytes and halves, and random ones.
fn words() -> Vec<u32> {
    let mut words = vec![
        0,
        0xffff_ffff,
        0x8080_8080,
        0x7f7f_7f7f,
        0x0001_ff80,
        0x8000_7fff,
        0x1234_5678,
        0x0101_0101,
    ];
    let mut state = 7u32;
    words.extend((0..40).map(|_| {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        state ^ state >> 15
    }));
    words
}

/// Part `n` of `size` bits of the words together, with a sign or without.
fn part(words: [u32; 2], n: usize, size: usize, signed: bool) -> i32 {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    match (size, signed) {
        (8, false) => bytes[n].into(),
        (8, true) => (bytes[n] as i8).into(),
        (_, false) => u16::from_le_bytes([bytes[2 * n], bytes[2 * n + 1]]).into(),
        (_, true) => i16::from_le_bytes([bytes[2 * n], bytes[2 * n + 1]]).into(),
    }
}

fn reference(name: &str, x: i32, y: i32) -> i32 {
    match name {
        "vadd" => x + y,
        "vsub" => x - y,
        "vabsdiff" => {
            if x > y {
                x - y
            } else {
                y - x
            }
        }
        "vmin" => {
            if x < y {
                x
            } else {
                y
            }
        }
        "vmax" => {
            if x < y {
                y
            } else {
                x
            }
        }
        "vset" => i32::from(x < y),
        // Halves away from zero.
        _ => ((f64::from(x + y)) / 2.0).abs().round() as i32 * (x + y).signum(),
    }
}

#[test]
fn lanes_of_words_are_those_of_arrays() {
    let mut checked = 0;
    for name in ["vadd", "vsub", "vabsdiff", "vavrg", "vmin", "vmax", "vset"] {
        for (lanes, size) in [(2, 16), (4, 8)] {
            for signs in 0..8 {
                let [to, of_a, of_b] = [1, 2, 4].map(|bit| signs & bit != 0);
                let ty = |signed: bool| if signed { "s32" } else { "u32" };
                for (sat, sum) in [(false, false), (true, false), (false, true)] {
                    if name == "vset" && (sat || to) {
                        continue;
                    }
                    let types = match name {
                        "vset" => format!("{}.{}.lt", ty(of_a), ty(of_b)),
                        _ => format!("{}.{}.{}", ty(to), ty(of_a), ty(of_b)),
                    };
                    let sat_text = if sat { ".sat" } else { "" };
                    let sum_text = if sum { ".add" } else { "" };
                    let text = format!("{name}{lanes}.{types}{sat_text}{sum_text} %d, %a, %b, %c;");
                    let i = instruction(&text);
                    let all = words();
                    for (n, &a) in all.iter().enumerate() {
                        let (b, c) = (all[(n * 7 + 3) % all.len()], all[(n * 5 + 1) % all.len()]);
                        let mut total = c;
                        let mut bytes = c.to_le_bytes();
                        for lane in 0..lanes {
                            let x = part([a, b], lane, size, of_a);
                            let y = part([a, b], lanes + lane, size, of_b);
                            let mut v = reference(name, x, y);
                            if sat {
                                let (least, most) = match (size, to) {
                                    (8, true) => (-128, 127),
                                    (8, false) => (0, 255),
                                    (_, true) => (-32768, 32767),
                                    (_, false) => (0, 65535),
                                };
                                v = v.max(least).min(most);
                            }
                            total = total.wrapping_add(v as u32);
                            let size = size / 8;
                            bytes[lane * size..][..size].copy_from_slice(&v.to_le_bytes()[..size]);
                        }
                        let wanted = if sum {
                            total
                        } else {
                            u32::from_le_bytes(bytes)
                        };
                        let found = value(&i, &[a, b, c].map(u64::from)) as u32;
                        assert_eq!(found, wanted, "{text} of {a:#x} {b:#x} {c:#x}");
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(checked > 14000, "{checked}");
}

#[test]
fn selectors_pick_from_both_words_and_say_what_is_written() {
    let (a, b, c) = (0x0403_0201, 0x0807_0605, 0xaabb_ccdd);
    for (text, wanted) in [
        (
            "vadd4.u32.u32.u32 %d.b20, %a.b0123, %b.b7654, %c;",
            0xaa09_cc09,
        ),
        ("vadd2.u32.u32.u32 %d.h1, %a.h23, %b.h11, %c;", 0x0a08_ccdd),
        ("vadd.u32.u32.u32 %d, %a.b3, %b.h0;", 0x0609),
        ("vadd.u32.u32.u32 %d.b1, %a.b1, %b.b2, %c;", 0xaabb_09dd),
        ("vsub.s32.u32.u32.sat %d.h1, %a, %b, %c;", 0x8000_ccdd),
        ("vsub.u32.u32.u32.sat.add %d, %a, %b, 9;", 9),
        ("vmin.s32.s32.s32.max %d, %a, -5, 3;", 3),
        ("vabsdiff.u32.u32.u32 %d, %a.b0, %b.b3;", 7),
        ("vset.u32.u32.lt.add %d, %a, %b, %c;", 0xaabb_ccde),
        ("vshl.u32.u32.u32.clamp %d, %a, 40;", 0),
        ("vshl.u32.u32.u32.wrap %d, %a, 40;", 0x0302_0100),
        ("vshr.s32.s32.u32.clamp.add %d, -256, 4, 1;", 0xffff_fff1),
        ("vmad.u32.u32.u32 %d, %a.b3, %b.b3, 10;", 42),
        (
            "vmad.s32.s32.s32.sat %d, 2147483647, 2147483647, 0;",
            0x7fff_ffff,
        ),
        ("vmad.s32.s32.s32.po.shr7 %d, -300, 3, 4;", 0xffff_fff9),
    ] {
        let i = instruction(text);
        let operand = |n: usize, _: Type| match &i.operands[n + 1] {
            crate::ast::Operand::Immediate(v) => crate::parse::immediate_bits(*v, Type::U32),
            _ => Some([a, b, c][n]),
        };
        assert_eq!(fold(&i, operand), Some(wanted), "{text}");
    }
}

#[test]
fn two_numbers_are_computed_as_one_each() {
    let numbers = [
        0.0f32,
        -0.0,
        1.5,
        -2.25,
        1e-40,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
        1e-20,
    ];
    let bits = |v: f32| u64::from(v.to_bits());
    for form in [
        "add",
        "sub",
        "mul",
        "fma.rn",
        "add.rz",
        "mul.rm",
        "fma.rp.ftz",
        "add.ftz",
    ] {
        let three = form.starts_with("fma");
        let (last_pair, last) = if three { (", %z", ", %c") } else { ("", "") };
        let pair = instruction(&format!("{form}.f32x2 %w, %x, %y{last_pair};"));
        let one = instruction(&format!("{form}.f32 %d, %a, %b{last};"));
        for (n, &a) in numbers.iter().enumerate() {
            for &b in &numbers {
                let c = numbers[(n + 4) % numbers.len()];
                let (low, high) = ([bits(a), bits(b), bits(c)], [bits(b), bits(c), bits(a)]);
                let both: Vec<u64> = low.iter().zip(high).map(|(l, h)| l | h << 32).collect();
                let wanted = value(&one, &low) | value(&one, &high) << 32;
                assert_eq!(value(&pair, &both), wanted, "{form} {a} {b} {c}");
            }
        }
    }
}
