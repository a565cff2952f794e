//! The resources of a block before and after.

use super::Job;
use crate::assembler::{Assembler, AssemblerId};
use crate::cli::printer::Printer;
use crate::config::Config;
use crate::error::Result;
use crate::rewrite::{Block, Resources, Rewritten};
use crate::tool::Toolbox;
use serde::Serialize;

/// A kernel before and after.
#[derive(Serialize)]
pub(super) struct Compared {
    /// The assembler, where it is installed.
    assembler: Option<AssemblerId>,
    /// Present with the assembler or the launch file.
    #[serde(skip)]
    knows_registers: bool,
    before: Resources,
    after: Resources,
}

impl Job<'_> {
    /// Nothing where nothing was rewritten; an assembler that fails is no
    /// reason to fail.
    pub fn resources(&self, rewritten: &Rewritten, printer: &Printer) -> Option<Compared> {
        let text = rewritten.text()?;
        match self.compare(text, rewritten) {
            Ok(compared) => Some(compared),
            Err(error) => {
                printer.warn(format!("registers and occupancy are not known: {error}"));
                None
            }
        }
    }

    fn compare(&self, text: &str, rewritten: &Rewritten) -> Result<Compared> {
        let sm = self.machine.compute_capability;
        let assembler = Assembler::find(&Toolbox::new(), self.module, sm)?;
        let block = Block {
            machine: self.machine,
            assembler: assembler.as_ref(),
            block_dim: self.threads,
            registers: self.launch.and_then(|file| file.registers).unwrap_or(0),
        };
        let (entry, bytes) = (&rewritten.entry, rewritten.shared_bytes);
        Ok(Compared {
            before: block.resources(&self.module.text, entry, bytes.before)?,
            after: block.resources(text, entry, bytes.after)?,
            knows_registers: block.assembler.is_some() || block.registers > 0,
            assembler: assembler.as_ref().map(Assembler::id),
        })
    }
}

impl Compared {
    pub fn text(&self, machine: &Config) -> String {
        let mut text = String::new();
        let both = (self.before.assembled, self.after.assembled);
        if let (Some(assembler), (Some(before), Some(after))) = (&self.assembler, both) {
            text += &format!(
                "{assembler}: registers {} -> {}, instructions {} -> {}",
                before.registers, after.registers, before.instructions, after.instructions
            );
            if before.spilled_bytes + after.spilled_bytes > 0 {
                let (before, after) = (before.spilled_bytes, after.spilled_bytes);
                text += &format!(", spilled bytes {before} -> {after}");
            }
            text += "\n";
        }
        if let (Some(before), Some(after)) = (self.before.occupancy, self.after.occupancy) {
            let limit = if before.limited_by == after.limited_by {
                before.limited_by.to_string()
            } else {
                format!("{} -> {}", before.limited_by, after.limited_by)
            };
            text += &format!(
                "blocks on an SM of {}: {} -> {}, {} -> {} of {} warps, limited by {limit}{}\n",
                machine.name,
                before.blocks,
                after.blocks,
                before.warps,
                after.warps,
                machine.path.warps,
                if self.knows_registers {
                    ""
                } else {
                    " (registers not known)"
                }
            );
        }
        text
    }
}
