//! The report of `share`: ranges on the lines of the PTX, the control flow,
//! and what each step gains.

use super::frame;
use crate::draw::chart::{Bar, BarChart, BarGroup, Panel};
use crate::draw::{flow_drawing, theme};
use serde_json::{Value, json};
use spadkit_base::error::Result;
use spadkit_compiler::sharing::annotate::Annotated;
use spadkit_compiler::sharing::{Drawing, Plan, ProgramPoint, Variant, gains, short};
use spadkit_launch::readable::readable;
use spadkit_rtl::template::defect;
use tera::Context;

const NAME: &str = "share.html.tera";
const TEMPLATE: &str = include_str!("share.html.tera");

/// The content of the report.
pub struct ShareReport<'a> {
    /// The answer in a sentence, as the terminal has it.
    pub verdict: String,
    /// Whether that is good news, or bad; none if it is neither.
    pub good: Option<bool>,
    /// The commands that repeat the run.
    pub commands: Vec<String>,
    /// The plan.
    pub plan: &'a Plan<'a>,
    /// PTX of the plan.
    pub annotated: &'a Annotated,
    /// The machine, in words.
    pub machine: String,
    /// The runs, for a launch file.
    pub variants: &'a [Variant],
}

/// The variables under their names in the source.
fn with_names(variables: &Value) -> Value {
    let mut variables = variables.clone();
    for variable in variables.as_array_mut().into_iter().flatten() {
        if let Some(name) = variable["name"].as_str() {
            variable["name"] = readable(name).into();
        }
    }
    variables
}

impl ShareReport<'_> {
    /// The page as an HTML file that refers to no other.
    pub fn render(&self) -> Result<String> {
        let kernel = self.plan.kernel;
        let names: Vec<&str> = kernel.variables.iter().map(|v| short(&v.name)).collect();
        let numbers = json!(self.plan.numbers(self.annotated));
        let variables = with_names(&numbers["variables"]);
        let baseline = self.variants.first();
        let mut sections = vec![["variables", "Variables"]];
        if baseline.is_some() {
            sections.push(["gain", "Gain"]);
        }
        sections.extend([
            ["flow", "Control flow"],
            ["ranges", "PTX"],
            ["again", "Reproduce"],
        ]);
        let all = json!({
            "title": format!("share: {}", readable(&kernel.function().name)),
            "sections": sections,
            "verdict": self.verdict,
            "tone": match self.good {
                Some(true) => "good",
                Some(false) => "bad",
                None => "plain",
            },
            "commands": self.commands,
            "plan": numbers,
            "entry": readable(&kernel.function().name),
            "variables": variables,
            "machine": self.machine,
            "sharing": self.plan.sharing,
            "names": names,
            "instructions": kernel.graph.exit(),
            "fixed": kernel.fixed,
            "lines": self.lines(),
            "variants": gains(self.variants),
            "reasons": kernel.unattributed.iter().map(|u| json!({
                "line": u.line, "because": u.because, "reason": u.reason,
            })).collect::<Vec<_>>(),
        });
        let mut context = Context::from_serialize(&all).map_err(|e| defect(NAME, e))?;
        let flow = flow_drawing::svg(&Drawing::of(self.plan));
        context.insert("flow", &theme::with_variables(&flow));
        context.insert(
            "chart",
            &self.chart().map(|c| theme::with_variables(&c.svg())),
        );
        frame::render(NAME, TEMPLATE, context)
    }

    /// The instructions: per variable `access`, `range` or nothing, whether
    /// the shared ones are in range, and the releases there.
    fn lines(&self) -> Vec<Value> {
        let kernel = self.plan.kernel;
        let (function, shared) = (kernel.function(), self.plan.layout.shared);
        let instructions = function.instructions.iter().enumerate();
        let line = |(at, i): (usize, &spadkit_ptx::Instruction)| {
            let n = at as u32;
            let state = |bit: usize| match (kernel.ranges.accesses(n) >> bit & 1, 1u128 << bit) {
                (1, _) => "access",
                (_, set) if kernel.ranges.in_range(n, set) => "range",
                _ => "",
            };
            let places = self.plan.points.iter().filter_map(|p| match p {
                ProgramPoint::Before(m) if *m == n => Some("relssp before"),
                ProgramPoint::After(m) if *m == n => Some("relssp after"),
                ProgramPoint::On(e) if e.from == n && e.taken => Some("relssp where it is taken"),
                ProgramPoint::On(e) if e.from == n => Some("relssp where it is not taken"),
                _ => None,
            });
            json!({
                "line": i.span.line,
                "text": kernel.module.text_of(i.span),
                "source": kernel.module.source(function, i),
                "variables": (0..kernel.variables.len()).map(state).collect::<Vec<_>>(),
                "shared": kernel.ranges.in_range(n, shared),
                "releases": places.collect::<Vec<_>>(),
                "reachable": kernel.graph.is_reachable(n),
            })
        };
        instructions.map(line).collect()
    }

    fn chart(&self) -> Option<BarChart> {
        let baseline = self.variants.first()?;
        let group = |v: &Variant| BarGroup {
            name: v.name.to_owned(),
            note: format!("{:.2} times as fast", v.speed_up(baseline)),
            bars: vec![Some(Bar {
                value: v.statistics.cycles as f64,
                label: v.statistics.cycles.to_string(),
            })],
        };
        Some(BarChart {
            title: format!("Cycles of {}", readable(&self.plan.kernel.function().name)),
            subtitle: self.machine.clone(),
            series: vec!["cycles".to_owned()],
            panels: vec![Panel {
                title: "Without sharing, and with each step of it".to_owned(),
                axis: "cycles".to_owned(),
                groups: self.variants.iter().map(group).collect(),
            }],
        })
    }
}
