//! `cvt` of pairs of 8-bit floating-point numbers: against a search among all
//! numbers of the format.

use super::*;

/// Fraction bits, bias, and the code of the largest number.
#[derive(Clone, Copy)]
struct Small(u32, i32, u8);

const FORMATS: [(&str, Small); 2] = [
    ("e4m3x2", Small(3, 7, 0x7e)),
    ("e5m2x2", Small(2, 15, 0x7b)),
];

/// The value of a code without sign.
fn value(Small(fraction, bias, _): Small, code: u8) -> f64 {
    let (exponent, rest) = (
        i32::from(code >> fraction),
        f64::from(code & ((1 << fraction) - 1)),
    );
    let ones = f64::from(1 << fraction);
    if exponent == 0 {
        rest / ones * 2f64.powi(1 - bias)
    } else {
        (1.0 + rest / ones) * 2f64.powi(exponent - bias)
    }
}

/// The nearest number, of two the even one; the largest for those beyond.
fn nearest(format: Small, x: f64, relu: bool) -> u8 {
    if x.is_nan() {
        return 0x7f;
    }
    if relu && x.is_sign_negative() {
        return 0;
    }
    let most = value(format, format.2);
    let x_abs = x.abs().min(most);
    let distance = |code: u8| (value(format, code) - x_abs).abs();
    let best = (0..=format.2).min_by(|&a, &b| {
        distance(a)
            .total_cmp(&distance(b))
            .then((a & 1).cmp(&(b & 1)))
    });
    best.unwrap() | u8::from(x.is_sign_negative()) << 7
}

fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction / 1024.0 * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1.0 + fraction / 1024.0) * 2f64.powi(e - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// Numbers of the format, what is in the middle of two and beside it, others.
fn singles(format: Small) -> Vec<f32> {
    let mut list = vec![
        f32::INFINITY,
        f32::NAN,
        f32::MAX,
        f32::MIN_POSITIVE,
        1e-45,
        0.0,
        464.0,
        463.99997,
        480.0,
        61440.0,
    ];
    for code in 0..format.2 {
        let (low, high) = (value(format, code) as f32, value(format, code + 1) as f32);
        let middle = (low + high) / 2.0;
        let beside = [middle.to_bits() - 1, middle.to_bits() + 1].map(f32::from_bits);
        list.extend([low, middle, beside[0], beside[1]]);
    }
    let mut state = 1u32;
    while list.len() % 512 != 0 {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        list.push(f32::from_bits(state & 0x0fff_ffff | 0x3000_0000));
    }
    let negative: Vec<f32> = list.iter().map(|x| -x).collect();
    list.extend(negative);
    list
}

/// Threads of `body` with four words each: two operands, two results.
fn results(body: &str, operands: &[[u32; 2]]) -> Vec<[u32; 2]> {
    let mut all = Vec::new();
    for part in operands.chunks(512) {
        let words: Vec<u32> = part.iter().flat_map(|&[a, b]| [a, b, 0, 0]).collect();
        let text = kernel(&format!(
            "mad.wide.u32 %out, %t, 16, %base; ld.global.u32 %r1, [%out];
             ld.global.u32 %r2, [%out+4]; {body}
             st.global.u32 [%out+8], %r3; st.global.u32 [%out+12], %r4; ret;"
        ));
        let run = run_with(
            &text,
            [part.len() as u32, 1, 1],
            [1, 1, 1],
            &words,
            |_, _| {},
        );
        assert_eq!(run.outcome.findings, []);
        all.extend(run.words.chunks(4).map(|w| [w[2], w[3]]));
    }
    all
}

#[test]
fn single_precision_is_rounded_to_pairs() {
    for (name, format) in FORMATS {
        let list = singles(format);
        let pair = |n: usize| [list[n], list[(n * 7 + 3) % list.len()]];
        let operands: Vec<[u32; 2]> = (0..list.len()).map(|n| pair(n).map(f32::to_bits)).collect();
        let body = format!(
            "mov.b32 %f1, %r1; mov.b32 %f2, %r2;
             cvt.rn.satfinite.{name}.f32 %h1, %f1, %f2; cvt.u32.u16 %r3, %h1;
             cvt.rn.satfinite.relu.{name}.f32 %h2, %f1, %f2; cvt.u32.u16 %r4, %h2;"
        );
        for (n, got) in results(&body, &operands).into_iter().enumerate() {
            let [a, b] = pair(n);
            for (got, relu) in got.into_iter().zip([false, true]) {
                let [upper, lower] = [a, b].map(|x| u32::from(nearest(format, x.into(), relu)));
                assert_eq!(
                    got,
                    upper << 8 | lower,
                    "{name} of {a:e}, {b:e}, relu: {relu}"
                );
            }
        }
    }
}

#[test]
fn every_half_is_rounded_and_every_byte_is_widened() {
    for (name, format) in FORMATS {
        let operands: Vec<[u32; 2]> = (0..1u32 << 15)
            .map(|n| {
                let upper = n ^ ((n & 1) << 15);
                [(upper << 16) + (n * 3 + 1) % (1 << 16), 0]
            })
            .collect();
        let body = format!(
            "cvt.rn.satfinite.{name}.f16x2 %h1, %r1; cvt.u32.u16 %r3, %h1;
             cvt.rn.f16x2.{name} %r4, %h1;"
        );
        for ([bits, _], [small, wide]) in operands.iter().zip(results(&body, &operands)) {
            let halves = [bits >> 16, bits & 0xffff].map(|h| half(h as u16));
            let [upper, lower] = halves.map(|x| u32::from(nearest(format, x, false)));
            assert_eq!(small, upper << 8 | lower, "{name} of {bits:#x}");
            for (code, wide) in [(upper, wide >> 16), (lower, wide & 0xffff)] {
                let size = value(format, (code & 0x7f) as u8);
                let back = half(wide as u16);
                match code & 0x7f {
                    0x7f => assert_eq!(wide, 0x7fff, "{name}"),
                    _ => assert_eq!((back.abs(), wide >> 15), (size, code >> 7), "{name}"),
                }
            }
        }
    }
    // What the conversions above do not give: infinities and other NaN.
    let body =
        "cvt.u16.u32 %h1, %r1; cvt.rn.f16x2.e5m2x2 %r3, %h1; cvt.rn.relu.f16x2.e5m2x2 %r4, %h1;";
    let got = results(body, &[[0x7cfc, 0], [0x7dfe, 0], [0xc43c, 0]]);
    assert_eq!(got[0], [0x7c00_fc00, 0x7c00_0000]);
    assert_eq!(got[1], [0x7fff_7fff, 0x7fff_7fff]);
    assert_eq!(got[2], [0xc400_3c00, 0x0000_3c00]);
}

/// A vector is as its elements one by one.
#[test]
fn atomics_of_vectors_are_those_of_their_elements() {
    for (vector, scalar, register, count) in [
        ("v2.f32.add", "f32.add", "%f", 2),
        ("v4.f32.add", "f32.add", "%f", 4),
        ("v4.bf16x2.add.noftz", "bf16x2.add.noftz", "%r1", 4),
        ("v2.f16x2.max.noftz", "f16x2.max.noftz", "%r1", 2),
    ] {
        let names: Vec<String> = (1..=count).map(|n| format!("{register}{n}")).collect();
        let load: String = names
            .iter()
            .enumerate()
            .map(|(n, name)| format!("ld.global.b32 {name}, [%rd1+{}];\n", 4 * n))
            .collect();
        let list = names.join(", ");
        let one_by_one: String = names
            .iter()
            .enumerate()
            .map(|(n, name)| format!("red.global.{scalar} [%base+{}], {name};\n", 16 + 4 * n))
            .collect();
        // Words 0 to 3 are the vector's, 4 to 7 the scalars'; then numbers.
        let ty = if register == "%f" { "f32" } else { "b32" };
        let body = format!(
            "mad.wide.u32 %rd1, %t, 16, %base; add.u64 %rd1, %rd1, 32; {load}
             red.global.{vector} [%base], {{{list}}}; {one_by_one}
             bar.sync 0; setp.eq.u32 %p1, %t, 0;
             @%p1 atom.global.{vector} {{{list}}}, [%base], {{{list}}};
             @%p1 st.global.v{count}.{ty} [%rd1], {{{list}}}; ret;"
        );
        let number = |n: u32| match register {
            "%f" => ((n + 1) as f32 * 0.37).to_bits(),
            _ => 0x3c00_4000 + n * 0x0011_0007,
        };
        let words: Vec<u32> = (0..8).map(|_| 0).chain((0..160).map(number)).collect();
        let run = run_with(&kernel(&body), [40, 1, 1], [1, 1, 1], &words, |_, _| {});
        assert_eq!(run.outcome.findings, [], "{vector}");
        // Thread 0 got what was there: the sums of the scalars.
        assert_eq!(run.words[8..8 + count], run.words[4..4 + count], "{vector}");
        if register == "%f" {
            assert_ne!(run.words[0], run.words[4], "{vector}");
        }
    }
    let misaligned = kernel("red.global.v2.f32.add [%base+4], {%f1, %f2}; ret;");
    let run = run_with(&misaligned, [1, 1, 1], [1, 1, 1], &[0; 4], |_, _| {});
    assert_eq!(kinds(&run), [FindingKind::Misaligned]);
}

/// A policy may be made, passed and ignored.
#[test]
fn policies_of_caches_change_nothing() {
    let body = kernel(
        "createpolicy.fractional.L2::evict_first.b64 %rd1, 0.5;
         createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd2, [%base], 64, 128;
         applypriority.global.L2::evict_normal [%base], 128;
         ld.global.L2::cache_hint.u32 %r1, [%out], %rd1; add.u32 %r1, %r1, %t;
         st.global.L2::cache_hint.u32 [%out], %r1, %rd2; ret;",
    );
    let run = run_with(&body, [40, 1, 1], [1, 1, 1], &[0; 40], |_, _| {});
    assert_eq!(run.outcome.findings, []);
    assert_eq!(run.words, (0..40).collect::<Vec<u32>>());
}
