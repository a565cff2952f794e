//! The slowest paths of a mapped unit from group to group of its registers
//! and ports, with OpenSTA: which stage is how far from the clock.

use super::sta::{Analysis, Question};
use super::stages::{group_of, register_name, stage_of};
use crate::error::Result;
use crate::tool::{ToolKind, ToolOutput, unexpected_output};
use serde::{Deserialize, Serialize};

const SCRIPT: &str = include_str!("../../synth/paths.tcl.tera");

/// The start or the end of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// A group of registers, and memory macros: an instance, or what their
    /// names begin with.
    Registers(String),
    /// Ports by what their names begin with, such as `op_*`.
    Ports(String),
}

/// A pin on a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The pin, or port.
    pub pin: String,
    /// The cell that it is a pin of; empty for a port.
    pub cell: String,
    /// Arrival time of the signal, in ps after the clock edge.
    pub ps: f64,
}

/// The slowest of all paths from one group to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorstPath {
    /// Start of the path.
    pub from: End,
    /// End of the path.
    pub to: End,
    /// The stage of `spad_sm_path` that ends there.
    pub stage: Option<String>,
    /// The shortest clock period in ps that it allows: clock-to-output and
    /// set-up times are in it.
    pub ps: f64,
    /// The target period less that.
    pub slack_ps: f64,
    /// Gates between the ends.
    pub levels: usize,
    /// Pins of the path, the first an output of a register, or an input.
    pub steps: Vec<Step>,
}

/// A part of a path that is in one instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The instance; empty for the top.
    pub instance: String,
    /// Gates of it.
    pub levels: usize,
    /// Delay of these gates in ps.
    pub ps: f64,
}

/// The slowest paths of a unit with a clock, the slowest of all first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathReport {
    /// The shortest clock period in ps of the paths from register to
    /// register, memory macros included; none without such paths.
    pub clock_ps: Option<f64>,
    /// One path per pair of groups that has one.
    pub paths: Vec<WorstPath>,
}

impl End {
    fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once(':')?;
        match kind {
            "reg" => Some(End::Registers(name.to_owned())),
            "in" | "out" => Some(End::Ports(name.to_owned())),
            _ => None,
        }
    }

    /// Whether it is a group of registers.
    pub fn is_registers(&self) -> bool {
        matches!(self, End::Registers(_))
    }

    /// Name of the end.
    pub fn name(&self) -> &str {
        match self {
            End::Registers(name) | End::Ports(name) => name,
        }
    }
}

impl WorstPath {
    /// Whether it is from register to register.
    pub fn is_internal(&self) -> bool {
        self.from.is_registers() && self.to.is_registers()
    }

    /// The register or port that it starts from.
    pub fn start(&self) -> String {
        self.steps.first().map_or(String::new(), register_at)
    }

    /// The register or port that it ends in.
    pub fn end(&self) -> String {
        self.steps.last().map_or(String::new(), register_at)
    }

    /// The instances that it goes through, in order, where the netlist has
    /// them. The register that it starts from is part of the first.
    pub fn segments(&self) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        let mut since = 0.0;
        for (i, step) in self.steps.iter().enumerate() {
            let cell = step.pin.rsplit_once('/').map_or("", |(cell, _)| cell);
            let instance = cell.rsplit_once('/').map_or("", |(scope, _)| scope);
            if segments.last().is_none_or(|s| s.instance != instance) {
                segments.push(Segment {
                    instance: instance.to_owned(),
                    levels: 0,
                    ps: 0.0,
                });
            }
            let last = segments.last_mut().expect("one was pushed");
            last.ps += step.ps - since;
            since = step.ps;
            // A gate is an input pin and an output pin.
            last.levels += usize::from(i % 2 == 0 && i > 0 && i + 1 < self.steps.len());
        }
        segments
    }
}

/// `hx_mask[3]_reg/Q` is register `hx_mask[3]`.
fn register_at(step: &Step) -> String {
    match step.pin.rsplit_once('/') {
        Some((cell, _)) => register_name(cell),
        None => step.pin.clone(),
    }
}

impl PathReport {
    /// The slowest paths of a netlist with a clock, for a target period in
    /// ps. What was measured before comes from the cache.
    pub fn measure(period_ps: f64, analysis: &Analysis) -> Result<Self> {
        let line = |cell: &String| format!("{}\t{cell}\n", group_of(&register_name(cell)));
        let groups: String = analysis.netlist.registers.iter().map(line).collect();
        let question = Question {
            name: "paths-2",
            script: SCRIPT,
            period_ps,
            values: &[],
            file: Some(("groups.txt", &groups)),
        };
        analysis.ask(&question, |output| parse(output, period_ps))
    }

    /// The slowest path that ends in (or, with `out`, starts from) each group
    /// of registers: from or to registers.
    pub fn of_groups(&self, out: bool) -> Vec<(&str, &WorstPath)> {
        let mut found: Vec<(&str, &WorstPath)> = Vec::new();
        for path in self.paths.iter().filter(|p| p.is_internal()) {
            let group = if out {
                path.from.name()
            } else {
                path.to.name()
            };
            // They are sorted: the first is the slowest.
            if !found.iter().any(|(name, _)| *name == group) {
                found.push((group, path));
            }
        }
        found
    }

    /// The slowest path from or to each group of ports, to or from
    /// registers, and from each group of inputs to outputs.
    pub fn of_ports(&self) -> Vec<&WorstPath> {
        let mut found: Vec<&WorstPath> = Vec::new();
        for path in self.paths.iter().filter(|p| !p.is_internal()) {
            let same = |other: &&WorstPath| match (&path.from, &path.to) {
                (End::Ports(from), End::Registers(_)) => {
                    other.to.is_registers() && other.from.name() == from
                }
                (End::Registers(_), End::Ports(to)) => {
                    other.from.is_registers() && other.to.name() == to
                }
                _ => {
                    let through = !other.from.is_registers() && !other.to.is_registers();
                    through && other.from.name() == path.from.name()
                }
            };
            if !found.iter().any(same) {
                found.push(path);
            }
        }
        found
    }
}

/// OpenSTA ends with status 0 even after errors in the script: the last line
/// says that it came to the end.
fn parse(output: &ToolOutput, period_ps: f64) -> Result<PathReport> {
    let fail = |what: &str| unexpected_output(ToolKind::Sta, what, output);
    let log = output.log();
    if log.lines().any(|l| l.starts_with("Error:")) || !log.lines().any(|l| l == "spadkit end") {
        return Err(fail("did not report all of its paths"));
    }
    let number = |text: &str| text.parse::<f64>().ok().filter(|v| v.is_finite());
    let mut paths: Vec<WorstPath> = Vec::new();
    for line in log.lines().filter(|l| l.starts_with("spadkit p")) {
        let fields: Vec<&str> = line.split('\t').collect();
        let read = match (fields[..].first(), &fields[1..]) {
            (Some(&"spadkit path"), [from, to, slack]) => {
                let ends = End::parse(from).zip(End::parse(to)).zip(number(slack));
                ends.map(|((from, to), slack_ps)| paths.push(path(from, to, slack_ps, period_ps)))
            }
            (Some(&"spadkit point"), [pin, cell, ps]) => {
                let step = number(ps).map(|ps| Step {
                    pin: (*pin).to_owned(),
                    cell: (*cell).to_owned(),
                    ps,
                });
                step.zip(paths.last_mut()).map(|(s, p)| p.steps.push(s))
            }
            _ => None,
        };
        read.ok_or_else(|| fail("printed a path that cannot be read"))?;
    }
    for path in &mut paths {
        // An input has one pin, every gate two; so has the end.
        path.levels = path.steps.len().saturating_sub(2) / 2;
    }
    paths.sort_by(|a, b| b.ps.total_cmp(&a.ps));
    let clock_ps = paths.iter().find(|p| p.is_internal()).map(|p| p.ps);
    Ok(PathReport { clock_ps, paths })
}

fn path(from: End, to: End, slack_ps: f64, period_ps: f64) -> WorstPath {
    let stage = match &to {
        End::Registers(group) => stage_of(group).map(str::to_owned),
        End::Ports(_) => None,
    };
    WorstPath {
        from,
        to,
        stage,
        ps: period_ps - slack_ps,
        slack_ps,
        levels: 0,
        steps: Vec::new(),
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

    const LOG: &str = "\
spadkit path\tin:op_*\treg:hx\t900
spadkit point\top_mask[0]\t\t10
spadkit point\thx_mask[0]_reg/D\tDFF_X1\t20
spadkit path\treg:hx\treg:arbiter\t-200
spadkit point\thx_mask[0]_reg/Q\tDFF_X1\t80
spadkit point\tlane/_1_/A\tINV_X1\t80
spadkit point\tlane/_1_/ZN\tINV_X1\t180
spadkit point\t_7_/A\tINV_X1\t180
spadkit point\t_7_/ZN\tINV_X1\t1100
spadkit point\tscratchpad/arbiter/pend[1]_reg/D\tDFF_X1\t1100
spadkit path\treg:hx\tout:occ\t300
spadkit point\thx_valid_reg/Q\tDFF_X1\t80
spadkit point\tocc[1]\t\t81
spadkit end
";

    #[test]
    fn paths_are_read_and_the_slowest_is_first() {
        let report = parse(&log(LOG), 1000.0).unwrap();
        assert_eq!(report.clock_ps, Some(1200.0));
        let worst = &report.paths[0];
        assert_eq!(worst.start(), "hx_mask[0]");
        assert_eq!(worst.end(), "scratchpad.arbiter.pend[1]");
        assert_eq!((worst.levels, worst.stage.as_deref()), (2, Some("HX")));
        let segments = worst.segments();
        let shown: Vec<_> = segments.iter().map(|s| s.instance.as_str()).collect();
        assert_eq!(shown, ["", "lane", "", "scratchpad/arbiter"]);
        assert_eq!((segments[1].levels, segments[1].ps), (1, 100.0));
        assert_eq!((segments[2].levels, segments[2].ps), (1, 920.0));
        assert_eq!(report.of_groups(false)[0].0, "arbiter");
        assert_eq!(report.of_groups(true)[0].0, "hx");
        assert_eq!(report.of_ports().len(), 2);
    }

    #[test]
    fn what_is_cut_off_or_mad_is_noticed() {
        for bad in [
            "",
            "spadkit end\nError: no such cell\n",
            "spadkit path\treg:a\treg:b\n spadkit end\n",
            "spadkit path\treg:a\treg:b\tfast\nspadkit end\n",
            "spadkit path\ta\tb\t1\nspadkit end\n",
            "spadkit point\tx\t\t1\nspadkit end\n",
        ] {
            assert_eq!(parse(&log(bad), 1.0).unwrap_err().exit_status(), 3, "{bad}");
        }
    }
}
