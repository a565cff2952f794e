//! `spadkit encode`: a mapping as the values of configuration ports, or as
//! source code.

use super::configuration::{configuration_table, path_note, reset_note};
use super::printer::{CommandResult, Printer};
use super::{Example, Execute, Global};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hash::{Configuration, HashKind, HashSpec, Mapping, hash_kind};
use crate::quote::shell;
use crate::rtl::{Design, Vector};
use crate::software::{Code, Language, Layout, LayoutSpec, render};
use crate::terminal::{Details, Hint, Tone};
use clap::{Args, ValueEnum};
use serde::Serialize;

/// Print a hash spec as the values of configuration ports, or any mapping as source
/// code.
///
/// Two units are shown: the one that computes the bank, and spad_row_map, which
/// makes the mapping a bijection. Always load both: with the row map of another
/// mapping, two addresses map to the same word. The writes to spad_hash_config_*
/// load the ports: wr_data for wr_index 0, 1, and so on. If the machine's path
/// has another bank unit ([hash] unit), its values follow.
///
/// As source code (--as), for GPUs without a hash unit, the mapping is a
/// function from the index of a 32-bit word to the word of shared memory that
/// holds it. Source code can also have the mappings pad:every=K,by=P and
/// swizzle:B,M,S.
#[derive(Args)]
pub struct EncodeArgs {
    /// The mapping.
    #[arg(value_parser = super::values::parsed::<LayoutSpec>)]
    spec: LayoutSpec,
    /// Output language.
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = Form::Ports)]
    form: Form,
    #[arg(long, value_name = "KIND", value_parser = parse_kind, help = unit_help())]
    unit: Option<HashKind>,
}

fn unit_help() -> String {
    let kinds = super::values::hash_kinds("or");
    format!("Unit to encode for: {kinds} [default: the spec's own]")
}

fn parse_kind(name: &str) -> std::result::Result<HashKind, String> {
    hash_kind(name).map_err(|error| super::values::in_one_line(&error))
}

/// Output languages of a mapping.
#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// Values of the configuration ports of the hash units.
    Ports,
    /// A CUDA C++ device function.
    Cuda,
    /// An OpenCL C function.
    Opencl,
    /// A PTX device function.
    Ptx,
    /// A CuTe swizzle or layout.
    Cute,
    /// Triton's shared-memory encoding.
    Triton,
}

impl Form {
    /// The language; `None` for the ports.
    fn language(self) -> Option<Language> {
        Some(match self {
            Form::Ports => return None,
            Form::Cuda => Language::Cuda,
            Form::Opencl => Language::Opencl,
            Form::Ptx => Language::Ptx,
            Form::Cute => Language::Cute,
            Form::Triton => Language::Triton,
        })
    }
}

impl Execute for EncodeArgs {
    fn examples() -> &'static [Example] {
        &[
            ("values of the ports", "encode xor"),
            ("as CUDA", "encode swizzle:3,1,4 --as cuda"),
        ]
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        let machine = global.machine()?;
        match (self.form.language(), &self.spec) {
            (Some(_), _) if self.unit.is_some() => Err(Error::usage(
                "--unit applies to configuration ports, not to source code",
                "expected --unit or --as, not both",
            )),
            (Some(language), spec) => as_code(spec, language, &machine, printer),
            (None, LayoutSpec::Hash(spec)) => as_ports(spec, self.unit, &machine, printer),
            (None, spec) => Err(Error::usage(
                format!("{spec} exists in software only: no hash unit implements it"),
                "expected --as cuda, opencl, ptx, cute or triton, or a hash spec",
            )),
        }
    }
}

fn as_code(
    spec: &LayoutSpec,
    language: Language,
    machine: &Config,
    printer: &Printer,
) -> Result<()> {
    let layout = Layout::new(spec, machine.geometry)?;
    printer.show(&SourceCode {
        unit: (),
        hash: spec,
        code: render(&layout, language),
        language,
    })
}

/// A mapping as source code.
#[derive(Serialize)]
struct SourceCode<'a> {
    /// No hash unit: the field that tells the two forms of the result apart.
    unit: (),
    hash: &'a LayoutSpec,
    #[serde(flatten)]
    code: Code,
    #[serde(skip)]
    language: Language,
}

impl CommandResult for SourceCode<'_> {
    fn verdict(&self) -> String {
        let (hash, code) = (self.hash, &self.code);
        match (&code.reason, code.operations) {
            (Some(reason), _) if code.code.is_empty() => format!("{hash}: {reason}."),
            (Some(reason), _) => format!("{hash}: {reason}; the nearest expressible mapping."),
            (None, Some(1)) => format!("{hash} takes 1 PTX instruction for an address."),
            (None, Some(n)) => format!("{hash} takes {n} PTX instructions for an address."),
            (None, None) => format!("{hash} as code."),
        }
    }

    fn tone(&self) -> Tone {
        match self.code.reason {
            Some(_) => Tone::Doubt,
            None => Tone::Plain,
        }
    }

    fn details(&self) -> Details {
        let mut details = Details::new();
        if !self.code.code.is_empty() {
            details.verbatim(Tone::Plain, self.code.code.clone());
        }
        details
    }

    fn comment(&self) -> Option<&'static str> {
        Some(match self.language {
            Language::Triton => "#",
            _ => "//",
        })
    }
}

fn as_ports(
    spec: &HashSpec,
    unit: Option<HashKind>,
    machine: &Config,
    printer: &Printer,
) -> Result<()> {
    let mapping = Mapping::new(spec, machine.geometry)?;
    let configuration = machine.configuration(spec, unit)?;
    let fits = mapping.fits(machine.pivot_limit());
    if !fits {
        printer.warn(format!(
            "{spec}: rows beyond the capacity of {} words would be addressed (pivot bits {:?})",
            machine.capacity_words,
            mapping.pivots_beyond(machine.pivot_limit())
        ));
    }
    printer.show(&PortValues {
        configuration,
        hash: spec,
        fits,
        reset: reset_parameters(spec, machine)?,
        machine,
    })
}

/// The parameters of the machine's `spad_hash_stage`, which all blocks with a
/// mapping in registers have, for `spec` after a reset; none where the machine
/// cannot have it.
fn reset_parameters(spec: &HashSpec, machine: &Config) -> Result<Vec<Vector>> {
    let Ok(machine) = machine.with_hash_reset(spec) else {
        return Ok(Vec::new());
    };
    let mut design = Design::emit(&["spad_hash_stage".to_owned()], &machine)?;
    let stage = design.units.pop();
    Ok(stage.map_or_else(Vec::new, |stage| stage.parameters))
}

/// A mapping as the values of configuration ports.
#[derive(Serialize)]
struct PortValues<'a> {
    #[serde(flatten)]
    configuration: Configuration,
    hash: &'a HashSpec,
    /// All rows are within the capacity.
    fits: bool,
    /// The parameters of the machine's blocks with which this is the mapping after a
    /// reset; empty where their registers cannot hold it.
    reset: Vec<Vector>,
    #[serde(skip)]
    machine: &'a Config,
}

impl CommandResult for PortValues<'_> {
    fn verdict(&self) -> String {
        let unit = self.configuration.units()[0].unit;
        let rows = if self.fits {
            ""
        } else {
            "; it addresses rows that are not there"
        };
        format!(
            "{} for {}: load {unit} and spad_row_map{rows}.",
            self.hash, self.machine.geometry
        )
    }

    fn tone(&self) -> Tone {
        if self.fits { Tone::Plain } else { Tone::Doubt }
    }

    fn details(&self) -> Details {
        let mut details = Details::of(configuration_table(&self.configuration));
        details.say(path_note(&self.configuration));
        details.say(reset_note(&self.reset, self.hash));
        details
    }

    fn hints(&self) -> Vec<Hint> {
        let hash = shell(self.hash.to_string());
        let command = format!("spadkit encode {hash} --as cuda");
        vec![Hint::new("as source code", command)]
    }
}
