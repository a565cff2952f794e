//! A prefix before every module's name, so that the blocks of two
//! machines can coexist in one chip.

use crate::error::{Error, Result};

/// Fails where a module's name after `prefix` would be no plain Verilog identifier.
pub(super) fn check(prefix: &str) -> Result<()> {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = prefix.chars().next().is_none_or(letter);
    if starts && prefix.len() <= 64 && prefix.chars().all(plain) {
        return Ok(());
    }
    Err(Error::usage(
        format!("prefix {prefix:?} cannot begin the name of a module"),
        "expected at most 64 letters, digits and '_', no digit first, such as big_",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::rtl::{Design, Style};

    fn with_prefix(unit: &str, prefix: &str) -> Result<Design> {
        let style = Style {
            prefix: prefix.into(),
            ..Style::default()
        };
        Design::emit_with(&[unit.into()], &Config::preset("small").unwrap(), style)
    }

    #[test]
    fn everything_of_a_design_is_renamed() {
        let config = Config::preset("small").unwrap();
        let plain = Design::emit(&["spad_sm_path".into()], &config).unwrap();
        let design = with_prefix("spad_sm_path", "big_").unwrap();
        let unit = &design.units[0];
        assert_eq!(
            (&*unit.name, &*unit.top),
            ("spad_sm_path", "big_spad_sm_path")
        );
        assert_eq!(design.files_of(unit).len(), plain.files.len());
        for (file, old) in design.files.iter().zip(&plain.files) {
            assert_eq!(file.name, format!("big_{}", old.name));
            let text = &file.text;
            // Lines are broken by their own lengths.
            let unbroken = |text: &str| {
                text.replace("//", "")
                    .split_whitespace()
                    .collect::<String>()
            };
            let renamed = text.replace("big_spad_", "spad_");
            assert_eq!(unbroken(&renamed), unbroken(&old.text));
            let long = text.lines().find(|line| line.len() > 100);
            assert_eq!(long, None, "{}", file.name);
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
        for bad in ["1_", "a b", "a-", "é_", "a/../", "$x", &"a".repeat(65)] {
            let error = with_prefix("spad_rap", bad).unwrap_err();
            assert_eq!(error.exit_status(), 2);
        }
        let config = Config::preset("small").unwrap();
        let plain = Design::emit(&["spad_rap".into()], &config).unwrap();
        assert_eq!(with_prefix("spad_rap", "").unwrap().files, plain.files);
    }
}
