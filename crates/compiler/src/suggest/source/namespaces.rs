//! Namespaces: what they hold is seen to the end of the file, under their names.

use super::scan::Text;
use super::words::{first_name, last_name, word};
use spadkit_ptx::source_name;

impl Text {
    /// The names of the namespaces around `at`, the outermost first.
    pub(super) fn namespaces_at(&self, at: usize) -> Vec<&str> {
        let around = self.namespaces.iter().filter(|n| n.body.contains(&at));
        around.flat_map(|n| &n.names).map(String::as_str).collect()
    }

    /// The start of the name at `at` with the scopes before it: of `a::b` in `&a::b`.
    pub(in crate::suggest) fn qualified_start(&self, at: usize) -> usize {
        let mut start = at;
        while let Some(before) = self.masked[..start].trim_end().strip_suffix("::") {
            let before = before.trim_end();
            start = before.len() - last_name(before).len();
        }
        start
    }
}

/// The namespaces of a variable of the PTX, the outermost first, without those that have no
/// name in the source; `None` if it is in none, or in a function.
pub(in crate::suggest) fn namespaces_of(variable: &str) -> Option<Vec<&str>> {
    let mut rest = variable.strip_prefix("_ZN")?;
    let mut parts = Vec::new();
    while let Some((part, behind)) = source_name(rest.strip_prefix('L').unwrap_or(rest)) {
        parts.push(part);
        rest = behind;
    }
    let is_named =
        |part: &&str| !part.starts_with("_GLOBAL__N_") && !part.starts_with("_INTERNAL_");
    (rest == "E").then_some(())?;
    parts.pop()?;
    Some(parts.into_iter().filter(is_named).collect())
}

/// The name by which these lines of the source call a variable in namespaces: `a::b::tile`,
/// `b::tile`, or `tile` alone. With all namespaces where the lines do not show it.
pub(in crate::suggest) fn called(variable: &str, plain: &str, lines: &[String]) -> Option<String> {
    let scopes = namespaces_of(variable)?;
    let names: Vec<String> = (0..scopes.len())
        .map(|from| format!("{}::{plain}", scopes[from..].join("::")))
        .collect();
    let uses = |name: &str| lines.iter().any(|line| uses(line, name));
    let used = names.iter().find(|name| uses(name));
    match used.or(names.first().filter(|_| !uses(plain))) {
        Some(name) => Some(name.clone()),
        None => Some(plain.to_owned()),
    }
}

/// Whether a line has the name, with no other scope before it.
fn uses(line: &str, name: &str) -> bool {
    let text = Text::new(line.to_owned());
    let mut from = 0;
    while let Some(at) = word(&text.masked[from..], name).map(|at| from + at) {
        from = at + first_name(&text.masked[at..]).len();
        if text.qualified_start(at) == at {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_and_linkage_hide_nothing() {
        let source = "namespace a { inline namespace v1 { int x; } }\nusing namespace a;\n\
                      namespace { int y; }\nextern \"C\" { int z; void f() { int w; } }\n\
                      namespace a::b { int u; }";
        let text = Text::new(source.to_owned());
        assert_eq!(text.masked.len(), source.len());
        assert_eq!(text.masked.matches('{').count(), 1, "{}", text.masked);
        let scopes = |name: &str| text.namespaces_at(source.find(name).unwrap());
        assert_eq!(scopes("x;"), ["a", "v1"]);
        assert_eq!(scopes("u;"), ["a", "b"]);
        assert!(scopes("y;").is_empty() && scopes("z;").is_empty());
        let end = text.visible_before(source.len());
        assert!(end.contains("int x") && end.contains("int z") && !end.contains("int w"));
    }

    #[test]
    fn arrays_of_namespaces_have_the_names_of_their_lines() {
        let called = |variable: &str, line: &str| {
            called(variable, "tile", &[line.to_owned()]).unwrap_or_default()
        };
        let nested = "_ZN1a1b4tileE";
        assert_eq!(called(nested, "x = a::b::tile[i];"), "a::b::tile");
        assert_eq!(called(nested, "x = b::tile[i];"), "b::tile");
        assert_eq!(called(nested, "x = tile[i];"), "tile");
        assert_eq!(called(nested, "x = c::tile[i] + load(0);"), "a::b::tile");
        let anonymous = "_ZN14_INTERNAL_a_cu12_GLOBAL__N_14tileE";
        assert_eq!(called(anonymous, "x = load(0);"), "tile");
        for other in ["tile", "_ZL4tile", "_ZZN1a1fEvE4tile"] {
            assert_eq!(called(other, "x = tile[i];"), "", "{other}");
        }
    }
}
