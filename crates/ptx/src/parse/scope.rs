//! Names inside a function: scopes, registers on their first use, labels.

use crate::ast::{Function, Register, RegisterInfo};
use crate::names::Type;
use crate::token::Token;
use std::collections::HashMap;

/// The meaning of a name of a scope.
#[derive(Clone, Copy)]
pub(super) enum Named {
    /// A register that the code named before.
    Register(Register),
    /// The first of the registers of a vector, and how many.
    Vector(Register, u32),
    /// A declared register that the code has not named yet.
    Declared(Type, u32),
    /// Index in [`Function::variables`].
    Variable(u32),
    /// Index in the variables of the module: `.global` and `.const` live as long as it.
    Module(u32),
}

/// `%r<10>`: the registers `%r0` to `%r9`.
pub(super) struct Range<'a> {
    prefix: &'a str,
    count: u64,
    ty: Type,
    vector: u32,
}

/// A label's name where it is used, before its scope ends.
pub(super) struct Pending<'a> {
    pub name: &'a str,
    pub token: Token,
    pub place: Place,
}

/// The place where the index of a label belongs.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Instruction and operand.
    Operand(usize, usize),
    /// Label and position in its list of branch targets.
    Branches(usize, usize),
}

/// One `{ }`.
#[derive(Default)]
pub(super) struct Scope<'a> {
    pub names: HashMap<&'a str, Named>,
    pub ranges: Vec<Range<'a>>,
    pub labels: HashMap<&'a str, u32>,
    /// Number of pending labels where the scope began.
    pub pending: usize,
}

impl<'a> Scope<'a> {
    /// Declares a name; false where the scope has it already.
    pub fn declare(&mut self, name: &'a str, named: Named) -> bool {
        self.names.insert(name, named).is_none()
    }

    /// Declares `prefix<count>`.
    pub fn declare_range(&mut self, prefix: &'a str, count: u64, ty: Type, vector: u32) {
        self.ranges.push(Range {
            prefix,
            count,
            ty,
            vector,
        });
    }

    /// The meaning of `name` in this scope, which `function` then has.
    fn find(&mut self, name: &'a str, function: &mut Function) -> Option<Named> {
        let (ty, vector) = match self.names.get(name) {
            Some(Named::Declared(ty, vector)) => (*ty, *vector),
            Some(named) => return Some(*named),
            None => {
                let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
                if digits == 0 || self.ranges.is_empty() {
                    return None;
                }
                let range = self.ranges.iter().find(|r| r.has(name, digits))?;
                (range.ty, range.vector)
            }
        };
        let named = add_registers(function, name, ty, vector);
        self.names.insert(name, named);
        Some(named)
    }
}

impl Range<'_> {
    /// Whether it has `name`, the last `digits` bytes of which are digits.
    /// The prefix may end in digits, too.
    fn has(&self, name: &str, digits: usize) -> bool {
        let Some(number) = name.strip_prefix(self.prefix) else {
            return false;
        };
        let plain = !number.is_empty() && number.len() <= digits;
        let canonical = number == "0" || !number.starts_with('0');
        plain && canonical && number.parse::<u64>().is_ok_and(|n| n < self.count)
    }
}

fn add_registers(function: &mut Function, name: &str, ty: Type, vector: u32) -> Named {
    let first = Register(function.registers.len() as u32);
    if vector == 1 {
        let name = name.to_owned();
        function.registers.push(RegisterInfo { name, ty });
        return Named::Register(first);
    }
    for element in ["x", "y", "z", "w"].iter().take(vector as usize) {
        let name = format!("{name}.{element}");
        function.registers.push(RegisterInfo { name, ty });
    }
    Named::Vector(first, vector)
}

/// The innermost meaning of `name`.
pub(super) fn find<'a>(
    scopes: &mut [Scope<'a>],
    function: &mut Function,
    name: &'a str,
) -> Option<Named> {
    let found = scopes.iter_mut().rev().find_map(|s| s.find(name, function));
    if found.is_some() {
        return found;
    }
    // An element of a vector, `%v.x`.
    let (vector, element) = name.rsplit_once('.').filter(|(v, _)| !v.contains('.'))?;
    let index = match element {
        "x" | "r" => 0,
        "y" | "g" => 1,
        "z" | "b" => 2,
        "w" | "a" => 3,
        _ => return None,
    };
    match find(scopes, function, vector)? {
        Named::Vector(first, n) if index < n => Some(Named::Register(Register(first.0 + index))),
        _ => None,
    }
}
