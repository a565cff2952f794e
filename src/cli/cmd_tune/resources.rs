//! The resources of blocks under the mappings of the front.

use crate::assembler::{Assembler, AssemblerId};
use crate::cli::printer::Printer;
use crate::config::Config;
use crate::error::Result;
use crate::hash::HashSpec;
use crate::launch::LaunchFile;
use crate::ptx::Module;
use crate::rewrite::{Block, Request, Resources, under_each};
use crate::software::LayoutSpec;
use crate::software::choice::{Array, Choice, Choices};
use crate::terminal::{Details, Table};
use crate::tool::Toolbox;
use crate::trace::AccessTrace;
use serde::Serialize;

/// A kernel with its launch.
pub(in crate::cli) struct Launched<'a> {
    pub module: &'a Module,
    pub file: &'a LaunchFile,
    /// Request of the rewriting; the mapping does not matter.
    pub request: Request,
    /// Registers of a thread that the launch file gives; 0 if none.
    pub registers: u32,
}

/// The front with what blocks take.
#[derive(Serialize)]
pub(super) struct OnSm {
    /// The assembler, where it is installed.
    assembler: Option<AssemblerId>,
    front: Vec<Line>,
    #[serde(skip)]
    warps: u32,
}

/// A mapping of the front; null where it cannot be put into the PTX.
#[derive(Serialize)]
struct Line {
    hash: LayoutSpec,
    resources: Option<Resources>,
}

impl OnSm {
    /// Rewrites the kernel with each mapping of the front, if any.
    /// The mappings are worth printing without it: an error is a warning.
    pub fn of(
        (trace, launched): (&AccessTrace, Option<&Launched>),
        machine: &Config,
        array: &Array,
        whole: &Choices,
        printer: &Printer,
    ) -> Self {
        Self::try_of((trace, launched), machine, array, whole).unwrap_or_else(|error| {
            printer.warn(format!("registers and occupancy are not known: {error}"));
            OnSm {
                assembler: None,
                front: Vec::new(),
                warps: 0,
            }
        })
    }

    fn try_of(
        (trace, launched): (&AccessTrace, Option<&Launched>),
        machine: &Config,
        array: &Array,
        whole: &Choices,
    ) -> Result<Self> {
        let front: Vec<&Choice> = whole.ranked.iter().filter(|c| c.front).collect();
        let specs: Vec<LayoutSpec> = front.iter().map(|c| c.layout.spec().clone()).collect();
        let mut block = Block {
            machine,
            assembler: None,
            block_dim: Some(trace.block_dim),
            registers: 0,
        };
        let assembler;
        let resources = match launched {
            Some(launched) => {
                let module = launched.module.clone().one_text()?;
                let sm = machine.compute_capability;
                assembler = Assembler::find(&Toolbox::new(), &module, sm)?;
                block.assembler = assembler.as_ref();
                block.registers = launched.registers;
                under_each(&module, &launched.request, &specs, &block)?
            }
            None => {
                assembler = None;
                let bytes = |c: &&Choice| 4 * (array.words() + c.wasted_words);
                let name = &trace.name;
                let one = |c: &&Choice| block.resources("", name, bytes(c)).map(Some);
                front.iter().map(one).collect::<Result<_>>()?
            }
        };
        Ok(OnSm {
            front: specs
                .into_iter()
                .zip(resources)
                .map(|(hash, resources)| Line { hash, resources })
                .collect(),
            warps: machine.path.warps,
            assembler: assembler.as_ref().map(Assembler::id),
        })
    }

    /// Whether the kernel cannot be rewritten for a mapping of the front.
    pub fn refuses(&self, hash: &LayoutSpec) -> bool {
        let mut lines = self.front.iter();
        lines.any(|line| line.hash == *hash && line.resources.is_none())
    }

    /// The resources of a block under a mapping and without, in words; `None` if not known.
    pub fn change_to(&self, hash: &LayoutSpec) -> Option<String> {
        let of = |hash: &LayoutSpec| {
            let line = self.front.iter().find(|line| line.hash == *hash)?;
            line.resources
        };
        of(hash)?.change_from(&of(&LayoutSpec::Hash(HashSpec::Mod))?)
    }

    pub fn details(&self) -> Details {
        let mut details = Details::new();
        if self.front.is_empty() {
            return details;
        }
        let mut header = vec!["mapping"];
        let title = match &self.assembler {
            Some(assembler) => {
                header.extend(["registers", "instructions", "spilled bytes"]);
                format!("the front on an SM, after {assembler}:")
            }
            None => "the front on an SM:".to_owned(),
        };
        header.extend(["shared bytes", "blocks", "warps", "limited by"]);
        let row = |Line { hash, resources }: &Line| {
            let mut row = vec![hash.to_string()];
            let Some(found) = resources else {
                row.resize(header.len(), String::new());
                row[header.len() - 1] = "cannot be put into the PTX".to_owned();
                return row;
            };
            if self.assembler.is_some() {
                row.extend(match &found.assembled {
                    Some(a) => [u64::from(a.registers), a.instructions, a.spilled_bytes]
                        .map(|n| n.to_string()),
                    None => Default::default(),
                });
            }
            row.push(found.shared_bytes.to_string());
            row.extend(match &found.occupancy {
                Some(o) => [
                    o.blocks.to_string(),
                    format!("{} of {}", o.warps, self.warps),
                    o.limited_by.to_string(),
                ],
                None => Default::default(),
            });
            row
        };
        details.heading(title);
        let right = header[1..header.len() - 1].to_vec();
        let minor = ["spilled bytes", "instructions", "warps"];
        details.table(
            Table::new(&header, self.front.iter().map(row))
                .right(&right)
                .minor(&minor),
        );
        details
    }
}
