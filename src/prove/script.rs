//! One run of Yosys' SAT solver: a circuit, questions about it, answers.

use super::circuit::{Cut, Values};
use super::property::Property;
use super::template::render;
use crate::error::{Error, Result};
use crate::geometry::Geometry;
use crate::rtl::SourceFile;
use crate::tool::{Kind, Tool, ToolOutput, unexpected_output};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

/// What a question must be answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// There is an example: assumptions can hold.
    Example,
    /// There is no counterexample.
    Proof,
}

/// One question to the solver.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// What is asked, for the report on a counterexample.
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
    /// What does not hold.
    pub violates: String,
    /// Signals, with the clock cycle where there is more than one, and their
    /// values, in hexadecimal.
    pub values: BTreeMap<String, String>,
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

/// How a proof ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The property holds.
    Proved,
    /// The property does not hold.
    Disproved(Counterexample),
    /// Neither, and why.
    Unknown(String),
}

/// The outcome of one proof.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The unit as it was asked for.
    pub unit: String,
    /// Its geometry.
    pub geometry: Geometry,
    /// What was to be proved.
    pub property: Property,
    /// `sat`, `induction` or `exhaustive`.
    pub method: &'static str,
    /// What came out.
    pub outcome: Outcome,
    /// What was gone through: configurations or questions to the solver.
    pub covered: String,
    /// Wall-clock time.
    pub seconds: f64,
}

/// The solver's answer to one step.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// Values that make the question's constraints true.
    Found(BTreeMap<String, String>),
    /// There are none.
    None,
}

/// What Yosys says where a register is not there, or is no register.
const NO_REGISTER: [&str; 2] = [
    "Failed to parse lhs",
    "Assertion failed: selection contains",
];

/// Marks the start of a step's part of the log.
const MARKER: &str = "spadkit-step ";

impl Script {
    /// Asks all questions; gives up after `timeout`.
    pub fn run(&self, yosys: &Tool, timeout: Duration) -> Result<Outcome> {
        let work = tempfile::Builder::new().prefix("spadkit-prove-").tempdir();
        let work = work.map_err(|e| Error::io("create", &std::env::temp_dir(), e))?;
        self.write(work.path())?;
        let start = Instant::now();
        let command = yosys.command().args(["-Q", "-T", "-s", "prove.ys"]);
        match command.cwd(work.path()).timeout(timeout).run() {
            Ok(output) => judge(&self.steps, &output),
            // Its own time-out, or the user's for all tools.
            Err(Error::ToolFailed { what, .. }) if what.starts_with("did not finish") => {
                let seconds = start.elapsed().as_secs();
                Ok(Outcome::Unknown(format!("not decided in {seconds} s")))
            }
            Err(Error::ToolFailed {
                help: Some(log), ..
            }) if NO_REGISTER.iter().any(|e| log.contains(e)) => Err(self.no_register()),
            Err(e) => Err(e),
        }
    }

    /// Proofs cut the design at its registers, so they must be where the kit
    /// puts them.
    fn no_register(&self) -> Error {
        let names: Vec<_> = self
            .values
            .registers
            .iter()
            .map(|r| r.name.as_str())
            .collect();
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

    fn write(&self, work: &Path) -> Result<()> {
        let rtl = work.join("rtl");
        std::fs::create_dir(&rtl).map_err(|e| Error::io("create", &rtl, e))?;
        let put = |path: &Path, text: &str| {
            std::fs::write(path, text).map_err(|e| Error::io("write", path, e))
        };
        for file in &self.files {
            put(&rtl.join(&file.name), &file.text)?;
        }
        put(&work.join("miter.v"), &self.miter)?;
        let values = serde_json::json!({
            "property": self.property.name(),
            "unit": self.values.unit,
            "n": self.values.n,
            "m": self.values.m,
            "cuts": self.cuts,
            "steps": self.steps.iter().map(|s| &s.args).collect::<Vec<_>>(),
        });
        put(&work.join("prove.ys"), &render("prove.ys.tera", &values)?)
    }
}

/// The outcome of a proof whose questions are all answered.
fn judge(steps: &[Step], output: &ToolOutput) -> Result<Outcome> {
    let parts: Vec<&str> = output.stdout.split(MARKER).skip(1).collect();
    if parts.len() != steps.len() {
        let what = "did not come to the end of a proof";
        return Err(unexpected_output(Kind::Yosys, what, output));
    }
    for (step, log) in steps.iter().zip(parts) {
        let answer = parse_answer(log)
            .ok_or_else(|| unexpected_output(Kind::Yosys, "did not answer a question", output))?;
        match (step.goal, answer) {
            (Goal::Example, Answer::Found(_)) | (Goal::Proof, Answer::None) => {}
            (Goal::Example, Answer::None) => {
                let about = &step.about;
                return Ok(Outcome::Unknown(format!(
                    "nothing would be proved: there is no example of '{about}'"
                )));
            }
            (Goal::Proof, Answer::Found(values)) => {
                return Ok(Outcome::Disproved(Counterexample {
                    violates: step.about.clone(),
                    values,
                }));
            }
        }
    }
    Ok(Outcome::Proved)
}

/// What the solver says in its part of the log.
fn parse_answer(log: &str) -> Option<Answer> {
    let says = |what: &str| log.contains(what);
    if says("finished - no model found") {
        return Some(Answer::None);
    }
    if !says("finished - model found") {
        return None;
    }
    // Rows of the table: cycle \name decimal hexadecimal binary.
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [cycle, name, .., bits] = words[..] else {
            return None;
        };
        let name = name.strip_prefix('\\')?.to_owned();
        let cycle: u32 = cycle.parse().ok()?;
        let is_binary = bits.bytes().all(|b| matches!(b, b'0' | b'1'));
        is_binary.then(|| (cycle, name, hexadecimal(bits)))
    };
    let rows: Vec<_> = log.lines().filter_map(row).collect();
    let cycles = rows.iter().map(|r| r.0).max().unwrap_or(1);
    let value = |(cycle, name, value): (u32, String, String)| match cycles {
        1 => (name, value),
        _ => (format!("{name} (cycle {cycle})"), value),
    };
    Some(Answer::Found(rows.into_iter().map(value).collect()))
}

fn hexadecimal(bits: &str) -> String {
    let bits = bits.trim_start_matches('0');
    let first = bits.len() % 4;
    let (head, tail) = bits.split_at(first);
    let digit = |b: &str| u8::from_str_radix(b, 2).map_or(String::new(), |d| format!("{d:x}"));
    let mut out = digit(head);
    for i in (0..tail.len()).step_by(4) {
        out.push_str(&digit(&tail[i..i + 4]));
    }
    match out.is_empty() {
        true => "0x0".to_owned(),
        false => format!("0x{out}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_from_the_log() {
        let proved = "SAT proof finished - no model found: SUCCESS!\n";
        assert_eq!(parse_answer(proved), Some(Answer::None));
        let failed = "SAT proof finished - model found: FAIL!\n\n  Time Signal Name  Dec  Hex  Bin\n\
                      ---- ---\n     1 \\addr   1591  637  0000011000110111\n     1 \\k -- -- 0\n";
        let values = [("addr", "0x637"), ("k", "0x0")];
        let values = values.map(|(n, v)| (n.to_owned(), v.to_owned())).into();
        assert_eq!(parse_answer(failed), Some(Answer::Found(values)));
        assert_eq!(parse_answer("Solving problem with 4 variables"), None);
    }

    /// The outcome of a question with this goal and this answer.
    fn judged(goal: Goal, answer: &str) -> Result<Outcome> {
        let about = "it".to_owned();
        let step = Step {
            about,
            goal,
            args: String::new(),
        };
        let stdout = format!("start\n{MARKER}0\nSAT {answer}\n");
        judge(
            &[step],
            &ToolOutput {
                stdout,
                stderr: String::new(),
            },
        )
    }

    #[test]
    fn assumptions_without_an_example_prove_nothing() {
        let none = "solving finished - no model found.";
        let reason = "nothing would be proved: there is no example of 'it'";
        let unknown = Outcome::Unknown(reason.to_owned());
        assert_eq!(judged(Goal::Example, none).unwrap(), unknown);
        let found = "solving finished - model found:";
        assert_eq!(judged(Goal::Example, found).unwrap(), Outcome::Proved);
        assert_eq!(judged(Goal::Proof, none).unwrap(), Outcome::Proved);
        let disproved = judged(Goal::Proof, found).unwrap();
        assert!(matches!(disproved, Outcome::Disproved(_)));
        assert!(judged(Goal::Proof, "interrupted").is_err());
    }

    #[test]
    fn bits_as_hexadecimal() {
        assert_eq!(hexadecimal("0000"), "0x0");
        assert_eq!(hexadecimal("0111110000"), "0x1f0");
    }
}
