//! `tune --software` for arrays that bulk copies keep in the order of global memory.

use crate::common::suggested::{Launch, QUICKLY};
use crate::common::text;
use serde_json::Value;

/// A bulk copy brings rows of 32 words to `brought`, of which each thread reads one of its row
/// and moves it into its row of `tile`.
const PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .visible .entry k(.param .u64 in) {\n\
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>;\n\
    .shared .align 16 .b8 brought[4096];\n.shared .align 4 .b8 tile[4096];\n\
    .shared .align 8 .b64 arrived;\n\
    mov.u32 %r1, %tid.x;\nmov.u32 %r2, arrived;\nmov.u32 %r3, brought;\n\
    ld.param.u64 %rd1, [in];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\n\
    mbarrier.init.shared::cta.b64 [%r2], 1;\n\
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 4096;\n\
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 4096, [%r2];\n\
    WAIT:\nbar.sync 0;\nAGAIN:\n\
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;\n@!%p2 bra AGAIN;\n\
    shl.b32 %r4, %r1, 7;\nmov.u32 %r5, tile;\nadd.u32 %r6, %r5, %r4;\nadd.u32 %r7, %r3, %r4;\n\
    ld.shared.u32 %r8, [%r7];\nst.shared.u32 [%r6], %r8;\nret;\n}\n";

/// A launch of a kernel.
fn launch(ptx: &str) -> Launch {
    let keys = "ptx = \"k.ptx\"\ngrid = [1]\nblock = [32]\n[[arg]]\nname = \"in\"\n\
                type = \"u32\"\ncount = 1024\ninit = \"iota\"\n";
    Launch::of(&[("k.ptx", ptx), ("k.toml", keys)])
}

#[test]
fn an_array_that_a_bulk_copy_fills_keeps_its_order() {
    let launch = launch(PTX);
    let found = launch.tuned(QUICKLY);
    let reason = "a bulk copy writes it in the order of global memory";
    let variables = found["per_variable"]["variables"].as_array().unwrap();
    let of = |name: &str| variables.iter().find(|v| v["name"] == name).unwrap();
    assert_eq!(of("brought")["results"][0]["hash"], "mod", "{found}");
    for whole in [&found, of("brought")] {
        assert_eq!(whole["left_out"][0]["reason"], reason, "{found}");
        assert_eq!(whole["bulk_copies"][0]["bytes"], 4096, "{found}");
    }
    assert_eq!(of("tile")["results"][0]["conflicts"], 0, "{found}");
    let changes = found["suggestions"].as_array().unwrap();
    assert!(
        changes.len() == 1 && changes[0]["array"] == "tile",
        "{found}"
    );
    let shown = text(&[
        "tune",
        &launch.file,
        "--software",
        "--budget",
        "1",
        "--no-machine-code",
    ]);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let headline =
        format!("one for all of shared memory leaves 62. brought has no mapping: {reason}.");
    assert!(shown.contains(&headline), "{shown}");
}

#[test]
fn an_array_that_a_bulk_copy_stores_keeps_its_order() {
    let store = "fence.proxy.async.shared::cta;\nbar.sync 0;\n@%p1 bra END;\n\
                 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 4096;\n\
                 cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nEND:\nret;\n}\n";
    let launch = launch(&PTX.replace("ret;\n}\n", store));
    let found = launch.tuned(QUICKLY);
    assert_eq!(found["suggestions"], serde_json::json!([]), "{found}");
    let reasons = found["per_variable"]["variables"]
        .as_array()
        .unwrap()
        .iter();
    let reasons: Vec<&Value> = reasons.map(|v| &v["left_out"][0]["reason"]).collect();
    let expected = ["writes", "reads"].map(|verb| {
        Value::from(format!(
            "a bulk copy {verb} it in the order of global memory"
        ))
    });
    assert!(reasons.into_iter().eq(&expected), "{found}");
}

#[test]
fn tune_says_that_copies_need_the_mapping_of_the_hardware() {
    let said = |launch: &str| {
        let answer = text(&["tune", launch, "--preset", "sm90", "--hash", "bitvec-perm"]);
        answer.contains("write or read shared memory, too")
            && answer.contains("place their rows by the same mapping")
    };
    assert!(said("kernels/tma/tma_transpose.toml"));
    assert!(!said("kernels/fwt/fwt.toml"));
}

/// nvcc gives the line of the copy into `Bs` to a copy into `As`, too: only the line that names
/// an array changes for it.
#[test]
fn a_change_of_an_array_maps_no_address_of_another() {
    let found = crate::common::json(&[
        "tune",
        "tests/fixtures/cuda/stages.toml",
        "--software",
        "--budget",
        "1",
    ]);
    let mut copies = Vec::new();
    for s in found["suggestions"].as_array().unwrap() {
        let (array, lines) = (s["array"].as_str().unwrap(), s["lines"].as_array().unwrap());
        for line in lines {
            let text = line["text"].as_str().unwrap();
            assert!(text.contains(array), "{array}: {line}");
            if text.contains("__pipeline_memcpy_async") {
                let place = line["source"].as_str().unwrap().to_owned();
                copies.push((place, line["accesses"].as_array().unwrap().len()));
            }
        }
    }
    let expected = [
        ("stages.cu:18".to_owned(), 3),
        ("stages.cu:19".to_owned(), 3),
    ];
    assert_eq!(copies, expected, "{found}");
}
