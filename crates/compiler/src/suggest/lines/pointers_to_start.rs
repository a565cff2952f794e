//! Pointers to the start of an array that their function does not see, as CUDA's samples
//! have them for templates: `T *s = SharedMemory<T>();`.

use super::calls::declares;
use crate::suggest::SourceFiles;
use crate::suggest::source::files::split;
use crate::suggest::source::pointers::{declared_pointer, is_moved, points_into, value};
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::{last_name, word};

/// The pointer of the function around `at` that has the start of `array`, and nothing else
/// after its declaration. `None` where the array itself is seen.
pub(in crate::suggest) fn pointer(
    source: &str,
    (place, at): (&Text, usize),
    array: &str,
    sources: &mut SourceFiles,
) -> Option<String> {
    if declares(place, at, array) {
        return None;
    }
    let body = place.function_around(at)?.body;
    let body = Text::new(place.text[body..place.block_end(body)].to_owned());
    let mut file = None;
    let mut equals = body.masked.match_indices('=').map(|(at, _)| at);
    let found = equals.find_map(|equals| {
        let name = declared_pointer(body.masked[..equals].trim_end())?;
        let giver = giver(value(&body, equals))?;
        let all = match &file {
            Some(all) => all,
            None => file.insert(sources.with_included(split(source)?.0).text.clone()),
        };
        gives(all, giver, array).then(|| name.to_owned())
    })?;
    (!is_moved(&body, &found)).then_some(found)
}

/// `SharedMemory` of `SharedMemory<T>()`: what gives the value of an expression, without
/// arguments.
fn giver(value: &str) -> Option<&str> {
    let called = value
        .strip_suffix(')')?
        .trim_end()
        .strip_suffix('(')?
        .trim_end();
    let name = match called.strip_suffix('>') {
        Some(_) => &called[..called.find('<')?],
        None => called,
    };
    let name = last_name(name.trim_end());
    (!name.is_empty()).then_some(name)
}

/// Whether every structure and function called `name` that declares shared memory
/// declares `array`, and returns where it begins; one of them at least.
fn gives(file: &Text, name: &str, array: &str) -> bool {
    let mut bodies = Vec::new();
    let mut from = 0;
    while let Some(found) = word(&file.masked[from..], name) {
        from += found + name.len();
        let next = file.masked[from..].find(['{', ';', '=']);
        let open = next
            .map(|next| from + next)
            .filter(|open| file.masked[*open..].starts_with('{'));
        bodies.extend(open.and_then(|open| Some(&file.masked[open..file.closing(open)?])));
    }
    let returns = |body: &&str| {
        let array = [array.to_owned()];
        body.split("return").skip(1).all(|value| {
            let value = value.split(';').next().unwrap_or_default().trim();
            points_into(value, &array) && !value.contains(['+', '-', '['])
        })
    };
    let mut own = bodies
        .iter()
        .filter(|body| word(body, array).is_some())
        .peekable();
    own.peek().is_some()
        && own.all(|body| body.contains("__shared__") && body.contains("return") && returns(body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::files::given;

    const STRUCT: &str = "template <class T> struct Shared {\n\
        __device__ operator T *() { extern __shared__ int smem[]; return (T *)smem; }\n};";

    /// The pointer that the line before the last sees.
    fn found(definition: &str, before: &str) -> Option<String> {
        let source = format!("{definition}\nvoid k() {{\n{before}\nlast();\n}}");
        let place = Text::new(source.clone());
        let at = source.find("last").unwrap();
        pointer("k.cu:1", (&place, at), "smem", &mut given(&source))
    }

    #[test]
    fn what_a_structure_or_a_function_gives_is_the_start() {
        assert_eq!(found(STRUCT, "T *s = Shared<T>();").unwrap(), "s");
        let used = "T *s = Shared<T>(); x += s[1]; s[2] = *s;";
        assert_eq!(found(STRUCT, used).unwrap(), "s");
        let function = "template <typename T> __device__ T *shared() {\n\
            extern __shared__ double smem[];\nreturn reinterpret_cast<T *>(smem);\n}";
        assert_eq!(
            found(function, "float *all = shared<float>();").unwrap(),
            "all"
        );
    }

    #[test]
    fn what_may_point_elsewhere_is_left_to_a_person() {
        for before in [
            "T *s = Shared<T>() + 4;",
            "T *s = Shared<T>(4);",
            "T *s = Other<T>();",
            "T *s = Shared<T>(); s += 4;",
            "T *s = Shared<T>(); s = out;",
            "T *s = Shared<T>(); ++s;",
            "T *s = Shared<T>(); s++;",
            "T s = Shared<T>();",
        ] {
            assert_eq!(found(STRUCT, before), None, "{before}");
        }
        let later = STRUCT.replace("(T *)smem", "(T *)smem + 4");
        assert_eq!(found(&later, "T *s = Shared<T>();"), None);
        let seen = "extern __shared__ int smem[]; T *s = Shared<T>();";
        assert_eq!(found(STRUCT, seen), None);
    }
}
