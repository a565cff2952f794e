//! The properties of the units, and how each is put to the solver.

use super::circuit::{CONFIG, Cut, ROW_CONFIG, Values, emitted, quiet, row_subject, same};
use super::exhaust::{Exhausted, exhaust};
use super::rtl::RtlSource;
use super::script::{Goal, Script, Step, Verdict};
use super::subject::{Form, Register, Subject, provable_units};
use super::template::render;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::geometry::Geometry;
use crate::hash::HashKind;
use crate::model::ConfiguredUnit;
use crate::rtl::{Design, SourceFile};
use crate::tool::Tool;
use std::time::{Duration, Instant};

/// The configuration registers of the machine's own hash unit.
pub(super) const SHARED_CONFIG: &str = "spad_hash_config";

const ROW_RULE: &str = include_str!("../../testbenches/prove/row_rule.v");

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

/// Puts circuits and questions together.
struct Builder<'a> {
    subject: &'static Subject,
    registers: Option<String>,
    geometry: Geometry,
    config: &'a Config,
    rtl: &'a RtlSource,
}

impl Builder<'_> {
    fn emit(&self, units: &[&str]) -> Result<Design> {
        let mut names: Vec<String> = units.iter().map(|u| (*u).to_owned()).collect();
        names.extend(self.registers.clone());
        Design::emit(&names, self.config)
    }

    fn values(&self, design: &Design) -> Result<Values> {
        let registers = self.registers.as_deref();
        let registers = registers.map(|r| emitted(design, r)).transpose()?;
        Ok(Values::new(self.subject, registers, self.geometry))
    }

    fn finish(
        &self,
        property: Property,
        template: &str,
        values: Values,
        files: Vec<SourceFile>,
    ) -> Result<Script> {
        let circuit = render(template, &values)?;
        Ok(Script {
            property,
            miter: format!("{}\n{ROW_RULE}\n{circuit}", self.subject.definition),
            values,
            files,
            cuts: Vec::new(),
            steps: Vec::new(),
        })
    }

    /// The unit behind its registers, beside its definition.
    fn beside_definition(&self, property: Property) -> Result<Script> {
        let design = self.emit(&[self.subject.unit])?;
        let mut values = self.values(&design)?;
        let unit = emitted(&design, self.subject.unit)?;
        values.cfg_wires(unit);
        if let Some(registers) = &self.registers {
            values.instance(emitted(&design, registers)?, CONFIG, same);
        }
        values.instance(unit, "unit_", same);
        let files = self.rtl.files(&design)?;
        self.finish(property, "function.v.tera", values, files)
    }

    fn function(&self) -> Result<Script> {
        let mut script = self.beside_definition(Property::Function)?;
        script.cuts = cuts(CONFIG, &script.values.registers);
        let value = self.subject.value();
        let shown = ["addr", value, "expected"].into_iter();
        let shown = show(shown.chain(names(&script.values.registers)));
        script.steps = vec![example("a legal configuration", "-set legal 1 -show legal")];
        let bits = 0..script.values.value_width;
        script.steps.extend(bits.map(|i| {
            proof(
                format!("bit {i} of {value} is as defined"),
                format!("-set legal 1 -prove {value}[{i}] expected[{i}] {shown}"),
            )
        }));
        Ok(script)
    }

    fn reset(&self) -> Result<Script> {
        let mut script = self.beside_definition(Property::Reset)?;
        let value = self.subject.value();
        let shown = show(["addr", value].into_iter());
        script.steps = vec![
            example("a reset", "-seq 2 -set-at 1 rst 1 -show rst"),
            proof(
                format!("after reset, {value} is that of mod"),
                format!("-seq 2 -set-at 1 rst 1 -prove-skip 1 -prove is_mod 1 {shown}"),
            ),
        ];
        Ok(script)
    }

    fn registers(&self) -> Result<Script> {
        let design = self.emit(&[])?;
        let mut values = self.values(&design)?;
        let config = emitted(&design, &values.config)?;
        values.cfg_wires(config);
        values.instance(config, CONFIG, same);
        let files = self.rtl.files(&design)?;
        let mut script = self.finish(Property::Registers, "registers.v.tera", values, files)?;
        let registers = &script.values.registers;
        let all = |option: &str| -> String {
            let each = registers
                .iter()
                .map(|r| format!("{option} {CONFIG}.{0} {0} ", r.name));
            each.collect()
        };
        let equal_before = all("-set-at 1");
        let inputs = script.values.write_ports.iter().filter(|p| p.name != "clk");
        let inputs: Vec<&str> = inputs.map(|p| p.name.as_str()).collect();
        let equal_after = all("-prove");
        let own: Vec<String> = names(registers).map(|r| format!("{CONFIG}.{r}")).collect();
        let shown = inputs.iter().copied().chain(names(registers));
        let shown = show(shown.chain(own.iter().map(String::as_str)));
        script.steps = vec![
            example(
                "a write",
                format!("-seq 2 {equal_before} -set-at 1 rst 0 -set-at 1 wr_en 1 -show wr_en"),
            ),
            proof(
                "reset sets the registers",
                format!("-seq 2 -set-at 1 rst 1 -prove-skip 1 {equal_after} {shown}"),
            ),
            proof(
                "registers change as written",
                format!("-seq 2 {equal_before} -prove-skip 1 {equal_after} {shown}"),
            ),
        ];
        Ok(script)
    }

    /// Adds the unit and the row map, both behind registers that do not move.
    fn bijection(&self, template: &str, addresses: &[(&str, &str)]) -> Result<Script> {
        let row = row_subject();
        let row_config = row.config_module().unwrap_or_default();
        let design = self.emit(&[self.subject.unit, row.unit, &row_config])?;
        let mut values = self.values(&design)?;
        let unit = emitted(&design, self.subject.unit)?;
        let row_unit = emitted(&design, row.unit)?;
        values.cfg_wires(unit);
        values.cfg_wires(row_unit);
        if let Some(registers) = &self.registers {
            values.instance(emitted(&design, registers)?, CONFIG, quiet);
        }
        values.instance(emitted(&design, &row_config)?, ROW_CONFIG, quiet);
        for (addr, suffix) in addresses {
            let signal = |name: &str| match name {
                "addr" => (*addr).to_owned(),
                "bank" | "row" => format!("{name}{suffix}"),
                cfg => cfg.to_owned(),
            };
            values.instance(unit, &format!("unit{addr}"), |p| signal(&p.name));
            values.instance(row_unit, &format!("row_map{addr}"), |p| signal(&p.name));
        }
        let files = self.rtl.files(&design)?;
        let mut script = self.finish(Property::Bijection, template, values, files)?;
        script.cuts = cuts(CONFIG, &script.values.registers);
        let row_width = script.values.row_register_width as usize;
        let row_cut = |r: &Register| {
            let low = r.index * row_width;
            Cut {
                register: format!("{ROW_CONFIG}.{}", r.name),
                input: format!("row_regs[{}:{low}]", low + row_width - 1),
            }
        };
        let row_cuts: Vec<_> = script.values.row_registers.iter().map(row_cut).collect();
        script.cuts.extend(row_cuts);
        Ok(script)
    }

    fn linear(&self) -> Result<Script> {
        let mut script = self.bijection("linear.v.tera", &[("d", "")])?;
        let registers = names(&script.values.registers).collect::<Vec<_>>();
        let shown = |more: &[&str]| show(registers.iter().copied().chain(more.iter().copied()));
        let assumed = "-set inverse_fits 1 -set inside 1";
        let all = "-set legal 1 -set matrix rows -set pivots_counted 1 -set d_not_zero 1";
        let mut steps = vec![
            example(
                "a configuration with pivots",
                format!("{all} {assumed} -show pivots"),
            ),
            row_step(),
            proof(
                "column by column, B d times the inverse is the chosen bit of d",
                format!("{assumed} -prove lemma 1"),
            ),
            proof(
                "a pivot in d shows in the bank",
                format!(
                    "{assumed} -set is_product 1 -set product_agrees 1 -prove claim 1 {}",
                    shown(&["pivots", "chosen", "d", "bank"])
                ),
            ),
        ];
        steps.extend((0..self.geometry.bank_bits()).map(|i| {
            proof(
                format!("bank bit {i} is a matrix row times the address"),
                format!(
                    "-set legal 1 -set matrix rows -prove bank[{i}] product_out[{i}] {}",
                    shown(&["d", "bank"])
                ),
            )
        }));
        script.steps = steps;
        Ok(script)
    }

    fn shift(&self) -> Result<Script> {
        let mut script = self.bijection("shift.v.tera", &[("a", "_a"), ("b", "_b")])?;
        let shown = ["a", "b", "bank_a", "bank_b", "row_a", "row_b"];
        let shown = show(shown.into_iter().chain(names(&script.values.registers)));
        script.steps = vec![
            example(
                "two addresses in one bank",
                "-set same_bank 1 -set same_addr 0 -show a",
            ),
            example(
                "two addresses in one row",
                "-set same_row 1 -set same_addr 0 -show a",
            ),
            proof(
                "different addresses differ in bank or row",
                format!("-prove claim 1 {shown}"),
            ),
        ];
        Ok(script)
    }

    /// The row map alone: together with any bank function that is invertible
    /// on the pivots it is a bijection.
    fn row(&self) -> Result<Script> {
        // Beside any linear unit; its bank does not enter the question.
        let matrix = Builder {
            subject: Subject::of_unit("spad_hash_matrix").unwrap_or(self.subject),
            registers: Some("spad_hash_config_matrix".to_owned()),
            ..*self
        };
        let mut script = matrix.bijection("linear.v.tera", &[("d", "")])?;
        script.steps = vec![
            example("a set of pivots", "-set pivots_counted 1 -show pivots"),
            row_step(),
        ];
        Ok(script)
    }
}

fn row_step() -> Step {
    proof(
        "every address bit that is no pivot is in the row",
        "-set pivots_counted 1 -prove row_claim 1 -show pivots -show d -show row",
    )
}

fn example(about: impl Into<String>, args: impl Into<String>) -> Step {
    Step {
        about: about.into(),
        goal: Goal::Example,
        args: in_cycles(&args.into()),
    }
}

fn proof(about: impl Into<String>, args: impl Into<String>) -> Step {
    Step {
        about: about.into(),
        goal: Goal::Proof,
        args: in_cycles(&args.into()),
    }
}

/// Questions are about one cycle unless they say otherwise.
fn in_cycles(args: &str) -> String {
    match args.contains("-seq") {
        true => args.to_owned(),
        false => format!("-seq 1 {args}"),
    }
}

fn names(registers: &[Register]) -> impl Iterator<Item = &str> {
    registers.iter().map(|r| r.name.as_str())
}

fn show<'a>(signals: impl Iterator<Item = &'a str>) -> String {
    signals.map(|s| format!("-show {s} ")).collect()
}

/// Each register of an instance, and the input that stands in its place.
fn cuts(instance: &str, registers: &[Register]) -> Vec<Cut> {
    let cut = |r: &Register| Cut {
        register: format!("{instance}.{}", r.name),
        input: r.name.clone(),
    };
    registers.iter().map(cut).collect()
}
