//! The names of a module: those in use, and those that differ only by case.

use crate::number::Number;
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// The names that a module has: those of its ports, signals and parameters, of
/// the sizes, codes and indices that it uses, of its instances, loops and
/// properties.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeSet<&'static str>);

impl Names {
    pub(crate) fn add(&mut self, name: &'static str) {
        self.0.insert(name);
    }

    /// Adds what a number is computed of.
    pub(crate) fn add_number(&mut self, number: &Number) {
        number.names(&mut |name| self.add(name));
    }

    /// Adds the names in an expression.
    pub(crate) fn add_tree(&mut self, tree: &Tree) {
        tree.names(&mut |name| self.add(name));
    }

    pub(crate) fn have(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    pub(crate) fn all(&self) -> &BTreeSet<&'static str> {
        &self.0
    }

    /// Two names that differ only by case. Verilog tells them apart. A reader,
    /// VHDL and some netlists do not, and Verilator warns of them.
    pub(crate) fn alike(&self) -> Option<[&'static str; 2]> {
        let mut known = BTreeMap::new();
        let mut names = self.0.iter();
        names.find_map(|name| {
            let first = known.insert(name.to_lowercase(), *name)?;
            Some([first, *name])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::Size;

    #[test]
    fn names_that_differ_only_by_case_are_found() {
        let mut names = Names::default();
        names.add("w");
        names.add_number((Size::named("L", 4) * 2).number());
        assert_eq!(names.alike(), None);
        names.add_tree(&Tree::Number(Size::named("W", 4).number()));
        assert_eq!(names.alike(), Some(["W", "w"]));
    }
}
