//! Affine addresses for people, in the notation of the hash paper's Eq. 4:
//! `s = Sy·ty + Sx·tx + o`, with the offset spelled out.

use super::{Affine, Affines, Term};
use crate::ast::Parameter;

/// Bytes of the words that Eq. 4 counts in.
const WORD: i64 = 4;

impl Affines<'_> {
    /// An expression as text, and whether it is in words: where not
    /// everything is a multiple of 4 it is in bytes. `tx` is the thread index,
    /// `bx` the block index, `ntx` and `nbx` are their dimensions, `i85`
    /// counts the rounds of the loop that starts at line 85 of the PTX, and
    /// `u31` is what the instruction at line 31 computes.
    pub fn notation(&self, affine: &Affine) -> (String, bool) {
        let base = |term: &Term| matches!(term, Term::Base(_));
        let whole = |c: i64| c % WORD == 0;
        let words = whole(affine.constant)
            && affine.terms.iter().all(|(t, c)| {
                if base(t) {
                    *c == 1 && self.is_word_aligned(t)
                } else {
                    whole(*c)
                }
            });
        let unit = if words { WORD } else { 1 };
        let mut terms: Vec<&(Term, i64)> = affine.terms.iter().collect();
        terms.sort_by_key(|(t, _)| order(t));
        let mut text = String::new();
        let times = |number, name: &str| format!("{number}·{name}");
        for (term, coefficient) in terms {
            let coefficient = if base(term) {
                *coefficient
            } else {
                coefficient / unit
            };
            let names = term.factors().iter().map(|f| self.name(f));
            let names: Vec<String> = names.collect();
            push(&mut text, coefficient, &names.join("·"), times);
        }
        if affine.constant != 0 || text.is_empty() {
            push(&mut text, affine.constant / unit, "", times);
        }
        (text, words)
    }

    fn is_word_aligned(&self, term: &Term) -> bool {
        match term {
            Term::Base(symbol) => self
                .module
                .variable(self.function, *symbol)
                .align
                .is_multiple_of(4),
            _ => true,
        }
    }

    pub(super) fn name(&self, term: &Term) -> String {
        let function = self.function;
        let line = |at: u32| {
            function
                .instructions
                .get(at as usize)
                .map_or(0, |i| i.span.line)
        };
        let axis =
            |prefix: &str, at: &u8| format!("{prefix}{}", ['x', 'y', 'z'][usize::from(*at % 3)]);
        match term {
            Term::Tid(at) => axis("t", at),
            Term::Ctaid(at) => axis("b", at),
            Term::Ntid(at) => axis("nt", at),
            Term::Nctaid(at) => axis("nb", at),
            Term::Laneid => "lane".to_owned(),
            Term::Warpid => "warp".to_owned(),
            Term::Parameter { index, offset, .. } => {
                let name = match function.params.get(*index as usize) {
                    Some(Parameter::Variable(at)) => function.variables[*at as usize].name.clone(),
                    Some(Parameter::Register(r)) => function.registers[r.0 as usize].name.clone(),
                    None => format!("parameter {index}"),
                };
                match offset {
                    0 => name,
                    offset => format!("{name}[{offset}]"),
                }
            }
            Term::Trips(header) => {
                let first = self.cfg.blocks[*header as usize].start;
                format!("i{}", line(first))
            }
            Term::Base(symbol) => {
                plain_name(&self.module.variable(function, *symbol).name).to_owned()
            }
            Term::Opaque(value) => format!("u{}", line(self.reason(*value).at)),
            Term::Product(_) => String::new(),
        }
    }
}

/// Threads first, the y of Eq. 4 before the x, then what is the same for all.
pub(super) fn order(term: &Term) -> (u8, u8) {
    let of = |factor: &Term| match factor {
        Term::Tid(axis) => (0, 2 - axis),
        Term::Laneid => (1, 0),
        Term::Warpid => (2, 0),
        Term::Trips(_) => (3, 0),
        Term::Ctaid(axis) => (4, 2 - axis),
        Term::Parameter { .. } => (5, 0),
        Term::Opaque(_) => (6, 0),
        Term::Base(_) => (7, 0),
        _ => (5, 1),
    };
    term.factors().iter().map(of).min().unwrap_or((8, 0))
}

/// Adds `coefficient` of `name` to a sum; of no name, the number alone. `times`
/// writes a multiple.
pub(super) fn push(
    text: &mut String,
    coefficient: i64,
    name: &str,
    times: fn(u64, &str) -> String,
) {
    let sign = match (text.is_empty(), coefficient < 0) {
        (true, false) => "",
        (true, true) => "-",
        (false, false) => " + ",
        (false, true) => " - ",
    };
    text.push_str(sign);
    text.push_str(&match (coefficient.unsigned_abs(), name) {
        (number, "") => number.to_string(),
        (1, name) => name.to_owned(),
        (number, name) => times(number, name),
    });
}

/// The name of a variable without the function that a compiler puts in front:
/// `tile` of `_ZZ4copyPfE4tile`.
pub fn plain_name(name: &str) -> &str {
    let nested = name.strip_prefix("_ZN").and(name.strip_suffix('E'));
    let own = nested.unwrap_or(name);
    let starts = own.char_indices().filter(|(_, c)| c.is_ascii_digit());
    let mut found = starts.filter_map(|(at, _)| {
        let end = own[at..].find(|c: char| !c.is_ascii_digit())? + at;
        let length: usize = own[at..end].parse().ok()?;
        (name.starts_with("_Z") && length == own.len() - end).then(|| &own[end..])
    });
    // The last one: the variable comes after its function.
    found.next_back().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::plain_name;

    #[test]
    fn names_of_variables_in_functions() {
        assert_eq!(plain_name("_ZZ12through_tileILi0EEvPfPKfiiE4tile"), "tile");
        assert_eq!(plain_name("_ZZ4tileILi16EEvPiPKiiiiiE7similar"), "similar");
        assert_eq!(plain_name("_ZN2wp4tileE"), "tile");
        assert_eq!(plain_name("_ZN2wp1fEv"), "_ZN2wp1fEv");
        assert_eq!(plain_name("tile4abcd"), "tile4abcd");
        assert_eq!(plain_name("a"), "a");
    }
}
