//! Parser of a text into sections of lines.

use super::expr::{Scanner, Wrong, wrong};
use super::line::{Line, Section, Template};
use crate::sm::instr::{Detail, Instr, InstrKind, KernelInfo, Meeting, Sources};
use spadkit_base::error::{Error, Result};
use spadkit_ptx::tensor::Work;
use std::path::Path;

/// Most turns of all `repeat`s around an instruction.
const MAX_TURNS: u64 = 1 << 32;

const ATOMICS: [&str; 10] = [
    "add", "and", "or", "xor", "exch", "umin", "umax", "smin", "smax", "inc",
];

/// The kernel that `text` describes, and its sections; `path` is for messages.
pub(super) fn parse(text: &str, path: &Path) -> Result<(KernelInfo, Vec<Section>)> {
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
            target: None,
            together: None,
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
    Ok((parser.info, parser.sections))
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
        if scan.rest().is_empty() {
            Ok(())
        } else {
            wrong(
                scan.at,
                format!("unexpected '{}'", scan.rest()),
                "expected the end of the line; # begins a comment",
            )
        }
    }

    fn directive(&mut self, scan: &mut Scanner, at: usize) -> Result<(), Wrong> {
        let name = scan.word();
        if !self.sections.is_empty() {
            return wrong(
                at,
                format!("{name} must come before the first instruction"),
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
        let mask = if scan.take(b'@') {
            Some(scan.number()?)
        } else {
            None
        };
        let word_at = scan.at;
        let word = scan.word();
        if matches!(word, "warp" | "repeat" | "end") && mask.is_some() {
            return wrong(
                at,
                "a mask is not followed by an instruction",
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
                        format!("{all} iterations are too many"),
                        "expected at most 2^32 iterations of all enclosing 'repeat's together",
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
                    return wrong(
                        at,
                        "'end' without an open 'repeat'",
                        "every 'end' needs a 'repeat'",
                    );
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
                return wrong(at, format!("unexpected '{word}'"), "expected 'block RANGE'");
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
            Some(&Open { at, .. }) => {
                wrong(at, "'repeat' has no 'end'", "expected 'end' after its body")
            }
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
                 ldlk, stul, ld.global, st.global, bar, relssp, exit, mma.BITS.MACS, tex",
            );
        };
        let mut instr = Instr::new(kind, self.pc, 0);
        specify(&mut instr, (word, suffix), at)?;
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
            linear: false,
            at,
        };
        self.operands(scan, &mut template)?;
        Ok(template)
    }

    /// Registers (`r3`) and one address (`[expr]`), or the barrier's number.
    fn operands(&self, scan: &mut Scanner, template: &mut Template) -> Result<(), Wrong> {
        let kind = template.instr.kind;
        if kind == InstrKind::Bar {
            return barrier(scan, &mut template.instr);
        }
        let mut registers = Vec::new();
        let mut register_before_address = false;
        while !scan.rest().is_empty() {
            if scan.take(b'[') {
                register_before_address = !registers.is_empty();
                address(scan, template)?;
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
                template.at,
                format!("'{}' has no address", kind.name()),
                "expected an address in brackets, such as [4*l]",
            );
        }
        // A register behind the address is what a store writes.
        let first_is_dst = register_before_address || !kind.is_memory();
        let has_dst = first_is_dst && may_write(kind);
        let (dst, sources) = match registers.split_first() {
            Some((dst, sources)) if has_dst => (Some(*dst), sources),
            _ => (None, &registers[..]),
        };
        template.instr.dst = dst;
        match Sources::new(sources) {
            Some(sources) => template.instr.srcs = sources,
            None => {
                return wrong(
                    template.at,
                    "too many source registers",
                    "expected at most 4",
                );
            }
        }
        Ok(())
    }
}

/// The address of a memory instruction, behind its `[`.
fn address(scan: &mut Scanner, template: &mut Template) -> Result<(), Wrong> {
    let kind = template.instr.kind;
    if template.address.is_some() || !kind.is_memory() {
        return wrong(
            scan.at,
            format!("'{}' does not take this address", kind.name()),
            "",
        );
    }
    let address = scan.expr()?;
    template.linear = address.is_linear();
    template.address = Some(address);
    if !scan.take(b']') {
        return wrong(scan.at, "the address is not closed", "expected ']'");
    }
    Ok(())
}

/// Applies the suffix after an instruction's name and a dot, in the `word` at `at`.
fn specify(instr: &mut Instr, (word, suffix): (&str, &str), at: usize) -> Result<(), Wrong> {
    let kind = instr.kind;
    match suffix {
        _ if kind == InstrKind::Mma => {
            let Some(work) = product(suffix) else {
                return wrong(
                    at,
                    format!("'{word}' does not specify what it multiplies"),
                    "expected mma.BITS.MACS: factors of 1, 4, 8, 16, 32 (tf32) or 64 bits, \
                     and the number of multiplications, as in mma.16.2048",
                );
            };
            instr.detail = work.into();
        }
        "" => {}
        _ if kind == InstrKind::AtomShared => {
            let Some(operation) = ATOMICS.iter().position(|&name| name == suffix) else {
                return wrong(
                    at,
                    format!("there is no atomic '{suffix}'"),
                    "atomics are add, and, or, xor, exch, umin, umax, smin, smax, inc",
                );
            };
            instr.detail = Detail::Atomic(operation as u8);
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
    Ok(())
}

/// The number of a barrier, where it has one.
fn barrier(scan: &mut Scanner, instr: &mut Instr) -> Result<(), Wrong> {
    if scan.rest().is_empty() {
        return Ok(());
    }
    let at = scan.at;
    let Ok(number) = u8::try_from(scan.number()?) else {
        return wrong(at, "the barrier's number is too large", "expected 0 to 255");
    };
    instr.detail = Detail::Barrier(Meeting::of_block(number));
    Ok(())
}

/// The first register may be a destination; of an access it is one where it
/// stands before the address.
fn may_write(kind: InstrKind) -> bool {
    use InstrKind::{Alu, AtomShared, LdGlobal, LdLock, LdShared, Mma, Mov, Sfu, Texture};
    let computes = matches!(kind, Alu | Mov | Sfu | Mma | Texture);
    computes || matches!(kind, LdShared | LdGlobal | LdLock | AtomShared)
}

/// `*`, `3` or `2-5`.
fn range(scan: &mut Scanner) -> Result<Option<(u64, u64)>, Wrong> {
    if scan.take(b'*') {
        return Ok(None);
    }
    let at = scan.at;
    let from = scan.number()?;
    let to = if scan.take(b'-') {
        scan.number()?
    } else {
        from
    };
    if from <= to {
        Ok(Some((from, to)))
    } else {
        wrong(
            at,
            format!("the range {from}-{to} is empty"),
            "expected FROM-TO",
        )
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
            format!("'{word}' is not a register"),
            "expected r0 to r255, or an address in brackets",
        ),
    }
}

/// `16.2048`: bits of the factors, and multiplications.
fn product(suffix: &str) -> Option<Work> {
    let (bits, macs) = suffix.split_once('.')?;
    let bits = bits.parse().ok();
    Some(Work {
        bits: bits.filter(|bits| [1, 4, 8, 16, 32, 64].contains(bits))?,
        macs: macs.parse().ok().filter(|macs| *macs > 0)?,
        group: false,
    })
}

/// The kind that a word names, and what follows the name and a dot.
fn kind_of(word: &str) -> Option<(InstrKind, &str)> {
    let mut kinds = InstrKind::ALL
        .iter()
        .copied()
        .filter(|kind| kind.has_word());
    kinds.find_map(|kind| {
        let rest = word.strip_prefix(kind.name())?;
        match rest.strip_prefix('.') {
            Some(suffix) if !suffix.is_empty() => Some((kind, suffix)),
            _ => rest.is_empty().then_some((kind, "")),
        }
    })
}
