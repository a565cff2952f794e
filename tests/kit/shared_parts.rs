//! Names for parts of dynamic shared memory: in findings, traces and the choice of
//! mappings; what is wrong with them is told with its place.

use crate::common::{json, refused, spadkit};

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
