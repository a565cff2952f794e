//! Textures against a second definition in double precision, by indices where
//! the executor brings coordinates back first; surfaces; faults.

use super::texture_harness::{Case, bytes_of, fetched, singles, surface};
use super::*;
use AddressMode::{Border, Clamp, Mirror, Wrap};

/// Four columns and three rows, filtered.
const FILTERED: Case = Case {
    extent: [4, 3, 1],
    dimensions: 2,
    sampler: Sampler {
        address: [Clamp; 3],
        linear: true,
        normalized: false,
    },
};

fn random(state: &mut u64) -> u32 {
    *state = state
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    (*state >> 32) as u32
}

fn texels(case: &Case) -> Vec<f32> {
    let count: u32 = case.extent.iter().product();
    let mut state = 5;
    (0..count)
        .map(|_| random(&mut state) as f32 / 2e9 - 1.0)
        .collect()
}

fn coordinates(case: &Case, count: usize) -> Vec<f32> {
    let edges = [
        0.0,
        -0.0,
        0.5,
        1.0,
        -0.25,
        1.5,
        2.0,
        -1.0,
        1e9,
        -3e38,
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        0.999_999_9,
        1e-30,
    ];
    let mut state = 77;
    let one = |n: usize| {
        let size = if case.sampler.normalized {
            1.0
        } else {
            case.extent[n % 3] as f32
        };
        match random(&mut state) % 4 {
            0 => edges[random(&mut state) as usize % edges.len()],
            1 => edges[random(&mut state) as usize % 9] * size,
            _ => (random(&mut state) as f32 / 2f32.powi(32) * 6.0 - 3.0) * size,
        }
    };
    (0..3 * count).map(one).collect()
}

/// A texel index by the definition of the mode; none for the border.
fn index(i: f64, n: f64, mode: AddressMode) -> Option<usize> {
    let i = match mode {
        Clamp => i.max(0.0).min(n - 1.0),
        Border => return (i >= 0.0 && i < n).then_some(i as usize),
        Wrap => i - n * (i / n).floor(),
        Mirror => {
            let turn = (i / n).floor();
            let at = i - n * turn;
            if (turn / 2.0).fract() == 0.0 {
                at
            } else {
                n - 1.0 - at
            }
        }
    };
    Some(i as usize)
}

/// What the fetch reads, in double precision.
fn reference(case: &Case, texels: &[f32], coordinates: &[f32]) -> f64 {
    let mut sum = 0.0;
    let mut corners = vec![(1.0, Some(vec![]))];
    for (d, &c) in coordinates.iter().enumerate().take(case.dimensions) {
        let n = f64::from(case.extent[d]);
        let c = f64::from(c);
        let c = if c.is_nan() { 0.0 } else { c };
        // All of these are multiples of 1, and of 2.
        let far = if c.is_infinite() { 0.0 } else { c };
        let c = match case.sampler.address[d] {
            Clamp | Border => c.clamp(-1e12, 1e12),
            _ => far % 2.0,
        };
        let x = if case.sampler.normalized { c * n } else { c };
        let mut next = Vec::new();
        for (weight, at) in corners {
            let mut add = |w: f64, i: f64| {
                let texel = index(i, n, case.sampler.address[d]);
                let at = at
                    .clone()
                    .zip(texel)
                    .map(|(mut at, t): (Vec<usize>, usize)| {
                        at.push(t);
                        at
                    });
                next.push((weight * w, at));
            };
            if case.sampler.linear {
                let low = (x - 0.5).floor();
                let alpha = ((x - 0.5 - low) * 256.0).round() / 256.0;
                add(1.0 - alpha, low);
                add(alpha, low + 1.0);
            } else {
                add(1.0, x.floor())
            }
        }
        corners = next;
    }
    for (weight, at) in corners {
        let Some(at) = at else { continue };
        let strides = [
            1,
            case.extent[0] as usize,
            (case.extent[0] * case.extent[1]) as usize,
        ];
        let place: usize = at.iter().zip(strides).map(|(a, s)| a * s).sum();
        sum += weight * f64::from(texels[place]);
    }
    sum
}

#[test]
fn fetches_are_those_of_a_second_definition() {
    let mut checked = 0;
    for (dimensions, extent) in [(1, [13, 1, 1]), (2, [7, 5, 1]), (3, [4, 3, 6])] {
        for (mode, normalized) in [
            (Clamp, false),
            (Border, false),
            (Clamp, true),
            (Border, true),
            (Wrap, true),
            (Mirror, true),
        ] {
            for linear in [false, true] {
                let address = [mode; 3];
                let case = Case {
                    extent,
                    dimensions,
                    sampler: Sampler {
                        address,
                        linear,
                        normalized,
                    },
                };
                let (values, places) = (texels(&case), coordinates(&case, 512));
                let body = match dimensions {
                    1 => "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%tex, {%x}];",
                    2 => "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%tex, {%x, %y}];",
                    _ => "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%tex, {%x, %y, %z, %z}];",
                };
                let body = format!(
                    "{body} mov.b32 %r1, %f1; mov.b32 %r2, %f2; mov.b32 %r3, %f3; mov.b32 %r4, %f4;"
                );
                let input: Vec<u32> = places.iter().map(|p| p.to_bits()).collect();
                let (words, _, outcome) =
                    fetched(|b| singles(&case, b), bytes_of(&values), &body, &input);
                assert_eq!(outcome.findings, []);
                for (thread, place) in places.chunks(3).enumerate() {
                    // Backwards, the texel of a coordinate between two is the
                    // other one.
                    let between = |d: usize| (place[d] * case.extent[d] as f32).fract() == 0.0;
                    if mode == Mirror && !linear && (0..dimensions).any(between) {
                        continue;
                    }
                    let found = f64::from(f32::from_bits(words[4 * thread]));
                    let wanted = reference(&case, &values, place);
                    // Texels are below 2; eight products and the sum are
                    // rounded to 53 bits, the result to 24.
                    let close = (found - wanted).abs() <= 2f64.powi(-23);
                    let what = (dimensions, mode, linear, normalized);
                    assert!(close, "{what:?} at {place:?}: {found}, expected {wanted}");
                    assert_eq!(
                        words[4 * thread + 1..4 * thread + 4],
                        [0, 0, 1f32.to_bits()]
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 3 * 6 * 2 * 480, "{checked}");
}

/// A 4 x 4 texture of two layers with four channels of bytes.
fn bytes(buffer: BufferId, normalized: bool) -> Texture {
    Texture {
        name: "bytes".to_owned(),
        buffer,
        shape: Shape {
            format: Format {
                channel: Channel::Unsigned,
                bits: 8,
                channels: 4,
            },
            geometry: Geometry {
                dimensions: 2,
                layered: true,
                cube: false,
            },
            extent: [4, 4, 1],
            layers: 2,
            sampler: Some(Sampler {
                address: [Clamp; 3],
                linear: false,
                normalized: false,
            }),
            normalized_read: normalized,
        },
    }
}

#[test]
fn integers_are_read_as_they_are_or_as_parts_of_one() {
    let texels: Vec<u8> = (0..128).map(|n| n * 2).collect();
    // Layer 1, column 2, row 3; then outside, to the last ones.
    let input = [1, 2, 3, 9, 7, u32::MAX];
    let body = "tex.a2d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%tex, {%r5, %r6, %r7, %r7}];";
    let (words, ..) = fetched(|b| bytes(b, false), texels.clone(), body, &input);
    let texel = |layer: u32, y: u32, x: u32| ((layer * 4 + y) * 4 + x) * 8;
    let four = |first: u32| [first, first + 2, first + 4, first + 6];
    assert_eq!(words, [four(texel(1, 3, 2)), four(texel(1, 0, 3))].concat());
    let body = "tex.a2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%tex, {%r5, %r6, %r7, %r7}];
                mov.b32 %r1, %f1; mov.b32 %r2, %f2; mov.b32 %r3, %f3; mov.b32 %r4, %f4;";
    let (words, ..) = fetched(|b| bytes(b, true), texels, body, &input);
    let parts = four(texel(1, 3, 2)).map(|v| (v as f32 / 255.0).to_bits());
    assert_eq!(words[..4], parts);
}

#[test]
fn gathers_and_questions() {
    let case = FILTERED;
    let values: Vec<f32> = (0..12).map(|n| n as f32).collect();
    let body = "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%tex, {%x, %y}];
                mov.b32 %r1, %f1; mov.b32 %r2, %f2; mov.b32 %r3, %f3; mov.b32 %r4, %f4;";
    let input = [2.1f32, 1.2, 0.0].map(f32::to_bits);
    let (words, ..) = fetched(|b| singles(&case, b), bytes_of(&values), body, &input);
    // Columns 1 and 2 of rows 0 and 1.
    assert_eq!(words, [5.0f32, 6.0, 2.0, 1.0].map(f32::to_bits));
    let body = "txq.width.b32 %r1, [%tex]; txq.height.b32 %r2, [%tex];
                txq.channel_data_type.b32 %r3, [%tex]; txq.normalized_coords.b32 %r4, [%tex];";
    let (words, ..) = fetched(|b| singles(&case, b), bytes_of(&values), body, &input);
    assert_eq!(words, [4, 3, 0x10de, 0]);
}

#[test]
fn cubes_are_read_by_direction() {
    let case = Case {
        extent: [2, 2, 1],
        dimensions: 2,
        sampler: Sampler {
            address: [Clamp; 3],
            linear: false,
            normalized: true,
        },
    };
    let cube = |buffer| {
        let mut texture = singles(&case, buffer);
        texture.shape.geometry.cube = true;
        texture.shape.layers = 6;
        texture
    };
    let values: Vec<f32> = (0..24).map(|n| n as f32).collect();
    let body =
        "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%tex, {%x, %y, %z, %z}]; mov.b32 %r1, %f1;
                mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;";
    // Face, then the corner: on +x t goes down with y and s goes back with z.
    let directions = [
        ([2.0f32, 0.5, 0.5], 0),
        ([2.0, -0.5, -0.5], 3),
        ([-2.0, 0.5, 0.5], 5),
        ([0.5, 2.0, 0.5], 11),
        ([0.5, -2.0, 0.5], 13),
        ([-0.5, 0.5, 2.0], 16),
        ([-0.5, 0.5, -2.0], 21),
    ];
    let input: Vec<u32> = directions
        .iter()
        .flat_map(|d| d.0.map(f32::to_bits))
        .collect();
    let (words, _, outcome) = fetched(cube, bytes_of(&values), body, &input);
    assert_eq!(outcome.findings, []);
    let found: Vec<f32> = words.chunks(4).map(|w| f32::from_bits(w[0])).collect();
    let wanted: Vec<f32> = directions.iter().map(|d| d.1 as f32).collect();
    assert_eq!(found, wanted);
}

#[test]
fn surfaces_are_written_in_bytes_and_in_texels() {
    let words = |array: &[u8]| -> Vec<u32> {
        array
            .chunks(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect()
    };
    let body = "sust.b.2d.b32.trap [%tex, {%r5, %r6}], %r7; mov.u32 %r1, 70000; mov.u32 %r2, 5;
                sust.p.2d.v2.b32.zero [%tex, {2, 1}], {%r1, %r2};
                sust.p.2d.v2.b32.zero [%tex, {3, 1}], {%r1, %r2};
                sured.b.add.2d.u32.clamp [%tex, {0, -5}], 2; sured.b.max.2d.u32.zero [%tex, {4, 9}], 99;
                suld.b.2d.v2.b16.clamp {%h1, %h2}, [%tex, {900, 900}]; cvt.u32.u16 %r1, %h1;
                cvt.u32.u16 %r2, %h2; suld.b.2d.b32.zero %r3, [%tex, {-4, 0}]; suq.width.b32 %r4, [%tex];";
    let body = format!(".reg .b16 %h<3>; {body}");
    // Byte 4 of row 0 gets the number 7, by one thread.
    let (out, array, outcome) = fetched(surface, vec![0; 24], &body, &[4, 0, 7]);
    assert_eq!(outcome.findings, []);
    assert_eq!(words(&array), [2, 7, 0, 0, 0, 5 << 16 | 0xffff]);
    assert_eq!(out, [0xffff, 5, 0, 3]);
}

#[test]
fn misuse_is_found() {
    let case = FILTERED;
    let rest = "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;";
    let on_surface = |body: &str, input: [u32; 3]| {
        fetched(surface, vec![0; 24], &format!("{body} {rest}"), &input)
            .2
            .findings
    };
    let of = |findings: Vec<Finding>| findings.first().map(|f| (f.kind, f.message.clone()));
    let expect = |findings: Vec<Finding>, kind: FindingKind, text: &str| {
        let found = of(findings).unwrap();
        assert!(found.0 == kind && found.1.contains(text), "{found:?}");
    };
    let write = "sust.b.2d.b32.trap [%tex, {%r5, %r6}], %r7;";
    expect(
        on_surface(write, [12, 0, 0]),
        FindingKind::OutOfBounds,
        "4 bytes at byte 12 of row 0",
    );
    expect(
        on_surface(write, [2, 0, 0]),
        FindingKind::Misaligned,
        "counts bytes",
    );
    expect(
        on_surface(write, [0, u32::MAX, 0]),
        FindingKind::OutOfBounds,
        "row -1",
    );
    let fetch = "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%tex, {%x, %y}];";
    expect(
        on_surface(fetch, [0; 3]),
        FindingKind::InvalidTexture,
        "expected a [[texture]]",
    );
    expect(
        on_surface(
            "mov.u64 %tex, 5; sust.b.2d.b32.trap [%tex, {0, 0}], 1;",
            [0; 3],
        ),
        FindingKind::InvalidTexture,
        "0x5 is not the handle of a texture",
    );
    let wrong = "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%tex, {%x}];";
    let values: Vec<f32> = vec![0.0; 12];
    let run = fetched(
        |b| singles(&case, b),
        bytes_of(&values),
        &format!("{wrong} {rest}"),
        &[0; 3],
    );
    expect(
        run.2.findings,
        FindingKind::InvalidTexture,
        "image is .2d, and the instruction is for .1d",
    );
    let run = fetched(
        |b| singles(&case, b),
        bytes_of(&values),
        &format!("{write} {rest}"),
        &[0; 3],
    );
    expect(run.2.findings, FindingKind::InvalidTexture, "read only");
}
