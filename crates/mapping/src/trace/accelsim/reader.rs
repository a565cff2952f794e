//! The events of a trace, in the order of the file.

use super::header::Header;
use super::line::SassInstr;
use super::source::{Bad, Lines};
use spadkit_base::error::Result;
use std::path::Path;

/// The next item of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A thread block begins: its x, y, z in the grid.
    Block([u32; 3]),
    /// The instructions of this warp of the block follow.
    Warp(u32),
    /// One instruction of the warp.
    Instr(SassInstr),
    /// The thread block ends.
    EndBlock,
}

/// Reads a `.traceg` file.
pub struct Reader {
    lines: Lines,
    header: Header,
    /// The present line was read by the header and is still to be looked at.
    pending: bool,
    in_block: bool,
    /// The block has said which one it is.
    has_block: bool,
    /// Instructions of the present warp that are still to come.
    left: u64,
    has_warp: bool,
}

impl Reader {
    /// Opens a trace and reads its header.
    pub fn open(path: &Path) -> Result<Self> {
        Self::of(Lines::open(path)?)
    }

    /// Reads a text that is in memory; `path` is for messages.
    pub fn of_text(text: Vec<u8>, path: &Path) -> Result<Self> {
        Self::of(Lines::of(Box::new(std::io::Cursor::new(text)), path))
    }

    fn of(mut lines: Lines) -> Result<Self> {
        let header = Header::read(&mut lines)?;
        Ok(Reader {
            lines,
            header,
            pending: true,
            in_block: false,
            has_block: false,
            left: 0,
            has_warp: false,
        })
    }

    /// The tracer's description of the kernel.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// An error at the line that was read last.
    pub fn error(&self, what: String, help: &str) -> spadkit_base::error::Error {
        self.lines.error(Bad::new(what, help, 0))
    }

    /// The next event; `None` at the end of the file.
    pub fn next_event(&mut self) -> Result<Option<Event>> {
        loop {
            if !std::mem::take(&mut self.pending) && !self.lines.advance()? {
                return if self.in_block {
                    Err(self.lines.error(Bad::new(
                        "the file ends inside a thread block",
                        "expected #END_TB: the trace is truncated",
                        0,
                    )))
                } else {
                    Ok(None)
                };
            }
            match self.event() {
                Ok(None) => {}
                Ok(event) => return Ok(event),
                Err(bad) => return Err(self.lines.error(bad)),
            }
        }
    }

    /// The event of the present line, if it is one.
    fn event(&mut self) -> Result<Option<Event>, Bad> {
        let line = self.lines.line().trim();
        if line.is_empty() || (line.starts_with('#') && !line.ends_with("_TB")) {
            return Ok(None);
        }
        match line {
            "#BEGIN_TB" if self.in_block => {
                return Err(nested());
            }
            "#BEGIN_TB" => {
                self.in_block = true;
                (self.has_block, self.has_warp) = (false, false);
                return Ok(None);
            }
            "#END_TB" if self.in_block => {
                self.complete_warp()?;
                self.in_block = false;
                return Ok(Some(Event::EndBlock));
            }
            _ if !self.in_block => {
                return Err(Bad::new(
                    "an instruction outside of a thread block",
                    "expected #BEGIN_TB; traces as recorded (.trace) go through \
                     post-traces-processing first, which writes .traceg",
                    0,
                ));
            }
            _ => {}
        }
        let Some((key, value)) = line.split_once('=') else {
            return self.instruction().map(Some);
        };
        match key.trim() {
            "thread block" if self.has_block => Err(nested()),
            "thread block" => {
                let block = thread_block(value, &self.header)?;
                self.has_block = true;
                Ok(Some(Event::Block(block)))
            }
            "warp" if !self.has_block => {
                let help = "expected 'thread block = x,y,z' after #BEGIN_TB";
                Err(Bad::new("a warp of no thread block", help, 0))
            }
            "warp" => {
                let warp = warp(value, &self.header)?;
                self.complete_warp()?;
                self.has_warp = true;
                Ok(Some(Event::Warp(warp)))
            }
            "insts" => {
                let count = value.trim().parse().ok();
                self.left = count.ok_or_else(|| is_not(value, "a number of instructions"))?;
                Ok(None)
            }
            // Clusters and what later versions add.
            _ => Ok(None),
        }
    }

    fn instruction(&mut self) -> Result<Event, Bad> {
        if !self.has_warp || self.left == 0 {
            let help = "expected as many instructions as 'insts = ' of the warp says";
            return Err(Bad::new("an instruction too many", help, 0));
        }
        self.left -= 1;
        SassInstr::parse(self.lines.line(), &self.header).map(Event::Instr)
    }

    /// The warp before has as many instructions as it said.
    fn complete_warp(&mut self) -> Result<(), Bad> {
        match std::mem::take(&mut self.left) {
            0 => Ok(()),
            left => Err(Bad::new(
                format!("{left} instructions of the warp are missing"),
                "expected as many as 'insts = ' of the warp says",
                0,
            )),
        }
    }
}

fn nested() -> Bad {
    Bad::new("a thread block inside another", "expected #END_TB", 0)
}

/// The value of a key is not as expected.
fn is_not(value: &str, expected: &str) -> Bad {
    let what = format!("'{}' is not {expected}", value.trim());
    Bad::new(what, format!("expected {expected}"), 0)
}

/// `x,y,z` of the grid.
fn thread_block(value: &str, header: &Header) -> Result<[u32; 3], Bad> {
    let numbers = value.split(',').filter_map(|n| n.trim().parse().ok());
    let block: Option<[u32; 3]> = numbers.collect::<Vec<u32>>().try_into().ok();
    let within = |b: &[u32; 3]| b.iter().zip(header.grid).all(|(&b, g)| b < g);
    let block = block.filter(within);
    block.ok_or_else(|| is_not(value, "a thread block x,y,z of the grid"))
}

/// The number of a warp of the block.
fn warp(value: &str, header: &Header) -> Result<u32, Bad> {
    let threads: u64 = header.block.iter().map(|&d| u64::from(d)).product();
    let warps = threads.div_ceil(u64::from(super::WARP_SIZE));
    let warp = value.trim().parse().ok();
    let warp = warp.filter(|&w: &u32| u64::from(w) < warps);
    warp.ok_or_else(|| is_not(value, "a warp of the block"))
}
