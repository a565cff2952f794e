//! A mapping as code that a programmer types: the changed index expressions of
//! the lines that access an array, the function that they call, and the padding
//! of the array. The same in CuTe and Triton.
//!
//! The expressions come from the affine addresses of the PTX. Where a thread's
//! index says all of them, they are compared with the addresses of the run.

mod array;
mod called;
mod in_order;
mod lines;
mod mapped;
mod other_blocks;
mod result;
mod search;
mod source;
#[cfg(test)]
mod tests;

pub use array::copies::CopyChange;
pub use array::room::DeclarationChange;
pub use lines::change::{AccessChange, LineChange, Parts};
pub use result::function_names::FunctionNames;
use result::function_names::{MappedArray, with_helpers};
pub use result::judged::InMachineCode;
use result::judged::Judged;
pub use result::language::Python;
pub use result::left_alone::{LeftAlone, gains_little, torn_verdict};
pub use result::padding::Padding;
pub use result::parted::Parted;
pub use result::templates::Template;
pub use result::torn::{TornLine, torn_places};
pub use search::{Search, Searched, SplitWide};
pub use source::edits::CallChange;
pub use source::files::{SourceFiles, split};
pub use source::macros::defines_what_is_in;
pub use source::region::Region;

use array::room::Room;
use array::target::Target;
use array::{copies, room, target};
use lines::Lines;
use mapped::Mapped;
use result::matrices::LongerRows;
use result::other_files::find_users;
use result::own_lines::OwnLines;
use result::parted::Wide;
use result::{declared, matrices, padding, parted, python, shared_statements, templates, torn};
use serde::Serialize;
use source::scan::Text;
use source::words::word;
use spadkit_launch::capture::statics::Indices;
use spadkit_mapping::geometry::{Geometry, WORD_BYTES};
use spadkit_mapping::software::choice::{Array, Choices, Narrower, PerVariable};
use spadkit_mapping::software::{Layout, LayoutSpec};
use spadkit_mapping::trace::{AccessTrace, ConflictProfile, ConflictRule, Place};
use spadkit_ptx::analysis::plain_name;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A change of the source that implements a mapping.
#[derive(Clone, Debug, Serialize)]
pub struct Suggestion {
    /// The variable as the PTX names it; `None` for all of shared memory
    /// together.
    pub variable: Option<String>,
    /// The array in the texts.
    pub array: String,
    /// Whether it is a part of dynamic shared memory, which begins where the source says.
    #[serde(skip)]
    pub is_part: bool,
    /// Bytes of the elements that the texts count.
    pub element_bytes: u32,
    /// The mapping, of 32-bit words.
    pub hash: LayoutSpec,
    /// Conflicts of the accesses to it without the change.
    pub conflicts_before: u64,
    /// Wavefronts of those accesses.
    #[serde(skip)]
    pub(in crate::suggest) wavefronts_before: u64,
    /// Conflicts under the mapping; the split accesses of `torn` count separately.
    pub conflicts: u64,
    /// The lines whose wide accesses the change splits, because the compiler
    /// merges only accesses that it knows to be adjacent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub torn: Vec<TornLine>,
    /// Whether the rows are longer because any function would make some accesses narrower.
    #[serde(skip)]
    pub(in crate::suggest) keeps_merged: bool,
    /// The wide accesses of the source that it splits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parted: Option<Parted>,
    /// Conflicts of accesses whose addresses depend on loaded values: another input has others.
    #[serde(skip_serializing_if = "is_zero")]
    pub given_by_data: u64,
    /// Effect on the machine code, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_code: Option<InMachineCode>,
    /// Elements that the array needs under the mapping.
    pub elements: u32,
    /// Number of elements at present.
    pub elements_before: u32,
    /// Operations that the mapping takes for an access, and the accesses to the array; both 0
    /// where no index changes.
    #[serde(skip)]
    pub(in crate::suggest) operations: (u64, u64),
    /// The declarations with room for them, where it needs more than it has and the
    /// source shows them; of several, a preprocessor chooses one.
    pub declarations: Vec<DeclarationChange>,
    /// Bytes of dynamic shared memory that the launch has to give, where the array
    /// needs more than the launch gives.
    pub dynamic_shared: Option<u32>,
    /// The CUDA function that the changed lines call; empty if the rows become longer in
    /// the declaration, and indices are unchanged.
    pub function: String,
    /// Name of that function.
    #[serde(skip)]
    pub function_name: String,
    /// The lines that change, those with most conflicts first: all that access the array,
    /// or those that give the length of its rows.
    pub lines: Vec<LineChange>,
    /// Padding that is as good, or nearly.
    pub padding: Option<Padding>,
    /// The tensor copies that go through the array, whose maps change.
    pub tensor_copies: Vec<CopyChange>,
    /// The library that uses the array, too, and whose accesses stay as they are: it neither
    /// loads what the changed lines store, nor they what it stores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<&'static str>,
    /// The lines in which other blocks of the cluster access the array, and which do not get the
    /// mapping: the change is withheld.
    #[serde(skip)]
    pub(in crate::suggest) by_other_blocks: Vec<String>,
    /// The language of Python in which the change is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<Python>,
    /// The mapping in CuTe.
    pub cute: Option<Template>,
    /// The mapping in Triton.
    pub triton: Option<Template>,
}

/// A kernel whose mappings are known.
#[derive(Clone, Copy)]
pub struct Tuned<'a> {
    /// Accesses of the kernel.
    pub trace: &'a AccessTrace,
    /// The machine's banks.
    pub geometry: Geometry,
    /// Rule of counting conflicts.
    pub rule: ConflictRule,
    /// Shared memory as one array, and its mappings.
    pub whole: (&'a Array, &'a Choices),
    /// A mapping for each variable.
    pub apart: Option<&'a PerVariable>,
    /// The indices that the PTX computes, by its lines.
    pub indices: &'a Indices,
    /// The accesses of the machine code, by which changes of the source are judged.
    pub machine_code: Option<&'a AccessTrace>,
}

impl Tuned<'_> {
    /// Conflicts of the accesses to a target whose addresses depend on loaded values.
    fn given_by_data(&self, target: &Target) -> u64 {
        let mask = self.geometry.bank_mask();
        let places = target.accesses.places();
        let of_data = |pc: u32| {
            let place = places.of(pc);
            let line = place.ptx_line;
            line.is_some_and(|line| self.indices.depends_on_data(&(place.ptx_file, line)))
        };
        let profiles = ConflictProfile::per_pc(target.accesses, self.rule).into_iter();
        let own = profiles.filter(|(pc, _)| of_data(*pc));
        own.map(|(_, profile)| profile.count(|word| word & mask).conflicts)
            .sum()
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The changes of a source.
#[derive(Debug, Default)]
pub struct Suggestions {
    /// The changes, for each array that has one.
    pub changes: Vec<Suggestion>,
    /// The arrays that have a mapping, but no change of the source that pays.
    pub left: Vec<LeftAlone>,
}

impl SourceFiles {
    /// Source changes, as [`suggestions`] finds them, with the other files that use the
    /// macros and functions which change.
    pub fn suggestions(&mut self, tuned: &Tuned) -> Suggestions {
        self.suggestions_beside(tuned, &mut FunctionNames::default())
    }

    /// Source changes next to those of other kernels, whose functions have these
    /// `names`.
    pub fn suggestions_beside(&mut self, tuned: &Tuned, names: &mut FunctionNames) -> Suggestions {
        let mut found = suggestions(tuned, names, self);
        for mut s in std::mem::take(&mut found.changes) {
            find_users(&mut s.lines, self);
            found.changes.push(s);
        }
        found
    }

    /// Source changes. If no mapping of whole vectors gains, the accesses of one of
    /// the `narrower` results are suggested, if that gains.
    pub fn suggestions_of(
        &mut self,
        tuned: &Tuned,
        narrower: &[Narrower],
        names: &mut FunctionNames,
    ) -> Suggestions {
        let mut found = self.suggestions_beside(tuned, names);
        if found.changes.is_empty() && found.left.is_empty() {
            let mut parted = parted::suggestion(tuned, narrower, names, self);
            // Its loops are C++.
            parted = parted.filter(|s| !python::is_python(s));
            if let Some(s) = &mut parted {
                find_users(&mut s.lines, self);
            }
            let pays = |s: &Suggestion| {
                s.by_other_blocks.is_empty() && s.machine_code.as_ref().is_none_or(|c| c.gains())
            };
            match parted {
                Some(s) if pays(&s) => found.changes.push(s),
                in_vain => found.left.extend(in_vain.map(LeftAlone::from)),
            }
        }
        found
    }
}

/// Source changes for the mappings that leave the fewest conflicts: for each
/// variable separately, unless one mapping for all leaves fewer. Empty if the arrays
/// are best left unchanged.
pub fn suggestions(
    tuned: &Tuned,
    names: &mut FunctionNames,
    sources: &mut SourceFiles,
) -> Suggestions {
    sources.see_parts_of(tuned.trace);
    let targets = target::targets(tuned);
    let names = function_names(&targets, tuned.trace, names, sources);
    let suggest = |(target, name): (&Target, &String)| {
        let s = suggestion(target, tuned, name, None, sources);
        let own = (s.library()).and_then(|_| of_own_lines(target, tuned, name, sources));
        let s = own.unwrap_or(s);
        python::translated(target, tuned, s, sources)
    };
    let gains = |code: &InMachineCode| code.gains();
    let pays = |s: &Suggestion| {
        s.conflicts < s.conflicts_before
            && !s.gains_little()
            && s.library().is_none()
            && s.by_other_blocks.is_empty()
            && s.machine_code.as_ref().is_none_or(gains)
    };
    let (mut changes, mut left) = (Vec::new(), Vec::new());
    for found in targets.iter().zip(&names).map(suggest) {
        match found {
            Ok(s) if pays(&s) => changes.push(s),
            Ok(s) => left.push(LeftAlone::from(s)),
            Err(alone) => left.push(*alone),
        }
    }
    shared_statements::join(&mut changes);
    Suggestions { changes, left }
}

/// The change of the user's own lines, where a library's accesses to the array may stay.
fn of_own_lines(
    target: &Target,
    tuned: &Tuned,
    function: &str,
    sources: &mut SourceFiles,
) -> Option<Suggestion> {
    let own = OwnLines::of(target, tuned)?;
    let found = suggestion(
        &own.target(target),
        &own.tuned(tuned),
        function,
        None,
        sources,
    );
    let layout = Layout::new(&found.hash, tuned.geometry).ok()?;
    // A line without an access may hand the storage to the library.
    let is_known = found.lines.iter().all(|line| !line.accesses.is_empty());
    let stays = own.stay_apart(target.accesses, &layout) && found.declarations.is_empty();
    (is_known && stays).then_some(Suggestion {
        beside: Some(own.library),
        // The library's storage would be of another size.
        padding: None,
        ..found
    })
}

/// The name of the function of each target, which the files of the accesses do not have yet.
fn function_names(
    targets: &[Target],
    trace: &AccessTrace,
    names: &mut FunctionNames,
    sources: &mut SourceFiles,
) -> Vec<String> {
    let places = trace.places();
    let pcs: BTreeSet<u32> = trace.accesses.iter().map(|access| access.pc).collect();
    let places: Vec<Place> = pcs.into_iter().map(|pc| places.of(pc)).collect();
    let lines = places
        .iter()
        .flat_map(|p| p.source.iter().chain(&p.inlined_at));
    let files: BTreeSet<String> = lines
        .filter_map(|line| Some(split(line)?.0.to_owned()))
        .collect();
    let texts: Vec<Rc<Text>> = files.iter().map(|file| sources.text(file)).collect();
    let is_taken = |name: &str| {
        let all = with_helpers(name);
        let has = |text: &Rc<Text>| all.iter().any(|name| word(&text.masked, name).is_some());
        texts.iter().any(has)
    };
    let array = |target: &Target| MappedArray::of(target, &trace.name);
    let arrays: Vec<MappedArray> = targets.iter().map(array).collect();
    names.give(&arrays, &files, is_taken)
}

/// The change of the array of `target`, and the lines of other blocks that it leaves open.
/// `function`: the name of the function of its mapping; `wide`: the accesses that are taken
/// apart.
fn suggestion(
    target: &Target,
    tuned: &Tuned,
    function: &str,
    wide: Option<&Wide>,
    sources: &mut SourceFiles,
) -> Suggestion {
    let change = of_own_block(target, tuned, function, wide, sources);
    Suggestion {
        by_other_blocks: other_blocks::open_lines(target, tuned.trace, &change, sources),
        ..change
    }
}

fn of_own_block(
    target: &Target,
    tuned: &Tuned,
    function: &str,
    wide: Option<&Wide>,
    sources: &mut SourceFiles,
) -> Suggestion {
    let target = &target.as_declared(sources);
    let array = target.array_name();
    let mapped = mapped(target, &array, function);
    let mut lines = lines::lines(target, tuned, mapped, sources);
    let of_rows = |longer: LongerRows, sources: &mut SourceFiles| {
        let judged = Judged::new(target, tuned, &[], sources);
        of_longer_rows((target, tuned), longer, array.clone(), judged)
    };
    if let Some(longer) = matrices::longer_rows(target, &lines, &array, sources) {
        return of_rows(longer, sources);
    }
    let whole = || declared::longer_rows(target, &lines, &array, tuned.trace, sources);
    let in_rows = wide.is_none().then(whole).flatten();
    let in_rows = in_rows.map(|longer| of_rows(longer, sources));
    if let Some(wide) = wide {
        wide.take_apart(target, &mut lines.changes, function, sources);
    }
    let torn = torn::Torn::new(target, tuned, &lines.changes, sources);
    let (best, conflicts) = torn.best(&target.choices.ranked);
    let judged = Judged::new(target, tuned, &lines.changes, sources);
    lines.changes = lines::by_call_or_macro(lines.changes);
    matrices::give_lengths(&mut lines, &best.layout, mapped, sources);
    let shape = padding::Shape::of(target, tuned, lines.form.as_ref());
    let code = called::functions(&lines.changes, &best.layout, mapped, target.element_bytes());
    let (declarations, dynamic_shared) =
        growth(target, &best.layout, tuned.trace, &lines, &array, sources);
    let by_index = Suggestion {
        variable: target.variable.map(|v| v.name.clone()),
        is_part: target.is_part(),
        element_bytes: target.element_bytes(),
        hash: best.layout.spec().clone(),
        conflicts_before: target.conflicts_before(),
        wavefronts_before: target.wavefronts_before(),
        conflicts,
        torn: torn.lines.clone(),
        keeps_merged: false,
        parted: None,
        given_by_data: tuned.given_by_data(target),
        machine_code: judged.map(|judged| judged.under(&best.layout)),
        elements: target.elements(&best.layout),
        elements_before: target.elements_before(),
        operations: (best.added as u64, target.accesses.accesses.len() as u64),
        declarations,
        dynamic_shared,
        function: code,
        function_name: function.to_owned(),
        padding: padding::padding(target, &shape, &lines, &array, &torn),
        tensor_copies: copies::copies(target),
        beside: None,
        by_other_blocks: Vec::new(),
        python: None,
        cute: templates::cute(target, &shape),
        triton: templates::triton(target, &shape),
        lines: lines.changes,
        array,
    };
    match in_rows {
        Some(in_rows) => declared::better(in_rows, by_index),
        None => by_index,
    }
}

fn mapped<'a>(target: &Target, array: &'a str, function: &'a str) -> Mapped<'a> {
    Mapped {
        array,
        function,
        unit: WORD_BYTES * target.array.vector_words(),
    }
}

/// The declarations with room for the array under `layout`, or the bytes of dynamic shared
/// memory that it needs, where it grows and the source shows how.
fn growth(
    target: &Target,
    layout: &Layout,
    trace: &AccessTrace,
    lines: &Lines,
    array: &str,
    sources: &mut SourceFiles,
) -> (Vec<DeclarationChange>, Option<u32>) {
    let growth = target.growth(layout, trace);
    let grows = target.elements(layout) > target.elements_before();
    let Some((bytes, is_last)) = growth.filter(|_| grows) else {
        return (Vec::new(), None);
    };
    let (named, declared) = (target.named(array), &lines.declarations);
    match room::room(named, bytes, &lines.places(), declared, sources) {
        Some(Room::Static(declarations)) => (declarations, None),
        Some(Room::Dynamic) if is_last => (Vec::new(), Some(bytes.needs.next_multiple_of(4))),
        _ => (Vec::new(), None),
    }
}

/// Nothing but the declaration and the lines that give the length of a row change.
fn of_longer_rows(
    (target, tuned): (&Target, &Tuned),
    longer: LongerRows,
    array: String,
    judged: Option<Judged>,
) -> Suggestion {
    let layout = &longer.layout;
    let bytes = target.element_bytes();
    Suggestion {
        variable: target.variable.map(|v| v.name.clone()),
        is_part: target.is_part(),
        element_bytes: bytes,
        hash: layout.spec().clone(),
        conflicts_before: target.conflicts_before(),
        wavefronts_before: target.wavefronts_before(),
        conflicts: target.array.count(layout).conflicts,
        torn: Vec::new(),
        keeps_merged: false,
        parted: None,
        given_by_data: tuned.given_by_data(target),
        machine_code: judged.map(|judged| judged.under(layout)),
        elements: target.elements(layout),
        elements_before: target.elements_before(),
        operations: (0, 0),
        declarations: longer.declarations,
        dynamic_shared: None,
        function: String::new(),
        function_name: String::new(),
        padding: None,
        tensor_copies: Vec::new(),
        beside: None,
        by_other_blocks: Vec::new(),
        python: None,
        cute: None,
        triton: None,
        lines: longer.lines,
        array,
    }
}

/// The name of a variable as the source has it, as far as it can be known.
fn name_of(variable: &str) -> String {
    plain_name(variable.split(',').next().unwrap_or(variable)).to_owned()
}
