//! Poses each property to the solver: the circuit, the registers that are cut, and the questions.

use super::after_reset::reset_mapping;
use super::circuit::{CONFIG, Cut, ROW_CONFIG, Values, emitted, quiet, row_subject, same};
use super::property::Property;
use super::rtl::RtlSource;
use super::script::{Goal, Script, Step};
use super::subject::{Register, Subject};
use super::template::render;
use crate::config::Config;
use crate::error::Result;
use crate::geometry::Geometry;
use crate::hash::kind::Family;
use crate::rtl::{Design, SourceFile};

const ROW_RULE: &str = include_str!("../../testbenches/prove/row_rule.v");

/// Puts circuits and questions together.
pub(super) struct Builder<'a> {
    pub subject: &'static Subject,
    pub registers: Option<&'static str>,
    pub geometry: Geometry,
    pub config: &'a Config,
    pub rtl: &'a RtlSource,
}

impl Builder<'_> {
    fn emit(&self, units: &[&str]) -> Result<Design> {
        let mut names: Vec<String> = units.iter().map(|u| (*u).to_owned()).collect();
        names.extend(self.registers.map(str::to_owned));
        Design::emit(&names, self.config)
    }

    fn values(&self, design: &Design) -> Result<Values> {
        let registers = self.registers.map(|r| emitted(design, r)).transpose()?;
        Ok(Values::new(self.subject, registers, self.config))
    }

    fn finish(
        &self,
        property: Property,
        template: &'static str,
        values: Values,
        files: Vec<SourceFile>,
    ) -> Result<Script> {
        let circuit = render(template, &values)?;
        Ok(Script {
            property,
            template,
            miter: format!("{}\n{ROW_RULE}\n{circuit}", self.subject.definition),
            values,
            files,
            cuts: Vec::new(),
            steps: Vec::new(),
        })
    }

    /// The unit with its registers, next to its definition.
    fn beside_definition(&self, property: Property) -> Result<Script> {
        let design = self.emit(&[self.subject.unit])?;
        let mut values = self.values(&design)?;
        let unit = emitted(&design, self.subject.unit)?;
        values.cfg_wires(unit);
        if let Some(registers) = self.registers {
            values.instance(emitted(&design, registers)?, CONFIG, same);
        }
        values.instance(unit, "unit_", same);
        let files = self.rtl.files(&design)?;
        self.finish(property, "function.v.tera", values, files)
    }

    pub fn function(&self) -> Result<Script> {
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

    pub fn reset(&self) -> Result<Script> {
        let mut script = self.beside_definition(Property::Reset)?;
        let value = self.subject.value();
        let shown = show(["addr", value].into_iter());
        script.steps = vec![
            example("a reset", "-seq 2 -set-at 1 rst 1 -show rst"),
            proof(
                format!(
                    "after reset, {value} is that of {}",
                    reset_mapping(self.subject, self.config)
                ),
                format!("-seq 2 -set-at 1 rst 1 -prove-skip 1 -prove is_reset 1 {shown}"),
            ),
        ];
        Ok(script)
    }

    pub fn registers(&self) -> Result<Script> {
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
                .map(|r| format!("{option} {CONFIG}.{} {} ", r.in_rtl(), r.name));
            each.collect()
        };
        let equal_before = all("-set-at 1");
        let inputs = script.values.write_ports.iter().filter(|p| p.name != "clk");
        let inputs: Vec<&str> = inputs.map(|p| p.name.as_str()).collect();
        let equal_after = all("-prove");
        let own = registers.iter().map(|r| format!("{CONFIG}.{}", r.in_rtl()));
        let own: Vec<String> = own.collect();
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

    /// Adds the unit and the row map, both with registers that do not change.
    fn bijection(&self, template: &'static str, addresses: &[(&str, &str)]) -> Result<Script> {
        let row = row_subject();
        let row_config = row.config_module().unwrap_or_default();
        let design = self.emit(&[self.subject.unit, row.unit, row_config])?;
        let mut values = self.values(&design)?;
        let unit = emitted(&design, self.subject.unit)?;
        let row_unit = emitted(&design, row.unit)?;
        values.cfg_wires(unit);
        values.cfg_wires(row_unit);
        if let Some(registers) = self.registers {
            values.instance(emitted(&design, registers)?, CONFIG, quiet);
        }
        values.instance(emitted(&design, row_config)?, ROW_CONFIG, quiet);
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
                register: format!("{ROW_CONFIG}.{}", r.in_rtl()),
                input: format!("row_regs[{}:{low}]", low + row_width - 1),
            }
        };
        let row_cuts: Vec<_> = script.values.row_registers.iter().map(row_cut).collect();
        script.cuts.extend(row_cuts);
        Ok(script)
    }

    pub fn linear(&self) -> Result<Script> {
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

    pub fn shift(&self) -> Result<Script> {
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
    pub fn row(&self) -> Result<Script> {
        // Beside any linear unit; its bank does not enter the question.
        let linear = Family::Matrix.kinds().next();
        let linear = linear.and_then(|kind| Subject::of_unit(kind.unit()));
        let subject = linear.unwrap_or(self.subject);
        let matrix = Builder {
            subject,
            registers: subject.config_module(),
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
        "every address bit that is not a pivot is in the row",
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
    if args.contains("-seq") {
        args.to_owned()
    } else {
        format!("-seq 1 {args}")
    }
}

fn names(registers: &[Register]) -> impl Iterator<Item = &str> {
    registers.iter().map(|r| r.name.as_str())
}

fn show<'a>(signals: impl Iterator<Item = &'a str>) -> String {
    signals.map(|s| format!("-show {s} ")).collect()
}

/// Each register of an instance, and the input that replaces it.
fn cuts(instance: &str, registers: &[Register]) -> Vec<Cut> {
    let cut = |r: &Register| Cut {
        register: format!("{instance}.{}", r.in_rtl()),
        input: r.name.clone(),
    };
    registers.iter().map(cut).collect()
}
