//! The sharing paper's models, written again in Python from the paper alone
//! (`reproduce/judge/`), compared with the kit's.

use crate::common::judge::{judge, reproduced};
use crate::sharing::drawn::{A, B, C, edges, figure_7};
use serde_json::Value;
use spadkit::config::{Config, Overlay};
use spadkit::sharing::{
    BlockNeeds, FlowGraph, Placement, ProgramPoint, Ranges, Residency, release_points, storage_bits,
};
use spadkit::sm::{Sm, WarpText};
use std::path::Path;

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().expect("a whole number")).unwrap()
}

#[test]
fn resident_blocks_are_the_judge_s() {
    let Some(judged) = judge("sharing_blocks") else {
        return;
    };
    let mut compared = 0;
    for (size, preset) in [
        ("16k", "gpgpusim-16k"),
        ("48k", "sharing-48k"),
        ("64k", "sharing-64k"),
    ] {
        let machine = Config::preset(preset).unwrap();
        for (name, block) in judged[size].as_object().unwrap() {
            let needs = BlockNeeds {
                name,
                scratchpad_bytes: number(&block["bytes"]),
                threads: number(&block["threads"]).into(),
                registers: 0,
            };
            let residency = Residency::new(&machine, &needs, Some(0.1)).unwrap();
            let found = [
                residency.unshared,
                residency.blocks(),
                residency.pairs,
                residency.alone,
            ];
            let expected = ["unshared", "shared", "pairs", "alone"].map(|k| number(&block[k]));
            assert_eq!(found, expected, "{name} on {preset}");
            compared += 1;
        }
    }
    assert_eq!(compared, 25 + 19 + 19);
}

#[test]
fn storage_is_the_judge_s() {
    let Some(judged) = judge("sharing_storage") else {
        return;
    };
    assert_eq!(judged.as_object().unwrap().len(), 3);
    for (preset, bits) in judged.as_object().unwrap() {
        let machine = Config::preset(preset).unwrap();
        assert_eq!(Some(storage_bits(&machine)), bits.as_u64(), "{preset}");
    }
}

/// Table III, the sizes of Example 6.3, and Fig. 11.
#[test]
fn access_ranges_and_releases_are_the_judge_s() {
    let Some(judged) = judge("sharing_ranges") else {
        return;
    };
    let (graph, ranges) = figure_7();
    let sets = [A, B, C, A | B, B | C, C | A];
    for (n, block) in ["Entry", "BB1", "BB2", "BB3", "BB4", "BB5", "BB6", "Exit"]
        .into_iter()
        .enumerate()
    {
        let n = n as u32;
        let text = |is_in: &dyn Fn(u128) -> bool| -> String {
            let letter = |&s: &u128| if is_in(s) { 't' } else { 'f' };
            sets.iter().map(letter).collect()
        };
        let (into, out) = (&judged["in"][block], &judged["out"][block]);
        assert_eq!(text(&|s| ranges.range_in(n, s)), *into, "IN({block})");
        assert_eq!(text(&|s| ranges.range_out(n, s)), *out, "OUT({block})");
    }
    let costs = ranges.costs(&graph);
    for (name, set) in [("AB", A | B), ("BC", B | C), ("CA", C | A)] {
        assert_eq!(Some(costs.of(set)), judged["size"][name].as_u64(), "{name}");
    }
    for (name, flow) in [
        ("release_a", &[(0, 1), (1, 2), (2, 3), (3, 4)][..]),
        ("release_b", &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]),
    ] {
        let graph = FlowGraph::new(4, edges(flow));
        let ranges = Ranges::new(&graph, &[0, A, 0, 0]);
        let mut places: Vec<String> = release_points(Placement::Optimal, &graph, &ranges, A)
            .iter()
            .map(|p| match p {
                ProgramPoint::Before(n) => format!("before {n}"),
                ProgramPoint::After(n) => format!("after {n}"),
                ProgramPoint::On(edge) => format!("on {edge:?}"),
            })
            .collect();
        places.sort();
        assert_eq!(serde_json::json!(places), judged[name], "{name}");
    }
}

/// Fig. 4 on the SM: a pair of blocks, the owner first, and one alone.
#[test]
fn the_schedule_is_the_judge_s() {
    let Some(judged) = judge("sharing_schedule") else {
        return;
    };
    let text = ".warp_size 8\n.block 8\n.grid 3\n.shared 1920\n\
                alu r1\nld.shared r2, [1024 + 4*l], r1\nalu r3, r2\n";
    let program = WarpText::parse(text, Path::new("figure4.warp")).unwrap();
    let cycles = |policy: &str, order: &[usize]| {
        let mut machine = Overlay::preset("small").unwrap();
        for (key, value) in [
            ("geometry.lanes", "8"),
            ("geometry.warp_size", "8"),
            ("path.ahead", "0"),
            ("path.mem_stages", "2"),
            ("sharing.on", "true"),
            ("scheduler.policy", policy),
        ] {
            machine.set(key, value).unwrap();
        }
        let sm = Sm::new(&machine.config().unwrap(), &program).unwrap();
        sm.with_fill_order(order).unwrap().run().unwrap().cycles
    };
    // Slots: 0 owner, 1 non-owner, 2 unshared.
    let total = |name: &str| judged[name]["total"].as_u64().unwrap();
    assert_eq!(cycles("gto", &[2, 0, 1]), total("unshared first"));
    assert_eq!(cycles("owf", &[0, 2, 1]), total("owner first"));
}

/// Where all warps issue and end their instructions in Fig. 4 is what the judge has.
#[test]
fn the_events_of_the_schedule_are_the_judge_s() {
    let Some(judged) = judge("sharing_schedule") else {
        return;
    };
    let mut compared = 0;
    for row in reproduced(&["sharing.f4"]) {
        let quantity = row["quantity"].as_str().unwrap();
        let Some(name) = quantity.strip_prefix("in cycle, ") else {
            continue;
        };
        // `O ends I2`.
        let event = row["workload"].as_str().unwrap();
        let [warp, verb, instruction] = event.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{event}");
        };
        let warp = match warp {
            "O" => "owner",
            "N" => "non-owner",
            _ => "unshared",
        };
        let index = usize::from(instruction.as_bytes()[1] - b'1');
        let end = judged[name]["done"][warp][index].as_u64().unwrap();
        // A Load takes five cycles, the others one.
        let cycle = if verb == "issues" && index == 1 {
            end - 4
        } else {
            end
        };
        assert_eq!(row["measured"], cycle as f64, "{name}: {event}");
        compared += 1;
    }
    assert_eq!(compared, 8 + 9);
}

/// The variables of a kernel are counted in its PTX, not copied from Table I.
#[test]
fn the_variables_of_kernels_are_counted() {
    let rows = reproduced(&["sharing.t1", "sharing.f26"]);
    let variables = |w: &str| {
        let of = |r: &&Value| r["quantity"] == "variables in the scratchpad" && r["workload"] == w;
        rows.iter().find(of).unwrap()["measured"].as_f64()
    };
    for (kernel, count) in [
        ("NQU", 5.0),
        ("SRAD1", 6.0),
        ("heartwall", 8.0),
        ("FFT", 2.0),
    ] {
        assert_eq!(variables(kernel), Some(count), "{kernel}");
    }
}

/// The published values of quantity `name` of a figure's file.
fn published(figure: &str, name: &str) -> toml::Table {
    let path = format!(
        "{}/reproduce/sharing/{figure}.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).unwrap();
    let figure: toml::Table = text.parse().unwrap();
    let quantities = figure["quantity"].as_array().unwrap();
    let found = quantities
        .iter()
        .find(|q| q["name"].as_str() == Some(name))
        .unwrap_or_else(|| panic!("{path}: no {name}"));
    found["published"].as_table().unwrap().clone()
}

/// What the data files derive from Tables VI and XIII is what the judge derives.
#[test]
fn derived_values_are_the_judge_s() {
    let Some(judged) = judge("sharing_cycles") else {
        return;
    };
    let near = |a: &toml::Value, b: f64, width: f64, what: &str| {
        let a = a.as_float().or(a.as_integer().map(|n| n as f64)).unwrap();
        assert!((a - b).abs() <= width + 1e-9, "{what}: {a}, judged {b}");
    };
    for (figure, name, key, index) in [
        ("f14", "thread IPC, Unshared", "ipc_of_a_core", Some(0)),
        ("f18", "thread IPC, Unshared gto", "ipc_of_a_core", Some(1)),
        (
            "f18",
            "thread IPC, Unshared two-level",
            "ipc_of_a_core",
            Some(2),
        ),
        ("f14", "thread IPC, OPT", "ipc_of_a_core", Some(3)),
        ("f15", "cycles, OPT over Unshared", "saved", None),
        (
            "t6",
            "instructions a thread, Unshared",
            "instructions_a_thread",
            None,
        ),
        (
            "t6",
            "added instructions a thread, OPT",
            "added_a_thread",
            None,
        ),
    ] {
        let values = published(figure, name);
        assert_eq!(values.len(), 14, "{figure}: {name}");
        for (kernel, value) in &values {
            let judged = &judged[key][kernel];
            let judged = match index {
                Some(index) => &judged[index],
                None => judged,
            };
            let sign = if key == "saved" { -1.0 } else { 1.0 };
            let width = match figure {
                "t6" if name.contains("added") => 0.00005,
                "t6" => 0.5,
                _ => 0.005,
            };
            let judged = sign * judged.as_f64().unwrap();
            near(value, judged, width, &format!("{figure}: {name}, {kernel}"));
        }
    }
    for (figure, name, over) in [
        ("f14", "gain, OPT", "lrr"),
        ("f18", "gain, OPT over gto", "gto"),
        ("f18", "gain, OPT over two-level", "two-level"),
    ] {
        for (kernel, value) in &published(figure, name) {
            let judged = judged["gain"][kernel][over].as_f64().unwrap();
            near(value, judged, 0.005, &format!("{figure}: {name}, {kernel}"));
        }
    }
    // The paper's own sums follow from its tables.
    for (found, paper, width) in [
        (&judged["mean_gain"]["lrr"], 19.0, 0.5),
        (&judged["max_gain"], 92.17, 0.005),
        (&judged["mean_gain"]["gto"], 17.73, 0.005),
        (&judged["mean_gain"]["two-level"], 18.08, 0.005),
        (&judged["mean_saved"], 15.42, 0.02),
        (&judged["max_saved"], 47.8, 0.05),
    ] {
        near(
            &toml::Value::Float(paper),
            found.as_f64().unwrap(),
            width,
            "sum",
        );
    }
}
