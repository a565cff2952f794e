//! The sharing paper's resident blocks, and the closed form, compared with the
//! optimisation problem that it solves.

use super::*;

fn resident(preset: &str, bytes: u32, threads: u64, sharing: Option<f64>) -> Residency {
    let machine = Config::preset(preset).unwrap();
    let block = BlockNeeds {
        name: "k",
        scratchpad_bytes: bytes,
        threads,
        registers: 0,
    };
    Residency::new(&machine, &block, sharing).unwrap()
}

/// Blocks without sharing, with sharing at t = 0.1, and pairs.
fn counts(preset: &str, bytes: u32, threads: u64) -> [u32; 3] {
    let shared = resident(preset, bytes, threads, Some(0.1));
    let without = resident(preset, bytes, threads, None);
    assert_eq!((without.blocks(), without.pairs), (shared.unshared, 0));
    assert_eq!(shared.pairs + shared.alone, shared.unshared);
    [shared.unshared, shared.blocks(), shared.pairs]
}

/// Fig. 13 as section 8.1.1 reads it: DCT1 and DCT2 7 and 14, DCT3 and DCT4 7
/// and 12 with two blocks alone, FDTD3d two more of four, all others 1 and 2.
#[test]
fn table_1_has_the_resident_blocks_of_fig_13() {
    for (kernel, bytes, threads, expected) in [
        ("backprop", 9408, 256, [1, 2, 1]),
        ("DCT1", 2112, 64, [7, 14, 7]),
        ("DCT2", 2112, 64, [7, 14, 7]),
        ("DCT3", 2176, 128, [7, 12, 5]),
        ("DCT4", 2176, 128, [7, 12, 5]),
        ("NQU", 10496, 64, [1, 2, 1]),
        ("SRAD1", 13824, 576, [1, 2, 1]),
        ("SRAD2", 11520, 576, [1, 2, 1]),
        ("FDTD3d", 3840, 128, [4, 6, 2]),
        ("heartwall", 11872, 128, [1, 2, 1]),
        ("histogram", 9216, 192, [1, 2, 1]),
        ("MC1", 9216, 32, [1, 2, 1]),
        ("NW1", 8452, 32, [1, 2, 1]),
        ("NW2", 8452, 32, [1, 2, 1]),
    ] {
        assert_eq!(counts("gpgpusim-16k", bytes, threads), expected, "{kernel}");
    }
}

/// Table VII's kernels on Table VIII's machines. The text gives 16 for FDTD3d
/// with 48 KB, where sharing does not apply with 64 KB, and 8 for backprop with
/// 64 KB, each the limit on threads. Its 8 for DCT1 and DCT2 are that limit for
/// blocks of 256 threads; of the 128 in the table 16 would fit. The others
/// follow from the bytes.
#[test]
fn table_7_has_the_resident_blocks_of_section_8_3() {
    for (kernel, preset, bytes, threads, expected) in [
        ("backprop", "sharing-64k", 9408, 256, [6, 8, 2]),
        ("FDTD3d", "sharing-48k", 3840, 128, [12, 16, 4]),
        ("FDTD3d", "sharing-64k", 3840, 128, [16, 16, 0]),
        ("DCT1, 256 threads", "sharing-48k", 8320, 256, [5, 8, 3]),
        ("DCT2, 256 threads", "sharing-64k", 8320, 256, [7, 8, 1]),
        ("DCT1", "sharing-48k", 8320, 128, [5, 10, 5]),
        ("NQU", "sharing-48k", 10496, 64, [4, 8, 4]),
        ("histogram", "sharing-48k", 9216, 192, [5, 8, 3]),
        ("MC1", "sharing-48k", 9216, 32, [5, 8, 3]),
        ("MC2", "sharing-48k", 13824, 48, [3, 6, 3]),
        ("MC2", "sharing-64k", 13824, 48, [4, 8, 4]),
        ("NW1", "sharing-48k", 8452, 32, [5, 10, 5]),
        ("heartwall", "sharing-48k", 11872, 128, [4, 5, 1]),
        ("kmeans", "gpgpusim-16k", 4608, 576, [3, 5, 2]),
        ("lud", "gpgpusim-16k", 3872, 484, [4, 6, 2]),
    ] {
        assert_eq!(counts(preset, bytes, threads), expected, "{kernel}");
    }
}

/// Over all S and U: no choice within the paper's constraints has more blocks.
#[test]
fn no_pairs_and_blocks_alone_are_more() {
    let machine = Config::preset("gpgpusim-16k").unwrap();
    let capacity = machine.capacity_words;
    for words in (1..capacity).step_by(37) {
        for (threads, registers) in [(32, 0), (100, 0), (512, 0), (64, 60)] {
            for t in [0.0, 0.1, 0.25, 0.5, 0.9, 1.0] {
                let block = BlockNeeds {
                    name: "k",
                    scratchpad_bytes: 4 * words,
                    threads,
                    registers,
                };
                let found = Residency::new(&machine, &block, Some(t)).unwrap();
                let most = (96 / threads.div_ceil(32) as u32)
                    .min(16)
                    .min(65536 / (registers * threads as u32).max(1));
                let baseline = most.min(capacity / words);
                let private = (f64::from(words) * 4.0 * t / 4.0 + 1e-6).floor() as u32;
                let mut best = baseline;
                for s in 0..=most / 2 {
                    for u in 0..=most - 2 * s {
                        let fits = s * (words + private) + u * words <= capacity;
                        // With t = 1 a pair shares nothing: no partner waits.
                        if fits && s + u >= baseline && private < words {
                            best = best.max(2 * s + u);
                        }
                    }
                }
                assert_eq!(found.blocks(), best, "{words} words, {threads}, t = {t}");
                assert_eq!(found.unshared, baseline);
            }
        }
    }
}

#[test]
fn the_limit_is_named() {
    let limit = |bytes, threads, sharing| resident("gpgpusim-16k", bytes, threads, sharing).limit;
    assert_eq!(limit(2176, 128, Some(0.1)), Limit::Scratchpad);
    assert_eq!(limit(3872, 484, None), Limit::Scratchpad);
    assert_eq!(limit(3872, 484, Some(0.1)), Limit::Warps);
    assert_eq!(limit(4, 32, None), Limit::Blocks);
    assert_eq!(limit(0, 1024, Some(0.1)), Limit::Warps);
    let machine = Config::preset("gpgpusim-16k").unwrap();
    let block = BlockNeeds {
        name: "k",
        scratchpad_bytes: 0,
        threads: 256,
        registers: 64,
    };
    let found = Residency::new(&machine, &block, None).unwrap();
    assert_eq!((found.blocks(), found.limit), (4, Limit::Registers));
}

#[test]
fn a_decimal_threshold_means_its_decimal_value() {
    // 0.29 * 100 is 28.999... in binary.
    let words = |bytes, t| resident("gpgpusim-16k", bytes, 32, Some(t)).private_words;
    assert_eq!(words(400, 0.29), 29);
    assert_eq!(words(2112, 0.1), 52);
    assert_eq!((words(400, 0.0), words(402, 1.0)), (0, 100));
}

/// `cudaOccMaxActiveBlocksPerMultiprocessor` of NVIDIA's cuda_occupancy.h (CUDA 13), run for
/// these: registers, threads, bytes, blocks.
#[test]
fn todays_gpus_have_the_resident_blocks_of_cuda_occupancy_h() {
    let of = |preset: &str, (registers, threads, bytes): (u32, u64, u32)| {
        let machine = Config::preset(preset).unwrap();
        let block = BlockNeeds {
            name: "k",
            scratchpad_bytes: bytes,
            threads,
            registers,
        };
        Residency::new(&machine, &block, None).map(|found| found.blocks())
    };
    for (preset, needs, expected) in [
        ("sm80", (16, 64, 55808), 2),
        ("sm80", (16, 32, 8192), 18),
        ("sm90", (16, 32, 8192), 25),
        ("sm86", (16, 32, 8192), 11),
        ("sm86", (40, 256, 20000), 4),
        ("sm70", (33, 256, 1024), 6),
        ("sm80", (33, 256, 1024), 6),
        ("sm90", (33, 256, 1024), 6),
        ("sm70", (33, 64, 1024), 24),
        ("sm90", (41, 48, 1024), 20),
        ("sm80", (129, 48, 1024), 6),
        ("sm70", (32, 64, 1025), 32),
        ("sm70", (32, 64, 12289), 7),
        ("sm75", (32, 64, 12289), 5),
        ("sm90", (255, 256, 0), 1),
        ("sm90", (128, 512, 0), 1),
    ] {
        assert_eq!(of(preset, needs).unwrap(), expected, "{preset} {needs:?}");
    }
    // 160 registers of 416 threads are 66,560; the check counts 16 warps for 13.
    let refused = of("sm90", (160, 416, 0)).unwrap_err().to_string();
    assert!(refused.contains("needs 81920 registers"), "{refused}");
}
