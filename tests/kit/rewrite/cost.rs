//! What the mapping costs on the kernels of the hash paper's Table 5.

use super::{Case, kernel};
use std::process::Command;

/// Launch files that stand for the benchmarks of Table 5 (docs/reference/kernels.md).
const TABLE_5: [(&str, &str); 22] = [
    ("transpose", "transpose/transpose"),
    ("reduction", "reduction/reduction"),
    ("matrix scan", "scan/scan"),
    ("FWT", "fwt/fwt"),
    ("conv-1", "convolution/conv_rows"),
    ("conv-2", "convolution/conv_columns"),
    ("dct8x8-1", "dct8x8/dct"),
    ("dct8x8-2", "dct8x8/idct"),
    ("dwtHaar1D", "haar/haar"),
    ("FFT-1", "fft/fft_radix2"),
    ("FFT-2", "fft/fft_radix8"),
    ("hist64", "histogram/histogram64"),
    ("hist256", "histogram/histogram256"),
    ("lavaMD", "lavamd/lavamd"),
    ("LUD-1", "lud/lud_perimeter"),
    ("LUD-2", "lud/lud_internal"),
    ("MRI-grid-1", "gridding/split_sort"),
    ("MRI-grid-2", "gridding/scan_counts"),
    ("MRI-grid-3", "gridding/gridding.toml:rearrange"),
    ("MRI-grid-4", "gridding/gridding.toml:gridding"),
    ("NW-1", "nw/nw_upper"),
    ("NW-2", "nw/nw_lower"),
];

/// The best bit-vector XOR that `tune` finds.
fn best(input: &str) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_spadkit"))
        .args([
            "tune",
            input,
            "--hash",
            "bitvec-xor",
            "--method",
            "exhaustive",
        ])
        .args(["--format", "json", "-q"])
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    json["results"][0]["hash"].as_str().unwrap().to_owned()
}

/// Prints the table of docs/guides/rewrite.md:
/// `cargo test --workspace --test kit cost_of_table_5 -- --ignored --nocapture`.
#[test]
#[ignore = "a table for the documentation"]
fn cost_of_table_5() {
    let (mut sums, mut count) = ([0.0; 2], 0);
    println!(
        "| benchmark | launch file | best bit-vector XOR | accesses | added, plain | added | conflicts |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, launch) in TABLE_5 {
        let (file, entry) = match launch.split_once(".toml:") {
            Some((file, entry)) => (file, Some(entry)),
            None => (launch, None),
        };
        let path = kernel(file);
        let input = match entry {
            Some(entry) => format!("{}:{entry}", path.display()),
            None => path.display().to_string(),
        };
        let spec = best(&input);
        let case = Case::load(&path, "fermi");
        let mut cells = Vec::new();
        let mut conflicts = String::new();
        let mut accesses = 0;
        for (optimise, sum) in [false, true].into_iter().zip(&mut sums) {
            let entries = case.entries();
            let request = case.request(&spec, optimise, entry.unwrap_or(&entries[0]));
            let (rewritten, measured) = case.run(&request);
            let Some(measured) = measured else {
                cells.push(rewritten.refused().unwrap().to_owned());
                continue;
            };
            assert!(measured.outputs_equal);
            let added = measured.added_per_access.unwrap();
            *sum += added;
            count += usize::from(optimise);
            cells.push(format!("{added:.2}"));
            conflicts = format!(
                "{} -> {}",
                measured.conflicts_before, measured.conflicts_after
            );
            accesses = measured.shared_accesses;
        }
        println!(
            "| {name} | {launch} | {spec} | {accesses} | {} | {conflicts} |",
            cells.join(" | ")
        );
    }
    let mean = sums.map(|s| s / f64::from(count as u32));
    println!(
        "| mean of {count} | | | | {:.2} | {:.2} | |",
        mean[0], mean[1]
    );
    assert!(mean[1] <= 2.0, "{mean:?}");
}
