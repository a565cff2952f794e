//! Names that are declared again in an inner block: the array is not seen there.

use super::indexed::is_declared;
use super::scan::{KEYWORDS, Text};
use super::words::{is_word, last_name, word};

/// Whether `name` at `at` is not what is declared at `from`, because a variable or a
/// parameter of that name hides it.
pub(in crate::suggest) fn is_hidden(place: &Text, (from, at): (usize, usize), name: &str) -> bool {
    let mut next = from;
    while let Some(found) = word(&place.masked[next..at], name) {
        let own = next + found;
        next = own + name.len();
        if scope(place, own).is_some_and(|end| at < end) {
            return true;
        }
    }
    false
}

/// The end of the scope of the variable declared at `at`; `None` if there is no
/// declaration, or if it is an array in shared memory.
fn scope(place: &Text, at: usize) -> Option<usize> {
    let statement = place.statement_start(at).min(at);
    let open = place.open_before(at);
    let head = open.filter(|open| place.masked[*open..].starts_with('('));
    let begin = head.map_or(statement, |open| statement.max(open + 1));
    let before = &place.masked[begin..at];
    if word(before, "__shared__").is_some() {
        return None;
    }
    let is_plain = is_declared(place, at);
    let Some(open) = head else {
        let declares = is_plain || is_pointer_type(before);
        return declares.then(|| place.block_end(at));
    };
    let close = place.closing(open)?;
    let called = last_name(place.masked[..open].trim_end());
    if KEYWORDS.contains(&called) {
        return is_plain.then(|| place.statement_end(close + 1));
    }
    // Parameters: of a lambda, or of a function in a structure.
    let part = before.rsplit(',').next().unwrap_or(before);
    let declares = is_plain || is_pointer_type(part);
    let body = close + 1 + place.masked[close + 1..].find('{')?;
    let between = &place.masked[close + 1..body];
    let is_head = |c: char| is_word(c) || c.is_whitespace() || "->:<>&*".contains(c);
    (declares && between.chars().all(is_head)).then(|| place.closing(body))?
}

/// `const float *`, and no product.
fn is_pointer_type(text: &str) -> bool {
    let text = text.trim();
    let name = text.trim_end_matches(|c: char| "*& ".contains(c));
    let is_type = |c: char| is_word(c) || c.is_whitespace() || ":<>*&".contains(c);
    let begins = name.starts_with(|c: char| is_word(c) && !c.is_ascii_digit());
    name.len() < text.len() && begins && text.chars().all(is_type) && !KEYWORDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a kernel in which `tile` is not what the first line declares.
    fn hidden(lines: &[&str]) -> Vec<usize> {
        let place = Text::new(lines.join("\n"));
        let from = lines[0].len();
        let at = |line: usize| {
            let start: usize = lines[..line].iter().map(|l| l.len() + 1).sum();
            start + word(lines[line], "tile").unwrap()
        };
        let uses = 1..lines.len();
        let uses = uses.filter(|n| word(lines[*n], "tile").is_some());
        uses.filter(|n| is_hidden(&place, (from, at(*n)), "tile"))
            .collect()
    }

    #[test]
    fn a_declaration_hides_the_array_to_the_end_of_its_block() {
        let lines = [
            "void f() { __shared__ float tile[4];",
            "{ float tile[4];",
            "tile[0] = 1; }",
            "tile[1] = 2; {",
            "const float *tile = p;",
            "if (x) { tile[2] = 1; } }",
            "x = a * tile[3] + f(tile[0]);",
            "tile[3] = 0; }",
        ];
        assert_eq!(hidden(&lines), [2, 5]);
    }

    #[test]
    fn a_parameter_hides_it_in_its_body() {
        let lines = [
            "void f() { __shared__ float tile[4];",
            "auto g = [&](int n, float *tile) -> float {",
            "return tile[0];",
            "}; for (int tile = 0; tile < 4; tile++)",
            "x += tile;",
            "if (a * tile[0]) {",
            "tile[1] = 2; }",
            "for (int i = 0; i < b * tile[0]; i++) {",
            "tile[2] = 3; } }",
        ];
        assert_eq!(hidden(&lines), [2, 4]);
    }
}
