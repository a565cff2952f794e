//! Closed forms: latency of a hit and a miss, of a row that is open and one
//! that is not, and the bounds on what comes in a cycle.

use super::*;
use crate::config::Config;
use std::path::Path;

/// The machine's L2 and DRAM; 32-byte segments, 400 cycles to DRAM.
fn far(more: &str) -> Far {
    let text = format!("[global]\nlatency = 400\nsegment_bytes = 32\n{more}");
    let config = Config::from_toml(&text, Path::new("far.toml")).unwrap();
    Far::new(&config.sm).unwrap()
}

const L2: &str = "[l2]\nsize_bytes = 4096\nways = 4\nlatency = 200\n";
/// 64 bytes a cycle of each of two channels, rows of 1024 bytes in four banks.
const DRAM: &str = "[dram]\nchannels = 2\nbanks = 4\nstripe_bytes = 256\nrow_bytes = 1024\n\
    bytes_per_cycle = 64\nopen = 20\nbetween = 5\nrow_cycle = 40\n";

fn dram(more: &str) -> Far {
    far(&format!("{DRAM}{more}"))
}

fn data(far: &mut Far, segment: u64, cycle: u64) -> u64 {
    far.request(segment, cycle, false).data - cycle
}

#[test]
fn a_machine_without_them_has_none() {
    let config = Config::from_toml("", Path::new("plain.toml")).unwrap();
    assert!(Far::new(&config.sm).is_none());
}

#[test]
fn a_miss_takes_the_memory_s_latency_and_a_hit_the_cache_s() {
    let mut far = far(L2);
    assert_eq!(data(&mut far, 0, 10), 400);
    // Another segment of the line waits for it; later, it is a hit.
    assert_eq!(data(&mut far, 3, 60), 350);
    assert_eq!(data(&mut far, 1, 500), 200);
    assert_eq!(data(&mut far, 4, 500), 400, "the next line");
    assert_eq!(far.counted().0, [1, 2, 1]);
}

#[test]
fn a_loop_over_the_capacity_never_hits_and_one_within_it_always_does() {
    for (lines, hits) in [(32, 32), (40, 0)] {
        let mut far = far(L2);
        let mut cycle = 0;
        for _ in 0..2 {
            for line in 0..lines {
                cycle += 1000;
                far.request(4 * line, cycle, false);
            }
        }
        assert_eq!(far.counted().0[0], hits, "{lines} lines");
    }
}

/// Time of `n` segments that are asked for at once: the last one's data.
fn time(far: &mut Far, segments: impl Iterator<Item = u64>) -> u64 {
    let served = segments.map(|s| far.request(s, 0, false).data);
    served.max().unwrap_or(0)
}

#[test]
fn a_row_that_is_open_saves_its_opening() {
    let mut far = dram("");
    assert_eq!(data(&mut far, 0, 0), 420, "closed");
    assert_eq!(data(&mut far, 1, 100), 400, "open");
    // The stripes of a channel are every other one: bytes 0 to 255, 512 to 767.
    assert_eq!(data(&mut far, 16, 200), 400, "the same row of the channel");
    assert_eq!(data(&mut far, 8, 300), 420, "another channel");
    // Row 4 of the channel is in the bank of row 0: bytes 8192 on.
    assert_eq!(data(&mut far, 256, 400), 420, "another row");
    assert_eq!(data(&mut far, 0, 401), 420 + 39, "row_cycle later");
    assert_eq!(far.counted().1, [2, 4]);
}

#[test]
fn a_stream_takes_the_bandwidth_of_all_channels() {
    // 128 KB over 2 * 64 bytes a cycle.
    let n = 4096;
    let t = time(&mut dram("queue = 65536"), 0..n);
    let bound = n * 32 / 128;
    assert!((bound + 400..bound + 440).contains(&t), "{t}");
    // One channel alone: half of it.
    let one = (0..n).filter(|s| s / 8 % 2 == 0);
    let t = time(&mut dram("queue = 65536"), one);
    assert!((bound + 400..bound + 440).contains(&t), "{t}");
}

#[test]
fn rows_of_a_bank_follow_each_other_by_its_cycle_and_of_a_channel_by_the_distance() {
    // Rows of one bank of channel 0, 8192 bytes apart.
    let t = time(&mut dram("queue = 65536"), (0..100).map(|k| 256 * k));
    assert_eq!(t, 99 * 40 + 20 + 400);
    // Rows of the channel, 2048 bytes apart, go round four banks: 10 cycles each.
    let t = time(&mut dram("queue = 65536"), (0..100).map(|k| 64 * k));
    assert_eq!(t, 24 * 40 + 3 * 5 + 20 + 400);
}

/// As many SMs as `sms` get one part each of the bandwidth, and close the rows
/// that nobody waits for.
#[test]
fn other_sms_take_their_part() {
    let n = 4096;
    let t = time(&mut dram("sms = 8\nqueue = 65536"), 0..n);
    let bound = 8 * n * 32 / 128;
    assert!((bound + 390..bound + 440).contains(&t), "{t}");
    let mut shared = dram("sms = 8");
    assert_eq!(data(&mut shared, 0, 0), 420);
    assert_eq!(data(&mut shared, 1, 20), 404, "the bus is free again");
    assert_eq!(data(&mut shared, 2, 100), 420, "closed in between");
    // Rows of a channel: eight times the distance is more than a bank's cycle.
    let t = time(
        &mut far(&format!(
            "{}sms = 8\nqueue = 65536",
            DRAM.replace("between = 5", "between = 10")
        )),
        (0..100).map(|k| 64 * k),
    );
    assert_eq!(t, 99 * 80 + 20 + 400);
}

#[test]
fn a_full_queue_holds_up_the_port() {
    // A row at a time: 40 cycles each, two wait.
    let mut far = dram("queue = 2");
    let starts: Vec<u64> = (0..5)
        .map(|k| far.request(256 * k, 0, false).start)
        .collect();
    assert_eq!(starts, [0, 0, 20, 60, 100]);
}

#[test]
fn stores_are_written_back_when_their_line_makes_room() {
    let stores = |more: &str| {
        let mut far = far(&format!("{L2}{more}{DRAM}"));
        for line in 0..64 {
            far.request(4 * line, 1000 * line, true);
        }
        let dram = far.counted().1;
        dram[0] + dram[1]
    };
    // 32 lines fit: 32 of 64 go back, and each is fetched first, or is not.
    assert_eq!(stores(""), 32);
    assert_eq!(stores("fetch_on_write = true\n"), 64 + 32);
}
