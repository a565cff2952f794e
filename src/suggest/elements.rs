//! Types of elements.

use super::scan::{Text, last_name, word};

/// Element types whose size the name says.
const TYPES: [(&str, u32); 38] = [
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
];

/// The bytes of a type whose name says its size.
pub(super) fn bytes_of_type(element: &str) -> Option<u32> {
    let known = TYPES.iter().find(|(name, _)| *name == element);
    known.map(|(_, bytes)| *bytes)
}

/// Whether the array or pointer `name` is declared before `at` with elements of a
/// structure that the same text defines. A mapping may take its members apart.
pub(super) fn has_structures(place: &Text, at: usize, name: &str) -> bool {
    let seen = &place.masked[..at];
    let mut from = 0;
    while let Some(found) = word(&seen[from..], name) {
        let before = seen[..from + found].trim_end();
        let before = before.trim_end_matches("__restrict__").trim_end();
        let element = last_name(before.trim_end_matches('*').trim_end());
        if !element.is_empty() && defines(seen, element) {
            return true;
        }
        from += found + name.len();
    }
    false
}

/// Whether a text defines the structure `name`.
fn defines(text: &str, name: &str) -> bool {
    ["struct ", "class ", "union "].into_iter().any(|kind| {
        text.match_indices(kind).any(|(head, _)| {
            let rest = text[head + kind.len()..].trim_start().strip_prefix(name);
            rest.is_some_and(|r| r.trim_start().starts_with(['{', ':']))
        })
    })
}
