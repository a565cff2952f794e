//! Real signals to the real program while a tool runs: nothing survives it,
//! nothing stays in the cache, and the exit status is that of the signal.

use crate::common::tools::missing;
use rustix::fs::OFlags;
use rustix::process::Signal;
use std::fs::{File, Permissions};
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const INT: &str = "INT";
const TERM: &str = "TERM";
const KILL: &str = "KILL";

/// A tool that never ends, with a child that would live on; both write down
/// who they are, a line each: tools run side by side, and one that truncated
/// the file may be killed before it has written.
const HANGS: &str = "sleep 300 & echo $! >> $HERE/child; echo $$ >> $HERE/tool; wait";

struct Scene {
    dir: tempfile::TempDir,
}

impl Scene {
    /// Tools that tell their version, and then do `body`.
    fn new(body: &str) -> Self {
        let scene = Scene {
            dir: tempfile::tempdir().unwrap(),
        };
        scene.tool("yosys", "Yosys 0.23", "-V", body);
        scene.tool("verilator", "Verilator 5.006", "--version", body);
        scene.tool("sta", "2.4.0", "-version", body);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn tool(&self, name: &str, version: &str, option: &str, body: &str) {
        let text = format!(
            "#!/bin/sh\n[ \"$1\" = {option} ] && {{ echo '{version}'; exit 0; }}\n{body}\n"
        );
        std::fs::write(self.path(name), text).unwrap();
        std::fs::set_permissions(self.path(name), Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spadkit"));
        command
            .args(args)
            .env("HERE", self.dir.path())
            .env("SPADKIT_CACHE", self.path("cache"))
            .env("SPADKIT_YOSYS", self.path("yosys"))
            .env("SPADKIT_VERILATOR", self.path("verilator"))
            .env("SPADKIT_STA", self.path("sta"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// What became of the command after a signal in the middle of a tool.
    fn interrupted(&self, args: &[&str], signal: &str) -> Output {
        let child = self.command(args).spawn().unwrap();
        wait_for("the tool's start", || {
            std::fs::read_to_string(self.path("tool")).is_ok_and(|text| text.ends_with('\n'))
        });
        let output = stop(child, signal);
        for name in ["tool", "child"] {
            let ids = std::fs::read_to_string(self.path(name)).unwrap();
            for id in ids.lines() {
                let end = format!("the end of {name} {id} after {signal}");
                wait_for(&end, || !runs(id.parse().unwrap()));
            }
            std::fs::remove_file(self.path(name)).unwrap();
        }
        output
    }

    /// Names below the cache that are of unfinished things.
    fn unfinished(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.path("cache")];
        while let Some(folder) = open.pop() {
            for item in std::fs::read_dir(folder).into_iter().flatten() {
                let path = item.unwrap().path();
                if path.file_name().unwrap().to_string_lossy().starts_with('.') {
                    found.push(path);
                } else if path.is_dir() {
                    open.push(path);
                }
            }
        }
        found
    }
}

fn stop(child: Child, signal: &str) -> Output {
    let kill = Command::new("kill")
        .args(["-s", signal, &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    child.wait_with_output().unwrap()
}

/// Whether this process still runs.
fn runs(id: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{id}/stat"));
    state.is_ok_and(|s| !s.contains(") Z "))
}

/// Waits until the program catches signals, as it does from its start on.
fn wait_for_the_handler(child: &Child) {
    wait_for("the handler", || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|l| l.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
        caught >> (Signal::TERM.as_raw() - 1) & 1 == 1
    });
}

/// Processor time of a process, in clock ticks.
fn processor_ticks(child: &Child) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    // utime and stime, the 14th and 15th field of all; the state is the third.
    let times = fields.split_whitespace().skip(14 - 3).take(2);
    times.map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

/// What a busy machine may take to start a program.
const START_TIME: Duration = Duration::from_secs(30);
/// The same to Verilate and compile a unit.
const BUILD_TIME: Duration = Duration::from_secs(200);

fn wait_for(what: &str, there: impl FnMut() -> bool) {
    wait_at_most(START_TIME, what, there);
}

fn wait_at_most(limit: Duration, what: &str, mut there: impl FnMut() -> bool) {
    let start = Instant::now();
    while !there() {
        assert!(start.elapsed() < limit, "waited for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The commands that run tools.
fn commands() -> [Vec<&'static str>; 5] {
    let liberty = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tiny.lib");
    let timed = [
        "synth",
        "spad_hash_xor",
        "--period",
        "900",
        "--liberty",
        liberty,
    ];
    let commands: [&[&str]; 5] = [
        &timed,
        &["synth", "interconnect", "--features"],
        &["mutate", "spad_hash_xor"],
        &["prove", "spad_hash_xor"],
        &["cosim", "spad_hash_xor"],
    ];
    commands.map(|command| [command, &["--format", "json"]].concat())
}

/// "All units agree" is no answer about those that did not run.
#[test]
fn the_first_words_of_an_interrupted_command_say_so() {
    let scene = Scene::new(HANGS);
    for command in ["cosim", "prove", "mutate"] {
        let output = scene.interrupted(&[command, "spad_hash_xor"], TERM);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("Interrupted; "), "{command}: {text}");
    }
}

#[test]
fn polite_signals_stop_the_tools_and_the_command_says_what_it_has() {
    let scene = Scene::new(HANGS);
    for args in commands() {
        for (signal, status) in [(INT, 130), (TERM, 143)] {
            let output = scene.interrupted(&args, signal);
            assert_eq!(output.status.code(), Some(status), "{args:?} {signal}");
            let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(json["interrupted"], true, "{args:?} {signal}: {json}");
            let log = String::from_utf8(output.stderr).unwrap();
            assert!(log.contains("interrupted"), "{log}");
            assert_eq!(
                scene.unfinished(),
                Vec::<PathBuf>::new(),
                "{args:?} {signal}"
            );
        }
    }
}

#[test]
fn a_killed_command_takes_its_tools_along_and_the_next_run_clears_the_cache() {
    let scene = Scene::new(HANGS);
    for args in commands() {
        let output = scene.interrupted(&args, KILL);
        assert_eq!(output.status.code(), None, "{args:?}");
        if args[0] != "prove" {
            assert!(
                !scene.unfinished().is_empty(),
                "{args:?} works in the cache"
            );
        }
        scene.tool("yosys", "Yosys 0.23", "-V", "exit 1");
        scene.tool("verilator", "Verilator 5.006", "--version", "exit 1");
        let next = scene
            .command(&["mutate", "spad_hash_xor"])
            .output()
            .unwrap();
        assert_eq!(next.status.code(), Some(3));
        assert_eq!(scene.unfinished(), Vec::<PathBuf>::new(), "{args:?}");
        scene.tool("yosys", "Yosys 0.23", "-V", HANGS);
        scene.tool("verilator", "Verilator 5.006", "--version", HANGS);
    }
}

/// Only the first signal waits for the work to stop.
#[test]
fn a_second_signal_ends_the_command_at_once() {
    let scene = Scene::new(HANGS);
    let args = [
        "tune",
        "kernel:fft",
        "--method",
        "optimal",
        "--budget",
        "100000",
    ];
    let child = scene.command(&args).spawn().unwrap();
    wait_for_the_handler(&child);
    let id = child.id().to_string();
    let kill = || {
        Command::new("kill")
            .args(["-s", TERM, &id])
            .status()
            .unwrap()
    };
    assert!(kill().success());
    let _ = kill(); // it may have ended already
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
}

/// A command that does not ask for signals ends on the first.
#[test]
fn the_first_signal_ends_a_command_that_does_not_listen() {
    let scene = Scene::new(HANGS);
    let args = [
        "congestion",
        "--mapping",
        "rap",
        "--access",
        "random",
        "--samples",
        "1000000000",
    ];
    let child = scene.command(&args).spawn().unwrap();
    wait_for_the_handler(&child);
    assert_eq!(stop(child, INT).status.code(), Some(130));
}

/// A command that waits for the reader of a pipe ends, too, and leaves nothing next to the pipe.
#[test]
fn the_first_signal_ends_a_command_that_waits_for_its_reader() {
    let scene = Scene::new(HANGS);
    let out = scene.path("out");
    std::fs::create_dir(&out).unwrap();
    let pipe = out.join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    // A pipe holds 64 KiB, and the trace is larger: the command waits for a
    // reader in the middle of it.
    let child = scene
        .command(&["trace", "kernel:fwt", "-o", pipe.to_str().unwrap()])
        .spawn()
        .unwrap();
    let mut reader = File::options()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .open(&pipe)
        .unwrap();
    let mut first = [0];
    wait_for("the first byte", || {
        reader.read(&mut first).is_ok_and(|bytes| bytes == 1)
    });
    assert_eq!(stop(child, TERM).status.code(), Some(143));
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    assert!(serde_json::from_slice::<serde_json::Value>(&[&first[..], &rest].concat()).is_err());
    let left: Vec<_> = std::fs::read_dir(&out).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// A co-simulation that is stopped in the middle still counts its cycles.
#[test]
fn a_cosimulation_says_how_far_it_came() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let scene = Scene::new(HANGS);
    let cycles = u64::MAX.to_string();
    let args = [
        "cosim",
        "spad_hash_xor",
        "--cycles",
        &cycles,
        "--format",
        "json",
    ];
    let mut command = scene.command(&args);
    command
        .env_remove("SPADKIT_VERILATOR")
        .env_remove("SPADKIT_CACHE");
    let child = command.spawn().unwrap();
    // It runs when the object is loaded, and has counted cycles when it has
    // computed for a while: 20 ticks are 0.2 s, a chunk of cycles far less.
    let maps = format!("/proc/{}/maps", child.id());
    let loaded = || std::fs::read_to_string(&maps).is_ok_and(|m| m.contains("unit.so"));
    wait_at_most(BUILD_TIME, "the object", loaded);
    let ticks = processor_ticks(&child) + 20;
    wait_for("the first cycles", || processor_ticks(&child) > ticks);
    let output = stop(child, INT);
    assert_eq!(output.status.code(), Some(130));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(json["results"][0]["cycles"].as_u64().unwrap() > 0, "{json}");
    assert_eq!(json["results"][0]["mismatches"], 0);
}

/// What `sim` makes of a kernel lies in a temporary folder; it goes with the
/// command, and what a killed one leaves goes with the next.
#[test]
fn temporary_traces_do_not_stay() {
    let scene = Scene::new(HANGS);
    let temporary = scene.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let kernel = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() {\n\
                  .shared .b32 s;\nL: bar.sync 0;\nbra L;\n}\n";
    std::fs::write(scene.path("k.ptx"), kernel).unwrap();
    let launch = scene.path("k.toml");
    std::fs::write(&launch, "ptx = \"k.ptx\"\ngrid = [1]\nblock = [1024]\n").unwrap();
    let left = || std::fs::read_dir(&temporary).unwrap().count();
    let killed_by = |signal| {
        let mut command = scene.command(&["sim", launch.to_str().unwrap()]);
        let child = command.env("TMPDIR", &temporary).spawn().unwrap();
        // Files of an earlier run are kept until this run removes them.
        let own = format!("spadkit-{}-", child.id());
        let written = || {
            let folders = std::fs::read_dir(&temporary).unwrap().flatten();
            let folders = folders.filter(|f| f.file_name().to_string_lossy().contains(&own));
            let files = folders.flat_map(|f| std::fs::read_dir(f.path()).into_iter().flatten());
            files
                .flatten()
                .any(|f| f.metadata().is_ok_and(|m| m.len() > 0))
        };
        wait_for("the trace", written);
        stop(child, signal).status.code()
    };
    assert_eq!(killed_by(TERM), Some(143));
    assert_eq!(left(), 0);
    assert_eq!(killed_by(KILL), None);
    assert_eq!(left(), 1);
    assert_eq!(killed_by(TERM), Some(143));
    assert_eq!(left(), 0);
}

/// Where no thread can be made the work is done on one.
#[test]
fn without_threads_commands_work_all_the_same() {
    let program = env!("CARGO_BIN_EXE_spadkit");
    let script = "ulimit -u 1 && exec setpriv --reuid 65534 --clear-groups \"$@\"";
    let run = |args: &[&str]| {
        Command::new("sh")
            .args(["-c", script, "sh", program])
            .args(args)
            .output()
            .unwrap()
    };
    if !run(&["--version"]).status.success() {
        println!("skipped: this user cannot become another");
        return;
    }
    let output = run(&["tune", "kernel:transpose", "--format", "json"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("could not create more threads"), "{text}");
}

/// As many threads as there is room for, and a number that is no number of threads.
#[test]
fn threads_are_taken_while_there_is_memory_for_the_work() {
    let program = env!("CARGO_BIN_EXE_spadkit");
    let run = |limit: &str, threads: &str, args: &[&str]| {
        let mut command = Command::new("sh");
        command.env("RAYON_NUM_THREADS", threads);
        command.args(["-c", &format!("{limit} exec \"$@\""), "sh", program]);
        command.args(args).output().unwrap()
    };
    let conflicts = ["conflicts", "kernel:nw"];
    let sweep = ["sim", "kernel:nw", "--sweep"];
    for (limit, threads, args) in [
        ("ulimit -v 400000;", "256", &conflicts[..]),
        ("ulimit -v 80000;", "16", &sweep),
        ("", "20000", &conflicts),
    ] {
        let output = run(limit, threads, args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{limit} {threads}: {text}");
        assert!(text.contains("running with"), "{limit} {threads}: {text}");
    }
}

/// A request to stop that another thread of the program has withdrawn by the time the
/// stopped run returns: what ran until then is no result.
#[test]
fn a_stopped_run_is_an_error_though_the_request_is_withdrawn() {
    let me = std::env::current_exe().unwrap();
    let test = "signals::stop_and_withdraw";
    let mut alone = Command::new(me);
    alone.args([test, "--exact", "--ignored"]);
    let output = alone.env("STOPPED_ALONE", "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

#[test]
#[ignore = "a_stopped_run_is_an_error_though_the_request_is_withdrawn runs it in a process of its own"]
fn stop_and_withdraw() {
    use spadkit::interrupt;
    use spadkit::ptx::exec::{BlockSink, Event, Launch, Memory, Options, Program, Sink};

    struct Stops;
    impl Sink for Stops {
        fn block(&self, _: [u32; 3]) -> Option<Box<dyn BlockSink + '_>> {
            Some(Box::new(Stops))
        }
    }
    impl BlockSink for Stops {
        fn instruction(&mut self, _: &Event) {
            interrupt::request();
        }
        fn finish(self: Box<Self>) {
            interrupt::clear();
        }
    }

    // The request is one of the whole process.
    if std::env::var_os("STOPPED_ALONE").is_none() {
        return;
    }
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\
        .reg .pred %p;\n.reg .b32 %r;\nmov.u32 %r, 0;\nL:\nadd.u32 %r, %r, 1;\n\
        setp.lt.u32 %p, %r, 1000000;\n@%p bra L;\nret;\n}\n";
    let module = spadkit::ptx::Module::parse(text, "k.ptx").unwrap();
    let program = Program::new(&module).unwrap();
    let launch = Launch {
        entry: "k".to_owned(),
        grid: [1; 3],
        block: [32, 1, 1],
        dynamic_shared: 0,
        params: Vec::new(),
    };
    let options = Options {
        threads: 1,
        sink: Some(&Stops),
        ..Options::default()
    };
    let outcome = program.run(&mut Memory::new(), &launch, &options);
    assert!(!interrupt::requested(), "the sink has withdrawn it");
    assert!(matches!(
        outcome,
        Err(spadkit::error::Error::Interrupted { .. })
    ));
}
