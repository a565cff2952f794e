//! Any text as PTX: refused, or a module whose entries can be decoded or are
//! refused, and whose spans are of the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::ptx::exec::Program;
use spadkit::ptx::{Cfg, Module};

fuzz_target!(|text: &str| {
    let Ok(module) = Module::parse(text, "x.ptx") else {
        return;
    };
    for function in module.functions.iter().filter(|f| f.defined) {
        for instruction in &function.instructions {
            assert!(!module.text_of(instruction.span).is_empty());
        }
        Cfg::new(function);
    }
    if let Ok(program) = Program::new(&module) {
        for entry in program.entries() {
            let _ = program.check(entry);
        }
    }
});
