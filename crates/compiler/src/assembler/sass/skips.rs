//! Instructions that a branch, an exit or a guard behind a barrier may leave out.
//!
//! No access to shared memory moves across a barrier, so the last barrier before an
//! access is where it was in the PTX, too.

use std::collections::HashMap;

/// The barriers of a listing, and what may leave instructions behind them out.
#[derive(Default)]
pub(super) struct Skips {
    /// By first byte, in order.
    all: Vec<(u32, Kind)>,
}

enum Kind {
    Function,
    /// A barrier, with the line of the PTX.
    Barrier(u32),
    /// Lanes or warps may leave here: to a label, or for good.
    Leave(Option<String>),
    /// An instruction that only some lanes execute.
    Guarded,
}

impl Skips {
    /// A function begins with the next instruction.
    pub fn begin_function(&mut self, at: u32) {
        self.all.push((at, Kind::Function));
    }

    /// Reads an instruction: its guard, its name and its operands.
    pub fn instruction(&mut self, at: u32, line: u32, (guard, name, operands): (&str, &str, &str)) {
        let opcode = name.split('.').next().unwrap_or(name);
        let (condition, label) = match operands.split_once("`(") {
            Some((before, label)) => (before.trim(), label.split(')').next()),
            None => ("", None),
        };
        // The code of diverged warps returns.
        let returns = name.contains(".DIV") || name.contains(".CONV");
        let kind = match opcode {
            "BAR" if guard.is_empty() => Kind::Barrier(line),
            "BRA" if returns => return,
            "BRA" if !guard.is_empty() || !condition.is_empty() => {
                Kind::Leave(label.map(str::to_owned))
            }
            "EXIT" | "RET" if !guard.is_empty() => Kind::Leave(None),
            "LDS" if !guard.is_empty() => Kind::Guarded,
            _ => return,
        };
        self.all.push((at, kind));
    }

    /// The line of the last barrier before the instruction at a byte, if something between
    /// the two may leave that out. The branches have their labels, and these their places.
    pub fn since(
        &self,
        at: u32,
        (branches, labels): (&[(u32, String)], &HashMap<String, u32>),
    ) -> Option<u32> {
        let mut is_left_out = false;
        for (place, kind) in self.all.iter().rev().skip_while(|(place, _)| *place > at) {
            match kind {
                Kind::Function => return None,
                Kind::Barrier(line) => return is_left_out.then_some(*line),
                Kind::Guarded => is_left_out |= *place == at,
                Kind::Leave(to) => {
                    let to = to.as_ref().map(|label| labels.get(label));
                    let is_over = to.is_none_or(|to| to.is_some_and(|to| *to > at));
                    // Those that leave come back, or others come from before.
                    let joins = |(from, label): &(u32, String)| {
                        let to = labels.get(label);
                        from < place && to.is_some_and(|to| (*place + 1..=at).contains(to))
                    };
                    is_left_out |= is_over && !branches.iter().any(joins);
                }
            }
        }
        None
    }
}
