//! The list of proofs of each unit, and how they are carried out.

use super::after_reset::in_geometry;
use super::circuit::emitted;
use super::edited::SmallMachine;
use super::exhaust::{Exhausted, exhaust};
use super::harness::{Goals, Harness};
use super::induction::{Induction, Proved};
use super::machine::Machines;
use super::property::Property;
use super::question::Builder;
use super::rtl::RtlSource;
use super::script::{Method, Outcome, Script, Verdict};
use super::subject::{Form, SHARED_CONFIG, Subject, provable_units};
use super::template::stated_in;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::geometry::Geometry;
use crate::hash::{Configured, HashKind};
use crate::rtl::{Design, SourceFile};
use crate::tool::Tool;
use crate::units::Size;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// One proof to be carried out.
#[derive(Clone, Debug)]
pub struct Proof {
    unit: String,
    target: Target,
    /// The properties that are asked for; all if `None`.
    only: Option<Vec<String>>,
}

/// The subject of a proof, and its machine.
#[derive(Clone, Debug)]
enum Target {
    /// A property of a hash unit or of its registers.
    Hash(HashTarget),
    /// All properties of a unit of the path.
    Path {
        harness: Harness,
        machine: Box<Config>,
        verilog: Verilog,
    },
}

/// The Verilog of a unit that is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verilog {
    /// The one that the user gives, or else what is emitted.
    Given,
    /// The Verilog emitted for a small machine: the user's machine is too large for a solver.
    Emitted,
}

/// A property of a hash unit or of its registers.
#[derive(Clone, Copy, Debug)]
struct HashTarget {
    geometry: Geometry,
    property: Property,
    subject: &'static Subject,
    method: HashMethod,
}

/// The method of proof for a property of a hash unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HashMethod {
    Sat,
    Induction,
    /// All configurations of this kind.
    Exhaustive(HashKind),
}

/// The proofs of `units` (all if empty): of hash units for each geometry, of
/// units of the path for each of the machines. What stands in `rtl` for a larger
/// machine, and is what the kit emits, is proved as emitted for a small one.
pub fn plan(
    units: &[String],
    config: &Config,
    geometries: &[Geometry],
    machines: Machines,
    rtl: &RtlSource,
) -> Result<Vec<Proof>> {
    let all = provable_units(&Design::all_units());
    let named = !units.is_empty();
    let units = if named { units } else { &all };
    let mut proofs = Vec::new();
    for unit in units {
        if Harness::of_unit(unit).next().is_some() {
            proofs.extend(path_proofs(unit, config, machines, named, rtl)?);
        } else if let Some((subject, kinds)) = hash_proofs(unit, config) {
            for &geometry in geometries {
                let fits = |m: &HashMethod| match m {
                    HashMethod::Exhaustive(kind) => Exhausted::is_feasible(*kind, geometry),
                    _ => true,
                };
                let kinds = kinds.iter().filter(|(_, m)| fits(m));
                proofs.extend(kinds.map(|&(property, method)| Proof {
                    unit: unit.clone(),
                    target: Target::Hash(HashTarget {
                        geometry,
                        property,
                        subject,
                        method,
                    }),
                    only: None,
                }));
            }
        } else {
            return Err(Error::usage(
                format!("there are no proofs for unit '{unit}'"),
                format!("units are {}", all.join(", ")),
            ));
        }
    }
    Ok(proofs)
}

/// The `proofs` that show one of these properties; all of them if no property is named.
pub fn about(proofs: Vec<Proof>, properties: &[String]) -> Result<Vec<Proof>> {
    if properties.is_empty() {
        return Ok(proofs);
    }
    let mut known = BTreeSet::new();
    let mut chosen = Vec::new();
    for mut proof in proofs {
        let all = proof.properties()?;
        let wanted = all.iter().filter(|name| properties.contains(name));
        let wanted: Vec<String> = wanted.cloned().collect();
        known.extend(all);
        if !wanted.is_empty() {
            proof.only = Some(wanted);
            chosen.push(proof);
        }
    }
    match properties.iter().find(|name| !known.contains(*name)) {
        None => Ok(chosen),
        Some(name) => {
            let known: Vec<String> = known.into_iter().collect();
            Err(Error::usage(
                format!("these units have no property '{name}'"),
                format!("properties are {}", known.join(", ")),
            ))
        }
    }
}

/// The proofs of a unit of the path. A unit that the machine does not have is
/// left out unless it was named.
fn path_proofs(
    unit: &str,
    config: &Config,
    machines: Machines,
    named: bool,
    rtl: &RtlSource,
) -> Result<Vec<Proof>> {
    let mut proofs = Vec::new();
    let proof = |harness: Harness, machine, verilog| Proof {
        unit: harness.unit.to_owned(),
        target: Target::Path {
            harness,
            machine: Box::new(machine),
            verilog,
        },
        only: None,
    };
    let mut lacking = None;
    for harness in Harness::of_unit(unit) {
        for machine in machines.list(&harness, config)? {
            match harness.lacking(&machine) {
                None => proofs.push(proof(harness, machine, Verilog::Given)),
                // If the circuit is for other stages, that is the better explanation.
                Some(why) if lacking.is_none() || harness.circuit.stages.fit(&machine) => {
                    lacking = Some((machine.name, why));
                }
                Some(_) => {}
            }
        }
    }
    let Some((machine, why)) = lacking.filter(|_| proofs.is_empty()) else {
        return Ok(proofs);
    };
    if machines == Machines::Own && is_as_emitted(unit, config, rtl).unwrap_or_default() {
        for harness in Harness::of_unit(unit) {
            let small = Machines::Least.list(&harness, config)?;
            proofs.extend(
                small
                    .into_iter()
                    .map(|m| proof(harness, m, Verilog::Emitted)),
            );
        }
        return Ok(proofs);
    }
    if !named {
        return Ok(proofs);
    }
    Err(Error::usage(
        format!("there is no proof of {unit} for the machine {machine}: {why}"),
        SmallMachine::near(unit, config)?.advice(unit),
    ))
}

/// Whether all files of the unit are what the kit emits.
fn is_as_emitted(unit: &str, config: &Config, rtl: &RtlSource) -> Result<bool> {
    let design = Design::emit(&[unit.to_owned()], config)?;
    let there = rtl.files(&design)?;
    let same = |f: &SourceFile| there.iter().any(|t| t.name == f.name && t.text == f.text);
    Ok(design.files.iter().all(same))
}

/// The proofs of a unit of the hash family.
fn hash_proofs(
    unit: &str,
    config: &Config,
) -> Option<(&'static Subject, Vec<(Property, HashMethod)>)> {
    if let Some(subject) = Subject::of_unit(unit) {
        return Some((subject, proofs_of_unit(subject)));
    }
    let subject = if unit == SHARED_CONFIG {
        Subject::of_unit(config.hash_unit.unit())
    } else {
        Subject::of_config(unit)
    };
    let proofs = vec![
        (Property::Registers, HashMethod::Induction),
        (Property::Reset, HashMethod::Sat),
    ];
    Some((subject?, proofs))
}

fn proofs_of_unit(subject: &Subject) -> Vec<(Property, HashMethod)> {
    let mut proofs = vec![
        (Property::Function, HashMethod::Sat),
        (Property::Bijection, HashMethod::Sat),
    ];
    if let Some(Configured::Hash(kind)) = subject.configured {
        proofs.push((Property::Bijection, HashMethod::Exhaustive(kind)));
    }
    proofs
}

impl Proof {
    /// Carries out the proof: one verdict, or one for each property of a unit
    /// of the path.
    pub fn run(
        &self,
        config: &Config,
        rtl: &RtlSource,
        yosys: &Tool,
        timeout: Duration,
    ) -> Result<Vec<Verdict>> {
        match &self.target {
            Target::Path {
                harness,
                machine,
                verilog,
            } => {
                let induction = self.induction(harness, machine, *verilog, rtl)?;
                let covered = format!("{}: {}", machine.name, induction.covered());
                let results = induction.run(yosys, timeout)?;
                let verdict = |r: Proved| {
                    let open = r.outcome != Outcome::Proved;
                    let stated_at = open
                        .then(|| harness.stated_at(induction.text(), &r.property))
                        .flatten();
                    Verdict {
                        unit: self.unit.clone(),
                        geometry: machine.geometry,
                        property: r.property,
                        method: Method::Induction,
                        outcome: r.outcome,
                        covered: covered.clone(),
                        seconds: r.seconds,
                        stated_at,
                        driven_by: Vec::new(),
                    }
                };
                Ok(results.into_iter().map(verdict).collect())
            }
            Target::Hash(target) => {
                let hash = self.hash(*target);
                Ok(vec![hash.run(config, rtl, yosys, timeout)?])
            }
        }
    }

    fn hash(&self, target: HashTarget) -> HashProof<'_> {
        HashProof {
            unit: &self.unit,
            target,
        }
    }

    /// The induction of a unit of the path, about the properties that are asked for.
    fn induction(
        &self,
        harness: &Harness,
        machine: &Config,
        verilog: Verilog,
        rtl: &RtlSource,
    ) -> Result<Induction> {
        let rtl = match verilog {
            Verilog::Given => rtl,
            Verilog::Emitted => &RtlSource::Emitted,
        };
        let mut induction = Induction::new(harness, machine, rtl)?;
        if let Some(only) = &self.only {
            induction.retain(only);
        }
        Ok(induction)
    }

    /// All questions, and the Verilog that they are about: proofs with the same
    /// text have the same verdict.
    pub fn text(&self, config: &Config, rtl: &RtlSource) -> Result<String> {
        Ok(match &self.target {
            Target::Path {
                harness,
                machine,
                verilog,
            } => {
                let induction = self.induction(harness, machine, *verilog, rtl)?;
                format!("{} {machine:?} {induction:?}", self.unit)
            }
            Target::Hash(target) => self.hash(*target).text(config, rtl)?,
        })
    }

    /// The names of the properties that it proves.
    fn properties(&self) -> Result<Vec<String>> {
        Ok(match &self.target {
            Target::Hash(target) => vec![target.property.name().to_owned()],
            Target::Path {
                harness, machine, ..
            } => {
                let goals = Goals::of(&harness.verilog(machine)?);
                goals.checked.iter().map(|g| g.name().to_owned()).collect()
            }
        })
    }

    /// The unit, and the small machine that it is proved for instead of the
    /// machine of the user's Verilog.
    pub fn instead(&self) -> Option<(&str, &str)> {
        match &self.target {
            Target::Path {
                machine,
                verilog: Verilog::Emitted,
                ..
            } => Some((&self.unit, &machine.name)),
            _ => None,
        }
    }

    /// About how many seconds it takes a processor of 2020.
    pub fn rough_seconds(&self) -> u64 {
        match &self.target {
            Target::Hash(_) => 2,
            Target::Path { harness, .. } => match harness.circuit.size {
                Size::Pair => 3,
                Size::Quad | Size::Prompt | Size::Rows => 10,
                Size::Whole | Size::Lockless => 60,
            },
        }
    }

    /// Title of the proof in the progress bar.
    pub fn title(&self) -> String {
        let unit = &self.unit;
        match &self.target {
            Target::Hash(target) => {
                format!("{unit} {} {}", target.geometry, target.property.name())
            }
            Target::Path { machine, .. } => format!("{unit} {}", machine.name),
        }
    }
}

/// The proof of one property of a hash unit.
struct HashProof<'a> {
    unit: &'a str,
    target: HashTarget,
}

impl HashProof<'_> {
    fn run(
        &self,
        config: &Config,
        rtl: &RtlSource,
        yosys: &Tool,
        timeout: Duration,
    ) -> Result<Verdict> {
        let start = Instant::now();
        let mut verdict = Verdict {
            unit: self.unit.to_owned(),
            geometry: self.target.geometry,
            property: self.target.property.name().to_owned(),
            method: Method::Exhaustive,
            outcome: Outcome::Proved,
            covered: String::new(),
            seconds: 0.0,
            stated_at: None,
            driven_by: Vec::new(),
        };
        match self.target.method {
            HashMethod::Exhaustive(kind) => {
                let exhausted = exhaust(kind, self.target.geometry)?;
                (verdict.outcome, verdict.covered) = (exhausted.outcome, exhausted.covered);
            }
            method => {
                let script = self.script(config, rtl)?;
                verdict.method = match method {
                    HashMethod::Induction => Method::Induction,
                    _ => Method::Sat,
                };
                verdict.covered = format!("{} SAT problems", script.steps.len());
                verdict.outcome = script.run(yosys, timeout)?;
                self.name_lines(&script, config, &mut verdict)?;
            }
        }
        verdict.seconds = start.elapsed().as_secs_f64();
        Ok(verdict)
    }

    /// The lines that a counterexample is about.
    fn name_lines(&self, script: &Script, config: &Config, verdict: &mut Verdict) -> Result<()> {
        let Outcome::Disproved(example) = &verdict.outcome else {
            return Ok(());
        };
        let Some(signal) = script.signal(&example.violates) else {
            return Ok(());
        };
        verdict.stated_at = stated_in(script.template, &script.miter, signal);
        let subject = self.target.subject;
        if signal == subject.value() {
            let design = Design::emit(&[subject.unit.to_owned()], config)?;
            verdict.driven_by = emitted(&design, subject.unit)?.driven_by(signal);
        }
        Ok(())
    }

    /// Text of the proof, as [`Proof::text`].
    fn text(&self, config: &Config, rtl: &RtlSource) -> Result<String> {
        let (unit, geometry, method) = (self.unit, self.target.geometry, self.target.method);
        let asked = match method {
            // The software's mapping is checked, which involves no Verilog.
            HashMethod::Exhaustive(_) => String::new(),
            HashMethod::Sat | HashMethod::Induction => format!("{:?}", self.script(config, rtl)?),
        };
        Ok(format!(
            "{unit} {geometry} {:?} {method:?} {asked}",
            self.target.property
        ))
    }

    fn script(&self, config: &Config, rtl: &RtlSource) -> Result<Script> {
        let config = in_geometry(config, self.target.geometry);
        let registers = match self.target.subject.config_module() {
            // The registers of the machine's own unit have two names.
            Some(_) if self.unit == SHARED_CONFIG => Some(SHARED_CONFIG),
            other => other,
        };
        let builder = Builder {
            subject: self.target.subject,
            registers,
            geometry: self.target.geometry,
            config: &config,
            rtl,
        };
        match (self.target.property, self.target.subject.form) {
            (Property::Function, _) => builder.function(),
            (Property::Reset, _) => builder.reset(),
            (Property::Registers, _) => builder.registers(),
            (Property::Bijection, Form::Linear) => builder.linear(),
            (Property::Bijection, Form::Shift) => builder.shift(),
            (Property::Bijection, Form::Row) => builder.row(),
        }
    }
}
