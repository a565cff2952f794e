//! The vector kernels against the scalar definitions, on edges and random
//! operands; directed rounding against the enclosing values.

use super::{Launch, Memory, Options, Program, Run, run_with};
use crate::Module;

/// Operands of all kinds: edges of integers and numbers, random bits.
fn operands() -> Vec<u32> {
    let edges: [u64; 22] = [
        0,
        1,
        2,
        31,
        32,
        33,
        63,
        64,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
        0x0000_0001_8000_0001,
        0x3f80_0000,
        0x3ff0_0000_0000_0000,
        0x7ff0_0000_0000_0000,
        0xfff8_0000_0000_0001,
        0x8000_0000_0000_0000,
        u64::MAX,
        0x0012_3456_0012_3456,
    ];
    let mut state = 99u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        state ^ state >> 29
    };
    let count = 1024 * 3;
    let mut words = Vec::new();
    for _ in 0..count {
        let pick = random() as usize;
        let value = match pick % 3 {
            0 => edges[pick / 3 % edges.len()],
            1 => random(),
            // Numbers of similar size, so that sums do not vanish.
            _ => 0x3f80_0000 ^ (random() & 0x81ff_ffff) | (random() & 0x80ff_ffff) << 32,
        };
        words.extend([value as u32, (value >> 32) as u32]);
    }
    words
}

/// The instruction for 1024 threads: `%x`, `%y`, `%z` are its operands as
/// registers of 64 bits, `%a`... of 32, `%f`... and `%d`... the same bits.
fn kernel(instruction: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 p) {{
         .reg .b64 %base, %out, %x, %y, %z, %w; .reg .b32 %t, %a, %b, %c, %e; .reg .b16 %h, %g, %o;
         .reg .f32 %fa, %fb, %fc, %fe; .reg .f64 %da, %db, %dc, %de; .reg .pred %p, %q;
         ld.param.u64 %base, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %out, %t, 24, %base;
         ld.global.u64 %x, [%out]; ld.global.u64 %y, [%out+8]; ld.global.u64 %z, [%out+16];
         cvt.u32.u64 %a, %x; cvt.u32.u64 %b, %y; cvt.u32.u64 %c, %z; cvt.u16.u64 %h, %x; cvt.u16.u64 %g, %y;
         mov.b32 %fa, %a; mov.b32 %fb, %b; mov.b32 %fc, %c; mov.b64 %da, %x; mov.b64 %db, %y; mov.b64 %dc, %z;
         setp.lt.u32 %q, %t, 500; mov.u64 %w, 0; mov.u32 %e, 0; mov.f32 %fe, 0f00000000; mov.f64 %de, %dc; mov.u16 %o, 0;
         {instruction}
         mov.b32 %t, %fe; xor.b32 %e, %e, %t; mov.b64 %x, %de; xor.b64 %w, %w, %x; cvt.u64.u16 %y, %o;
         xor.b64 %w, %w, %y; cvt.u64.u32 %x, %e; st.global.u64 [%out], %x; st.global.u64 [%out+8], %w; ret;
         }}"
    )
}

fn run(instruction: &str, vector: bool) -> Run {
    run_with(
        &kernel(instruction),
        [1024, 1, 1],
        [1, 1, 1],
        &operands(),
        |o, _| o.vector = vector,
    )
}

const FORMS: &str = "add.u32 %e, %a, %b; add.s64 %w, %x, %y; sub.s32 %e, %a, %b; sub.u64 %w, %x, %y
mul.lo.s32 %e, %a, %b; mul.lo.u64 %w, %x, %y; mul.wide.u32 %w, %a, %b; mul.wide.s32 %w, %a, %b
mad.lo.u32 %e, %a, %b, %c; mad.lo.s64 %w, %x, %y, %z; mad.wide.u32 %w, %a, %b, %z; mad.wide.s32 %w, %a, %b, %z
and.b32 %e, %a, %b; or.b64 %w, %x, %y; xor.b32 %e, %a, %b; not.b32 %e, %a; neg.s32 %e, %a; abs.s32 %e, %a
shl.b32 %e, %a, %b; shl.b64 %w, %x, %b; shr.s32 %e, %a, %b; shr.u32 %e, %a, %b; shr.s64 %w, %x, %b; shr.u64 %w, %x, %b
shf.l.wrap.b32 %e, %a, %b, %c; shf.r.wrap.b32 %e, %a, %b, %c; min.s32 %e, %a, %b; max.u32 %e, %a, %b
add.f32 %fe, %fa, %fb; sub.f32 %fe, %fa, %fb; mul.f32 %fe, %fa, %fb; fma.rn.f32 %fe, %fa, %fb, %fc
add.ftz.f32 %fe, %fa, %fb; mul.ftz.f32 %fe, %fa, %fb; fma.rn.ftz.f32 %fe, %fa, %fb, %fc; sub.ftz.f32 %fe, %fa, %fb
div.rn.f32 %fe, %fa, %fb; rcp.rn.f32 %fe, %fa; sqrt.rn.f32 %fe, %fa; neg.f32 %fe, %fa; abs.f32 %fe, %fa
min.f32 %fe, %fa, %fb; max.f32 %fe, %fa, %fb; add.f64 %de, %da, %db; sub.f64 %de, %da, %db; mul.f64 %de, %da, %db
fma.rn.f64 %de, %da, %db, %dc; div.rn.f64 %de, %da, %db; neg.f64 %de, %da; abs.f64 %de, %da
cvt.u64.u32 %w, %a; cvt.s64.s32 %w, %a; cvt.u32.u64 %e, %x; cvt.u32.u16 %e, %h; cvt.s32.s16 %e, %h; cvt.u16.u32 %o, %a
cvt.rn.f32.s32 %fe, %a; cvt.rn.f32.u32 %fe, %a; cvt.rzi.s32.f32 %e, %fa; cvt.f64.f32 %de, %fa; cvt.rn.f32.f64 %fe, %da
setp.lt.s32 %p, %a, %b; setp.ge.u32 %p, %a, %b; setp.ne.u64 %p, %x, %y; setp.le.s64 %p, %x, %y; setp.eq.s16 %p, %h, %g
setp.lt.f32 %p, %fa, %fb; setp.geu.f32 %p, %fa, %fb; setp.num.f32 %p, %fa, %fb; setp.nan.f64 %p, %da, %db; setp.eq.ftz.f32 %p, %fa, %fb
setp.gt.and.f64 %p, %da, %db, %q; setp.ltu.or.f32 %p, %fa, %fb, !%q; setp.hi.xor.u32 %p, %a, %b, %q; setp.lo.u64 %p, %x, %y
selp.b32 %e, %a, %b, %q; selp.b64 %w, %x, %y, %q; selp.b16 %o, %h, %g, %q; mov.b32 %e, %a; mov.b64 %w, %x; mov.u16 %o, %h";

#[test]
fn vector_and_scalar_definitions_agree() {
    let mut checked = 0;
    for form in FORMS
        .split(['\n', ';'])
        .map(str::trim)
        .filter(|f| !f.is_empty())
    {
        // For half of the lanes, so that the masks are tested, too; and a
        // predicate becomes a value.
        for guard in ["", "@%q "] {
            let code = if form.contains("setp") {
                format!("setp.lt.u32 %p, %t, 100; {guard}{form}; selp.u32 %e, 7, 9, %p;")
            } else {
                format!("{guard}{form};")
            };
            let (fast, slow) = (run(&code, true), run(&code, false));
            let differ = fast.words.iter().zip(&slow.words).position(|(a, b)| a != b);
            let at = differ.map(|d| {
                (
                    d / 6,
                    fast.words[d],
                    slow.words[d],
                    operands()[d / 6 * 6..][..6].to_vec(),
                )
            });
            assert_eq!(at.map(|a| format!("{a:x?}")), None, "{code}");
            checked += 1;
        }
    }
    assert!(checked > 150, "{checked}");
}

#[test]
fn directed_results_are_next_to_each_other() {
    for operation in ["add", "mul", "sub"] {
        let code =
            |round: &str| run(&format!("{operation}.{round}.f32 %fe, %fa, %fb;"), true).words;
        let (down, up, nearest, zero) = (code("rm"), code("rp"), code("rn"), code("rz"));
        for at in (0..down.len()).step_by(6) {
            let [down, up, nearest, zero] =
                [&down, &up, &nearest, &zero].map(|w| f32::from_bits(w[at]));
            if nearest.is_nan() {
                assert!(down.is_nan() && up.is_nan() && zero.is_nan());
                continue;
            }
            assert!(down <= nearest && nearest <= up && zero.abs() <= nearest.abs());
            assert!(zero == down || zero == up);
            assert!(
                down == up || down.next_up() == up,
                "{operation} {down} {up}"
            );
        }
    }
}

#[test]
fn parameters_have_their_layout() {
    let text = ".version 8.5\n.target sm_80\n.address_size 64\n\
        .entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .u32 d) { ret; }";
    let program = Program::new(&Module::parse(text, "t.ptx").unwrap()).unwrap();
    let layout: Vec<_> = program
        .params("k")
        .unwrap()
        .iter()
        .map(|p| (p.offset, p.bytes, p.align))
        .collect();
    assert_eq!(layout, [(0, 1, 1), (8, 8, 8), (16, 20, 16), (36, 4, 4)]);
    let launch = |params, block| Launch {
        entry: "k".to_owned(),
        grid: [1; 3],
        block,
        dynamic_shared: 0,
        params,
    };
    let run = |l: &Launch| program.run(&mut Memory::new(), l, &Options::default());
    assert!(run(&launch(vec![0; 40], [1; 3])).is_ok());
    assert!(
        run(&launch(vec![0; 39], [1; 3]))
            .unwrap_err()
            .to_string()
            .contains("39 bytes")
    );
    assert!(
        run(&launch(vec![0; 40], [1025, 1, 1]))
            .unwrap_err()
            .to_string()
            .contains("block")
    );
}

#[test]
fn the_host_writes_variables() {
    let text = ".version 8.5\n.target sm_80\n.address_size 64\n\
        .const .u32 factor = 3;\n.global .u32 sum[2] = {5};\n\
        .entry k() { .reg .b32 %r<3>; ld.const.u32 %r1, [factor]; ld.global.u32 %r2, [sum];\n\
        add.u32 %r1, %r1, %r2; st.global.u32 [sum+4], %r1; ret; }";
    let program = Program::new(&Module::parse(text, "t.ptx").unwrap()).unwrap();
    let mut memory = Memory::new();
    let factor = program.symbol_buffer(&mut memory, "factor").unwrap();
    memory.bytes_mut(factor)[0] = 10;
    let launch = Launch {
        entry: "k".to_owned(),
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared: 0,
        params: vec![],
    };
    program
        .run(&mut memory, &launch, &Options::default())
        .unwrap();
    let sum = program.symbol_buffer(&mut memory, "sum").unwrap();
    assert_eq!(memory.bytes(sum), [5, 0, 0, 0, 15, 0, 0, 0]);
    assert_eq!(
        program.symbol("sum").map(|s| (s.bytes, s.constant)),
        Some((8, false))
    );
}

#[test]
fn shared_memory_is_the_same_whatever_the_pattern() {
    // Consecutive, the same, reversed, strided, shifted words, for all lanes
    // and for some; the first store makes all of the memory written.
    let body = |address: &str, guard: &str| {
        format!(
            ".shared .align 4 .b8 s[4096];
             .visible .entry k(.param .u64 p) {{
             .reg .b64 %base, %out; .reg .b32 %t, %r<9>; .reg .pred %q;
             ld.param.u64 %base, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %out, %t, 4, %base;
             mul.lo.u32 %r1, %t, %t; shl.b32 %r2, %t, 2; mov.u32 %r7, s; add.u32 %r2, %r2, %r7; mov.u32 %r8, 3; st.shared.u32 [%r2], %r1; bar.sync 0;
             and.b32 %r3, %t, 5; setp.ne.u32 %q, %r3, 1; mov.u32 %r5, 7;
             {address} {guard} ld.shared.u32 %r5, [%r4+4]; st.global.u32 [%out], %r5; bar.sync 0;
             add.u32 %r5, %r5, %t; {guard} st.shared.u32 [%r4+4], %r5; bar.sync 0;
             ld.shared.u32 %r6, [%r2]; and.b32 %r4, %r4, 4080; {guard} ld.shared.v2.u32 {{%r7, %r8}}, [%r4];
             xor.b32 %r7, %r7, %r8; ld.shared.v2.u32 {{%r4, %r5}}, [s+64]; add.u32 %r7, %r7, %r5;
             mad.lo.u32 %r6, %r7, 77, %r6; st.global.u32 [%out+4096], %r6; ret; }}"
        )
    };
    for address in [
        "mov.u32 %r4, %r2;",
        "mov.u32 %r4, 40;",
        "sub.u32 %r4, 4088, %r2;",
        "and.b32 %r4, %r2, 1020;",
        "xor.b32 %r4, %r2, 8;",
    ] {
        let bounded = format!("{address} min.u32 %r4, %r4, 4088;");
        for guard in ["", "@%q"] {
            let run = |vector: bool| {
                run_with(
                    &body(&bounded, guard),
                    [1024, 1, 1],
                    [1, 1, 1],
                    &[0; 2048],
                    |o, _| o.vector = vector,
                )
            };
            let (fast, slow) = (run(true), run(false));
            let differ = (0..2048).find(|&at| fast.words[at] != slow.words[at]);
            let values = differ.map(|at| (at, fast.words[at], slow.words[at]));
            assert_eq!(values, None, "{address} {guard}");
            assert!(fast.words.iter().any(|w| *w != 0), "{:?}", fast.outcome);
            assert_eq!(fast.outcome.shared_accesses, slow.outcome.shared_accesses);
            assert_eq!(fast.outcome.findings, slow.outcome.findings);
        }
    }
}
