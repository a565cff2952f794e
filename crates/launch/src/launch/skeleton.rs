//! A launch file to fill in, derived from the parameters in a kernel's PTX.

mod declared;
mod given;
mod maps;
mod parts;
#[cfg(test)]
mod tests;
mod text;
mod usage;

pub use declared::pointed_to;
pub use given::{Given, GivenArg};

use maps::{MapUse, Maps};
use parts::{Addresses, Part};
use spadkit_base::error::{Error, Result};
use spadkit_ptx::{Function, Module, Parameter, Type, Variable};
use std::collections::BTreeMap;
use usage::{Pointer, Usage};

/// The facts about a launch that the PTX reveals, before the user fills in the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skeleton {
    /// The entry, as the PTX names it.
    entry: String,
    /// Threads of a block, and where they come from.
    block: ([u32; 3], &'static str),
    /// Thread blocks, and where they come from.
    grid: ([u32; 3], &'static str),
    /// Whether the kernel has dynamic shared memory.
    dynamic_shared: bool,
    /// Whether blocks wait for each other.
    cooperative: bool,
    /// The parameters, in order.
    params: Vec<Param>,
}

/// A parameter of the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Param {
    /// Name of the parameter in the launch file, without the entry's name as
    /// prefix.
    name: String,
    /// Type of the parameter in C++, if the entry's name is mangled.
    declared: Option<String>,
    /// Kind of the parameter, as far as the PTX shows it.
    kind: ParamKind,
}

/// The kind of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ParamKind {
    /// An address of global memory, with the type of what is accessed there;
    /// none where the PTX does not show it.
    Pointer {
        element: Option<Type>,
        reads: bool,
        writes: bool,
    },
    /// A number.
    Scalar(Type),
    /// An address of shared memory: bytes from the begin of dynamic shared memory.
    Shared(Type),
    /// A struct or an array by value, of this many bytes, with what is in it.
    Bytes(u64, Vec<Member>),
    /// A tensor map, or the address of one.
    TensorMap(MapUse),
}

/// An address or a tensor map in a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    byte: u32,
    /// Whether it is itself there, as a tensor map may be, and not its address.
    by_value: bool,
    /// The argument that is there, or that the address leads to.
    param: Param,
}

impl Skeleton {
    /// Reads what `module` says of the entry called `wanted`; of its only one
    /// where none is named.
    pub fn new(module: &Module, wanted: Option<&str>) -> Result<Self> {
        let name = match wanted {
            Some(name) => module.entry_named(name)?,
            None => only_entry(module)?,
        };
        let function = &module.functions[module.entry(name)? as usize];
        let addresses = Addresses::of(function);
        let usage = Usage::of(module, function, &addresses);
        let maps = Maps::of(function, module.address_size, &addresses);
        Ok(Skeleton {
            entry: function.name.clone(),
            block: block_of(function, &usage),
            grid: match (usage.grid_dimensions, usage.block_dimensions) {
                (1, _) => ([16, 1, 1], "fill in: thread blocks"),
                (2, _) => (
                    [4, 4, 1],
                    "fill in: thread blocks (the kernel reads %ctaid.y)",
                ),
                _ => (
                    [4, 4, 2],
                    "fill in: thread blocks (the kernel reads %ctaid.z)",
                ),
            },
            dynamic_shared: usage.dynamic_shared,
            cooperative: usage.cooperative,
            params: params_of(function, &usage, &maps),
        })
    }

    /// The entry, as the PTX names it.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// Names of the parameters, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.params.iter().map(|p| p.name.as_str())
    }
}

fn only_entry(module: &Module) -> Result<&str> {
    let entries: Vec<&str> = module.entries().map(|f| f.name.as_str()).collect();
    match entries[..] {
        [one] => Ok(one),
        [] => Err(Error::usage(
            format!("{} has no entry", module.name),
            "expected PTX with a kernel (.entry)",
        )),
        _ => Err(Error::usage(
            format!("{} has {} entries", module.name, entries.len()),
            format!(
                "choose one with --entry: {}",
                spadkit_ptx::listed_names(&entries)
            ),
        )),
    }
}

fn block_of(function: &Function, usage: &Usage) -> ([u32; 3], &'static str) {
    let tuning = &function.tuning;
    match (tuning.reqntid, tuning.maxntid, usage.block_dimensions) {
        (Some(threads), _, _) => (threads, "the PTX requires it (.reqntid)"),
        (_, Some([threads, 1, 1]), dimensions @ 2..) => spread(threads, dimensions),
        (_, Some(threads), _) => (threads, "the PTX allows as many (.maxntid)"),
        (_, _, 1) => ([256, 1, 1], "fill in: threads of a block"),
        (_, _, 2) => ([16, 16, 1], "fill in: threads (the kernel reads %tid.y)"),
        _ => ([8, 8, 4], "fill in: threads (the kernel reads %tid.z)"),
    }
}

/// `__launch_bounds__` says how many threads a block may have, not its shape.
fn spread(threads: u32, dimensions: u32) -> ([u32; 3], &'static str) {
    let side = |n: u32| 1 << (n.max(1).ilog2() / 2);
    let z = if dimensions > 2 {
        side(side(threads))
    } else {
        1
    };
    let y = side(threads / z);
    let note = if dimensions > 2 {
        "fill in: threads, as many as .maxntid allows (the kernel reads %tid.z)"
    } else {
        "fill in: threads, as many as .maxntid allows (the kernel reads %tid.y)"
    };
    ([threads / z / y, y, z], note)
}

fn params_of(function: &Function, usage: &Usage, maps: &Maps) -> Vec<Param> {
    let variables = function.params.iter().filter_map(|param| match param {
        Parameter::Variable(at) => Some(*at),
        Parameter::Register(_) => None,
    });
    let declared = declared::declared(&function.name);
    // Otherwise some have no parameter of their own in the PTX.
    let all = declared.len() == function.params.len();
    let param = |(place, at): (usize, u32)| {
        let variable = &function.variables[at as usize];
        let declared = declared.get(place).filter(|_| all).cloned();
        let name = short_name(&variable.name, &function.name);
        Param {
            kind: kind_of(&name, variable, at, (usage, maps)).in_source(declared.as_deref()),
            name,
            declared,
        }
    };
    variables.enumerate().map(param).collect()
}

impl ParamKind {
    /// The kind, with the type that the source declares. The PTX shows how the
    /// kernel reads memory (a vector of four `__half` is a `.v2.u32`), not the type
    /// in memory. It knows better only if the kernel computes with floating-point
    /// numbers.
    fn in_source(self, declared: Option<&str>) -> Self {
        let Some(text) = declared else { return self };
        let known = declared::element(text);
        let better = |seen: Option<Type>| match (seen, known) {
            (Some(seen), Some(known)) if seen.is_float() && !known.is_float() => Some(seen),
            _ => known.or(seen),
        };
        match self {
            ParamKind::Pointer {
                element,
                reads,
                writes,
            } => ParamKind::Pointer {
                element: better(element),
                reads,
                writes,
            },
            // A parameter that is only passed to functions is not followed.
            ParamKind::Scalar(ty) if text.ends_with('*') && ty.bits() == 64 => ParamKind::Pointer {
                element: known,
                reads: false,
                writes: false,
            },
            ParamKind::Scalar(ty) => match known {
                Some(known) if known.bits() == ty.bits() => ParamKind::Scalar(known),
                _ => ParamKind::Scalar(ty),
            },
            // A `__half` by value.
            ParamKind::Bytes(bytes, members) => match known {
                Some(known) if u64::from(known.bits()) == 8 * bytes => ParamKind::Scalar(known),
                _ => ParamKind::Bytes(bytes, members),
            },
            kind @ (ParamKind::Shared(_) | ParamKind::TensorMap(_)) => kind,
        }
    }
}

/// `transpose_param_0` of the entry `transpose` is `param_0`.
fn short_name(name: &str, entry: &str) -> String {
    let rest = name.strip_prefix(entry).and_then(|n| n.strip_prefix('_'));
    rest.filter(|n| !n.is_empty()).unwrap_or(name).to_owned()
}

fn kind_of(name: &str, variable: &Variable, at: u32, (usage, maps): (&Usage, &Maps)) -> ParamKind {
    let whole = Part { param: at, byte: 0 };
    if !variable.dimensions.is_empty() || variable.vector > 1 {
        return match maps.inside.get(&whole) {
            Some(map) if variable.bytes == maps::BYTES => ParamKind::TensorMap(map.clone()),
            _ => ParamKind::Bytes(variable.bytes, members_of(name, at, usage, maps)),
        };
    }
    match (maps.behind.get(&whole), usage.pointers.get(&whole)) {
        (Some(map), _) => ParamKind::TensorMap(map.clone()),
        (None, Some(pointer)) => pointer.into(),
        (None, None) if usage.shared_pointers.contains(&at) => ParamKind::Shared(variable.ty),
        (None, None) => ParamKind::Scalar(usage.scalar(at, variable.ty)),
    }
}

/// What is in the struct that the parameter at an index is, in the order of its bytes.
fn members_of(name: &str, at: u32, usage: &Usage, maps: &Maps) -> Vec<Member> {
    let free = |byte: u32| !maps.cover(&Part { param: at, byte });
    let mut kinds: BTreeMap<u32, (bool, ParamKind)> = BTreeMap::new();
    for (byte, pointer) in usage.members(at).filter(|m| free(m.0)) {
        kinds.insert(byte, (false, pointer.into()));
    }
    for (byte, map) in maps.by_addresses(at).filter(|m| free(m.0)) {
        kinds.insert(byte, (false, ParamKind::TensorMap(map.clone())));
    }
    for (byte, map) in maps.in_struct(at) {
        kinds.insert(byte, (true, ParamKind::TensorMap(map.clone())));
    }
    let member = |(byte, (by_value, kind)): (u32, (bool, ParamKind))| Member {
        byte,
        by_value,
        param: Param {
            // `param_0.8`: what the address at byte 8 leads to.
            name: format!("{name}.{byte}"),
            declared: None,
            kind,
        },
    };
    kinds.into_iter().map(member).collect()
}

impl From<&Pointer> for ParamKind {
    fn from(pointer: &Pointer) -> Self {
        ParamKind::Pointer {
            element: pointer.element(),
            reads: pointer.reads,
            writes: pointer.writes,
        }
    }
}
