//! The scratchpad in other designs: the units behind a bus as their neighbours
//! see them, the rules of the neighbours, SystemVerilog.

#[path = "wrappers/rtl.rs"]
mod rtl;
#[path = "wrappers/rules.rs"]
mod rules;
#[path = "wrappers/stream.rs"]
mod stream;
#[path = "wrappers/system.rs"]
mod system;
#[path = "wrappers/tcdm.rs"]
mod tcdm;

/// Whether one of the tools is missing; says which.
fn missing(tools: &[&str]) -> bool {
    let absent = tools.iter().find(|tool| which::which(tool).is_err());
    if let Some(tool) = absent {
        println!("skipped: {tool} is missing");
    }
    absent.is_some()
}
