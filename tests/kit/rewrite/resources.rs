//! What a block takes before and after. The assembler is looked for as
//! `SPADKIT_PTXAS` and on the path; PyPI has one in nvidia-cuda-nvcc.

use crate::common::tools::missing_ptxas;

use super::{Case, kernel, path_of, spadkit};
use serde_json::Value;
use spadkit::assembler::Assembler;
use spadkit::rewrite::{Block, under_each};
use spadkit::tool::{ToolKind, Toolbox};

/// `kernel` under `spec` on `machine`, and what is printed for people.
fn rewritten(name: &str, spec: &str, machine: &str) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let (launch, out) = (kernel(name), folder.path().join("out.ptx"));
    let to = path_of(&out);
    let args = [
        path_of(&launch),
        "--hash",
        spec,
        "-o",
        to,
        "--preset",
        machine,
    ];
    let text = spadkit(&args);
    assert!(
        text.status.success(),
        "{}",
        String::from_utf8_lossy(&text.stderr)
    );
    let json = spadkit(&[&args[..], &["--format", "json"]].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    (serde_json::from_slice(&json.stdout).unwrap(), text)
}

/// 64 threads with 1 KB and no registers known: as many blocks as there are
/// slots. With 45 KB a block of which an SM of 164 KB holds three, padding
/// takes one of them.
#[test]
fn blocks_on_an_sm_are_those_of_the_memory_before_and_after() {
    let (json, text) = rewritten("transpose/transpose", "pad:every=1,by=14", "sm80");
    let resources = &json["resources"];
    let blocks = |when: &str| resources[when]["occupancy"]["blocks"].as_u64().unwrap();
    assert_eq!(resources["before"]["shared_bytes"], 1024);
    assert_eq!((blocks("before"), blocks("after")), (8, 8));
    assert!(resources["after"]["shared_bytes"].as_u64() > Some(14000));
    assert!(
        text.contains("blocks on an SM of sm80: 8 -> 8, 64 -> 64 of 64 warps"),
        "{text}"
    );
    // 48 KB hold three such blocks.
    let (json, text) = rewritten("transpose/transpose", "pad:every=1,by=14", "fermi");
    let after = &json["resources"]["after"]["occupancy"];
    assert_eq!(after["limited_by"], "scratchpad");
    assert_eq!(after["blocks"], 3);
    assert!(text.contains("limited by warps -> scratchpad"), "{text}");
}

/// The assembler takes what is written, with registers and instructions near
/// those of the kernel as given.
#[test]
fn the_assembler_takes_what_is_written() {
    if missing_ptxas(&[ToolKind::Ptxas]) {
        return;
    }
    let toolbox = Toolbox::new();
    for name in [
        "transpose/transpose",
        "fwt/fwt",
        "scan/scan",
        "lud/lud_perimeter",
        "gemm/hgemm",
    ] {
        let case = Case::load(&kernel(name), "sm80");
        let module = case.file.module().unwrap();
        let assembler = Assembler::required(&toolbox, &module, Some(80)).unwrap();
        let entry = &case.entries()[0];
        let request = case.request("mod", true, entry);
        let block = Block {
            machine: &case.machine,
            assembler: Some(&assembler),
            block_dim: Some([256, 1, 1]),
            registers: 0,
        };
        let specs = [
            "mod",
            "xor",
            "rap:seed=1",
            "pad:every=33,by=1",
            "swizzle:3,2,3",
        ];
        let specs = specs.map(|s| s.parse().unwrap());
        let all = under_each(&module, &request, &specs, &block).unwrap();
        let plain = all[0].unwrap().assembled.unwrap();
        assert!(
            plain.registers >= 8 && plain.instructions >= 20,
            "{name}: {plain:?}"
        );
        let others = all[1..].iter().flatten().filter_map(|r| r.assembled);
        // Wide accesses refuse some of them.
        assert!(others.clone().count() >= 1, "{name}");
        for mapped in others {
            assert!(
                mapped.instructions + 40 > plain.instructions,
                "{name}: {mapped:?}"
            );
            assert!(
                mapped.registers < plain.registers + 64,
                "{name}: {mapped:?}"
            );
            assert_ne!(mapped, plain, "{name}");
        }
    }
}
