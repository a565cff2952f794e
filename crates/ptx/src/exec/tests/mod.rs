//! Tests of the executor that compute what they expect; those that run a
//! kernel as it is are files in `tests/filetests/`.

mod advice;
mod conversions;
mod flow;
mod forms;
mod heap;
mod limits;
mod pairs;
mod ptxas;
mod races;
mod refused;
mod small;
mod tensor;
mod tensor_map;
mod texel_races;
mod texture;
mod texture_harness;
mod vectors;
mod video;
mod words;

use super::*;
use crate::Module;

/// Runs the entry `k` of a module with one buffer as its only parameter.
struct Run {
    outcome: Outcome,
    words: Vec<u32>,
}

fn run_with(
    body: &str,
    block: [u32; 3],
    grid: [u32; 3],
    words: &[u32],
    change: impl Fn(&mut Options, &mut Launch),
) -> Run {
    let text = format!(".version 8.5\n.target sm_80\n.address_size 64\n{body}");
    let module = Module::parse(&text, "t.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program::new(&module).unwrap();
    let mut memory = Memory::new();
    let bytes = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let buffer = memory.alloc("out", bytes);
    let mut options = Options {
        threads: 1,
        limit: 50_000_000,
        ..Options::default()
    };
    let mut launch = Launch {
        entry: "k".to_owned(),
        grid,
        block,
        dynamic_shared: 0,
        params: memory.address(buffer).to_le_bytes().to_vec(),
    };
    change(&mut options, &mut launch);
    let outcome = program
        .run(&mut memory, &launch, &options)
        .unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let words = memory
        .bytes(buffer)
        .chunks(4)
        .map(|c| u32::from_le_bytes(c.try_into().unwrap()));
    Run {
        outcome,
        words: words.collect(),
    }
}

/// Body of an entry: `%out` is the address of the thread's word, `%t` the
/// thread.
fn kernel(body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 p) {{
         .reg .b64 %out, %base, %rd<20>; .reg .b32 %t, %r<40>; .reg .pred %p<10>;
         .reg .f32 %f<10>; .reg .b16 %h<10>; .reg .f64 %d<10>;
         ld.param.u64 %base, [p]; mov.u32 %t, %tid.x;
         mad.wide.u32 %out, %t, 4, %base;
         {body}
         }}"
    )
}

fn kinds(run: &Run) -> Vec<FindingKind> {
    run.outcome.findings.iter().map(|f| f.kind).collect()
}

#[test]
fn an_entry_that_is_not_there_is_named() {
    let text = ".version 8.5\n.target sm_80\n.address_size 64\n.entry k() { ret; }";
    let program = Program::new(&Module::parse(text, "t.ptx").unwrap()).unwrap();
    let launch = Launch {
        entry: "nobody".to_owned(),
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared: 0,
        params: vec![],
    };
    let refused = program.run(&mut Memory::new(), &launch, &Options::default());
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("no entry nobody"), "{error}");
}

/// Every entry of the kernels' PTX can be decoded.
#[test]
fn the_kernels_are_supported() {
    for (name, text) in crate::tests::corpus() {
        let module = Module::parse(&text, &name).unwrap();
        let program = Program::new(&module).unwrap();
        for entry in program.entries() {
            if let Err(error) = program.check(entry) {
                panic!("{name}: {:?}", miette::Report::new(error));
            }
        }
    }
}
