//! Accel-Sim traces as inputs: a writer of its own puts generated kernels into
//! the format, and the readers give the same kernels back.

use lzma_rust2::{XzOptions, XzWriter};
use spadkit::sm::InstrKind;
use spadkit::trace::{Access, AccessTrace, Op};
use spadkit::workload::load_input;
use spadkit::workload::{AccessOptions, Input};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// How the addresses of an access are written.
#[derive(Clone, Copy)]
enum Mode {
    List,
    Stride,
    Differences,
}

/// The text of `trace` as recorded by version `version` of the tracer, in
/// `blocks` equal blocks.
fn traceg(trace: &AccessTrace, version: u32, blocks: u32) -> String {
    let [x, y, z] = trace.block_dim;
    let mut text = format!(
        "-kernel name = {}\n-kernel id = 1\n-grid dim = ({blocks},1,1)\n\
         -block dim = ({x},{y},{z})\n-shmem = {}\n-nregs = 20\n-binary version = 70\n\
         -shmem base_addr = 0x00007f2e50000000\n-local mem base_addr = 0x00007f2e52000000\n\
         -nvbit version = 1.5\n-accelsim tracer version = {version}\n",
        trace.name, trace.shared_bytes
    );
    if version > 3 {
        text += "-enable lineinfo = 0\n";
    }
    text += "\n#traces format = PC mask ...\n";
    let warps = (x * y * z).div_ceil(32);
    for block in 0..blocks {
        write!(text, "\n#BEGIN_TB\n\nthread block = {block},0,0\n").unwrap();
        for warp in 0..warps {
            let lines = warp_lines(trace, warp, version);
            write!(text, "\nwarp = {warp}\ninsts = {}\n", lines.len()).unwrap();
            lines.iter().for_each(|l| text += l);
        }
        text += "\n#END_TB\n";
    }
    text
}

fn warp_lines(trace: &AccessTrace, warp: u32, version: u32) -> Vec<String> {
    let immediate = if version >= 5 { " 0" } else { " " };
    let mut lines = Vec::new();
    let mut barriers = trace.barriers.iter().peekable();
    let bar = format!("ff0 ffffffff 0 BAR.SYNC 0 0{immediate}\n");
    for (i, access) in trace.accesses.iter().enumerate() {
        while barriers.next_if(|&&b| b as usize <= i).is_some() {
            lines.push(bar.clone());
        }
        if access.warp == warp {
            lines.push(instruction(access, i) + immediate + "\n");
        }
    }
    barriers.for_each(|_| lines.push(bar.clone()));
    lines.push(format!("1000 ffffffff 0 EXIT 0 0{immediate}\n"));
    lines
}

fn instruction(access: &Access, i: usize) -> String {
    let lanes: Vec<(usize, u64)> = access
        .addrs
        .iter()
        .enumerate()
        .filter_map(|(lane, a)| Some((lane, u64::from((*a)?) * 4)))
        .collect();
    let mask: u32 = lanes.iter().map(|(l, _)| 1 << l).sum();
    let width = match access.bytes {
        4 => String::new(),
        bytes => format!(".{}", 8 * bytes),
    };
    let what = match access.op {
        Op::Load => format!("1 R4 LDS{width} 1 R2"),
        Op::Store => format!("0 STS{width} 2 R2 R6"),
        Op::Atomic => "1 R4 ATOMS.ADD 2 R2 R255".to_owned(),
    };
    let mode = [Mode::List, Mode::Stride, Mode::Differences][i % 3];
    let addresses = written(&lanes, mode);
    format!(
        "{:04x} {mask:08x} {what} {} {addresses}",
        access.pc, access.bytes
    )
}

/// Strides are only for lanes that are neighbours on a line.
fn written(lanes: &[(usize, u64)], mode: Mode) -> String {
    let steps: Vec<i64> = lanes
        .windows(2)
        .map(|w| w[1].1 as i64 - w[0].1 as i64)
        .collect();
    let neighbours = lanes.windows(2).all(|w| w[1].0 == w[0].0 + 1);
    let base = lanes.first().map_or(0, |l| l.1);
    let on_line = neighbours && steps.windows(2).all(|w| w[0] == w[1]);
    match mode {
        Mode::Stride if on_line => {
            format!("1 0x{base:x} {}", steps.first().copied().unwrap_or(0))
        }
        Mode::Differences if !lanes.is_empty() => {
            let steps: Vec<String> = steps.iter().map(i64::to_string).collect();
            format!("2 0x{base:016x} {}", steps.join(" "))
        }
        _ => {
            let all: Vec<String> = lanes.iter().map(|l| format!("0x{:016x}", l.1)).collect();
            format!("0 {}", all.join(" "))
        }
    }
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    let file = std::fs::File::create(&path).unwrap();
    if name.ends_with(".xz") {
        let mut xz = XzWriter::new(file, XzOptions::default()).unwrap();
        xz.write_all(text.as_bytes()).unwrap();
        xz.finish().unwrap();
    } else {
        (&file).write_all(text.as_bytes()).unwrap();
    }
    path
}

type Seen<'a> = (u32, u32, Op, u32, &'a [Option<u32>]);

/// The accesses of each interval between barriers, warp by warp.
fn intervals(trace: &AccessTrace) -> Vec<Vec<Seen<'_>>> {
    let mut cuts: Vec<usize> = trace.barriers.iter().map(|&b| b as usize).collect();
    cuts.push(trace.accesses.len());
    let mut from = 0;
    let mut intervals = Vec::new();
    for cut in cuts {
        let part = &trace.accesses[from..cut];
        let seen = part
            .iter()
            .map(|a| (a.warp, a.pc, a.op, a.bytes, &a.addrs[..]));
        let mut seen: Vec<Seen> = seen.collect();
        // Stable: the order within a warp stays.
        seen.sort_by_key(|s| s.0);
        intervals.push(seen);
        from = cut;
    }
    intervals
}

#[test]
fn generated_kernels_survive_the_format_in_every_version() {
    let folder = tempfile::tempdir().unwrap();
    let kernels = [
        "transpose",
        "reduction",
        "dct8x8",
        "hist256",
        "lavamd",
        "random",
    ];
    for (i, kernel) in kernels.iter().enumerate() {
        let trace = load_input(&format!("kernel:{kernel}")).unwrap();
        let version = 3 + i as u32 % 3;
        let text = traceg(&trace, version, 1);
        let name = ["kernel-1.traceg", "kernel-1.traceg.xz"][i % 2];
        let path = write(folder.path(), name, &text);
        let read = load_input(path.to_str().unwrap()).unwrap();
        assert_eq!(intervals(&read), intervals(&trace), "{kernel}");
        assert_eq!(read.shared_bytes, trace.shared_bytes);
    }
}

#[test]
fn programs_have_the_registers_addresses_and_barriers_of_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let trace = load_input("kernel:transpose:tile=16").unwrap();
    let path = write(folder.path(), "kernel-1.traceg.xz", &traceg(&trace, 5, 3));
    write(folder.path(), "kernelslist.g", "kernel-1.traceg.xz\n");
    for input in [path.clone(), folder.path().join("kernelslist.g")] {
        let workload = Input::from(input.clone())
            .programs(&AccessOptions::default())
            .unwrap();
        assert_eq!((workload.info().blocks, workload.info().warps()), (3, 8));
        assert_eq!(workload.info().registers, 20);
        let part = workload.open(2, 7).unwrap().next_part().unwrap().unwrap();
        use InstrKind::{Bar, Exit, LdShared, StShared};
        let kinds: Vec<InstrKind> = part.iter().map(|i| i.kind).collect();
        assert_eq!(kinds, [StShared, Bar, LdShared, Exit]);
        assert_eq!((part[0].dst, part[2].dst), (None, Some(4)));
        let store = trace.accesses.iter().find(|a| a.warp == 7).unwrap();
        for (lane, word) in store.addrs.iter().enumerate() {
            assert_eq!(part[0].addrs.of(lane), u64::from(word.unwrap()) * 4);
        }
    }
}

#[test]
fn the_commands_take_them_and_say_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let trace = load_input("kernel:transpose:tile=16").unwrap();
    let text = traceg(&trace, 4, 1);
    let path = write(folder.path(), "kernel-1.traceg", &text);
    let spadkit = |args: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("spadkit").unwrap();
        command.args(args).output().unwrap()
    };
    let input = path.to_str().unwrap();
    let run = |args: &[&str]| {
        let output = spadkit(args);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json
    };
    let json = run(&["conflicts", input, "--hash", "mod", "--format", "json"]);
    let direct = [
        "conflicts",
        "kernel:transpose:tile=16",
        "--hash",
        "mod",
        "--format",
        "json",
    ];
    assert_eq!(json["results"], run(&direct)["results"]);
    let sim = run(&["sim", input, "--format", "json"]);
    assert_eq!(
        sim["bank_conflicts"],
        run(&["sim", direct[1], "--format", "json"])["bank_conflicts"]
    );
    // Truncated: an error with the position, status 2.
    let cut = write(folder.path(), "cut.traceg", &text[..text.len() / 2]);
    let output = spadkit(&["conflicts", cut.to_str().unwrap(), "--hash", "mod"]);
    assert_eq!(output.status.code(), Some(2));
    let broken = write(folder.path(), "kernel-2.traceg.xz", &text);
    std::fs::write(&broken, b"\xfd7zXZ\0 nonsense").unwrap();
    let output = spadkit(&["sim", broken.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("cannot read"), "{message}");
}
