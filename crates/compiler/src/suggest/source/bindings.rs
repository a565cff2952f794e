//! The arguments of a template's parameters in the instance with a shared variable,
//! from the variable's name in the PTX.

use super::elements::bytes_of_type;
use super::scan::Text;
use super::words::{last_name, word};
use spadkit_ptx::source_name;
use std::collections::BTreeMap;

/// Types that the C++ ABI writes as a letter.
const LETTERS: [(char, &str); 13] = [
    ('f', "float"),
    ('d', "double"),
    ('i', "int"),
    ('j', "unsigned"),
    ('s', "short"),
    ('t', "unsigned short"),
    ('c', "char"),
    ('a', "signed char"),
    ('h', "unsigned char"),
    ('x', "long long"),
    ('y', "unsigned long long"),
    ('l', "int64_t"),
    ('m', "uint64_t"),
];

/// The parameters of a template by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::suggest) struct Bindings {
    types: BTreeMap<String, String>,
    values: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Argument {
    Type(String),
    Value(u64),
}

impl Bindings {
    /// The bindings of the template around `at`, in the instance with the variable
    /// of this name in the PTX; none if the functions differ.
    pub fn of(variable: &str, place: &Text, at: usize) -> Self {
        let mut found = Bindings::default();
        let named = instance(variable)
            .and_then(|(function, arguments)| Some((parameters(place, at, function)?, arguments)));
        let Some((names, arguments)) = named else {
            return found;
        };
        for (name, argument) in names.into_iter().zip(arguments) {
            match argument {
                Argument::Type(is) => drop(found.types.insert(name, is)),
                Argument::Value(is) => drop(found.values.insert(name, is)),
            }
        }
        found
    }

    /// The value of a parameter.
    pub fn value(&self, name: &str) -> Option<u64> {
        self.values.get(name).copied()
    }

    /// Bytes of a type, or of the type that a parameter is.
    pub fn bytes_of(&self, element: &str) -> Option<u32> {
        bytes_of_type(self.types.get(element).map_or(element, String::as_str))
    }
}

/// The function that contains the local variable, and the plain arguments of its
/// template: `_ZZ5marchILi48EEvPfE5point` is `point` of `march<48>`.
fn instance(variable: &str) -> Option<(&str, Vec<Argument>)> {
    let mut rest = variable.strip_prefix("_ZZ")?;
    rest = rest.strip_prefix('N').unwrap_or(rest);
    loop {
        let (name, after) = source_name(rest)?;
        if let Some(listed) = after.strip_prefix('I') {
            return Some((name, arguments(listed)));
        }
        rest = after;
    }
}

fn arguments(mut rest: &str) -> Vec<Argument> {
    let mut found = Vec::new();
    while let Some((argument, after)) = argument(rest) {
        found.push(argument);
        rest = after;
    }
    found
}

/// `f`, `6float4`, `Li48E` or `L6Layout1E`.
fn argument(text: &str) -> Option<(Argument, &str)> {
    if let Some(literal) = text.strip_prefix('L') {
        let typed = source_name(literal).map(|(_, after)| after);
        let (digits, after) = typed.or(literal.get(1..))?.split_once('E')?;
        return Some((Argument::Value(digits.parse().ok()?), after));
    }
    if let Some((name, after)) = source_name(text) {
        let is_plain = !after.starts_with('I');
        return is_plain.then(|| (Argument::Type(name.to_owned()), after));
    }
    let (_, name) = LETTERS
        .iter()
        .find(|(letter, _)| text.starts_with(*letter))?;
    Some((Argument::Type((*name).to_owned()), &text[1..]))
}

/// The names of the parameters of the template `function` around `at`.
fn parameters(place: &Text, at: usize, function: &str) -> Option<Vec<String>> {
    let around = place.function_around(at).filter(|f| f.name == function)?;
    let before = &place.masked[..around.open];
    let start = before.rfind([';', '}', '{']).map_or(0, |end| end + 1);
    let head = &before[start..];
    let list = head[word(head, "template")?..]
        .trim_start_matches("template")
        .trim_start();
    let list = list.strip_prefix('<')?;
    let mut depth = 1;
    let close = list.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '<') - i32::from(*c == '>');
        depth == 0
    })?;
    let list = Text::new(list[..close.0].to_owned());
    let all = list.split(0, list.text.len(), ',').into_iter();
    let name = |(from, to): (usize, usize)| {
        let declared = list.text[from..to].split('=').next()?.trim_end();
        // Elements of a parameter pack have no names.
        (!declared.contains("...")).then(|| last_name(declared).to_owned())
    };
    Some(all.map_while(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "template <int N> struct Other {};\n\
        template <typename T, int STRIDE, Layout L = Layout::RAW, class... More>\n\
        __device__ void derivatives(T *out) {\n\
        __shared__ T x[8 * STRIDE];";

    fn bindings(variable: &str) -> Bindings {
        let place = Text::new(SOURCE.to_owned());
        Bindings::of(variable, &place, SOURCE.find("x[").unwrap())
    }

    #[test]
    fn parameters_are_what_the_name_of_the_variable_says() {
        for (variable, bytes, stride, layout) in [
            (
                "_ZZ11derivativesIfLi8EL6Layout2EEvPT_E1x",
                Some(4),
                Some(8),
                Some(2),
            ),
            (
                "_ZZN2ns11derivativesI6float4Lj16EEEvPT_E1x",
                Some(16),
                Some(16),
                None,
            ),
            (
                "_ZZ11derivativesI4PairLi9ELS_1EEvPT_E1x",
                None,
                Some(9),
                None,
            ),
        ] {
            let found = bindings(variable);
            assert_eq!(found.bytes_of("T"), bytes, "{variable}");
            assert_eq!(found.value("STRIDE"), stride, "{variable}");
            assert_eq!(found.value("L"), layout, "{variable}");
            assert_eq!(found.value("More"), None, "{variable}");
        }
    }

    #[test]
    fn another_function_binds_nothing() {
        for variable in [
            "_ZZ5otherIfLi8EEvPT_E1x",
            "_ZZ11derivativesPfE1x",
            "x",
            "_ZZ99derivativesIf",
            "_ZZ11derivativesIP",
        ] {
            assert_eq!(bindings(variable), Bindings::default(), "{variable}");
        }
        assert_eq!(Bindings::default().bytes_of("float"), Some(4));
    }
}
