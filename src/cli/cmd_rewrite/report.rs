//! The output of `rewrite`.

use super::modes::ModeOf;
use super::proposal::Advice;
use super::resources::Compared;
use crate::cli::printer::CommandResult;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::readable::readable;
use crate::rewrite::{Left, MachineConflicts, Measured, MovedPart, Rewritten};
use crate::terminal::{Details, Hint, Table, Tone};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
pub(super) struct Report<'a> {
    #[serde(flatten)]
    pub rewritten: &'a Rewritten,
    #[serde(flatten)]
    pub advice: Advice,
    pub resources: Option<Compared>,
    pub swizzle_modes: Vec<ModeOf>,
    #[serde(flatten)]
    pub measured: Option<Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_code: Option<MachineConflicts>,
    #[serde(skip)]
    pub machine: &'a Config,
    /// File to which the PTX was written.
    #[serde(skip)]
    pub output: Option<&'a Path>,
    /// The command that writes a launch file for it.
    #[serde(skip)]
    pub init: Option<String>,
    /// The command that simulates it.
    #[serde(skip)]
    pub flow: Option<&'a str>,
}

impl Report<'_> {
    /// The outcome for variables that cannot be told apart.
    fn mixed_text(&self) -> String {
        let Some(mixed) = self.rewritten.mixed.as_ref() else {
            return String::new();
        };
        match (self.rewritten.text(), &self.advice.proposed) {
            (Some(_), None) if self.rewritten.left.is_empty() => format!(
                "one mapping for all of shared memory: {}: {}\n",
                mixed.place(),
                mixed.reason
            ),
            (Some(_), Some(proposal)) => format!("{}\n", proposal.text()),
            _ => String::new(),
        }
    }

    /// The counts that show that nothing is gained: those of the machine code, if they
    /// are known, else those of the PTX.
    fn gains_nothing(&self) -> Option<String> {
        let measured = self.measured.as_ref()?;
        match &self.machine_code {
            Some(code) if !code.gains() => Some(format!("in the machine code {}", code.text())),
            None if !gains(measured) => Some(format!(
                "conflicts {} -> {}{}",
                measured.conflicts_before,
                measured.conflicts_after,
                cost(measured)
            )),
            _ => None,
        }
    }

    /// An error for the exit status.
    pub fn verdict(&self) -> Result<()> {
        if let Some(reason) = self.rewritten.refused() {
            return Err(Error::CheckFailed {
                what: format!("{} was not rewritten: {reason}", self.rewritten.entry),
                help: Some(match (&self.advice.proposed, &self.rewritten.free[..]) {
                    (Some(proposal), _) => proposal.text(),
                    _ if let Some(none) = &self.advice.nothing_helps => none.text(),
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

/// Whether the PTX has fewer conflicts, or fewer instructions.
fn gains(m: &Measured) -> bool {
    m.conflicts_after < m.conflicts_before || m.added_per_access.is_some_and(|n| n < 0.0)
}

/// The instructions that the mapping costs, if there are accesses.
fn cost(m: &Measured) -> String {
    let cost = m.added_per_access;
    let cost = cost.map(|n| format!(", {n:.2} instructions an access added"));
    cost.unwrap_or_default()
}

/// The results of running the rewritten kernel.
fn executed(m: &Measured) -> String {
    let per_access = m.added_per_access;
    let per_access = per_access.map_or("-".to_owned(), |n| format!("{n:.2}"));
    let outputs = if m.outputs_equal {
        "equal"
    } else {
        "different"
    };
    format!(
        "executed: {} instructions added, {per_access} per access; conflicts {} -> {}; outputs \
         {outputs}",
        m.added_executed, m.conflicts_before, m.conflicts_after
    )
}

impl CommandResult for Report<'_> {
    fn verdict(&self) -> String {
        let r = self.rewritten;
        let entry = readable(&r.entry);
        if let Some(reason) = r.refused() {
            return format!("{entry} was not rewritten: {reason}.");
        }
        let wrote = match self.output {
            Some(path) => format!("Wrote {}", path.display()),
            None => format!("{entry} was rewritten"),
        };
        match &self.measured {
            Some(m) if !m.outputs_equal => {
                format!("Nothing was written: {entry} computes different results when rewritten.")
            }
            Some(_) if let Some(counts) = self.gains_nothing() => {
                format!("{wrote}, outputs equal, but nothing is gained: {counts}.")
            }
            Some(m) => format!(
                "{wrote}: conflicts {} -> {}, outputs equal{}.",
                m.conflicts_before,
                m.conflicts_after,
                cost(m)
            ),
            None => format!(
                "{wrote}: {} of {} accesses rewritten, {} instructions added; it was not run.",
                r.rewritten, r.accesses, r.added_static
            ),
        }
    }

    fn tone(&self) -> Tone {
        match &self.measured {
            _ if self.rewritten.refused().is_some() => Tone::Bad,
            Some(m) if !m.outputs_equal => Tone::Bad,
            Some(_) if self.gains_nothing().is_some() => Tone::Doubt,
            Some(m) if m.conflicts_after < m.conflicts_before => Tone::Good,
            _ => Tone::Plain,
        }
    }

    fn details(&self) -> Details {
        let r = self.rewritten;
        let mut details = Details::new();
        details.say(format!(
            "{}: {} of {} accesses rewritten, {} instructions added, shared memory {} -> {} bytes",
            readable(&r.entry),
            r.rewritten,
            r.accesses,
            r.added_static,
            r.shared_bytes.before,
            r.shared_bytes.after
        ));
        if let Some(bytes) = r.dynamic_shared {
            let text = format!("launch it with {bytes} bytes of dynamic shared memory");
            details.toned(Tone::Doubt, text);
        }
        if !r.parts.is_empty() {
            let part = |p: &MovedPart| format!("{} at {}, {} bytes", p.name, p.offset, p.bytes);
            let parts: Vec<String> = r.parts.iter().map(part).collect();
            details.say(format!("in dynamic shared memory: {}", parts.join("; ")));
        }
        if let Some([x, y, z]) = r.block {
            let text = format!("valid only for blocks of {x} x {y} x {z} threads");
            details.toned(Tone::Doubt, text);
        }
        if let Some(m) = &self.measured {
            details.say(executed(m));
        }
        if let Some(m) = &self.machine_code {
            details.say(format!(
                "machine code, by {}: conflicts {} -> {}, wavefronts {} -> {}",
                m.assembler,
                m.conflicts_before,
                m.conflicts_after,
                m.wavefronts_before,
                m.wavefronts_after
            ));
        }
        if let Some(compared) = &self.resources {
            details.say(compared.text(self.machine));
        }
        details.say(self.mixed_text());
        let rows = r.left.iter().map(|l| vec![place(l), l.reason.clone()]);
        details.table(Table::new(&["line", "left as it is, because"], rows).right(&["line"]));
        for mode in &self.swizzle_modes {
            details.say(mode.text());
        }
        details
    }

    fn hints(&self) -> Vec<Hint> {
        let proposed = self
            .advice
            .proposed
            .as_ref()
            .and_then(|p| p.command.clone());
        if let Some(command) = proposed {
            return vec![Hint::new("what works instead", command)];
        }
        match &self.init {
            Some(command) if self.rewritten.text().is_some() && self.measured.is_none() => {
                vec![Hint::new("a launch file, to run it", command.clone())]
            }
            Some(_) if self.tone() == Tone::Good => {
                let hint = |flow| Hint::new("its cycles, beside other choices", flow);
                self.flow.map(hint).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A line, of several files with its file.
fn place(left: &Left) -> String {
    match &left.ptx_file {
        Some(file) => format!("{file}:{}", left.line),
        None => left.line.to_string(),
    }
}
