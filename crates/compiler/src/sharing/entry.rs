//! An entry, as seen by the compiler half of scratchpad sharing.

use super::attribution::{Attributed, Attribution, Unattributed};
use super::graph::FlowGraph;
use super::layout::Variable;
use super::ranges::{Costs, MOST_VARIABLES, Ranges};
use spadkit_base::error::{Error, Result};
use spadkit_ptx::exec::SharedPart;
use spadkit_ptx::marker::{LAYOUT, RELSSP};
use spadkit_ptx::shared::{SharedMemory, SharedVariable};
use spadkit_ptx::{Function, Module};

/// An entry with its shared variables and their access ranges.
#[derive(Clone, Debug)]
pub struct AnalysedEntry<'m> {
    /// The module.
    pub module: &'m Module,
    /// Index of the entry.
    pub entry: u32,
    /// Shared variables of the entry, and of the functions that it calls.
    pub variables: Vec<Variable>,
    /// Number of static instructions that may access each variable.
    pub accesses: Vec<u32>,
    /// Bytes of a block's scratchpad, dynamic ones included.
    pub bytes: u32,
    /// Control flow of the entry.
    pub graph: FlowGraph,
    /// Program points at which variables may have been accessed, and may still be.
    pub ranges: Ranges,
    /// Accesses that may be to any variable.
    pub unattributed: Vec<Unattributed>,
    /// Why the variables have to keep their declared layout.
    pub fixed: Option<String>,
    /// The block size that the rest holds for alone.
    pub block: Option<[u32; 3]>,
}

impl<'m> AnalysedEntry<'m> {
    /// Analyses entry `name` of `module`, the only one where that is `None`,
    /// with `dynamic` bytes of dynamic shared memory.
    pub fn new(module: &'m Module, name: Option<&str>, dynamic: u32) -> Result<Self> {
        Self::with_parts(module, name, dynamic, &[])
    }

    /// Analyses an entry as [`new`](Self::new) does, where parts of dynamic shared
    /// memory have names, in the order of their offsets: each is a variable of its
    /// own, and so are the gaps between them.
    pub fn with_parts(
        module: &'m Module,
        name: Option<&str>,
        dynamic: u32,
        parts: &[SharedPart],
    ) -> Result<Self> {
        Self::in_context(module, name, (dynamic, parts), None)
    }

    /// Analyses an entry as [`with_parts`](Self::with_parts) does, for blocks of that size
    /// where it helps: an access that only larger blocks have to a variable is none then.
    /// [`block`](Self::block) tells whether the size matters.
    pub fn for_block(
        module: &'m Module,
        name: Option<&str>,
        (dynamic, parts): (u32, &[SharedPart]),
        block: [u32; 3],
    ) -> Result<Self> {
        let any = Self::in_context(module, name, (dynamic, parts), None)?;
        // `.maxntid` excludes `.reqntid`.
        let tuning = &any.function().tuning;
        if tuning.reqntid.is_some() || tuning.maxntid.is_some() {
            return Ok(any);
        }
        let own = Self::in_context(module, name, (dynamic, parts), Some(block))?;
        let found = |entry: &Self| (entry.accesses.clone(), entry.unattributed.clone());
        let same = found(&any) == found(&own) && any.fixed == own.fixed;
        Ok(if same { any } else { own })
    }

    fn in_context(
        module: &'m Module,
        name: Option<&str>,
        (dynamic, parts): (u32, &[SharedPart]),
        block: Option<[u32; 3]>,
    ) -> Result<Self> {
        module.require_one_text("share")?;
        let entry = find_entry(module, name)?;
        let function = &module.functions[entry as usize];
        refuse_markers(module, entry)?;
        let functions = module.reached(entry);
        let memory = module.declared_shared(&functions).map_err(|e| {
            let help = Some(e.reason.clone());
            module.error_at(e.place, format!("{} is too large", e.text), help)
        })?;
        let name = &function.name;
        if memory.variables.is_empty() {
            return Err(Error::usage(
                format!("{name} has no shared memory"),
                "expected a kernel with shared variables: two blocks share their scratchpad",
            ));
        }
        let variables = variables(&memory, dynamic, parts);
        if variables.len() > MOST_VARIABLES {
            let count = variables.len();
            return Err(Error::usage(
                format!("{name} has {count} shared variables"),
                format!("expected at most {MOST_VARIABLES}"),
            ));
        }
        let bytes = u64::from(memory.bytes) + u64::from(dynamic);
        let graph = FlowGraph::of(function);
        let attribution = Attribution::new(module, entry, (&graph, block), &variables);
        let variables: Vec<Variable> = variables.into_iter().map(|v| v.variable).collect();
        refuse_missing_size(name, &variables, &attribution)?;
        let flights = [&attribution.used[..], &attribution.used_at_end];
        Ok(AnalysedEntry {
            module,
            entry,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            ranges: Ranges::with_flights(&graph, &attribution.accesses, flights),
            fixed: fixed(&memory, &attribution),
            accesses: attribution.counts,
            unattributed: attribution.unattributed,
            variables,
            graph,
            block,
        })
    }

    /// The entry.
    pub fn function(&self) -> &'m Function {
        &self.module.functions[self.entry as usize]
    }

    /// The sizes of the access ranges.
    pub fn costs(&self) -> Costs {
        self.ranges.costs(&self.graph)
    }
}

/// The variables of a block, dynamic ones by their parts where these have names.
fn variables(memory: &SharedMemory, dynamic: u32, parts: &[SharedPart]) -> Vec<Attributed> {
    let of = |v: &SharedVariable| Attributed {
        of: vec![v.clone()],
        variable: Variable {
            name: v.name.clone(),
            bytes: if v.dynamic { dynamic } else { v.bytes },
            align: v.align,
            offset: v.offset,
            dynamic: v.dynamic,
        },
        bytes: None,
    };
    let is_whole = |v: &&SharedVariable| parts.is_empty() || !v.dynamic;
    let mut all: Vec<Attributed> = memory.variables.iter().filter(is_whole).map(of).collect();
    let whole: Vec<SharedVariable> = memory
        .variables
        .iter()
        .filter(|v| !is_whole(v))
        .cloned()
        .collect();
    let Some(first) = whole.first() else {
        return all;
    };
    let mut add = |name: String, from: u32, end: u32| {
        all.push(Attributed {
            of: whole.clone(),
            variable: Variable {
                name,
                bytes: end - from,
                align: first.align,
                offset: first.offset + from,
                dynamic: true,
            },
            bytes: Some(from..end),
        });
    };
    let mut at = 0;
    let rest = |at: u32| format!("{}+{at}", first.name);
    for part in parts {
        if part.offset > at {
            add(rest(at), at, part.offset);
        }
        add(part.name.clone(), part.offset, part.end());
        at = part.end();
    }
    if dynamic > at {
        add(rest(at), at, dynamic);
    }
    all
}

/// Index of the entry of that name; of the only one where that is `None`.
pub fn find_entry(module: &Module, name: Option<&str>) -> Result<u32> {
    let entries: Vec<&str> = module.entries().map(|f| f.name.as_str()).collect();
    let help = if entries.is_empty() {
        "the PTX has no entry with a body".to_owned()
    } else {
        format!("expected one of {}", spadkit_ptx::listed_names(&entries))
    };
    let name = match (name, &entries[..]) {
        (Some(name), _) => module.entry_named(name)?,
        (None, [name]) => name,
        (None, _) => {
            let what = format!(
                "{} has {} entries, and none is named",
                module.name,
                entries.len()
            );
            return Err(Error::usage(what, format!("{help} (--entry)")));
        }
    };
    let is_it = |f: &Function| f.is_entry && f.defined && f.name == name;
    let at = module.functions.iter().position(is_it);
    Ok(at.unwrap_or(0) as u32)
}

/// Refuses an annotated kernel, which would get its markers twice.
fn refuse_markers(module: &Module, entry: u32) -> Result<()> {
    let own = module
        .statements
        .iter()
        .filter(|s| s.function == Some(entry));
    let is_marker = |text: &str| {
        text.starts_with(".pragma") && (text.contains(RELSSP) || text.contains(LAYOUT))
    };
    let mut lines = own.filter(|s| is_marker(module.text_of(s.span)));
    match lines.next() {
        None => Ok(()),
        Some(statement) => Err(module.error_at(
            statement.span,
            "the entry is annotated already",
            Some("expected the kernel as its compiler wrote it".to_owned()),
        )),
    }
}

fn refuse_missing_size(
    name: &str,
    variables: &[Variable],
    attribution: &Attribution,
) -> Result<()> {
    let accessed = variables.iter().zip(&attribution.counts);
    let mut sizeless = accessed.filter(|(v, n)| v.dynamic && v.bytes == 0 && **n > 0);
    match sizeless.next() {
        Some((v, _)) if attribution.unattributed.is_empty() => Err(Error::usage(
            format!("{name} accesses {}, which has no bytes", v.name),
            "the launch sets its size: give --dynamic-shared BYTES, or dynamic_shared in a launch file",
        )),
        _ => Ok(()),
    }
}

/// Why no variable may be moved.
fn fixed(memory: &SharedMemory, attribution: &Attribution) -> Option<String> {
    let names = memory.variables.iter().map(|v| &v.name);
    let mut sorted: Vec<&String> = names.collect();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|w| w[0] == w[1]) {
        return Some(format!("two variables are called {}", twice[0]));
    }
    let Unattributed { line, reason, .. } = attribution.unattributed.first()?;
    Some(format!(
        "the access in line {line} may be to any variable, or rely on where one lies: {reason}"
    ))
}
