//! A change of the source, judged by the machine code: a mapping can remove conflicts of the
//! PTX that the machine code does not have, and keep accesses apart that `ptxas` merges.

use super::torn::{TornLine, TornSites};
use crate::suggest::Tuned;
use crate::suggest::array::target::Target;
use crate::suggest::lines::change::LineChange;
use crate::suggest::source::files::SourceFiles;
use serde::Serialize;
use spadkit_mapping::software::Layout;
use spadkit_mapping::trace::{Access, AccessTrace, ConflictProfile};

/// The effect of a change on the machine code's accesses.
#[derive(Clone, Debug, Serialize)]
pub struct InMachineCode {
    /// Conflicts of the accesses without the change.
    pub conflicts_before: u64,
    /// Conflicts of the accesses with the change.
    pub conflicts: u64,
    /// Wavefronts without the change.
    pub wavefronts_before: u64,
    /// Wavefronts with the change.
    pub wavefronts: u64,
    /// The lines whose merged accesses become several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub torn: Vec<TornLine>,
}

impl InMachineCode {
    /// The counts of the present accesses, and of the `changed` ones under a mapping.
    pub(in crate::suggest) fn of(
        as_they_are: &[Access],
        changed: &[Access],
        tuned: &Tuned,
        layout: &Layout,
    ) -> Self {
        let mask = tuned.geometry.bank_mask();
        let before = ConflictProfile::of(as_they_are.iter(), &tuned.rule);
        let before = before.count(|word| word & mask);
        let after = ConflictProfile::of(changed.iter(), &tuned.rule);
        let after = after.count(|word| layout.bank(word));
        InMachineCode {
            conflicts_before: before.conflicts,
            conflicts: after.conflicts,
            wavefronts_before: before.wavefronts(),
            wavefronts: after.wavefronts(),
            torn: Vec::new(),
        }
    }

    /// Whether the change leaves fewer conflicts, and no additional accesses replace them.
    pub fn gains(&self) -> bool {
        self.conflicts < self.conflicts_before && self.wavefronts < self.wavefronts_before
    }

    /// Both counts, for people. Where merged accesses become several, the compiler may also
    /// load again what it kept in a register: it no longer sees which elements are the same.
    pub fn text(&self) -> String {
        let about = if self.torn.is_empty() { "" } else { "about " };
        format!(
            "in the machine code {} conflicts as it is, {} with it; {} and {about}{} wavefronts",
            self.conflicts_before, self.conflicts, self.wavefronts_before, self.wavefronts
        )
    }
}

/// The accesses of the machine code to a target, without and with its changed lines.
pub(in crate::suggest) struct Judged<'a> {
    tuned: &'a Tuned<'a>,
    as_it_is: AccessTrace,
    sites: TornSites,
}

impl<'a> Judged<'a> {
    /// `None` where the machine code is not known. Without `changes` all accesses stay whole.
    pub fn new(
        target: &Target,
        tuned: &'a Tuned<'a>,
        changes: &[LineChange],
        sources: &mut SourceFiles,
    ) -> Option<Self> {
        let made = tuned.machine_code?;
        let own = match target.variable {
            None => made.clone(),
            Some(v) => {
                let end = (v.offset + v.bytes).div_ceil(4);
                made.part(v.offset / 4..end, target.base / 4)
            }
        };
        Some(Judged {
            tuned,
            sites: TornSites::of(target, &own, changes, sources),
            as_it_is: own,
        })
    }

    /// The counts under a mapping.
    pub fn under(self, layout: &Layout) -> InMachineCode {
        let changed = self.sites.apart(&self.as_it_is);
        let own = &self.as_it_is.accesses;
        InMachineCode {
            torn: self.sites.lines.into_iter().collect(),
            ..InMachineCode::of(own, &changed, self.tuned, layout)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wavefronts_of_accesses_that_fall_apart_are_an_estimate() {
        let mut code = InMachineCode {
            conflicts_before: 221,
            conflicts: 0,
            wavefronts_before: 322,
            wavefronts: 101,
            torn: Vec::new(),
        };
        assert!(code.text().ends_with("; 322 and 101 wavefronts"));
        code.torn.push(TornLine {
            source: "k.cu:3".to_owned(),
            bytes: 8,
        });
        assert!(code.text().ends_with("; 322 and about 101 wavefronts"));
    }
}
