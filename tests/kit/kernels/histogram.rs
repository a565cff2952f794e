//! Histograms: how often each pixel value occurs.

use crate::kernels::harness::TestKernel;

fn check(name: &str, bins: usize, blocks: u32, n: usize) {
    TestKernel::load("histogram", name)
        .grid([blocks, 1, 1])
        .count("words", n)
        .scalar("n", n as u32)
        .check(|run| {
            let pixels = run.before::<u8>("words");
            let occurs = |bin: usize| {
                pixels
                    .iter()
                    .filter(move |p| usize::from(**p) * bins / 256 == bin)
            };
            let want: Vec<u32> = (0..bins).map(|bin| occurs(bin).count() as u32).collect();
            assert_eq!(run.after::<u32>("histogram"), want, "{name} {n}");
        });
}

#[test]
fn bins_256() {
    for variant in ["", "_9216", "_plain", "_padded", "_stretched"] {
        check(&format!("histogram256{variant}"), 256, 2, 2000);
        check(&format!("histogram256{variant}"), 256, 1, 77);
    }
}

#[test]
fn bins_64() {
    check("histogram64", 64, 2, 8000);
    check("histogram64", 64, 1, 100);
    check("histogram64_atomic", 64, 2, 2000);
    check("histogram64_atomic", 64, 1, 3);
}

/// 12-bit pixels, 32 copies.
#[test]
fn copies_of_32() {
    for bins in [64usize, 256] {
        for n in [5000usize, 77] {
            let pixels: Vec<u16> = (0..n).map(|i| (i * i * 37 % 4096) as u16).collect();
            TestKernel::load("histogram", &format!("histogram{bins}_32"))
                .grid([2, 1, 1])
                .data("pixels", &pixels)
                .scalar("n", n as u32)
                .check(|run| {
                    let mut want = vec![0u32; bins];
                    for p in &pixels {
                        want[usize::from(*p) * bins / 4096] += 1;
                    }
                    assert_eq!(run.after::<u32>("histogram"), want, "{bins} {n}");
                });
        }
    }
}

/// The same with 64 bins and each number of copies.
#[test]
fn number_of_copies() {
    for copies in [1, 2, 4, 8, 16, 32, 64, 128] {
        let pixels: Vec<u16> = (0..3000).map(|i| (i * i * 37 % 4096) as u16).collect();
        TestKernel::load("histcopies", &format!("copies{copies}"))
            .grid([2, 1, 1])
            .data("pixels", &pixels)
            .scalar("n", 3000u32)
            .check(|run| {
                let mut want = vec![0u32; 64];
                for p in &pixels {
                    want[usize::from(*p) / 64] += 1;
                }
                assert_eq!(run.after::<u32>("histogram"), want, "{copies}");
            });
    }
}

/// Bins, copies and their layout are arguments: copies behind each other, with
/// a word of padding, and those of a bin side by side.
#[test]
fn copies_in_any_layout() {
    for (bins, copies) in [(32u32, 4u32), (256, 32), (4096, 2), (64, 1)] {
        for (step, pitch) in [(1, bins), (1, bins + 1), (copies, 1)] {
            let words = (copies - 1) * pitch + (bins - 1) * step + 1;
            let pixels: Vec<u16> = (0..3000).map(|i| (i * i * 37 % 4096) as u16).collect();
            let name = format!("{bins} bins, {copies} copies, step {step}");
            TestKernel::load("histspread", "histspread")
                .grid([2, 1, 1])
                .dynamic_shared(4 * words)
                .data("pixels", &pixels)
                .scalar("n", 3000u32)
                .scalar("shift", (4096 / bins).trailing_zeros())
                .scalar("copies", copies)
                .scalar("step", step)
                .scalar("pitch", pitch)
                .scalar("words", words)
                .check(|run| {
                    let mut want = vec![0u32; 4096];
                    for p in &pixels {
                        want[usize::from(*p) * bins as usize / 4096] += 1;
                    }
                    assert_eq!(run.after::<u32>("histogram"), want, "{name}");
                });
        }
    }
}
