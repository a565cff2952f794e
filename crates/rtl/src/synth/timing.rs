//! Static timing and power of a mapped unit with OpenSTA.

use super::sta::{Analysis, Question};
use crate::error::{Error, Failure, Result};
use crate::tool::{ToolKind, ToolOutput, unexpected_output};

/// Transitions per clock cycle of every input that is not configuration:
/// OpenSTA's own default.
pub const ACTIVITY: f64 = 0.1;

/// The clock period that power is measured at; other periods follow from it.
const REFERENCE_PERIOD_PS: f64 = 1000.0;

/// OpenSTA's results for a mapped unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// The shortest clock period in ps: input to output, or with registers
    /// the slowest of all paths, clock-to-output and setup times included.
    /// The wires have the library's default wire load, if it has one.
    pub delay_ps: f64,
    /// Shortest clock period with wires that load nothing.
    pub delay_no_wires_ps: f64,
    /// `None` where OpenSTA crashed over it, as it does for netlists of
    /// hundreds of thousands of cells.
    pub power: Option<Power>,
}

/// The power of a mapped unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// Leakage power in mW.
    pub leakage_mw: f64,
    /// Energy of one clock cycle in fJ.
    pub cycle_fj: f64,
}

const SCRIPT: &str = include_str!("../../synth/sta.tcl.tera");

impl Timing {
    /// Timing and power of a netlist whose inputs have [`ACTIVITY`]
    /// transitions per clock cycle; configuration inputs (`cfg_*`) are
    /// static. What was measured before comes from the cache.
    pub fn measure(analysis: &Analysis) -> Result<Self> {
        Self::measure_at(REFERENCE_PERIOD_PS, analysis)
    }

    /// Power in mW at a clock period; at the shortest one, if that is longer:
    /// the unit cannot be clocked faster.
    pub fn power_mw(&self, period_ps: f64) -> Option<f64> {
        let period_ps = period_ps.max(self.delay_ps);
        let power = self.power?;
        Some(power.leakage_mw + power.cycle_fj / period_ps)
    }

    pub(super) fn measure_at(period_ps: f64, analysis: &Analysis) -> Result<Self> {
        let netlist = analysis.netlist;
        if netlist.cells() == 0 {
            // OpenSTA knows no paths through plain wires.
            return Ok(Timing {
                delay_ps: 0.0,
                delay_no_wires_ps: 0.0,
                power: Some(Power {
                    leakage_mw: 0.0,
                    cycle_fj: 0.0,
                }),
            });
        }
        let ask = |power: bool| {
            let question = Question {
                name: "sta-4",
                script: SCRIPT,
                period_ps,
                values: &[
                    ("clocked", netlist.clocked.into()),
                    ("activity", ACTIVITY.into()),
                    ("power", power.into()),
                ],
                file: None,
            };
            analysis.ask(&question, |output| parse(output, period_ps, power))
        };
        // A crash over the power shall not take the timing with it; what is
        // wrong with the netlist is so without the power, too.
        match ask(true) {
            Err(Error::ToolFailed {
                failure: Failure::Crashed | Failure::Output,
                ..
            }) => ask(false),
            answer => answer,
        }
    }
}

/// OpenSTA ends with status 0 even after errors in the script, so success means
/// that the numbers were printed.
fn parse(output: &ToolOutput, period_ps: f64, power: bool) -> Result<Timing> {
    let fail = |what| unexpected_output(ToolKind::Sta, what, output);
    let log = output.log();
    if log.lines().any(|l| l.starts_with("Error:")) {
        return Err(fail("reported an error"));
    }
    let number = |text: &str| text.parse::<f64>().ok().filter(|v| v.is_finite());
    let delay = |name: &str| {
        let slack = log.lines().find_map(|l| l.strip_prefix(name));
        let slack = slack.and_then(number);
        slack.map(|s| period_ps - s)
    };
    let delays = delay("spadkit slack_ps ").zip(delay("spadkit slack_no_wires_ps "));
    let (delay_ps, delay_no_wires_ps) = delays.ok_or_else(|| fail("printed no slack"))?;
    let timing = Timing {
        delay_ps,
        delay_no_wires_ps,
        power: None,
    };
    if !power {
        return Ok(timing);
    }
    // Columns: internal, switching, leakage and total power in W.
    let total = log.lines().find_map(|l| l.strip_prefix("Total "));
    let columns = total.unwrap_or_default().split_whitespace().take(3);
    let watts: Option<Vec<f64>> = columns.map(number).collect();
    match watts.as_deref() {
        Some([internal, switching, leakage]) => Ok(Timing {
            power: Some(Power {
                leakage_mw: leakage * 1e3,
                cycle_fj: (internal + switching) * 1e3 * period_ps, // mW x ps
            }),
            ..timing
        }),
        _ => Err(fail("printed no power")),
    }
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

    const SLACKS: &str = "spadkit slack_no_wires_ps 1\nspadkit slack_ps -0.5\n";

    #[test]
    fn slack_and_total_power_are_read() {
        let text = "spadkit slack_no_wires_ps 1e+01\nspadkit slack_ps -3.5e+00\nSequential 1 2 3 4 5%\n\
                    Total    1.2e-04 2.1e-05 8.0e-07 1.432e-04 100.0%\n";
        let timing = parse(&log(text), 150.0, true).unwrap();
        assert_eq!((timing.delay_ps, timing.delay_no_wires_ps), (153.5, 140.0));
        let power = timing.power.unwrap();
        assert!((power.leakage_mw - 8e-4).abs() < 1e-12);
        assert!((power.cycle_fj - 0.141 * 150.0).abs() < 1e-9);
        // Below the shortest period there is no clock.
        let shortest = timing.power_mw(153.5).unwrap();
        assert!((shortest - (8e-4 + 0.141 * 150.0 / 153.5)).abs() < 1e-9);
        assert_eq!(timing.power_mw(10.0), Some(shortest));
        assert!(timing.power_mw(1e9).unwrap() < 8.1e-4);
        // Power is not parsed if it was not requested.
        let without = parse(&log(SLACKS), 150.0, false).unwrap();
        assert_eq!((without.delay_ps, without.power_mw(150.0)), (150.5, None));
    }

    #[test]
    fn errors_and_missing_numbers_are_noticed() {
        let whole = format!("{SLACKS}Total 1 1 1 1 100%\n");
        assert!(parse(&log(&whole), 1.0, true).is_ok());
        for bad in [
            "",
            "Total 1 1 1 1 100%\n",
            SLACKS,
            "spadkit slack_ps 1\nTotal 1 1 1 1\n",
            "spadkit slack_no_wires_ps 1\nTotal 1 1 1 1\n",
            "spadkit slack_no_wires_ps 1\nspadkit slack_ps NULL\nTotal 1 1 1 1\n",
        ] {
            let refused = parse(&log(bad), 1.0, true).unwrap_err();
            assert_eq!(refused.exit_status(), 3, "{bad}");
        }
        let error = format!("{whole}Error: sta.tcl, 3 no such cell\n");
        assert!(parse(&log(&error), 1.0, true).is_err());
        assert!(parse(&log(&error), 1.0, false).is_err());
    }
}
