//! Any text as PTX: its entries run, with few threads and a small limit, by the
//! vector instructions of the machine and by the scalar definitions. Both leave
//! the same memory; whatever is wrong with a kernel is an error or a finding.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::ptx::Module;
use spadkit::ptx::exec::{Launch, Memory, Options, Outcome, Program};

/// Thread instructions of a run.
const LIMIT: u64 = 20_000;
/// Bytes of each buffer.
const BUFFER: usize = 1024;
/// Bytes of shared memory, and of variables, that are still run.
const MOST: u64 = 1 << 20;

fuzz_target!(|text: &str| {
    let Ok(module) = Module::parse(text, "x.ptx") else {
        return;
    };
    let Ok(program) = Program::new(&module) else {
        return;
    };
    if program.symbols().map(|s| s.bytes).sum::<u64>() > MOST {
        return;
    }
    let entries: Vec<String> = program.entries().take(2).map(str::to_owned).collect();
    for entry in entries {
        let small = |bytes: u32| u64::from(bytes) <= MOST;
        if !program.static_shared(&entry).is_ok_and(small) {
            continue;
        }
        let (Some(vector), Some(scalar)) =
            (run(&program, &entry, true), run(&program, &entry, false))
        else {
            continue;
        };
        // With a fault the run ends where it was found.
        if vector.0.findings.is_empty() && scalar.0.findings.is_empty() {
            assert!(vector.1 == scalar.1, "{entry} leaves other bytes");
        }
    }
});

/// Two blocks of two warps: what the run did, and its buffers; nothing where the
/// launch is refused.
fn run(program: &Program, entry: &str, vector: bool) -> Option<(Outcome, Vec<Vec<u8>>)> {
    let params = program.params(entry).ok()?;
    let size = params.last().map_or(0, |p| p.offset + p.bytes) as usize;
    let mut bytes = vec![0; size.min(BUFFER)];
    let mut memory = Memory::new();
    let mut buffers = Vec::new();
    for (i, param) in params.iter().enumerate() {
        let place = param.offset as usize..(param.offset + param.bytes) as usize;
        let place = bytes.get_mut(place)?;
        if let Ok(address) = <&mut [u8; 8]>::try_from(&mut *place) {
            let content = (0..BUFFER).map(|at| (at * (i + 3)) as u8).collect();
            buffers.push(memory.alloc(&param.name, content));
            *address = memory.address(*buffers.last()?).to_le_bytes();
        } else if let Some(first) = place.first_mut() {
            *first = 37;
        }
    }
    let launch = Launch {
        entry: entry.to_owned(),
        grid: [2, 1, 1],
        block: [64, 1, 1],
        dynamic_shared: 2048,
        params: bytes,
    };
    let options = Options {
        threads: 1,
        races: true,
        global_races: true,
        limit: LIMIT,
        heap: 1 << 16,
        vector,
        ..Options::default()
    };
    let outcome = program.run(&mut memory, &launch, &options).ok()?;
    let left = buffers.iter().map(|&b| memory.bytes(b).to_vec()).collect();
    Some((outcome, left))
}
