//! The form in which the source declares an array: the type and the size of its
//! elements, and its dimensions.

use super::extent::more;
use super::rows;
use crate::suggest::SourceFiles;
use crate::suggest::source::bindings::Bindings;
use crate::suggest::source::constants::Constants;
use crate::suggest::source::declarations::{Declarations, Named};
use crate::suggest::source::declarator::Declarator;
use crate::suggest::source::elements::bytes_of_type;
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::{is_word, word};

/// `__shared__ Body s[8][N];`
#[derive(Clone, Debug)]
pub(in crate::suggest) struct Form {
    array: String,
    /// The text before the name, and after the dimensions.
    around: (String, String),
    pub element: String,
    /// Bytes of an element.
    pub bytes: u32,
    /// Each as the source has it, with its value.
    dimensions: Vec<(String, Option<u64>)>,
    /// Whether the launch gives its bytes.
    pub is_dynamic: bool,
    /// Whether a member can be added to the elements: buffers of them that others have
    /// written keep their layout.
    pub takes_a_member: bool,
    /// Whether all that the source does with the array means the same where its rows are
    /// longer, or its elements larger.
    pub may_be_longer: bool,
}

impl Form {
    /// The form of `array`, of `has` bytes, by the declaration that the first of the
    /// lines `places` sees.
    pub fn of<'a>(
        places: impl Iterator<Item = &'a str>,
        array: Named,
        has: Option<u32>,
        declarations: &Declarations,
        sources: &mut SourceFiles,
    ) -> Option<Self> {
        let (constants, found) = declared(places, array, declarations, sources)?;
        let bound = Bindings::of(array.variable, constants.place(), found.name);
        let constants = constants.bound_to(bound);
        let dimension = |&(from, to): &(usize, usize)| {
            let text = constants.place().text[from..to].trim().to_owned();
            let value = constants.value(&text);
            (text, value)
        };
        let dimensions: Vec<_> = found.dimensions.iter().map(dimension).collect();
        let count = dimensions
            .iter()
            .try_fold(1u64, |n, (_, d)| n.checked_mul((*d)?));
        let share = || {
            let (has, count) = (u64::from(has?), count.filter(|n| *n > 0)?);
            let share = has.checked_div(count).filter(|s| s * count == has)?;
            u32::try_from(share).ok()
        };
        let bytes = constants.bytes_of(&found.element).or_else(share)?;
        // Constants of the file that give another size are not those of the array.
        let mut dimensions = dimensions;
        if let (Some(has), Some(count)) = (has, count)
            && count * u64::from(bytes) != u64::from(has)
        {
            dimensions.iter_mut().for_each(|(_, value)| *value = None);
        }
        let is_dynamic = found.is_dynamic();
        Some(Form {
            array: array.declared().to_owned(),
            around: (found.head.clone(), found.attributes.clone()),
            is_dynamic,
            takes_a_member: bytes_of_type(&found.element).is_none()
                && is_own_type(constants.place(), &found.element),
            may_be_longer: rows::may_be_longer(
                constants.place(),
                found.name,
                array,
                dimensions.len(),
            ),
            element: found.element,
            bytes,
            dimensions,
        })
    }

    /// Whether `array` is `extern` in the declaration that the first of the lines `places` sees.
    pub fn is_extern<'a>(
        places: impl Iterator<Item = &'a str>,
        array: Named,
        declarations: &Declarations,
        sources: &mut SourceFiles,
    ) -> bool {
        declared(places, array, declarations, sources).is_some_and(|(_, found)| found.is_dynamic())
    }

    /// Indices of an element.
    pub fn brackets(&self) -> usize {
        self.dimensions.len()
    }

    /// Elements of an innermost row, where there are several rows.
    pub fn row(&self) -> Option<u32> {
        let (_, row) = self
            .dimensions
            .last()
            .filter(|_| self.dimensions.len() > 1)?;
        u32::try_from((*row)?).ok().filter(|row| *row > 0)
    }

    /// The row that constant `outer` indices name, counted from the first of the array.
    pub fn row_of(&self, outer: &[u64]) -> Option<u64> {
        let sizes = self.dimensions.iter().map(|(_, size)| *size);
        outer.iter().zip(sizes).try_fold(0, |row: u64, (at, size)| {
            // The size of the outermost dimension has no weight.
            row.checked_mul(if row == 0 { 1 } else { size? })?
                .checked_add(*at)
        })
    }

    /// The element that constant indices name.
    pub fn element_of(&self, indices: &[u64]) -> Option<u64> {
        self.row_of(indices)
            .filter(|_| indices.len() == self.brackets())
    }

    /// The declaration with `by` elements more in a row.
    pub fn with_longer_rows(&self, by: u32) -> String {
        let dimensions = self.dimensions.iter().map(|(text, _)| text.as_str());
        let mut all: Vec<String> = dimensions.map(str::to_owned).collect();
        if let Some(last) = all.last_mut() {
            *last = more(last, by);
        }
        self.declared(&all.join("]["))
    }

    /// The declaration with `elements` in all, if it has one dimension. The declaration
    /// of an array whose size the launch gives is unchanged.
    pub fn with_elements(&self, elements: u32) -> Option<String> {
        let count = || {
            if self.is_dynamic {
                String::new()
            } else {
                elements.to_string()
            }
        };
        (self.dimensions.len() == 1).then(|| self.declared(&count()))
    }

    fn declared(&self, dimensions: &str) -> String {
        let (head, behind) = &self.around;
        let space = if behind.is_empty() { "" } else { " " };
        format!("{head} {}[{dimensions}]{space}{behind};", self.array)
    }

    /// The type of the elements with `bytes` more.
    pub fn with_member(&self, bytes: u32) -> String {
        let element = &self.element;
        format!("struct {element} {{ /* its members */ char padding[{bytes}]; }};")
    }
}

/// The declaration of `array` that the first of the lines `places` sees, and the constants at it.
fn declared<'a>(
    mut places: impl Iterator<Item = &'a str>,
    array: Named,
    declarations: &Declarations,
    sources: &mut SourceFiles,
) -> Option<(Constants, Declarator)> {
    let (file, line) = places.find_map(|place| {
        let seen = declarations.all_seen_from(place, sources);
        seen.into_iter().next_back()
    })?;
    let constants = Constants::of(&file, sources).seen_from(line);
    let found = Declarator::at(constants.place(), line, array.declared())?;
    Some((constants, found))
}

/// Whether a file defines a structure, and neither points to one nor asks for its size: as
/// far as it shows, there are none in global memory.
fn is_own_type(place: &Text, name: &str) -> bool {
    let mut is_defined = false;
    let mut from = 0;
    while let Some(found) = word(&place.masked[from..], name) {
        let at = from + found;
        from = at + name.len();
        let head = &place.masked[place.statement_start(at)..at];
        let after = place.masked[from..].trim_start();
        let has = |names: &[&str]| names.iter().any(|name| word(head, name).is_some());
        if has(&["struct", "class", "union"]) && after.starts_with(['{', ':']) {
            is_defined = true;
            continue;
        }
        let is_value = after.starts_with(|c: char| is_word(c) || c == '&');
        // A parameter or what a function returns lives in registers.
        let is_parameter = head.contains('(');
        let is_function = after
            .find(['(', ';', '=', '['])
            .is_some_and(|i| after[i..].starts_with('('));
        let is_static = has(&["__device__", "__constant__", "__managed__"]);
        if !is_value || (is_static && !is_parameter && !is_function) {
            return false;
        }
    }
    is_defined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_of_shared_memory_alone_if_nothing_points_to_it() {
        let is_own = |uses: &str| {
            let text = format!("struct Body {{ float x, y; }};\n{uses}");
            is_own_type(&Text::new(text), "Body")
        };
        let kernel = "__global__ void f(float *out) { __shared__ Body s[8]; Body own = s[0];";
        assert!(is_own(kernel));
        assert!(is_own("__device__ Body made(const Body &from);"));
        for other in [
            "__global__ void f(Body *out);",
            "__global__ void f(const Body * __restrict__ in);",
            "__device__ Body table[8];",
            "memcpy(to, from, sizeof(Body));",
            "std::vector<Body> all;",
        ] {
            assert!(!is_own(&format!("{kernel} }}\n{other}")), "{other}");
        }
        // Uses of a type from a header are not visible.
        assert!(!is_own_type(&Text::new(kernel.to_owned()), "Body"));
    }
}
