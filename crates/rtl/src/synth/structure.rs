//! Cells and levels in Yosys' own gates: how large and how deep a block is
//! before any library is chosen.

use super::gates::{self, is_flop};
use super::job::SynthJob;
use super::yosys::YosysNetlist;
use crate::error::Result;
use crate::tool::{Cache, Tool, ToolKind, ToolOutput, unexpected_output};
use serde::Serialize;

/// A block after Yosys' `synth -flatten`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Structure {
    /// Gates and flip-flops.
    pub cells: u64,
    /// Flip-flops among them.
    pub flops: u64,
    /// Bits of the memories that were left out.
    pub memory_bits: u64,
    /// Gates on the longest path between flip-flops and ports (`ltp -noff`).
    pub levels: u64,
}

impl Structure {
    /// Measures a block. What was measured before comes from the cache.
    pub fn measure(job: &SynthJob, yosys: &Tool, cache: &Cache) -> Result<Self> {
        gates::build(job, yosys, cache, |output, netlist| {
            Self::read(output, netlist, job)
        })
    }

    fn read(output: &ToolOutput, netlist: &YosysNetlist, job: &SynthJob) -> Result<Self> {
        let mut structure = Structure {
            cells: 0,
            flops: 0,
            memory_bits: 0,
            levels: parse_levels(output)?,
        };
        for instance in netlist.modules[&job.top].cells.values() {
            if let Some(bits) = job.memory_bits(&instance.kind) {
                structure.memory_bits += bits;
                continue;
            }
            structure.cells += 1;
            structure.flops += u64::from(is_flop(&instance.kind));
        }
        Ok(structure)
    }
}

/// The number in `Longest topological path in TOP (length=24):`.
fn parse_levels(output: &ToolOutput) -> Result<u64> {
    let lines = output.stdout.lines();
    let line = lines.rev().find(|l| l.contains("Longest topological path"));
    let after = line.and_then(|l| l.split_once("(length="));
    let number = after.and_then(|(_, rest)| rest.split_once(')'));
    number
        .and_then(|(n, _)| n.parse().ok())
        .ok_or_else(|| unexpected_output(ToolKind::Yosys, "printed no longest path", output))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_from_the_log() {
        let output = |text: &str| ToolOutput {
            stdout: text.to_owned(),
            stderr: String::new(),
        };
        let log = "Longest topological path in u (length=24):\n";
        assert_eq!(parse_levels(&output(log)).unwrap(), 24);
        let error = parse_levels(&output("no path\n")).unwrap_err();
        assert_eq!(error.exit_status(), 3);
    }

    #[test]
    fn flops_are_told_from_gates() {
        assert!(["$_DFF_P_", "$_SDFFE_PP0P_"].into_iter().all(is_flop));
        assert!(
            !["$_XOR_", "$_MUX_", "spad_bank_ram"]
                .into_iter()
                .any(is_flop)
        );
    }
}
