//! Arrays that copies, barriers and the tensor cores access by themselves: they
//! stay, and others of the kernel are rewritten.

use super::{kernel, path_of, spadkit};
use serde_json::Value;
use std::path::Path;

/// A bulk copy brings rows of 32 words. Each thread moves the words of its row
/// of `brought` one after the other into its row of `tile`, and puts out one of
/// another's.
const COPIED: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .visible .entry k(.param .u64 in, .param .u64 out) {\n\
    .reg .pred %p<3>; .reg .b32 %r<14>; .reg .b64 %rd<5>;\n\
    .shared .align 16 .b8 brought[4096];\n\
    .shared .align 4 .b8 tile[4096];\n\
    .shared .align 8 .b64 arrived;\n\
    mov.u32 %r1, %tid.x;\nmov.u32 %r2, arrived;\nmov.u32 %r3, brought;\n\
    ld.param.u64 %rd1, [in];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\n\
    mbarrier.init.shared::cta.b64 [%r2], 1;\n\
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 4096;\n\
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 4096, [%r2];\n\
    WAIT:\nbar.sync 0;\nAGAIN:\n\
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;\n@!%p2 bra AGAIN;\n\
    shl.b32 %r4, %r1, 7;\nmov.u32 %r5, tile;\nadd.u32 %r6, %r5, %r4;\n\
    add.u32 %r7, %r3, %r4;\nld.shared.u32 %r8, [%r7];\nst.shared.u32 [%r6], %r8;\nbar.sync 0;\n\
    xor.b32 %r9, %r4, 3968;\nadd.u32 %r10, %r5, %r9;\nld.shared.u32 %r11, [%r10];\n\
    ld.param.u64 %rd2, [out];\nmul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd4, %rd2, %rd3;\n\
    st.global.u32 [%rd4], %r11;\nret;\n}\n";

const LAUNCH: &str = "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [32]\n\
    [[arg]]\nname = \"in\"\ntype = \"u32\"\ncount = 1024\ninit = \"iota\"\n\
    [[arg]]\nname = \"out\"\ntype = \"u32\"\ncount = 32\n";

/// Exit status, JSON and errors of a rewriting.
fn rewritten(input: &Path, hashes: &[&str]) -> (i32, Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.ptx");
    let mut args = vec![path_of(input), "--preset", "sm90", "--format", "json"];
    args.extend(["-o", path_of(&out)]);
    args.extend(hashes.iter().flat_map(|h| ["--hash", *h]));
    let run = spadkit(&args);
    let errors = String::from_utf8_lossy(&run.stderr).into_owned();
    let errors = errors.split_whitespace().collect::<Vec<_>>().join(" ");
    let json = serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {errors}"));
    (run.status.code().unwrap(), json, errors)
}

/// The reason why a line stays, which names its array.
fn reason<'a>(json: &'a Value, array: &str) -> &'a str {
    let left = json["left"].as_array().unwrap().iter();
    let mut reasons = left.map(|l| l["reason"].as_str().unwrap());
    let own = reasons.find(|r| r.contains(&format!("{array}: ")));
    own.unwrap_or_else(|| panic!("{array}: {json}"))
}

#[test]
fn arrays_beside_those_of_a_copy_are_rewritten() {
    let folder = tempfile::tempdir().unwrap();
    let launch = folder.path().join("k.toml");
    std::fs::write(folder.path().join("k.ptx"), COPIED).unwrap();
    std::fs::write(&launch, LAUNCH).unwrap();
    let spec = "swizzle:5,0,5";
    let tile = format!("tile={spec}");
    let brought = format!("brought={spec}");
    for hashes in [&[tile.as_str()][..], &[&tile, &brought]] {
        let (status, json, errors) = rewritten(&launch, hashes);
        assert_eq!(status, 0, "{errors}");
        assert_eq!(
            (&json["accesses"], &json["rewritten"]),
            (&3.into(), &2.into())
        );
        assert_eq!(json["outputs_equal"], true);
        // Of the reads of `brought` all are left.
        assert_eq!(
            (&json["conflicts_before"], &json["conflicts_after"]),
            (&93.into(), &31.into())
        );
        assert_eq!(
            reason(&json, "brought"),
            "brought: a bulk copy writes it in the order of global memory"
        );
        assert_eq!(reason(&json, "arrived"), "arrived: an mbarrier object");
        assert_eq!(json["swizzle_modes"], serde_json::json!([]));
    }
    let (status, json, errors) = rewritten(&launch, &[spec]);
    assert_eq!(status, 1);
    assert!(
        json["refused"]
            .as_str()
            .unwrap()
            .ends_with("arrived: an mbarrier object"),
        "{json}"
    );
    assert!(errors.contains("--hash NAME=SPEC for tile"), "{errors}");
}

/// The tensor map has the mapping: the mode of `tune --software`.
#[test]
fn tiles_of_tensor_copies_are_left_to_their_modes() {
    let launch = kernel("tma/tma_transpose");
    let name = |array: &str| format!("_ZZ9transposeILb0EEvRK9TensorMapS2_E{array}");
    let hash = |array: &str| format!("{}=swizzle:3,2,3", name(array));
    let (tile, turned) = (hash("4tile"), hash("6turned"));
    let (status, json, _) = rewritten(&launch, &[&tile, &turned]);
    assert_eq!(status, 1);
    for (array, verb) in [("4tile", "writes"), ("6turned", "reads")] {
        let expected = format!("a tensor copy {verb} it in the swizzle mode of its tensor map");
        assert!(reason(&json, &name(array)).ends_with(&expected), "{json}");
    }
    let mode = |array: &str, mode: &str, before: u32, after: u32| {
        serde_json::json!({
            "array": name(array), "mode": mode, "conflicts_before": before, "conflicts": after,
        })
    };
    assert_eq!(
        json["swizzle_modes"],
        serde_json::json!([
            mode("4tile", "tma:128", 992, 96),
            mode("6turned", "none", 0, 0)
        ])
    );
    let out = tempfile::tempdir().unwrap();
    let out = out.path().join("out.ptx");
    let run = spadkit(&[path_of(&launch), "--hash", &tile, "-o", path_of(&out)]);
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let answer = "tile: choose a swizzle mode of its tensor map or descriptor instead: tma:128 \
                  leaves the fewest conflicts, 96 of 992";
    assert!(text.contains(answer), "{text}");
}

/// A descriptor of `wgmma` is of the array whose address is in it.
#[test]
fn factors_of_wgmma_are_left_to_their_descriptors() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.ptx");
    let ptx = |descriptor: &str| {
        format!(
            ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {{\n\
             .reg .b64 %d<3>; .reg .b32 %r<6>; .reg .f32 %f<4>;\n\
             .shared .align 1024 .b8 factors[8192];\n.shared .align 4 .b8 sums[512];\n\
             mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n\
             mov.u32 %r1, factors;\nand.b32 %r2, %r1, 262128;\nshr.u32 %r3, %r2, 4;\n\
             cvt.u64.u32 %d1, %r3;\nor.b64 %d1, %d1, 68720001024;\n{descriptor}\
             wgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0,%f1,%f2,%f3}}, %d1, %d1, 0, 1, 1, 0, 0;\n\
             wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n\
             mov.u32 %r4, %tid.x;\nshl.b32 %r4, %r4, 2;\nmov.u32 %r5, sums;\nadd.u32 %r5, %r5, %r4;\n\
             st.shared.f32 [%r5], %f0;\nst.shared.f32 [%r2], %f0;\nret;\n}}\n"
        )
    };
    std::fs::write(&file, ptx("")).unwrap();
    let (status, json, errors) = rewritten(&file, &["sums=xor"]);
    assert_eq!(status, 0, "{errors}");
    assert_eq!(
        (&json["accesses"], &json["rewritten"]),
        (&2.into(), &1.into())
    );
    assert_eq!(
        reason(&json, "factors"),
        "factors: wgmma reads it by a descriptor, whose swizzle mode is its mapping"
    );
    assert_eq!(json["swizzle_modes"][0]["array"], "factors");
    // One whose address is not known may be of any array.
    std::fs::write(&file, ptx("mov.b64 %d1, 68720001024;\n")).unwrap();
    let (status, json, _) = rewritten(&file, &["sums=xor"]);
    assert_eq!(status, 1);
    let refused = json["refused"].as_str().unwrap();
    assert!(
        refused.contains("wgmma reads it by a descriptor"),
        "{refused}"
    );
}
