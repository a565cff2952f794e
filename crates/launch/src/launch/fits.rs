//! A launch file against its PTX: entries, arguments, symbols.

use super::arg::ArgKind;
use super::file::LaunchFile;
use super::single::{Launch, Passed};
use super::symbol::Symbol;
use super::tensor_map::TENSOR_MAP;
use crate::readable::counted;
use spadkit_base::error::Result;
use spadkit_base::input::section::Source;
use spadkit_ptx::exec::{Parameter, Program};
use spadkit_ptx::{find_name, listed_names, near_name};

/// A launch whose arguments fit the entry's parameters.
pub(super) struct Resolved<'a> {
    pub launch: &'a Launch,
    pub entry: String,
    /// The argument of each parameter.
    pub params: Vec<(Passed, Parameter)>,
}

/// The launch with its arguments against the parameters of its entry.
pub(super) fn resolve<'a>(
    file: &'a LaunchFile,
    program: &Program,
    launch: &'a Launch,
) -> Result<Resolved<'a>> {
    let entry = find_entry(file, program, launch)?;
    let params = program.params(&entry)?;
    let args = match &launch.args {
        Some(args) => args.clone(),
        None => (0..file.args.len().min(params.len()))
            .map(Passed::from)
            .collect(),
    };
    if args.len() != params.len() {
        let what = format!("{} for {entry}", counted(args.len(), "argument"));
        let help = format!("expected {}: {}", params.len(), described(&params));
        return Err(file.source.error(what, help, launch.offset));
    }
    let address_bytes = program.module().address_size / 8;
    for (arg, param) in args.iter().zip(&params) {
        check_size(file, address_bytes, arg.arg, param, &entry)?;
    }
    Ok(Resolved {
        launch,
        entry,
        params: args.into_iter().zip(params).collect(),
    })
}

fn described(params: &[Parameter]) -> String {
    let all: Vec<String> = params
        .iter()
        .map(|p| format!("{} ({} bytes)", p.name, p.bytes))
        .collect();
    if all.is_empty() {
        "it has no parameters".to_owned()
    } else {
        all.join(", ")
    }
}

fn find_entry(file: &LaunchFile, program: &Program, launch: &Launch) -> Result<String> {
    let entries: Vec<&str> = program.entries().collect();
    let names = if entries.is_empty() {
        "the PTX has no entry with a body".to_owned()
    } else {
        format!("its entries are {}", listed_names(&entries))
    };
    let ptx = file.ptx.value.file_name().unwrap_or_default().display();
    match (&launch.entry, &entries[..]) {
        (None, [entry]) => Ok((*entry).to_owned()),
        (None, _) => {
            let what = format!("{ptx} has {} entries and 'entry' is missing", entries.len());
            Err(file.source.error(what, names, file.ptx.offset))
        }
        (Some(wanted), _) => match find_name(&wanted.value, &entries) {
            Ok(name) => Ok(name.to_owned()),
            Err(several) => {
                let (what, names) = if several.is_empty() {
                    let near = near_name(&wanted.value, &entries);
                    (
                        format!("{ptx} has no entry '{}'{near}", wanted.value),
                        names,
                    )
                } else {
                    (
                        format!("several entries of {ptx} are '{}'", wanted.value),
                        format!("expected one of {}", listed_names(&several)),
                    )
                };
                Err(file.source.error(what, names, wanted.offset))
            }
        },
    }
}

fn check_size(
    file: &LaunchFile,
    address_bytes: u32,
    arg: usize,
    param: &Parameter,
    entry: &str,
) -> Result<()> {
    let arg = &file.args[arg];
    let (bytes, what) = match &arg.kind {
        ArgKind::Value(element, bytes) => (bytes.len(), element.name()),
        ArgKind::Struct(given) => (given.bytes.len(), "a struct"),
        ArgKind::Handle(_) => (8, "a handle"),
        // A pointer to it may be passed, too.
        ArgKind::TensorMap(_) if param.bytes != address_bytes => (TENSOR_MAP, "a tensor map"),
        _ => (address_bytes as usize, "an address"),
    };
    if bytes == param.bytes as usize {
        Ok(())
    } else {
        Err(file.source.error(
            format!("argument '{}', {what}, has {bytes} bytes", arg.name),
            format!(
                "expected {}: parameter {} of {entry}",
                param.bytes, param.name
            ),
            arg.offset,
        ))
    }
}

/// Arguments after the first launch's must be there for another one.
pub(super) fn check_all_taken(file: &LaunchFile, launches: &[Resolved]) -> Result<()> {
    let mut passed = vec![false; file.args.len()];
    for (arg, _) in launches.iter().flat_map(|l| &l.params) {
        passed[arg.arg] = true;
    }
    let used = |arg: usize| passed[arg];
    let taken = |i: usize| {
        let names = |other: usize, arg: usize| match &file.args[other].kind {
            ArgKind::Same { arg: named, .. } => *named == arg,
            ArgKind::Addresses(args) => args.contains(&arg),
            ArgKind::Struct(given) => given.names().any(|named| named == arg),
            ArgKind::TensorMap(map) => map.buffer == arg,
            _ => false,
        };
        let all = 0..file.args.len();
        let in_table = |arg: usize| all.clone().any(|other| used(other) && names(other, arg));
        // An argument of a table may itself be the same as another.
        used(i) || in_table(i) || all.clone().any(|other| in_table(other) && names(other, i))
    };
    match (0..file.args.len()).find(|i| !taken(*i)) {
        None => Ok(()),
        Some(i) => Err(file.source.error(
            format!("no launch takes the argument '{}'", file.args[i].name),
            format!(
                "{} has {}, and takes as many [[arg]] tables from the first on; remove the \
                 others, or name them in the args of a [[then]]",
                launches[0].entry,
                counted(launches[0].params.len(), "parameter")
            ),
            file.args[i].offset,
        )),
    }
}

/// Refuses a symbol that the PTX does not have, or with another size.
pub(super) fn check_symbol(source: &Source, program: &Program, symbol: &Symbol) -> Result<()> {
    let Some(variable) = program.symbol(&symbol.name) else {
        let names: Vec<String> = program.symbols().map(|s| s.name).collect();
        return Err(source.error(
            format!(
                "the PTX has no variable '{}' in .global or .const",
                symbol.name
            ),
            if names.is_empty() {
                "it has no variable that the host can write".to_owned()
            } else {
                format!("expected one of {}", names.join(", "))
            },
            symbol.offset,
        ));
    };
    if symbol.buffer.bytes() == variable.bytes {
        Ok(())
    } else {
        Err(source.error(
            format!(
                "the symbol '{}' has {} bytes",
                symbol.name,
                symbol.buffer.bytes()
            ),
            format!("expected {}, as in the PTX", variable.bytes),
            symbol.offset,
        ))
    }
}
