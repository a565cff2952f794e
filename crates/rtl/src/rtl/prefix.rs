//! A prefix before every module's name, so that the blocks of two
//! machines can coexist in one chip.

use super::design::Design;
use crate::error::{Error, Result};
use std::collections::BTreeSet;

impl Design {
    /// The design with `prefix` before the name of every module: in the
    /// Verilog, its comments included, and in the names of the files. Units
    /// keep their names, [`top`](super::EmittedUnit::top) is their module.
    ///
    /// Fails where a module's name would be no plain Verilog identifier.
    pub fn with_prefix(mut self, prefix: &str) -> Result<Self> {
        check(prefix)?;
        let all = self.files.iter().chain(&self.system);
        let modules: BTreeSet<String> = all.map(|f| f.module().to_owned()).collect();
        let files = self.files.iter_mut().chain(&mut self.system);
        for file in files.chain(&mut self.asserted) {
            file.text = renamed(&file.text, &modules, prefix);
            file.name.insert_str(0, prefix);
        }
        for unit in &mut self.units {
            unit.top.insert_str(0, prefix);
            unit.files.iter_mut().for_each(|f| f.insert_str(0, prefix));
        }
        self.prefix = prefix.to_owned() + &self.prefix;
        Ok(self)
    }
}

fn check(prefix: &str) -> Result<()> {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = prefix.chars().next().is_none_or(letter);
    if starts && prefix.len() <= 64 && prefix.chars().all(plain) {
        return Ok(());
    }
    Err(Error::usage(
        format!("prefix {prefix:?} cannot stand in front of a module's name"),
        "expected at most 64 letters, digits and '_', no digit first, such as big_",
    ))
}

/// `text` with `prefix` before every identifier of `modules`.
fn renamed(text: &str, modules: &BTreeSet<String>, prefix: &str) -> String {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        if modules.contains(word) {
            out.push_str(prefix);
        }
        out.push_str(word);
        let next = behind.find(in_word).unwrap_or(behind.len());
        out.push_str(&behind[..next]);
        rest = &behind[next..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn whole_names_of_modules_are_renamed_and_nothing_else() {
        let modules = BTreeSet::from(["spad_rap".to_owned()]);
        let text = "// spad_rap: it\nspad_rap spad_rap_2(.a(my_spad_rap), .spad_rap$(1'b0)); é";
        let expected =
            "// p_spad_rap: it\np_spad_rap spad_rap_2(.a(my_spad_rap), .spad_rap$(1'b0)); é";
        assert_eq!(renamed(text, &modules, "p_"), expected);
    }

    #[test]
    fn everything_of_a_design_is_renamed() {
        let config = Config::preset("small").unwrap();
        let plain = Design::emit(&["spad_sm_path".into()], &config).unwrap();
        let design = plain.clone().with_prefix("big_").unwrap();
        let unit = &design.units[0];
        assert_eq!(
            (&*unit.name, &*unit.top),
            ("spad_sm_path", "big_spad_sm_path")
        );
        assert_eq!(design.files_of(unit).len(), plain.files.len());
        for (file, old) in design.files.iter().zip(&plain.files) {
            assert_eq!(file.name, format!("big_{}", old.name));
            let text = &file.text;
            assert_eq!(text.replace("big_spad_", "spad_"), old.text);
            for module in &plain.files {
                let name = module.name.trim_end_matches(".v");
                let is_plain = |at: usize| !text[..at].ends_with("big_");
                let end = |at: usize| text[at + name.len()..].chars().next();
                let whole = |at: usize| end(at).is_none_or(|c| !c.is_alphanumeric() && c != '_');
                let found = text.match_indices(name);
                assert!(!found.map(|(at, _)| at).any(|at| is_plain(at) && whole(at)));
            }
        }
    }

    #[test]
    fn a_prefix_that_makes_no_identifier_is_refused() {
        let config = Config::preset("small").unwrap();
        let design = Design::emit(&["spad_rap".into()], &config).unwrap();
        for bad in ["1_", "a b", "a-", "é_", "a/../", "$x", &"a".repeat(65)] {
            let error = design.clone().with_prefix(bad).unwrap_err();
            assert_eq!(error.exit_status(), 2);
        }
        assert_eq!(design.clone().with_prefix("").unwrap().files, design.files);
    }
}
