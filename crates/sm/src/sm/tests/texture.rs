//! The texture unit: fetches whose time is a formula.

use super::*;

fn on(body: &str) -> Statistics {
    let config = tiny("[texture]\nper_cycle = 4\nlatency = 70\n");
    run(&config, &warps(body)).unwrap()
}

/// A fetch of eight lanes begins in two cycles. It goes to the unit and comes
/// back as a load of global memory does.
#[test]
fn a_chain_takes_latencies_and_independent_fetches_take_turns() {
    let chain = |n: usize| on(&"tex r1, r1\n".repeat(n));
    let apart = |n: usize| on(&(0..n).map(|r| format!("tex r{r}\n")).collect::<String>());
    let global = tiny("[global]\nlatency = 71\nsegment_bytes = 32\nbytes_per_cycle = 32\n");
    let load = run(&global, &warps("ld.global r1, [4*l]\n")).unwrap();
    assert_eq!(chain(1).cycles, load.cycles);
    for n in 1..6 {
        assert_eq!(chain(n).cycles, n as u64 * load.cycles);
        assert_eq!(apart(n).cycles, load.cycles + 2 * (n as u64 - 1));
    }
    assert_eq!(on("tex r1\ntex r2, r1\n").global_segments, 0);
}

/// Who waits for texels, waits for those, and not for memory.
#[test]
fn a_wait_for_texels_has_a_name() {
    let s = on("tex r1\nalu r2, r1\n");
    assert!(s.stalls.texture > 70 && s.stalls.memory == 0, "{s:?}");
    assert_eq!(s.issued + s.stalls.total(), s.cycles);
}

/// Fewer lanes, fewer cycles.
#[test]
fn lanes_take_their_turns() {
    let of = |lanes: &str| on(&format!("{lanes}tex r1\n")).cycles;
    assert_eq!(of("") - of("@0x0f "), 1);
    assert_eq!(of("@0x1f "), of(""));
}
