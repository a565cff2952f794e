//! Accesses of several elements that a changed line takes apart. The compiler has
//! merged `data[2 * i]` and `data[2 * i + 1]` into one access of the PTX; around each
//! index a function, it no longer sees that they are neighbours.

use crate::interrupt;
use crate::search::Control;
use crate::software::Layout;
use crate::software::choice::{Array, Choice, Effort, MappingKind, choices};
use crate::suggest::array::target::Target;
use crate::suggest::lines::change::LineChange;
use crate::suggest::lines::types::Types;
use crate::suggest::source::edits::Maps;
use crate::suggest::source::files::split;
use crate::suggest::source::macros::Macros;
use crate::suggest::source::scan::{names, word};
use crate::suggest::{SourceFiles, Tuned};
use crate::trace::{Access, AccessTrace, ConflictProfile, without_folder};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Time for the search of one kind of mapping.
const BUDGET: Duration = Duration::from_secs(2);

/// Types of an access that is wide in the source, too.
const VECTORS: [&str; 16] = [
    "float2",
    "float4",
    "double2",
    "int2",
    "int4",
    "uint2",
    "uint4",
    "short2",
    "short4",
    "ushort2",
    "ushort4",
    "char4",
    "uchar4",
    "half2",
    "__half2",
    "__nv_bfloat162",
];

/// Whether a line accesses vectors itself: through a cast, by their type, or as an
/// asynchronous copy.
pub(in crate::suggest) fn is_wide(text: &str) -> bool {
    let cast = text.contains("_cast<") || text.contains("*)");
    let copies = ["memcpy_async", "__pipeline_memcpy_async"];
    let named = |names: &[&str]| names.iter().any(|name| word(text, name).is_some());
    cast || named(&VECTORS) || named(&copies)
}

/// The mappings of these accesses to the array, the best first; none after an interrupt.
fn searched(target: &Target, tuned: &Tuned, accesses: &[Access]) -> Vec<Choice> {
    let trace = AccessTrace {
        accesses: accesses.to_vec(),
        ..target.accesses.clone()
    };
    let effort = Effort {
        control: Control::none().stop_when(&interrupt::requested),
        budget: BUDGET,
    };
    let array = Array::new(&trace, tuned.geometry, tuned.rule, target.array.room());
    let asked = |kind: &MappingKind| target.choices.kinds.contains(kind);
    let kinds: Vec<MappingKind> = NARROW.into_iter().filter(asked).collect();
    choices(&array, &kinds, &effort).map_or(Vec::new(), |found| found.ranked)
}

/// The names that a line reads elements of, by an index or a star.
fn elements(text: &str) -> impl Iterator<Item = &str> {
    let elements = names(text).filter(|(name, after)| {
        let before = &text[..text.len() - after.len() - name.len()];
        before.trim_end().ends_with('*') || after.starts_with('[')
    });
    elements.map(|(name, _)| name)
}

/// A line whose accesses become narrower.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TornLine {
    /// `file:line`
    pub source: String,
    /// Bytes of an access as it is.
    pub bytes: u32,
}

/// The places of such lines, and the widest of their accesses; `None` of no lines.
pub fn torn_places(lines: &[TornLine]) -> Option<(String, u32)> {
    let widest = lines.iter().map(|line| line.bytes).max()?;
    let places: Vec<&str> = lines.iter().map(|l| without_folder(&l.source)).collect();
    Some((places.join(", "), widest))
}

/// The accesses of an array as the changed lines have them.
pub(in crate::suggest) struct Torn {
    pub lines: Vec<TornLine>,
    profile: ConflictProfile,
    /// Mappings of the narrower accesses, the best first. Those of the wide ones keep words
    /// together that the changed source no longer accesses at once.
    narrow: Vec<Choice>,
}

/// The kinds whose code is short, and which are searched in a moment.
const NARROW: [MappingKind; 4] = [
    MappingKind::Swizzle,
    MappingKind::Pad,
    MappingKind::Xor,
    MappingKind::Add,
];

/// The access sites that changed lines take apart.
pub(in crate::suggest) struct TornSites {
    pub lines: BTreeSet<TornLine>,
    pcs: BTreeSet<u32>,
}

impl TornSites {
    /// Those of the `changes` whose accesses in `trace` are of several elements.
    pub fn of(
        target: &Target,
        trace: &AccessTrace,
        changes: &[LineChange],
        sources: &mut SourceFiles,
    ) -> Self {
        let element = target.element_bytes().max(4);
        let array = target.array_name();
        let mut widths: BTreeMap<u32, u32> = BTreeMap::new();
        for access in &trace.accesses {
            let widest = widths.entry(access.pc).or_default();
            *widest = access.bytes.max(*widest);
        }
        let mut macros: BTreeMap<String, Macros> = BTreeMap::new();
        let mut types: BTreeMap<String, Types> = BTreeMap::new();
        let (mut lines, mut pcs) = (BTreeSet::new(), BTreeSet::new());
        // What wmma reads at once, no compiler has merged.
        for line in changes.iter().filter(|l| !l.is_of_rows()) {
            let (Some(source), Some(text)) = (&line.source, &line.text) else {
                continue;
            };
            if !line.changes_elements() {
                continue;
            }
            let width = |pc: u32| widths.get(&pc).filter(|bytes| **bytes > element);
            let own = line.accesses.iter();
            let several: Vec<(u32, u32)> =
                (own.filter_map(|a| Some((a.pc, *width(a.pc)?)))).collect();
            let Some((file, number)) = split(source).filter(|_| !several.is_empty()) else {
                continue;
            };
            let known = macros.entry(file.to_owned());
            let known = known.or_insert_with(|| Macros::of(file, sources));
            // Of a macro that is not known nothing is said. A cast may be on another line of
            // the statement.
            let statement = line.statement().map_or(text.as_str(), |(old, _)| old);
            let is_narrow = |code: &str| known.any(code, &is_wide) == Some(false);
            if !is_narrow(text) || !is_narrow(statement) {
                continue;
            }
            let known = types.entry(file.to_owned());
            let known = known.or_insert_with(|| Types::of(file, sources));
            let kept = known.kept(&array, Some(element));
            let is_through_pointers = matches!(line.maps(), Some(Maps::Element | Maps::Pointers));
            if is_through_pointers && elements(text).any(|name| kept.tears(number, name)) {
                continue;
            }
            for (pc, bytes) in several {
                pcs.insert(pc);
                lines.insert(TornLine {
                    source: source.clone(),
                    bytes,
                });
            }
        }
        TornSites { lines, pcs }
    }

    /// The accesses with those of the sites as accesses to elements of `element` bytes.
    pub fn apart(&self, trace: &AccessTrace, element: u32) -> Vec<Access> {
        let apart = |access: &Access| {
            let parts = if self.pcs.contains(&access.pc) {
                (access.bytes / element).max(1)
            } else {
                1
            };
            let part = |n: u32| Access {
                bytes: access.bytes / parts,
                addrs: (access.addrs.iter())
                    .map(|word| word.map(|w| w + n * element / 4))
                    .collect(),
                ..access.clone()
            };
            (0..parts).map(part).collect::<Vec<_>>()
        };
        trace.accesses.iter().flat_map(apart).collect()
    }
}

impl Torn {
    pub fn new(
        target: &Target,
        tuned: &Tuned,
        changes: &[LineChange],
        sources: &mut SourceFiles,
    ) -> Self {
        let sites = TornSites::of(target, target.accesses, changes, sources);
        let accesses = sites.apart(target.accesses, target.element_bytes().max(4));
        let narrow = if sites.pcs.is_empty() {
            Vec::new()
        } else {
            searched(target, tuned, &accesses)
        };
        Torn {
            lines: sites.lines.into_iter().collect(),
            profile: ConflictProfile::of(accesses.iter(), &tuned.rule),
            narrow,
        }
    }

    /// The mapping that leaves the fewest conflicts in the changed source, and how
    /// many; of equal ones the first.
    pub fn best(&self, ranked: &[Choice]) -> (Choice, u64) {
        let first = &ranked[0];
        if self.lines.is_empty() {
            return (first.clone(), first.conflicts);
        }
        let counted = ranked.iter().map(|c| (c, self.conflicts(&c.layout)));
        let kept = counted
            .min_by_key(|(_, n)| *n)
            .unwrap_or((first, first.conflicts));
        match self.narrow.first() {
            Some(narrow) if narrow.conflicts < kept.1 => (narrow.clone(), narrow.conflicts),
            _ => (kept.0.clone(), kept.1),
        }
    }

    /// The best padding of the changed source, of those searched for it.
    pub fn padding(&self) -> Option<&Choice> {
        let mut paddings = self.narrow.iter().filter(|c| c.kind == MappingKind::Pad);
        paddings.next()
    }

    /// Conflicts under a mapping in the changed source.
    pub fn conflicts(&self, layout: &Layout) -> u64 {
        self.profile.count(|word| layout.bank(word)).conflicts
    }
}
