//! The ports that Verilator declares for a unit, compared with those of its model.

use crate::error::{Error, Failure, Result};
use crate::rtl::Reset;
use crate::tool::ToolKind;
use crate::units::{Layout, PortSlot};
use std::collections::HashMap;
use std::path::Path;

/// Refuses Verilog without the ports of `layout`, as Verilator declares them:
/// `VL_IN8(&addr,13,0);`. The compiler's error would be hard to read, and a
/// wrong width would not be one.
pub(super) fn check_ports(top: &str, layout: &Layout, reset: Reset, header: &Path) -> Result<()> {
    let text = std::fs::read_to_string(header).map_err(|_| Error::ToolFailed {
        tool: ToolKind::Verilator.name().to_owned(),
        what: format!("ended well, but did not write the class of {top}"),
        failure: Failure::Output,
        help: Some(format!(
            "expected obj/Vunit.h; {} may be broken",
            ToolKind::Verilator.program()
        )),
    })?;
    let declared: HashMap<(bool, &str), usize> = text.lines().filter_map(declared_port).collect();
    let ports = |slots: &'_ [PortSlot], input| {
        let named = slots.iter().map(|p| (input, p.name.clone(), p.width));
        named.collect::<Vec<_>>()
    };
    let mut expected = ports(&layout.inputs, true);
    expected.extend(ports(&layout.outputs, false));
    for (input, name, width) in expected {
        let name = if name == "rst" {
            reset.port().to_owned()
        } else {
            name
        };
        let dir = if input { "input" } else { "output" };
        let what = match declared.get(&(input, name.as_str())) {
            Some(w) if *w == width => continue,
            Some(w) => format!("{dir} {name} of {top} has {w} bits in this Verilog"),
            None => format!("{top} has no {dir} {name} in this Verilog"),
        };
        let help = format!("expected {width} bits, as the model and manifest.json have");
        return Err(Error::usage(what, help));
    }
    Ok(())
}

fn declared_port(line: &str) -> Option<((bool, &str), usize)> {
    let line = line.trim();
    let input = line.starts_with("VL_IN");
    if !input && !line.starts_with("VL_OUT") {
        return None;
    }
    let (name, rest) = line.split_once("(&")?.1.split_once(',')?;
    let (high, low) = rest.split_once(')')?.0.split_once(',')?;
    // A wide port is followed by its word count.
    let low = low.split(',').next()?;
    let width = high.parse::<usize>().ok()?.checked_sub(low.parse().ok()?)? + 1;
    Some(((input, name), width))
}
