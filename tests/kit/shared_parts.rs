//! Names for parts of dynamic shared memory: in findings, traces and the choice of
//! mappings. Errors in them are reported with their position.

use crate::common::{json, json_of, refused, spadkit};

/// Rows of 32 words are written by row and read by column in the first part, the
/// second one is read by row; thread 0 then reads what nobody has written of it.
const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .extern .shared .align 16 .b8 dyn[];\n.visible .entry k() {\n\
    .reg .b32 %r<9>; .reg .pred %p<2>;\n\
    mov.u32 %r0, %tid.x; mov.u32 %r1, dyn; shl.b32 %r2, %r0, 7; add.u32 %r3, %r1, %r2;\n\
    st.shared.u32 [%r3], %r0;\n\
    shl.b32 %r4, %r0, 2; add.u32 %r5, %r1, %r4; st.shared.u32 [%r5+4096], %r0; bar.sync 0;\n\
    ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r7, [%r5+4096];\n\
    setp.eq.u32 %p1, %r0, 0; @%p1 ld.shared.u32 %r8, [%r1+4300]; ret;\n}\n";

const HEAD: &str = "ptx = \"k.ptx\"\ngrid = [1]\nblock = [32]\ndynamic_shared = 4352\n";
const PARTS: &str = "[[shared]]\nname = \"columns\"\noffset = 0\nbytes = 4096\n\
    [[shared]]\nname = \"row\"\noffset = 4096\nbytes = 256\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(keys: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("k.ptx"), PTX).unwrap();
        std::fs::write(folder.path().join("k.toml"), format!("{HEAD}{keys}")).unwrap();
        Folder(folder)
    }

    fn launch(&self) -> String {
        self.0.path().join("k.toml").to_str().unwrap().to_owned()
    }
}

#[test]
fn findings_name_the_part() {
    let of = |keys: &str| {
        let folder = Folder::new(keys);
        let result = json(&["run", &folder.launch()]);
        let finding = &result["findings"][0];
        assert_eq!(finding["address"], 4300, "{result}");
        finding["variable"].as_str().unwrap().to_owned()
    };
    assert_eq!(of(""), "dyn");
    assert_eq!(of(PARTS), "row");
}

#[test]
fn races_name_the_part_and_its_byte() {
    let of = |keys: &str| {
        let folder = Folder::new(&keys.replace("bytes = 256", "bytes = 128"));
        let text = PTX.replace("bar.sync 0;", "ld.shared.u32 %r6, [%r1+4104];");
        std::fs::write(folder.0.path().join("k.ptx"), text).unwrap();
        let args = ["run", &folder.launch(), "--races", "--format", "json"];
        let result = json_of(&spadkit(&args).assert().code(1).get_output().stdout);
        let race = result["findings"].as_array().unwrap().iter();
        let race = race.clone().find(|f| f["kind"] == "race").unwrap().clone();
        (race["variable"].clone(), race["message"].to_string())
    };
    let (variable, message) = of("");
    assert!(
        variable == "dyn" && message.contains("byte 4104 of dyn"),
        "{message}"
    );
    let (variable, message) = of(PARTS);
    assert!(
        variable == "row" && message.contains("byte 8 of row"),
        "{message}"
    );
}

#[test]
fn tune_finds_a_mapping_for_each_part() {
    let folder = Folder::new(PARTS);
    let result = json(&["tune", &folder.launch(), "--software", "--preset", "sm80"]);
    let text = result.to_string();
    let variables = result["per_variable"]["variables"].as_array();
    let variables = variables.unwrap_or_else(|| panic!("{text}"));
    let names: Vec<&str> = variables
        .iter()
        .map(|v| v["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["columns", "row"], "{text}");
    // Without names all is one array.
    let folder = Folder::new("");
    let result = json(&["tune", &folder.launch(), "--software", "--preset", "sm80"]);
    assert!(result["per_variable"].is_null(), "{result}");
}

#[test]
fn wrong_parts_are_refused_with_their_place() {
    let part = |name: &str, offset: u32, bytes: u32| {
        format!("[[shared]]\nname = \"{name}\"\noffset = {offset}\nbytes = {bytes}\n")
    };
    let a = part("a", 0, 4096);
    let cases = [
        (
            part("a", 4096, 512),
            "'a' ends at byte 4608 of dynamic memory at",
            "k.toml:8:9",
            "at most 4352",
        ),
        (
            a.clone() + &part("b", 4092, 8),
            "'a' and 'b' overlap at",
            "k.toml:11:10",
            "0 to 4095",
        ),
        (
            a.clone() + &part("a", 4096, 8),
            "two parts of shared memory are 'a'",
            "k.toml:10:8",
            "once",
        ),
        (
            part("a", 0, 0),
            "'bytes' is out of range",
            "k.toml:8:9",
            "from 1",
        ),
        (
            "[[shared]]\noffset = 0\nbytes = 4\n".to_owned(),
            "[[shared]] has no 'name'",
            "k.toml:5:",
            "NAME",
        ),
        (
            "[[shared]]\nname = \"a\"\nbytes = 4\n".to_owned(),
            "[[shared]] has no 'offset'",
            "k.toml:5:",
            "offset",
        ),
        (
            a + "size = 4\n",
            "unknown key 'size' in [[shared]]",
            "k.toml:9:1",
            "bytes",
        ),
    ];
    for (keys, what, place, help) in cases {
        let text = refused(&["run", &Folder::new(&keys).launch()]);
        for part in [what, place, help] {
            assert!(text.contains(part), "{keys}: {part}: {text}");
        }
    }
    spadkit(&["run", &Folder::new(PARTS).launch()])
        .assert()
        .success();
}

/// Runs `rewrite` with options; the output file is in the folder of the launch file.
/// Returns the result and the PTX.
fn rewritten(folder: &Folder, options: &[&str]) -> (serde_json::Value, String) {
    let output = folder.0.path().join("fast.ptx");
    let output = output.to_str().unwrap();
    let launch = folder.launch();
    let command = ["rewrite", &launch, "--preset", "sm80", "-o", output];
    let result = json(&[&command[..], options].concat());
    (result, std::fs::read_to_string(output).unwrap())
}

#[test]
fn rewrite_maps_each_part_by_its_name() {
    let folder = Folder::new(PARTS);
    let (result, ptx) = rewritten(&folder, &["--hash", "columns=pad:every=32,by=1"]);
    assert_eq!(result["outputs_equal"], true, "{result}");
    assert_eq!(result["rewritten"], result["accesses"], "{result}");
    // 32 rows of 33 words; what is behind them is where the banks are the same.
    assert_eq!(result["dynamic_shared"], 4224 + 256, "{result}");
    let parts = serde_json::json!([
        {"name": "columns", "offset": 0, "bytes": 4220},
        {"name": "row", "offset": 4224, "bytes": 256}
    ]);
    assert_eq!(result["parts"], parts, "{result}");
    assert_eq!(result["conflicts_after"], 0, "{result}");
    assert!(result["conflicts_before"].as_u64().unwrap() > 0, "{result}");
    // The second part moves by a constant: its accesses pay nothing for the first.
    assert!(ptx.contains("+4224]"), "{ptx}");
    assert!(!ptx.contains("slct"), "{ptx}");
    // Two mappings, and one more that the part's wide neighbours do not mind.
    let both = ["--hash", "row=xor", "--hash", "columns=swizzle:5,0,5"];
    let (result, _) = rewritten(&folder, &both);
    assert_eq!(result["outputs_equal"], true, "{result}");
    assert_eq!(result["conflicts_after"], 0, "{result}");
}

/// An `mbarrier` beside the rows, which each thread writes, and reads of another.
const WITH_BARRIER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .extern .shared .align 16 .b8 dyn[];\n.visible .entry k(.param .u64 out) {\n\
    .reg .b32 %r<9>; .reg .b64 %d<5>; .reg .pred %p<3>;\n\
    mov.u32 %r0, %tid.x; mov.u32 %r1, dyn; add.u32 %r2, %r1, 4096;\n\
    setp.ne.u32 %p1, %r0, 0; @%p1 bra READY;\nmbarrier.init.shared::cta.b64 [%r2], 32;\n\
    READY:\nbar.sync 0;\nshl.b32 %r3, %r0, 7; add.u32 %r4, %r1, %r3;\n\
    st.shared.u32 [%r4], %r0;\nmbarrier.arrive.shared::cta.b64 %d1, [%r2];\nAGAIN:\n\
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;\n@!%p2 bra AGAIN;\n\
    xor.b32 %r5, %r3, 3968; add.u32 %r6, %r1, %r5;\nld.shared.u32 %r7, [%r6];\n\
    ld.param.u64 %d2, [out]; mul.wide.u32 %d3, %r0, 4; add.u64 %d4, %d2, %d3;\n\
    st.global.u32 [%d4], %r7; ret;\n}\n";

#[test]
fn a_barrier_beside_the_part_moves_with_what_is_there() {
    let keys = format!("{PARTS}[[arg]]\nname = \"out\"\ntype = \"u32\"\ncount = 32\n");
    let folder = Folder::new(&keys);
    std::fs::write(folder.0.path().join("k.ptx"), WITH_BARRIER).unwrap();
    for (hash, place) in [("swizzle:5,0,5", 4096), ("pad:every=32,by=1", 4224)] {
        let (result, _) = rewritten(&folder, &["--hash", &format!("columns={hash}")]);
        assert_eq!(result["outputs_equal"], true, "{result}");
        assert_eq!(result["rewritten"], result["accesses"], "{result}");
        assert_eq!(result["conflicts_after"], 0, "{result}");
        assert_eq!(result["parts"][1]["offset"], place, "{result}");
    }
    // The part with the object itself stays.
    let launch = folder.launch();
    let command = [
        "rewrite",
        &launch,
        "-o",
        "/tmp/none.ptx",
        "--hash",
        "row=xor",
    ];
    let run = spadkit(&command).assert().code(1).get_output().clone();
    let said = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
    assert!(said.contains("an mbarrier object"), "{said}");
}

#[test]
fn rewrite_chooses_where_the_part_is_not_known() {
    let unknown = PTX.replace(
        "setp.eq.u32 %p1, %r0, 0;",
        "ld.shared.u32 %r8, [%r5+4096]; shl.b32 %r8, %r8, 7; add.u32 %r8, %r1, %r8; \
         st.shared.u32 [%r8+96], %r0; setp.eq.u32 %p1, %r0, 99;",
    );
    let folder = Folder::new(PARTS);
    std::fs::write(folder.0.path().join("k.ptx"), &unknown).unwrap();
    for hash in ["pad:every=32,by=1", "rap:seed=1"] {
        let (result, ptx) = rewritten(&folder, &["--hash", &format!("columns={hash}")]);
        assert_eq!(result["outputs_equal"], true, "{result}");
        assert_eq!(result["rewritten"], result["accesses"], "{result}");
        assert!(ptx.contains("slct.b32.s32"), "{ptx}");
    }
}

#[test]
fn rewrite_refuses_names_that_do_not_fit() {
    let cases = [
        (
            PARTS.to_owned(),
            "rows=xor",
            "no shared variable rows",
            "dyn, columns, row",
        ),
        (
            "[[shared]]\nname = \"odd\"\noffset = 2\nbytes = 4096\n".to_owned(),
            "odd=xor",
            "odd is 4096 bytes from byte 2",
            "whole words",
        ),
        (
            PARTS.to_owned(),
            "columns=xor --hash dyn=add",
            "dyn has two mappings",
            "once",
        ),
        (
            PARTS.to_owned(),
            "row=xor --hash row=add",
            "row has two mappings",
            "once",
        ),
    ];
    for (keys, hash, what, help) in cases {
        let folder = Folder::new(&keys);
        let launch = folder.launch();
        let mut command = vec!["rewrite", &launch, "-o", "/tmp/none.ptx", "--hash"];
        command.extend(hash.split(' '));
        let text = refused(&command);
        for part in [what, help] {
            assert!(text.contains(part), "{hash}: {part}: {text}");
        }
    }
}

#[test]
fn share_sees_parts_as_variables() {
    let folder = Folder::new(PARTS);
    // With the block size the parts that lanes reach are known.
    let known = PTX.replace(
        ".visible .entry k() {",
        ".visible .entry k()\n.reqntid 32, 1, 1\n{",
    );
    std::fs::write(folder.0.path().join("k.ptx"), known).unwrap();
    let launch = folder.launch();
    let options = ["--preset", "sharing-48k", "--sharing", "0.95", "--no-sim"];
    let result = json(&[&["share", &launch][..], &options].concat());
    let variables = serde_json::json!([
        {"name": "columns", "bytes": 4096, "offset": 0, "shared": false, "accesses": 2},
        {"name": "row", "bytes": 256, "offset": 4096, "shared": true, "accesses": 3}
    ]);
    assert_eq!(result["variables"], variables, "{result}");
    // The first store is none to the shared part.
    let whole = Folder::new("");
    std::fs::copy(folder.0.path().join("k.ptx"), whole.0.path().join("k.ptx")).unwrap();
    let all = json(&[&["share", &whole.launch()][..], &options].concat());
    let range = |result: &serde_json::Value| result["access_range"].as_u64().unwrap();
    assert!(range(&result) < range(&all), "{result} {all}");
}

/// What `tune` suggests, `rewrite` does: with the conflicts that were promised.
#[test]
fn rewrite_takes_what_tune_suggests() {
    let folder = Folder::new(PARTS);
    let launch = folder.launch();
    let found = json(&["tune", &launch, "--software", "--preset", "sm80"]);
    let promised = &found["per_variable"]["conflicts"];
    let variables = found["per_variable"]["variables"].as_array().unwrap();
    let of = |v: &serde_json::Value| {
        let text = |v: &serde_json::Value| v.as_str().unwrap().to_owned();
        format!("{}={}", text(&v["name"]), text(&v["results"][0]["hash"]))
    };
    let mappings: Vec<String> = variables.iter().map(of).collect();
    let options = mappings.iter().flat_map(|m| ["--hash", m]);
    let (result, _) = rewritten(&folder, &options.collect::<Vec<_>>());
    assert_eq!(&result["conflicts_after"], promised, "{result} {found}");
    assert_eq!(result["outputs_equal"], true, "{result}");
}

/// Each part is written at `4 * tid` from its start. Blocks of 64 threads touch nothing else;
/// larger ones might.
const OWN_WORDS: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .entry k(.param .u64 p, .param .u32 n)\n{\n\
    .extern .shared .align 16 .b8 c[];\n\
    .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>;\n\
    ld.param.u64 %rd1, [p]; ld.param.u32 %r20, [n];\n\
    mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, c; add.s32 %r3, %r3, %r2;\n\
    ld.global.u32 %r5, [%rd1]; st.shared.u32 [%r3+8192], %r5; bar.sync 0;\n\
    ld.shared.u32 %r6, [%r3+8192]; st.shared.u32 [%r3], %r6; bar.sync 0; mov.u32 %r10, 0;\n\
    L: ld.shared.u32 %r7, [%r3]; add.s32 %r6, %r6, %r7; add.s32 %r10, %r10, 1;\n\
    setp.lt.u32 %p1, %r10, %r20;\n@%p1 bra L;\nst.global.u32 [%rd1+64], %r6;\nret;\n}\n";

#[test]
fn share_takes_the_block_of_the_launch_for_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let launch = |more: &str| {
        let part = |name: &str, at: u32| {
            format!("[[shared]]\nname = \"{name}\"\noffset = {at}\nbytes = 1024\n")
        };
        let text = format!(
            "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [8]\nblock = [64]\ndynamic_shared = 12288\n\
             [[arg]]\nname = \"p\"\ntype = \"u32\"\ncount = 2048\n[[arg]]\nname = \"n\"\n\
             type = \"u32\"\nvalue = 10\n{}{}{more}",
            part("lo", 0),
            part("hi", 8192)
        );
        std::fs::write(path("k.ptx"), OWN_WORDS).unwrap();
        std::fs::write(path("k.toml"), text).unwrap();
    };
    let (input, out) = (path("k.toml"), path("out.ptx"));
    let share = || {
        json(&[
            "share",
            &input,
            "--preset",
            "gpgpusim-16k",
            "--no-sim",
            "-o",
            &out,
        ])
    };
    launch("");
    let found = share();
    let accesses = |of: &serde_json::Value| -> Vec<u64> {
        let all = of["variables"].as_array().unwrap().iter();
        all.map(|v| v["accesses"].as_u64().unwrap()).collect()
    };
    assert_eq!(accesses(&found), [2, 0, 2, 0], "{found}");
    assert_eq!(found["access_range"], 3);
    assert_eq!(found["required_block"], serde_json::json!([64, 1, 1]));
    let annotated = std::fs::read_to_string(&out).unwrap();
    assert!(annotated.contains(".reqntid 64, 1, 1\n{"), "{annotated}");
    // The release comes before the loop over the first part.
    let (release, round) = (annotated.find("relssp"), annotated.find("L:"));
    assert!(release < round, "{annotated}");
    // Another launch of the entry has larger blocks: nothing is assumed.
    launch("[[then]]\nentry = \"k\"\ngrid = [8]\nblock = [128]\nargs = [\"p\", \"n\"]\n");
    let found = share();
    assert!(found["required_block"].is_null(), "{found}");
    assert!(accesses(&found)[1] > 0, "{found}");
}
