//! Transforms, spectral elements, and what profilers count.

use super::page::{assert_says, cells, counted, rows};
use super::{array, of_lines, tuned};
use crate::common::json;
use spadkit::software::Layout;
use spadkit::software::choice::MappingKind;

/// accel-sim/accel-sim-framework pull request 231: NVIDIA's sample of bank
/// conflicts, counted over its whole grid.
#[test]
fn conflicts_of_a_whole_grid() {
    let rows = rows("profiler");
    let kernels = ["transpose_512", "transpose_512_padded"];
    assert_eq!(rows.len(), kernels.len());
    for (kernel, row) in kernels.iter().zip(&rows) {
        let file = format!("kernels/questions/{kernel}.toml");
        let found = json(&["sim", &file, "--preset", "sm70"]);
        assert_eq!(row[1], found["bank_conflicts"].to_string());
        assert_eq!(row[2], row[1], "the simulator counts the same");
        let [kit, gpu] = [1, 3].map(|c| row[c].parse::<u64>().unwrap());
        assert_says("profiler", &[&format!("{} more", gpu - kit)]);
    }
    let found = json(&["conflicts", "kernels/questions/transpose_512_padded.toml"]);
    assert_eq!(found["results"][0]["max_degree"], 1);
    let block = array("questions/transpose_512");
    assert_eq!(counted(&block, "mod"), ["mod", "992", "32"]);
    assert_says("profiler", &["256 blocks", "32 loads", "31 conflicts"]);
}

/// NVIDIA/CUDALibrarySamples issue 366: the exchange between two steps.
#[test]
fn the_exchange_of_a_transform() {
    let rows = rows("exchange of an FFT");
    assert_eq!(rows.len(), 3);
    for (each, row) in [4, 8, 16].into_iter().zip(&rows) {
        let array = array(&format!("questions/exchange_{each}"));
        let [_, conflicts, degree] = counted(&array, "mod");
        assert_eq!(row[..3], [each.to_string(), conflicts, degree]);
        let found = tuned(&array, &MappingKind::all());
        let best = found.best();
        assert!(found.fewest_proved() && best.costs().0 == 0);
        assert_eq!(row[3], best.layout.spec().to_string());
        assert_eq!(counted(&array, "pad:every=32,by=1")[1..], ["0", "1"]);
        // Its 31 words between 1024.
        let padded = Layout::new(&"pad:every=32,by=1".parse().unwrap(), array.geometry()).unwrap();
        assert_eq!(4 * (padded.place(1023) - 1023), 124);
        let swizzled = Layout::new(&"swizzle:3,0,5".parse().unwrap(), array.geometry()).unwrap();
        assert!((0..1024).all(|i| swizzled.place(i) == i ^ (i >> 5 & 7)));
    }
}

/// ExtremeFLOW/neko issue 549: rows of eight, of nine, and swizzled.
#[test]
fn a_spectral_element() {
    let of = |kernel: &str, spec: &str| {
        let file = format!("kernels/questions/{kernel}.toml");
        let found = json(&["conflicts", &file, "--source", "--hash", spec]);
        let stores = [":187", ":188", ":190", ":197", ":198"];
        let is_store = |p: &[String]| stores.iter().any(|line| p[0].ends_with(line));
        let result = &found["results"][0];
        [
            of_lines(result, |p| !is_store(p)),
            of_lines(result, is_store),
        ]
    };
    let rows = rows("row of nine");
    let specs = [
        ["spectral", "mod", "spectral_double", "mod"],
        ["spectral_padded", "mod", "spectral_double_padded", "mod"],
        [
            "spectral",
            "pad:every=32,by=1",
            "spectral_double",
            "pad:every=32,by=2",
        ],
        [
            "spectral",
            "swizzle:1,2,3",
            "spectral_double",
            "swizzle:2,2,3",
        ],
    ];
    assert_eq!(rows.len(), specs.len());
    for ([float, float_spec, double, double_spec], row) in specs.iter().zip(&rows) {
        let counts = [of(float, float_spec), of(double, double_spec)].concat();
        assert_eq!(row[1..], cells(counts));
    }
    for (kernel, spec) in [
        ("spectral", "swizzle:1,2,3"),
        ("spectral_double", "swizzle:2,2,3"),
    ] {
        let file = format!("kernels/questions/{kernel}.toml");
        let found = json(&["tune", &file, "--software"]);
        assert_eq!(found["results"][0]["hash"], spec);
        assert_eq!(found["fewest_proved"], true);
        let apart = &found["per_variable"];
        let added = apart["added_per_access"].as_f64().unwrap();
        assert_says("row of nine", &[&format!("{added:.2} operations")]);
        let variables = apart["variables"].as_array().unwrap();
        let hashes = variables.iter().map(|v| &v["results"][0]["hash"]);
        let moved: Vec<_> = hashes.filter(|h| **h != "mod").collect();
        assert_eq!(moved, [spec], "x alone is swizzled");
    }
    // The index that the page gives, word by word.
    for (spec, words, mask) in [("swizzle:1,2,3", 1, 4), ("swizzle:2,2,3", 2, 6)] {
        let kernel = array("questions/spectral_double");
        let layout = Layout::new(&spec.parse().unwrap(), kernel.geometry());
        let layout = layout.unwrap();
        for i in 0..64 {
            assert_eq!(layout.place(words * i), words * (i ^ (i >> 3 & mask)));
        }
    }
}

/// KAdamek/SMFFT issue 2: bits reversed by one store and one load.
#[test]
fn bits_reversed() {
    let rows = rows("bit reversal");
    assert_eq!(rows.len(), 3);
    for (bits, row) in [10, 11, 12].into_iter().zip(&rows) {
        let array = array(&format!("questions/reverse_{}", 1 << bits));
        let found = tuned(&array, &MappingKind::all());
        let spec = found.best().layout.spec().to_string();
        assert!(found.fewest_proved());
        assert_eq!(spec, format!("swizzle:4,1,{}", bits - 4));
        let count = |spec: &str| {
            let [_, conflicts, degree] = counted(&array, spec);
            format!("{conflicts}, degree {degree}")
        };
        let counts = ["mod", "pad:every=64,by=2", &spec].map(count);
        let [before, padded, after] = counts;
        let after = format!("{after} under {spec}");
        assert_eq!(*row, [(1 << bits).to_string(), before, padded, after]);
    }
}

/// NVIDIA's forum, thread 77228: equal addresses in pairs of lanes.
#[test]
fn four_addresses_of_a_warp() {
    let load = |kernel: &str, line: &str, preset: &str| {
        let file = format!("kernels/questions/{kernel}.toml");
        let found = json(&["conflicts", &file, "--source", "--preset", preset]);
        let result = &found["results"][0];
        assert_eq!(result["conflicts"], 0);
        let lines = result["lines"].as_array().unwrap();
        let load = lines.iter().find(|l| {
            let source = l["source"].as_str().unwrap();
            source.ends_with(line)
        });
        load.unwrap()["wavefronts"].to_string()
    };
    let rows = rows("four addresses");
    let kernels = [("quads_apart", ":293"), ("quads_in_pairs", ":302")];
    assert_eq!(rows.len(), kernels.len());
    for ((kernel, line), row) in kernels.into_iter().zip(&rows) {
        let counts = ["sm70", "sm90"].map(|preset| load(kernel, line, preset));
        assert_eq!(row[1..], counts, "{kernel}");
    }
}
