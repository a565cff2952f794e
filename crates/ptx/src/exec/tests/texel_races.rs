//! Races through textures and surfaces.

use super::texture_harness::{Case, fetched_with, singles, surface};
use super::*;

/// What runs of 64 threads on a buffer of 64 floats, or on the surface, find.
fn races(texture: impl Fn(BufferId) -> Texture, bytes: usize, body: &str) -> Vec<String> {
    let options = Options {
        races: true,
        global_races: true,
        ..Options::default()
    };
    let rest = "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;";
    let body = format!("{body} {rest}");
    let (.., outcome) = fetched_with(texture, vec![0; bytes], &body, &[0; 3 * 64], &options);
    let text = |f: &Finding| format!("{}{}", if f.warning { "warning: " } else { "" }, f.message);
    outcome.findings.iter().map(text).collect()
}

fn on_surface(body: &str) -> Vec<String> {
    races(surface, 24, body)
}

const FIRST_OF_TWO_WARPS: &str = "and.b32 %r8, %t, 31; setp.ne.u32 %p, %r8, 0; @%p bra E;";

#[test]
fn texels_that_several_threads_write() {
    let two = |value: &str| {
        format!("{FIRST_OF_TWO_WARPS} sust.b.2d.b32.trap [%tex, {{4, 1}}], {value}; E:")
    };
    let order = "byte 16 of texels without a barrier between";
    let expected = vec![format!("writes {order}"); 2];
    assert_eq!(on_surface(&two("%t")), expected);
    let same = vec![format!("warning: writes {order}, the same value"); 2];
    assert_eq!(on_surface(&two("7")), same);
    // Atomics may come in any order.
    let add = two("1").replace("sust.b.2d.b32.trap", "sured.b.add.2d.u32.trap");
    assert_eq!(on_surface(&add), [""; 0]);
    let mixed = format!("setp.lt.u32 %p, %t, 32; {add}").replace(
        "E:",
        "E: setp.ne.u32 %p, %t, 40; @%p bra F; sust.b.2d.b32.trap [%tex, {4, 1}], 9; F:",
    );
    assert_eq!(on_surface(&mixed), expected);
}

#[test]
fn texels_that_another_thread_has_written() {
    let read = "setp.ne.u32 %p, %t, 40; @%p bra F; suld.b.2d.b32.trap %r9, [%tex, {4, 1}]; F:";
    let write = "setp.ne.u32 %p, %t, 3; @%p bra E; sust.b.2d.b32.trap [%tex, {4, 1}], 9; E:";
    let order = "byte 16 of texels without a barrier between";
    let found = on_surface(&format!("{write} {read}"));
    assert_eq!(found, [format!("writes {order}"), format!("reads {order}")]);
    assert_eq!(on_surface(&format!("{write} bar.sync 0; {read}")), [""; 0]);
}

/// The cache of textures does not see what the launch writes, whatever is between.
#[test]
fn texels_of_a_texture_are_not_written() {
    let case = || Case {
        extent: [64, 1, 1],
        dimensions: 1,
        sampler: Sampler {
            address: [AddressMode::Clamp; 3],
            linear: false,
            normalized: false,
        },
    };
    let address = "mad.wide.u32 %in, %t, 4, %texels;";
    let fetch = "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%tex, {%t}];";
    let run = |body: &str| races(|buffer| singles(&case(), buffer), 256, body);
    let fault = "; a texture is for what no thread of the launch writes";
    let both = [
        format!("writes byte 0 of texels{fault}"),
        format!("reads byte 0 of texels{fault}"),
    ];
    let store = "st.global.u32 [%in], %t;";
    assert_eq!(run(&format!("{address} {store} bar.sync 0; {fetch}")), both);
    let [first, second] = &both;
    let other = [second.clone(), first.clone()];
    assert_eq!(
        run(&format!("{address} {fetch} bar.sync 0; {store}")),
        other
    );
    assert_eq!(run(fetch), [""; 0]);
}
