//! Histograms: how often each pixel value occurs.

use crate::harness::Kernel;

fn check(name: &str, bins: usize, blocks: u32, n: usize) {
    Kernel::load("histogram", name)
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
