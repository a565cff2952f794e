//! Groups variables into arrays, each under one mapping, and puts these arrays into the text.

use super::access::shared_variable;
use super::failure::Impossible;
use super::map::{Map, WORD};
use super::text;
use spadkit_base::error::{Error, Result};
use spadkit_mapping::software::Layout;
use spadkit_ptx::analysis::SharedVariable;
use spadkit_ptx::ast::{self, Module, Operand, StatementKind};
use spadkit_ptx::edit::Edits;
use spadkit_ptx::exec::SharedPart;
use spadkit_ptx::shared::{SharedVariable as SharedMemoryVariable, WINDOW_ALIGN};
use std::fmt::Write;
use std::ops::Range;

/// Static variables of a kernel have at most this many bytes, on every GPU.
const MAX_STATIC: u32 = 48 * 1024;

/// A shared variable of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub variable: SharedVariable,
    pub name: String,
    /// Offset in the block's shared memory, or in its region, in bytes.
    pub offset: u32,
    /// Bytes; of a dynamic one those of the launch.
    pub bytes: u32,
    pub align: u32,
    /// Whether the launch gives its size.
    pub dynamic: bool,
}

/// A part of dynamic shared memory under a mapping of its own.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Bytes of the region.
    pub bytes: Range<u32>,
    /// The map of addresses that are certainly in it.
    pub map: Map,
}

/// An array that holds variables under a mapping.
#[derive(Clone, Debug)]
pub(super) struct Region {
    /// Name of the array in the text.
    pub name: String,
    /// The name of its table in constant memory.
    pub table: String,
    pub variables: Vec<Placed>,
    pub map: Map,
    /// The mapping, or those of its parts.
    pub spec: String,
    /// Parts with mappings of their own.
    pub parts: Vec<Part>,
    /// Whether the launch gives its size.
    pub dynamic: bool,
}

impl Region {
    /// An array with these variables at their offsets.
    pub fn new(
        module: &Module,
        name: &str,
        variables: Vec<Placed>,
        layout: &Layout,
    ) -> std::result::Result<Region, Impossible> {
        let words = fitting(&variables, layout)?;
        let map = Map::new(layout, words);
        let spec = layout.spec().to_string();
        Ok(Self::with(module, name, variables, (map, spec, Vec::new())))
    }

    /// An array with these variables, all at its start, whose parts have mappings of
    /// their own: those of `parts`, in the order of their offsets.
    pub fn of_parts(
        module: &Module,
        name: &str,
        variables: Vec<Placed>,
        parts: &[(SharedPart, Layout)],
    ) -> std::result::Result<Region, Impossible> {
        let (mut words, mut banks) = (0, 1);
        for (_, layout) in parts {
            words = fitting(&variables, layout)?;
            banks = layout.geometry().banks() as u32;
        }
        let of = |part: &SharedPart| part.offset / WORD..part.end() / WORD;
        let layouts: Vec<(Range<u32>, Layout)> =
            parts.iter().map(|(p, l)| (of(p), l.clone())).collect();
        let (map, views) = Map::of_parts(&layouts, words, banks);
        let specs = parts
            .iter()
            .map(|(p, l)| format!("{}={}", p.name, l.spec()));
        let spec = specs.collect::<Vec<_>>().join(", ");
        let own = parts.iter().zip(views).map(|((part, _), map)| Part {
            bytes: part.offset..part.end(),
            map,
        });
        let own = own.collect();
        Ok(Self::with(module, name, variables, (map, spec, own)))
    }

    fn with(
        module: &Module,
        name: &str,
        variables: Vec<Placed>,
        (map, spec, parts): (Map, String, Vec<Part>),
    ) -> Region {
        let dynamic = variables.iter().any(|v| v.dynamic) || map.bytes() > MAX_STATIC;
        Region {
            name: text::free_name(module, name),
            table: text::free_name(module, &format!("{name}_table")),
            variables,
            map,
            spec,
            parts,
            dynamic,
        }
    }

    /// The region as addresses see it that are certainly in one of its parts.
    pub fn views(&self) -> impl Iterator<Item = Region> + '_ {
        self.parts.iter().map(|part| Region {
            map: part.map.clone(),
            parts: Vec::new(),
            ..self.clone()
        })
    }

    /// The part that has `bytes` bytes wherever they begin between the two offsets.
    pub fn part_of(&self, begins: Option<(u32, u32)>, bytes: u32) -> Option<usize> {
        let (low, high) = begins?;
        let inside = |part: &Part| {
            part.bytes.start <= low
                && u64::from(high) + u64::from(bytes) <= u64::from(part.bytes.end)
        };
        self.parts.iter().position(inside)
    }

    /// Offset of a variable in the region.
    pub fn offset(&self, variable: SharedVariable) -> Option<u32> {
        let found = self.variables.iter().find(|v| v.variable == variable);
        found.map(|v| v.offset)
    }

    /// The required alignment of the array, in bytes.
    pub fn align(&self) -> u32 {
        let own = self.variables.iter().map(|v| v.align).max();
        self.map.align().max(own.unwrap_or(1)).max(16)
    }

    /// The certain alignment of its address, in bytes.
    pub fn known_align(&self) -> u32 {
        self.align().min(WINDOW_ALIGN)
    }

    /// The declarations of the array and of the table.
    fn declaration(&self) -> String {
        let mut text = if self.dynamic {
            format!(
                ".extern .shared .align {} .b8 {}[];\n",
                self.align(),
                self.name
            )
        } else {
            format!(
                ".shared .align {} .b8 {}[{}];\n",
                self.align(),
                self.name,
                self.map.bytes()
            )
        };
        let table = self.map.table();
        if !table.is_empty() {
            let words: Vec<String> = table.iter().map(u32::to_string).collect();
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                ".const .align 4 .b32 {}[{}] = {{{}}};",
                self.table,
                words.len(),
                words.join(", ")
            );
        }
        text
    }
}

/// Words that the variables take, which the machine of a layout addresses.
fn fitting(variables: &[Placed], layout: &Layout) -> std::result::Result<u32, Impossible> {
    let bytes = variables.iter().map(|v| v.offset + v.bytes).max();
    let words = bytes.unwrap_or(0).div_ceil(WORD);
    let geometry = layout.geometry();
    if words as usize <= geometry.words() {
        return Ok(words);
    }
    Err(Impossible::new(
        format!(
            "{} for {} words of shared memory: the machine addresses {}",
            layout.spec(),
            words,
            geometry.words()
        ),
        "use a machine with a larger scratchpad: --preset sm80 has 164 KB, sm90 228 KB",
    ))
}

/// The shared variables of an entry as a block has them; dynamic ones with the
/// bytes of the launch.
pub(super) fn placement(
    module: &Module,
    entry: u32,
    reached: &[u32],
    dynamic_bytes: Option<u32>,
) -> Result<Vec<Placed>> {
    let memory = module.placed_shared(entry, reached).map_err(|wrong| {
        let what = format!(
            "line {} of {}: {}",
            wrong.place.line,
            module.file_of(wrong.place).unwrap_or(&module.name),
            wrong.text
        );
        Error::usage(what, wrong.reason)
    })?;
    let place = |v: SharedMemoryVariable| {
        let bytes = match (v.dynamic, dynamic_bytes) {
            (false, _) => v.bytes,
            (true, Some(bytes)) => bytes,
            (true, None) => {
                return Err(Error::usage(
                    format!("{} has the size that the launch gives it", v.name),
                    "give it with --dynamic-shared BYTES, or take a launch file",
                ));
            }
        };
        Ok(Placed {
            variable: SharedVariable {
                function: v.function,
                variable: v.index,
            },
            name: v.name,
            offset: v.offset,
            bytes,
            align: v.align,
            dynamic: v.dynamic,
        })
    };
    memory.variables.into_iter().map(place).collect()
}

/// Bytes of a block's shared memory, and those of them that the launch gives.
pub(super) fn total(placed: &[Placed]) -> u32 {
    placed.iter().map(|v| v.offset + v.bytes).max().unwrap_or(0)
}

/// Replaces variables by their regions: the declarations, and every name of a
/// variable in the functions `reached`. No access is changed yet, so the text
/// means the same as before.
pub(super) fn install(
    module: &Module,
    reached: &[u32],
    regions: &[Region],
) -> std::result::Result<String, Impossible> {
    let mut edits = Edits::new();
    let first = reached.iter().map(|&f| text::head_start(module, f)).min();
    let declarations: String = regions.iter().map(Region::declaration).collect();
    edits.insert(first.unwrap_or(0), declarations);
    let place = |variable: SharedVariable| {
        let offset = |r: &Region| r.offset(variable).map(|o| (r.name.clone(), o));
        regions.iter().find_map(offset)
    };
    for &f in reached {
        let function = &module.functions[f as usize];
        for i in &function.instructions {
            let new = |o: &Operand| replacement(o, |s| place(shared_variable(module, f, s)?));
            let new: Vec<Option<String>> = i.operands.iter().map(new).collect();
            if new.iter().all(Option::is_none) {
                continue;
            }
            let spans = text::operand_spans(module, i.span);
            if spans.len() != new.len() {
                return Err(Impossible::new(
                    format!(
                        "line {} of {}: operands in an unrecognised form",
                        i.span.line, module.name
                    ),
                    "expected operands one after the other, between commas",
                ));
            }
            for (span, new) in spans.iter().zip(new) {
                if let Some(new) = new {
                    edits.replace(*span, new);
                }
            }
        }
        remove_declarations(module, f, &place, &mut edits);
    }
    Ok(edits.apply(&module.text))
}

/// An operand that names a variable, in its region: `place` returns the name of the region
/// and the offset in it.
fn replacement(
    operand: &Operand,
    place: impl Fn(ast::Symbol) -> Option<(String, u32)>,
) -> Option<String> {
    let (Operand::Variable(variable, add) | Operand::Address(ast::Base::Variable(variable), add)) =
        operand
    else {
        return None;
    };
    let (name, offset) = place(*variable)?;
    let text = match i64::from(offset) + add {
        0 => name,
        at => format!("{name}{at:+}"),
    };
    Some(match operand {
        Operand::Address(..) => format!("[{text}]"),
        _ => text,
    })
}

/// Takes out the declarations of a function that are all in regions.
fn remove_declarations(
    module: &Module,
    f: u32,
    place: &impl Fn(SharedVariable) -> Option<(String, u32)>,
    edits: &mut Edits,
) {
    let function = &module.functions[f as usize];
    let own = module
        .statements
        .iter()
        .filter(|s| s.function == Some(f) && s.kind == StatementKind::Directive);
    for statement in own {
        let inside = |v: &ast::Variable| {
            statement.span.start <= v.span.start && v.span.end <= statement.span.end
        };
        let mut declared = function
            .variables
            .iter()
            .enumerate()
            .filter(|(_, v)| inside(v))
            .peekable();
        let moved = |(index, _): (usize, &ast::Variable)| {
            let (function, variable) = (Some(f), index as u32);
            place(SharedVariable { function, variable }).is_some()
        };
        if declared.peek().is_some() && declared.all(moved) {
            edits.replace(statement.span, "");
        }
    }
}
