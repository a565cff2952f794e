//! What is said about slips: nearest names, the next step, and no forged lines.

use super::*;
use std::path::Path;

/// What was meant is said where it can be guessed.
#[test]
fn slips_of_the_pen_are_answered_with_what_was_meant() {
    for (args, meant) in [
        (
            &[
                "conflicts",
                "kernel:fft",
                "--hash",
                "xor",
                "--preset",
                "fremi",
            ][..],
            "did you mean 'fermi'?",
        ),
        (
            &["sim", "kernel:fft", "--set", "sm.alu_cycle=4"],
            "did you mean 'sm.alu_cycles'?",
        ),
        (&["conflicts", "kernel:fft", "--hsh", "xor"], "--hash"),
    ] {
        let text = refused(args, 2);
        assert!(text.contains(meant), "{args:?}: {text}");
    }
}

#[test]
fn ptx_alone_is_answered_with_what_writes_its_launch_file() {
    let folder = tempfile::tempdir().unwrap();
    let ptx = folder.path().join("K.ptx");
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n\
                .visible .entry k(.param .u64 a) { ret; }\n";
    std::fs::write(&ptx, text).unwrap();
    let ptx = ptx.to_str().unwrap();
    for args in [
        vec!["flow", ptx],
        vec!["run", ptx],
        vec!["sim", ptx],
        vec!["conflicts", ptx, "--hash", "xor"],
    ] {
        let text = refused(&args, 2);
        let init = format!("spadkit init {ptx}");
        for part in ["does not specify", &init, "K.toml"] {
            assert!(text.contains(part), "{args:?}: {text}");
        }
    }
}

#[test]
fn a_line_end_in_a_name_forges_no_line() {
    let forged = "x\nerror: all is lost";
    for args in [
        vec![forged],
        vec!["conflicts", "kernel:fft", "--hash", forged],
        vec!["conflicts", forged, "--hash", "xor"],
        vec!["emit", "-o", "x", forged],
        vec!["tune", "kernel:fft", "--preset", forged],
        vec!["conflicts", "kernel:fft", "--hash=x\nerror: lost"],
    ] {
        refused(&args, 2);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.json");
    let trace = good_trace().replace("\"name\":\"t\"", "\"name\":\"t\\nerror: lost\"");
    std::fs::write(&file, trace).unwrap();
    for command in [
        vec!["conflicts", file.to_str().unwrap(), "--hash", "xor"],
        vec!["classify", file.to_str().unwrap()],
        vec!["tune", file.to_str().unwrap()],
        vec!["sim", file.to_str().unwrap()],
    ] {
        let output = spadkit(&command).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{command:?}");
        assert!(
            !text.lines().any(|l| l.starts_with("error:")),
            "{command:?}: {text}"
        );
    }
}

#[test]
fn a_mapping_does_not_swallow_the_input() {
    let first = spadkit(&["conflicts", "kernel:fft", "--hash", "mod", "xor"])
        .output()
        .unwrap();
    let last = spadkit(&["conflicts", "--hash", "mod", "xor", "kernel:fft"])
        .output()
        .unwrap();
    assert!(first.status.success() && first.stdout == last.stdout);
    for (args, reason) in [
        (&["conflicts", "--hash", "xor"][..], "INPUT is missing"),
        (&["conflicts", "--hash", "kernel:fft"], "needs a mapping"),
        (
            &["conflicts", "kernel:fft", "--hash", "xor", "kernel:fwt"],
            "is not a mapping",
        ),
        (&["conflicts", "kernel:fft", "--hash", "xro"], "xro"),
    ] {
        let text = refused(args, 2);
        assert!(text.contains(reason), "{args:?}: {text}");
    }
}

#[test]
fn two_dumps_into_one_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n\
               .visible .entry k(.param .u64 a, .param .u64 b) { ret; }\n";
    std::fs::write(at("k.ptx"), ptx).unwrap();
    let arg = |name| format!("[[arg]]\nname = \"{name}\"\ntype = \"u32\"\ncount = 1\n");
    let text = "ptx = \"k.ptx\"\ngrid = [1]\nblock = [1]\n".to_owned() + &arg("a") + &arg("b");
    std::fs::write(at("k.toml"), text).unwrap();
    let (a, b) = (format!("a={}", at("o.npy")), format!("b={}", at("./o.npy")));
    let text = refused(&["run", &at("k.toml"), "--dump", &a, "--dump", &b], 2);
    assert!(text.contains("two results would be written to"), "{text}");
    assert!(!Path::new(&at("o.npy")).exists());
    refused(&["run", &at("k.toml"), "--dump", "a=-"], 2);
}

/// Keys that the hardware cannot have together are refused in the file, at their
/// line, not when the Verilog is written.
#[test]
fn machines_that_the_hardware_does_not_have_are_refused_at_their_line() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("machine.toml");
    for (keys, line) in [
        ("[axi]\naddr_bits = 11", 3),
        ("[geometry]\naddr_bits = 16\n[axi]\naddr_bits = 17", 5),
        ("[axi]\nlanes = 8\naddr_bits = 32\n[geometry]\nlanes = 2", 3),
        (
            "[geometry]\nlanes = 2\nwarp_size = 2\nwide = 'phases'\n[hash]\nstage = 0",
            5,
        ),
        (
            "[path]\nbroadcast = false\n[stream]\nwindow = 2\nmem_stages = 2",
            5,
        ),
        ("[stream]\natomics = true", 3),
        (
            "[stream]\nposted = true\n[geometry]\nwide = 'phases'\nwarp_size = 8",
            3,
        ),
        ("[tcdm]\nposted = true\n[axi]\naddr_bits = 32", 3),
    ] {
        std::fs::write(&file, format!("base = 'small'\n{keys}\n")).unwrap();
        let out = scratch.path().join("rtl");
        let [file, out] = [&file, &out].map(|path| path.to_str().unwrap());
        let text = refused(&["emit", "-o", out, "--config", file], 2);
        let place = format!("machine.toml:{line}:");
        assert!(text.contains(&place), "{keys}: {text}");
    }
}

/// Buses that answer a write need lanes that do.
#[test]
fn buses_that_answer_writes_are_refused_without_answers() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("machine.toml");
    std::fs::write(&file, "base = 'small'\n[tcdm]\nposted = true\n").unwrap();
    let out = scratch.path().join("rtl");
    let [file, out] = [&file, &out].map(|path| path.to_str().unwrap());
    for bus in ["obi", "tilelink"] {
        let args = ["emit", "-o", out, "--config", file, "--wrapper", bus];
        let text = refused(&args, 2);
        assert!(
            text.contains(&format!("--wrapper {bus} answers writes")),
            "{text}"
        );
        assert!(!Path::new(out).exists());
    }
}
