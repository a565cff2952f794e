//! One synthesis: a unit, mapped with Yosys and ABC for one clock period.

use super::effort::Effort;
use super::files::{put, with_liberty};
use super::job::SynthJob;
use super::macros;
use super::prepare::{PREPARED, Prepared};
use super::technology::Technology;
use super::yosys::warnings;
use crate::error::{Error, Result};
use crate::template::fill;
use crate::tool::{Cache, KeyBuilder, Tool, ToolKind, ToolOutput, product_text, unexpected_output};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A mapped unit.
#[derive(Clone, Debug)]
pub struct Netlist {
    /// Number of instances of each cell type.
    pub cells_by_type: BTreeMap<String, u64>,
    /// Number of flip-flops.
    pub flops: u64,
    /// Bits of the memories that were left out.
    pub memory_bits: u64,
    /// Sum of the cells' areas in µm².
    pub area_um2: f64,
    /// ABC's own delay of the slowest combinational path in ps; 0 if there
    /// is no logic.
    pub delay_ps: f64,
    /// Whether the top module has a port `clk`.
    pub clocked: bool,
    /// Flip-flops and memories, with `/` between instances.
    pub registers: Vec<String>,
    /// The memories as cells of a Liberty library; empty without memories.
    pub macros: String,
    /// Warnings of Yosys.
    pub warnings: Vec<String>,
    /// The directory with `netlist.v`, `netlist.json` and `yosys.log`.
    pub directory: PathBuf,
}

/// The recipe for ABC, where it is not Yosys' own.
const RECIPE: &str = "recipe.abc";

const SCRIPT: &str = include_str!("../../synth/map.ys.tera");
const CONSTRAINTS: &str = include_str!("../../synth/abc.constr.tera");

impl SynthJob {
    /// Maps the unit, for a delay in ps between flip-flops, or from input to
    /// output. A unit that was mapped before comes from the cache.
    pub fn map(
        &self,
        technology: &Technology,
        effort: Effort,
        target_ps: u32,
        yosys: &Tool,
        cache: &Cache,
    ) -> Result<Netlist> {
        let prepared = self.prepare(technology, yosys, cache)?;
        let recipe = effort.script(target_ps)?;
        let values = serde_json::json!({
            "top": self.top,
            "target_ps": target_ps,
            "script": recipe.as_ref().map(|_| RECIPE),
            "driving_cell": technology.driving_cell,
            "load_ff": technology.load_ff,
        });
        let mut scripts = vec![
            ("map.ys", fill("map.ys.tera", SCRIPT, &values)?),
            ("abc.constr", fill("abc.constr.tera", CONSTRAINTS, &values)?),
        ];
        scripts.extend(recipe.map(|text| (RECIPE, text)));
        let mut key = KeyBuilder::new("synth-map-1")
            .add("yosys", &yosys.build)
            .add("prepared", prepared.key.to_string())
            .add("liberty", &technology.liberty.digest);
        for (name, text) in &scripts {
            key = key.add(name, text);
        }
        let build = |work: &Path| {
            for (name, text) in &scripts {
                put(&work.join(name), text)?;
            }
            let output = with_liberty(work, technology, || run_yosys(work, &prepared, yosys))?;
            // The end of this log is in the message.
            parse_delay(&output)?;
            put(&work.join("yosys.log"), &output.log())
        };
        cache.get_or_build(&key.finish(), build, |directory| {
            Netlist::read(directory, self, prepared.warnings.clone(), technology)
        })
    }
}

/// Runs `map.ys` on the prepared design, whose copy does not stay in `work`.
fn run_yosys(work: &Path, prepared: &Prepared, yosys: &Tool) -> Result<ToolOutput> {
    let (from, here) = (prepared.directory.join(PREPARED), work.join(PREPARED));
    std::fs::copy(&from, &here).map_err(|e| Error::io("copy", &from, e))?;
    let command = yosys.command().args(["-Q", "-T", "-s", "map.ys"]);
    let output = command.cwd(work).run()?;
    std::fs::remove_file(&here).map_err(|e| Error::io("remove", &here, e))?;
    Ok(output)
}

impl Netlist {
    fn read(
        directory: &Path,
        job: &SynthJob,
        mut complaints: Vec<String>,
        technology: &Technology,
    ) -> Result<Self> {
        let (output, yosys) = job.read_results(directory)?;
        product_text(ToolKind::Yosys, &directory.join("netlist.v"), "endmodule")?;
        let top = &yosys.modules[&job.top];
        job.check_ports(top)?;
        let boxes = job.memories.iter();
        let boxes = boxes.filter_map(|m| Some((m.module.as_str(), yosys.modules.get(&m.module)?)));
        let boxes: Vec<_> = boxes.collect();
        complaints.extend(warnings(&output));
        let fail = |what: String| unexpected_output(ToolKind::Yosys, what, &output);
        let mut netlist = Netlist {
            cells_by_type: BTreeMap::new(),
            flops: 0,
            memory_bits: 0,
            area_um2: 0.0,
            delay_ps: parse_delay(&output)?,
            clocked: top.ports.contains_key("clk"),
            registers: Vec::new(),
            macros: macros::liberty(&boxes, technology),
            warnings: complaints,
            directory: directory.to_owned(),
        };
        for (name, kind) in yosys.instances(&job.top) {
            if let Some(bits) = job.memory_bits(kind) {
                netlist.memory_bits += bits;
                netlist.registers.push(name);
                continue;
            }
            let cell = technology.liberty.cells.get(kind).ok_or_else(|| {
                fail(format!(
                    "could not map {}: the library {} has no cell for {kind}",
                    job.unit, technology.liberty.name
                ))
            })?;
            netlist.flops += u64::from(cell.flop);
            netlist.area_um2 += cell.area_um2;
            *netlist.cells_by_type.entry(kind.to_owned()).or_default() += 1;
            if cell.flop {
                netlist.registers.push(name);
            }
        }
        Ok(netlist)
    }

    /// Number of cells.
    pub fn cells(&self) -> u64 {
        self.cells_by_type.values().sum()
    }
}

/// ABC's delay, of the slowest module where they were mapped one by one.
fn parse_delay(output: &ToolOutput) -> Result<f64> {
    let modules = output.stdout.split("Extracting gate netlist of module");
    // The text before the first module has no delay.
    let skipped = usize::from(modules.clone().count() > 1);
    let delays = modules
        .skip(skipped)
        .map(|text| module_delay(text, output))
        .collect::<Result<Vec<_>>>()?;
    Ok(delays.into_iter().fold(0.0, f64::max))
}

/// The delay on ABC's line `WireLoad = ... Delay = 145.85 ps ...`.
fn module_delay(text: &str, output: &ToolOutput) -> Result<f64> {
    let line = text.lines().rfind(|l| l.contains("WireLoad ="));
    let Some(line) = line else {
        // Yosys does not call ABC for a unit without logic.
        let no_logic = text.contains("there is nothing to map");
        return if no_logic {
            Ok(0.0)
        } else {
            Err(unexpected_output(
                ToolKind::Yosys,
                "printed no delay of ABC's",
                output,
            ))
        };
    };
    let after = line
        .split_once("Delay =")
        .map(|(_, rest)| rest.trim_start());
    let number = after.and_then(|rest| rest.split_whitespace().next());
    number
        .and_then(|n| n.parse::<f64>().ok())
        .filter(|d| d.is_finite() && *d >= 0.0)
        .ok_or_else(|| {
            unexpected_output(
                ToolKind::Yosys,
                "printed a delay that is not a number",
                output,
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(stdout: &str) -> ToolOutput {
        ToolOutput {
            stdout: stdout.to_owned(),
            stderr: String::new(),
        }
    }

    #[test]
    fn the_last_delay_counts() {
        let log = "ABC: WireLoad = \"none\"  Gates = 1 Area = 9 ( 9 %)   Delay =   145.85 ps  (100.0 %)\n\
                   ABC: WireLoad = \"none\"  Delay =   12.5 ps  (1 %)\n";
        assert_eq!(parse_delay(&output(log)).unwrap(), 12.5);
        let nothing = "Don't call ABC as there is nothing to map.";
        assert_eq!(parse_delay(&output(nothing)).unwrap(), 0.0);
    }

    #[test]
    fn nonsense_is_no_delay() {
        for log in [
            "",
            "WireLoad = none",
            "WireLoad = x Delay = fast",
            "WireLoad = x Delay = nan ps",
        ] {
            assert_eq!(
                parse_delay(&output(log)).unwrap_err().exit_status(),
                3,
                "{log}"
            );
        }
    }
}
