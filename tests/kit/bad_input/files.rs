//! Files that cannot be read or written: what was there stays.

use super::*;
use std::path::{Path, PathBuf};

#[test]
fn files_that_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().to_str().unwrap();
    let secret = dir.path().join("secret.json");
    std::fs::write(&secret, good_trace()).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    }
    let mut table = vec![
        ("no/such/file.json".to_owned(), "No such file"),
        (folder.to_owned(), "Is a directory"),
        (String::new(), "INPUT is empty"),
        (format!("{folder}/launch.toml"), "cannot read"),
    ];
    match std::fs::read(&secret) {
        Ok(_) => println!("skipped: root reads files without permission"),
        Err(_) => table.push((secret.display().to_string(), "Permission denied")),
    }
    if Path::new("/proc/self/mem").exists() {
        table.push(("/proc/self/mem".to_owned(), "Input/output error"));
    }
    for (path, expected) in table {
        let text = refused(&["conflicts", &path, "--hash", "mod"], 2);
        assert!(text.contains(expected), "{text}");
    }
    for config in ["no.toml", folder] {
        let text = refused(&["encode", "mod", "--config", config], 2);
        assert!(text.contains("cannot read"), "{text}");
    }
}

#[test]
fn output_that_cannot_be_written_keeps_what_was_there() {
    let (dir, file) = with_file("file", b"old");
    let below = format!("{file}/x");
    let in_proc = "/proc/no/such";
    for target in [file.as_str(), &below, in_proc] {
        refused(&["emit", "spad_hash_xor", "-o", target], 2);
        refused(&["flow", "kernel:nw", "-o", target], 2);
    }
    let folder = dir.path().to_str().unwrap();
    for target in [folder, &below, in_proc] {
        refused(&["trace", "kernel:nw", "-o", target], 2);
        refused(&["cosim", "spad_hash_xor", "--wave", target], 2);
    }
    let blocked = dir.path().join("blocked/spad_hash_xor.v");
    std::fs::create_dir_all(&blocked).unwrap();
    let text = refused(
        &["emit", "-o", blocked.parent().unwrap().to_str().unwrap()],
        2,
    );
    assert!(text.contains("spad_hash_xor.v: is a directory"), "{text}");
    assert_eq!(
        std::fs::read_dir(blocked.parent().unwrap())
            .unwrap()
            .count(),
        1
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    if Path::new("/dev/full").exists() {
        let text = refused(&["trace", "kernel:nw", "-o", "/dev/full"], 2);
        assert!(text.contains("No space left"), "{text}");
        assert!(
            !std::fs::metadata("/dev/full").unwrap().is_file(),
            "the device is gone"
        );
    }
}

/// A mounted tmpfs of a few pages, unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Option<Self> {
        let mount = |options: &str| {
            let mut command = std::process::Command::new("mount");
            command
                .args(["-t", "tmpfs", "-o", options, "tmpfs"])
                .arg(at);
            command.output().is_ok_and(|o| o.status.success())
        };
        if !mount("size=48k") {
            println!("skipped: a small tmpfs cannot be mounted (needs root)");
            return None;
        }
        Some(SmallDisk(at.to_owned()))
    }

    fn remount_read_only(&self) -> bool {
        let mut command = std::process::Command::new("mount");
        command.args(["-o", "remount,ro"]).arg(&self.0);
        command.output().is_ok_and(|o| o.status.success())
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut paths: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
        paths.sort();
        paths
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_keeps_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(dir.path()) else {
        return;
    };
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (trace, rtl) = (path("t.json"), path("rtl"));
    // A mount point is a valid output folder.
    spadkit(&["emit", "spad_hash_xor", "--bench-cycles", "0", "-o", &rtl])
        .assert()
        .success();
    spadkit(&["trace", "kernel:stride", "-o", &trace])
        .assert()
        .success();
    let before = (std::fs::read(&trace).unwrap(), disk.files());
    let rtl_files = std::fs::read_dir(&rtl).unwrap().count();
    for (args, expected) in [
        (vec!["trace", "kernel:fwt", "-o", &trace], "t.json"),
        (
            vec!["trace", "kernel:fwt", "-o", &path("new/t.json")],
            "new/t.json",
        ),
        (vec!["emit", "-o", &rtl], "rtl/"),
        (vec!["emit", "-o", &path("new")], "new/"),
    ] {
        let text = refused(&args, 2);
        assert!(text.contains("No space left"), "{text}");
        assert!(text.contains(expected), "{text}");
        assert_eq!(disk.files(), before.1, "{args:?}");
        assert_eq!(std::fs::read(&trace).unwrap(), before.0);
        assert_eq!(std::fs::read_dir(&rtl).unwrap().count(), rtl_files);
    }
    if disk.remount_read_only() {
        for args in [
            ["trace", "kernel:stride", "-o", &trace],
            ["emit", "spad_hash_xor", "-o", &rtl],
            ["flow", "kernel:stride", "-o", &path("new")],
        ] {
            let text = refused(&args, 2);
            assert!(text.to_lowercase().contains("read-only"), "{text}");
        }
    }
}

#[test]
fn a_mount_point_takes_the_verilog() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_disk) = SmallDisk::mount(dir.path()) else {
        return;
    };
    let rtl = dir.path().to_str().unwrap();
    spadkit(&["emit", "spad_hash_xor", "--bench-cycles", "0", "-o", rtl])
        .assert()
        .success();
    assert!(dir.path().join("spad_hash_xor.v").exists());
    // The Verilog, the list of files, the core, Bender's package, the manifest,
    // the digests, and the folder of the constraints.
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 7);
}

#[test]
fn a_file_that_is_not_there_is_answered_with_one_that_is() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("mykernel.toml"), "").unwrap();
    let asked = dir.path().join("mykernal.toml");
    let text = refused(&["conflicts", asked.to_str().unwrap()], 2);
    assert!(
        text.contains("cannot read") && text.ends_with("did you mean 'mykernel.toml'?"),
        "{text}"
    );
    let far = dir.path().join("other.toml");
    assert!(!refused(&["conflicts", far.to_str().unwrap()], 2).contains("did you mean"));
}

#[test]
fn text_of_other_encodings_is_named() {
    let utf16: Vec<u8> = std::iter::once(0xfeff)
        .chain("ptx = \"k.ptx\"".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let (_dir, file) = with_file("k.toml", &utf16);
    let text = refused(&["run", &file], 2);
    assert!(
        text.contains("is UTF-16 text") && text.contains("save it as UTF-8"),
        "{text}"
    );
    let (_dir, file) = with_file("k.ptx", b"\x7fELF\x02\x01\x01\x00\x00");
    let text = refused(&["init", &file], 2);
    assert!(
        text.contains("is an ELF file") && text.contains("cuobjdump -ptx"),
        "{text}"
    );
    // The mark before UTF-8 is no part of the text.
    let ptx = std::fs::read_to_string("kernels/transpose/transpose.ptx").unwrap();
    let (_dir, file) = with_file("k.ptx", format!("\u{feff}{ptx}").as_bytes());
    spadkit(&["init", &file, "--entry", "transpose"])
        .assert()
        .success();
}

/// PTX on standard input has the machine of its target; a launch file needs a name, because
/// of what it names.
#[test]
fn standard_input() {
    let ptx = std::fs::read_to_string("kernels/transpose/transpose.ptx").unwrap();
    let newer = ptx.replace(".target sm_52", ".target sm_90");
    assert_ne!(ptx, newer);
    for name in ["-", "/dev/stdin"] {
        let args = [
            "share",
            name,
            "--entry",
            "transpose",
            "--block",
            "256",
            "-q",
        ];
        let output = spadkit(&args).write_stdin(newer.as_str()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("machine: sm90"), "{text}");
        let output = spadkit(&["init", name])
            .write_stdin(newer.as_str())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("standard input has no name"), "{text}");
    }
    let launch = std::fs::read_to_string("kernels/transpose/transpose.toml").unwrap();
    let output = spadkit(&["conflicts", "-"])
        .write_stdin(launch)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("name a launch file instead of piping it"),
        "{text}"
    );
}

/// Standard output is a pipe here, which no folder holds.
#[test]
fn a_pipe_takes_what_a_file_would() {
    let kernel = "kernels/transpose/transpose.toml";
    let args = ["rewrite", kernel, "--hash", "xor", "-q", "-o"];
    let output = spadkit(&args).arg("/dev/stdout").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("k.ptx");
    spadkit(&args).arg(&file).assert().success();
    assert!(
        text.starts_with(&std::fs::read_to_string(file).unwrap()),
        "{text}"
    );
}
