//! Types of elements.

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
pub(in crate::suggest) fn bytes_of_type(element: &str) -> Option<u32> {
    let known = TYPES.iter().find(|(name, _)| *name == element);
    known.map(|(_, bytes)| *bytes)
}
