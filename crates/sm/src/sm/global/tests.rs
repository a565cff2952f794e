//! The channel, stores, and loads that wait for others.

use super::*;
use crate::config::Config;
use crate::sm::instr::{Addresses, InstrKind, full_mask};

const PARAMETERS: Parameters = Parameters {
    latency: 40,
    segment_bytes: 32,
    bytes_per_cycle: 16.0,
    max_segments: 3,
    max_stores: 2,
    store_latency: 0,
    merge: false,
};

fn of(parameters: Parameters) -> GlobalMemory {
    let mut sm = Config::preset("small").unwrap().sm;
    sm.global = parameters;
    GlobalMemory::new(&sm, 0)
}

fn memory() -> GlobalMemory {
    of(PARAMETERS)
}

fn segments(stride: i64) -> usize {
    let mut instr = Instr::new(InstrKind::LdGlobal, 0, full_mask(32));
    instr.addrs = Addresses::Affine { base: 64, stride };
    memory().coalesce(&instr, instr.mask).len()
}

#[test]
fn lanes_coalesce_into_the_segments_they_touch() {
    assert_eq!((segments(0), segments(4), segments(-2)), (1, 4, 3));
    assert_eq!(segments(32), 32);
}

#[test]
fn bandwidth_and_outstanding_segments_bound_the_channel() {
    let mut memory = memory();
    assert_eq!(memory.send_load(&[0], 9), 50);
    assert_eq!(memory.send_load(&[1], 9), 52, "two cycles a segment");
    assert_eq!(memory.send_load(&[2], 20), 61);
    // Three are outstanding: the next waits for the first's data.
    assert_eq!(memory.send_load(&[3], 20), 90);
    assert_eq!(memory.send_load(&[], 20), 21, "no lane, no wait");
}

#[test]
fn a_load_without_lanes_waits_for_no_other() {
    let mut memory = memory();
    let load = |warp, ready| Return {
        warp,
        tag: 0,
        mask: 0,
        ready,
        pass: 0,
    };
    let far = memory.send_load(&[0], 9);
    memory.expect(load(0, far));
    let near = memory.send_load(&[], 9);
    memory.expect(load(1, near));
    memory.expect(load(2, near));
    assert_eq!(memory.next_arrival(), Some(10));
    let arrived = |m: &GlobalMemory| m.arrived(60).map(|r| r.warp);
    for warp in [1, 2, 0] {
        assert_eq!(arrived(&memory), Some(warp));
        memory.taken(1);
    }
    assert!(memory.is_idle(60));
}

#[test]
fn a_store_has_an_entry_until_its_last_slot() {
    let mut memory = memory();
    assert!(memory.reserve(1) && memory.reserve(1));
    assert!(!memory.reserve(1), "neither was sent");
    // Slots in 10 and 12; the channel has taken the second in 13.
    assert_eq!(memory.send_store(&[0, 1], 9).taken, 13);
    assert_eq!(memory.next_entry(), Some(12));
    assert!(!memory.reserve(11) && memory.reserve(12));
    assert!(memory.has_stores(13) && !memory.has_stores(14));
    // Without a lane it asks for nothing.
    assert_eq!(memory.send_store(&[], 14).taken, 14);
    assert!(memory.reserve(14) && memory.is_idle(14));
}

/// 64 bytes at 2.5 a cycle take 25.6 cycles, and the fractions add up exactly.
#[test]
fn parts_of_cycles_add_up_exactly() {
    let mut memory = of(Parameters {
        segment_bytes: 64,
        bytes_per_cycle: 2.5,
        max_segments: 1000,
        ..PARAMETERS
    });
    for k in 0..100_000u64 {
        let data = memory.send_load(&[k], 0);
        assert_eq!(data, 1 + k * 256 / 10 + 40);
    }
    // The channel is free again within a cycle; it was idle before 5000000.
    assert_eq!(memory.channel.end(), 1 + 2_560_000);
    assert_eq!(memory.send_load(&[0], 4_999_999), 5_000_040);
    assert_eq!(memory.channel.end(), 5_000_026);
}

#[test]
fn loads_of_what_is_under_way_wait_for_it() {
    let mut memory = of(Parameters {
        merge: true,
        ..PARAMETERS
    });
    assert_eq!(memory.send_load(&[5, 6], 9), 52);
    assert_eq!(memory.send_load(&[5], 30), 50);
    assert_eq!(memory.send_load(&[5, 6], 48), 52);
    assert_eq!((memory.channel.segments, memory.merged), (2, 3));
    // It is back in 50: whoever looks then asks again.
    assert_eq!(memory.send_load(&[5], 49), 90);
    // Stores neither wait nor are waited for.
    assert!(memory.reserve(60));
    assert_eq!(memory.send_store(&[5], 60).taken, 62);
    assert_eq!((memory.channel.segments, memory.merged), (4, 3));
}

/// NVIDIA's Best Practices Guide: what a warp costs is the number of its sectors of 32 bytes,
/// wherever in their lines they are.
#[test]
fn sectors_cost_what_they_have_in_bytes() {
    let sm90 = Config::preset("sm90").unwrap();
    let data = |stride: u64| {
        let segments: Vec<u64> = (0..32).map(|k| stride * k).collect();
        GlobalMemory::new(&sm90.sm, 0).send_load(&segments, 0)
    };
    assert_eq!(data(4), data(1));
}

#[test]
fn a_sectored_line_has_what_was_asked_for() {
    let sm90 = Config::preset("sm90").unwrap();
    let mut memory = GlobalMemory::new(&sm90.sm, 0);
    let mut counted = |segments: &[u64], cycle: u64| {
        memory.send_load(segments, cycle);
        let l1 = memory.l1.as_ref().unwrap();
        [l1.hits, l1.misses, l1.merged]
    };
    assert_eq!(counted(&[0, 1], 0), [0, 1, 0]);
    assert_eq!(counted(&[1], 1), [0, 1, 1]);
    assert_eq!(counted(&[0, 1], 5000), [1, 1, 1]);
    assert_eq!(counted(&[2], 6000), [1, 2, 1]);
    assert_eq!(memory.channel.segments, 3);
    memory.reserve(9000);
    memory.send_store(&[0], 9000);
    let mut missed = |segment: u64, cycle: u64| {
        memory.send_load(&[segment], cycle);
        memory.l1.as_ref().unwrap().misses
    };
    assert_eq!([missed(1, 10_000), missed(0, 11_000)], [2, 3]);
}

/// What goes past the L1 takes the latency of the L2 every time; an atomic makes what the L1
/// has stale.
#[test]
fn atomics_go_past_the_l1() {
    let sm90 = Config::preset("sm90").unwrap();
    let mut memory = GlobalMemory::new(&sm90.sm, 0);
    let far = u64::from(sm90.sm.global.latency);
    assert_eq!(memory.send_load(&[0], 0), 1 + far);
    assert_eq!(memory.send_load(&[0], 1000), 1001 + 34);
    assert_eq!(memory.send_past_l1(&[0], 2000, false), 2001 + far);
    assert_eq!(memory.send_load(&[0], 3000), 3001 + 34);
    assert_eq!(memory.send_past_l1(&[0], 4000, true), 4001 + far);
    assert_eq!(memory.send_load(&[0], 5000), 5001 + far);
    // The papers' machines send everything through it.
    let mut sm = sm90.sm.clone();
    sm.l1.bypass = false;
    let mut memory = GlobalMemory::new(&sm, 0);
    memory.send_load(&[0], 0);
    assert_eq!(memory.send_past_l1(&[0], 1000, true), 1001 + 34);
}

/// The L1 has what the scratchpad of the resident blocks leaves.
#[test]
fn a_unified_l1_is_as_large_as_the_scratchpad_leaves_it() {
    let sm90 = Config::preset("sm90").unwrap();
    // Every line of so many KiB is loaded twice: a stride over more than there is never hits.
    let hits = |kib: u64, scratchpad: u64| {
        let mut memory = GlobalMemory::new(&sm90.sm, scratchpad << 10);
        for n in 0..2 * 8 * kib {
            memory.send_load(&[n % (8 * kib) * 4], 1000 * n);
        }
        memory.l1.as_ref().map_or(0, |l1| l1.hits)
    };
    for (kib, scratchpad, there) in [(256, 0, 256), (28, 228, 28), (35, 228, 0), (64, 256, 0)] {
        let found = hits(kib, scratchpad);
        assert!(
            found <= 8 * there && (there == 0 || found == 8 * there),
            "{kib} {scratchpad}: {found}"
        );
    }
}
