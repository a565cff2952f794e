//! A line of the source that changes.

use crate::suggest::source::declarations::Declaration;
use crate::suggest::source::edits::{CallChange, Maps};
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::word;
use serde::Serialize;
use spadkit_mapping::trace::Op;
use std::collections::{BTreeMap, BTreeSet};

/// A line that accesses the array.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LineChange {
    /// `file:line`, where the PTX says it.
    pub source: Option<String>,
    /// The calls through which it came into the kernel, the innermost first.
    pub inlined_at: Vec<String>,
    /// The lines in headers of the CUDA toolkit that it leads to, the innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<String>,
    /// The source text, if the file is found.
    pub text: Option<String>,
    /// The source text, changed, if the file declares the array so that the change is
    /// certain.
    pub changed_text: Option<String>,
    /// The source text with the changes of all suggestions, where others change it,
    /// too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_others: Option<String>,
    /// The declaration behind the changed text.
    #[serde(skip)]
    pub(in crate::suggest) declared: Option<Declaration>,
    /// The statement to change instead: the call of a function with one `asm`
    /// statement, or an access through a pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallChange>,
    /// The parts of the array that it accesses.
    #[serde(rename = "takes_apart", skip_serializing_if = "Parts::stay_whole")]
    pub parts: Parts,
    /// The line to which the compiler has moved its access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
    /// The other array whose address the line has: the compiler gives the line an access that
    /// belongs to another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_of: Option<String>,
    /// The other arrays that the line accesses through the same pointer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared_with: Vec<String>,
    /// Other names through which the line accesses the array, where it changes by hand for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_through: Vec<String>,
    /// The other kernel that calls its function with memory of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called_by: Option<String>,
    /// Other files that use the macro or the function which it defines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used_in: Vec<String>,
    /// Whether the array is out of scope in the line, which has another name for it: the
    /// parameter of a function, for example.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub out_of_scope: bool,
    /// Conflicts without the change.
    pub conflicts: u64,
    /// Accesses of the line, in the order of the PTX.
    pub accesses: Vec<AccessChange>,
}

/// The parts of an array that a line accesses, if they decide how it changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Parts {
    /// Elements, or what of them a mapping keeps together.
    #[default]
    Elements,
    /// Objects that the mapping takes apart: their members have to be copied one by one.
    TornObjects,
    /// Parts of the variable, which is one object.
    OfOneObject,
    /// Objects in the variable, which is one object, too.
    TornInOneObject,
    /// Rows of matrices, whose addresses wmma computes itself: bytes from row to row.
    Rows(BTreeSet<u32>),
}

impl Parts {
    /// Whether they are what their lines name, and no objects.
    fn are_elements(&self) -> bool {
        matches!(self, Parts::Elements | Parts::Rows(_))
    }

    fn stay_whole(&self) -> bool {
        !self.are_torn()
    }

    /// Whether the mapping takes apart what the line accesses.
    pub fn are_torn(&self) -> bool {
        matches!(self, Parts::TornObjects | Parts::TornInOneObject)
    }
}

/// Serialised as a boolean: whether the mapping takes them apart.
impl Serialize for Parts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(!self.stay_whole())
    }
}

/// Libraries of the toolkit that get arrays by reference: the folder of their headers, and
/// their names.
const LIBRARIES: [(&str, &str); 2] = [("cub", "CUB"), ("thrust", "Thrust")];

/// The library of the toolkit that has one of these headers.
pub(in crate::suggest) fn library_of(headers: &[String]) -> Option<&'static str> {
    let folders = headers.iter().flat_map(|header| header.split(['/', '\\']));
    let mut known = folders.filter_map(|f| LIBRARIES.iter().find(|(folder, _)| *folder == f));
    known.next().map(|(_, name)| *name)
}

/// Keeps what both lists begin with.
fn keep_common(own: &mut Vec<String>, other: &[String]) {
    let both = own.iter().zip(other);
    let same = both.take_while(|(own, other)| own == other).count();
    own.truncate(same);
}

/// Whether the code of a line names `array`; a comment or a literal does not.
pub(in crate::suggest) fn names(text: &str, array: &str) -> bool {
    word(&Text::new(text.to_owned()).masked, array).is_some()
}

impl LineChange {
    /// The library of the toolkit in whose headers its accesses are.
    pub(in crate::suggest) fn library(&self) -> Option<&'static str> {
        library_of(&self.through)
    }

    /// `file:line` of the statement to change: that of the call, where the line
    /// itself is an `asm` statement.
    pub fn place(&self) -> Option<&str> {
        let call = self.call.as_ref().map(|c| c.source.as_str());
        call.or(self.source.as_deref())
    }

    /// `file:line` of the access, of the calls around it, and of the statement.
    pub(in crate::suggest) fn places(&self) -> impl Iterator<Item = &str> {
        let call = self.call.as_ref().map(|c| &c.source);
        let all = self.source.iter().chain(&self.inlined_at).chain(call);
        all.map(String::as_str)
    }

    /// `file:line` of the access itself, and of the calls around it.
    pub(in crate::suggest) fn chain(&self) -> Vec<String> {
        let own = self.through.iter().chain(&self.source);
        own.chain(&self.inlined_at).cloned().collect()
    }

    /// The operation of all of its accesses, if it is the same.
    pub(in crate::suggest) fn only_op(&self) -> Option<Op> {
        let mut ops = self.accesses.iter().map(|a| a.op);
        let first = ops.next()??;
        ops.all(|op| op == Some(first)).then_some(first)
    }

    /// Whether the line accesses `array` through another name: a pointer into it.
    pub fn is_through_a_pointer(&self, array: &str) -> bool {
        let text = self.text.as_ref();
        text.is_some_and(|t| !names(t, array)) && self.in_names_of_the_source().is_none()
    }

    /// Whether the text is an `asm` statement, whose operand is an address.
    pub(in crate::suggest) fn is_asm(&self) -> bool {
        self.text.as_ref().is_some_and(|text| names(text, "asm"))
    }

    /// Whether it loads or stores a matrix by rows, whose addresses wmma computes itself.
    pub fn is_of_rows(&self) -> bool {
        matches!(self.parts, Parts::Rows(_))
    }

    /// Whether its call maps each element that it names through a pointer.
    pub(in crate::suggest) fn is_by_pointers(&self) -> bool {
        matches!(self.maps(), Some(Maps::Pointers | Maps::Both))
    }

    /// Whether its statement changes element by element, so that the compiler no longer
    /// sees which of them are neighbours.
    pub(in crate::suggest) fn changes_elements(&self) -> bool {
        match self.maps() {
            Some(maps) => maps != Maps::Address,
            None => self.changed_text.is_some(),
        }
    }

    /// The addresses or indices that its call maps.
    pub(in crate::suggest) fn maps(&self) -> Option<Maps> {
        self.call.as_ref().map(|call| call.maps)
    }

    /// Adds bytes from row to row of the matrices that it loads or stores.
    pub(in crate::suggest) fn add_rows(&mut self, bytes: &BTreeSet<u32>) {
        match &mut self.parts {
            Parts::Rows(known) => known.extend(bytes),
            parts if !bytes.is_empty() => *parts = Parts::Rows(bytes.clone()),
            _ => {}
        }
    }

    /// Takes over the accesses of another line.
    pub(in crate::suggest) fn take_accesses(&mut self, other: LineChange) {
        if let Parts::Rows(bytes) = &other.parts {
            self.add_rows(bytes);
        }
        self.conflicts += other.conflicts;
        self.accesses.extend(other.accesses);
    }

    /// Whether two are one line of the source that changes in one way, in two calls of its
    /// function.
    pub(in crate::suggest) fn is_copy_of(&self, other: &LineChange) -> bool {
        let change = |l: &LineChange| {
            let texts = (l.text.clone(), l.changed_text.clone(), l.moved_to.clone());
            let others = (l.also_through.clone(), l.called_by.clone());
            (
                texts,
                others,
                l.parts.clone(),
                l.call.clone(),
                l.out_of_scope,
            )
        };
        self.source.is_some() && self.source == other.source && change(self) == change(other)
    }

    /// Takes over the accesses of another copy, and keeps the calls that lead to both.
    pub(in crate::suggest) fn take_copy(&mut self, other: LineChange) {
        keep_common(&mut self.inlined_at, &other.inlined_at);
        keep_common(&mut self.through, &other.through);
        self.take_accesses(other);
    }

    /// The statement before and after the change, if both are certain.
    pub fn statement(&self) -> Option<(&str, &str)> {
        match &self.call {
            Some(call) => Some((&call.text, &call.changed_text)),
            None => Some((self.text.as_deref()?, self.changed_text.as_deref()?)),
        }
    }

    /// Whether its change is not given as a whole statement.
    pub fn is_by_hand(&self) -> bool {
        self.statement().is_none()
    }

    /// The statement before the change, and with the changes of all suggestions.
    pub fn statement_with_others(&self) -> Option<(&str, &str)> {
        let (old, new) = self.statement()?;
        Some((old, self.with_others.as_deref().unwrap_or(new)))
    }

    /// Each element that the line accesses, before and after, the one with most
    /// conflicts first; `None` where an index has names that the source does not
    /// have.
    pub fn in_names_of_the_source(&self) -> Option<Vec<(&str, &str)>> {
        // An index of words is none of objects, and the name says nothing out of its scope.
        if !self.parts.are_elements() || self.out_of_scope {
            return None;
        }
        let mut worst: Vec<&AccessChange> = self.accesses.iter().collect();
        worst.sort_by_key(|a| std::cmp::Reverse(a.conflicts));
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for access in worst {
            if !access.stands_for.is_empty() {
                return None;
            }
            let pair = (access.expression.as_deref()?, access.changed.as_deref()?);
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        (!pairs.is_empty()).then_some(pairs)
    }
}

/// An instruction of a line.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AccessChange {
    /// The access site.
    #[serde(skip)]
    pub(in crate::suggest) pc: u32,
    /// Operation of the access.
    #[serde(skip)]
    pub(in crate::suggest) op: Option<Op>,
    /// 1-based line of the PTX.
    pub ptx_line: Option<u32>,
    /// The file of the PTX, where several are linked.
    pub ptx_file: Option<String>,
    /// Conflicts without the change.
    pub conflicts: u64,
    /// The array element that it accesses first, in CUDA C++; `None` where it
    /// does not follow from the PTX.
    pub expression: Option<String>,
    /// The array element under the mapping, in CUDA C++.
    pub changed: Option<String>,
    /// Names in the expression that are not CUDA's, and what they stand for.
    pub stands_for: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_no_name_of_the_array() {
        let line = |text: &str| LineChange {
            text: Some(text.to_owned()),
            ..LineChange::default()
        };
        assert!(!line("tile[i] = 1;").is_through_a_pointer("tile"));
        for text in ["*p = 1;", "*p = 1; // fill tile", "p[0] = f(\"tile\");"] {
            assert!(line(text).is_through_a_pointer("tile"), "{text}");
        }
    }
}
