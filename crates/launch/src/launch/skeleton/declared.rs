//! The types of a kernel's parameters in C++, from its mangled name.

use cpp_demangle::Symbol;
use spadkit_ptx::Type;

/// The types of `entry`'s parameters as C++ has them; empty where the name is not
/// mangled (`extern "C"`), or in a way that is not understood.
pub(super) fn declared(entry: &str) -> Vec<String> {
    let text = Symbol::new(entry).ok().and_then(|s| s.demangle().ok());
    let text = text.filter(|_| entry.starts_with("_Z"));
    let list = text.as_deref().and_then(last_list).unwrap_or_default();
    list.into_iter().map(const_first).collect()
}

/// For each parameter of `entry`, the type in C++ and the element type, if the mangled
/// name says that it is a pointer to an arithmetic type or a vector of one.
pub fn pointed_to(entry: &str) -> Vec<Option<(String, Type)>> {
    let pointed = |text: String| {
        let to = text.ends_with('*').then(|| element(&text)).flatten();
        to.map(|to| (text, to))
    };
    declared(entry).into_iter().map(pointed).collect()
}

/// The parts of the last list in parentheses: `k<f(int)>(float*, int)` has `float*`
/// and `int`.
fn last_list(text: &str) -> Option<Vec<&str>> {
    let inner = text.strip_suffix(')')?;
    let (mut depth, mut parts, mut end) = (0, Vec::new(), inner.len());
    for (at, c) in inner.char_indices().rev() {
        match c {
            ')' | '>' | ']' | '}' => depth += 1,
            '(' if depth == 0 => {
                parts.push(inner[at + 1..end].trim());
                parts.reverse();
                return Some(parts.into_iter().filter(|p| !p.is_empty()).collect());
            }
            '(' | '<' | '[' | '{' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(inner[at + 1..end].trim());
                end = at;
            }
            _ => {}
        }
    }
    None
}

/// `float const*` as people write it: `const float*`.
fn const_first(text: &str) -> String {
    match text.split_once(" const*") {
        Some((base, rest)) => format!("const {base}*{rest}"),
        None => text.to_owned(),
    }
}

/// The PTX type of an element, where `declared` is an arithmetic type of C++ or CUDA, a
/// vector of one, or a pointer to it.
pub(super) fn element(declared: &str) -> Option<Type> {
    let base = declared.trim_start_matches("const ");
    let base = base.strip_suffix('*').unwrap_or(base);
    let named = match base {
        "signed char" | "char" => Type::S8,
        "unsigned char" | "bool" => Type::U8,
        "short" => Type::S16,
        "unsigned short" => Type::U16,
        "int" => Type::S32,
        "unsigned int" => Type::U32,
        "long" | "long long" => Type::S64,
        "unsigned long" | "unsigned long long" => Type::U64,
        "__half" | "__half2" => Type::F16,
        "__nv_bfloat16" | "__nv_bfloat162" => Type::Bf16,
        "float" => Type::F32,
        "double" => Type::F64,
        _ => return vector_of(base),
    };
    Some(named)
}

/// The element of CUDA's vector types: `float4`, `uchar2`.
fn vector_of(name: &str) -> Option<Type> {
    let base = name.strip_suffix(['1', '2', '3', '4'])?;
    let scalars = [
        ("char", Type::S8),
        ("uchar", Type::U8),
        ("short", Type::S16),
        ("ushort", Type::U16),
        ("int", Type::S32),
        ("uint", Type::U32),
        ("longlong", Type::S64),
        ("ulonglong", Type::U64),
        ("float", Type::F32),
        ("double", Type::F64),
    ];
    let found = scalars.iter().find(|(scalar, _)| *scalar == base);
    found.map(|(_, ty)| *ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_parameters() {
        for (name, types) in [
            (
                "_Z9transposePfS_ii",
                &["float*", "float*", "int", "int"][..],
            ),
            (
                "_Z6kernelIfLi32EEvPKT_S0_j",
                &["const float*", "float", "unsigned int"],
            ),
            (
                "_ZN1a4hgemEPK6__halfP7__half2",
                &["const __half*", "__half2*"],
            ),
            ("_Z3fooPFviEPA10_f", &["void (*)(int)", "float (*) [10]"]),
            ("_Z4nonev", &[]),
            ("transpose", &[]),
            ("_Z99x", &[]),
        ] {
            assert_eq!(declared(name), types, "{name}");
        }
    }

    #[test]
    fn pointers_to_elements() {
        let found = pointed_to("_Z1kPfPKhiPP6float2S_");
        let types: Vec<_> = found.iter().map(|f| f.as_ref().map(|f| f.1)).collect();
        let [float, byte] = [Some(Type::F32), Some(Type::U8)];
        assert_eq!(types, [float, byte, None, None, float]);
        assert_eq!(found[1].as_ref().unwrap().0, "const unsigned char*");
    }

    #[test]
    fn elements_of_types() {
        for (declared, ty) in [
            ("const __half*", Some(Type::F16)),
            ("__nv_bfloat162*", Some(Type::Bf16)),
            ("float4*", Some(Type::F32)),
            ("uchar3", Some(Type::U8)),
            ("unsigned int", Some(Type::U32)),
            ("const unsigned char*", Some(Type::U8)),
            ("void*", None),
            ("float**", None),
            ("foo::Bar*", None),
            ("float (*) [10]", None),
        ] {
            assert_eq!(element(declared), ty, "{declared}");
        }
    }
}
