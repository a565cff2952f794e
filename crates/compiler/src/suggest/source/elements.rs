//! Types of elements.

use super::macros::defined;
use super::words::is_word;

/// Element types whose size the name says.
const TYPES: [(&str, u32); 42] = [
    ("float", 4),
    ("double", 8),
    ("int", 4),
    ("unsigned", 4),
    ("unsigned int", 4),
    ("uint", 4),
    ("int32_t", 4),
    ("uint32_t", 4),
    ("short", 2),
    ("unsigned short", 2),
    ("half", 2),
    ("__half", 2),
    ("__nv_bfloat16", 2),
    ("int16_t", 2),
    ("uint16_t", 2),
    ("char", 1),
    ("unsigned char", 1),
    ("int8_t", 1),
    ("uint8_t", 1),
    ("float2", 8),
    ("float4", 16),
    ("int2", 8),
    ("int4", 16),
    ("uint2", 8),
    ("uint4", 16),
    ("double2", 16),
    ("short2", 4),
    ("ushort2", 4),
    ("half2", 4),
    ("__half2", 4),
    ("__nv_bfloat162", 4),
    ("char4", 4),
    ("uchar4", 4),
    ("signed char", 1),
    ("long long", 8),
    ("unsigned long long", 8),
    ("int64_t", 8),
    ("uint64_t", 8),
    // On 64-bit hosts that nvcc supports, except Windows.
    ("long", 8),
    ("unsigned long", 8),
    ("size_t", 8),
    ("bool", 1),
];

/// The bytes of a type whose name says its size.
pub(in crate::suggest) fn bytes_of_type(element: &str) -> Option<u32> {
    let known = TYPES.iter().find(|(name, _)| *name == element);
    known.map(|(_, bytes)| *bytes)
}

/// The definitions of `name` by `typedef`, `using` or a macro, in the order of `masked`.
pub(in crate::suggest) fn aliases<'a>(
    masked: &'a str,
    name: &'a str,
) -> impl Iterator<Item = &'a str> {
    let macros = masked.lines().filter_map(move |line| {
        let (own, is) = defined(line)?;
        let is_plain = own == name && is.starts_with(char::is_whitespace);
        is_plain.then_some(is.trim())
    });
    let statements = masked.split([';', '{', '}']);
    let types = statements.filter_map(move |statement| {
        let statement = behind_directives(statement).trim();
        if let Some(using) = statement.strip_prefix("using ") {
            let (own, is) = using.split_once('=')?;
            return (own.trim() == name).then_some(is.trim());
        }
        let is = statement.strip_prefix("typedef ")?.strip_suffix(name)?;
        (!is.ends_with(is_word) && !is.trim().is_empty()).then_some(is.trim())
    });
    macros.chain(types)
}

/// A statement without the lines of the preprocessor before it.
fn behind_directives(statement: &str) -> &str {
    let mut rest = statement.trim_start();
    while rest.starts_with('#') {
        rest = rest
            .split_once('\n')
            .map_or("", |(_, after)| after)
            .trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_found_behind_directives() {
        let text = "#include <a.h>\ntypedef long fr_t;\n#if DOUBLE\nusing real = double;\n\
                    #else\nusing real = float;\n#endif\ntypedef unsigned xfr_t;\n\
                    #define WORD unsigned int\n#define F(x) x";
        let all = |name| aliases(text, name).collect::<Vec<_>>();
        assert_eq!(all("fr_t"), ["long"]);
        assert_eq!(all("real"), ["double", "float"]);
        assert_eq!(all("WORD"), ["unsigned int"]);
        assert!(all("r_t").is_empty() && all("F").is_empty() && all("DOUBLE").is_empty());
    }
}
