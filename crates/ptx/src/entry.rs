//! Entries by name: as the PTX has it, as the source has it, or by a part that
//! no other entry has.

use super::ast::Module;
use cpp_demangle::{DemangleOptions, Symbol};
use spadkit_base::error::{Error, Result};
use spadkit_base::quote::did_you_mean;
use std::fmt::{self, Write};

impl Module {
    /// The name in the PTX of the entry that is meant by `wanted`: the same
    /// name, the [plain](plain_name) one, a [signature], or a part of one of these.
    pub fn entry_named(&self, wanted: &str) -> Result<&str> {
        let entries: Vec<&str> = self.entries().map(|f| f.name.as_str()).collect();
        find_name(wanted, &entries).map_err(|several| {
            let (what, names) = if several.is_empty() {
                let near = near_name(wanted, &entries);
                (
                    format!("{} has no entry '{wanted}'{near}", self.name),
                    entries,
                )
            } else {
                (format!("several entries are '{wanted}'"), several)
            };
            let help = if names.is_empty() {
                "the module has no entry".to_owned()
            } else {
                format!("expected one of {}", listed_names(&names))
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
    let meant = comparable(wanted);
    let of_signature = |name: &str, is_meant: &dyn Fn(&str) -> bool| {
        let signature = signature(name).filter(|_| wanted.contains(['(', '<']));
        signature.is_some_and(|s| is_meant(&comparable(&s)))
    };
    let is_signature = |name: &str| of_signature(name, &|s| is_begin_of(&meant, s));
    let in_signature = |name: &str| of_signature(name, &|s| s.contains(&meant));
    let ways: [&dyn Fn(&str) -> bool; 5] = [
        &|name| name == wanted,
        &is_plain,
        &is_signature,
        &has_part,
        &in_signature,
    ];
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

/// Names for a message, mangled ones with what they are in the source.
pub fn listed_names(names: &[&str]) -> String {
    let one = |name: &&str| match signature(name) {
        Some(signature) => format!("{name} ({signature})"),
        None => (*name).to_owned(),
    };
    names.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// `; did you mean 'NAME'?`, where a name of `names`, as the PTX or as the source has
/// it, is near.
pub fn near_name(wanted: &str, names: &[&str]) -> String {
    let plain: Vec<String> = names.iter().filter_map(|name| plain_name(name)).collect();
    let last = |name: &str| name.rsplit("::").next().map(str::to_owned);
    let short: Vec<String> = plain.iter().filter_map(|name| last(name)).collect();
    let known = plain.iter().chain(&short).map(String::as_str);
    did_you_mean(wanted, known.chain(names.iter().copied()))
}

/// The source name of a mangled name of the Itanium C++ ABI, with types and arguments:
/// `_Z4corePfi` is `core(float*, int)`. None for names that are not mangled.
pub fn signature(mangled: &str) -> Option<String> {
    let is_mangled = mangled.starts_with("_Z");
    let symbol = is_mangled.then(|| Symbol::new(mangled))?.ok()?;
    let options = DemangleOptions::new().hide_expression_literal_types();
    let mut written = Bounded(String::new());
    symbol.structured_demangle(&mut written, &options).ok()?;
    let text = written.0;
    // What an instance of a template returns.
    Some(text.strip_prefix("void ").unwrap_or(&text).to_owned())
}

/// A text of a length that somebody can read: each part of a mangled name may repeat
/// all before it, so that a short one can stand for gigabytes.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        const MOST: usize = 8192;
        if self.0.len() + part.len() > MOST {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

/// A signature without what people write in several ways: blanks, `const`, the `int` of
/// `unsigned int`, suffixes of numbers.
fn comparable(signature: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut text, mut rest) = (String::new(), signature);
    while let Some(c) = rest.chars().next() {
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length.max(c.len_utf8()));
        rest = after;
        match word {
            "const" | "__restrict__" | "restrict" | "__global__" | "void" | "struct" => {}
            "int" if text.ends_with("unsigned") => {}
            word if c.is_ascii_digit() => text += word.trim_end_matches(['u', 'l', 'U', 'L']),
            word => text += word.trim(),
        }
    }
    text
}

/// Whether `wanted` is a signature, or what stands before its arguments, with or
/// without the namespaces.
fn is_begin_of(wanted: &str, signature: &str) -> bool {
    let head = &signature[..signature.find(['(', '<']).unwrap_or(signature.len())];
    let inner = head
        .match_indices("::")
        .map(|(at, colons)| at + colons.len());
    let mut starts = std::iter::once(0).chain(inner);
    starts.any(|at| {
        let rest = signature[at..].strip_prefix(wanted);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
    })
}

/// The source name of a mangled name of the Itanium C++ ABI, without types and
/// arguments: `_ZN3foo3barIfEEvPT_` is `foo::bar`. None for names that are not mangled,
/// or in a way that is not known here.
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
        let Some((part, behind)) = source_name(rest) else {
            if rest.starts_with(|c: char| c.is_ascii_digit()) {
                return None;
            }
            break;
        };
        if !part.starts_with("_GLOBAL__N_") && !part.starts_with("_INTERNAL_") {
            parts.push(part);
        }
        rest = behind;
        if !nested {
            break;
        }
    }
    (!parts.is_empty()).then(|| parts.join("::"))
}

/// A name with its length before it, and what follows it and its ABI tags, which Numba has:
/// `2trB2v1B4cw51E` is `tr`, then `E`.
pub fn source_name(text: &str) -> Option<(&str, &str)> {
    let one = |text: &'_ str| -> Option<(usize, usize)> {
        let digits = text.find(|c: char| !c.is_ascii_digit())?;
        let length: usize = text[..digits].parse().ok()?;
        let end = digits.checked_add(length).filter(|_| length > 0)?;
        text.is_char_boundary(end).then_some((digits, end))
    };
    let (start, end) = one(text)?;
    let (name, mut rest) = (&text[start..end], &text[end..]);
    while let Some(tag) = rest.strip_prefix('B') {
        let Some((_, end)) = one(tag) else { break };
        rest = &tag[end..];
    }
    Some((name, rest))
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
        assert_eq!(plain("_ZN8__main__2trB2v1B4cw51E5ArrayIfE"), "__main__::tr");
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

    /// Each of its types is a function of the one before, twice: 2^40 names.
    #[test]
    fn a_name_that_repeats_itself_has_no_signature() {
        let substitution = |n: u32| match n {
            0 => "S_".to_owned(),
            n => format!(
                "S{}_",
                char::from_digit(n - 1, 36).unwrap().to_ascii_uppercase()
            ),
        };
        let pair = |n: u32| format!("1pI{0}{0}E", substitution(n));
        // Two substitutions for each pair: the template and its instance.
        let types: String = (0..17).map(|n| pair(2 * n)).collect();
        let long = format!("_Z1f1a{types}");
        assert!(long.len() < 400, "{long}");
        assert_eq!(signature(&long), None);
        let short: String = (0..3).map(|n| pair(2 * n)).collect();
        let short = signature(&format!("_Z1f1a{short}")).unwrap();
        assert!(
            short.starts_with("f(a, p<a, a>, p<p<a, a>, p<a, a> >"),
            "{short}"
        );
    }

    #[test]
    fn signatures_select_overloads_and_instances() {
        let names = [
            "_Z4corePfi",
            "_Z4corePii",
            "_ZN2ns4coreIfEEvPT_i",
            "_Z4sortILi16ELj2EEvPKjy",
            "scale",
        ];
        for (wanted, name) in [
            ("core(float*, int)", 0),
            ("void core(int *, int)", 1),
            ("ns::core<float>", 2),
            ("core<float>(float *, int)", 2),
            ("sort<16, 2>", 3),
            ("sort<16, 2>(const unsigned *, unsigned long long)", 3),
            ("_Z4corePii", 1),
            ("core<flo", 2),
            ("ort<16, ", 3),
            ("(unsigned int const", 3),
        ] {
            assert_eq!(find_name(wanted, &names), Ok(names[name]), "{wanted}");
        }
        for wanted in ["core(double*, int)", "core<int>", "sort<16>"] {
            assert_eq!(find_name(wanted, &names), Err(Vec::new()), "{wanted}");
        }
        // A part of two.
        let both = vec!["_Z4corePfi", "_Z4corePii"];
        assert_eq!(find_name("ore(", &names), Err(both));
        assert_eq!(near_name("scael", &names), "; did you mean 'scale'?");
        assert_eq!(near_name("corf", &names), "; did you mean 'core'?");
        assert_eq!(near_name("transpose", &names), "");
        let listed = "scale, _Z4corePfi (core(float*, int))";
        assert_eq!(listed_names(&["scale", "_Z4corePfi"]), listed);
    }
}
