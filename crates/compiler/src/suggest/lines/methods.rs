//! Accesses in member functions and operators of elements: `s[i] * s[j]` of complex numbers
//! loads them in the lines of `operator*`, to which every array of them goes. What changes is
//! the line that names the array.

use super::calls::declaration_at;
use super::change::LineChange;
use crate::suggest::SourceFiles;
use crate::suggest::source::files::split;
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::{first_name, last_name, word};

/// Gives the accesses of such lines to those lines, and returns the lines that are new.
pub(in crate::suggest) fn to_their_callers(
    lines: &mut Vec<LineChange>,
    array: &str,
    sources: &mut SourceFiles,
) -> Vec<LineChange> {
    let mut new: Vec<LineChange> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(depth) = caller(&lines[at], array, sources) else {
            at += 1;
            continue;
        };
        let moved = lines.remove(at);
        let mut chain = moved.chain().split_off(depth);
        let source = chain.remove(0);
        let mut known = lines.iter_mut().chain(&mut new);
        match known.find(|l| l.source.as_ref() == Some(&source)) {
            Some(known) => known.take_accesses(moved),
            None => {
                let mut line = LineChange {
                    text: sources.line(&source),
                    source: Some(source),
                    inlined_at: chain,
                    ..LineChange::default()
                };
                line.take_accesses(moved);
                new.push(line);
            }
        }
    }
    new
}

/// If a line is in a member function or an operator of the elements: the index in its
/// chain of calls of the line that names the array.
fn caller(line: &LineChange, array: &str, sources: &mut SourceFiles) -> Option<usize> {
    if !line.is_by_hand() || line.accesses.is_empty() {
        return None;
    }
    let chain = line.chain();
    let (file, number) = split(chain.first()?)?;
    let place = sources.text(file);
    let start = place.start_of_line(number)?;
    let own = &place.masked[start..place.line_end(start)];
    if word(own, array).is_some() {
        return None;
    }
    let class = class_around(&place, start);
    if class.is_none() && word(own, "operator").is_none() {
        return None;
    }
    let depth = (1..chain.len()).find(|depth| {
        let text = sources.line(&chain[*depth]).map(Text::new);
        text.is_some_and(|text| word(&text.masked, array).is_some())
    })?;
    // A function of the variable itself accesses what its own lines name.
    let (file, number) = split(&chain[depth])?;
    let place = sources.text(file);
    let start = place.start_of_line(number)?;
    let declared = declaration_at(&place, start, array)?;
    let of_elements = |class: &String| type_of(&declared, array, &place, start) == *class;
    // An index of what a library stores in counts no elements that the library accesses.
    if line.library().is_some() && !class.as_ref().is_some_and(of_elements) {
        return None;
    }
    let is_own = class.is_some_and(|class| {
        let is_object = !declared.trim_end().ends_with(']');
        is_object && word(&declared, &class).is_some()
    });
    (!is_own).then_some(depth)
}

/// The name of the type in a declaration of `name`, which `place` may give another name before.
fn type_of(declared: &str, name: &str, place: &Text, at: usize) -> String {
    let head = |text: &str, name: &str| {
        let mut depth = 0;
        let inside = |c: &char| {
            depth += i32::from(*c == '<');
            let is_outer = depth == 0;
            depth -= i32::from(*c == '>');
            is_outer
        };
        let end = word(text, name).unwrap_or(text.len());
        let plain: String = text[..end].chars().filter(inside).collect();
        last_name(plain.trim_end()).to_owned()
    };
    let own = head(declared, name);
    let seen = place.visible_before(at);
    let renamed = seen.split([';', '{', '}']).find_map(|statement| {
        let statement = statement.trim();
        let (new, old) = statement.strip_prefix("using")?.split_once('=')?;
        (new.trim() == own).then(|| head(old, ";"))
    });
    renamed.unwrap_or(own)
}

/// The name of the structure that is around a line, or begins there.
fn class_around(place: &Text, start: usize) -> Option<String> {
    let end = place.line_end(start);
    let own = place.masked[start..end]
        .match_indices('{')
        .map(|(at, _)| start + at);
    let around = std::iter::successors(place.open_before(start), |at| place.open_before(*at));
    let mut opens = own
        .chain(around)
        .filter(|at| place.masked[*at..].starts_with('{'));
    opens.find_map(|open| {
        let head = &place.masked[place.statement_start(open).min(open)..open];
        let kinds = ["struct", "class", "union"].into_iter();
        let named = kinds.filter_map(|kind| Some(&head[word(head, kind)? + kind.len()..]));
        let name = named.map(|rest| first_name(rest.trim_start())).next()?;
        (!name.is_empty()).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::lines::change::AccessChange;
    use crate::suggest::source::files::given;

    const SOURCE: &str =
        "struct Pair { float x, y; Pair operator*(Pair o) { return {x * o.x, y}; } };
template <int N> struct Tile {
    Pair v[N];
    void put(int i, Pair p) {
        v[i] = p;
    }
};
struct Sum {
    static float of(const Pair &p) {
        return p.x + p.y;
    }
};
__global__ void k() {
    __shared__ Tile<32> t;
    t.put(0, Pair());
    out[i] = t.v[i] * t.v[j];
    s = Sum::of(other[i]) + Sum::of(t.v[i]);
}";

    /// Moves the accesses of a line to the line at which it was inlined into the kernel.
    fn line(own: u32, call: u32) -> String {
        let mut text = given(SOURCE);
        let source = format!("k.cu:{own}");
        let mut lines = vec![LineChange {
            text: text.line(&source),
            source: Some(source),
            inlined_at: vec![format!("k.cu:{call}")],
            accesses: vec![AccessChange::default()],
            ..LineChange::default()
        }];
        let new = to_their_callers(&mut lines, "t", &mut text);
        lines.extend(new);
        let [line] = &lines[..] else {
            panic!("{lines:?}")
        };
        assert_eq!(line.accesses.len(), 1);
        line.source.clone().unwrap()
    }

    #[test]
    fn elements_are_accessed_where_the_array_is_named() {
        assert_eq!(line(1, 16), "k.cu:16");
        assert_eq!(line(10, 17), "k.cu:17");
    }

    /// A library accesses what it stores; the array has many of these.
    #[test]
    fn an_index_of_storage_is_none_of_its_elements() {
        let line = |element: &str, class: &str| {
            let own = format!(
                "template <int N> struct {class} {{\n void put(float v) {{\n x = v;\n }}\n}};
using Number = thrust::complex<float>;
__global__ void k() {{
    __shared__ {element} t[4];
    F<4>(t[w]).put(v);
}}"
            );
            let mut text = given(&own);
            let mut lines = vec![LineChange {
                text: text.line("k.cu:9"),
                source: Some("k.cu:9".to_owned()),
                through: vec!["k.cu:3".to_owned(), "/opt/cub/cub/warp.cuh:7".to_owned()],
                accesses: vec![AccessChange::default()],
                ..LineChange::default()
            }];
            to_their_callers(&mut lines, "t", &mut text).len()
        };
        assert_eq!(line("F<4>::Storage", "F"), 0);
        assert_eq!(line("typename F<4>::Storage", "Storage"), 1);
        assert_eq!(line("thrust::complex<float>", "complex"), 1);
        assert_eq!(line("Number", "complex"), 1);
        assert_eq!(line("Number", "F"), 0);
    }

    #[test]
    fn functions_of_the_variable_itself_have_their_own_lines() {
        assert_eq!(line(5, 15), "k.cu:5");
    }
}
