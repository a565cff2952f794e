//! The growth of an array's outermost dimension: a number if the source states the
//! constants, else an expression.

use crate::suggest::source::constants::{Constants, literal};
use crate::suggest::source::declarator::Declarator;
use crate::suggest::source::scan::Text;

/// Bytes of shared memory that a launch gets without asking for more.
pub(in crate::suggest) const WITHOUT_ASKING: u32 = 48 << 10;

/// The array's present and required size in bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::suggest) struct Bytes {
    pub has: u32,
    pub needs: u32,
    /// Bytes of the other shared memory.
    pub others: u32,
}

impl Bytes {
    /// Whether declarations may have all of them: a kernel gets more than 48 KiB only
    /// where its launch asks for them.
    pub fn can_be_declared(self) -> bool {
        self.others.saturating_add(self.needs) <= WITHOUT_ASKING
    }
}

/// The growth of the outermost dimension.
pub(in crate::suggest) struct Extent {
    /// Elements of an outermost row, or their text.
    row: Result<u64, String>,
    /// Bytes of an element, or their text.
    element: Result<u64, String>,
    /// Bytes that are missing.
    missing: u64,
}

impl Extent {
    pub fn of(found: &Declarator, bytes: Bytes, constants: &Constants) -> Self {
        let texts = || {
            found
                .dimensions
                .iter()
                .map(|&(a, b)| &constants.place().text[a..b])
        };
        let values: Vec<Option<u64>> = texts().map(|d| constants.value(d)).collect();
        let product = |of: &[Option<u64>]| {
            of.iter()
                .try_fold(1u64, |all, one| all.checked_mul((*one)?))
        };
        let all = product(&values).filter(|all| *all > 0);
        let has = u64::from(bytes.has);
        let element = match (constants.bytes_of(&found.element), all) {
            (Some(bytes), _) => Some(u64::from(bytes)),
            (None, Some(all)) => has.is_multiple_of(all).then_some(has / all),
            (None, None) => None,
        };
        let element = element.filter(|e| *e > 0);
        let elements = element.filter(|e| has.is_multiple_of(*e)).map(|e| has / e);
        // Constants of the file that give another size are not those of the array.
        let of_rows = |rows: u64| {
            elements
                .filter(|e| e.is_multiple_of(rows))
                .map(|e| e / rows)
        };
        let row = match (product(&values[1..]), values[0]) {
            _ if values.len() == 1 => Some(1),
            (Some(row), Some(rows)) => (of_rows(rows) == Some(row)).then_some(row),
            (Some(row), None) => of_rows(row).map(|_| row),
            (None, Some(rows)) => Some(rows).filter(|r| *r > 0).and_then(of_rows),
            (None, None) => None,
        };
        let in_row: Vec<String> = texts().skip(1).map(factor).collect();
        Extent {
            row: row.filter(|r| *r > 0).ok_or_else(|| in_row.join(" * ")),
            element: element.ok_or_else(|| format!("sizeof({})", found.element)),
            missing: u64::from(bytes.needs - bytes.has),
        }
    }

    /// Bytes of the rows that are added.
    pub fn added(&self) -> Option<u64> {
        let row = self.row.as_ref().ok()? * self.element.as_ref().ok()?;
        Some(self.missing.div_ceil(row) * row)
    }

    /// The outermost dimension `old`, grown.
    pub fn outermost(&self, old: &str) -> String {
        let more = match (&self.row, &self.element) {
            (Ok(row), Ok(bytes)) => {
                let rows = self.missing.div_ceil(row * bytes);
                if let Some(old) = literal(old) {
                    return old.saturating_add(rows).to_string();
                }
                rows.to_string()
            }
            (Err(row), Ok(bytes)) => quotient(self.missing.div_ceil(*bytes), row),
            (Ok(1), Err(bytes)) => quotient(self.missing, bytes),
            (row, Err(bytes)) => {
                let row = row.as_ref().map_or_else(String::clone, u64::to_string);
                quotient(self.missing, &format!("{row} * {bytes}"))
            }
        };
        format!("{} + {more}", summand(old))
    }
}

/// `count` divided by an expression, rounded up.
fn quotient(count: u64, by: &str) -> String {
    format!("({count} + {by} - 1) / {}", factor(by))
}

/// The text as an operand of `*`, in parentheses if needed.
fn factor(text: &str) -> String {
    let text = text.trim();
    let is_one = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let arguments = text.trim_start_matches("sizeof");
    let inside = Text::new(arguments.to_owned());
    let encloses = arguments.starts_with('(') && inside.closing(0) == Some(arguments.len() - 1);
    if encloses || text.chars().all(is_one) {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

/// The number that a text says, and `by` more.
pub(in crate::suggest) fn more(text: &str, by: u32) -> String {
    match literal(text) {
        Some(number) => number.saturating_add(by.into()).to_string(),
        None => format!("{} + {by}", summand(text)),
    }
}

/// The text as an operand of `+`, in parentheses if needed.
fn summand(text: &str) -> String {
    if text.contains(['<', '>', '?', ':', '&', '|', '^', '=', ',']) {
        format!("({text})")
    } else {
        text.to_owned()
    }
}
