//! Evidence on pages about a kernel's accesses, apart from the report of the flow.

use super::changed::{declare, suggest};
use super::declared::changed_declarations;
use super::heat::{Bank, Heat};
use super::inputs;
use super::padded::Padded;
use super::worth::{Run, Runs};
use crate::config::Config;
use crate::error::Result;
use crate::report::{ChoiceKind, ChoiceLine, PhaseCount, Situation, SourcePage};
use crate::software::{Layout, LayoutSpec};
use crate::suggest::SourceFiles;
use crate::suggest::Suggestion;
use crate::trace::AccessTrace;
use crate::workload::Input;

/// The memory after a change.
pub(super) struct After {
    /// The bank of a word.
    bank: Box<dyn Fn(u32) -> u32>,
    /// The mapping in software; `None` for longer rows in the declarations.
    spec: Option<LayoutSpec>,
    /// The declarations with longer rows, by `file:line`; else the changes of lines count.
    declarations: Vec<(String, String)>,
}

impl After {
    /// The memory under a mapping.
    fn mapped(layout: Layout) -> Self {
        After {
            spec: Some(layout.spec().clone()),
            bank: Box::new(move |word| layout.bank(word)),
            declarations: Vec::new(),
        }
    }

    /// The memory under `choice`.
    pub fn of(
        choice: &ChoiceLine,
        suggestions: &[Suggestion],
        (trace, machine): (&AccessTrace, &Config),
        files: &mut SourceFiles,
    ) -> Result<Self> {
        let mask = machine.geometry.bank_mask();
        if choice.kind == ChoiceKind::Padding
            && let Some(padded) = Padded::of(suggestions, trace)
        {
            return Ok(After {
                bank: Box::new(move |word| padded.word(word) & mask),
                spec: None,
                declarations: changed_declarations(suggestions, files),
            });
        }
        let layout = Layout::new(&choice.hash.parse()?, machine.geometry)?;
        Ok(After::mapped(layout))
    }
}

/// The lines with conflicts of a kernel, and pictures of them.
pub struct Evidence {
    /// The lines of the source with what they cost, the file with most conflicts
    /// first.
    pub sources: Vec<SourcePage>,
    /// All accesses by barrier phase.
    pub phases: Vec<PhaseCount>,
    /// The worst access of each line in each phase, most conflicts first.
    pub situations: Vec<Situation>,
}

impl Evidence {
    /// The evidence of the accesses of `trace`, without a mapping and under
    /// `layout`, with the lines of `suggestions` changed. Source files are looked
    /// for in the folder of `input`, too.
    pub fn of(
        trace: &AccessTrace,
        machine: &Config,
        layout: Option<&Layout>,
        input: &Input,
        suggestions: &[Suggestion],
    ) -> Self {
        let ptx = inputs::ptx_of(input).map(|path| path.display().to_string());
        let mut files = SourceFiles::beside(input.name());
        let heat = Heat::new(trace, machine);
        let after = layout.cloned().map(After::mapped);
        let after = after.as_ref();
        Evidence::gathered(&heat, after, None, &mut files, ptx.as_deref(), suggestions)
    }

    /// Gathers the evidence, with the shares of the cycles of `run`.
    pub(super) fn gathered(
        heat: &Heat,
        after: Option<&After>,
        run: Option<(&Runs, &Run)>,
        files: &mut SourceFiles,
        ptx: Option<&str>,
        suggestions: &[Suggestion],
    ) -> Self {
        let bank = after.map(|after| &*after.bank as Bank);
        let mut sources = heat.pages(bank, run, files, ptx);
        match after.filter(|after| after.spec.is_none()) {
            Some(longer) => declare(&mut sources, &longer.declarations),
            None => suggest(
                &mut sources,
                suggestions,
                after.and_then(|a| a.spec.as_ref()),
            ),
        }
        Evidence {
            sources,
            phases: heat.phases(),
            situations: heat.situations(bank),
        }
    }
}
