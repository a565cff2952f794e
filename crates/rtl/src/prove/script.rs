//! A circuit with questions about it, and what the answers say.

use super::circuit::{Cut, Values};
use super::property::Property;
use super::solver::{Answer, Reply, Run, Value, by_name};
use super::template::render;
use crate::error::{Error, Failure, Result};
use crate::geometry::Geometry;
use crate::rtl::{SourceFile, named};
use crate::tool::Tool;
use serde::{Deserialize, Serialize};
use spadkit_hdl::Origin;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The expected answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// An example exists, so the assumptions can hold.
    Example,
    /// No counterexample exists.
    Proof,
}

/// One question to the solver.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The subject, for the report on a counterexample.
    pub about: String,
    /// The answer that is wanted.
    pub goal: Goal,
    /// Arguments of Yosys' `sat`.
    pub args: String,
}

/// A circuit with the questions about it.
#[derive(Debug)]
pub(super) struct Script {
    pub property: Property,
    /// The name of the circuit's template.
    pub template: &'static str,
    pub values: Values,
    /// The Verilog of the module `miter` and of the definitions.
    pub miter: String,
    pub files: Vec<SourceFile>,
    pub cuts: Vec<Cut>,
    pub steps: Vec<Step>,
}

/// Values of signals for which a property does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The violated property.
    pub violates: String,
    /// Signals, with the clock cycle if there is more than one, and their
    /// values, in hexadecimal.
    pub values: BTreeMap<String, String>,
    /// The values cycle by cycle, with those computed from them; empty without a
    /// circuit.
    pub run: Vec<Value>,
}

impl Serialize for Counterexample {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        serde_json::json!({"violates": self.violates, "values": self.values}).serialize(s)
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not '{}'", self.violates)?;
        for (i, (name, value)) in self.values.iter().enumerate() {
            write!(f, "{} {name}={value}", if i == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

/// The result of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The property holds.
    Proved,
    /// The property does not hold.
    Disproved(Counterexample),
    /// Neither, and why.
    Unknown(String),
}

impl Outcome {
    pub(super) fn timed_out(seconds: u64) -> Self {
        Outcome::Unknown(format!("not decided in {seconds} s"))
    }
}

/// The method of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// One question after the other, each for an arbitrary state.
    Sat,
    /// Induction from any cycle to the next.
    Induction,
    /// All configurations one by one, on the software's own mapping.
    Exhaustive,
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Method::Sat => "sat",
            Method::Induction => "induction",
            Method::Exhaustive => "exhaustive",
        })
    }
}

/// The outcome of one proof.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The unit as it was asked for.
    pub unit: String,
    /// Geometry of the machine.
    pub geometry: Geometry,
    /// The name of what was to be proved.
    pub property: String,
    /// Method of the proof.
    pub method: Method,
    /// Result of the proof.
    pub outcome: Outcome,
    /// The work done: configurations, or questions to the solver.
    pub covered: String,
    /// Wall-clock time.
    pub seconds: f64,
    /// If it is not proved: the line of the circuit's template that states it, if known.
    pub stated_at: Option<Origin>,
    /// If an output of the unit is wrong: the lines of the hardware's description that drive it.
    pub driven_by: Vec<Origin>,
}

impl Verdict {
    /// ` (stated in FILE:LINE)`, ` (driven in FILE:LINE)`, or nothing where neither is
    /// known.
    pub fn lines(&self) -> String {
        match (&self.stated_at, &self.driven_by[..]) {
            (Some(at), _) => format!(" (stated in {at})"),
            (None, []) => String::new(),
            (None, lines) => format!(" (driven in {})", named(lines)),
        }
    }
}

/// Yosys' messages for a missing register, or a signal that is no register.
const NO_REGISTER: [&str; 2] = [
    "Failed to parse lhs",
    "Assertion failed: selection contains",
];

impl Script {
    /// Asks all questions; gives up after `timeout`.
    pub fn run(&self, yosys: &Tool, timeout: Duration) -> Result<Outcome> {
        let run = Run {
            rtl: &self.files,
            miter: &self.miter,
            script: &self.text()?,
            questions: self.steps.len(),
        };
        match run.ask(yosys, timeout) {
            Ok(Reply::Answers(answers)) => Ok(judge(&self.steps, answers)),
            Ok(Reply::TimedOut(seconds)) => Ok(Outcome::timed_out(seconds)),
            Err(Error::ToolFailed {
                failure: Failure::Status { log },
                ..
            }) if NO_REGISTER.iter().any(|e| log.contains(e)) => Err(self.no_register()),
            Err(e) => Err(e),
        }
    }

    /// The signal of the circuit that a failed step is about.
    pub fn signal(&self, about: &str) -> Option<&str> {
        let step = self.steps.iter().find(|step| step.about == about)?;
        let (_, proved) = step.args.split_once("-prove ")?;
        proved.split([' ', '[']).next()
    }

    /// Proofs cut the design at its registers, so they must be where the kit
    /// puts them.
    fn no_register(&self) -> Error {
        let registers = self.values.registers.iter();
        let names: Vec<String> = registers.map(|r| r.in_rtl()).collect();
        Error::usage(
            format!(
                "{} does not have the registers of its unit",
                self.values.config
            ),
            format!(
                "a proof needs the registers under the names of the emitted Verilog ({})",
                names.join(", ")
            ),
        )
    }

    fn text(&self) -> Result<String> {
        let values = serde_json::json!({
            "property": self.property.name(),
            "unit": self.values.unit,
            "n": self.values.n,
            "m": self.values.m,
            "cuts": self.cuts,
            "steps": self.steps.iter().map(|s| &s.args).collect::<Vec<_>>(),
        });
        render("prove.ys.tera", &values)
    }
}

/// The outcome of a proof whose questions are all answered.
fn judge(steps: &[Step], answers: Vec<Answer>) -> Outcome {
    for (step, answer) in steps.iter().zip(answers) {
        match (step.goal, answer) {
            (Goal::Example, Answer::Found(_)) | (Goal::Proof, Answer::None) => {}
            (Goal::Example, Answer::None) => {
                let about = &step.about;
                return Outcome::Unknown(format!(
                    "the proof would be vacuous: no state satisfies '{about}'"
                ));
            }
            (Goal::Proof, Answer::Found(values)) => {
                return Outcome::Disproved(Counterexample {
                    violates: step.about.clone(),
                    values: by_name(&values),
                    run: values,
                });
            }
        }
    }
    Outcome::Proved
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome of a question with this goal and this answer.
    fn judged(goal: Goal, answer: Answer) -> Outcome {
        let about = "it".to_owned();
        let step = Step {
            about,
            goal,
            args: String::new(),
        };
        judge(&[step], vec![answer])
    }

    #[test]
    fn assumptions_without_an_example_prove_nothing() {
        let found = || Answer::Found(Vec::new());
        let reason = "the proof would be vacuous: no state satisfies 'it'";
        let unknown = Outcome::Unknown(reason.to_owned());
        assert_eq!(judged(Goal::Example, Answer::None), unknown);
        assert_eq!(judged(Goal::Example, found()), Outcome::Proved);
        assert_eq!(judged(Goal::Proof, Answer::None), Outcome::Proved);
        let disproved = judged(Goal::Proof, found());
        assert!(matches!(disproved, Outcome::Disproved(_)));
    }
}
