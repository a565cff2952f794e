//! Static timing and power of a mapped unit with OpenSTA.

use super::job::{Netlist, get, put, with_liberty};
use super::technology::Technology;
use super::template::render;
use crate::error::Result;
use crate::tool::{Cache, KeyBuilder, Kind, Tool, ToolOutput, unexpected_output};

/// Transitions per clock cycle of every input that is not configuration:
/// OpenSTA's own default.
pub const ACTIVITY: f64 = 0.1;

/// What OpenSTA says about a mapped unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// The shortest clock period in ps: input to output, or with registers
    /// the slowest of all paths, clock-to-output and setup times included.
    pub delay_ps: f64,
    /// Power in mW at the clock period asked for.
    pub power_mw: f64,
}

const SCRIPT: &str = include_str!("../../synth/sta.tcl.tera");

impl Timing {
    /// Timing and power of a netlist whose inputs have [`ACTIVITY`]
    /// transitions per clock cycle of `period_ps`; configuration inputs
    /// (`cfg_*`) are static.
    pub fn measure(
        netlist: &Netlist,
        top: &str,
        technology: &Technology,
        period_ps: f64,
        sta: &Tool,
        cache: &Cache,
    ) -> Result<Self> {
        if netlist.cells() == 0 {
            // OpenSTA knows no paths through plain wires.
            return Ok(Timing {
                delay_ps: 0.0,
                power_mw: 0.0,
            });
        }
        let script = render(
            SCRIPT,
            &serde_json::json!({
                "top": top,
                "clocked": netlist.clocked,
                "period_ps": period_ps,
                "activity": ACTIVITY,
                "driving_cell": technology.driving_cell,
                "load_ff": technology.load_ff,
            }),
        )?;
        let key = KeyBuilder::new("sta-1")
            .add("sta", sta.version.to_string())
            .add("script", &script)
            .add("netlist", netlist.key.to_string())
            .finish();
        let verilog = get(&netlist.directory.join("netlist.v"))?;
        let directory = cache.get_or_build(&key, |work| {
            put(&work.join("netlist.v"), &verilog)?;
            put(&work.join("sta.tcl"), &script)?;
            let output = with_liberty(work, technology, || {
                let command = sta.command().args(["-no_splash", "-exit", "sta.tcl"]);
                command.cwd(work).run()
            })?;
            parse(&output, period_ps)?; // nothing mad goes into the cache
            put(&work.join("sta.log"), &output.log())
        })?;
        let output = ToolOutput {
            stdout: get(&directory.join("sta.log"))?,
            stderr: String::new(),
        };
        parse(&output, period_ps)
    }
}

/// OpenSTA ends with status 0 even after errors in the script: what counts
/// is whether the numbers are there.
fn parse(output: &ToolOutput, period_ps: f64) -> Result<Timing> {
    let fail = |what| unexpected_output(Kind::Sta, what, output);
    let log = output.log();
    if log.lines().any(|l| l.starts_with("Error:")) {
        return Err(fail("reported an error"));
    }
    let number = |text: Option<&str>| {
        text.and_then(|t| t.parse::<f64>().ok())
            .filter(|v| v.is_finite())
    };
    let slack = log
        .lines()
        .find_map(|l| l.strip_prefix("spadkit slack_ps "));
    let slack = number(slack).ok_or_else(|| fail("printed no slack"))?;
    // Columns: internal, switching, leakage and total power in W.
    let total = log.lines().find_map(|l| l.strip_prefix("Total "));
    let watts = number(total.and_then(|t| t.split_whitespace().nth(3)));
    let watts = watts.ok_or_else(|| fail("printed no power"))?;
    Ok(Timing {
        delay_ps: period_ps - slack,
        power_mw: watts * 1e3,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> ToolOutput {
        ToolOutput {
            stdout: text.to_owned(),
            stderr: String::new(),
        }
    }

    #[test]
    fn slack_and_total_power_are_read() {
        let text = "spadkit slack_ps -3.5e+00\nSequential 1 2 3 4 5%\n\
                    Total    1.2e-04 2.1e-05 8.0e-07 1.432e-04 100.0%\n";
        let timing = parse(&log(text), 150.0).unwrap();
        assert_eq!(timing.delay_ps, 153.5);
        assert!((timing.power_mw - 0.1432).abs() < 1e-12);
    }

    #[test]
    fn errors_and_missing_numbers_are_noticed() {
        let whole = "spadkit slack_ps 1\nTotal 1 1 1 1 100%\n";
        assert!(parse(&log(whole), 1.0).is_ok());
        for bad in [
            "",
            "Total 1 1 1 1 100%\n",
            "spadkit slack_ps 1\n",
            "spadkit slack_ps NULL\nTotal 1 1 1 1\n",
        ] {
            assert_eq!(parse(&log(bad), 1.0).unwrap_err().exit_status(), 3, "{bad}");
        }
        let error = format!("{whole}Error: sta.tcl, 3 no such cell\n");
        assert!(parse(&log(&error), 1.0).is_err());
    }
}
