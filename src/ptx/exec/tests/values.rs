//! Values: rounding, carries, atomics, copies, matrices, printing.

use super::{kernel, kinds, run_with, threads};

#[test]
fn numbers_round_as_asked() {
    let run = threads(
        "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f33000000; mov.f32 %f3, 0fC0200000;
         add.rn.f32 %f4, %f1, %f2; add.rp.f32 %f5, %f1, %f2; cvt.rni.s32.f32 %r1, %f3;
         cvt.rmi.s32.f32 %r2, %f3; cvt.rn.f16.f32 %h1, %f3; cvt.u32.u16 %r3, %h1;
         cvt.rzi.u8.f32 %r4, 0f43C80000; div.rn.f32 %f6, %f1, %f3; cvt.rn.f64.s32 %d1, %r1;
         st.global.f32 [%base], %f4; st.global.f32 [%base+4], %f5; st.global.v4.u32 [%base+16], {%r1, %r2, %r3, %r4};
         st.global.f32 [%base+32], %f6; st.global.f64 [%base+40], %d1; ret;",
        1,
        12,
    );
    let double = (-2.0f64).to_bits();
    let expected = [
        0x3f80_0000,
        0x3f80_0001,
        0,
        0,
        -2i32 as u32,
        -3i32 as u32,
        0xc100,
        255,
        (-0.4f32).to_bits(),
        0,
        double as u32,
        (double >> 32) as u32,
    ];
    assert_eq!(run.words, expected);
}

#[test]
fn carries_and_wide_products() {
    let run = threads(
        "mov.u32 %r1, -1; add.cc.u32 %r2, %r1, %r1; addc.cc.u32 %r3, %r1, 0; addc.u32 %r4, 0, 0;
         sub.cc.u32 %r5, 0, 1; subc.u32 %r6, 5, 2; mul.hi.u32 %r7, %r1, %r1; mul.hi.s32 %r8, %r1, 7;
         st.global.v4.u32 [%base], {%r2, %r3, %r4, %r5}; st.global.v4.u32 [%base+16], {%r6, %r7, %r8, %r8}; ret;",
        1,
        8,
    );
    assert_eq!(
        run.words,
        [
            u32::MAX - 1,
            0,
            1,
            u32::MAX,
            2,
            u32::MAX - 1,
            u32::MAX,
            u32::MAX
        ]
    );
}

#[test]
fn atomics_go_lane_after_lane() {
    let run = threads(
        "atom.global.inc.u32 %r1, [%base], 9; st.global.u32 [%out+64], %r1;
         cvt.rn.f32.u32 %f1, %t; red.global.add.f32 [%base+4], %f1; red.global.max.s32 [%base+8], %t;
         cvt.u64.u32 %rd1, %t; red.global.add.u64 [%base+16], %rd1; ret;",
        32,
        48,
    );
    assert_eq!(run.words[..6], [2, 496f32.to_bits(), 31, 0, 496, 0]);
    assert_eq!(
        run.words[16..48],
        (0..32).map(|t| t % 10).collect::<Vec<u32>>()
    );
}

#[test]
fn copies_and_matrices() {
    let run = threads(
        ".shared .align 16 .b8 s[512];
         mov.u32 %r1, s; mad.lo.u32 %r2, %t, 16, %r1; mad.wide.u32 %rd1, %t, 16, %base;
         cp.async.cg.shared.global [%r2], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;
         bar.sync 0; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r2];
         ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r6}, [%r2]; movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r5;
         setp.ne.u32 %p1, %r6, %r7; @%p1 mov.u32 %r5, 0; st.global.u32 [%out], %r5; ret;",
        32,
        128,
    );
    assert_eq!(
        (run.words[..32].to_vec(), kinds(&run)),
        (vec![0; 32], vec![])
    );
    let mut words = vec![0u32; 128];
    (0..32).for_each(|n| words[n] = n as u32 + 1);
    let text = kernel(
        ".shared .align 16 .b8 s[512];
         mov.u32 %r1, s; mad.lo.u32 %r2, %t, 16, %r1; mad.wide.u32 %rd1, %t, 16, %base;
         cp.async.ca.shared.global [%r2], [%rd1], 16; bar.sync 0;
         ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r2]; st.global.u32 [%out+128], %r5; ret;",
    );
    let run = run_with(&text, [32, 1, 1], [1, 1, 1], &words, |_, _| {});
    // Row r of the matrix is at thread r's 16 bytes; lane l has word l % 4 of row l / 4.
    assert_eq!(run.words[32..64], (1..33).collect::<Vec<u32>>());
}

#[test]
fn local_memory_and_printing() {
    let text = format!(
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
         .global .align 1 .b8 format[10] = {{37, 53, 100, 124, 37, 46, 50, 102, 10, 0}};
         {}",
        kernel(
            ".local .align 8 .b8 depot[16]; mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1;
             st.local.u32 [%rd1], %t; mov.f64 %d1, 0d3FF8000000000000; st.f64 [%rd2+8], %d1;
             mov.u64 %rd3, format; cvta.global.u64 %rd4, %rd3;
             { .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %rd4; st.param.b64 [y], %rd2;
             call.uni (z), vprintf, (x, y); ld.param.b32 %r1, [z]; }
             ld.local.u32 %r2, [%rd1]; mad.lo.u32 %r2, %r1, 100, %r2; st.global.u32 [%out], %r2; ret;"
        )
    );
    let run = run_with(&text, [2, 1, 1], [1, 1, 1], &[0; 2], |_, _| {});
    assert_eq!((run.words, run.outcome.findings), (vec![200, 201], vec![]));
}
