//! Launch files with clusters and cooperative launches, from the file to the
//! buffers. What single instructions do is in `tests/filetests/run/cluster-*`.

use crate::common::{json, refused, spadkit};

/// Each block writes its index and rank, the content of the next block's shared
/// memory in its cluster, and its position in the cluster.
const PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .visible .entry k(.param .u64 a) {\n.reg .b64 %rd<3>; .reg .b32 %r<12>; .reg .pred %p<2>;\n\
    .shared .align 4 .b8 s[4];\n\
    ld.param.u64 %rd1, [a]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y;\n\
    mov.u32 %r2, %nctaid.x; mad.lo.u32 %r3, %r1, %r2, %r0; mad.wide.u32 %rd2, %r3, 16, %rd1;\n\
    mov.u32 %r4, s; add.u32 %r5, %r3, 500; st.shared.u32 [%r4], %r5;\n\
    barrier.cluster.arrive; barrier.cluster.wait;\n\
    mov.u32 %r6, %cluster_ctarank; mov.u32 %r7, %cluster_nctarank; add.u32 %r8, %r6, 1;\n\
    rem.u32 %r8, %r8, %r7; mapa.shared::cluster.u32 %r8, %r4, %r8;\n\
    ld.shared::cluster.u32 %r8, [%r8]; mov.u32 %r9, %cluster_ctaid.x; mov.u32 %r10, %cluster_ctaid.y;\n\
    mad.lo.u32 %r9, %r10, 16, %r9; st.global.v4.u32 [%rd2], {%r6, %r7, %r8, %r9};\n\
    barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";

fn launch(keys: &str) -> String {
    format!(
        "ptx = \"k.ptx\"\n{keys}\nblock = [1]\n[[arg]]\nname = \"a\"\ntype = \"u32\"\ncount = 128\n"
    )
}

/// The words of `a` after a run.
fn run(keys: &str, options: &[&str]) -> Vec<u32> {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("k.ptx"), PTX).unwrap();
    std::fs::write(at("k.toml"), launch(keys)).unwrap();
    let (file, dump) = (at("k.toml"), format!("a={}", at("a.npy")));
    let args = [&["run", &file, "--dump", &dump][..], options].concat();
    let result = json(&args);
    assert_eq!(result["findings"], serde_json::json!([]), "{keys}");
    let bytes = std::fs::read(at("a.npy")).unwrap();
    let words = bytes[bytes.len() - 512..].chunks(4);
    words
        .map(|w| u32::from_le_bytes(w.try_into().unwrap()))
        .collect()
}

/// The same from the definitions.
fn expected(grid: [u32; 2], cluster: [u32; 2]) -> Vec<u32> {
    let mut words = vec![0; 128];
    let size = cluster[0] * cluster[1];
    for y in 0..grid[1] {
        for x in 0..grid[0] {
            let own = [x % cluster[0], y % cluster[1]];
            let rank = own[0] + cluster[0] * own[1];
            let next = (rank + 1) % size;
            let (nx, ny) = (next % cluster[0], next / cluster[0]);
            let other = (x - own[0] + nx) + grid[0] * (y - own[1] + ny);
            let at = 4 * (x + grid[0] * y) as usize;
            let row = [rank, size, 500 + other, own[0] + 16 * own[1]];
            words[at..at + 4].copy_from_slice(&row);
        }
    }
    words
}

#[test]
fn blocks_of_a_cluster_run_together_in_any_shape() {
    for (grid, cluster) in [
        ([8, 4], [2, 2]),
        ([8, 4], [4, 1]),
        ([8, 4], [1, 4]),
        ([4, 4], [4, 4]),
        ([8, 2], [8, 2]),
    ] {
        let keys = format!("grid = {grid:?}\ncluster = {cluster:?}");
        for options in [
            &["--threads", "1"][..],
            &["--threads", "3"],
            &["--races"],
            &["--races=global"],
        ] {
            assert_eq!(
                run(&keys, options),
                expected(grid, cluster),
                "{keys} {options:?}"
            );
        }
    }
    // Each block is its own cluster where nothing says otherwise.
    assert_eq!(run("grid = [8, 4]", &[]), expected([8, 4], [1, 1]));
    let all = run("grid = [8, 4]\ncluster = [2, 2]\ncooperative = true", &[]);
    assert_eq!(all, expected([8, 4], [2, 2]));
}

#[test]
fn clusters_that_do_not_fit_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("k.ptx"), PTX).unwrap();
    let cases = [
        (
            "grid = [8]\ncluster = [3]",
            "'grid' is not a multiple of 'cluster' at",
            "k.toml:3:",
        ),
        (
            "grid = [32]\ncluster = [32]",
            "'cluster' is out of range",
            "k.toml:3:",
        ),
        (
            "grid = [8, 8]\ncluster = [8, 4]",
            "'cluster' has 32 blocks",
            "k.toml:3:",
        ),
        (
            "grid = [8]\ncluster = 2",
            "'cluster' is an integer",
            "k.toml:3:",
        ),
        (
            "grid = [8]\ncooperative = 1",
            "'cooperative' is an integer",
            "k.toml:3:",
        ),
        (
            "grid = [5000]\ncooperative = true",
            "a cooperative launch of 5000 blocks",
            "at most 4096",
        ),
    ];
    for (keys, what, place) in cases {
        std::fs::write(at("k.toml"), launch(keys)).unwrap();
        let text = refused(&["run", &at("k.toml")]);
        assert!(
            text.contains(what) && text.contains(place),
            "{keys}: {text}"
        );
    }
    // The PTX says four.
    let four = PTX.replace(
        "(.param .u64 a) {",
        "(.param .u64 a) .reqnctapercluster 4, 1, 1 {",
    );
    std::fs::write(at("k.ptx"), four).unwrap();
    std::fs::write(at("k.toml"), launch("grid = [8]\ncluster = [2]")).unwrap();
    let text = refused(&["run", &at("k.toml")]);
    assert!(text.contains("where the PTX says [4, 1, 1]"), "{text}");
    std::fs::write(at("k.toml"), launch("grid = [6]")).unwrap();
    let text = refused(&["run", &at("k.toml")]);
    assert!(
        text.contains("a grid of [6, 1, 1] in clusters of [4, 1, 1]"),
        "{text}"
    );
}

/// Of a cluster each block is traced as one of its own: what it accesses of others
/// is no access of its shared memory.
#[test]
fn traces_have_the_accesses_of_one_block() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("k.ptx"), PTX).unwrap();
    std::fs::write(at("k.toml"), launch("grid = [8, 4]\ncluster = [2, 2]")).unwrap();
    let (file, trace) = (at("k.toml"), at("t.json"));
    spadkit(&["trace", &file, "-o", &trace, "--block-index", "9"])
        .assert()
        .success();
    let text = std::fs::read_to_string(&trace).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let accesses = trace["accesses"].as_array().unwrap();
    let ops: Vec<&str> = accesses.iter().map(|a| a["op"].as_str().unwrap()).collect();
    assert_eq!(ops, ["store"], "{text}");
    let sim = json(&["sim", &file, "--preset", "sm90"]);
    assert!(sim["cycles"].as_u64().unwrap() > 0);
}
