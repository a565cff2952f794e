//! A declarator: one array of a declaration in shared memory, by the spans of its
//! parts in the file.

use super::scan::Text;
use super::words::{is_word, last_name, word};

/// Words of a declaration that do not belong to its type.
const SPECIFIERS: [&str; 8] = [
    "__shared__",
    "static",
    "extern",
    "volatile",
    "const",
    "mutable",
    "thread_local",
    "inline",
];
/// Words of a declaration that have arguments.
const ATTRIBUTES: [&str; 3] = ["__align__", "alignas", "__attribute__"];

/// `tile[16][N]` of `__shared__ float a[4], tile[16][N];`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::suggest) struct Declarator {
    /// The position of its name.
    pub name: usize,
    /// The spans between its brackets.
    pub dimensions: Vec<(usize, usize)>,
    /// The type of the elements.
    pub element: String,
    /// Words before the first name, with attributes: `extern __shared__ __align__(16)
    /// int`.
    pub head: String,
    /// Attributes behind the dimensions.
    pub attributes: String,
    /// Whether the declaration is `extern`.
    is_extern: bool,
}

impl Declarator {
    /// The array `name` that a statement from `line` on declares in shared memory;
    /// `None` where the declaration is not understood. Lines count from 1.
    pub fn at(place: &Text, line: u32, name: &str) -> Option<Self> {
        let mut at = place.start_of_line(line)?;
        let end_of_line = place.line_end(at);
        while at < end_of_line {
            let shared = at + word(&place.masked[at..end_of_line], "__shared__")?;
            let end = shared + place.masked[shared..].find(';')?;
            if let Some(found) = Self::of_statement(place, shared, end, name) {
                return Some(found);
            }
            at = end;
        }
        None
    }

    /// `shared` is where `__shared__` is, `end` where the semicolon is.
    fn of_statement(place: &Text, shared: usize, end: usize, name: &str) -> Option<Self> {
        let start = place.line_start(shared).max(place.statement_start(shared));
        let parts = place.split(start, end, ',');
        let (first, _) = named(place, *parts.first()?)?;
        let head = &place.masked[start..first];
        // A member is no variable.
        let (element, words) = element_of(head).filter(|(element, _)| !element.contains('{'))?;
        let (at, after) = parts.iter().find_map(|&(from, to)| {
            let (at, after) = named(place, (from, to))?;
            (&place.masked[at..after] == name).then_some((at, after))
        })?;
        let to = parts
            .iter()
            .find(|(from, to)| (*from..*to).contains(&at))?
            .1;
        let own = &place.masked[parts.iter().find(|(_, end)| *end == to)?.0..at];
        // A pointer or a reference has other elements.
        let is_plain = !own.contains(['*', '&', '(']) || at == first;
        (is_plain && !element.ends_with(['*', '&'])).then_some(())?;
        let dimensions = dimensions(place, after, to)?;
        let behind = dimensions.last().map_or(after, |(_, end)| *end);
        let behind = &place.masked[behind..to];
        let behind = &behind[behind.find(']').map_or(0, |close| close + 1)..];
        let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Declarator {
            name: at,
            dimensions,
            element,
            head: spaced(head),
            attributes: spaced(behind),
            is_extern: words.contains(&"extern"),
        })
    }

    /// Whether the launch gives its bytes.
    pub fn is_dynamic(&self) -> bool {
        let empty = |(from, to): &(usize, usize)| from == to;
        self.is_extern && self.dimensions.first().is_some_and(empty)
    }
}

/// The span of the name in a declarator.
fn named(place: &Text, (from, to): (usize, usize)) -> Option<(usize, usize)> {
    let part = &place.masked[from..to];
    let before = part[..part.find('[').unwrap_or(part.len())].trim_end();
    let name = last_name(before);
    let end = from + before.len();
    (!name.is_empty()).then_some((end - name.len(), end))
}

/// The pairs of brackets from `at` on; nothing but attributes may follow.
fn dimensions(place: &Text, at: usize, to: usize) -> Option<Vec<(usize, usize)>> {
    let mut found = Vec::new();
    let mut at = at;
    loop {
        let rest = &place.masked[at..to];
        let open = to - rest.trim_start().len();
        if !place.masked[open..to].starts_with('[') {
            let follows = place.masked[open..to].trim();
            let is_end = follows.is_empty() || ATTRIBUTES.iter().any(|a| follows.starts_with(a));
            return (is_end && !found.is_empty()).then_some(found);
        }
        let close = place.closing(open).filter(|close| *close < to)?;
        let inside = &place.text[open + 1..close];
        let front = inside.len() - inside.trim_start().len();
        let from = open + 1 + front.min(inside.trim_end().len());
        found.push((from, open + 1 + inside.trim_end().len()));
        at = close + 1;
    }
}

/// The type of a declaration up to the first name, and the words that are not part
/// of it.
fn element_of(head: &str) -> Option<(String, Vec<&str>)> {
    let (mut element, mut words) = (String::new(), Vec::new());
    let mut rest = head.trim_start();
    while let Some(c) = rest.chars().next() {
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (token, after) = rest.split_at(length.max(c.len_utf8()));
        rest = after;
        if ATTRIBUTES.contains(&token) {
            rest = &rest[argument_end(rest)?..];
        } else if SPECIFIERS.contains(&token) {
            words.push(token);
        } else {
            element += token;
        }
        let blank = rest.len() - rest.trim_start().len();
        if blank > 0 && !element.is_empty() && !element.ends_with(' ') {
            element.push(' ');
        }
        rest = &rest[blank..];
    }
    let element = element.trim().to_owned();
    let is_declaration = words.contains(&"__shared__") && !element.is_empty();
    is_declaration.then_some((element, words))
}

/// The closing parenthesis of those that `text` begins with.
fn argument_end(text: &str) -> Option<usize> {
    let open = text.len() - text.trim_start().len();
    let text = Text::new(text.to_owned());
    text.masked[open..].starts_with('(').then_some(())?;
    Some(text.closing(open)? + 1)
}
