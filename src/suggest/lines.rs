//! The lines of the source that access an array, and how they change.

use super::calls::{call_change, is_one_object};
use super::change::{AccessChange, LineChange, Parts};
use super::edits::{CallChange, Maps};
use super::files::split;
use super::form::Form;
use super::lvalue::pointer_change;
use super::macro_elements::macro_change;
use super::returned::{method_change, returned_change};
use super::statements::change_elements;
use super::target::Target;
use super::types::{Kept, Types};
use super::wrapped::pointers_change;
use super::{
    SourceFiles, Tuned, handed, lambdas, merged, methods, moved, named_elements, reached,
    references, source, statements, unreached,
};
use crate::ptx::analysis::SourceIndex;
use crate::trace::{Access, AccessTrace, ConflictProfile, Line, Place};
use std::collections::{BTreeMap, BTreeSet};

/// The lines, and what else follows from their indices.
pub(super) struct Lines {
    pub changes: Vec<LineChange>,
    /// How the source declares the array, where it is found.
    pub form: Option<Form>,
    /// Whether it is one object, and no array.
    pub is_one_object: bool,
    /// All declarations of arrays of this name in the files of the lines.
    pub declarations: source::Declarations,
}

impl Lines {
    /// Every `file:line` from which the array may be declared: those of the accesses
    /// and of the calls around them.
    pub fn places(&self) -> BTreeSet<String> {
        let places = self.changes.iter().flat_map(LineChange::places);
        places.map(str::to_owned).collect()
    }
}

/// The lines of a target, those with most conflicts first.
pub(super) fn lines(
    target: &Target,
    tuned: &Tuned,
    array: &str,
    function: &str,
    sources: &mut SourceFiles,
) -> Lines {
    let accessed = accessed(target, tuned, (array, function), sources);
    let mut changes = statements::to_naming_lines(accessed, array, sources);
    changes.sort_by_key(|l| std::cmp::Reverse(l.conflicts));
    let files = changes.iter().flat_map(LineChange::places);
    let named = target.named(array);
    let declarations = source::Declarations::of(files, named, target.element_bytes(), sources);
    let has = target.bytes();
    let files = changes.iter().flat_map(LineChange::places);
    let form = Form::of(files, named, has, &declarations, sources);
    if let Some(form) = form.as_ref().filter(|form| form.brackets() > 1) {
        count_from_the_start(&mut changes, array, form.brackets());
    }
    // Wide accesses stay whole under every mapping that is suggested.
    for line in &mut changes {
        let seen = line.source.as_deref();
        if let Some(seen) = seen.and_then(|place| declarations.seen_from(place, sources)) {
            change_elements(line, seen, (array, function), sources);
        }
    }
    if let Some(form) = &form {
        reached::keep_named(&mut changes, target, form, array);
    }
    changes.extend(merged::lines(
        &changes,
        array,
        function,
        &declarations,
        sources,
    ));
    let unit = 4 * target.array.vector_words();
    let is_one_object = form.is_none() && {
        let mut places = changes.iter().flat_map(LineChange::places);
        places.any(|source| is_one_object(source, array, sources))
    };
    named_elements::change(&mut changes, array, function, &declarations, sources);
    let types = change_calls(&mut changes, (array, unit), function, sources);
    references::to_their_calls(&mut changes, array, function, &declarations, sources);
    lambdas::to_their_lines(&mut changes, array, function, &declarations, sources);
    handed::change(&mut changes, (array, unit), function, sources);
    moved::to_their_lines(&mut changes, &types, (array, unit), function, sources);
    let mut calling = methods::to_their_callers(&mut changes, array, sources);
    change_calls(&mut calling, (array, unit), function, sources);
    changes.extend(calling);
    let has_objects = |place: &str| {
        let (file, line) = split(place)?;
        Some(types.get(file)?.kept(array, Some(unit)).has_objects(line))
    };
    let open = changes.iter_mut().filter(|l| l.is_by_hand());
    // Of one object, the parts are what a mapping takes apart.
    for line in open.filter(|_| !is_one_object) {
        let is_object = line.places().any(|place| has_objects(place) == Some(true));
        if is_object && !line.is_of_rows() {
            line.parts = Parts::TornObjects;
        }
    }
    changes.extend(unreached::lines(&changes, (array, unit), function, sources));
    if is_one_object {
        for line in changes.iter_mut().filter(|l| l.is_by_hand()) {
            let source = line.source.as_deref();
            line.call = source.and_then(|s| method_change(s, array, function, sources));
        }
        of_one_object(&mut changes, array, function);
    }
    Lines {
        changes: by_call(changes, false),
        is_one_object,
        form,
        declarations,
    }
}

/// Makes the changed accesses of an array with several indices compile: one index counts
/// the elements from the first.
fn count_from_the_start(changes: &mut [LineChange], array: &str, brackets: usize) {
    let zeros = "[0]".repeat(brackets);
    for access in changes.iter_mut().flat_map(|line| &mut line.accesses) {
        let index = access.changed.as_ref();
        let index = index.and_then(|changed| changed.strip_prefix(array));
        access.changed = index.map(|index| format!("(&{array}{zeros}){index}"));
    }
}

/// The lines that access the array, each with its accesses.
fn accessed(
    target: &Target,
    tuned: &Tuned,
    (array, function): (&str, &str),
    sources: &mut SourceFiles,
) -> Vec<LineChange> {
    let mask = tuned.geometry.bank_mask();
    let places = target.accesses.places();
    let rows = row_bytes(target);
    let mut found: BTreeMap<Line, LineChange> = BTreeMap::new();
    for (pc, profile) in ConflictProfile::per_pc(target.accesses, tuned.rule) {
        let (place, through) = places.of(pc).of_user();
        let conflicts = profile.count(|word| word & mask).conflicts;
        let index = element_index(target, tuned, pc, &place);
        let line = found
            .entry(Line::of(&place, pc))
            .or_insert_with(|| LineChange {
                text: place.source.as_ref().and_then(|s| sources.line(s)),
                source: place.source.clone(),
                inlined_at: place.inlined_at.clone(),
                through,
                ..LineChange::default()
            });
        line.conflicts += conflicts;
        let stand_ins = index.iter().flat_map(|i| i.stand_ins());
        let own = target.accesses.accesses.iter().find(|a| a.pc == pc);
        if let Some(bytes) = rows.get(&pc) {
            line.add_rows(bytes);
        }
        line.accesses.push(AccessChange {
            pc,
            op: own.map(|a| a.op),
            ptx_line: place.ptx_line,
            ptx_file: place.ptx_file.clone(),
            conflicts,
            stands_for: stand_ins
                .map(|(n, w)| (n.to_owned(), w.to_owned()))
                .collect(),
            expression: index.as_ref().map(|i| format!("{array}[{}]", i.text())),
            changed: index.map(|i| format!("{array}[{function}({})]", i.text())),
        });
    }
    found.into_values().collect()
}

/// Changes the lines that show the address of an access, and notes those whose object a
/// mapping takes apart; the types of their files. `unit`: bytes that every mapping keeps
/// together.
fn change_calls(
    changes: &mut [LineChange],
    (array, unit): (&str, u32),
    function: &str,
    sources: &mut SourceFiles,
) -> BTreeMap<String, Types> {
    let mut types: BTreeMap<String, Types> = BTreeMap::new();
    for line in changes.iter_mut().filter(|l| l.is_by_hand()) {
        let Some((file, _)) = line.source.as_deref().and_then(split) else {
            continue;
        };
        let known = types.entry(file.to_owned());
        let known = known.or_insert_with(|| Types::of(file, sources));
        let mut change = |unit| call_of(line, known.kept(array, unit), (array, function), sources);
        let call = change(Some(unit));
        let is_object = call.is_none() && change(None).is_some();
        if is_object && !line.is_of_rows() {
            line.parts = Parts::TornObjects;
        }
        line.call = call;
    }
    types
}

/// Bytes from row to row of the matrices that each access site loads or stores.
fn row_bytes(target: &Target) -> BTreeMap<u32, BTreeSet<u32>> {
    let mut rows: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    if target.array.has_matrices() {
        for access in &target.accesses.accesses {
            if let Some(bytes) = access.row_bytes() {
                rows.entry(access.pc).or_default().insert(bytes);
            }
        }
    }
    rows
}

/// The name of an array is its address, that of an object is none. Nor does a line copy
/// an element of it.
fn of_one_object(changes: &mut [LineChange], array: &str, function: &str) {
    let called = format!("{function}_at(");
    let (old, new) = (format!("{called}{array}, "), format!("{called}&{array}, "));
    for line in changes {
        line.parts = match &line.parts {
            Parts::Elements => Parts::OfOneObject,
            Parts::TornObjects => Parts::TornInOneObject,
            other => other.clone(),
        };
        if let Some(call) = &mut line.call {
            call.rename(&old, &new);
        }
    }
}

/// The statement that changes in the place of a line, where it shows the address.
fn call_of(
    line: &LineChange,
    kept: Kept,
    (array, function): (&str, &str),
    sources: &mut SourceFiles,
) -> Option<CallChange> {
    let (source, chain) = (line.source.as_deref()?, line.chain());
    call_change(&chain[0], &chain[1..], array, function, sources)
        .or_else(|| pointer_change(source, (line.only_op()?, kept), array, function, sources))
        .or_else(|| returned_change(source, kept, array, function, sources))
        .or_else(|| macro_change(source, array, function, sources))
        .or_else(|| pointers_change(source, kept, array, function, sources))
}

/// Lines that change at one call are one: a function may come into the kernel
/// through several calls of another. `with_macros`: also those that use one macro, which
/// may access in different ways.
pub(super) fn by_call(lines: Vec<LineChange>, with_macros: bool) -> Vec<LineChange> {
    let mut all: Vec<LineChange> = Vec::new();
    for line in lines {
        let is_one = line.call.is_some() && (with_macros || line.maps() != Some(Maps::Indices));
        let same = |other: &&mut LineChange| is_one && other.call == line.call;
        match all.iter_mut().find(same) {
            Some(known) => {
                known.take_accesses(line);
            }
            None => all.push(line),
        }
    }
    all.sort_by_key(|l| std::cmp::Reverse(l.conflicts));
    all
}

/// The index of access site `pc`, at `place` of the PTX, in elements of the
/// target.
pub(super) fn element_index(
    target: &Target,
    tuned: &Tuned,
    pc: u32,
    place: &Place,
) -> Option<SourceIndex> {
    let key = (place.ptx_file.clone(), place.ptx_line?);
    let mut index = tuned.indices.get(&key)?.clone();
    index.constant += i64::from(target.offset_of(&index.variable)?);
    let own = target.accesses.accesses.iter().filter(|a| a.pc == pc);
    let right = own
        .flat_map(|a| lanes(a, target.accesses))
        .all(|(word, thread)| {
            let byte = index.of_thread(thread, tuned.trace.block_dim);
            byte.is_none_or(|byte| byte.div_euclid(4) == i64::from(word))
        });
    index.elements(target.element_bytes()).filter(|_| right)
}

/// The word and the thread of each lane that is active.
pub(super) fn lanes<'a>(
    access: &'a Access,
    trace: &'a AccessTrace,
) -> impl Iterator<Item = (u32, [u32; 3])> + 'a {
    let [x, y, _] = trace.block_dim;
    let first = access.warp * trace.warp_size;
    let lanes = access.addrs.iter().zip(first..);
    lanes.filter_map(move |(word, t)| Some(((*word)?, [t % x, t / x % y, t / (x * y)])))
}
