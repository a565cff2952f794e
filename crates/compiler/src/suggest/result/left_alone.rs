//! The cost of accesses that the compiler no longer merges: arrays that are better left
//! unchanged, and the conflicts that the changes of the others leave.

use super::language::Python;
use crate::suggest::lines::change::LineChange;
use crate::suggest::{InMachineCode, Suggestion, TornLine};
use serde::Serialize;
use spadkit_mapping::software::LayoutSpec;

/// An array for which no change of the source pays.
#[derive(Clone, Debug, Serialize)]
pub struct LeftAlone {
    /// The array in the texts.
    pub array: String,
    /// The best mapping for the changed source.
    pub hash: LayoutSpec,
    /// Conflicts of the accesses to it without a change.
    pub conflicts_before: u64,
    /// Wavefronts of those accesses.
    #[serde(skip)]
    pub(in crate::suggest) wavefronts_before: u64,
    /// Conflicts under the mapping, with the accesses of `torn` counted apart.
    pub conflicts: u64,
    /// The lines whose wide accesses would become several.
    pub torn: Vec<TornLine>,
    /// The machine code, where it shows that nothing is gained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_code: Option<InMachineCode>,
    /// The source is Python, and its compiler lays the array out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_compiler: bool,
    /// That compiler is Triton's.
    #[serde(skip)]
    pub by_triton: bool,
    /// The language of Python that has no layout for the mapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<Python>,
    /// The library of the toolkit that accesses the array by a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library: Option<&'static str>,
    /// The lines in which other blocks of the cluster access it: the mapping has to be there,
    /// too, and no change of the source says how.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_other_blocks: Vec<String>,
}

/// The percentage of wavefronts that a change must save to pay off.
const LEAST: u64 = 1;

impl Suggestion {
    /// The library of the toolkit in whose headers a line of the array ends that cannot be
    /// changed by its own elements.
    pub(in crate::suggest) fn library(&self) -> Option<&'static str> {
        self.by_hand().find_map(LineChange::library)
    }

    /// Whether so few wavefronts go that the change does not pay.
    pub(in crate::suggest) fn gains_little(&self) -> bool {
        let saved = self.conflicts_before.saturating_sub(self.conflicts);
        gains_little(self.wavefronts_before, saved)
    }
}

/// Whether so few of the `wavefronts` are saved that a mapping is not worth its
/// instructions.
pub fn gains_little(wavefronts: u64, saved: u64) -> bool {
    saved * 100 < LEAST * wavefronts
}

/// The array of a change that does not pay.
impl From<Suggestion> for LeftAlone {
    fn from(s: Suggestion) -> Self {
        let library = s.library();
        let machine_code = s.machine_code.filter(|code| !code.gains());
        LeftAlone {
            array: s.array,
            hash: s.hash,
            conflicts_before: s.conflicts_before,
            wavefronts_before: s.wavefronts_before,
            conflicts: s.conflicts,
            torn: s.torn,
            machine_code,
            by_compiler: false,
            by_triton: false,
            python: None,
            library,
            by_other_blocks: s.by_other_blocks,
        }
    }
}

impl LeftAlone {
    /// Why an array stays that other blocks of the cluster access.
    pub fn other_blocks(&self) -> Option<String> {
        let lines = &self.by_other_blocks;
        (!lines.is_empty()).then(|| {
            format!(
                "other blocks of the cluster access {} in {}, and would have to use the mapping, \
                 too",
                self.array,
                lines.join(", ")
            )
        })
    }

    /// The lines whose accesses would become several, of the PTX or the machine code.
    pub fn all_torn(&self) -> &[TornLine] {
        let of_code = self.machine_code.as_ref().map_or(&[][..], |c| &c.torn);
        if self.torn.is_empty() {
            of_code
        } else {
            &self.torn
        }
    }
}

/// The conflicts left after changes of the source, if these split accesses that a mapping
/// in the PTX keeps whole, or gain nothing in the machine code; `None` if all gain as much
/// as the mapping.
pub fn torn_verdict(changes: &[Suggestion], left: &[LeftAlone]) -> Option<String> {
    let because = because(changes, left);
    let is_torn = |s: &Suggestion| !s.torn.is_empty() || s.keeps_merged;
    match (changes, left) {
        ([], []) => None,
        ([], left) if left.iter().any(|l| !l.by_other_blocks.is_empty()) => {
            Some(format!("No change of the source is offered: {because}."))
        }
        ([], _) => Some(format!("No change of the source pays: {because}.")),
        ([one], []) if is_torn(one) => Some(format!(
            "As a change of the source, {} leaves {} of {}: {because}.",
            one.hash, one.conflicts, one.conflicts_before
        )),
        (_, left) if changes.iter().any(is_torn) || !left.is_empty() => {
            let stay: u64 = left.iter().map(|l| l.conflicts_before).sum();
            let after = changes.iter().map(|s| s.conflicts).sum::<u64>() + stay;
            let before = changes.iter().map(|s| s.conflicts_before).sum::<u64>() + stay;
            Some(format!(
                "Changes of the source leave {after} of {before}: {because}."
            ))
        }
        _ => None,
    }
}

/// Why arrays are left unchanged, or have another mapping.
fn because(changes: &[Suggestion], left: &[LeftAlone]) -> String {
    let codes: Vec<&InMachineCode> = (left.iter())
        .filter_map(|l| l.machine_code.as_ref())
        .collect();
    if left.iter().any(|l| l.by_compiler) {
        return "the compiler of its Python source lays the array out".to_owned();
    }
    if let Some(python) = left.iter().find_map(|l| l.python) {
        return format!("no layout of {} is the mapping", python.name());
    }
    if let Some(text) = left.iter().find_map(LeftAlone::other_blocks) {
        return text;
    }
    if let Some(library) = left.iter().find_map(|l| l.library) {
        return format!("{library} accesses the array, and its source cannot take the mapping");
    }
    let saved = |l: &LeftAlone| l.conflicts_before.saturating_sub(l.conflicts);
    let little = |l: &LeftAlone| gains_little(l.wavefronts_before, saved(l));
    if left
        .iter()
        .any(|l| little(l) && l.machine_code.is_none() && l.torn.is_empty())
    {
        return "less than 1 % of its wavefronts would go".to_owned();
    }
    let torn = "the compiler no longer merges accesses there";
    if codes.is_empty() {
        let stays = left.is_empty() && changes.iter().all(|s| s.torn.is_empty());
        let whole = "longer rows keep the accesses whole that the compiler merges";
        return if stays { whole } else { torn }.to_owned();
    }
    let before: u64 = codes.iter().map(|c| c.conflicts_before).sum();
    let after: u64 = codes.iter().map(|c| c.conflicts).sum();
    let counts = if after < before {
        let before: u64 = codes.iter().map(|c| c.wavefronts_before).sum();
        let after: u64 = codes.iter().map(|c| c.wavefronts).sum();
        format!("{before} wavefronts of the machine code would be {after}")
    } else {
        format!("{before} conflicts of the machine code would be {after}")
    };
    if left.iter().all(|l| l.all_torn().is_empty()) {
        counts
    } else {
        format!("{torn}, and {counts}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(before: u64, after: u64) -> LeftAlone {
        LeftAlone {
            array: "t".to_owned(),
            hash: LayoutSpec::Pad { every: 672, by: 5 },
            conflicts_before: before,
            wavefronts_before: 2 * before,
            conflicts: after,
            torn: Vec::new(),
            machine_code: None,
            by_compiler: false,
            by_triton: false,
            python: None,
            library: None,
            by_other_blocks: Vec::new(),
        }
    }

    #[test]
    fn less_than_one_wavefront_of_100_is_little() {
        assert!(gains_little(787, 3));
        assert!(gains_little(787, 7));
        assert!(!gains_little(300, 3));
        assert!(!gains_little(1, 1));
    }

    #[test]
    fn the_verdict_says_why_nothing_pays() {
        let said = |left: LeftAlone| torn_verdict(&[], &[left]).unwrap();
        let little = said(left(787, 784));
        let expected = "No change of the source pays: less than 1 % of its wavefronts would go.";
        assert_eq!(little, expected);
        let library = said(LeftAlone {
            library: Some("CUB"),
            ..left(412, 259)
        });
        assert!(library.contains("CUB accesses the array"), "{library}");
    }
}
