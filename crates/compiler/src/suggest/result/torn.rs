//! Accesses of several elements that a changed line takes apart. The compiler has
//! merged `data[2 * i]` and `data[2 * i + 1]` into one access of the PTX; around each
//! index a function, it no longer sees that they are neighbours.

use crate::suggest::array::target::Target;
use crate::suggest::lines::change::LineChange;
use crate::suggest::lines::types::Types;
use crate::suggest::source::edits::Maps;
use crate::suggest::source::elements::bytes_of_type;
use crate::suggest::source::files::split;
use crate::suggest::source::macros::Macros;
use crate::suggest::source::scan::{Text, arguments};
use crate::suggest::source::words::word;
use crate::suggest::{SourceFiles, Tuned};
use serde::Serialize;
use spadkit_base::interrupt;
use spadkit_mapping::geometry::WORD_BYTES;
use spadkit_mapping::search::Control;
use spadkit_mapping::software::Layout;
use spadkit_mapping::software::choice::{Array, Choice, Effort, MappingKind, choices};
use spadkit_mapping::trace::{Access, AccessTrace, ConflictProfile, without_folder};
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

/// Functions that copy several elements at once.
const COPIES: [&str; 2] = ["memcpy_async", "__pipeline_memcpy_async"];

/// Whether a line accesses vectors itself: through a cast, by their type, or as an
/// asynchronous copy.
pub(in crate::suggest) fn is_wide(text: &str) -> bool {
    let cast = text.contains("_cast<") || text.contains("*)");
    let named = |names: &[&str]| names.iter().any(|name| word(text, name).is_some());
    cast || named(&VECTORS) || named(&COPIES)
}

/// Bytes of the widest object that a line accesses as a whole: through a cast of a pointer, by
/// the name of a type of vectors, or as an asynchronous copy; `u32::MAX` where the size is not
/// known, 0 without such an object.
fn whole_bytes(text: &str) -> u32 {
    if COPIES.iter().any(|name| word(text, name).is_some()) {
        return u32::MAX;
    }
    let named = VECTORS.iter().filter(|name| word(text, name).is_some());
    let named = named.filter_map(|name| bytes_of_type(name));
    let casts = text.split("_cast<").skip(1);
    let casts = casts.filter_map(|rest| Some(rest.split_once(">(")?.0.trim_end()));
    let old = text.match_indices("*)").filter_map(|(at, _)| {
        let open = text[..at].rfind('(')?;
        Some(&text[open + 1..=at])
    });
    let pointed = casts.chain(old).filter_map(|kind| {
        let element = kind.strip_suffix(['*', '&'])?.trim_end();
        let words = element.split_whitespace();
        let words = words.filter(|word| !["const", "volatile"].contains(word));
        let element = words.collect::<Vec<_>>().join(" ");
        Some(bytes_of_type(&element).unwrap_or(u32::MAX))
    });
    named.chain(pointed).max().unwrap_or(0)
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

/// The addresses that a changed statement puts under a function of pointers: `&d[i]` of
/// `*spad_place_at(array, &d[i])`.
fn mapped_addresses(changed: &str) -> Vec<String> {
    let text = Text::new(changed.to_owned());
    let calls = text.masked.match_indices("_at(");
    let address = |(at, name): (usize, &str)| match arguments(&text, at + name.len() - 1)?[..] {
        [_, (from, to)] => Some(text.masked[from..to].trim().to_owned()),
        _ => None,
    };
    calls.filter_map(address).collect()
}

/// A line whose accesses become narrower.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct TornLine {
    /// `file:line`
    pub source: String,
    /// Bytes of an access before the change.
    pub bytes: u32,
}

/// The lines of split accesses, and the widest of the accesses; `None` without such lines.
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
    /// Bytes of the elements by site.
    elements: BTreeMap<u32, u32>,
}

/// The sources of changed lines, each read once.
#[derive(Default)]
struct Read {
    macros: BTreeMap<String, Macros>,
    types: BTreeMap<String, Types>,
}

impl TornSites {
    /// The torn lines of the `changes` whose accesses in `trace` are of several elements.
    pub fn of(
        target: &Target,
        trace: &AccessTrace,
        changes: &[LineChange],
        sources: &mut SourceFiles,
    ) -> Self {
        let mut widths: BTreeMap<u32, u32> = BTreeMap::new();
        for access in &trace.accesses {
            let widest = widths.entry(access.pc).or_default();
            *widest = access.bytes.max(*widest);
        }
        let mut read = Read::default();
        let (mut lines, mut elements) = (BTreeSet::new(), BTreeMap::new());
        // A matrix that wmma reads at once was not merged by the compiler.
        for line in changes.iter().filter(|l| !l.is_of_rows()) {
            let own = line.accesses.iter();
            let width = |pc: u32| widths.get(&pc).filter(|bytes| **bytes > WORD_BYTES);
            let wide: Vec<(u32, u32)> = (own.filter_map(|a| Some((a.pc, *width(a.pc)?)))).collect();
            let Some(source) = line.source.as_ref().filter(|_| !wide.is_empty()) else {
                continue;
            };
            let widest = wide.iter().map(|(_, width)| *width).max().unwrap_or(0);
            let Some(bytes) = read.elements(line, target, widest, sources) else {
                continue;
            };
            for (pc, width) in wide {
                let narrower = bytes.iter().filter(|element| **element < width).min();
                let Some(&element) = narrower.filter(|_| !bytes.contains(&width)) else {
                    continue;
                };
                elements.insert(pc, element);
                lines.insert(TornLine {
                    source: source.clone(),
                    bytes: width,
                });
            }
        }
        TornSites { lines, elements }
    }

    /// The accesses with those of the sites as accesses to elements.
    pub fn apart(&self, trace: &AccessTrace) -> Vec<Access> {
        let apart = |access: &Access| {
            let element = self.elements.get(&access.pc).copied();
            let element = element.unwrap_or(access.bytes).max(1);
            let parts = (access.bytes / element).max(1);
            let part = |n: u32| Access {
                bytes: access.bytes / parts,
                addrs: (access.addrs.iter())
                    .map(|word| word.map(|w| w + n * element / WORD_BYTES))
                    .collect(),
                ..access.clone()
            };
            (0..parts).map(part).collect::<Vec<_>>()
        };
        trace.accesses.iter().flat_map(apart).collect()
    }
}

impl Read {
    /// Bytes of each element that a changed line maps by a function of its own, at least
    /// a word; `None` if its accesses are unchanged, or the source has them `widest` bytes wide.
    fn elements(
        &mut self,
        line: &LineChange,
        target: &Target,
        widest: u32,
        sources: &mut SourceFiles,
    ) -> Option<Vec<u32>> {
        let (file, _) = split(line.source.as_deref()?)?;
        let text = line.text.as_deref()?;
        line.changes_elements().then_some(())?;
        let known = self.macros.entry(file.to_owned());
        let known = known.or_insert_with(|| Macros::of(file, sources));
        let (statement, changed) = line.statement().unwrap_or((text, text));
        // Nothing is known about the elements of an unknown macro. A cast may be on
        // another line of the statement.
        let has = |code: &str, bytes: u32| known.any(code, &|part| whole_bytes(part) >= bytes);
        let is_narrow = |code: &str| has(code, widest) == Some(false);
        (is_narrow(text) && is_narrow(statement)).then_some(())?;
        let in_source = |bytes: &u32| {
            let mut codes = [text, statement].into_iter();
            *bytes < widest && codes.any(|code| has(code, *bytes) == Some(true))
        };
        let whole = [8, WORD_BYTES].into_iter().find(in_source).unwrap_or(0);
        let array = target.array_name();
        let own = target.element_bytes().max(whole);
        if !matches!(
            line.maps(),
            Some(Maps::Element | Maps::Pointers | Maps::Both)
        ) {
            return Some(vec![own.max(WORD_BYTES)]);
        }
        let (file, number) = split(line.place()?)?;
        let known = self.types.entry(file.to_owned());
        let known = known.or_insert_with(|| Types::of(file, sources));
        let kept = known.kept(&array, Some(own));
        let addresses = mapped_addresses(changed);
        let bytes = addresses
            .iter()
            .map(|address| kept.bytes(number, address).unwrap_or(own));
        let mut bytes: Vec<u32> = bytes.map(|bytes| bytes.max(WORD_BYTES)).collect();
        if bytes.is_empty() || line.maps() == Some(Maps::Both) {
            bytes.push(own.max(WORD_BYTES));
        }
        Some(bytes)
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
        let accesses = sites.apart(target.accesses);
        let narrow = if sites.lines.is_empty() {
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
            .min_by_key(|(c, n)| *n + c.look_ups)
            .unwrap_or((first, first.conflicts));
        match self.narrow.first() {
            Some(narrow) if narrow.conflicts + narrow.look_ups < kept.1 + kept.0.look_ups => {
                (narrow.clone(), narrow.conflicts)
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_accesses_as_a_whole_has_the_bytes_of_its_type() {
        for (text, bytes) in [
            ("x = s[i] + static_cast<int>(y);", 0),
            (
                "acc = __dp4a(*(const int *)&sa[k], *(const int *)&sb[k], acc);",
                4,
            ),
            ("__half2 x = sa[row][k];", 4),
            ("v = *reinterpret_cast<const float2 *>(&s[i]);", 8),
            ("reinterpret_cast<float4 &>(s[i]) = v;", 16),
            ("v = *(const volatile unsigned char *)p;", 1),
            ("v = *(T *)p;", u32::MAX),
            ("__pipeline_memcpy_async(&s[i], &in[i], 16);", u32::MAX),
        ] {
            assert_eq!(whole_bytes(text), bytes, "{text}");
        }
    }
}
