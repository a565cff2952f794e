//! Outcome of a launch, summed over its blocks.

use super::api::{Finding, FindingKind, Launch, Outcome};
use super::block::BlockOutcome;
use super::image::Image;
use super::image::form::{Form, Op};
use super::machine::RawFinding;
use super::machine::pairs::{Key, PairOverBlocks};
use super::race_report::reported;
use crate::ast::Module;
use spadkit_base::quote::shown_lines;
use std::collections::{BTreeMap, HashSet};
use std::io::Write;

/// The outcome of the blocks so far.
#[derive(Default)]
pub(super) struct Sum {
    outcome: Outcome,
    findings: Vec<(u64, RawFinding)>,
    known: HashSet<(FindingKind, u32, bool)>,
    races: BTreeMap<Key, PairOverBlocks>,
    /// Number of blocks, in order, whose output has been printed; and number of blocks that
    /// have come.
    printed: u64,
    come: u64,
}

impl Sum {
    /// Takes a block's outcome; blocks are added in an order that is the same in
    /// every run.
    pub fn add(&mut self, block: u64, outcome: BlockOutcome) {
        self.outcome.warp_instructions += outcome.warp_instructions;
        self.outcome.thread_instructions += outcome.thread_instructions;
        self.outcome.shared_accesses += outcome.shared_accesses;
        self.come += 1;
        if !outcome.output.is_empty() && self.come > self.printed {
            // What a kernel prints does not steer the terminal. Nothing can be
            // done about a closed standard error.
            let text = String::from_utf8_lossy(&outcome.output);
            let _ = std::io::stderr().write_all(shown_lines(&text).as_bytes());
        }
        self.printed = self.printed.max(self.come);
        for (key, pair) in outcome.pairs {
            let words = pair.places.iter().map(|at| at / 4);
            let count = words.collect::<HashSet<u64>>().len() as u64;
            let warps = pair.warps;
            let raced = self.races.entry(key).or_insert_with(|| PairOverBlocks {
                block,
                pair,
                count: 0,
            });
            raced.count += count;
            raced.pair.warps = raced.pair.warps.and(warps);
        }
        let mut findings = outcome.findings.into_iter().peekable();
        while let Some(finding) = findings.next() {
            let second = findings.next_if(|f| f.other);
            if self
                .known
                .insert((finding.kind, finding.pc, finding.warning))
            {
                self.findings.push((block, finding));
                self.findings.extend(second.map(|f| (block, f)));
            }
        }
    }

    /// A sum for another run of the same blocks: what is printed stays printed.
    pub fn anew(self) -> Self {
        Sum {
            printed: self.printed,
            ..Sum::default()
        }
    }

    /// The outcome of all blocks.
    pub fn outcome(self, module: &Module, image: &Image, launch: &Launch) -> Outcome {
        let named = |(block, raw)| named(module, image, launch, block, raw);
        let findings = self.findings.into_iter().map(named);
        let races = reported(
            self.races,
            &|block, raw| named((block, raw)),
            (module, image),
        );
        Outcome {
            findings: findings.chain(races).collect(),
            ..self.outcome
        }
    }
}

/// A finding with its place, of a block.
pub(super) fn named(
    module: &Module,
    image: &Image,
    launch: &Launch,
    block: u64,
    raw: RawFinding,
) -> Finding {
    let [gx, gy, _] = launch.grid.map(u64::from);
    let [bx, by, _] = launch.block;
    let source = image.sources.get(raw.pc as usize);
    let t = raw.thread;
    let block = raw.block.unwrap_or(block);
    let info = image.infos.get(raw.pc as usize);
    let function = info.map(|i| &module.functions[i.function as usize]);
    let instruction = info.zip(function);
    let instruction = instruction.and_then(|(i, f)| f.instructions.get(i.instruction as usize));
    let inlined_at = function
        .zip(instruction)
        .map_or_else(Vec::new, |(f, i)| module.inlined_at(f, i));
    let mut lines: Vec<String> = source
        .and_then(|&s| image.source_names.get(s as usize).cloned())
        .into_iter()
        .chain(inlined_at)
        .collect();
    lines.extend(calls(module, image, raw.pc));
    let mut lines = lines.into_iter();
    Finding {
        kind: raw.kind,
        warning: raw.warning,
        other: raw.other,
        ptx_line: info.map_or(0, |i| i.line),
        ptx_file: function.and_then(|f| module.file_of(f.span).map(str::to_owned)),
        source: lines.next(),
        inlined_at: lines.collect(),
        block: [block % gx, block / gx % gy, block / (gx * gy)].map(|i| i as u32),
        thread: [t % bx, t / bx % by, t / (bx * by)],
        address: raw.address,
        variable: raw.variable,
        message: raw.message,
        count: None,
        barrier: None,
        wait: None,
        warp_barrier: None,
        atomic: false,
        fence: None,
        scope: None,
    }
}

/// The lines of the calls through which an instruction is reached, the innermost first, as
/// far as each function has one call.
fn calls(module: &Module, image: &Image, pc: u32) -> Vec<String> {
    let mut lines = Vec::new();
    let mut own = image.infos.get(pc as usize).map(|i| i.function);
    // There is no recursion.
    while let Some(function) = own {
        let to = |op: &Op| match op.form {
            Form::Call { call } => {
                let call = &image.calls[call as usize];
                call.callees.iter().any(|c| c.function == function)
            }
            _ => false,
        };
        let mut sites = image.ops.iter().enumerate().filter(|(_, op)| to(op));
        let (Some((at, _)), None) = (sites.next(), sites.next()) else {
            break;
        };
        let Some(info) = image.infos.get(at) else {
            break;
        };
        let caller = &module.functions[info.function as usize];
        if let Some(call) = caller.instructions.get(info.instruction as usize) {
            lines.extend(module.source(caller, call));
            lines.extend(module.inlined_at(caller, call));
        }
        own = Some(info.function);
    }
    lines
}
