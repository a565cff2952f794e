//! Check of modifiers: an instruction has those of one of the forms of its opcode
//! (`opcodes::words`), each once.

use super::forms::listed;
use super::operand::Reason;
use crate::ast::{Function, Instruction, Module, Operand};
use crate::names::{Modifier, Type, Word};
use crate::opcodes::{Class, Opcode, Syntax, Types, Words};
use std::cmp::Reverse;

/// A modifier of an instruction that a form has no place for.
#[derive(Clone, Copy)]
enum Wrong {
    /// A modifier that the form does not have.
    Unknown(Modifier),
    /// Two words of which there can be one.
    Both(Word, Word),
    /// A type where others are expected.
    Type(Type, Types),
    /// A type after all that the form has.
    More(Type),
    /// None of these words, of which it needs one.
    Missing(Words),
}

/// The comparison of an instruction with a form.
struct Comparison {
    form: &'static Syntax,
    /// Modifiers that the form has.
    known: usize,
    wrong: Option<Wrong>,
    /// By group of words that the form needs, then by group that it may have, the word that
    /// is there.
    given: Vec<Option<Word>>,
    spaces: usize,
}

impl Comparison {
    fn of(i: &Instruction, form: &'static Syntax) -> Self {
        let groups = form.needs.len() + form.may.len();
        let mut all = Comparison {
            form,
            known: 0,
            wrong: None,
            given: vec![None; groups],
            spaces: 0,
        };
        let mut types = form.types.iter();
        let mut shape = form.shape;
        for &modifier in i.modifiers.iter() {
            let wrong = match modifier {
                Modifier::Word(word) => all.word(word),
                Modifier::Space(space) => {
                    let allowed = form.spaces.get(all.spaces);
                    all.spaces += 1;
                    let allowed = allowed.is_some_and(|spaces| spaces.contains(&space));
                    (!allowed).then_some(Wrong::Unknown(modifier))
                }
                Modifier::Type(ty) => match types.next() {
                    None => Some(Wrong::More(ty)),
                    Some(types) if types.is_empty() || types.contains(&ty) => None,
                    Some(types) => Some(Wrong::Type(ty, types)),
                },
                Modifier::Group(_) => {
                    (!std::mem::take(&mut shape)).then_some(Wrong::Unknown(modifier))
                }
            };
            all.known += usize::from(wrong.is_none());
            all.wrong = all.wrong.or(wrong);
        }
        let missing = form.needs.iter().zip(&all.given).find(|g| g.1.is_none());
        all.wrong = all
            .wrong
            .or(missing.map(|(words, _)| Wrong::Missing(words)));
        all
    }

    fn groups(&self) -> impl Iterator<Item = (Words, Option<Word>)> {
        let all = self.form.needs.iter().chain(self.form.may).copied();
        all.zip(self.given.iter().copied())
    }

    /// Puts a word into its group.
    fn word(&mut self, word: Word) -> Option<Wrong> {
        let of = |group: &(Words, Option<Word>)| group.0.contains(&word);
        let free = self.groups().position(|g| of(&g) && g.1.is_none());
        if let Some(free) = free {
            self.given[free] = Some(word);
            return None;
        }
        let other = self.groups().find(of).and_then(|g| g.1);
        Some(match other {
            Some(other) => Wrong::Both(other, word),
            None => Wrong::Unknown(Modifier::Word(word)),
        })
    }

    /// Likeness of an instruction and a form that it does not have. The form that is meant
    /// has the highest: it has the most of the modifiers, and misses the least.
    fn likeness(&self) -> (usize, Reverse<usize>) {
        let needs = &self.given[..self.form.needs.len()];
        let missing = needs.iter().filter(|word| word.is_none()).count();
        (self.known, Reverse(missing))
    }

    fn reason(&self, i: &Instruction, wrong: Wrong) -> Reason {
        let name = self.name(i);
        match wrong {
            Wrong::Unknown(modifier) => {
                let text = modifier.text();
                match self.expected() {
                    None => format!("`{name}` has no .{text}"),
                    Some(expected) => format!("`{name}` has no .{text}: expected {expected}"),
                }
            }
            Wrong::Both(first, second) if first == second => {
                format!("`{}` has .{} twice", i.opcode.text(), first.text())
            }
            Wrong::Both(first, second) => format!(
                "`{}` has .{} and .{}, of which there can be one",
                i.opcode.text(),
                first.text(),
                second.text()
            ),
            Wrong::Type(ty, types) => format!(
                "`{name}` has no .{}: expected {}",
                ty.text(),
                one_of(types.iter().map(|t| t.text()))
            ),
            Wrong::More(ty) => match self.form.types.len() {
                0 => format!("`{name}` has no type, and so no .{}", ty.text()),
                1 => format!("`{name}` has one type: .{} is another", ty.text()),
                count => format!("`{name}` has {count} types: .{} is another", ty.text()),
            },
            Wrong::Missing(words) => format!(
                "`{name}` is incomplete: expected {}",
                one_of(words.iter().map(|w| w.text()))
            ),
        }
    }

    /// The opcode with the words that the form needs.
    fn name(&self, i: &Instruction) -> String {
        let mut name = i.opcode.text().to_owned();
        let needs = &self.given[..self.form.needs.len()];
        for modifier in i.modifiers.iter() {
            if let Modifier::Word(word) = modifier
                && needs.contains(&Some(*word))
            {
                name += ".";
                name += word.text();
            }
        }
        name
    }

    /// The words that may be added.
    fn expected(&self) -> Option<String> {
        let open = self.groups().filter(|g| g.1.is_none());
        let words = open.flat_map(|g| g.0.iter().map(|w| w.text()));
        let spaces = self.form.spaces.iter().skip(self.spaces).copied();
        let spaces = spaces.flatten().map(|s| s.text());
        let all: Vec<&str> = words.chain(spaces).collect();
        (!all.is_empty()).then(|| one_of(all.into_iter()))
    }
}

fn one_of<'t>(words: impl ExactSizeIterator<Item = &'t str>) -> String {
    match words.len() {
        1 => listed(words),
        _ => format!("one of {}", listed(words)),
    }
}

/// Checks the modifiers of an instruction. Hints do nothing here. Asked last: other reasons
/// say more.
pub(super) fn check(i: &Instruction, module: &Module, body: &Function) -> Result<(), Reason> {
    if matches!(i.opcode.class(), Class::Hint | Class::Refused(_)) {
        return Ok(());
    }
    if i.has(Word::Other) {
        return Err(is_unknown(unknown(i, module)));
    }
    let mut others: Vec<Comparison> = Vec::new();
    for form in i.opcode.row().forms {
        let one = Comparison::of(i, form);
        if one.wrong.is_none() {
            return policy(i, body).and_then(|()| cached(i));
        }
        others.push(one);
    }
    // The first of those that are most like it.
    let meant = others.iter().rev().max_by_key(|one| one.likeness());
    match meant.and_then(|one| Some((one, one.wrong?))) {
        Some((one, wrong)) => Err(one.reason(i, wrong)),
        None => Ok(()),
    }
}

/// Refuses kinds of products that nobody knows: types and operands depend on them.
pub(super) fn check_kind(i: &Instruction, module: &Module) -> Result<(), Reason> {
    let unknown = i.has(Word::Other).then(|| unknown(i, module));
    match unknown.filter(|word| word.starts_with("kind::")) {
        Some(kind) => Err(is_unknown(kind)),
        None => Ok(()),
    }
}

fn is_unknown(word: &str) -> Reason {
    format!("the modifier .{word} is not supported")
}

/// The operand of `.L2::cache_hint`, after all others.
fn policy(i: &Instruction, body: &Function) -> Result<(), Reason> {
    let others = match i.opcode {
        Opcode::Atom if i.has(Word::Cas) => 4,
        Opcode::Atom => 3,
        Opcode::Ld | Opcode::St | Opcode::Red => 2,
        // Copies.
        _ if i.has(Word::Tensor) => 1,
        _ if i.has(Word::Prefetch) => 2,
        _ => 3,
    };
    let given = match i.operands.last() {
        Some(Operand::Register(r)) => body.registers[r.0 as usize].ty.bits() == 64,
        Some(Operand::Immediate(_)) => true,
        _ => false,
    };
    if i.has(Word::L2CacheHint) && !(given && i.operands.len() > others) {
        return Err("`.L2::cache_hint` needs a policy of 64 bits as the last operand".to_owned());
    }
    Ok(())
}

/// `.nc` is for global memory, priorities of the second cache for accesses of 32 bytes.
fn cached(i: &Instruction) -> Result<(), Reason> {
    if i.has(Word::Nc) && i.space().is_none() {
        return Err("`ld.nc` needs .global".to_owned());
    }
    let words = [Word::L2EvictNormal, Word::L2EvictFirst, Word::L2EvictLast];
    let accesses = matches!(i.opcode.class(), Class::Load | Class::Store);
    let Some(word) = i.one_of(&words).filter(|_| accesses) else {
        return Ok(());
    };
    let bits = i.ty(0).map_or(0, Type::bits);
    let wide = i.has(Word::V8) && bits == 32 || i.has(Word::V4) && bits == 64;
    if wide {
        return Ok(());
    }
    Err(format!(
        "`.{}` needs .v8 with 32 bits or .v4 with 64 bits",
        word.text()
    ))
}

/// The first modifier that nobody knows, as it is written.
fn unknown<'m>(i: &Instruction, module: &'m Module) -> &'m str {
    let text = module.text_of(i.span);
    let words = text.split(|c: char| c.is_whitespace() || ".{[(;".contains(c));
    let is_other = |word: &&str| Modifier::from_text(word) == Modifier::Word(Word::Other);
    let opcode = words.skip_while(|word| *word != i.opcode.text()).skip(1);
    let word = opcode.filter(|word| !word.is_empty()).find(is_other);
    word.unwrap_or_default()
}
