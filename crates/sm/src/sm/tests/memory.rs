//! Global memory and the L1: small kernels whose answer is a formula.

use super::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// [`tiny`] with an L1 of 16 lines of 128 bytes, each of four segments.
fn cached(more: &str) -> Config {
    tiny(&format!("[l1]\nsize_bytes = 2048\n{more}"))
}

/// Hits, misses and merged lines.
fn l1(s: &Statistics) -> [u64; 3] {
    [s.l1_hits, s.l1_misses, s.l1_merged]
}

/// A stream of loads, or of stores, takes its bytes by the bandwidth.
#[test]
fn a_stream_is_as_fast_as_the_channel() {
    // Eight segments of 128 bytes at a time by each of 48 warps.
    let lines: Vec<String> = (0..8)
        .map(|k| format!("[1536*4*{k} + 49152*i + 4*t]"))
        .collect();
    let kernel = |access: &dyn Fn(usize, &str) -> String| {
        let body: Vec<String> = (0..8).map(|k| access(k, &lines[k])).collect();
        format!(".block 1536\nrepeat 8\n{}end\n", body.concat())
    };
    let loads = kernel(&|k, at| format!("ld.global r{k}, {at}\n"));
    let stores = kernel(&|_, at| format!("st.global {at}, r1\n"));
    let bytes = f64::from(8 * 8 * 1536 * 4);
    for (per_cycle, segment) in [(2.5, 64), (8.0, 64), (16.0, 128), (24.0, 128), (17.777, 32)] {
        for (l1_bytes, text) in [(0, &loads), (16384, &loads), (0, &stores)] {
            let config = machine(&format!(
                "[global]\nbytes_per_cycle = {per_cycle}\nsegment_bytes = {segment}\n\
                 max_segments = 1024\n[l1]\nsize_bytes = {l1_bytes}\nmshrs = 256\n"
            ));
            let s = run(&config, text).unwrap();
            let latency = if std::ptr::eq(text, &stores) {
                0.0
            } else {
                400.0
            };
            let expected = bytes / per_cycle + latency;
            let off = s.cycles as f64 / expected - 1.0;
            assert!(
                off.abs() < 0.01,
                "{per_cycle}, L1 of {l1_bytes}: {off} {s:?}"
            );
            assert_eq!(s.global_segments * segment, bytes as u64);
        }
    }
}

/// The end of a block waits for its last store's acknowledgement, nothing else
/// does: blocks one after another take the latency longer, each.
#[test]
fn a_block_ends_when_its_stores_are_acknowledged() {
    let cycles = |latency: u32, blocks: u32, text: &str| {
        let global = format!("[global]\nstore_latency = {latency}\n");
        let s = run(
            &tiny(&global),
            // All of the scratchpad: one block at a time.
            &format!(".grid {blocks}\n.warp_size 8\n.block 8\n.shared 4096\n{text}"),
        )
        .unwrap();
        assert_eq!(s.issued + s.stalls.total(), s.cycles);
        s.cycles
    };
    let ends = "st.global [4*l], r1\n";
    let goes_on = "st.global [4*l], r1\nrepeat 90\nalu r2, r2\nend\n";
    for text in [ends, goes_on] {
        assert!(cycles(300, 1, text) > cycles(0, 1, text));
        for blocks in [1, 2, 5] {
            let more = cycles(350, blocks, text) - cycles(300, blocks, text);
            assert_eq!(more, 50 * u64::from(blocks), "50 cycles more each");
        }
    }
    // 90 dependent instructions hide an acknowledgement that comes before their end.
    assert_eq!(cycles(60, 3, goes_on), cycles(0, 3, goes_on));
    assert!(cycles(60, 3, ends) > cycles(0, 3, ends));
}

/// Dependent loads: latency by latency, with 7 cycles of the path in between.
#[test]
fn a_chase_takes_the_latency_of_each_step() {
    let step = |config: &Config, stride: u32| {
        let text = |n| format!("repeat {n}\nld.global r1, [{stride}*i + 4*l], r1\nend\n");
        let cycles = |n| run(config, &warps(&text(n))).unwrap().cycles;
        assert_eq!((cycles(40) - cycles(20)) % 20, 0);
        (cycles(40) - cycles(20)) / 20
    };
    for latency in [40, 55] {
        let global = format!("[global]\nlatency = {latency}\n");
        assert_eq!(step(&tiny(&global), 128), latency + 7);
        for hit in [1, 20, 31] {
            let with_l1 = cached(&format!("latency = {hit}\nline_bytes = 32\n{global}"));
            assert_eq!(step(&with_l1, 128), latency + 7, "all miss");
            assert_eq!(step(&with_l1, 0), hit + 7, "all but the first hit");
        }
    }
}

/// Lines one after another, twice: the second round hits if all of them fit,
/// and never where LRU has just replaced the next one.
#[test]
fn two_rounds_over_lines() {
    let rounds = |config: &Config, lines: u64| {
        let text = format!("repeat 2\nrepeat {lines}\nld.global r1, [128*i]\nend\nend\n");
        let s = run(config, &warps(&text)).unwrap();
        assert_eq!(s.global_segments, 4 * s.l1_misses);
        l1(&s)
    };
    for ways in [1, 2, 4, 16] {
        let config = cached(&format!("ways = {ways}\n"));
        for lines in [1, 7, 16] {
            assert_eq!(rounds(&config, lines), [lines, lines, 0], "{ways} ways");
        }
        // Every set has lines beyond its ways.
        let sets = 16 / ways;
        for lines in [16 + sets, 32, 50] {
            assert_eq!(rounds(&config, lines), [0, 2 * lines, 0], "{ways} ways");
        }
    }
    // One line too many spoils one set alone.
    assert_eq!(rounds(&cached("ways = 4\n"), 17), [12, 22, 0]);
}

/// One line that all warps want is asked for once.
#[test]
fn what_is_under_way_is_asked_for_once() {
    for warps in [1, 2, 8] {
        let text = |address: &str| {
            let block = 8 * warps;
            format!(".warp_size 8\n.block {block}\nld.global r1, [{address}]\nalu r2, r1\n")
        };
        let s = run(&cached(""), &text("4*l")).unwrap();
        assert_eq!((l1(&s), s.global_segments), ([0, 1, warps - 1], 4));
        // Without an L1, by segments, where the machine does so.
        let merging = tiny("[global]\nmerge = true\n");
        let s = run(&merging, &text("32*(l/4)")).unwrap();
        assert_eq!((s.global_merged, s.global_segments), (2 * warps - 2, 2));
        let s = run(&tiny(""), &text("32*(l/4)")).unwrap();
        assert_eq!((s.global_merged, s.global_segments), (0, 2 * warps));
        assert_eq!(l1(&s), [0; 3]);
    }
}

/// Lines drawn from K: a cache of C of them has the next one with C / K.
#[test]
fn random_lines_hit_by_the_part_that_fits() {
    const ACCESSES: usize = 20_000;
    const LINES: u32 = 64;
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut load = || format!("ld.global r1, [{}]\n", 128 * (rng.next_u32() % LINES));
    let text = warps(&(0..ACCESSES).map(|_| load()).collect::<String>());
    for (capacity, ways) in [
        (4, 4),
        (16, 2),
        (32, 4),
        (48, 48),
        (48, 6),
        (64, 4),
        (128, 4),
    ] {
        let size = 128 * capacity;
        let config = tiny(&format!("[l1]\nsize_bytes = {size}\nways = {ways}\n"));
        let s = run(&config, &text).unwrap();
        let [hits, misses, merged] = l1(&s);
        assert_eq!((hits + misses, merged), (ACCESSES as u64, 0));
        let rate = hits as f64 / ACCESSES as f64;
        let expected = (f64::from(capacity) / f64::from(LINES)).min(1.0);
        let off = (rate - expected).abs();
        assert!(off < 0.02, "{capacity} lines, {ways} ways: {rate}");
    }
}

/// With one MSHR a miss waits for the one before, and so do hits after it.
#[test]
fn misses_wait_for_an_mshr() {
    let cycles = |mshrs: u32, body: &str| {
        let config = cached(&format!("line_bytes = 32\nmshrs = {mshrs}\n"));
        run(&config, &warps(body)).unwrap().cycles
    };
    // Looked up from cycle 6 on; used the second cycle after the data.
    let eight = "ld.global r1, [32*l]\nalu r2, r1\n";
    assert_eq!(cycles(1, eight), 6 + 8 * 40 + 2);
    assert_eq!(cycles(4, eight), 6 + 2 * 40 + 3 * 2 + 2);
    assert_eq!(
        cycles(8, eight),
        6 + 40 + 7 * 2 + 2,
        "the channel's two cycles each"
    );
    let behind = "ld.global r1, [0]\nalu r9, r1\nld.global r2, [32 + 32*(l/4)]\n\
                  ld.global r3, [0]\nalu r4, r3\n";
    // The load after is sent three cycles after the first of the lines; with
    // one MSHR it waits for that line's data and a look-up.
    assert_eq!(cycles(2, behind) + 40 - 2, cycles(1, behind));
}

/// A store writes through and takes its line out.
#[test]
fn stores_take_lines_out() {
    let of = |store: &str| {
        let body = format!("ld.global r1, [0]\n{store}\nld.global r1, [0]\nld.global r1, [0]\n");
        l1(&run(&cached(""), &warps(&body)).unwrap())
    };
    assert_eq!(of("alu r1, r1"), [2, 1, 0]);
    assert_eq!(of("st.global [96], r1"), [1, 2, 0]);
    assert_eq!(of("st.global [128], r1"), [2, 1, 0], "another line");
    let alone = run(
        &cached(""),
        &warps("st.global [0], r1\nld.global r1, [0], r1\n"),
    )
    .unwrap();
    assert_eq!(l1(&alone), [0, 1, 0], "it brings none in");
}
