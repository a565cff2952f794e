//! `synth` with a Yosys that is missing, broken, hanging or interrupted.

use super::*;

fn with_yosys(dir: &Path, body: &str) -> Command {
    let library = dir.join("tiny.lib");
    std::fs::write(&library, TINY).unwrap();
    let version = "[ \"$1\" = -V ] && { echo 'Yosys 0.23 (fake)'; exit 0; }";
    let mut command = spadkit(&dir.join("cache"));
    command.env("SPADKIT_YOSYS", script(dir, &format!("{version}\n{body}")));
    command.env("SPADKIT_STA", "/nowhere/sta");
    command.args(["synth", "spad_hash_xor", "--period", "400", "--liberty"]);
    command.arg(library);
    command
}

/// Files of entries that are not finished.
fn left_over(cache: &Path) -> Vec<PathBuf> {
    let shelves = std::fs::read_dir(cache).unwrap().map(|s| s.unwrap().path());
    let inside = shelves.flat_map(|s| std::fs::read_dir(s).unwrap());
    let paths = inside.map(|e| e.unwrap().path());
    paths
        .filter(|p| p.extension().is_none_or(|x| x != "lock"))
        .collect()
}

#[test]
fn a_yosys_that_is_missing_crashes_or_hangs_is_one_clear_error() {
    let dir = tempfile::tempdir().unwrap();
    let fails = |mut command: Command| {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", message(&output));
        assert!(output.stdout.is_empty());
        message(&output)
    };
    let mut missing = with_yosys(dir.path(), "");
    missing.env("SPADKIT_YOSYS", "/nowhere/yosys");
    let missing = fails(missing);
    assert!(
        missing.contains("needs Yosys, which was not found")
            && missing.contains("apt install yosys"),
        "{missing}"
    );
    let crash = fails(with_yosys(dir.path(), "echo last words; kill -ABRT $$"));
    assert!(
        crash.contains("signal 6") && crash.contains("last words"),
        "{crash}"
    );
    let mut hang = with_yosys(dir.path(), "sleep 100");
    hang.env("SPADKIT_TIMEOUT", "1");
    let hang = fails(hang);
    assert!(hang.contains("did not finish in 1 s"), "{hang}");
    assert_eq!(left_over(&dir.path().join("cache")), Vec::<PathBuf>::new());
    let mut bad = with_yosys(dir.path(), "");
    let bad = bad.env("SPADKIT_TIMEOUT", "soon").output().unwrap();
    assert_eq!(bad.status.code(), Some(2), "{}", message(&bad));
}

#[test]
fn an_interrupt_stops_the_tool_and_leaves_nothing() {
    assert_eq!(interrupted(&["-INT"]), (Some(130), vec![]));
    // The second one ends the program at once, if it comes in time.
    let (status, _) = interrupted(&["-TERM", "-TERM"]);
    assert_eq!(status, Some(143));
}

/// The exit status of a run that gets these signals while its tool runs, and
/// what is left in its cache; the tool is gone then.
fn interrupted(signals: &[&str]) -> (Option<i32>, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    let marker = dir.path().join("running");
    let body = format!(
        "echo $$ > {0}.part; mv {0}.part {0}; sleep 100",
        marker.display()
    );
    let command = with_yosys(dir.path(), &body);
    let mut plain = std::process::Command::new(command.get_program());
    plain.args(command.get_args());
    for (name, value) in command.get_envs() {
        plain.env(name, value.unwrap_or_default());
    }
    plain.stderr(std::process::Stdio::null());
    let mut child = plain.spawn().unwrap();
    let start = Instant::now();
    let wait = || {
        assert!(start.elapsed() < Duration::from_secs(60), "takes too long");
        std::thread::sleep(Duration::from_millis(10));
    };
    while !marker.exists() {
        wait();
    }
    for signal in signals {
        // Nothing waits for it in between, so it exists until it is signalled.
        let sent = std::process::Command::new("kill")
            .args([*signal, &child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }
    let status = child.wait().unwrap();
    assert!(start.elapsed() < Duration::from_secs(60));
    let tool = std::fs::read_to_string(marker).unwrap();
    let alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", tool.trim()));
        stat.is_ok_and(|s| !s.contains(") Z "))
    };
    while alive() {
        wait();
    }
    (status.code(), left_over(&dir.path().join("cache")))
}
