//! One run of Yosys' SAT solver: files, a script with questions, answers.

use crate::error::{Error, Failure, Result};
use crate::output::Scratch;
use crate::rtl::{SourceFile, with_origins};
use crate::tool::{Tool, ToolKind, ToolOutput, unexpected_output};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// The value of a signal in one clock cycle (from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The cycle.
    pub cycle: u32,
    /// The signal.
    pub name: String,
    /// Bits of the value, the most significant first.
    pub bits: String,
}

impl Value {
    pub(super) fn is_zero(&self) -> bool {
        !self.bits.contains('1')
    }
}

/// The solver's answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Values that make the question's constraints true.
    Found(Vec<Value>),
    /// No solution exists.
    None,
}

/// The result of a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// One answer for each question.
    Answers(Vec<Answer>),
    /// The time-out expired, after this many seconds.
    TimedOut(u64),
}

/// The inputs of a run.
pub(super) struct Run<'a> {
    /// The RTL, in the folder `rtl`.
    pub rtl: &'a [SourceFile],
    /// Verilog of the module `miter`, in `miter.v`.
    pub miter: &'a str,
    /// The script. Each question follows a line `log spadkit-step`.
    pub script: &'a str,
    /// Number of questions.
    pub questions: usize,
}

/// Marks the start of a question's part of the log.
const MARKER: &str = "spadkit-step ";

impl Run<'_> {
    /// Asks all questions; gives up after `timeout`.
    pub fn ask(&self, yosys: &Tool, timeout: Duration) -> Result<Reply> {
        let work = Scratch::new()?;
        self.write(work.dir())?;
        let start = Instant::now();
        let command = yosys.command().args(["-Q", "-T", "-s", "prove.ys"]);
        match command.cwd(work.dir()).timeout(timeout).run() {
            Ok(output) => answers(self.questions, &output).map(Reply::Answers),
            // The time-out is its own, or the user's for all tools.
            Err(Error::ToolFailed {
                failure: Failure::TimedOut,
                ..
            }) => Ok(Reply::TimedOut(start.elapsed().as_secs())),
            Err(e) => Err(with_origins(e, self.rtl)),
        }
    }

    fn write(&self, work: &Path) -> Result<()> {
        let rtl = work.join("rtl");
        std::fs::create_dir(&rtl).map_err(|e| Error::io("create", &rtl, e))?;
        let put = |path: &Path, text: &str| {
            std::fs::write(path, text).map_err(|e| Error::io("write", path, e))
        };
        for file in self.rtl {
            put(&rtl.join(&file.name), &file.text)?;
        }
        put(&work.join("miter.v"), self.miter)?;
        put(&work.join("prove.ys"), self.script)
    }
}

/// The answers in the log, which must be as many as the questions.
fn answers(questions: usize, output: &ToolOutput) -> Result<Vec<Answer>> {
    let parts: Vec<&str> = output.stdout.split(MARKER).skip(1).collect();
    if parts.len() != questions {
        let what = "did not finish a proof";
        return Err(unexpected_output(ToolKind::Yosys, what, output));
    }
    let answer = |log: &&str| {
        parse_answer(log)
            .ok_or_else(|| unexpected_output(ToolKind::Yosys, "did not answer a question", output))
    };
    parts.iter().map(answer).collect()
}

/// Parses the solver's part of the log.
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
        let bits = bits.to_owned();
        is_binary.then_some(Value { cycle, name, bits })
    };
    Some(Answer::Found(log.lines().filter_map(row).collect()))
}

/// Signals by name, with the cycle if there is more than one.
pub(super) fn by_name(values: &[Value]) -> BTreeMap<String, String> {
    let cycles = values.iter().map(|v| v.cycle).max().unwrap_or(1);
    let named = |v: &Value| match cycles {
        1 => (v.name.clone(), hexadecimal(&v.bits)),
        _ => (
            format!("{} (cycle {})", v.name, v.cycle),
            hexadecimal(&v.bits),
        ),
    };
    values.iter().map(named).collect()
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
    if out.is_empty() {
        "0x0".to_owned()
    } else {
        format!("0x{out}")
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
        let Some(Answer::Found(values)) = parse_answer(failed) else {
            panic!("{failed}");
        };
        let expected = [("addr", "0x637"), ("k", "0x0")];
        let expected = expected.map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(by_name(&values), expected.into());
        assert_eq!(parse_answer("Solving problem with 4 variables"), None);
    }

    #[test]
    fn a_log_without_an_answer_is_an_error() {
        let output = |stdout: &str| ToolOutput {
            stdout: stdout.to_owned(),
            stderr: String::new(),
        };
        let log = format!("{MARKER}0\nSAT solving finished - no model found.\n");
        assert_eq!(answers(1, &output(&log)).unwrap(), [Answer::None]);
        assert!(answers(2, &output(&log)).is_err());
        assert!(answers(1, &output(&format!("{MARKER}0\ninterrupted\n"))).is_err());
    }

    #[test]
    fn bits_as_hexadecimal() {
        assert_eq!(hexadecimal("0000"), "0x0");
        assert_eq!(hexadecimal("0111110000"), "0x1f0");
    }
}
