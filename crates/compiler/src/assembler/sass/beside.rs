//! The instructions that execute for the same lanes as a load, and that ptxas cannot have
//! moved: they tell where in the PTX the load stands now.

use std::collections::HashSet;

/// An instruction that executes for the same lanes as an access, by its line of the PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// 1-based line of the PTX.
    pub line: u32,
    /// The kind that the instruction of the PTX has if the line is its own.
    pub kind: BesideKind,
}

/// What ptxas does not move to other lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BesideKind {
    /// A store to any memory.
    Store,
    /// An atomic.
    Atomic,
    /// A barrier.
    Barrier,
    /// A conditional branch or exit, whatever its guard is.
    Branch,
    /// An exchange among the lanes of a warp.
    Warp,
    /// A computation by the loaded value, under the guard of the load.
    Use,
}

/// The instructions of a listing.
#[derive(Default)]
pub(super) struct Listed(Vec<Instruction>);

struct Instruction {
    at: u32,
    line: u32,
    guard: String,
    opcode: String,
    operands: Vec<String>,
    is_conditional: bool,
}

impl Instruction {
    fn ends_block(&self) -> bool {
        let ends = [
            "BRA", "EXIT", "RET", "BRX", "JMP", "JMX", "BSYNC", "CALL", "WARPSYNC", "YIELD",
        ];
        ends.contains(&self.opcode.as_str())
    }

    fn kind(&self) -> Option<BesideKind> {
        Some(match self.opcode.as_str() {
            "STG" | "STS" | "ST" | "STL" => BesideKind::Store,
            "ATOMS" | "ATOMG" | "ATOM" | "RED" | "REDG" => BesideKind::Atomic,
            "BAR" => BesideKind::Barrier,
            "BRA" | "EXIT" if self.is_conditional => BesideKind::Branch,
            "SHFL" | "VOTE" | "MATCH" => BesideKind::Warp,
            _ => return None,
        })
    }

    /// Whether it may write a register or predicate.
    fn writes(&self, name: &str) -> bool {
        self.operands.iter().take(3).any(|o| o == name)
    }

    fn reads(&self, register: &str) -> bool {
        let named = |o: &String| {
            let mut words = o.split(|c: char| !c.is_ascii_alphanumeric());
            words.any(|word| word == register)
        };
        self.operands.iter().skip(1).any(named)
    }
}

impl Listed {
    /// Adds the next instruction: its guard, its opcode and its operands.
    pub fn add(&mut self, at: u32, line: u32, (guard, opcode, operands): (&str, &str, &str)) {
        let condition = operands.split('`').next().unwrap_or_default();
        let condition = condition.trim().trim_end_matches(',');
        self.0.push(Instruction {
            at,
            line,
            guard: guard.to_owned(),
            opcode: opcode.to_owned(),
            is_conditional: !guard.is_empty() || opcode == "BRA" && !condition.is_empty(),
            operands: operands
                .split(',')
                .map(|o| o.trim().trim_end_matches(".reuse").to_owned())
                .collect(),
        });
    }

    /// The instructions that execute for the lanes of the load at a byte. Places of labels
    /// begin blocks.
    pub fn beside(&self, at: u32, labels: &HashSet<u32>) -> Vec<Beside> {
        let Ok(own) = self.0.binary_search_by_key(&at, |i| i.at) else {
            return Vec::new();
        };
        let mut start = own;
        while start > 0 && !labels.contains(&self.0[start].at) && !self.0[start - 1].ends_block() {
            start -= 1;
        }
        let rest = &self.0[own + 1..];
        let is_next = |i: &Instruction| labels.contains(&i.at);
        let stop = rest.iter().position(is_next).unwrap_or(rest.len());
        let last = rest.iter().position(Instruction::ends_block);
        let end = own + 1 + last.map_or(stop, |last| stop.min(last + 1));
        let load = &self.0[own];
        if load.guard.is_empty() {
            unguarded(&self.0[start..end])
        } else {
            guarded(&self.0[start..own], load, &self.0[own + 1..end])
        }
    }
}

/// What all lanes execute that come to a block.
fn unguarded(block: &[Instruction]) -> Vec<Beside> {
    let beside = |i: &Instruction| {
        let kind = i.kind()?;
        let is_reached = i.guard.is_empty() || kind == BesideKind::Branch;
        (is_reached && i.line != 0).then_some(Beside { line: i.line, kind })
    };
    block.iter().filter_map(beside).collect()
}

/// What the lanes execute for which the guard of the load is true: without an instruction that
/// cannot be moved, the last ones that compute by the value.
fn guarded(before: &[Instruction], load: &Instruction, behind: &[Instruction]) -> Vec<Beside> {
    let predicate = load.guard.trim_start_matches('!');
    let is_kept = |i: &&Instruction| !i.writes(predicate);
    let of_guard = |i: &&Instruction| i.guard == load.guard && i.line != 0;
    let all = before.iter().rev().take_while(is_kept);
    let all = all.chain(behind.iter().take_while(is_kept));
    let fixed = all.filter(of_guard).filter_map(|i| {
        let kind = i.kind().filter(|kind| *kind != BesideKind::Branch)?;
        Some(Beside { line: i.line, kind })
    });
    let fixed: Vec<Beside> = fixed.collect();
    if !fixed.is_empty() {
        return fixed;
    }
    uses(load, behind.iter().take_while(is_kept)).unwrap_or_default()
}

/// The instructions that compute by the value of a load, and whose result no other one of the
/// guard reads. None if one without the guard reads the value.
fn uses<'a>(
    load: &Instruction,
    behind: impl Iterator<Item = &'a Instruction>,
) -> Option<Vec<Beside>> {
    let mut open: Vec<(String, u32)> = vec![(load.operands.first()?.clone(), 0)];
    for i in behind {
        let read = open.iter().any(|(register, _)| i.reads(register));
        if !read {
            continue;
        }
        if i.guard != load.guard {
            return None;
        }
        open.retain(|(register, _)| !i.reads(register));
        open.push((i.operands.first()?.clone(), i.line));
    }
    let kind = BesideKind::Use;
    let beside = |(_, line): &(String, u32)| (*line != 0).then_some(Beside { line: *line, kind });
    open.iter().map(beside).collect()
}
