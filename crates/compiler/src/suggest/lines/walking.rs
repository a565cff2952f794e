//! Pointers into the array that are set, compared or subtracted: they stay what they are.

use super::wrapped::Wrap;
use crate::suggest::source::pointers::{is_operand, members};
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::{first_name, last_name, word};

impl Wrap<'_> {
    /// The end of the name in this span, with its brackets, if it is an address that is
    /// assigned to a pointer, compared, or subtracted from another. Such an address is
    /// unchanged; accesses through the pointer are mapped.
    pub(in crate::suggest) fn stays(
        &self,
        place: &Text,
        (from, to): (usize, usize),
        (begin, after): (usize, usize),
    ) -> Option<usize> {
        let walks = |name: &str| self.walking.iter().any(|n| n == name);
        let name = &place.masked[begin..after];
        let is_array = self.own == Some(name) || self.start == name;
        (is_array || walks(name)).then_some(())?;
        let end = members(place, after, to);
        let (before, next) = (
            place.masked[from..begin].trim_end(),
            place.masked[end..to].trim(),
        );
        let before = match before.strip_suffix('&') {
            Some(outside) => outside.trim_end(),
            None => before,
        };
        // `float *p = s + 4`, `p = &s[4]`, `p = rows[4]`: all of its values are in the array.
        let compares = |text: &str| ["==", "!=", "<", ">"].iter().any(|o| text.starts_with(o));
        let compared = ["==", "!=", "<", ">", "<=", ">="]
            .iter()
            .any(|o| before.ends_with(o));
        if let Some(left) = before.strip_suffix('=').filter(|_| !compared) {
            let left = left.trim_end();
            let given = last_name(left);
            let is_plain = !is_operand(&left[..left.len() - given.len()]);
            let names_one = |name: &String| word(&place.masked[after..end], name).is_some();
            if is_plain && walks(given) {
                return (!self.names.iter().any(names_one)).then_some(end);
            }
        }
        if end > after || is_operand(&place.masked[from..begin]) {
            return None;
        }
        if walks(name) && next.starts_with('=') && !next.starts_with("==") {
            return Some(end);
        }
        let other = next
            .strip_prefix('-')
            .map(|rest| first_name(rest.trim_start()));
        let subtracted = before
            .strip_suffix('-')
            .map(|rest| last_name(rest.trim_end()));
        let is_pointer = |name: &str| walks(name) || self.start == name;
        let is_difference = [other, subtracted].into_iter().flatten().any(is_pointer);
        (compares(next) || compared || is_difference).then_some(end)
    }
}
