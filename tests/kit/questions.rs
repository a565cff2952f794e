//! Questions about bank conflicts that people asked in public, and what
//! docs/guides/questions.md answers.

mod layouts;
mod page;
mod picture;
mod transforms;

use crate::common::json;
use serde_json::Value;
use spadkit::capture::{LaunchInput, RunOptions};
use spadkit::config::Config;
use spadkit::search::Control;
use spadkit::software::choice::{Array, Choices, Effort, MappingKind, choices};
use spadkit::software::{Layout, LayoutSpec};
use std::path::Path;
use std::time::Duration;

/// The accesses of kernels/NAME.toml, counted as by sm80.
fn array(name: &str) -> Array {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("kernels")
        .join(name);
    let trace = LaunchInput::at(&path.with_extension("toml"))
        .access_trace(RunOptions::default())
        .unwrap();
    let machine = Config::preset("sm80").unwrap();
    let (geometry, room) = (machine.geometry, machine.block_words);
    Array::new(&trace, geometry, machine.conflict_rule(), room)
}

fn tuned(array: &Array, kinds: &[MappingKind]) -> Choices {
    let effort = Effort {
        control: Control::none(),
        budget: Duration::from_secs(1),
    };
    choices(array, kinds, &effort).unwrap()
}

/// Conflicts, and the largest degree.
fn conflicts(array: &Array, spec: &str) -> (u64, u32) {
    let layout = Layout::new(&spec.parse().unwrap(), array.geometry()).unwrap();
    let count = array.count(&layout);
    (count.conflicts, count.max_degree)
}

/// reed-lau/cute-gemm issue 5: B by the length of a row, and an atom in which B = 3
/// is B = 2.
#[test]
fn the_bits_of_a_swizzle_by_the_length_of_a_row() {
    let count = |rows: &str| {
        let array = array(&format!("questions/rows_of_{rows}_bytes"));
        let specs = ["mod", "swizzle:1,2,3", "swizzle:2,2,3", "swizzle:3,2,3"];
        specs.map(|spec| conflicts(&array, spec))
    };
    assert_eq!(count("64"), [(96, 4), (32, 2), (0, 1), (0, 1)]);
    assert_eq!(count("128"), [(448, 8), (192, 4), (64, 2), (0, 1)]);
    let geometry = Config::preset("sm80").unwrap().geometry;
    let layout = |spec: &str| Layout::new(&spec.parse().unwrap(), geometry).unwrap();
    let (two, three) = (layout("swizzle:2,2,3"), layout("swizzle:3,2,3"));
    let words_of_an_atom = 8 * 32 / 2;
    assert!((0..words_of_an_atom).all(|word| two.place(word) == three.place(word)));
    let beyond = words_of_an_atom..2 * words_of_an_atom;
    assert!(
        beyond
            .into_iter()
            .all(|word| two.place(word) != three.place(word))
    );
}

/// NVIDIA/cutlass issue 1234: CuTe's first GEMM, with M and N contiguous in the
/// tiles, or K.
#[test]
fn a_product_of_floats_as_in_cutes_tutorial() {
    assert_eq!(conflicts(&array("gemm/sgemm_nt"), "mod"), (0, 1));
    let tn = array("gemm/sgemm_tn");
    assert_eq!(conflicts(&tn, "mod"), (3072, 4));
    assert_eq!(conflicts(&tn, "pad:every=32,by=1"), (0, 1));
    let best = tuned(&tn, &MappingKind::all());
    assert_eq!(best.best().layout.spec().to_string(), "swizzle:2,1,4");
    assert!(best.best().costs().0 == 0 && best.best().optimal());
    let found = json(&["tune", "kernels/gemm/sgemm_tn.toml", "--software"]);
    let apart = &found["per_variable"];
    assert_eq!(apart["added_per_access"], 1.0);
    assert_eq!(apart["variables"][1]["results"][0]["hash"], "mod");
}

/// Tiles of 64 x 32 and 32 x 64 halves behind `ldmatrix`, one under each of
/// TMA's modes, or both under the wider one.
#[test]
fn a_product_of_halves_by_ldmatrix() {
    let halves = array("gemm/hgemm");
    for (spec, expected) in [
        ("mod", (1280, 8)),
        ("tma:64", (128, 2)),
        ("tma:128", (0, 1)),
        ("swizzle:3,2,3", (0, 1)),
        ("pad:every=32,by=4", (0, 1)),
    ] {
        assert_eq!(conflicts(&halves, spec), expected, "{spec}");
    }
    assert_eq!(conflicts(&array("gemm/hgemm_swizzled"), "mod"), (0, 1));
    let found = json(&["tune", "kernels/gemm/hgemm.toml", "--software"]);
    assert_eq!(found["results"][0]["hash"], "swizzle:3,2,3");
    let variables = &found["per_variable"]["variables"];
    for (tile, spec) in ["swizzle:2,2,3", "swizzle:3,2,3"].into_iter().enumerate() {
        let best = &variables[tile]["results"][0];
        assert_eq!(
            (&best["hash"], &best["conflicts"]),
            (&spec.into(), &0.into())
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let ptx = folder.path().join("hgemm.ptx");
    let (hash, ptx) = ("swizzle:3,2,3", ptx.to_str().unwrap());
    let written = json(&[
        "rewrite",
        "kernels/gemm/hgemm.toml",
        "--hash",
        hash,
        "-o",
        ptx,
    ]);
    assert_eq!(
        (&written["conflicts_before"], &written["conflicts_after"]),
        (&1280.into(), &0.into())
    );
    assert_eq!(written["outputs_equal"], true);
    let added = written["added_per_access"].as_f64().unwrap();
    assert_eq!((100.0 * added).round(), 117.0);
}

/// triton-lang/triton issue 8149: addresses in shared memory have no part of
/// the size in them.
#[test]
fn a_copy_whose_conflicts_do_not_depend_on_its_size() {
    let found = json(&["classify", "kernels/tiles/tile_copy.toml"]);
    for instruction in found["instructions"].as_array().unwrap() {
        let address = &instruction["static"];
        assert_eq!(address["address"], "tx + tile");
        assert_eq!(
            (&address["offset"], &address["wavefronts_per_access"]),
            (&"known".into(), &1.0.into())
        );
    }
    assert_eq!(found["static"]["disagrees"], 0);
    assert_eq!(conflicts(&array("tiles/tile_copy"), "mod"), (0, 1));
}

/// "A 32 x 32 float tile read by columns": as tabulated for NVlabs' cuda-oxide
/// (pull request 544).
#[test]
fn a_float_tile_read_by_columns() {
    let array = array("tiles/tile_columns");
    for (spec, degree) in [
        ("mod", 32),
        ("swizzle:5,0,5", 1),
        ("swizzle:3,0,5", 4),
        ("swizzle:2,0,5", 8),
        ("pad:every=32,by=1", 1),
    ] {
        assert_eq!(conflicts(&array, spec).1, degree, "{spec}");
    }
    let found = tuned(&array, &MappingKind::all());
    let best = found.best();
    assert_eq!(best.layout.spec().to_string(), "swizzle:5,0,5");
    assert_eq!((best.costs(), best.optimal()), ((0, 2, 0), true));
}

/// All swizzles of `bits` index bits, by their definition, that leave the low
/// `low` bits alone.
fn swizzles(bits: u32, low: u32) -> Vec<LayoutSpec> {
    let mut all = Vec::new();
    for b in 1..=bits / 2 {
        for distance in b..=bits - b {
            for base in low..=(bits - b - distance).max(low) {
                for shift in [distance as i32, -(distance as i32)] {
                    if base + b + distance <= bits {
                        all.push(format!("swizzle:{b},{base},{shift}").parse().unwrap());
                    }
                }
            }
        }
    }
    all
}

/// NVIDIA/cutlass issue 3172: an f16 tile, M-major, in atoms of 128 x 8, read by
/// ldmatrix.x4.trans, under Swizzle<3,3,4>. On halves that is swizzle:3,2,4 on
/// words: no conflict is left. Of all swizzles that keep the rows of 16 bytes
/// whole only one other does as well.
#[test]
fn halves_read_by_ldmatrix_under_cutes_swizzle() {
    let array = array("tiles/tile_ldmatrix");
    assert_eq!((array.words(), array.vector_words()), (2048, 4));
    assert_eq!(conflicts(&array, "mod"), (448, 8));
    assert_eq!(conflicts(&array, "swizzle:3,2,4"), (0, 1));
    // Parameters taken for words, or made for rows of 64 halves.
    for spec in ["swizzle:3,3,4", "swizzle:3,2,3", "swizzle:2,2,4"] {
        assert_eq!(conflicts(&array, spec), (64, 2), "{spec}");
    }
    let all = swizzles(11, 2);
    assert_eq!(all.len(), 140);
    let clear = all
        .iter()
        .filter(|s| conflicts(&array, &s.to_string()).0 == 0);
    let clear: Vec<String> = clear.map(LayoutSpec::to_string).collect();
    assert_eq!(clear, ["swizzle:3,2,4", "swizzle:4,2,4"]);
    // CuTe's on halves, element by element.
    let layout = Layout::new(&"swizzle:3,2,4".parse().unwrap(), array.geometry()).unwrap();
    for half in 0..4096u32 {
        let cute = half ^ (half >> 4 & 0b111 << 3);
        assert_eq!(cute, 2 * layout.place(half / 2) + half % 2);
    }
    let found = tuned(&array, &[MappingKind::Swizzle]);
    let best = found.best();
    assert_eq!(best.layout.spec().to_string(), "swizzle:3,2,4");
    assert!(best.optimal() && best.evaluated == 140 && found.fewest_proved());
}

/// triton pull request 7833: stores of 128 bits by rows, loads by columns. With
/// vectors whole a column meets four of its words in each bank it reaches; the
/// fewer words a vector has, the fewer, for more instructions.
#[test]
fn vectors_against_conflicts_is_a_front() {
    let args = [
        "tune",
        "kernels/tiles/tile_vector.toml",
        "--software",
        "--preset",
        "sm80",
    ];
    let found = json(&args);
    let point = |found: &Value| {
        let best = &found["results"][0];
        assert!(
            found["fewest_proved"] == true && best["optimal"] == true,
            "{best}"
        );
        let number = |v: &Value| v.as_u64().unwrap();
        [
            number(&found["accesses"]),
            number(&best["wavefronts"]),
            number(&best["max_degree"]),
            number(&best["added_per_access"]),
        ]
    };
    let split = found["narrower"].as_array().unwrap();
    let points = [point(&found), point(&split[0]), point(&split[1])];
    assert_eq!(points, [[40, 160, 4, 2], [48, 96, 2, 2], [64, 64, 1, 2]]);
    // Where nothing is left there is nothing to split for.
    let tile = json(&[
        "tune",
        "kernels/tiles/tile_ldmatrix.toml",
        "--software",
        "--preset",
        "sm80",
    ]);
    assert_eq!(tile["narrower"].as_array().unwrap().len(), 0);
}

/// Conflicts of the lines of `found` that `is_it` selects, by line and calls.
fn of_lines(result: &Value, is_it: impl Fn(&[String]) -> bool) -> u64 {
    let lines = result["lines"].as_array().unwrap().iter();
    let places = |line: &Value| {
        let calls = line["inlined_at"].as_array().unwrap();
        let all = std::iter::once(&line["source"]).chain(calls);
        all.map(|p| p.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let own = lines.filter(|line| is_it(&places(line)));
    own.map(|line| line["conflicts"].as_u64().unwrap()).sum()
}

/// Bruce-Lee-LY/cuda_hgemm issue 11: rows of 32 halves, padded by 8 or 16.
#[test]
fn padded_rows_of_halves() {
    let specs = [
        ("mod", 384, 0),
        ("pad:every=16,by=4", 0, 64),
        ("pad:every=16,by=8", 128, 64),
        ("swizzle:2,2,3", 0, 0),
    ];
    let mut args = vec!["conflicts", "kernels/gemm/hgemm.toml", "--source", "--hash"];
    args.extend(specs.map(|(spec, ..)| spec));
    let found = json(&args);
    for ((spec, loads, copies), result) in specs.iter().zip(found["results"].as_array().unwrap()) {
        let at = |line: &str| of_lines(result, |places| places.iter().any(|p| p.ends_with(line)));
        assert_eq!(
            (at("gemm.cu:31"), at("gemm.cu:79")),
            (*loads, *copies),
            "{spec}"
        );
    }
}

/// deepspeedai/DeepSpeed pull request 8055: padding in the declaration alone,
/// and in the index.
#[test]
fn a_transpose_with_the_wrong_stride() {
    let of = |kernel: &str, spec: &str| {
        let args = [
            "conflicts",
            kernel,
            "--source",
            "--preset",
            "sm80",
            "--hash",
            spec,
        ];
        let found = json(&args);
        let result = &found["results"][0];
        let at = |line: &str| of_lines(result, |places| places[0].ends_with(line));
        let degree = result["max_degree"].as_u64().unwrap();
        (at("transpose.cu:20"), at("transpose.cu:25"), degree)
    };
    let plain = "kernels/transpose/transpose.toml";
    assert_eq!(of(plain, "mod"), (0, 56, 8));
    assert_eq!(
        of("kernels/transpose/transpose_padded.toml", "mod"),
        (8, 8, 2)
    );
    assert_eq!(of(plain, "swizzle:3,1,4"), (0, 0, 1));
    assert_eq!(of(plain, "pad:every=32,by=2"), (0, 0, 1));
}
