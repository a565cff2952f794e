//! Any text as PTX: refused, or a module whose entries can be decoded or are
//! refused, whose spans are of the text, and whose functions can be analysed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::ptx::analysis::{
    Affines, BitFacts, Context, Dominators, Loops, Summaries, Values, shared_accesses,
};
use spadkit::ptx::exec::Program;
use spadkit::ptx::{Cfg, Function, Module};

fuzz_target!(|text: &str| {
    let Ok(module) = Module::parse(text, "x.ptx") else {
        return;
    };
    for function in module.functions.iter().filter(|f| f.defined) {
        for instruction in &function.instructions {
            assert!(!module.text_of(instruction.span).is_empty());
        }
        analyse(&module, function);
    }
    if let Ok(program) = Program::new(&module) {
        for entry in program.entries() {
            let _ = program.check(entry);
        }
    }
});

/// Every shared access has an instruction of the function.
fn analyse(module: &Module, function: &Function) {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(&cfg);
    let loops = Loops::new(&cfg, &dominators);
    let values = Values::new(function, &cfg);
    let context = Context::of(function);
    let facts = BitFacts::new(module, function, &cfg, &values, &context);
    let affines = Affines::new(module, function, &cfg, &values, &loops, &facts, &context);
    let summaries = Summaries::new(module);
    for access in shared_accesses(module, function, &cfg, &values, &affines, &summaries) {
        assert!((access.at as usize) < function.instructions.len());
    }
}
