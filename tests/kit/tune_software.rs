//! `tune --software`: what it prints.

mod beside_padding;

use crate::common;

use crate::common::tools::missing_ptxas;
use crate::common::{json, recorded, refused, spadkit};
use serde_json::Value;
use spadkit::capture::{LaunchInput, RunOptions};
use spadkit::config::Config;
use spadkit::hash::HashKind;
use spadkit::search::Control;
use spadkit::software::Layout;
use spadkit::software::choice::{Array, Choices, Effort, MappingKind, choices};
use spadkit::tool::ToolKind;
use spadkit::trace::AccessTrace;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn kernel(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("kernels")
        .join(name)
}

fn array(trace: &AccessTrace, preset: &str) -> Array {
    let machine = Config::preset(preset).unwrap();
    let (geometry, room) = (machine.geometry, machine.block_words);
    Array::new(trace, geometry, machine.conflict_rule(), room)
}

fn tuned(array: &Array, kinds: &[MappingKind], seconds: f64) -> Choices {
    let effort = Effort {
        control: Control::none(),
        budget: Duration::from_secs_f64(seconds),
    };
    choices(array, kinds, &effort).unwrap()
}

fn conflicts(array: &Array, spec: &str) -> (u64, u32) {
    let layout = Layout::new(&spec.parse().unwrap(), array.geometry()).unwrap();
    let count = array.count(&layout);
    (count.conflicts, count.max_degree)
}

/// The modes of a kernel's arrays, by the names of the variables.
fn modes(kernel: &str, preset: &str) -> Vec<(String, Value)> {
    let args = [
        "tune",
        kernel,
        "--software",
        "--hash",
        "mod",
        "--preset",
        preset,
    ];
    let found = json(&args);
    let modes = found["modes"].as_array().unwrap().iter();
    let name = |m: &Value| m["variable"].as_str().unwrap_or("").to_owned();
    modes.map(|m| (name(m), m.clone())).collect()
}

/// Which swizzle mode of tensor copies clears a tile: rows of 64 bytes that
/// `ldmatrix` reads, rows of 128 bytes, and a column of words, which none clears.
#[test]
fn the_mode_that_clears_a_tile_is_said() {
    let left = |modes: &Value| -> Vec<u64> {
        let all = modes["modes"].as_array().unwrap().iter();
        all.map(|m| m["conflicts"].as_u64().unwrap()).collect()
    };
    let gemm = modes("kernels/gemm/hgemm.toml", "sm80");
    assert_eq!(gemm.len(), 2);
    assert!(gemm[0].0.ends_with("a_tile") && gemm[1].0.ends_with("b_tile"));
    assert_eq!(
        (&gemm[0].1["clears"], left(&gemm[0].1)),
        (&"tma:64".into(), vec![384, 128, 0, 0])
    );
    assert_eq!(
        (&gemm[1].1["clears"], left(&gemm[1].1)),
        (&"tma:128".into(), vec![896, 384, 128, 0])
    );
    let tile = modes("kernels/tma/tma_transpose.toml", "sm90");
    let (name, tile) = &tile[0];
    assert!(name.ends_with("tile"));
    assert_eq!(
        (&tile["clears"], left(tile)),
        (&Value::Null, vec![992, 480, 224, 96])
    );
    assert_eq!(
        (&tile["best"], &tile["conflicts_no_units_avoid"]),
        (&"tma:128".into(), &96.into())
    );
    // The kernel that is written for this mode has them.
    let swizzled = json(&[
        "conflicts",
        "kernels/tma/tma_transpose_swizzled.toml",
        "--preset",
        "sm90",
    ]);
    assert_eq!(swizzled["results"][0]["conflicts"], 96);
    let text = |kernel: &str| {
        let args = [
            "tune",
            kernel,
            "--software",
            "--hash",
            "mod",
            "--preset",
            "sm90",
            "-q",
        ];
        common::text(&args)
    };
    let shown = text("kernels/tma/tma_transpose.toml");
    let answer = "tile: no mode clears it, tma:128 leaves the fewest, 96 of 992; no mapping that \
                  keeps units of 16 bytes whole leaves fewer, proved";
    assert!(shown.contains(answer), "{shown}");
    let same = text("kernels/questions/transpose_halves.toml");
    let answer = "no mode clears it, and none leaves fewer than the";
    assert!(same.contains(answer), "{same}");
    let none = text("kernels/transpose/transpose.toml");
    assert!(!none.contains("tma:"), "{none}");
}

/// Tiles of tensor copies: nothing but the modes of their maps, whatever mode
/// the kernel has them in; the source changes name the map.
#[test]
fn arrays_of_tensor_copies_have_swizzle_modes_alone() {
    let found = |kernel: &str| json(&["tune", kernel, "--software", "--preset", "sm90"]);
    let plain = found("kernels/tma/tma_transpose.toml");
    let swizzled = found("kernels/tma/tma_transpose_swizzled.toml");
    let hashes = |of: &Value| -> Vec<(String, u64)> {
        let results = of["results"].as_array().unwrap().iter();
        let one = |r: &Value| {
            let hash = r["hash"].as_str().unwrap().to_owned();
            (hash, r["conflicts"].as_u64().unwrap())
        };
        results.map(one).collect()
    };
    let (none, wide) = ("mod".to_owned(), "swizzle:3,2,3".to_owned());
    for of in [&plain, &plain["per_variable"]["variables"][0]] {
        assert_eq!(hashes(of), [(wide.clone(), 96), (none.clone(), 992)]);
        assert_eq!(of["fewest_proved"], true);
    }
    assert_eq!(hashes(&swizzled), [(none, 96), (wide, 992)]);
    assert_eq!(swizzled["suggestions"].as_array().unwrap().len(), 0);
    let modes = |of: &Value| -> Vec<(u64, bool)> {
        let modes = of["modes"][0]["modes"].as_array().unwrap().iter();
        let one = |m: &Value| (m["conflicts"].as_u64(), m["possible"].as_bool());
        modes
            .map(one)
            .map(|(c, p)| (c.unwrap(), p.unwrap()))
            .collect()
    };
    // Rows of 128 bytes are too wide for the modes between.
    let expected = [(992, true), (480, false), (224, false), (96, true)];
    assert_eq!(modes(&plain), expected);
    assert_eq!(modes(&swizzled), expected);
    let change = &plain["suggestions"][0];
    assert_eq!(
        change["tensor_copies"],
        serde_json::json!([{"ptx_line": 73, "ptx_file": null, "swizzle": 128}])
    );
    assert!(change["padding"].is_null(), "{change}");
    let args = [
        "tune",
        "kernels/tma/tma_transpose.toml",
        "--software",
        "--preset",
        "sm90",
        "-q",
    ];
    let text = common::text(&args);
    for part in [
        "tile: only swizzle modes of the tensor copies are possible, here none, tma:128: the copy \
         at PTX line 73 writes rows of 128 bytes, in mode none",
        "turned: only swizzle modes of the tensor copies are possible, here none, tma:128: the \
         copy at PTX line 138 reads rows of 128 bytes, in mode none",
        "Proved: no other mode of the tensor copies leaves fewer.",
        "the map of the tensor copy at PTX line 73 gets CU_TENSOR_MAP_SWIZZLE_128B",
        "from the start of tile, which begins at a multiple of 1024 bytes",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// A wrapper of `ldmatrix` or `cp.async` is shared by all arrays: its caller
/// changes. With the four lines of the suggestion pasted into gemm.cu, NVRTC's PTX
/// has no conflicts and the same result.
#[test]
fn accesses_in_asm_statements_change_where_they_are_called() {
    let found = json(&["tune", "kernels/gemm/hgemm.toml", "--software"]);
    let suggestions = found["suggestions"].as_array().unwrap().iter();
    let calls: Vec<(u64, &str, &str)> = suggestions
        .flat_map(|s| s["lines"].as_array().unwrap())
        .map(|line| {
            let call = &line["call"];
            let text = |field: &str| call[field].as_str().unwrap();
            (
                line["conflicts"].as_u64().unwrap(),
                text("source"),
                text("changed_text"),
            )
        })
        .collect();
    let chunk = "shared_address(a_tile[slot]) + chunk_offset<2, SWIZZLED>(row, chunk)";
    let load = format!("load_fragment(a_part[i], spad_place_a_tile_at(a_tile, {chunk}));");
    let copy = format!(
        "copy_16_bytes(spad_place_a_tile_at(a_tile, {chunk}), \
         a + (row0 + row) * k + k0 + 8 * chunk);"
    );
    assert_eq!(calls[0], (384, "gemm.cu:103", load.as_str()));
    assert_eq!(calls[1], (0, "gemm.cu:79", copy.as_str()));
    assert_eq!((calls[2].0, calls[2].1), (896, "gemm.cu:108"));
    assert_eq!((calls[3].0, calls[3].1), (0, "gemm.cu:84"));
    let text = common::text(&["conflicts", "kernels/gemm/hgemm.toml", "--source"]);
    for part in [
        "gemm.cu:39 (called in gemm.cu:108)",
        "load_fragment_transposed(b_part[j],",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// The compiler reads `data[2 * i]` and `data[2 * i + 1]` at once, but not under a
/// function: NVRTC's PTX of the changed fwt.cu has 128 conflicts, not the 64 of the
/// rewritten PTX.
#[test]
fn accesses_that_a_changed_line_takes_apart_are_counted_apart() {
    let args = [
        "tune",
        "kernels/fwt/fwt.toml",
        "--software",
        "--preset",
        "fermi",
    ];
    let found = json(&args);
    assert_eq!(found["results"][0]["conflicts"], 64);
    let change = &found["suggestions"][0];
    assert_eq!(change["conflicts"], 128);
    let torn = serde_json::json!([
        {"source": "fwt.cu:29", "bytes": 8}, {"source": "fwt.cu:31", "bytes": 8}
    ]);
    assert_eq!(change["torn"], torn);
    let text = common::text(&args);
    assert!(
        text.contains("no longer merges accesses to 8 bytes"),
        "{text}"
    );
}

/// Blocks on an SM under the mappings of the front; registers and instructions
/// where there is a `ptxas`.
#[test]
fn the_front_is_shown_on_an_sm() {
    let args = [
        "tune",
        "kernels/gemm/hgemm.toml",
        "--software",
        "--hash",
        "swizzle",
    ];
    let found = json(&args);
    let front = found["on_sm"]["front"].as_array().unwrap();
    assert_eq!(front.len(), 2);
    assert_eq!(front[0]["hash"], "swizzle:3,2,3");
    assert_eq!(front[1]["hash"], "mod");
    for one in front {
        let resources = &one["resources"];
        assert_eq!(resources["shared_bytes"], 16384);
        let blocks = resources["occupancy"]["blocks"].as_u64().unwrap();
        assert!((1..=10).contains(&blocks), "{resources}");
    }
    if found["on_sm"]["assembler"].is_null() {
        assert!(
            front
                .iter()
                .all(|one| one["resources"]["assembled"].is_null())
        );
    }
    if missing_ptxas(&[ToolKind::Ptxas]) {
        return;
    }
    let of = |at: usize, key: &str| front[at]["resources"]["assembled"][key].as_u64().unwrap();
    assert!(of(0, "instructions") > of(1, "instructions"));
    assert!(of(0, "registers") >= 32 && of(1, "registers") >= 32);
    assert_eq!(
        front[0]["resources"]["occupancy"]["limited_by"],
        "registers"
    );
}

#[test]
fn results_have_what_other_programs_rely_on() {
    let found = json(&[
        "tune",
        "kernels/lavamd/lavamd.toml",
        "--software",
        "--preset",
        "sm80",
    ]);
    assert_eq!(
        (&found["bytes"], &found["vector_bytes"]),
        (&7200.into(), &8.into())
    );
    let results = found["results"].as_array().unwrap();
    let costs = |r: &Value| {
        let cost = |name: &str| r[name].as_u64().unwrap_or_else(|| panic!("{name}: {r}"));
        (
            cost("conflicts"),
            cost("added_per_access"),
            cost("wasted_bytes"),
        )
    };
    assert!(results.is_sorted_by_key(costs));
    for result in results {
        for name in ["hash", "kind", "method", "code"] {
            assert!(result[name].is_string(), "{name}: {result}");
        }
        for name in ["optimal", "fits", "front"] {
            assert!(result[name].is_boolean(), "{name}: {result}");
        }
        for name in [
            "baseline_conflicts",
            "evaluated",
            "wavefronts",
            "ideal_wavefronts",
        ] {
            assert!(result[name].is_u64(), "{name}: {result}");
        }
        assert!(result["seconds"].is_f64() && result["fits"] == true);
        let code = result["code"].as_str().unwrap();
        assert!(code.contains("__device__") && code.contains(result["hash"].as_str().unwrap()));
    }
    let (first, last) = (&results[0], results.last().unwrap());
    assert_eq!(
        (&first["hash"], &first["front"]),
        (&"swizzle:2,1,4".into(), &true.into())
    );
    assert_eq!((costs(first), &last["conflicts"]), ((0, 2, 0), &360.into()));
    let torn = found["left_out"].as_array().unwrap();
    assert_eq!(torn[0]["reason"], "it splits accesses of 64 bits");
    // The variables, each alone.
    let apart = &found["per_variable"];
    let variables = apart["variables"].as_array().unwrap();
    let names: Vec<&str> = variables
        .iter()
        .map(|v| v["name"].as_str().unwrap())
        .collect();
    let ends = ["home", "other", "charges"];
    assert!(
        names.iter().zip(ends).all(|(n, end)| n.ends_with(end)),
        "{names:?}"
    );
    assert_eq!(variables[2]["results"][0]["hash"], "mod");
    assert_eq!(
        (&apart["conflicts"], &apart["single"]["conflicts"]),
        (&0.into(), &0.into())
    );
    // The charges need no mapping: a fifth of the accesses adds nothing.
    let added = apart["added_per_access"].as_f64().unwrap();
    assert!(
        added < 1.7 && apart["single"]["added_per_access"] == 2,
        "{apart}"
    );
}

#[test]
fn code_and_operations_are_those_of_encode() {
    let found = json(&[
        "tune",
        "kernel:transpose",
        "--software",
        "--hash",
        "swizzle",
        "pad",
    ]);
    for result in found["results"].as_array().unwrap() {
        let spec = result["hash"].as_str().unwrap();
        let encoded = json(&["encode", spec, "--as", "cuda"]);
        assert_eq!(result["code"], encoded["code"], "{spec}");
        assert_eq!(result["added_per_access"], encoded["operations"], "{spec}");
    }
}

/// A recorded trace has its variables, from a launch file and from the file
/// that `trace` writes.
#[test]
fn variables_survive_in_a_recorded_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lavamd.json");
    let path = path.to_str().unwrap();
    let record = ["trace", "kernels/lavamd/lavamd.toml", "-o", path];
    spadkit(&record).assert().success();
    let args = ["--software", "--hash", "swizzle", "--preset", "sm80"];
    let of = |input: &str| json(&[&["tune", input], &args[..]].concat())["per_variable"].clone();
    let (launch, file) = (of("kernels/lavamd/lavamd.toml"), of(path));
    assert_eq!(launch["conflicts"], file["conflicts"]);
    assert_eq!(file["variables"].as_array().unwrap().len(), 3);
    // A trace that names none has none, and so does one of a single variable.
    assert!(of("kernel:lavamd").is_null());
    assert!(of("kernels/tiles/tile_columns.toml").is_null());
}

#[test]
fn the_text_shows_the_front_and_what_is_proved() {
    let args = [
        "tune",
        "kernels/tiles/tile_vector.toml",
        "--software",
        "--preset",
        "sm80",
    ];
    let text = common::text(&args);
    for part in [
        "tile_vector: 992 conflicts as it is, 40 accesses to 4096 bytes, of up to 128 bits",
        "Proved: no mapping that keeps vectors of 16 bytes whole leaves fewer.",
        "left out: xor: it splits accesses of 128 bits",
        "vectors against conflicts",
        "  spadkit encode ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let starred = text.lines().filter(|l| l.starts_with(" * "));
    assert_eq!(starred.count(), 2, "{text}");
}

#[test]
fn bad_usage_is_refused_with_the_reason() {
    for (args, reason) in [
        (&["--hash", "pad"][..], "no hash unit computes pad"),
        (&["--software", "--method", "mih"], "cannot be used with"),
        (&["--software", "--fits"], "cannot be used with"),
        (
            &["--software", "--hash", "nope"],
            "with --software also mod, swizzle, pad",
        ),
        (&["--software", "--budget", "x"], "expected seconds"),
    ] {
        let text = refused(&[&["tune", "kernel:nw"], args].concat());
        assert!(text.contains(reason), "{args:?}: {text}");
    }
    let ports = json(&["encode", "xor", "--as", "ports"]);
    assert_eq!(ports, json(&["encode", "xor"]));
    assert!(ports["ports"].is_object());
    let text = refused(&["encode", "swizzle:5,0,5"]);
    assert!(text.contains("no hash unit implements it"), "{text}");
}

/// The kinds that are quickly searched: no bitwise or matrix proof.
const QUICK: [MappingKind; 4] = [
    MappingKind::Swizzle,
    MappingKind::Pad,
    MappingKind::Hash(HashKind::BitvecXor),
    MappingKind::TwoShifts,
];
