//! Reads the output of Yosys: netlists in JSON, and warnings.

use crate::tool::ToolOutput;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A netlist as Yosys writes it in JSON.
#[derive(Deserialize)]
pub(super) struct YosysNetlist {
    pub modules: BTreeMap<String, YosysModule>,
}

impl YosysNetlist {
    /// Every cell under `top` that is not a module of the netlist, or one
    /// without contents: its name, with `/` between instances, and its type.
    pub fn instances(&self, top: &str) -> Vec<(String, &str)> {
        let mut found = Vec::new();
        let mut open = vec![(String::new(), top)];
        while let Some((scope, module)) = open.pop() {
            for (name, instance) in &self.modules[module].cells {
                let name = format!("{scope}{name}");
                match self.modules.get(&instance.kind) {
                    Some(inside) if !inside.cells.is_empty() => {
                        open.push((format!("{name}/"), instance.kind.as_str()));
                    }
                    _ => found.push((name, instance.kind.as_str())),
                }
            }
        }
        found
    }
}

#[derive(Deserialize)]
pub(super) struct YosysModule {
    pub ports: BTreeMap<String, YosysPort>,
    pub cells: BTreeMap<String, Instance>,
}

#[derive(Deserialize)]
pub(super) struct YosysPort {
    pub direction: String,
    pub bits: Vec<Bit>,
}

/// A bit of a port or pin: the number of a net, or a constant.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Bit {
    Net(u64),
    Constant(serde::de::IgnoredAny),
}

impl Bit {
    /// The number of its net, if it is not a constant.
    pub fn net(&self) -> Option<u64> {
        match self {
            Bit::Net(net) => Some(*net),
            Bit::Constant(_) => None,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Instance {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub port_directions: BTreeMap<String, String>,
    #[serde(default)]
    pub connections: BTreeMap<String, Vec<Bit>>,
}

/// Yosys's warnings about the design. What ABC and `dfflibmap` say about the
/// cells of the library concerns no user of the kit.
pub(super) fn warnings(output: &ToolOutput) -> Vec<String> {
    let about_library = |l: &str| l.starts_with("ABC:") || l.contains("in pin attribute of cell");
    let lines = output.stdout.lines();
    lines
        .filter(|l| l.contains("Warning:") && !about_library(l))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_about_the_library_are_left_out() {
        let log = "Warning: a\nABC: Warning: b\nx.v:1: Warning: c\n\
                   Warning: Found unsupported expression 'SE*SI' in pin attribute of cell 'X' - skipping.\n";
        let output = ToolOutput {
            stdout: log.to_owned(),
            stderr: String::new(),
        };
        assert_eq!(warnings(&output), ["Warning: a", "x.v:1: Warning: c"]);
    }
}
