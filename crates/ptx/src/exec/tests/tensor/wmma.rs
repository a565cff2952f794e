//! `wmma` against a direct product: loads by rows and columns with strides,
//! from global and from shared memory.

use super::reference::value;
use super::*;

/// Shape, factors, sums, and registers of a, b, c, d.
const FORMS: &[(&str, &str, &str, [u32; 3])] = &[
    ("m16n16k16", "f16", "f32", [8, 8, 8]),
    ("m16n16k16", "f16", "f16", [8, 8, 4]),
    ("m8n32k16", "f16", "f32", [8, 8, 8]),
    ("m32n8k16", "f16", "f16", [8, 8, 4]),
    ("m16n16k16", "bf16", "f32", [4, 4, 8]),
    ("m8n32k16", "bf16", "f32", [2, 8, 8]),
    ("m32n8k16", "bf16", "f32", [8, 2, 8]),
    ("m16n16k16", "s8", "s32", [2, 2, 8]),
    ("m8n32k16", "u8", "s32", [1, 4, 8]),
    ("m32n8k16", "s8", "s32", [4, 1, 8]),
    ("m16n16k8", "tf32", "f32", [4, 4, 8]),
    ("m8n8k4", "f64", "f64", [1, 1, 2]),
    ("m8n8k32", "s4", "s32", [1, 1, 2]),
    ("m8n8k32", "u4", "s32", [1, 1, 2]),
    ("m8n8k128", "b1", "s32", [1, 1, 2]),
];

/// Words of the buffer of each matrix.
const ROOM: usize = 2048;

/// A matrix in memory.
#[derive(Clone, Copy)]
struct Stored {
    columns: bool,
    stride: u32,
}

fn read(words: &[u32], ty: &str, at: usize, stored: Stored, row: u32, column: u32) -> f64 {
    let (run, place) = if stored.columns {
        (column, row)
    } else {
        (row, column)
    };
    let bit = (run * stored.stride + place) as usize * bits(ty) as usize;
    let word = at * ROOM + bit / 32;
    let whole = u64::from(words[word]) | u64::from(words[word + 1]) << 32;
    value(ty, whole >> (bit % 32) & (u64::MAX >> (64 - bits(ty))))
}

/// Small whole numbers, so that every sum is exact.
fn filled(ty: &str, random: &mut Random) -> Vec<u32> {
    let word = |random: &mut Random| {
        let n = random.next();
        match ty {
            "f16" => {
                let one = |n: u32| [0x0000, 0x3c00, 0xbc00, 0x4000, 0xc200][n as usize % 5];
                one(n & 0xff) | one(n >> 8) << 16
            }
            "bf16" => {
                let one = |n: u32| [0x0000, 0x3f80, 0xbf80, 0x4000, 0xc040][n as usize % 5];
                one(n & 0xff) | one(n >> 8) << 16
            }
            "f32" | "tf32" => ((n % 9) as f32 - 4.0).to_bits(),
            "s32" => n % 1000,
            _ => n,
        }
    };
    if ty == "f64" {
        let doubles = (0..ROOM / 2).map(|_| (f64::from(random.next() % 9) - 4.0).to_bits());
        return doubles.flat_map(|d| [d as u32, (d >> 32) as u32]).collect();
    }
    (0..ROOM).map(|_| word(random)).collect()
}

fn list(letter: &str, first: u32, count: u32) -> String {
    let names = (first..first + count).map(|n| format!("%{letter}{n}"));
    format!("{{{}}}", names.collect::<Vec<_>>().join(", "))
}

fn check(form: &(&str, &str, &str, [u32; 3]), layouts: [bool; 4], shared: bool) {
    let &(shape, ty, sum, registers) = form;
    let size: Vec<u32> = shape
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|n| n.parse().ok())
        .collect();
    let [m, n, k] = size[..] else { unreachable!() };
    let sizes = [[m, k], [k, n], [m, n], [m, n]];
    let stored: Vec<Stored> = (0..4)
        .map(|at| {
            let columns = layouts[at];
            let long = sizes[at][usize::from(!columns)];
            // Rows of a multiple of 16 bytes; of `c` as long as the matrix.
            let more = if at == 2 {
                0
            } else {
                256 / bits(if at < 2 { ty } else { sum }).max(1)
            };
            Stored {
                columns,
                stride: long + more,
            }
        })
        .collect();
    let letter = |ty: &str| match ty {
        "f64" => "d",
        "f32" => "f",
        _ => "r",
    };
    let by = |columns: bool| if columns { "col" } else { "row" };
    let (la, ls) = (letter(ty).replace('f', "r"), letter(sum));
    let space = if shared { ".shared" } else { ".global" };
    let base = if shared { "s" } else { "%base" };
    let bytes = ROOM * 4;
    let copies = if shared {
        "mov.u32 %r60, %tid.x; L: mad.wide.u32 %x, %r60, 4, %base; ld.global.u32 %r61, [%x];
                 shl.b32 %r62, %r60, 2; mov.u32 %r63, s; add.u32 %r63, %r63, %r62;
                 st.shared.u32 [%r63], %r61; add.u32 %r60, %r60, 32; setp.lt.u32 %p, %r60, 8192;
                 @%p bra L; bar.sync 0;"
    } else {
        ""
    };
    let back = if shared {
        "bar.sync 0; mov.u32 %r60, %tid.x; M: mad.wide.u32 %x, %r60, 4, %base;
                 shl.b32 %r62, %r60, 2; mov.u32 %r63, s; add.u32 %r63, %r63, %r62;
                 ld.shared.u32 %r61, [%r63]; st.global.u32 [%x], %r61; add.u32 %r60, %r60, 32;
                 setp.lt.u32 %p, %r60, 8192; @%p bra M;"
    } else {
        ""
    };
    let load = |at: usize, side: &str, ty: &str, regs: String| {
        let stride = if at == 2 {
            String::new()
        } else {
            format!(", {}", stored[at].stride)
        };
        format!(
            "wmma.load.{side}.sync.aligned.{}.{shape}{space}.{ty} {regs}, [{base}+{}]{stride};\n",
            by(stored[at].columns),
            at * bytes
        )
    };
    let (a, b) = (list(&la, 0, registers[0]), list(&la, 8, registers[1]));
    let (c, d) = (list(ls, 16, registers[2]), list(ls, 24, registers[2]));
    let types = match ty {
        "f16" => format!("{sum}.{sum}"),
        _ => format!("{sum}.{ty}.{ty}.{sum}"),
    };
    let popc = if ty == "b1" { ".xor.popc" } else { "" };
    let text = format!(
        ".version 8.8\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) {{
         .reg .b64 %base, %x; .reg .b32 %r<80>; .reg .f32 %f<80>; .reg .f64 %d<80>; .reg .pred %p;
         .shared .align 128 .b8 s[32768];
         ld.param.u64 %base, [p]; {copies}
         {}{}{}
         wmma.mma{popc}.sync.aligned.{}.{}.{shape}.{types} {d}, {a}, {b}, {c};
         wmma.store.d.sync.aligned.{}.{shape}{space}.{sum} [{base}+{}], {d}, {}; {back}
         ret; }}",
        load(0, "a", ty, a.clone()),
        load(1, "b", ty, b.clone()),
        load(2, "c", sum, c.clone()),
        by(layouts[0]),
        by(layouts[1]),
        by(layouts[3]),
        3 * bytes,
        stored[3].stride
    );
    let mut random = Random(7);
    let words: Vec<u32> = [ty, ty, sum, sum]
        .iter()
        .flat_map(|ty| filled(ty, &mut random))
        .collect();
    let (after, outcome) = run_text(&text, &words);
    assert_eq!(outcome.findings, [], "{text}");
    for row in 0..m {
        for column in 0..n {
            let product = |at: u32| {
                let x = read(&words, ty, 0, stored[0], row, at);
                let y = read(&words, ty, 1, stored[1], at, column);
                if ty == "b1" {
                    f64::from(u8::from(x != y))
                } else {
                    x * y
                }
            };
            let expected =
                (0..k).map(product).sum::<f64>() + read(&words, sum, 2, stored[2], row, column);
            let found = read(&after, sum, 3, stored[3], row, column);
            assert_eq!(found, expected, "at {row},{column} of {text}");
        }
    }
}

#[test]
fn matrices_are_loaded_multiplied_and_stored() {
    for form in FORMS {
        let small = matches!(form.1, "s4" | "u4" | "b1");
        for n in 0..16 {
            let layouts = [n & 1 != 0, n & 2 != 0, n & 4 != 0, n & 8 != 0];
            if !small || layouts[..2] == [false, true] {
                check(form, layouts, n % 3 == 0);
            }
        }
    }
}

/// Rows that are not at multiples of 16 bytes.
#[test]
fn misaligned_rows_are_found() {
    let text = format!(
        ".version 8.8\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) {{
         .reg .b32 %r<9>; .shared .align 128 .b8 s[4096];
         wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {}, [s], 17; ret; }}",
        list("r", 0, 8)
    );
    let (_, outcome) = run_text(&text, &[0; 2]);
    assert_eq!(outcome.findings[0].kind, FindingKind::Misaligned);
}
