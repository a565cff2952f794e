//! Launch files of several PTX texts: every command that takes one.

use assert_cmd::Command;
use std::path::Path;

const HEAD: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";

/// Stores four times the thread into shared memory, and reads it as `at` of
/// the other text says.
const FIRST: &str = ".extern .func (.param .b32 r) at (.param .b32 x);\n\
    .extern .func store (.param .b64 to, .param .b32 x);\n\
    .shared .align 4 .b8 tile[1024];\n\
    .visible .entry first(.param .u64 out) {\n\
      .reg .b32 %r<9>; .reg .b64 %rd<9>;\n\
      .param .b32 p0; .param .b32 p1; .param .b64 p2; .param .b32 p3;\n\
      ld.param.u64 %rd1, [out];\n\
      mov.u32 %r1, %tid.x;\n\
      st.param.b32 [p0], %r1;\n\
      call (p1), at, (p0);\n\
      ld.param.b32 %r2, [p1];\n\
      mov.u32 %r3, tile;\n\
      add.u32 %r3, %r3, %r2;\n\
      st.shared.u32 [%r3], %r1;\n\
      ld.shared.u32 %r4, [%r3];\n\
      mul.wide.u32 %rd2, %r1, 4;\n\
      add.u64 %rd1, %rd1, %rd2;\n\
      st.param.b64 [p2], %rd1;\n\
      st.param.b32 [p3], %r4;\n\
      call store, (p2, p3);\n\
      ret;\n}\n";

const SECOND: &str = ".visible .func (.param .b32 r) at (.param .b32 x) {\n\
      .reg .b32 %r<3>;\n\
      ld.param.b32 %r1, [x];\n\
      shl.b32 %r2, %r1, 3;\n\
      st.param.b32 [r], %r2;\n\
      ret;\n}\n\
    .visible .func store (.param .b64 to, .param .b32 x) {\n\
      .reg .b32 %r<2>; .reg .b64 %rd<2>;\n\
      ld.param.b64 %rd1, [to];\n\
      ld.param.b32 %r1, [x];\n\
      st.global.u32 [%rd1], %r1;\n\
      ret;\n}\n\
    .visible .entry second(.param .u64 out) {\n\
      .reg .b32 %r<3>; .reg .b64 %rd<4>;\n\
      ld.param.u64 %rd1, [out];\n\
      mov.u32 %r1, %tid.x;\n\
      mul.wide.u32 %rd2, %r1, 4;\n\
      add.u64 %rd3, %rd1, %rd2;\n\
      ld.global.u32 %r2, [%rd3];\n\
      add.u32 %r2, %r2, 100;\n\
      st.global.u32 [%rd3], %r2;\n\
      ret;\n}\n";

/// A folder with both texts and a launch file that runs an entry of each.
fn folder(ptx: &str, count: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("a.ptx", format!("{HEAD}{FIRST}"));
    write("b.ptx", format!("{HEAD}{SECOND}"));
    write(
        "l.toml",
        format!(
            "ptx = {ptx}\nentry = \"first\"\ngrid = [1]\nblock = [64]\n\
             [[arg]]\nname = \"out\"\ntype = \"u32\"\ncount = {count}\n\
             [[then]]\nentry = \"second\"\ngrid = [1]\nblock = [64]\nargs = [\"out\"]\n"
        ),
    );
    folder
}

/// Exit status, output and errors.
fn spadkit(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.env("COLUMNS", "1000");
    let output = command.current_dir(folder).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

const BOTH: &str = "[\"a.ptx\", \"b.ptx\"]";

#[test]
fn entries_of_both_texts_run_on_the_same_buffers() {
    let folder = folder(BOTH, 64);
    let args = ["run", "l.toml", "--dump", "out=out.npy", "--races"];
    let (status, out, err) = spadkit(folder.path(), &args);
    assert_eq!(status, 0, "{out}{err}");
    let bytes = std::fs::read(folder.path().join("out.npy")).unwrap();
    let words = bytes[bytes.len() - 256..].as_chunks::<4>().0;
    let words: Vec<u32> = words.iter().map(|w| u32::from_le_bytes(*w)).collect();
    assert_eq!(words, (100..164).collect::<Vec<u32>>());
}

#[test]
fn a_finding_names_the_text_that_it_is_in() {
    let folder = folder(BOTH, 32);
    let (status, out, _) = spadkit(folder.path(), &["run", "l.toml", "--format", "json"]);
    assert_eq!(status, 1);
    let finding = &json(&out)["findings"][0];
    // The store of `store`: line 14 of b.ptx.
    let line = format!("{HEAD}{SECOND}");
    let line = line.lines().position(|l| l.contains("st.global")).unwrap() + 1;
    assert_eq!(finding["ptx_file"], "b.ptx");
    assert_eq!(finding["ptx_line"], line);
    let (_, out, err) = spadkit(folder.path(), &["run", "l.toml"]);
    assert!(out.contains(&format!("b.ptx:{line}")), "{out}");
    assert!(err.contains(&format!("see line {line} of b.ptx")), "{err}");
}

#[test]
fn traces_and_tables_name_the_text_of_a_line() {
    let folder = folder(BOTH, 64);
    let line = format!("{HEAD}{FIRST}");
    let line = line.lines().position(|l| l.contains("st.shared")).unwrap() + 1;
    for args in [
        &["conflicts", "l.toml", "--per-pc"][..],
        &["conflicts", "l.toml", "--source"],
        &["classify", "l.toml"],
    ] {
        let (status, out, err) = spadkit(folder.path(), args);
        assert_eq!(status, 0, "{args:?} {out}{err}");
        assert!(out.contains(&format!("a.ptx:{line}")), "{args:?} {out}");
    }
    let (status, out, err) = spadkit(folder.path(), &["sim", "l.toml"]);
    assert_eq!(status, 0, "{out}{err}");
}

/// The words that `l.toml` leaves in `out`.
fn words(folder: &Path) -> Vec<u8> {
    let args = ["run", "l.toml", "--dump", "out=out.npy", "--races"];
    let (status, out, err) = spadkit(folder, &args);
    assert_eq!(status, 0, "{out}{err}");
    std::fs::read(folder.join("out.npy")).unwrap()
}

/// Makes `l.toml` launch `out.ptx`.
fn launch_result(folder: &Path) {
    let launch = std::fs::read_to_string(folder.join("l.toml")).unwrap();
    let text = launch.replace(BOTH, "\"out.ptx\"");
    assert_ne!(text, launch);
    std::fs::write(folder.join("l.toml"), text).unwrap();
}

/// A tile of the first text that functions of the second write and read, and
/// a tile of their own of the same name.
const TILES: [&str; 2] = [
    ".extern .func put (.param .b32 at, .param .b32 x);\n\
    .extern .func (.param .b32 r) get (.param .b32 at);\n\
    .shared .align 4 .b8 tile[4096];\n\
    .visible .entry first(.param .u64 out) {\n\
      .reg .b32 %r<9>; .reg .b64 %rd<4>;\n\
      .param .b32 p0; .param .b32 p1; .param .b32 p2; .param .b32 p3;\n\
      mov.u32 %r1, %tid.x;\n\
      shl.b32 %r2, %r1, 6;\n\
      mov.u32 %r3, tile;\n\
      add.u32 %r4, %r3, %r2;\n\
      st.param.b32 [p0], %r4;\n\
      st.param.b32 [p1], %r1;\n\
      call put, (p0, p1);\n\
      bar.sync 0;\n\
      xor.b32 %r5, %r2, 1984;\n\
      add.u32 %r6, %r3, %r5;\n\
      st.param.b32 [p2], %r6;\n\
      call (p3), get, (p2);\n\
      ld.param.b32 %r7, [p3];\n\
      ld.param.u64 %rd1, [out];\n\
      mul.wide.u32 %rd2, %r1, 4;\n\
      add.u64 %rd3, %rd1, %rd2;\n\
      st.global.u32 [%rd3], %r7;\n\
      ret;\n}\n",
    ".shared .align 4 .b8 tile[256];\n\
    .visible .func put (.param .b32 at, .param .b32 x) {\n\
      .reg .b32 %r<5>;\n\
      ld.param.b32 %r1, [at];\n\
      ld.param.b32 %r2, [x];\n\
      st.shared.u32 [%r1], %r2;\n\
      shl.b32 %r3, %r2, 2;\n\
      mov.u32 %r4, tile;\n\
      add.u32 %r4, %r4, %r3;\n\
      st.shared.u32 [%r4], %r3;\n\
      ret;\n}\n\
    .visible .func (.param .b32 r) get (.param .b32 at) {\n\
      .reg .b32 %r<6>;\n\
      ld.param.b32 %r1, [at];\n\
      ld.shared.u32 %r2, [%r1];\n\
      mov.u32 %r3, tile;\n\
      ld.shared.u32 %r4, [%r3+16];\n\
      add.u32 %r5, %r2, %r4;\n\
      st.param.b32 [r], %r5;\n\
      ret;\n}\n",
];

/// A folder with these texts and a launch of `first`.
fn tiles() -> tempfile::TempDir {
    let folder = folder(BOTH, 32);
    for (name, text) in ["a.ptx", "b.ptx"].into_iter().zip(TILES) {
        std::fs::write(folder.path().join(name), format!("{HEAD}{text}")).unwrap();
    }
    let path = folder.path().join("l.toml");
    let launch = std::fs::read_to_string(&path).unwrap();
    let launch = launch
        .split("[[then]]")
        .next()
        .unwrap()
        .replace("[64]", "[32]");
    std::fs::write(path, launch).unwrap();
    folder
}

/// One text with the kernel and the functions of the other, mapped there, too.
#[test]
fn linked_kernels_are_rewritten_as_one_text() {
    let folder = tiles();
    let before = words(folder.path());
    for hashes in [
        &["swizzle:5,0,5"][..],
        &["tile=swizzle:5,0,5", "tile_2=xor"],
    ] {
        let hashes = hashes.iter().flat_map(|h| ["--hash", *h]);
        let args = ["rewrite", "l.toml", "-o", "out.ptx", "--format", "json"];
        let args: Vec<&str> = args.into_iter().chain(hashes).collect();
        let (status, out, err) = spadkit(folder.path(), &args);
        assert_eq!(status, 0, "{out}{err}");
        let found = json(&out);
        assert_eq!(
            (&found["accesses"], &found["rewritten"]),
            (&4.into(), &4.into()),
            "{out}"
        );
        assert_eq!(found["outputs_equal"], true, "{out}");
        assert_eq!(found["left"], serde_json::json!([]));
        let conflicts = |key: &str| found[key].as_u64().unwrap();
        assert!(
            conflicts("conflicts_after") < conflicts("conflicts_before"),
            "{out}"
        );
        // The text alone does what the two did.
        let alone = tiles();
        std::fs::copy(folder.path().join("out.ptx"), alone.path().join("out.ptx")).unwrap();
        launch_result(alone.path());
        assert_eq!(words(alone.path()), before);
    }
}

/// An access that is not rewritten is reported with its line, and the text of that line.
#[test]
fn what_is_left_of_linked_kernels_names_its_text() {
    let folder = tiles();
    let path = folder.path().join("b.ptx");
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text.replace(
        "ld.shared.u32 %r4, [%r3+16];",
        "ld.shared.v4.u32 {%r4,_,_,_}, [%r3+16];",
    );
    let line = text.lines().position(|l| l.contains("v4")).unwrap() + 1;
    std::fs::write(&path, text).unwrap();
    let args = [
        "rewrite",
        "l.toml",
        "-o",
        "out.ptx",
        "--hash",
        "tile=swizzle:5,0,5",
        "--hash",
        "tile_2=xor",
    ];
    let (status, out, err) = spadkit(folder.path(), &[&args[..], &["--format", "json"]].concat());
    assert_eq!(status, 0, "{out}{err}");
    let found = json(&out);
    let left = found["left"].as_array().unwrap();
    let split = left
        .iter()
        .find(|l| l["line"] == line)
        .unwrap_or_else(|| panic!("{out}"));
    assert_eq!(split["ptx_file"], "b.ptx");
    assert!(
        split["reason"].as_str().unwrap().starts_with("xor splits"),
        "{out}"
    );
    let (_, out, _) = spadkit(folder.path(), &args);
    assert!(out.contains(&format!("b.ptx:{line}")), "{out}");
}

/// The markers go into one text, which does what the two did.
#[test]
fn linked_kernels_are_shared_as_one_text() {
    let folder = tiles();
    let before = words(folder.path());
    let args = ["share", "l.toml", "-o", "out.ptx", "--format", "json"];
    let (status, out, err) = spadkit(folder.path(), &args);
    assert_eq!(status, 0, "{out}{err}");
    let text = std::fs::read_to_string(folder.path().join("out.ptx")).unwrap();
    let found = json(&out);
    let markers = found["relssp"].as_array().unwrap();
    assert!(!markers.is_empty(), "{out}");
    for marker in markers {
        let line = marker["line"].as_u64().unwrap() as usize;
        assert!(
            text.lines()
                .nth(line - 1)
                .unwrap()
                .contains("spadkit.relssp"),
            "{out}"
        );
    }
    launch_result(folder.path());
    assert_eq!(words(folder.path()), before);
}

#[test]
fn bad_lists_are_refused_where_they_stand() {
    for (ptx, place, what) in [
        ("[]", "l.toml:1:7", "'ptx' names no file"),
        ("[\"a.ptx\", 7]", "l.toml:1:17", "'ptx' is an integer"),
        (
            "[\"a.ptx\", \"\"]",
            "l.toml:1:17",
            "'ptx' has an empty name",
        ),
        (
            "[\"a.ptx\", \"a.ptx\"]",
            "l.toml:1:17",
            "'a.ptx' is linked twice",
        ),
        ("[\"a.ptx\", \"c.ptx\"]", "c.ptx", "cannot"),
        (
            "[\"a.ptx\", \"./a.ptx\"]",
            "./a.ptx:7:",
            "first is defined twice",
        ),
        ("\"a.ptx\"", "l.toml", "has no entry 'second'"),
    ] {
        let folder = folder(ptx, 64);
        let (status, out, err) = spadkit(folder.path(), &["run", "l.toml"]);
        assert_eq!(status, 2, "{ptx} {out}{err}");
        assert!(err.contains(place) && err.contains(what), "{ptx}: {err}");
    }
}

/// The linked module is for the highest target of its texts.
#[test]
fn the_machine_is_that_of_the_highest_target() {
    let folder = folder(BOTH, 64);
    let path = folder.path().join("b.ptx");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("sm_70", "sm_90")).unwrap();
    for ptx in [BOTH, "[\"b.ptx\", \"a.ptx\"]"] {
        let launch = folder.path().join("l.toml");
        let text = std::fs::read_to_string(&launch).unwrap();
        std::fs::write(&launch, text.replace(BOTH, ptx)).unwrap();
        let (status, out, err) = spadkit(folder.path(), &["conflicts", "l.toml"]);
        assert_eq!(status, 0, "{out}{err}");
        assert!(out.contains(".target sm_90 of b.ptx"), "{out}{err}");
    }
}

#[test]
fn flow_names_the_text_of_a_line() {
    let folder = folder(BOTH, 64);
    let line = format!("{HEAD}{FIRST}");
    let line = line.lines().position(|l| l.contains("st.shared")).unwrap() + 1;
    let args = ["flow", "l.toml", "--fast", "-o", "out", "--format", "json"];
    let (status, out, err) = spadkit(folder.path(), &args);
    assert_eq!(status, 0, "{out}{err}");
    let found = json(&out);
    let lines = found["instructions"].as_array().unwrap();
    assert!(lines.iter().all(|l| l["ptx_file"] == "a.ptx"), "{out}");
    assert_eq!(lines[0]["ptx_line"], line);
    let page = std::fs::read_to_string(
        found["report"]
            .as_str()
            .map(|p| folder.path().join(p))
            .unwrap(),
    );
    assert!(page.unwrap().contains(&format!("a.ptx:{line}")));
}

/// An array of `name`, in which the function stores its thread at words
/// `1 << shift` apart; the store is in the same line of both texts.
fn column(head: &str, name: &str, shift: u32) -> String {
    format!(
        "{HEAD}.extern .func other ();\n{head} {{\n.reg .b32 %r<5>;\n\
         .shared .align 4 .b8 {name}[4096];\n\
         mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, {};\nmov.u32 %r3, {name};\n\
         add.u32 %r4, %r3, %r2;\nst.shared.u32 [%r4], %r1;\n",
        shift + 2
    )
}

/// The index of an access is that of its line in its text.
#[test]
fn source_changes_name_the_text_of_a_line() {
    let folder = folder(BOTH, 32);
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    let first = column(".visible .entry first(.param .u64 out)", "near", 2);
    write("a.ptx", format!("{first}call other, ();\nret;\n}}\n"));
    let second = column(".visible .func other ()", "far", 3);
    write(
        "b.ptx",
        format!(
            "{}ret;\n}}\n",
            second.replace(".extern .func other ();", "//")
        ),
    );
    let launch = std::fs::read_to_string(folder.path().join("l.toml")).unwrap();
    let launch = launch
        .split("[[then]]")
        .next()
        .unwrap()
        .replace("[64]", "[32]");
    write("l.toml", launch);
    let line = first.lines().position(|l| l.contains("st.shared")).unwrap() + 1;
    let args = ["tune", "l.toml", "--software", "--hash", "swizzle"];
    let (status, out, err) = spadkit(folder.path(), &[&args[..], &["--format", "json"]].concat());
    assert_eq!(status, 0, "{out}{err}");
    let found = json(&out);
    let changes = found["suggestions"].as_array().unwrap();
    let of = |array: &str| {
        let one = changes.iter().find(|s| s["array"] == array);
        one.unwrap_or_else(|| panic!("{out}"))["lines"][0]["accesses"][0].clone()
    };
    for (array, file, expression) in [
        ("near", "a.ptx", "near[threadIdx.x * 4]"),
        ("far", "b.ptx", "far[threadIdx.x * 8]"),
    ] {
        let access = of(array);
        assert_eq!(access["ptx_file"], file);
        assert_eq!(access["ptx_line"], line);
        assert_eq!(access["expression"], expression);
    }
    let (_, out, _) = spadkit(folder.path(), &args);
    assert!(out.contains(&format!("b.ptx:{line}, 7 conflicts")), "{out}");
}
