//! The properties of the units, and which proofs there are of them.

use super::exhaust::{Exhausted, exhaust};
use super::question::Builder;
use super::rtl::RtlSource;
use super::script::{Script, Verdict};
use super::subject::{Form, Subject, provable_units};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::geometry::Geometry;
use crate::hash::HashKind;
use crate::model::ConfiguredUnit;
use crate::rtl::Design;
use crate::tool::Tool;
use std::time::{Duration, Instant};

/// The configuration registers of the machine's own hash unit.
pub(super) const SHARED_CONFIG: &str = "spad_hash_config";

/// What is proved of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// Behind its registers, the unit computes what it is defined to compute,
    /// for every address and every legal value of the registers.
    Function,
    /// (bank, row) is a bijection for every legal configuration.
    Bijection,
    /// A write stores what was written, and nothing else changes a register.
    Registers,
    /// After reset, bank = addr mod 2^m and row = addr >> m.
    Reset,
}

impl Property {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Property::Function => "function",
            Property::Bijection => "bijection",
            Property::Registers => "registers",
            Property::Reset => "reset",
        }
    }
}

/// One proof to be carried out.
#[derive(Clone, Debug)]
pub struct Proof {
    unit: String,
    geometry: Geometry,
    property: Property,
    subject: &'static Subject,
    method: Method,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// One question after the other, each about any moment.
    Sat,
    /// From any cycle to the next.
    Induction,
    /// All configurations one by one, on the software's own mapping.
    Exhaustive(HashKind),
}

/// The proofs of `units` (all if empty) for each geometry.
pub fn plan(units: &[String], config: &Config, geometries: &[Geometry]) -> Result<Vec<Proof>> {
    let all = provable_units(&Design::all_units());
    let units = if units.is_empty() { &all } else { units };
    let mut proofs = Vec::new();
    for unit in units {
        let of_config = match unit == SHARED_CONFIG {
            true => Subject::of_unit(config.hash_unit.unit()),
            false => Subject::of_config(unit),
        };
        let (subject, kinds) = match (Subject::of_unit(unit), of_config) {
            (Some(subject), _) => (subject, proofs_of_unit(subject)),
            (None, Some(subject)) => (
                subject,
                vec![
                    (Property::Registers, Method::Induction),
                    (Property::Reset, Method::Sat),
                ],
            ),
            (None, None) => {
                return Err(Error::usage(
                    format!("nothing is proved of a unit '{unit}'"),
                    format!("units are {}", all.join(", ")),
                ));
            }
        };
        for &geometry in geometries {
            let fits = |m: &Method| match m {
                Method::Exhaustive(kind) => Exhausted::is_feasible(*kind, geometry),
                _ => true,
            };
            let kinds = kinds.iter().filter(|(_, m)| fits(m));
            proofs.extend(kinds.map(|&(property, method)| Proof {
                unit: unit.clone(),
                geometry,
                property,
                subject,
                method,
            }));
        }
    }
    Ok(proofs)
}

fn proofs_of_unit(subject: &Subject) -> Vec<(Property, Method)> {
    let mut proofs = vec![
        (Property::Function, Method::Sat),
        (Property::Bijection, Method::Sat),
    ];
    if let Some(ConfiguredUnit::Hash(kind)) = subject.configured {
        proofs.push((Property::Bijection, Method::Exhaustive(kind)));
    }
    proofs
}

impl Proof {
    /// Carries out the proof.
    pub fn run(
        &self,
        config: &Config,
        rtl: &RtlSource,
        yosys: &Tool,
        timeout: Duration,
    ) -> Result<Verdict> {
        let start = Instant::now();
        let (method, outcome, covered) = match self.method {
            Method::Exhaustive(kind) => {
                let exhausted = exhaust(kind, self.geometry)?;
                ("exhaustive", exhausted.outcome, exhausted.covered)
            }
            method => {
                let config = Config {
                    geometry: self.geometry,
                    ..config.clone()
                };
                let script = self.script(&config, rtl)?;
                let name = match method {
                    Method::Induction => "induction",
                    _ => "sat",
                };
                let covered = format!("{} SAT problems", script.steps.len());
                (name, script.run(yosys, timeout)?, covered)
            }
        };
        Ok(Verdict {
            unit: self.unit.clone(),
            geometry: self.geometry,
            property: self.property,
            method,
            outcome,
            covered,
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// What it is, for the progress bar.
    pub fn title(&self) -> String {
        format!("{} {} {}", self.unit, self.geometry, self.property.name())
    }

    fn script(&self, config: &Config, rtl: &RtlSource) -> Result<Script> {
        let registers = match self.subject.config_module() {
            // The registers of the machine's own unit have two names.
            Some(_) if self.unit == SHARED_CONFIG => Some(SHARED_CONFIG.to_owned()),
            other => other,
        };
        let builder = Builder {
            subject: self.subject,
            registers,
            geometry: self.geometry,
            config,
            rtl,
        };
        match (self.property, self.subject.form) {
            (Property::Function, _) => builder.function(),
            (Property::Reset, _) => builder.reset(),
            (Property::Registers, _) => builder.registers(),
            (Property::Bijection, Form::Linear) => builder.linear(),
            (Property::Bijection, Form::Shift) => builder.shift(),
            (Property::Bijection, Form::Row) => builder.row(),
        }
    }
}
