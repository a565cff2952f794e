//! A layout as source code.

use super::expression::{Dialect, Numbers};
use super::layout::{Layout, LayoutSpec};
use super::operation::{Step, Steps, Value};
use super::ptx;
use super::shared_layouts::{nearest_swizzle, swizzle_of};
use crate::hash::HashSpec;
use serde::Serialize;
use std::fmt::Write;

/// CUDA C++ and OpenCL C.
const C: Dialect = Dialect {
    index: "index",
    table: "spad_table",
    numbers: Numbers::Unsigned,
};

/// A language that a layout can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// A CUDA C++ device function.
    Cuda,
    /// An OpenCL C function.
    Opencl,
    /// A PTX device function.
    Ptx,
    /// A CuTe layout or swizzle.
    Cute,
    /// Triton's shared-memory encodings.
    Triton,
}

/// A layout as source code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Code {
    /// The language.
    pub language: Language,
    /// The text; where the language cannot say the layout, the nearest that it
    /// can, or nothing.
    pub code: String,
    /// PTX instructions per address; `None` where the language's own compiler
    /// makes them.
    pub operations: Option<usize>,
    /// Whether the text is the layout itself.
    pub exact: bool,
    /// Why it is not.
    pub reason: Option<String>,
}

/// Name of the function in C and PTX.
const FUNCTION: &str = "spad_place";
/// Name of the CUDA function that keeps packed shifts in registers (RAP paper,
/// section VI).
const IN_REGISTERS: &str = "spad_place_in_registers";

/// `layout` in `language`.
pub fn render(layout: &Layout, language: Language) -> Code {
    let steps = Steps::of(layout);
    let function = |code| Code {
        language,
        code,
        operations: Some(steps.count()),
        exact: true,
        reason: None,
    };
    match language {
        Language::Cuda => {
            let head = "__device__ __forceinline__ unsigned";
            function(c_function(layout, &steps, head, "unsigned", "const"))
        }
        Language::Opencl => function(c_function(
            layout,
            &steps,
            "inline uint",
            "uint",
            "constant",
        )),
        Language::Ptx => function(ptx_function(layout, &steps)),
        Language::Cute => template(layout, language, cute, "a Swizzle<B, M, S>"),
        Language::Triton => template(layout, language, triton, "a swizzled_shared encoding"),
    }
}

/// The CUDA function `name` from the index of an element of `bytes` bytes, a
/// power of two, to the element that holds it. The layout must leave the words
/// of an element together.
pub fn cuda_function(layout: &Layout, name: &str, bytes: u32) -> String {
    let text = render(layout, Language::Cuda).code;
    let renamed = |text: &str, to: &str| {
        let table = text.replace("spad_table", &format!("{to}_table"));
        table.replace(FUNCTION, to)
    };
    if bytes == 4 {
        return renamed(&text, name);
    }
    let words = format!("{name}_word");
    let place = match bytes {
        0..4 => {
            let n = 4 / bytes;
            format!("{words}(index / {n}u) * {n}u + index % {n}u")
        }
        _ => format!("{words}(index * {0}u) / {0}u", bytes / 4),
    };
    format!(
        "{}// The same for elements of {bytes} bytes.\n\
         __device__ __forceinline__ unsigned {name}(unsigned index)\n{{\n    return {place};\n}}\n",
        renamed(&text, &words)
    )
}

/// Overloads `name_at(array, address)` for the function of [`cuda_function`]:
/// from an address in `array`, a pointer or what `__cvta_generic_to_shared`
/// gives, to the address under the mapping. `bytes` as there.
pub fn cuda_address_function(layout: &Layout, name: &str, bytes: u32) -> String {
    let words = match bytes {
        4 => name.to_owned(),
        _ => format!("{name}_word"),
    };
    let through_words = || {
        let place = format!("{words}(byte / 4u) * 4u + byte % 4u");
        (String::new(), place)
    };
    let (body, place) = in_bytes(&Steps::of(layout)).unwrap_or_else(through_words);
    format!(
        "// The same for an address in `array`: for ldmatrix and cp.async.\n\
         __device__ __forceinline__ unsigned {name}_at(const volatile void *array, \
         unsigned address)\n{{\n    \
             const unsigned first = (unsigned)__cvta_generic_to_shared((const void *)array);\n    \
             const unsigned byte = address - first;\n{body}    \
             return first + {place};\n}}\n\
         // The same for a pointer.\n\
         template <typename T>\n\
         __device__ __forceinline__ T *{name}_at(const volatile void *array, T *address)\n{{\n    \
             const unsigned byte = (const volatile char *)address \
             - (const volatile char *)array;\n{body}    \
             return (T *)((char *)array + {place});\n}}\n"
    )
}

/// The steps on the number of a byte, and the name of the last: shifts and XORs
/// of words are those of bytes with masks of two more bits. `None` for others.
fn in_bytes(steps: &Steps) -> Option<(String, String)> {
    let named = |value: &Value| match value {
        Value::Index => "byte".to_owned(),
        step => C.value(step),
    };
    let mut body = String::new();
    for (i, step) in steps.steps.iter().enumerate() {
        let expression = match step {
            Step::Right(a, bits) => format!("{} >> {bits}", named(a)),
            Step::XorMasked { rest, value, mask } if mask.leading_zeros() >= 2 => {
                let mask = mask << 2;
                format!("{} ^ ({} & {mask:#x}u)", named(rest), named(value))
            }
            _ => return None,
        };
        // Writing to a String cannot fail.
        let _ = writeln!(body, "    const unsigned s{i} = {expression};");
    }
    Some((body, named(&steps.result())))
}

fn comment(layout: &Layout) -> String {
    let m = layout.geometry().bank_bits();
    format!(
        "// {}, {} banks.\n\
         // The word of shared memory that holds 32-bit word `index` of an array\n\
         // (index below {}).\n",
        layout.spec(),
        1 << m,
        layout.geometry().words()
    )
}

fn c_function(layout: &Layout, steps: &Steps, head: &str, word: &str, table: &str) -> String {
    let mut text = comment(layout);
    let mut body = String::new();
    // Writing to a String cannot fail.
    for (i, step) in steps.steps.iter().enumerate() {
        let _ = writeln!(body, "    const {word} s{i} = {};", C.expression(step));
    }
    let result = C.value(&steps.result());
    let function = format!("{head} {FUNCTION}({word} index)\n{{\n{body}    return {result};\n}}\n");
    if steps.table.is_empty() {
        return text + &function;
    }
    let words: Vec<String> = steps.table.iter().map(|w| format!("{w:#010x}u")).collect();
    let lines: Vec<String> = words.chunks(6).map(|line| line.join(", ")).collect();
    let list = lines.join(",\n    ");
    let count = words.len();
    let constant = match table {
        "const" => "__constant__ unsigned",
        _ => "__constant uint",
    };
    let _ = writeln!(text, "{constant} spad_table[{count}] = {{\n    {list}\n}};");
    text += &function;
    if table == "const" {
        text += &in_registers(layout, &lines.join(",\n        "), count);
    }
    text
}

/// RAP and RAS with the packed shifts in registers: constants where the row is
/// known at compile time, as in an unrolled loop over rows.
fn in_registers(layout: &Layout, list: &str, count: usize) -> String {
    let bits = layout.geometry().bank_bits();
    let (banks, per_word) = (1 << bits, u32::BITS / bits);
    format!(
        "// The same for rows known at compile time (unrolled loops): the table is in registers.\n\
         __device__ __forceinline__ unsigned {IN_REGISTERS}(unsigned row, unsigned column)\n{{\n    \
         const unsigned spad_table[{count}] = {{\n        {list}\n    }};\n    \
         const unsigned slot = row % {banks}u;\n    \
         const unsigned shift = spad_table[slot / {per_word}u] >> ({bits}u * (slot % {per_word}u));\n    \
         return row * {banks}u + ((column + shift) & {:#x}u);\n}}\n",
        banks - 1
    )
}

fn ptx_function(layout: &Layout, steps: &Steps) -> String {
    let mut text = comment(layout);
    if !steps.table.is_empty() {
        let words: Vec<String> = steps.table.iter().map(|w| format!("{w:#010x}")).collect();
        let list = words.join(", ");
        let _ = writeln!(
            text,
            ".const .align 4 .b32 spad_table[{}] = {{{list}}};",
            words.len()
        );
    }
    let _ = writeln!(
        text,
        ".func (.reg .b32 %place) {FUNCTION}(.reg .b32 %index)\n{{"
    );
    if !steps.steps.is_empty() {
        let _ = writeln!(text, "    .reg .b32 %s<{}>;", steps.steps.len());
    }
    if !steps.table.is_empty() {
        text += "    .reg .b64 %table;\n";
    }
    for (i, step) in steps.steps.iter().enumerate() {
        let _ = writeln!(text, "{}", ptx_instruction(step, &format!("%s{i}")));
    }
    let _ = writeln!(
        text,
        "    mov.b32 %place, {};\n    ret;\n}}",
        ptx_value(&steps.result())
    );
    text
}

fn ptx_value(value: &Value) -> String {
    match value {
        Value::Index => "%index".to_owned(),
        Value::Step(i) => format!("%s{i}"),
    }
}

fn ptx_instruction(step: &Step, to: &str) -> String {
    let v = ptx_value;
    let text = match step {
        Step::Right(a, bits) => ptx::right(to, &v(a), bits),
        Step::Left(a, bits) => ptx::left(to, &v(a), *bits),
        Step::And(a, mask) => ptx::and(to, &v(a), *mask),
        Step::XorMasked { rest, value, mask } => ptx::xor_masked(to, &v(rest), &v(value), *mask),
        Step::Merge {
            inside,
            outside,
            mask,
        } => ptx::merge(to, &v(inside), &v(outside), *mask),
        Step::Add(a, b) => ptx::add(to, &v(a), &v(b)),
        Step::MulAdd { value, factor, add } => ptx::mul_add(to, &v(value), *factor, &v(add)),
        Step::MulHigh(a, factor) => ptx::mul_high(to, &v(a), *factor),
        Step::Table(i) => format!(
            "mov.u64 %table, spad_table;\n    mad.wide.u32 %table, {}, 4, %table;\n    \
             ld.const.b32 {to}, [%table];",
            v(i)
        ),
        Step::RightBy(a, bits) => ptx::right(to, &v(a), v(bits)),
    };
    format!("    {text}")
}

/// Languages that know layouts of a form of their own only.
fn template(
    layout: &Layout,
    language: Language,
    write: fn(&LayoutSpec) -> Option<String>,
    form: &str,
) -> Code {
    let own = match layout.spec() {
        spec @ LayoutSpec::Pad { .. } => Some(spec.clone()),
        _ => swizzle_of(layout),
    };
    let exact = own.as_ref().and_then(write);
    let nearest = || nearest_swizzle(layout).as_ref().and_then(write);
    Code {
        language,
        exact: exact.is_some(),
        reason: exact.is_none().then(|| reason(layout, form)),
        code: exact.or_else(nearest).unwrap_or_default(),
        operations: None,
    }
}

fn reason(layout: &Layout, form: &str) -> String {
    let what = match (layout.spec(), layout.rows()) {
        (LayoutSpec::Pad { .. }, _) => "the gaps are not powers of two apart".to_owned(),
        (LayoutSpec::Hash(HashSpec::Add | HashSpec::Rap(_) | HashSpec::Ras(_)), _) | (_, None) => {
            "it adds, and swizzles only XOR".to_owned()
        }
        (_, Some(rows)) => {
            let bits = |row: u32| (0..u32::BITS).filter(move |b| row >> b & 1 == 1);
            let moved: Vec<String> = rows
                .iter()
                .enumerate()
                .filter(|(j, row)| **row != 1 << j)
                .map(|(j, row)| {
                    let sum: Vec<String> = bits(*row).map(|b| format!("i{b}")).collect();
                    format!("p{j} = {}", sum.join("^"))
                })
                .collect();
            format!(
                "one distance for all bits is needed, but {}",
                moved.join(", ")
            )
        }
    };
    format!("{} is not {form}: {what}", layout.spec())
}

fn cute(spec: &LayoutSpec) -> Option<String> {
    Some(match spec {
        LayoutSpec::Swizzle { bits, base, shift } => format!(
            "// {spec}, on 32-bit words: of an array with layout L, composition(SpadSwizzle{{}}, L{{}}).\n\
             using SpadSwizzle = cute::Swizzle<{bits}, {base}, {shift}>;\n"
        ),
        LayoutSpec::Pad { every, by } => format!(
            "// {spec}, on 32-bit words: Rows rows of {every} words, {by} words between them.\n\
             template <int Rows>\n\
             using SpadLayout = cute::Layout<cute::Shape<cute::Int<{every}>, cute::Int<Rows>>,\n\
             {:32}cute::Stride<cute::Int<1>, cute::Int<{}>>>;\n",
            "",
            every + by
        ),
        LayoutSpec::Hash(_) => return None,
    })
}

fn triton(spec: &LayoutSpec) -> Option<String> {
    Some(match *spec {
        LayoutSpec::Swizzle { bits: 0, .. } => {
            "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n".into()
        }
        LayoutSpec::Swizzle { bits, base, shift } if shift > 0 => format!(
            "// {spec}: of an array of 32-bit elements with rows of {} elements.\n\
             #ttg.swizzled_shared<{{vec = {}, perPhase = 1, maxPhase = {}, order = [1, 0]}}>\n",
            1u32 << (base + shift.unsigned_abs()),
            1u32 << base,
            1u32 << bits
        ),
        LayoutSpec::Pad { every, by } if every.is_power_of_two() && by.is_power_of_two() => {
            format!("#ttg.padded_shared<[{every}:+{by}] {{order = [1, 0]}}>\n")
        }
        _ => return None,
    })
}
