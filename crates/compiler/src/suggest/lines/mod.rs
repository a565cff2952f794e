//! The lines of the source that access an array, and how they change.

pub(super) mod beside_calls;
pub(super) mod callees;
pub(super) mod calls;
pub(super) mod change;
pub(super) mod constant_indices;
pub(super) mod declared_pointers;
pub(super) mod handed_objects;
pub(super) mod joined_files;
pub(super) mod joined_lines;
pub(super) mod lambdas;
pub(super) mod macro_elements;
pub(super) mod methods;
pub(super) mod misplaced;
pub(super) mod moved_by_compiler;
pub(super) mod named_elements;
pub(super) mod other_kernels;
pub(super) mod other_names;
pub(super) mod pointer_parameters;
pub(super) mod pointers_to_start;
pub(super) mod references;
pub(super) mod returned;
pub(super) mod scopes;
pub(super) mod statements;
pub(super) mod through_pointer;
pub(super) mod types;
pub(super) mod unreached;
pub(super) mod walking;
pub(super) mod without_access;
pub(super) mod wrapped;

use crate::suggest::array::form::Form;
use crate::suggest::array::target::Target;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::declarations::Declarations;
use crate::suggest::source::edits::CallChange;
use crate::suggest::source::files::split;
use crate::suggest::{SourceFiles, Tuned, name_of};
use calls::{call_change, is_one_object};
use change::{AccessChange, LineChange, Parts};
use joined_lines::by_call;
pub(in crate::suggest) use joined_lines::by_call_or_macro;
use macro_elements::macro_change;
use returned::{method_change, returned_change};
use scopes::is_out_of_scope;
use spadkit_mapping::trace::{Access, AccessTrace, ConflictProfile, Line, Place};
use spadkit_ptx::analysis::SourceIndex;
use statements::change_elements;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use through_pointer::pointer_change;
use types::{Kept, Types};
use wrapped::pointers_change;

/// The lines, and what else follows from their indices.
pub(in crate::suggest) struct Lines {
    pub changes: Vec<LineChange>,
    /// The declaration of the array in the source, if it is found.
    pub form: Option<Form>,
    /// The launch gives its bytes, and the source does not show those of an element.
    pub has_open_size: bool,
    /// Whether it is one object, and no array.
    pub is_one_object: bool,
    /// Declarations of arrays of this name in the files of the lines.
    pub declarations: Declarations,
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
pub(in crate::suggest) fn lines(
    target: &Target,
    tuned: &Tuned,
    mapped: Mapped,
    sources: &mut SourceFiles,
) -> Lines {
    let accessed = accessed(target, tuned, mapped, sources);
    let mut changes = statements::to_naming_lines(accessed, mapped.array, sources);
    changes.sort_by_key(|l| Reverse(l.conflicts));
    let places = || changes.iter().flat_map(LineChange::places);
    let named = target.named(mapped.array);
    let declarations = Declarations::of(places(), named, target.element_bytes(), sources);
    // If all accesses are in other functions, none of them sees the declaration.
    let kernel = declarations.seen_in(&|name| target.is_of_kernel(name), sources);
    let seen = || places().chain(kernel.as_deref());
    let form = Form::of(seen(), named, target.bytes(), &declarations, sources);
    let has_open_size = form.is_none() && Form::is_extern(seen(), named, &declarations, sources);
    let others = tuned.trace.shared_variables();
    let others = others.iter().map(|v| name_of(&v.name));
    let mut work = Work {
        target,
        mapped,
        others: others.filter(|name| name != mapped.array).collect(),
        types: BTreeMap::new(),
        lines: Lines {
            changes,
            form,
            has_open_size,
            is_one_object: false,
            declarations,
        },
    };
    for pass in Work::PASSES {
        pass(&mut work, sources);
    }
    let Lines { changes, .. } = work.lines;
    Lines {
        changes: by_call(changes),
        ..work.lines
    }
}

/// The lines, while the passes change them.
struct Work<'a> {
    target: &'a Target<'a>,
    mapped: Mapped<'a>,
    lines: Lines,
    /// The kernel's other shared arrays, as the source names them.
    others: Vec<String>,
    /// The types of the files of lines that [`Work::change_calls`] saw.
    types: BTreeMap<String, Types>,
}

/// A step: it changes lines, or gives their accesses to lines that change.
type Pass<'a> = fn(&mut Work<'a>, &mut SourceFiles);

impl<'a> Work<'a> {
    /// The steps in their order. Most take the lines that are still open.
    const PASSES: [Pass<'a>; 18] = [
        // The accesses' texts are complete before one is compared or shown.
        Self::count_from_the_start,
        // The line's own elements: the smallest change, and the surest.
        Self::change_elements,
        // Takes back some of these changes, so that later passes can take the lines.
        Self::keep_constant_indices,
        // Searches around the lines of the kernel, before accesses go to other lines.
        Self::add_lines_without_access,
        // For the declarations that all lines see, the lines without an access, too.
        Self::see_one_object,
        // A line that uses a macro changes in the definition, and not by its address.
        Self::change_macros,
        // The line or its call shows the address.
        Self::change_calls,
        Self::take_back_misplaced,
        // From here on, the open lines do not show the address. First, definitions that show
        // by themselves what they return or take, ...
        Self::move_to_calls_of_references,
        Self::move_to_lambdas,
        // ... then whole functions, whose lines must all be open, ...
        Self::change_pointer_parameters,
        // ... then what is only likely: it asks which lines of the function change by now.
        Self::move_to_lines_of_the_source,
        Self::move_to_callers_of_methods,
        // Lines that are still open now stay open: states the reason.
        Self::see_torn_objects,
        // For functions with changed pointers, whose number is now final.
        Self::add_unreached_lines,
        // What all passes have changed leaves no access of its line as it is.
        Self::take_back_incomplete,
        // Renames what the passes before it made.
        Self::change_one_object,
        // For the text of the lines that are open in the end.
        Self::see_scopes,
    ];

    fn open(&mut self) -> impl Iterator<Item = &mut LineChange> {
        self.lines.changes.iter_mut().filter(|l| l.is_by_hand())
    }

    fn count_from_the_start(&mut self, _: &mut SourceFiles) {
        let Lines { changes, form, .. } = &mut self.lines;
        if let Some(form) = form.as_ref().filter(|form| form.brackets() > 1) {
            count_from_the_start(changes, self.mapped.array, form.brackets());
        }
    }

    /// Wide accesses stay whole under every mapping that is suggested.
    fn change_elements(&mut self, sources: &mut SourceFiles) {
        for line in &mut self.lines.changes {
            let seen = line.source.as_deref();
            let declarations = &self.lines.declarations;
            if let Some(seen) = seen.and_then(|place| declarations.seen_from(place, sources)) {
                change_elements(line, seen, self.mapped, sources);
            }
        }
    }

    fn keep_constant_indices(&mut self, _: &mut SourceFiles) {
        let Lines { changes, form, .. } = &mut self.lines;
        if let Some(form) = form {
            constant_indices::keep_named(changes, self.target, form, self.mapped.array);
        }
    }

    fn add_lines_without_access(&mut self, sources: &mut SourceFiles) {
        let known = &self.lines.changes;
        let more = without_access::lines(known, self.mapped, &self.lines.declarations, sources);
        self.lines.changes.extend(more);
    }

    fn see_one_object(&mut self, sources: &mut SourceFiles) {
        let mut places = self.lines.changes.iter().flat_map(LineChange::places);
        let array = self.mapped.array;
        self.lines.is_one_object =
            self.lines.form.is_none() && places.any(|place| is_one_object(place, array, sources));
    }

    fn change_macros(&mut self, sources: &mut SourceFiles) {
        let lines = &mut self.lines;
        named_elements::change(
            &mut lines.changes,
            self.mapped,
            &lines.declarations,
            sources,
        );
    }

    fn change_calls(&mut self, sources: &mut SourceFiles) {
        self.types = change_calls(&mut self.lines.changes, self.mapped, sources);
    }

    fn take_back_misplaced(&mut self, _: &mut SourceFiles) {
        misplaced::take_back(&mut self.lines.changes, self.mapped, &self.others);
    }

    fn move_to_calls_of_references(&mut self, sources: &mut SourceFiles) {
        let lines = &mut self.lines;
        references::to_their_calls(
            &mut lines.changes,
            self.mapped,
            &lines.declarations,
            sources,
        );
    }

    fn move_to_lambdas(&mut self, sources: &mut SourceFiles) {
        let lines = &mut self.lines;
        lambdas::to_their_lines(
            &mut lines.changes,
            self.mapped,
            &lines.declarations,
            sources,
        );
    }

    fn change_pointer_parameters(&mut self, sources: &mut SourceFiles) {
        let changes = &mut self.lines.changes;
        pointer_parameters::change(changes, self.target, self.mapped, sources);
    }

    fn move_to_lines_of_the_source(&mut self, sources: &mut SourceFiles) {
        moved_by_compiler::to_their_lines(
            &mut self.lines.changes,
            &self.types,
            self.mapped,
            sources,
        );
    }

    fn move_to_callers_of_methods(&mut self, sources: &mut SourceFiles) {
        let changes = &mut self.lines.changes;
        let mut callers = methods::to_their_callers(changes, self.mapped.array, sources);
        change_calls(&mut callers, self.mapped, sources);
        self.lines.changes.extend(callers);
    }

    /// A mapping splits a single object into its members anyway.
    fn see_torn_objects(&mut self, _: &mut SourceFiles) {
        if self.lines.is_one_object {
            return;
        }
        let types = std::mem::take(&mut self.types);
        let Mapped { array, unit, .. } = self.mapped;
        let has_objects = |place: &str| {
            let (file, line) = split(place)?;
            Some(types.get(file)?.kept(array, Some(unit)).has_objects(line))
        };
        for line in self.open() {
            let is_object = line.places().any(|place| has_objects(place) == Some(true));
            if is_object && !line.is_of_rows() {
                line.parts = Parts::TornObjects;
            }
        }
    }

    fn add_unreached_lines(&mut self, sources: &mut SourceFiles) {
        let more = unreached::lines(&self.lines.changes, self.mapped, sources);
        self.lines.changes.extend(more);
    }

    fn take_back_incomplete(&mut self, sources: &mut SourceFiles) {
        other_names::take_back(&mut self.lines.changes, self.mapped, sources);
    }

    fn change_one_object(&mut self, sources: &mut SourceFiles) {
        if !self.lines.is_one_object {
            return;
        }
        let mapped = self.mapped;
        for line in self.open() {
            let source = line.source.as_deref();
            line.call = source.and_then(|s| method_change(s, mapped, sources));
        }
        handed_objects::change(&mut self.lines.changes, mapped, sources);
        of_one_object(&mut self.lines.changes, mapped);
    }

    fn see_scopes(&mut self, sources: &mut SourceFiles) {
        let Lines {
            changes,
            declarations,
            ..
        } = &mut self.lines;
        for line in changes.iter_mut().filter(|l| l.is_by_hand()) {
            line.out_of_scope = is_out_of_scope(line, self.mapped.array, declarations, sources);
        }
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
    mapped: Mapped,
    sources: &mut SourceFiles,
) -> Vec<LineChange> {
    let Mapped {
        array, function, ..
    } = mapped;
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
    mapped: Mapped,
    sources: &mut SourceFiles,
) -> BTreeMap<String, Types> {
    let Mapped { array, unit, .. } = mapped;
    let mut types: BTreeMap<String, Types> = BTreeMap::new();
    for line in changes.iter_mut().filter(|l| l.is_by_hand()) {
        let Some((file, _)) = line.source.as_deref().and_then(split) else {
            continue;
        };
        let known = types.entry(file.to_owned());
        let known = known.or_insert_with(|| Types::of(file, sources));
        let mut change = |unit| call_of(line, known.kept(array, unit), mapped, sources);
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
fn of_one_object(changes: &mut [LineChange], mapped: Mapped) {
    let (called, array) = (format!("{}_at(", mapped.function), mapped.array);
    let (old, new) = (mapped.at(), format!("{called}&{array}, "));
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

/// The statement that changes instead of a line, if it shows the address.
fn call_of(
    line: &LineChange,
    kept: Kept,
    mapped: Mapped,
    sources: &mut SourceFiles,
) -> Option<CallChange> {
    let (source, chain) = (line.source.as_deref()?, line.chain());
    call_change(&chain[0], &chain[1..], mapped, sources)
        .or_else(|| pointer_change(source, (line.only_op()?, kept), mapped, sources))
        .or_else(|| returned_change(source, kept, mapped, sources))
        .or_else(|| macro_change(source, mapped, sources))
        .or_else(|| pointers_change(source, kept, mapped, sources))
}

/// The index of access site `pc`, whose PTX line is in `place`, in elements of the target.
pub(in crate::suggest) fn element_index(
    target: &Target,
    tuned: &Tuned,
    pc: u32,
    place: &Place,
) -> Option<SourceIndex> {
    let key = (place.ptx_file.clone(), place.ptx_line?);
    let mut index = tuned.indices.get(&key)?.clone();
    index.constant += target.offset_of(&index.variable, tuned.trace)?;
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
pub(in crate::suggest) fn lanes<'a>(
    access: &'a Access,
    trace: &'a AccessTrace,
) -> impl Iterator<Item = (u32, [u32; 3])> + 'a {
    let [x, y, _] = trace.block_dim;
    let first = access.warp * trace.warp_size;
    let lanes = access.addrs.iter().zip(first..);
    lanes.filter_map(move |(word, t)| Some(((*word)?, [t % x, t / x % y, t / (x * y)])))
}
