//! Atomics and reductions on global and shared memory: what they leave behind
//! and what they give. Threads come one after the other on both sides, so that
//! sums of floats round alike.

use crate::ptx_oracle::cases::same;
use crate::ptx_oracle::operands::{kind, operand};
use crate::ptx_oracle::run::{THREADS, both};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Cells that the threads share.
const CELLS: usize = 16;
/// Words of a thread: result, cell, operands.
const SLOTS: usize = 4;

/// A kernel in which each thread changes a cell of the space once.
fn kernel(space: &str, text: &str, ty: &'static str) -> String {
    let kind = kind(ty);
    let (bytes, load) = (kind.bits / 8, kind.register);
    let letter = match load {
        "b16" => "rs",
        "b32" => "r",
        _ => "rd",
    };
    let cells = 8 * SLOTS * THREADS as usize;
    let (copy_in, copy_out, at) = match space {
        "shared" => (
            format!(
                "@%p ld.global.{load} %{letter}1, [%own]; @%p st.shared.{load} [%slot], %{letter}1; \
                 bar.sync 0;"
            ),
            format!(
                "bar.sync 0; @%p ld.shared.{load} %{letter}1, [%slot]; \
                 @%p st.global.{load} [%own], %{letter}1;"
            ),
            "mad.lo.u32 %x, %n, 8, %base32; mov.u32 %cell, %x;",
        ),
        _ => (
            String::new(),
            String::new(),
            "mad.wide.u32 %cell64, %n, 8, %first;",
        ),
    };
    let cell = if space == "shared" {
        "%cell"
    } else {
        "%cell64"
    };
    let body = text
        .replace("$d", &format!("%{letter}0"))
        .replace("$m", &format!("[{cell}]"))
        .replace("$b", &format!("%{letter}2"))
        .replace("$c", &format!("%{letter}3"));
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .b64 %at, %base, %first, %own, %cell64; .reg .b32 %t, %n, %x, %cell, %base32, %slot;\n\
         .reg .b16 %rs<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p;\n\
         .shared .align 8 .b8 cells[{}];\n\
         ld.param.u64 %base, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %at, %t, {}, %base;\n\
         add.u64 %first, %base, {cells}; mad.wide.u32 %own, %t, 8, %first;\n\
         mov.u32 %base32, cells; mad.lo.u32 %slot, %t, 8, %base32; setp.lt.u32 %p, %t, {CELLS};\n\
         {copy_in}\nld.global.u32 %n, [%at+8]; ld.global.{load} %{letter}2, [%at+16];\n\
         ld.global.{load} %{letter}3, [%at+24]; {at}\n\
         mov.{load} %{letter}0, 0; // {bytes} bytes\n{body}\n\
         st.global.{load} [%at], %{letter}0;\n{copy_out}\nret;\n}}\n",
        8 * CELLS,
        8 * SLOTS,
    )
}

/// Tries an operation on both spaces; `text` has `$s` for the space.
fn check(text: &str, ty: &'static str, rng: &mut ChaCha12Rng) {
    for (space, round) in [("global", 0), ("shared", 1), ("global", 2), ("shared", 3)] {
        let ptx = kernel(space, &text.replace("$s", space), ty);
        let mut words = vec![0; SLOTS * THREADS as usize + CELLS];
        for thread in words.chunks_exact_mut(SLOTS).take(THREADS as usize) {
            thread[1] = u64::from(rng.next_u32() % CELLS as u32);
            thread[2] = operand(kind(ty), rng);
            thread[3] = operand(kind(ty), rng);
            // So that a comparison holds now and then.
            if text.contains(".cas") || text.contains("c.u32") {
                thread[2] %= 4;
                thread[3] %= 4;
            }
        }
        let small = text.contains(".cas") || text.contains("c.u32");
        for cell in &mut words[SLOTS * THREADS as usize..] {
            *cell = operand(kind(ty), rng) % if small { 4 } else { u64::MAX };
        }
        let (ours, expected) = both(&ptx, &words, round < 2);
        let at = (0..ours.len()).find(|&i| !same(ours[i], expected[i], ty));
        if let Some(at) = at {
            let (a, b) = (ours[at], expected[at]);
            panic!("{text} in {space}, word {at}: {a:#x} instead of {b:#x}\n{ptx}");
        }
    }
}

#[test]
fn atomics_and_reductions() {
    let mut rng = ChaCha12Rng::seed_from_u64(11);
    let mut all: Vec<(String, &'static str)> = Vec::new();
    for ty in ["u32", "s32", "u64", "f32", "f64"] {
        all.push((format!("add.{ty}"), ty));
    }
    for ty in ["f16", "f16x2", "bf16", "bf16x2"] {
        all.push((format!("add.noftz.{ty}"), ty));
    }
    for ty in ["u32", "s32", "u64", "s64"] {
        all.push((format!("min.{ty}"), ty));
        all.push((format!("max.{ty}"), ty));
    }
    for ty in ["b32", "b64"] {
        all.extend(["and", "or", "xor"].map(|op| (format!("{op}.{ty}"), ty)));
    }
    all.extend(["inc.u32", "dec.u32"].map(|op| (op.to_owned(), "u32")));
    for (op, ty) in all {
        for _ in 0..4 {
            check(&format!("atom.$s.{op} $d, $m, $b;"), ty, &mut rng);
            check(&format!("red.$s.{op} $m, $b;"), ty, &mut rng);
        }
    }
    for ty in ["b32", "b64"] {
        for _ in 0..4 {
            check(&format!("atom.$s.exch.{ty} $d, $m, $b;"), ty, &mut rng);
        }
    }
    for ty in ["b16", "b32", "b64"] {
        for _ in 0..4 {
            check(&format!("atom.$s.cas.{ty} $d, $m, $b, $c;"), ty, &mut rng);
        }
    }
}
