//! Evidence on pages about a kernel's accesses, apart from the report of the flow.

use super::changed::suggest;
use super::heat::{Bank, Heat};
use super::inputs;
use super::worth::{Run, Runs};
use crate::config::Config;
use crate::report::{PhaseCount, Situation, SourcePage};
use crate::software::Layout;
use crate::suggest::SourceFiles;
use crate::suggest::Suggestion;
use crate::trace::AccessTrace;
use crate::workload::Input;

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
        Evidence::gathered(&heat, layout, None, &mut files, ptx.as_deref(), suggestions)
    }

    /// Gathers the evidence, with the shares of the cycles of `run`.
    pub(super) fn gathered(
        heat: &Heat,
        layout: Option<&Layout>,
        run: Option<(&Runs, &Run)>,
        files: &mut SourceFiles,
        ptx: Option<&str>,
        suggestions: &[Suggestion],
    ) -> Self {
        let bank = layout.map(|layout| move |word: u32| layout.bank(word));
        let bank = bank.as_ref().map(|bank| bank as Bank);
        let mut sources = heat.pages(bank, run, files, ptx);
        suggest(&mut sources, suggestions, layout.map(Layout::spec));
        Evidence {
            sources,
            phases: heat.phases(),
            situations: heat.situations(bank),
        }
    }
}
