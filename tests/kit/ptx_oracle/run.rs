//! One kernel by both.

use crate::reference;
use spadkit::ptx::Module;
use spadkit::ptx::exec::{self, Memory, Options, Program};

/// Threads of a run: four warps.
pub const THREADS: u32 = 128;

/// Numbers of 64 bits as bytes.
fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    let chunks = bytes.chunks_exact(8);
    chunks
        .map(|c| u64::from_le_bytes(c.try_into().unwrap()))
        .collect()
}

/// What the executor makes of a kernel `k` with one pointer to a buffer of
/// `words`: the buffer afterwards, and how many instructions threads reached.
pub fn ours(text: &str, words: &[u64], vector: bool) -> (Vec<u64>, u64) {
    let module = Module::parse(text, "oracle.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut memory = Memory::new();
    let buffer = memory.alloc("data", bytes(words));
    let launch = exec::Launch {
        entry: "k".to_owned(),
        grid: [1; 3],
        block: [THREADS, 1, 1],
        dynamic_shared: 0,
        params: memory.address(buffer).to_le_bytes().to_vec(),
    };
    let options = Options {
        threads: 1,
        limit: 100_000_000,
        vector,
        ..Options::default()
    };
    let program = Program::new(&module).unwrap();
    let outcome = program.run(&mut memory, &launch, &options);
    let outcome = outcome.unwrap_or_else(|e| panic!("{:?}\n{text}", miette::Report::new(e)));
    assert!(
        outcome.findings.iter().all(|f| f.warning),
        "{:?}\n{text}",
        outcome.findings
    );
    (numbers(memory.bytes(buffer)), outcome.thread_instructions)
}

/// What the executor and the interpreter make of it: the buffer afterwards.
pub fn both(text: &str, words: &[u64], vector: bool) -> (Vec<u64>, Vec<u64>) {
    let (ours, instructions) = ours(text, words, vector);
    let module = Module::parse(text, "oracle.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut global = reference::GlobalMemory::default();
    let address = global.add(bytes(words));
    let launch = reference::Launch {
        entry: "k",
        grid: [1; 3],
        block: [THREADS, 1, 1],
        dynamic_shared: 0,
        params: &address.to_le_bytes(),
        limit: 100_000_000,
    };
    let count = reference::run(&module, &launch, &mut global);
    let count = count.unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    assert_eq!(instructions, count, "thread instructions\n{text}");
    (ours, numbers(&global.buffers[0].bytes))
}
