//! Proofs about a unit of the path in its circuit: by induction over clock
//! cycles, from the first reset on.
//!
//! The helper invariants hold after a reset, from any state before it, and
//! carry over from any cycle to the next. The properties hold after a reset
//! and in the second of any two cycles with the invariants. What cannot be
//! proved so is looked for in the cycles after a reset.

use super::harness::{Goal, Goals, Harness, has_reset, parameters};
use super::rtl::RtlSource;
use super::script::{Counterexample, Outcome};
use super::solver::{Answer, Reply, Run, Value, by_name};
use super::template::render;
use crate::config::Config;
use crate::error::{Error, Failure, Result};
use crate::rtl::{Design, SourceFile};
use crate::tool::Tool;
use serde_json::json;
use std::time::{Duration, Instant};

/// Counterexamples are looked for in this many cycles first, the first a reset;
/// then in as many as the circuit says.
const CYCLES: [u32; 2] = [5, 10];

/// Number of cycles within which a goal must be reached.
fn reach_cycles(goal: &Goal) -> u32 {
    goal.cycles.unwrap_or(CYCLES[1])
}

/// A circuit with all that Yosys needs to know about it.
#[derive(Debug)]
pub(super) struct Induction {
    unit: &'static str,
    text: String,
    goals: Goals,
    parameters: Vec<(String, usize)>,
    files: Vec<SourceFile>,
    free: &'static [&'static str],
    cycles: u32,
    apart: bool,
    /// Some properties are left out.
    chosen: bool,
    resets: bool,
}

/// The result for one property.
pub(super) struct Proved {
    pub property: String,
    pub outcome: Outcome,
    pub seconds: f64,
}

impl Induction {
    /// The circuit of `harness` around the unit of the machine `config`.
    pub fn new(harness: &Harness, config: &Config, rtl: &RtlSource) -> Result<Self> {
        let units = std::iter::once(&harness.unit).chain(harness.circuit.beside);
        let units: Vec<String> = units.map(|unit| (*unit).to_owned()).collect();
        let design = Design::emit(&units, config)?;
        let unit = super::circuit::emitted(&design, harness.unit)?;
        let text = harness.verilog(config)?;
        Ok(Induction {
            unit: harness.unit,
            goals: Goals::of(&text),
            parameters: parameters(&text, unit, config),
            text,
            resets: has_reset(unit),
            files: rtl.files(&design)?,
            free: harness.circuit.free,
            cycles: harness.circuit.cycles,
            apart: harness.circuit.apart,
            chosen: false,
        })
    }

    /// The Verilog of the circuit.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Leaves out all properties but these.
    pub fn retain(&mut self, properties: &[String]) {
        let wanted = |goal: &Goal| properties.iter().any(|name| goal.name() == name);
        self.goals.checked.retain(wanted);
        self.chosen = true;
    }

    /// The parameters of the machine that matter to the proof, and the invariants.
    pub fn covered(&self) -> String {
        let parameter = |(name, value): &(String, usize)| match name.strip_prefix("W_") {
            Some(port) => format!("{port} of {value} bits"),
            None => format!("{name}={value}"),
        };
        let parameters: Vec<_> = self.parameters.iter().map(parameter).collect();
        parameters.join(" ")
    }

    /// Proves every property, within `timeout` in all.
    pub fn run(&self, yosys: &Tool, timeout: Duration) -> Result<Vec<Proved>> {
        let session = Session {
            circuit: self,
            yosys,
            end: Instant::now() + timeout,
            timeout,
        };
        let start = Instant::now();
        let outcomes = session.outcomes()?;
        // All questions are asked in one run.
        let seconds = start.elapsed().as_secs_f64() / outcomes.len().max(1) as f64;
        let named = self.goals.checked.iter().zip(outcomes);
        Ok(named
            .map(|(goal, outcome)| Proved {
                property: goal.name().to_owned(),
                outcome,
                seconds,
            })
            .collect())
    }

    /// `option signal 1` for every one of `goals`.
    fn all(option: &str, goals: &[Goal]) -> String {
        let each = goals.iter().map(|g| format!(" {option} {} 1", g.signal));
        each.collect()
    }

    fn assumed(&self) -> String {
        Self::all("-set", &self.goals.assumed)
    }

    /// The first of the cycles is a reset.
    fn reset(&self) -> &'static str {
        if self.resets { " -set-at 1 rst 1" } else { "" }
    }

    /// A run in which the goal is reached.
    fn reach(&self, goal: &Goal) -> String {
        let cycles = reach_cycles(goal);
        format!(
            "-seq {cycles}{}{} -set-at {cycles} {} 1 -show {}",
            self.assumed(),
            self.reset(),
            goal.signal,
            goal.signal
        )
    }

    /// Question whether invariants or properties hold in the cycle after a reset.
    fn base(&self, proved: &[Goal]) -> String {
        let proved = Self::all("-prove", proved);
        let (assumed, reset) = (self.assumed(), self.reset());
        format!("-seq 2{assumed}{reset} -prove-skip 1{proved} -show-outputs")
    }

    /// Question whether invariants follow from all in the cycle before.
    fn step(&self, kept: &[Goal]) -> String {
        let before = Self::all("-set-at 1", &self.goals.kept);
        let after = Self::all("-prove", kept);
        let assumed = self.assumed();
        format!("-seq 2{assumed}{before} -prove-skip 1{after} -show-outputs")
    }

    /// `goals` as the solver is asked about them: each by itself, or all at once.
    fn asked<'a>(&self, goals: &'a [Goal]) -> std::slice::Chunks<'a, Goal> {
        goals.chunks(if self.apart { 1 } else { goals.len().max(1) })
    }

    /// Properties follow from the invariants.
    fn follow(&self, proved: &[Goal]) -> String {
        let kept = Self::all("-set", &self.goals.kept);
        let proved = Self::all("-prove", proved);
        let assumed = self.assumed();
        format!("-seq 2{assumed}{kept} -prove-skip 1{proved} -show-outputs")
    }

    /// Properties hold in all cycles after a reset, as far as one looks.
    fn bounded(&self, proved: &[Goal], cycles: u32) -> String {
        let proved = Self::all("-prove", proved);
        let (assumed, reset) = (self.assumed(), self.reset());
        format!("-seq {cycles}{assumed}{reset} -prove-skip 1{proved} -show-inputs -show-outputs")
    }
}

/// The questions about one circuit, one run after the other.
struct Session<'a> {
    circuit: &'a Induction,
    yosys: &'a Tool,
    end: Instant,
    timeout: Duration,
}

/// Why a session has no answer.
enum Unanswered {
    /// The solver did not answer in time.
    TimedOut,
    Failed(Error),
}

impl From<Error> for Unanswered {
    fn from(e: Error) -> Self {
        Unanswered::Failed(e)
    }
}

type Answered<T> = std::result::Result<T, Unanswered>;

impl Session<'_> {
    fn outcomes(&self) -> Result<Vec<Outcome>> {
        let checked = &self.circuit.goals.checked;
        match self.judge() {
            Ok(outcomes) => Ok(outcomes),
            Err(Unanswered::TimedOut) => {
                let outcome = Outcome::timed_out(self.timeout.as_secs());
                Ok(vec![outcome; checked.len()])
            }
            Err(Unanswered::Failed(e)) => Err(e),
        }
    }

    fn judge(&self) -> Answered<Vec<Outcome>> {
        let goals = &self.circuit.goals;
        let (kept, checked, circuit) = (&goals.kept, &goals.checked, self.circuit);
        // For a few properties, a short counterexample is found long before all
        // invariants are checked one by one.
        if circuit.apart && circuit.chosen {
            let shortest = &self.lengths()[..1];
            if let Some(outcomes) = self.disproved(shortest)? {
                return Ok(outcomes);
            }
        }
        let both = [&kept[..], &checked[..]].concat();
        let base = circuit.asked(&both).map(|goals| circuit.base(goals));
        let step = circuit.asked(kept).map(|goals| circuit.step(goals));
        let mut questions: Vec<String> = base.chain(step).collect();
        let about_invariants = questions.len();
        let follow = circuit.asked(checked).map(|goals| circuit.follow(goals));
        questions.extend(follow);
        let answers = self.ask(&questions)?;
        let hold = |answers: &[Answer]| answers.iter().all(|a| *a == Answer::None);
        if hold(&answers) {
            return self.if_reached(vec![Outcome::Proved; checked.len()]);
        }
        let (invariants, follow) = answers.split_at(about_invariants);
        self.one_by_one(hold(invariants), follow)
    }

    /// `outcomes`, but nothing is proved if there is nothing that could happen.
    fn if_reached(&self, outcomes: Vec<Outcome>) -> Answered<Vec<Outcome>> {
        let covered = &self.circuit.goals.covered;
        let questions: Vec<String> = covered.iter().map(|g| self.circuit.reach(g)).collect();
        let answers = self.ask(&questions)?;
        let mut reached = covered.iter().zip(answers);
        let unreached = reached.find(|(_, a)| *a == Answer::None);
        let Some((goal, _)) = unreached else {
            return Ok(outcomes);
        };
        let (about, cycles) = (&goal.about, reach_cycles(goal));
        let reason =
            format!("the proof would be vacuous: '{about}' is not reached in {cycles} cycles");
        let outcome = |o| match o {
            Outcome::Proved => Outcome::Unknown(reason.clone()),
            other => other,
        };
        Ok(outcomes.into_iter().map(outcome).collect())
    }

    /// The result for each property, if not all are proved at once. `invariant`: the
    /// invariants hold, and the properties hold after a reset; `follow`: the answers
    /// to whether each property follows.
    fn one_by_one(&self, invariant: bool, follow: &[Answer]) -> Answered<Vec<Outcome>> {
        let checked = &self.circuit.goals.checked;
        if let Some(outcomes) = self.disproved(&self.lengths())? {
            return Ok(outcomes);
        }
        if !invariant {
            return Ok(vec![self.undecided(); checked.len()]);
        }
        if self.circuit.apart {
            return self.if_each_follows(follow);
        }
        let alone = checked.chunks(1).map(|goal| self.circuit.follow(goal));
        let follow = self.ask(&alone.collect::<Vec<_>>())?;
        self.if_each_follows(&follow)
    }

    fn undecided(&self) -> Outcome {
        let cycles = self.circuit.cycles - 1;
        Outcome::Unknown(format!(
            "no proof by induction, and no counterexample within {cycles} cycles after a reset"
        ))
    }

    /// The properties that follow from the invariants are proved.
    fn if_each_follows(&self, follow: &[Answer]) -> Answered<Vec<Outcome>> {
        let outcome = |answer: &Answer| match answer {
            Answer::None => Outcome::Proved,
            Answer::Found(_) => self.undecided(),
        };
        self.if_reached(follow.iter().map(outcome).collect())
    }

    /// Lengths in cycles of the counterexamples to look for, the shortest first.
    fn lengths(&self) -> Vec<u32> {
        let last = self.circuit.cycles;
        let first = CYCLES.into_iter().filter(|c| *c < last);
        first.chain([last]).collect()
    }

    /// The violated properties in a run of one of these lengths, if there are any.
    fn disproved(&self, lengths: &[u32]) -> Answered<Option<Vec<Outcome>>> {
        let run = self.counterexample(lengths)?;
        if run.is_empty() {
            return Ok(None);
        }
        let outcome = |goal| match violation(goal, &run) {
            Some(example) => Outcome::Disproved(example),
            None => Outcome::Unknown("not examined: another property is disproved".to_owned()),
        };
        Ok(Some(
            self.circuit.goals.checked.iter().map(outcome).collect(),
        ))
    }

    /// A short run that violates a property; empty if there is none.
    fn counterexample(&self, lengths: &[u32]) -> Answered<Vec<Value>> {
        for &cycles in lengths {
            let question = self.circuit.bounded(&self.circuit.goals.checked, cycles);
            let answers = self.ask(&[question])?;
            if let Some(Answer::Found(run)) = answers.into_iter().next() {
                return Ok(run);
            }
        }
        Ok(Vec::new())
    }

    /// The answers to `questions`, if there is time for them.
    fn ask(&self, questions: &[String]) -> Answered<Vec<Answer>> {
        let circuit = self.circuit;
        let parameters = circuit.parameters.iter();
        let parameters: Vec<_> = parameters.map(|(name, v)| format!("{name} {v}")).collect();
        let script = render(
            "induction.ys.tera",
            &json!({
                "unit": circuit.unit,
                "parameters": parameters,
                "free": circuit.free,
                "questions": questions,
            }),
        )?;
        let run = Run {
            rtl: &circuit.files,
            miter: &circuit.text,
            script: &script,
            questions: questions.len(),
        };
        let left = self.end.saturating_duration_since(Instant::now());
        match run.ask(self.yosys, left.max(Duration::from_millis(1))) {
            Ok(Reply::Answers(answers)) => Ok(answers),
            Ok(Reply::TimedOut(_)) => Err(Unanswered::TimedOut),
            Err(Error::ToolFailed {
                failure: Failure::Status { log },
                ..
            }) if log.contains(NO_REGISTER) => Err(self.no_register().into()),
            Err(e) => Err(e.into()),
        }
    }

    /// The invariants speak of registers by name.
    fn no_register(&self) -> Error {
        let names = self.circuit.text.split("\\unit.").skip(1);
        let mut names: Vec<&str> = names.filter_map(|r| r.split_whitespace().next()).collect();
        names.sort_unstable();
        names.dedup();
        Error::usage(
            format!(
                "{} does not have the registers of the unit",
                self.circuit.unit
            ),
            format!(
                "a proof needs the registers under the names of the emitted Verilog ({})",
                names.join(", ")
            ),
        )
    }
}

/// Yosys' message if a register does not exist.
const NO_REGISTER: &str = "Assertion failed: selection is not empty: a:hierconn";

/// The run as a counterexample to `goal`, if it is one.
fn violation(goal: &Goal, values: &[Value]) -> Option<Counterexample> {
    let fails = |v: &&Value| v.name == goal.signal && v.cycle > 1 && v.is_zero();
    let first = values.iter().filter(fails).map(|v| v.cycle).min()?;
    // Inputs up to there: they are the run. The rest follows from them.
    let matters = |v: &&Value| v.cycle <= first && !is_goal(&v.name);
    let run = values.iter().filter(|v| v.cycle <= first);
    let values: Vec<Value> = values.iter().filter(matters).cloned().collect();
    Some(Counterexample {
        violates: format!("{} (cycle {first})", goal.about),
        values: by_name(&values),
        run: run.cloned().collect(),
    })
}

fn is_goal(name: &str) -> bool {
    ["assume_", "keep_", "check_", "cover_"]
        .iter()
        .any(|kind| name.starts_with(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_a_counterexample_from_the_cycle_behind_the_reset() {
        let value = |cycle, name: &str, bits: &str| Value {
            cycle,
            name: name.to_owned(),
            bits: bits.to_owned(),
        };
        let goal = Goal {
            signal: "check_x".to_owned(),
            cycles: None,
            about: "x holds".to_owned(),
        };
        let run = [
            value(1, "check_x", "0"),
            value(2, "check_x", "1"),
            value(3, "check_x", "0"),
            value(3, "in", "101"),
            value(4, "in", "110"),
        ];
        assert_eq!(violation(&goal, &run[..2]), None);
        let example = violation(&goal, &run).unwrap();
        assert_eq!(example.violates, "x holds (cycle 3)");
        assert_eq!(example.values.len(), 1);
        // The run includes the cycle in which the property is violated.
        assert_eq!(example.run.len(), 4);
    }
}
