//! Entries by name: as the PTX has it, as the source has it, or by a part that
//! no other entry has.

use super::ast::Module;
use spadkit_base::error::{Error, Result};

impl Module {
    /// The name in the PTX of the entry that is meant by `wanted`: the same
    /// name, the [plain](plain_name) one, or a part of one of them.
    pub fn entry_named(&self, wanted: &str) -> Result<&str> {
        let entries: Vec<&str> = self.entries().map(|f| f.name.as_str()).collect();
        find_name(wanted, &entries).map_err(|several| {
            let (what, names) = if several.is_empty() {
                (format!("{} has no entry '{wanted}'", self.name), entries)
            } else {
                (format!("several entries are '{wanted}'"), several)
            };
            let help = if names.is_empty() {
                "the module has no entry".to_owned()
            } else {
                format!("expected one of {}", names.join(", "))
            };
            Error::usage(what, help)
        })
    }
}

/// The one of `names` that is meant by `wanted`; else those that may be meant,
/// none or several. Names that are there twice are one.
pub fn find_name<'a>(wanted: &str, names: &[&'a str]) -> Result<&'a str, Vec<&'a str>> {
    let last = |plain: &str| plain.rsplit("::").next() == Some(wanted);
    let is_plain = |name: &str| plain_name(name).is_some_and(|p| p == wanted || last(&p));
    let has_part =
        |name: &str| name.contains(wanted) || plain_name(name).is_some_and(|p| p.contains(wanted));
    if wanted.is_empty() {
        return Err(Vec::new());
    }
    let ways: [&dyn Fn(&str) -> bool; 3] = [&|name| name == wanted, &is_plain, &has_part];
    for way in ways {
        let mut found: Vec<&str> = names.iter().copied().filter(|n| way(n)).collect();
        found.sort_unstable();
        found.dedup();
        match found[..] {
            [] => {}
            [one] => return Ok(one),
            _ => return Err(found),
        }
    }
    Err(Vec::new())
}

/// What a mangled name of the Itanium C++ ABI is in the source, without types
/// and arguments: `_ZN3foo3barIfEEvPT_` is `foo::bar`. None for names that are
/// not mangled, or in a way that is not known here.
pub fn plain_name(mangled: &str) -> Option<String> {
    let rest = mangled.strip_prefix("_Z")?;
    let (nested, mut rest) = match rest.strip_prefix('N') {
        Some(rest) => (true, rest.strip_prefix('K').unwrap_or(rest)),
        None => (false, rest),
    };
    let mut parts: Vec<&str> = Vec::new();
    loop {
        // Names of one file alone.
        rest = rest.strip_prefix('L').unwrap_or(rest);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = rest[..digits].parse::<usize>() else {
            break;
        };
        let (part, behind) = rest[digits..].split_at_checked(length)?;
        if !part.starts_with("_GLOBAL__N_") {
            parts.push(part);
        }
        rest = behind;
        if !nested {
            break;
        }
    }
    (!parts.is_empty()).then(|| parts.join("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_source() {
        let plain = |name| plain_name(name).unwrap_or_default();
        assert_eq!(plain("_Z6reduceIfEvPT_i"), "reduce");
        assert_eq!(plain("_ZN3foo3barIfEEvPT_"), "foo::bar");
        assert_eq!(plain("_ZN12_GLOBAL__N_14scanEPf"), "scan");
        assert_eq!(plain("_ZL4scanPf"), "scan");
        for other in ["reduce", "_Z", "_Z99x", "_ZN", "", "_Z3\u{e9}\u{e9}"] {
            assert_eq!(plain_name(other), None, "{other}");
        }
    }

    #[test]
    fn the_name_the_plain_name_or_a_part_of_one_alone() {
        let names = [
            "_Z4scanPf",
            "_Z7scan_upPf",
            "_ZN1a6reduceEPf",
            "_Z6reducePi",
            "_Z4scanPf",
        ];
        assert_eq!(find_name("_Z6reducePi", &names), Ok("_Z6reducePi"));
        assert_eq!(find_name("scan", &names), Ok("_Z4scanPf"));
        assert_eq!(find_name("a::reduce", &names), Ok("_ZN1a6reduceEPf"));
        assert_eq!(find_name("_up", &names), Ok("_Z7scan_upPf"));
        let both = vec!["_Z6reducePi", "_ZN1a6reduceEPf"];
        assert_eq!(find_name("reduce", &names), Err(both));
        assert_eq!(find_name("sort", &names), Err(Vec::new()));
    }
}
