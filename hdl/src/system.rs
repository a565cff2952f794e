//! SystemVerilog in addition to the units: the package with codes and structs,
//! and the wrappers whose ports are structs.

use crate::codes::{FIELDS, Field, amo};
use crate::header::LICENSE;
use crate::lines::{COMMENT_WIDTH, wrap};
use crate::machine::Machine;
use crate::module::{Dir, Port, Result, Vector};
use crate::params::Params;
use crate::style::Style;
use crate::template::render_body;
use serde::Serialize;

/// A SystemVerilog file, `NAME.sv`, with one package or module `NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Companion {
    /// Name of the package or module.
    pub name: String,
    /// The whole file.
    pub text: String,
}

#[derive(Serialize)]
struct Values<'a, X: Serialize> {
    p: &'a Params,
    reset: ResetTexts,
    prefix: &'a str,
    x: X,
}

/// The reset in the templates.
#[derive(Serialize)]
struct ResetTexts {
    port: &'static str,
    active: &'static str,
    or_edge: &'static str,
}

#[derive(Serialize)]
struct Code {
    name: String,
    value: u8,
}

#[derive(Serialize)]
struct Enumeration {
    name: String,
    width: usize,
    codes: Vec<Code>,
}

#[derive(Serialize)]
struct Fields {
    fields: Vec<Enumeration>,
}

/// `spad_pkg`: widths of the machine, codes on ports, and structs.
pub fn package(machine: &Machine, style: &Style) -> Result<Companion> {
    let code = |field: &Field, name: &str, value| Code {
        name: format!("{}_{name}", field.prefix),
        value,
    };
    let p = &Params::new(machine)?;
    let atomics = (p.TATM || p.SATM).then_some(amo::FIELD);
    let fields = FIELDS.into_iter().chain(atomics);
    let fields = fields.map(|field| Enumeration {
        name: field.prefix.to_lowercase(),
        width: field.width,
        codes: field
            .codes
            .iter()
            .map(|(name, value)| code(&field, name, *value))
            .collect(),
    });
    let x = Fields {
        fields: fields.collect(),
    };
    let package = File {
        name: "spad_pkg".into(),
        about: "widths, codes on ports, and the structs of the wrappers".into(),
        template: "spad_pkg",
    };
    package.written((p, style), x)
}

/// A unit with a wrapper around it, the ports that write its registers, and the
/// parameters with what these are reset to.
#[derive(Serialize)]
struct Inner<'a> {
    unit: &'a str,
    writes: Vec<&'a Port>,
    resets: Vec<Parameter<'a>>,
}

/// A parameter of a wrapper.
#[derive(Serialize)]
struct Parameter<'a> {
    name: &'a str,
    width: usize,
    /// Value in lines.
    value: String,
}

impl<'a> Parameter<'a> {
    fn of(vector: &'a Vector) -> Self {
        Parameter {
            name: &vector.name,
            width: vector.width(),
            value: vector.value_in_lines(),
        }
    }
}

/// The wrapper of `unit` whose ports are structs of `spad_pkg`; `None` where it
/// has none.
pub fn wrapper(
    unit: &str,
    (ports, vectors): (&[Port], &[Vector]),
    machine: &Machine,
    style: &Style,
) -> Result<Option<Companion>> {
    let (template, chapter) = match unit {
        "spad_stream" => ("spad_stream_sv", "bus"),
        "spad_wide_stream" => ("spad_stream_sv", "phases"),
        "spad_tcdm" => ("spad_tcdm_sv", "bus"),
        _ => return Ok(None),
    };
    let file = File {
        name: format!("{unit}_sv"),
        about: format!("{unit} with structs of spad_pkg as ports (microarchitecture/{chapter}.md)"),
        template,
    };
    file.around(unit, (ports, vectors), (machine, style))
        .map(Some)
}

/// The wrappers of `unit` that speak another bus at each lane's port and have its
/// own wrapper inside, with the modules that they need, submodules first: OBI and
/// TileLink-UL for `spad_tcdm`; else none.
pub fn bus_wrappers(
    unit: &str,
    (ports, vectors): (&[Port], &[Vector]),
    machine: &Machine,
    style: &Style,
) -> Result<Vec<Companion>> {
    // These buses answer a write when its lane does.
    if unit != "spad_tcdm" || machine.tcdm.posted {
        return Ok(Vec::new());
    }
    let wrappers = [
        (
            "spad_obi_sv",
            "spad_tcdm behind a port of the Open Bus Interface (OBI) per lane, without rready: a \
             lane takes its answer when it comes (microarchitecture/bus.md)",
        ),
        (
            "spad_tilelink_lane",
            "a device of TileLink Uncached Lightweight (TL-UL) in front of a lane of spad_tcdm \
             (microarchitecture/bus.md)",
        ),
        (
            "spad_tilelink_sv",
            "spad_tcdm behind a device of TileLink Uncached Lightweight (TL-UL) per lane \
             (microarchitecture/bus.md)",
        ),
    ];
    let emit = |(name, about): (&'static str, &str)| {
        let file = File {
            name: name.into(),
            about: about.into(),
            template: name,
        };
        file.around(unit, (ports, vectors), (machine, style))
    };
    wrappers.into_iter().map(emit).collect()
}

/// A SystemVerilog file, its purpose, and its template.
struct File {
    name: String,
    about: String,
    template: &'static str,
}

impl File {
    /// A module around a unit with these ports.
    fn around(
        &self,
        unit: &str,
        (ports, resets): (&[Port], &[Vector]),
        (machine, style): (&Machine, &Style),
    ) -> Result<Companion> {
        let is_write = |q: &&Port| q.dir == Dir::In && q.name.contains("_wr_");
        let inner = Inner {
            unit,
            writes: ports.iter().filter(is_write).collect(),
            resets: resets.iter().map(Parameter::of).collect(),
        };
        self.written((&Params::new(machine)?, style), inner)
    }

    fn written(&self, (p, style): (&Params, &Style), x: impl Serialize) -> Result<Companion> {
        let reset = ResetTexts {
            port: style.reset.port(),
            active: style.reset.active(),
            or_edge: style.reset.or_edge(),
        };
        let values = Values {
            p,
            reset,
            prefix: &style.prefix,
            x,
        };
        let body = render_body(&format!("{}.sv.tera", self.template), &values)?;
        let name = style.module(&self.name);
        let about = format!("{name}: {}.", style.prose(&self.about));
        let about = wrap(&about, COMMENT_WIDTH).join("\n// ");
        let text = format!("{LICENSE}// {about}\n\n{body}\n");
        Ok(Companion { name, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address_widths::AddressWidths;
    use crate::machine::Phases;
    use crate::{emit, has_unit};
    use spadkit_names::HashKind;

    /// Everything that there is renders, with and without stages in front of EX.
    #[test]
    fn every_companion_is_emitted() {
        let geometry = AddressWidths {
            addr_bits: 10,
            bank_bits: 3,
        };
        let mut machine = Machine::of_geometry(geometry, HashKind::Matrix);
        let fits = |file: &Companion| {
            let long = file.text.lines().find(|line| line.len() > 100);
            assert_eq!(long, None, "{}", file.name);
        };
        let style = &Style::default();
        for ahead in 0..=3 {
            machine.ahead = ahead;
            machine.tcdm.atomics = ahead == 1;
            let package = package(&machine, style).unwrap();
            assert!(package.text.contains("OP_LOAD = 3'd1,\n"));
            fits(&package);
            machine.phases = [Phases::None, Phases::All][usize::from(ahead == 2)];
            let all = [
                "spad_sm_path",
                "spad_stream",
                "spad_wide_stream",
                "spad_tcdm",
            ];
            for unit in all.into_iter().filter(|unit| has_unit(unit, &machine)) {
                let modules = emit(unit, &machine).unwrap();
                let top = modules.last().unwrap();
                let inside = (&*top.ports, &*top.vectors);
                let wrapper = wrapper(unit, inside, &machine, style).unwrap();
                assert_eq!(wrapper.is_some(), unit != "spad_sm_path");
                wrapper.iter().for_each(fits);
                let buses = bus_wrappers(unit, inside, &machine, style).unwrap();
                assert_eq!(buses.is_empty(), unit != "spad_tcdm");
                buses.iter().for_each(fits);
            }
        }
    }
}
