//! The command `sim`, from the outside.

use crate::common;

use crate::common::{json, refused, spadkit};
use serde_json::Value;
use std::path::Path;

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_json_has_what_others_rely_on() {
    let result = json(&["sim", "--preset", "gt200", "kernel:transpose:tile=16"]);
    assert_eq!(result["format_version"], 1);
    assert_eq!(result["mean_conflict_degree"], 4.5);
    assert_eq!(result["bank_conflicts"], 224);
    assert_eq!(result["warp_instructions"], 24);
    let number = |v: &Value| v.as_u64().unwrap();
    let stalls = result["stalls"].as_object().unwrap();
    let stalled: u64 = stalls.values().map(number).sum();
    assert_eq!(
        number(&result["issued"]) + stalled,
        number(&result["cycles"])
    );
    for name in [
        "no_ready_warp",
        "bank_conflict",
        "writeback_conflict",
        "lock_retry",
        "shared_scratchpad",
        "barrier",
        "memory",
        "store_queue",
        "tensor_unit",
        "texture",
        "mbarrier",
        "async_copy",
    ] {
        assert!(stalls.contains_key(name), "{name}");
    }
}

#[test]
fn a_sweep_runs_every_combination_and_each_point_is_a_run_of_its_own() {
    let base = ["sim", "--preset", "gt200", "kernel:dct8x8"];
    let sweep = [
        &base[..],
        &[
            "--sweep",
            "--hash",
            "mod",
            "--hash",
            "xor",
            "--hash",
            "bitvec-xor:k1=0,k2=3,mask=7",
        ],
        &["--pipeline", "unified,elastic", "--sharing", "0.1,0.5"],
    ]
    .concat();
    let results = json(&sweep)["results"].as_array().unwrap().clone();
    assert_eq!(results.len(), 12);
    for point in &results {
        let text = |field: &str| match &point[field] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let (hash, pipeline, sharing) = (text("hash"), text("pipeline"), text("sharing"));
        let alone = [
            &base[..],
            &[
                "--hash",
                &hash,
                "--pipeline",
                &pipeline,
                "--sharing",
                &sharing,
            ],
        ]
        .concat();
        assert_eq!(json(&alone)["cycles"], point["cycles"], "{point}");
    }
    let all = json(&["sim", "--preset", "small", "kernel:transpose", "--sweep"]);
    assert_eq!(all["results"].as_array().unwrap().len(), 12);
}

#[test]
fn the_mask_is_a_key_beside_any_scheduler() {
    let run =
        |args: &[&str]| json(&[&["sim", "--preset", "fermi", "kernel:bitonic"], args].concat());
    let aware = ["--set", "scheduler.aware=true"];
    let named = run(&["--scheduler", "conflict-aware"]);
    assert_eq!(named["cycles"], run(&aware)["cycles"]);
    assert_eq!(
        (&named["scheduler"], &named["aware"]),
        (&"conflict-aware".into(), &true.into())
    );
    let owf = run(&[&["--scheduler", "owf"], &aware[..]].concat());
    assert_eq!(
        (&owf["scheduler"], &owf["aware"]),
        (&"owf".into(), &true.into())
    );
    let violate = ["--set", "scheduler.violate=true"];
    let with = run(&[&["--scheduler", "conflict-aware"], &violate[..]].concat());
    assert_eq!(with["violate"], true);
    assert_ne!(with["cycles"], named["cycles"]);
    // Nothing is masked, so nothing can be violated.
    let alone = [
        &["sim", "kernel:dct8x8", "--scheduler", "owf"],
        &violate[..],
    ]
    .concat();
    let error = refused(&alone);
    assert!(
        error.contains("set aware = true beside the policy"),
        "{error}"
    );
}

#[test]
fn a_program_text_becomes_a_full_trace_that_runs_alike() {
    let folder = tempfile::tempdir().unwrap();
    let text = ".block 64\n.grid 3\n.shared 1024\nrepeat 300\n\
                ld.global r1, [4096*b + 4*t]\nst.shared [4*t], r1\nbar\n\
                ld.shared r2, [4*((t + 8*i) % 64)]\nalu r3, r2\nend\n";
    let text = write(folder.path(), "k.warp", text);
    let full = folder.path().join("k.spt");
    let full = full.to_str().unwrap();
    let written = json(&["trace", &text, "-o", full]);
    assert_eq!(written["instructions"], 3 * 2 * 300 * 5);
    let (a, b) = (json(&["sim", &text]), json(&["sim", full]));
    assert_eq!(a, b);
    assert!(a["stalls"]["memory"].as_u64().unwrap() > 0, "{a}");
    assert!(a["stalls"]["barrier"].as_u64().unwrap() > 0, "{a}");
    assert!(refused(&["sim", full, "--blocks", "2"]).contains("a grid of its own"));
}

#[test]
fn bad_input_is_refused_with_place_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    let deadlock = ".block 64\nwarp 0\nbar 0\nwarp 1\nbar 1\n";
    let deadlock = write(folder.path(), "deadlock.warp", deadlock);
    let error = refused(&["sim", &deadlock]);
    assert!(error.contains("deadlock in cycle"), "{error}");
    assert!(error.contains("warp 0 of block 0 waits at barrier 0 for warp 1"));
    let typo = write(folder.path(), "typo.warp", "alu r1\nlod r2\n");
    assert!(refused(&["sim", &typo]).contains("there is no instruction 'lod' at"));
    let late = ".shared 32768\n.grid 3\nld.shared r1, [32764]\nrelssp\nld.shared r1, [32764]\n";
    let late = write(folder.path(), "late.warp", late);
    let error = refused(&["sim", &late, "--sharing", "0.1"]);
    assert!(
        error.contains("touches the shared scratchpad after relssp"),
        "{error}"
    );
    let full = folder.path().join("t.spt");
    let path = full.to_str().unwrap();
    json(&["trace", "kernel:fwt", "-o", path]);
    let bytes = std::fs::read(&full).unwrap();
    std::fs::write(&full, &bytes[..bytes.len() / 2]).unwrap();
    assert!(refused(&["sim", path]).contains("is truncated at byte"));
    for (args, reason) in [
        (
            &["--hash", "mod", "--hash", "xor"][..],
            "--hash has 2 values",
        ),
        (&["--scheduler", "lrr,gto"], "--scheduler has 2 values"),
        (
            &["--sharing", "1.5"],
            "sharing threshold 1.5 is out of range",
        ),
        (&["--sharing", "none"], "expected off, or t, the private"),
        (
            &["--hash", "bitwise-perm:13,1,2,3,4"],
            "beyond the capacity",
        ),
        (&["--scheduler", "best"], "possible values"),
        (&["--blocks", "0"], "invalid value '0'"),
    ] {
        let args = [&["sim"], args, &["kernel:transpose"]].concat();
        let error = refused(&args);
        assert!(error.contains(reason), "{args:?}: {error}");
    }
    let large = refused(&[
        "sim",
        "--preset",
        "small",
        "kernel:atomic:stride=256,conflicts=32",
    ]);
    assert!(large.contains("words of scratchpad"), "{large}");
}

#[test]
fn phases_last_from_barrier_to_barrier() {
    let folder = tempfile::tempdir().unwrap();
    let program = ".block 32\nalu r1\nbar 0\nalu r1, r1\nalu r1, r1\nbar 0\nalu r1, r1\n";
    let input = write(folder.path(), "phases.warp", program);
    let cycles = |more: &[&str]| -> Vec<u64> {
        let result = json(&[&["sim", "--preset", "sm70", &input], more].concat());
        let phases = result["phases"].as_array().unwrap().clone();
        for (i, phase) in phases.iter().enumerate() {
            assert_eq!(phase["from_barrier"], i);
        }
        let list: Vec<u64> = phases
            .iter()
            .map(|p| p["cycles"].as_u64().unwrap())
            .collect();
        assert!(list.iter().sum::<u64>() <= result["cycles"].as_u64().unwrap() + 1);
        list
    };
    let base = cycles(&[]);
    assert_eq!(base.len(), 3);
    // Between the barriers stand two dependent additions.
    let slow = cycles(&["--set", "sm.alu_cycles=14"]);
    let fast = cycles(&["--set", "sm.alu_cycles=4"]);
    assert_eq!(slow[1] - fast[1], 20);
    let text = common::text(&["sim", "--preset", "sm70", &input]);
    let list: Vec<String> = base.iter().map(u64::to_string).collect();
    assert!(
        text.contains(&format!("barrier to barrier: {}\n", list.join(", "))),
        "{text}"
    );
}

/// Runs a kernel of one block, whose PTX is `body`; `more` is of the launch file.
fn of_ptx(target: &str, block: u32, body: &str, more: &str, args: &[&str]) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let ptx = format!(".version 8.4\n.target {target}\n.address_size 64\n{body}");
    std::fs::write(folder.path().join("k.ptx"), ptx).unwrap();
    let launch = format!("ptx = \"k.ptx\"\ngrid = [1]\nblock = [{block}]\n{more}");
    let file = folder.path().join("k.toml");
    std::fs::write(&file, launch).unwrap();
    json(&[&["sim", "-q", file.to_str().unwrap()], args].concat())
}

/// A warp's fetches that do not depend on each other begin eight cycles apart:
/// four lanes in a cycle.
#[test]
fn textures_are_fetched_at_the_rate_of_their_unit() {
    let of = |fetches: usize| {
        let fetch = |n: usize| {
            let first = 4 * n;
            format!(
                "tex.1d.v4.f32.f32 {{%f{first}, %f{}, %f{}, %f{}}}, [image, {{%x}}];\n",
                first + 1,
                first + 2,
                first + 3
            )
        };
        // Each is used: registers that nobody reads have one number.
        let add = |n: usize| format!("add.f32 %s, %s, %f{};\n", 4 * n);
        let adds: String = (0..fetches).map(add).collect();
        let fetches: String = (0..fetches).map(fetch).collect();
        let body = format!(
            ".global .texref image;\n.entry k() {{ .reg .f32 %f<32>, %x, %s; .reg .b32 %t;\n\
             mov.u32 %t, %tid.x; cvt.rn.f32.u32 %x, %t; mov.b32 %s, 0;\n{fetches}{adds}ret; }}"
        );
        let image = "[[texture]]\nname = \"image\"\ntype = \"f32\"\nextent = [32]\n";
        of_ptx("sm_80", 32, &body, image, &["--preset", "sm80"])
    };
    let cycles = |fetches| of(fetches)["cycles"].as_u64().unwrap();
    let one = cycles(1);
    for more in [1, 2, 5] {
        assert_eq!(cycles(1 + more) - one, 8 * more as u64);
    }
    let stalls = &of(1)["stalls"];
    assert!(stalls["texture"].as_u64().unwrap() > 300, "{stalls}");
    assert_eq!(stalls["memory"], 0);
}

/// `m64n256k16` of f16 keeps the tensor units of sm90 busy for 128 cycles, one
/// product after another on the same accumulator; `wait_group` waits for the
/// last.
#[test]
fn products_of_a_warpgroup_follow_each_other() {
    let of = |products: usize, behind: &str| {
        let sums: Vec<String> = (0..128).map(|n| format!("%f{n}")).collect();
        let product = format!(
            "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {{{}}}, %d, %d, 1, 1, 1, 0, 0;\n",
            sums.join(", ")
        );
        let body = format!(
            ".entry k() {{ .reg .f32 %f<128>; .reg .b64 %d;\n.shared .align 1024 .b8 s[8192];\n\
             mov.b64 %d, 0x1000080000;\nwgmma.fence.sync.aligned;\n{}\
             wgmma.commit_group.sync.aligned;\n{behind}ret; }}",
            product.repeat(products)
        );
        of_ptx("sm_90a", 128, &body, "", &["--preset", "sm90"])["cycles"]
            .as_u64()
            .unwrap()
    };
    for products in [2, 4, 9] {
        assert_eq!(of(products + 1, "") - of(products, ""), 128);
    }
    let waits = |left| {
        of(
            3,
            &format!("wgmma.wait_group.sync.aligned {left};\nbar.sync 0;\n"),
        )
    };
    assert!(waits(0) > waits(1), "{} {}", waits(0), waits(1));
}

/// The issue slots of all lines are those of the run, by reason and together.
#[test]
fn source_lines_share_all_issue_slots() {
    let run = |more: &[&str]| {
        let mut args = vec!["sim", "--format", "json", "-q", "--preset", "sm80"];
        args.push("kernels/transpose/transpose.toml");
        args.extend(more);
        let out = spadkit(&args).output().unwrap();
        assert!(out.status.success());
        serde_json::from_slice::<serde_json::Value>(&out.stdout).unwrap()
    };
    let mut result = run(&["--source"]);
    let lines = result["lines"].take();
    result.as_object_mut().unwrap().remove("lines");
    assert_eq!(result, run(&[]), "the rest is as without lines");
    let lines = lines.as_array().unwrap();
    let sum = |of: &dyn Fn(&serde_json::Value) -> u64| lines.iter().map(of).sum::<u64>();
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    assert_eq!(
        sum(&|line| number(&line["issue_slots"])),
        4 * number(&result["cycles"])
    );
    assert_eq!(sum(&|l| number(&l["issued"])), number(&result["issued"]));
    for (reason, slots) in result["stalls"].as_object().unwrap() {
        assert_eq!(
            sum(&|l| number(&l["stalls"][reason])),
            number(slots),
            "{reason}"
        );
    }
    let share: f64 = lines.iter().map(|l| l["share_pct"].as_f64().unwrap()).sum();
    assert!((share - 100.0).abs() < 1e-9, "{share}");
    let slots: Vec<u64> = lines.iter().map(|l| number(&l["issue_slots"])).collect();
    assert!(slots.is_sorted_by(|a, b| a >= b), "{slots:?}");
    // The store with conflicts, by its text.
    let conflicts = |l: &&serde_json::Value| number(&l["stalls"]["bank_conflict"]) > 0;
    let conflicting: Vec<_> = lines.iter().filter(conflicts).collect();
    assert!(!conflicting.is_empty());
    assert!(
        conflicting
            .iter()
            .all(|l| l["source"].is_string() && l["text"].is_string())
    );
}
