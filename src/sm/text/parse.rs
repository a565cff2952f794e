//! From a text to the programs of the warps.

use super::expr::{Env, Expr, Scanner, Wrong, wrong};
use crate::error::{Error, Result};
use crate::sm::instr::{Addresses, Instr, InstrKind, KernelInfo, Sources};
use crate::sm::workload::{ProgramStream, Workload};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most turns of all `repeat`s around an instruction.
const MAX_TURNS: u64 = 1 << 32;
/// Instructions of a part.
const PART: usize = 1024;
/// Instructions of each warp that are checked when the text is read.
const CHECKED: usize = 4096;

const ATOMICS: [&str; 9] = [
    "add", "and", "or", "xor", "exch", "umin", "umax", "smin", "smax",
];

/// One line of a program.
#[derive(Clone, Debug)]
enum Line {
    Instr(Box<Template>),
    Repeat { turns: u64, end: usize },
    End,
}

/// An instruction whose addresses are still expressions.
#[derive(Clone, Debug)]
struct Template {
    instr: Instr,
    mask: Option<u64>,
    address: Option<Expr>,
    /// Byte of the text, for messages.
    at: usize,
}

/// A section of lines for some warps.
#[derive(Clone, Debug)]
struct Section {
    blocks: Option<(u64, u64)>,
    warps: Option<(u64, u64)>,
    lines: Vec<Line>,
}

/// A `.warp` text: the programs of all warps of a kernel.
#[derive(Clone, Debug)]
pub struct WarpText {
    path: PathBuf,
    text: String,
    info: KernelInfo,
    sections: Vec<Section>,
}

impl WarpText {
    /// Reads a text and checks the beginning of the first block's programs.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let offset = e.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(e.as_bytes()).into_owned();
            let help = Some("expected a program text (docs/formats.md)".to_owned());
            Error::input("this is no UTF-8 text", help, path, &text, offset)
        })?;
        Self::parse(&text, path)
    }

    /// Parses a text; `path` is for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let name = path.file_stem().map(|s| s.to_string_lossy().into_owned());
        let mut parser = Parser {
            info: KernelInfo {
                name: name.unwrap_or_default(),
                source: path.display().to_string(),
                block_dim: [32, 1, 1],
                blocks: 1,
                shared_bytes: 0,
                warp_size: 32,
                registers: 0,
            },
            sections: Vec::new(),
            open: Vec::new(),
            pc: 0,
        };
        let fail = |w: Wrong| Error::input(w.what, Some(w.help.to_owned()), path, text, w.at);
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let code = line.split('#').next().unwrap_or("").trim_end();
            parser
                .line(Scanner::new(text, start, start + code.len()))
                .map_err(fail)?;
            start += line.len();
        }
        parser.close().map_err(fail)?;
        let parsed = WarpText {
            path: path.to_owned(),
            text: text.to_owned(),
            info: parser.info,
            sections: parser.sections,
        };
        // The rest, and later blocks, are checked when they run.
        for warp in 0..parsed.info.warps() {
            parsed.part(&mut parsed.walk(0, warp), CHECKED)?;
        }
        Ok(parsed)
    }

    fn walk(&self, block: u32, warp: u32) -> Walk<'_> {
        let within = |range: Option<(u64, u64)>, x: u32| {
            range.is_none_or(|(from, to)| (from..=to).contains(&u64::from(x)))
        };
        let for_warp = |s: &&Section| within(s.blocks, block) && within(s.warps, warp);
        let sections = self.sections.iter().filter(for_warp);
        Walk {
            info: &self.info,
            sections: sections.map(|s| &s.lines[..]).collect(),
            at: 0,
            loops: Vec::new(),
            env: Env {
                warp: i64::from(warp),
                block: i64::from(block),
                ..Env::default()
            },
            mask: self.info.warp_mask(warp),
        }
    }

    /// The next instructions of a walk.
    fn part(&self, walk: &mut Walk, most: usize) -> Result<Vec<Instr>> {
        let mut part = Vec::new();
        while part.len() < most {
            let next = walk.next().map_err(|w| {
                let help = Some(w.help.to_owned());
                Error::input(w.what, help, &self.path, &self.text, w.at)
            })?;
            match next {
                Some(instr) => part.push(instr),
                None => break,
            }
        }
        Ok(part)
    }
}

/// The program of one warp, written out as it is needed.
struct WarpWalk<'a> {
    text: &'a WarpText,
    walk: Walk<'a>,
}

impl ProgramStream for WarpWalk<'_> {
    fn next_part(&mut self) -> Result<Option<Arc<[Instr]>>> {
        let part = self.text.part(&mut self.walk, PART)?;
        Ok((!part.is_empty()).then(|| part.into()))
    }
}

impl Workload for WarpText {
    fn info(&self) -> &KernelInfo {
        &self.info
    }

    fn open(&self, block: u32, warp: u32) -> Result<Box<dyn ProgramStream + '_>> {
        Ok(Box::new(WarpWalk {
            text: self,
            walk: self.walk(block, warp),
        }))
    }
}

/// A `repeat` whose `end` has not come.
struct Open {
    line: usize,
    /// Byte of the text.
    at: usize,
    /// Turns of this one and of those around it.
    turns: u64,
}

struct Parser {
    info: KernelInfo,
    sections: Vec<Section>,
    /// The `repeat`s that are open.
    open: Vec<Open>,
    pc: u32,
}

impl Parser {
    fn line(&mut self, mut scan: Scanner) -> Result<(), Wrong> {
        let at = scan.at;
        if scan.rest().is_empty() {
            return Ok(());
        }
        match scan.peek() {
            Some(b'.') => self.directive(&mut scan, at)?,
            _ => self.statement(&mut scan, at)?,
        }
        match scan.rest().is_empty() {
            true => Ok(()),
            false => wrong(
                scan.at,
                format!("'{}' is left over", scan.rest()),
                "expected the end of the line; # begins a comment",
            ),
        }
    }

    fn directive(&mut self, scan: &mut Scanner, at: usize) -> Result<(), Wrong> {
        let name = scan.word();
        if !self.sections.is_empty() {
            return wrong(
                at,
                format!("{name} stands behind an instruction"),
                "directives come first",
            );
        }
        let number = |scan: &mut Scanner| -> Result<u32, Wrong> {
            let at = scan.at;
            u32::try_from(scan.number()?).or_else(|_| {
                wrong(
                    at,
                    "the number is too large",
                    "expected a number below 2^32",
                )
            })
        };
        let info = &mut self.info;
        match name {
            ".name" => {
                info.name = scan.rest().to_owned();
                scan.at = scan.end;
            }
            ".block" => {
                info.block_dim = [number(scan)?, 1, 1];
                for dim in 1..3 {
                    if !scan.rest().is_empty() {
                        info.block_dim[dim] = number(scan)?;
                    }
                }
            }
            ".grid" => info.blocks = number(scan)?,
            ".shared" => info.shared_bytes = number(scan)?,
            ".registers" => info.registers = number(scan)?,
            ".warp_size" => info.warp_size = number(scan)?,
            _ => {
                return wrong(
                    at,
                    format!("there is no directive '{name}'"),
                    "directives are .name, .block, .grid, .shared, .registers, .warp_size",
                );
            }
        }
        match info.problem() {
            Some((what, help)) => wrong(at, what, help),
            None => Ok(()),
        }
    }

    fn statement(&mut self, scan: &mut Scanner, at: usize) -> Result<(), Wrong> {
        let mask = match scan.take(b'@') {
            true => Some(scan.number()?),
            false => None,
        };
        let word_at = scan.at;
        let word = scan.word();
        if matches!(word, "warp" | "repeat" | "end") && mask.is_some() {
            return wrong(
                at,
                "a mask stands before no instruction",
                "expected an instruction",
            );
        }
        match word {
            "warp" => self.section(scan),
            "repeat" => {
                let turns = scan.number()?;
                let around = self.open.last().map_or(1, |o| o.turns);
                let all = around.saturating_mul(turns.max(1));
                if all > MAX_TURNS {
                    return wrong(
                        at,
                        format!("{all} turns are too many"),
                        "expected at most 2^32 turns of all 'repeat's together",
                    );
                }
                let line = self.lines().len();
                self.open.push(Open {
                    line,
                    at,
                    turns: all,
                });
                self.lines().push(Line::Repeat { turns, end: 0 });
                Ok(())
            }
            "end" => {
                let Some(Open { line, .. }) = self.open.pop() else {
                    return wrong(at, "'end' ends nothing", "every 'end' needs a 'repeat'");
                };
                let here = self.lines().len();
                if let Line::Repeat { end, .. } = &mut self.lines()[line] {
                    *end = here;
                }
                self.lines().push(Line::End);
                Ok(())
            }
            _ => {
                let template = self.instruction(scan, word, word_at, mask)?;
                self.lines().push(Line::Instr(Box::new(template)));
                self.pc += 1;
                Ok(())
            }
        }
    }

    /// The lines of the present section; without `warp` line it is for all.
    fn lines(&mut self) -> &mut Vec<Line> {
        if self.sections.is_empty() {
            self.sections.push(Section {
                blocks: None,
                warps: None,
                lines: Vec::new(),
            });
        }
        let last = self.sections.len() - 1;
        &mut self.sections[last].lines
    }

    fn section(&mut self, scan: &mut Scanner) -> Result<(), Wrong> {
        self.close()?;
        let warps = range(scan)?;
        let mut blocks = None;
        if !scan.rest().is_empty() {
            let at = scan.at;
            let word = scan.word();
            if word != "block" {
                return wrong(
                    at,
                    format!("'{word}' is left over"),
                    "expected 'block RANGE'",
                );
            }
            blocks = range(scan)?;
        }
        self.sections.push(Section {
            blocks,
            warps,
            lines: Vec::new(),
        });
        Ok(())
    }

    /// No `repeat` may be open here.
    fn close(&self) -> Result<(), Wrong> {
        match self.open.last() {
            None => Ok(()),
            Some(&Open { at, .. }) => wrong(
                at,
                "'repeat' has no 'end'",
                "expected 'end' behind its body",
            ),
        }
    }

    fn instruction(
        &self,
        scan: &mut Scanner,
        word: &str,
        at: usize,
        mask: Option<u64>,
    ) -> Result<Template, Wrong> {
        let Some((kind, suffix)) = kind_of(word) else {
            return wrong(
                at,
                format!("there is no instruction '{word}'"),
                "instructions are alu, mov, sfu, branch, ld.shared, st.shared, atom.shared.OP, \
                 ldlk, stul, ld.global, st.global, bar, relssp, exit",
            );
        };
        let mut instr = Instr::new(kind, self.pc, 0);
        match suffix {
            "" => {}
            _ if kind == InstrKind::AtomShared => {
                let op = ATOMICS.iter().position(|&name| name == suffix);
                let Some(op) = op else {
                    return wrong(
                        at,
                        format!("there is no atomic '{suffix}'"),
                        "atomics are add, and, or, xor, exch, umin, umax, smin, smax",
                    );
                };
                instr.sub = op as u8;
            }
            _ => {
                let bytes = match suffix {
                    "8" => Some(1),
                    "16" => Some(2),
                    "32" => Some(4),
                    "64" => Some(8),
                    "128" => Some(16),
                    _ => None,
                };
                let Some(bytes) = bytes.filter(|_| kind.is_memory() && !kind.is_word_only()) else {
                    return wrong(
                        at,
                        format!("'{word}' has no width '{suffix}'"),
                        "loads and stores have .8, .16, .32, .64 or .128 bits",
                    );
                };
                instr.bytes = bytes;
            }
        }
        if let Some(mask) = mask
            && mask & !crate::sm::instr::full_mask(self.info.warp_size) != 0
        {
            return wrong(
                at,
                format!("mask {mask:#x} has more lanes than a warp"),
                "expected one bit per lane",
            );
        }
        let mut template = Template {
            instr,
            mask,
            address: None,
            at,
        };
        self.operands(scan, &mut template)?;
        Ok(template)
    }

    /// Registers (`r3`) and one address (`[expr]`), or the barrier's number.
    fn operands(&self, scan: &mut Scanner, template: &mut Template) -> Result<(), Wrong> {
        let at = template.at;
        let kind = template.instr.kind;
        if kind == InstrKind::Bar {
            if !scan.rest().is_empty() {
                let at = scan.at;
                let Ok(number) = u8::try_from(scan.number()?) else {
                    return wrong(at, "the barrier's number is too large", "expected 0 to 255");
                };
                template.instr.sub = number;
            }
            return Ok(());
        }
        let mut registers = Vec::new();
        let mut register_before_address = false;
        while !scan.rest().is_empty() {
            if scan.take(b'[') {
                if template.address.is_some() || !kind.is_memory() {
                    return wrong(
                        scan.at,
                        format!("'{}' has no such address", kind.name()),
                        "",
                    );
                }
                register_before_address = !registers.is_empty();
                template.address = Some(scan.expr()?);
                if !scan.take(b']') {
                    return wrong(scan.at, "the address is not closed", "expected ']'");
                }
            } else {
                registers.push(register(scan)?);
            }
            if !scan.take(b',') {
                break;
            }
            if scan.rest().is_empty() {
                return wrong(
                    scan.at,
                    "an operand is missing",
                    "expected a register or an address",
                );
            }
        }
        if kind.is_memory() && template.address.is_none() {
            return wrong(
                at,
                format!("'{}' has no address", kind.name()),
                "expected an address in brackets, such as [4*l]",
            );
        }
        // The first register is the destination, but for kinds that have none;
        // a memory kind has one where a register stands before the address.
        let has_dst = match kind {
            InstrKind::Alu | InstrKind::Mov | InstrKind::Sfu => !registers.is_empty(),
            InstrKind::LdShared
            | InstrKind::LdGlobal
            | InstrKind::LdLock
            | InstrKind::AtomShared => register_before_address,
            _ => false,
        };
        let sources = match has_dst {
            true => &registers[1..],
            false => &registers[..],
        };
        template.instr.dst = registers.first().copied().filter(|_| has_dst);
        match Sources::new(sources) {
            Some(sources) => template.instr.srcs = sources,
            None => return wrong(at, "too many source registers", "expected at most 4"),
        }
        Ok(())
    }
}

/// `*`, `3` or `2-5`.
fn range(scan: &mut Scanner) -> Result<Option<(u64, u64)>, Wrong> {
    if scan.take(b'*') {
        return Ok(None);
    }
    let at = scan.at;
    let from = scan.number()?;
    let to = match scan.take(b'-') {
        true => scan.number()?,
        false => from,
    };
    match from <= to {
        true => Ok(Some((from, to))),
        false => wrong(
            at,
            format!("the range {from}-{to} is empty"),
            "expected FROM-TO",
        ),
    }
}

fn register(scan: &mut Scanner) -> Result<u8, Wrong> {
    let at = scan.at;
    let word = scan.word();
    let number = word.strip_prefix('r').and_then(|n| n.parse().ok());
    match number {
        Some(number) => Ok(number),
        None => wrong(
            at,
            format!("'{word}' is no register"),
            "expected r0 to r255, or an address in brackets",
        ),
    }
}

/// The kind that a word names, and what follows the name and a dot.
fn kind_of(word: &str) -> Option<(InstrKind, &str)> {
    InstrKind::ALL.into_iter().find_map(|kind| {
        let rest = word.strip_prefix(kind.name())?;
        match rest.strip_prefix('.') {
            Some(suffix) if !suffix.is_empty() => Some((kind, suffix)),
            _ => rest.is_empty().then_some((kind, "")),
        }
    })
}

/// A `repeat` that is being executed.
#[derive(Clone, Copy)]
struct Loop {
    /// Its line.
    line: usize,
    turn: u64,
    turns: u64,
}

/// Goes through the program of one warp, instruction by instruction.
struct Walk<'a> {
    info: &'a KernelInfo,
    /// Sections of this warp that are still to come, the present one first.
    sections: Vec<&'a [Line]>,
    at: usize,
    loops: Vec<Loop>,
    env: Env,
    mask: u64,
}

impl Walk<'_> {
    /// The next instruction; `None` at the end of the program.
    fn next(&mut self) -> Result<Option<Instr>, Wrong> {
        while let Some(&lines) = self.sections.first() {
            let Some(line) = lines.get(self.at) else {
                self.sections.remove(0);
                self.at = 0;
                continue;
            };
            match line {
                Line::Instr(template) => {
                    self.at += 1;
                    return self.instr(template).map(Some);
                }
                // An empty body would only take time.
                Line::Repeat { turns, end } if *turns == 0 || *end == self.at + 1 => {
                    self.at = end + 1;
                }
                Line::Repeat { turns, .. } => {
                    self.loops.push(Loop {
                        line: self.at,
                        turn: 0,
                        turns: *turns,
                    });
                    self.at += 1;
                }
                Line::End => self.turn(),
            }
            self.env.turn = self.loops.last().map_or(0, |l| l.turn as i64);
        }
        Ok(None)
    }

    /// The end of a `repeat`: once more, or on.
    fn turn(&mut self) {
        match self.loops.last_mut() {
            Some(inner) if inner.turn + 1 < inner.turns => {
                inner.turn += 1;
                self.at = inner.line + 1;
            }
            _ => {
                self.loops.pop();
                self.at += 1;
            }
        }
    }

    fn instr(&self, template: &Template) -> Result<Instr, Wrong> {
        let mut instr = template.instr.clone();
        instr.mask = self.mask & template.mask.unwrap_or(u64::MAX);
        if let Some(expr) = &template.address {
            instr.addrs = self.addresses(template, expr, &instr)?;
        }
        Ok(instr)
    }

    fn addresses(
        &self,
        template: &Template,
        expr: &Expr,
        instr: &Instr,
    ) -> Result<Addresses, Wrong> {
        let lanes = self.info.warp_size as usize;
        let limit = match instr.kind.is_shared() {
            true => i64::from(self.info.shared_bytes),
            false => i64::MAX,
        };
        let mut values = [0; 64];
        for lane in (0..lanes).filter(|l| instr.mask >> l & 1 == 1) {
            let env = Env {
                lane: lane as i64,
                thread: self.env.warp * lanes as i64 + lane as i64,
                ..self.env
            };
            let value = expr.value(&env);
            let bytes = i64::from(instr.bytes);
            let good = |&v: &i64| v >= 0 && v <= limit - bytes && v % bytes == 0;
            let Some(value) = value.filter(good) else {
                let place = format!("lane {lane} of warp {}, block {}", env.warp, env.block);
                let what = match value {
                    None => format!("the address of {place} is no number"),
                    Some(v) => format!("the address {v} of {place} is out of range or not aligned"),
                };
                return wrong(
                    template.at,
                    what,
                    "addresses are in bytes, multiples of the width, shared ones below .shared",
                );
            };
            values[lane] = value as u64;
        }
        Ok(Addresses::from_lanes(instr.mask, |l| values[l], lanes))
    }
}
