//! A text as a kernel: sections of lines, and the programs of the warps.

use super::line::Section;
use super::parse::parse;
use super::walk::Walk;
use crate::sm::instr::{Instr, KernelInfo};
use crate::sm::workload::{ProgramStream, Workload};
use spadkit_base::error::{Error, Result};
use spadkit_base::input::{self, Limit};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A text is written by a person, or by a small program.
const LIMIT: Limit = Limit {
    bytes: 64 << 20,
    expected: "a program text (docs/reference/formats.md)",
};
/// Instructions of a part.
const PART: usize = 1024;
/// Instructions of each warp that are checked when the text is read.
const CHECKED: usize = 4096;

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
        let text = LIMIT.read_text(path)?;
        Self::parse(&text, input::name_of(path))
    }

    /// Parses a text; `path` is for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let (info, sections) = parse(text, path)?;
        let parsed = WarpText {
            path: path.to_owned(),
            text: text.to_owned(),
            info,
            sections,
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
        let lines = sections.map(|s| &s.lines[..]).collect();
        Walk::new(&self.info, lines, block, warp)
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

/// The program of one warp, generated on demand.
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
