//! What `rewrite` tells.

use super::modes::ModeOf;
use super::proposal::Proposed;
use super::resources::Compared;
use crate::cli::printer::{CommandResult, table};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::rewrite::{Left, MachineConflicts, Measured, Rewritten};
use crate::software::LayoutSpec;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Report<'a> {
    #[serde(flatten)]
    pub rewritten: &'a Rewritten,
    /// Of `proposed`, the mapping.
    pub proposal: Option<LayoutSpec>,
    pub proposed: Option<Proposed>,
    pub resources: Option<Compared>,
    pub swizzle_modes: Vec<ModeOf>,
    #[serde(flatten)]
    pub measured: Option<Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_code: Option<MachineConflicts>,
    #[serde(skip)]
    pub machine: &'a Config,
}

impl Report<'_> {
    /// What became of variables that cannot be told apart.
    fn mixed_text(&self) -> String {
        let Some(mixed) = self.rewritten.mixed.as_ref() else {
            return String::new();
        };
        match (self.rewritten.text(), &self.proposed) {
            (Some(_), None) if self.rewritten.left.is_empty() => format!(
                "one mapping for all of shared memory: {}: {}\n",
                mixed.place(),
                mixed.reason
            ),
            (Some(_), Some(proposal)) => format!("{}\n", proposal.text()),
            _ => String::new(),
        }
    }

    /// An error for the exit status.
    pub fn verdict(&self) -> Result<()> {
        if let Some(reason) = self.rewritten.refused() {
            return Err(Error::CheckFailed {
                what: format!("{} was not rewritten: {reason}", self.rewritten.entry),
                help: Some(match (&self.proposed, &self.rewritten.free[..]) {
                    (Some(proposal), _) => proposal.text(),
                    (None, []) => "the lines that prevent it are listed above".to_owned(),
                    (None, free) => format!(
                        "the lines that prevent it are listed above; others can be mapped by \
                         name: --hash NAME=SPEC for {}",
                        free.join(", ")
                    ),
                }),
            });
        }
        if self.measured.is_some_and(|m| !m.outputs_equal) {
            Err(Error::CheckFailed {
                what: format!(
                    "{}: the rewritten kernel computes different results",
                    self.rewritten.entry
                ),
                help: Some(
                    "nothing was written; the kernel may depend on the order of its threads"
                        .to_owned(),
                ),
            })
        } else {
            Ok(())
        }
    }
}

impl CommandResult for Report<'_> {
    fn text(&self) -> String {
        let r = self.rewritten;
        let mut text = format!(
            "{}: {} of {} accesses rewritten, {} instructions added, shared memory {} -> {} bytes\n",
            r.entry,
            r.rewritten,
            r.accesses,
            r.added_static,
            r.shared_bytes.before,
            r.shared_bytes.after
        );
        if let Some(bytes) = r.dynamic_shared {
            text += &format!("launch it with {bytes} bytes of dynamic shared memory\n");
        }
        if let Some([x, y, z]) = r.block {
            text += &format!("valid only for blocks of {x} x {y} x {z} threads\n");
        }
        if let Some(m) = &self.measured {
            let per_access = m
                .added_per_access
                .map_or("-".to_owned(), |n| format!("{n:.2}"));
            text += &format!(
                "executed: {} instructions added, {per_access} per access; conflicts {} -> {}; outputs {}\n",
                m.added_executed,
                m.conflicts_before,
                m.conflicts_after,
                if m.outputs_equal {
                    "equal"
                } else {
                    "different"
                },
            );
        }
        if let Some(m) = &self.machine_code {
            text += &format!(
                "machine code, by {}: conflicts {} -> {}\n",
                m.assembler, m.conflicts_before, m.conflicts_after
            );
        }
        if let Some(compared) = &self.resources {
            text += &compared.text(self.machine);
        }
        text += &self.mixed_text();
        if !r.left.is_empty() {
            let rows = r.left.iter().map(|l| vec![place(l), l.reason.clone()]);
            text += &table(&["line", "left as it is, because"], &["line"], rows);
        }
        text += &self
            .swizzle_modes
            .iter()
            .map(ModeOf::text)
            .collect::<String>();
        text
    }
}

/// A line, of several files with its file.
fn place(left: &Left) -> String {
    match &left.ptx_file {
        Some(file) => format!("{file}:{}", left.line),
        None => left.line.to_string(),
    }
}
