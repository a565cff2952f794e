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
    // A mount point is a place to emit into.
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
