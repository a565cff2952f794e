//! A skeleton as the text of a launch file.

use super::given::{Given, GivenValue};
use super::maps::MapUse;
use super::{Member, Param, ParamKind, Skeleton};
use crate::launch::Element;
use spadkit_base::error::{Error, Result};
use spadkit_base::input::section::Number;
use spadkit_base::quote::did_you_mean;
use spadkit_ptx::Type;
use std::fmt::Write;

/// Default number of elements of a buffer.
const COUNT: u64 = 4096;
/// Default bytes of dynamic shared memory.
const DYNAMIC: u32 = 8192;

impl Skeleton {
    /// The launch file. `ptx` is the PTX file's name as the launch file has it.
    /// What is not `given` is marked with "fill in".
    pub fn text(&self, ptx: &str, given: &Given) -> Result<String> {
        let values = self.values(given)?;
        let mut text = format!("ptx = {}\nentry = {}\n", quoted(ptx), quoted(&self.entry));
        let dimensions = [
            ("grid", given.grid, &self.grid),
            ("block", given.block, &self.block),
        ];
        for (key, given, (known, comment)) in dimensions {
            match given {
                Some(d) => writeln!(text, "{key} = {}", list(d)),
                None => writeln!(text, "{key} = {}  # {comment}", list(*known)),
            }
            .expect("strings take everything");
        }
        match (given.dynamic_shared, self.dynamic_shared) {
            (Some(bytes), _) => text += &format!("dynamic_shared = {bytes}\n"),
            (None, true) => {
                let is_local = |p: &Param| matches!(p.kind, ParamKind::Shared(_));
                let of = if self.params.iter().any(is_local) {
                    "all local pointers together"
                } else {
                    "extern __shared__"
                };
                text += &format!("dynamic_shared = {DYNAMIC}  # fill in: bytes of {of}\n");
            }
            (None, false) => {}
        }
        if self.cooperative {
            text += "cooperative = true  # the kernel waits for all blocks: grid.sync()\n";
        }
        // Buffers that are no parameters come after those that are.
        let mut others = String::new();
        for (param, value) in self.params.iter().zip(values) {
            text += "\n[[arg]]\n";
            let declared = param.declared.as_deref();
            let comment = declared.map_or(String::new(), |ty| format!("  # {ty}"));
            text += &format!("name = {}{comment}\n", quoted(&param.name));
            match &param.kind {
                ParamKind::TensorMap(map) => others += &tensor_lines(param, map, value),
                ParamKind::Bytes(_, members) if value.is_none() => {
                    for member in members {
                        others += &member_lines(&member.param);
                    }
                }
                _ => {}
            }
            text += &match value {
                Some(value) => given_lines(param, value),
                None => unknown_lines(param),
            };
        }
        Ok(text + &others)
    }

    /// The value that is given for each parameter, if any.
    fn values<'a>(&self, given: &'a Given) -> Result<Vec<Option<&'a GivenValue>>> {
        let mut values = vec![None; self.params.len()];
        for arg in &given.args {
            let named = self.names().position(|n| n == arg.name);
            let place = arg.name.parse().ok().filter(|at| *at < values.len());
            let Some(at) = named.or(place) else {
                // A number is a position: no name is near to it.
                let near = match arg.name.parse::<usize>() {
                    Ok(_) => String::new(),
                    Err(_) => did_you_mean(&arg.name, self.names()),
                };
                return Err(Error::usage(
                    format!("{} has no parameter '{}'{near}", self.entry, arg.name),
                    if self.params.is_empty() {
                        "the entry has no parameters".to_owned()
                    } else {
                        format!(
                            "expected one of {}, or its position from 0",
                            self.names().collect::<Vec<_>>().join(", ")
                        )
                    },
                ));
            };
            let param = &self.params[at];
            if arg.value == GivenValue::Null && !may_be_null(&param.kind) {
                return Err(Error::usage(
                    format!("--arg {}=null: {} is not a pointer", arg.name, param.name),
                    "expected NAME=NUMBER for a scalar",
                ));
            }
            if let (GivenValue::Number(number), ParamKind::Scalar(ty) | ParamKind::Shared(ty)) =
                (&arg.value, &param.kind)
                && let Some(element) = Element::parse(element_name(*ty))
            {
                let value = element.bytes_of(&Number::Text(number.clone()));
                value.map_err(|wrong| {
                    let what = format!("--arg {}={number}: {wrong}", arg.name);
                    Error::usage(what, format!("{} is {}", param.name, element.name()))
                })?;
            }
            values[at] = Some(&arg.value);
        }
        Ok(values)
    }
}

/// Whether a parameter may be an address: one that the entry never uses does not
/// show that it is.
fn may_be_null(kind: &ParamKind) -> bool {
    match kind {
        ParamKind::Pointer { .. } => true,
        ParamKind::Scalar(ty) => ty.bits() == 64 && !ty.is_float(),
        _ => false,
    }
}

fn given_lines(param: &Param, value: &GivenValue) -> String {
    match value {
        GivenValue::Buffer(init, element, count) => match &param.kind {
            ParamKind::TensorMap(map) => map_lines(param, map, Some(*element)),
            _ => buffer_lines(init, *element, *count),
        },
        GivenValue::Null => "null = true\n".to_owned(),
        GivenValue::Number(number) => {
            let ty = match &param.kind {
                ParamKind::Scalar(ty) | ParamKind::Shared(ty) => element_name(*ty),
                _ => "u64",
            };
            let is_float = ty.starts_with('f') || ty == "bf16";
            let is_toml = format!("value = {number}").parse::<toml::Table>().is_ok();
            let value = match (is_toml, is_float && number.parse::<i64>().is_ok()) {
                // TOML writes floats with a point.
                (true, true) => format!("{number}.0"),
                (true, false) => number.clone(),
                // TOML has no such number: 010, .5
                (false, _) => quoted(number),
            };
            format!("type = \"{ty}\"\nvalue = {value}\n")
        }
    }
}

fn buffer_lines(init: &str, element: Element, count: u64) -> String {
    format!(
        "type = \"{}\"\ncount = {count}\ninit = {}\n",
        element.name(),
        quoted(init)
    )
}

fn unknown_lines(param: &Param) -> String {
    match &param.kind {
        ParamKind::Pointer {
            element,
            reads,
            writes,
        } => unknown_buffer(*element, *reads, *writes),
        ParamKind::Scalar(ty) => {
            let name = element_name(*ty);
            let value = match param.declared.as_deref() {
                Some("bool") => "1",
                _ if ty.is_float() => "1.0",
                _ => "64",
            };
            format!("type = \"{name}\"\nvalue = {value}  # fill in\n")
        }
        ParamKind::Shared(ty) => format!(
            "type = \"{}\"\nvalue = 0  # fill in: a local pointer, as bytes from the begin of \
             dynamic shared memory\n",
            element_name(*ty)
        ),
        ParamKind::TensorMap(map) => map_lines(param, map, None),
        ParamKind::Bytes(bytes, members) => {
            let zeros = "00".repeat(usize::try_from(*bytes).unwrap_or(0));
            let mut lines = format!(
                "type = \"bytes\"\n\
                 value = \"{zeros}\"  # fill in: {bytes} bytes of a struct, in memory order\n"
            );
            lines += &listed("pointers", "addresses", members, |m| !m.by_value);
            lines += &listed("maps", "tensor maps", members, |m| m.by_value);
            lines
        }
    }
}

/// The line of a key with some members of a struct, if there are any.
fn listed(key: &str, what: &str, members: &[Member], own: impl Fn(&Member) -> bool) -> String {
    let named = |m: &Member| format!("{{ at = {}, to = {} }}", m.byte, quoted(&m.param.name));
    let all: Vec<String> = members.iter().filter(|m| own(m)).map(named).collect();
    if all.is_empty() {
        return String::new();
    }
    let all = all.join(", ");
    format!("{key} = [{all}]  # {what} in it, of the arguments at the end\n")
}

/// A buffer of which the PTX shows this much.
fn unknown_buffer(element: Option<Type>, reads: bool, writes: bool) -> String {
    let (ty, note) = match element {
        Some(ty) => (element_name(ty), ""),
        None => ("f32", "  # fill in: the PTX does not show the type"),
    };
    let (init, access) = init_of(reads, writes);
    format!(
        "type = \"{ty}\"{note}\ncount = {COUNT}  # fill in: elements\n\
         init = \"{init}\"  # {access}\n"
    )
}

/// The argument that is in a struct, or that an address in it leads to.
fn member_lines(param: &Param) -> String {
    let lines = unknown_lines(param);
    let tensor = match &param.kind {
        ParamKind::TensorMap(map) => tensor_lines(param, map, None),
        _ => String::new(),
    };
    format!("\n[[arg]]\nname = {}\n{lines}{tensor}", quoted(&param.name))
}

/// The first contents of a buffer, and why.
fn init_of(reads: bool, writes: bool) -> (&'static str, &'static str) {
    match (reads, writes) {
        (true, true) => ("random", "the kernel reads and writes it"),
        (true, false) => ("random", "the kernel reads it"),
        (false, true) => ("zeros", "the kernel writes it"),
        (false, false) => ("random", "no access in the kernel itself"),
    }
}

/// The map of a tensor that fills a buffer of [`COUNT`] elements.
fn map_lines(param: &Param, map: &MapUse, element: Option<Element>) -> String {
    const EXTENTS: [&str; 5] = [
        "4096",
        "64, 64",
        "16, 16, 16",
        "8, 8, 8, 8",
        "8, 8, 8, 4, 2",
    ];
    const BOXES: [&str; 5] = ["256", "32, 32", "8, 8, 8", "4, 4, 4, 4", "4, 4, 4, 4, 2"];
    // Of a map that is only prefetched the PTX does not show it.
    let rank = if map.rank == 0 { 2 } else { map.rank };
    let at = rank.clamp(1, 5) - 1;
    let (ty, note) = match element {
        Some(element) => (element.name(), ""),
        None => ("f32", "  # fill in: as of the buffer"),
    };
    let part = if map.image {
        let corner = vec!["0"; map.rank.saturating_sub(2)].join(", ");
        format!(
            "lower = [{corner}]  # fill in: the first pixel\n\
             upper = [{corner}]  # fill in: the last one, from the image's last\n\
             channels = 8  # fill in: elements of a pixel\n\
             pixels = 16  # fill in: pixels of a copy\n"
        )
    } else {
        format!("box = [{}]  # fill in: elements of a copy\n", BOXES[at])
    };
    format!(
        "[arg.tensor_map]\nbuffer = {}\ntype = \"{ty}\"{note}\n\
         extent = [{}]  # fill in: elements, the contiguous dimension first\n{part}\
         swizzle = \"none\"  # fill in: none, 32, 64 or 128\n",
        quoted(&tensor_name(param)),
        EXTENTS[at],
    )
}

/// The buffer with the tensor of a map.
fn tensor_lines(param: &Param, map: &MapUse, given: Option<&GivenValue>) -> String {
    let (init, access) = init_of(map.reads, map.writes);
    let lines = match given {
        Some(GivenValue::Buffer(init, element, count)) => buffer_lines(init, *element, *count),
        _ => format!(
            "type = \"f32\"  # fill in: the PTX does not show the type\n\
             count = {COUNT}  # fill in: elements\ninit = \"{init}\"  # {access}\n"
        ),
    };
    format!("\n[[arg]]\nname = {}\n{lines}", quoted(&tensor_name(param)))
}

fn tensor_name(param: &Param) -> String {
    format!("{}_tensor", param.name)
}

/// The name of a launch file's element type.
fn element_name(ty: Type) -> &'static str {
    use Type::*;
    match ty {
        B8 | U8 | Pred => "u8",
        S8 => "s8",
        B16 | U16 | U16x2 => "u16",
        S16 | S16x2 => "s16",
        B32 | U32 => "u32",
        S32 => "s32",
        B64 | U64 | B128 => "u64",
        S64 => "s64",
        F16 | F16x2 => "f16",
        Bf16 | Bf16x2 => "bf16",
        F32 | Tf32 => "f32",
        F32x2 | F64 => "f64",
        // No parameter has them.
        _ => "u8",
    }
}

/// `[16, 16]`: without the dimensions that are 1 at the end.
fn list(dimensions: [u32; 3]) -> String {
    let used = dimensions
        .iter()
        .rposition(|d| *d > 1)
        .map_or(1, |at| at + 1);
    let all: Vec<String> = dimensions[..used].iter().map(u32::to_string).collect();
    format!("[{}]", all.join(", "))
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
