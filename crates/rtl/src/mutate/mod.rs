//! Mutation: how many injected faults does the co-simulation catch?
//!
//! Yosys builds one netlist in which an input selects the mutant, so a unit is
//! Verilated once. Every mutant then runs in lockstep with the golden model. A
//! mutant that no run detects is passed to an equivalence proof. A mutant that is
//! neither detected nor proved equivalent is a hole in the bench.

mod aig;
mod equivalence;
mod inject;
mod rules;

pub use inject::{Mutant, Mutants};

use crate::config::Config;
use crate::cosim::{Compiled, Lockstep, VerilatedUnit};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::rtl::{Design, EmittedUnit};
use crate::tool::{Cache, Toolbox};
use crate::units::{Bench, Frame, Layout, PortSlot, Setup, Stimulus, bench_for};
use rayon::prelude::*;
use rules::Rules;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Options of a campaign.
#[derive(Clone, Debug)]
pub struct MutationOptions {
    /// Faults to inject per unit; fewer if a unit has fewer cells and pins to change.
    pub faults: u32,
    /// Clock cycles per mutant and seed.
    pub cycles: u64,
    /// Seeds that are tried.
    pub seeds: u64,
    /// Cycles of one last run, for faults that only a full counter or a rare
    /// coincidence shows.
    pub long_cycles: u64,
    /// The numbers of the faults to inject; all if empty.
    pub only: Vec<u32>,
}

/// The outcome for one unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MutationResult {
    /// The unit.
    pub unit: String,
    /// Faults injected.
    pub injected: usize,
    /// Faults that the co-simulation saw.
    pub caught: usize,
    /// Faults proved to change nothing that a legal use can observe.
    pub equivalent: usize,
    /// Undetected mutants, with their positions in the Verilog.
    pub missed: Vec<Mutant>,
    /// Faults that were not decided when the campaign was interrupted.
    pub undecided: usize,
}

impl MutationResult {
    /// Share of the faults not proved equivalent that was caught, in percent.
    pub fn caught_pct(&self) -> f64 {
        match self.injected - self.equivalent - self.undecided {
            0 => 100.0,
            relevant => 100.0 * self.caught as f64 / relevant as f64,
        }
    }
}

/// Injects faults into `unit` and runs each against the golden model.
pub fn mutate_unit(
    design: &Design,
    unit: &EmittedUnit,
    config: &Config,
    options: &MutationOptions,
    tools: &Toolbox,
    cache: &Cache,
) -> Result<MutationResult> {
    let files = design.files_of(unit);
    let mutants = Mutants::inject(&unit.name, &files, options.faults, tools, cache)?;
    refuse_unknown(&mutants, unit, options)?;
    let layout = with_select(&Layout::new(unit), mutants.select_bits());
    let verilog = [mutants.verilog()];
    // Most faults are caught at once, in some run of the usual length.
    let cycles = u64::from(options.faults) * options.cycles + options.long_cycles;
    let rtl = VerilatedUnit::build(
        &unit.name,
        &verilog,
        layout.clone(),
        Compiled::for_cycles(cycles),
        tools,
        cache,
    )?;
    let run = |mutant| {
        let caught = is_caught(&rtl, &layout, unit, config, mutant, options);
        interrupt::or_none(caught.map(|caught| (mutant, caught)))
    };
    let wanted = |m: &&Mutant| options.only.is_empty() || options.only.contains(&m.number);
    let list: Vec<&Mutant> = mutants.list().iter().filter(wanted).collect();
    let runs = list.par_iter().copied().map(run);
    let runs = runs.collect::<Result<Vec<_>>>()?;
    let runs: Vec<(&Mutant, bool)> = runs.into_iter().flatten().collect();
    let survivors = runs.iter().filter(|(_, caught)| !caught);
    let survivors: Vec<&Mutant> = survivors.map(|(mutant, _)| *mutant).collect();
    let caught = runs.len() - survivors.len();
    let rules = Rules::of(unit, mutants.circuit(), tools)?;
    let is_equivalent = |mutant: &&Mutant| {
        let proof = equivalence::is_equivalent(&mutants, rules.as_ref(), mutant, tools);
        interrupt::or_none(proof)
    };
    let proofs = survivors.par_iter().map(is_equivalent);
    let proofs = proofs.collect::<Result<Vec<_>>>()?;
    let with = |outcome: Option<bool>| {
        let both = survivors.iter().zip(&proofs);
        both.filter(move |(_, proof)| **proof == outcome)
    };
    Ok(MutationResult {
        unit: unit.name.clone(),
        injected: list.len(),
        caught,
        equivalent: with(Some(true)).count(),
        missed: with(Some(false)).map(|(m, _)| (*m).clone()).collect(),
        undecided: list.len() - runs.len() + with(None).count(),
    })
}

fn refuse_unknown(mutants: &Mutants, unit: &EmittedUnit, options: &MutationOptions) -> Result<()> {
    let known = |number: &u32| mutants.list().iter().any(|m| m.number == *number);
    match options.only.iter().find(|number| !known(number)) {
        None => Ok(()),
        Some(number) => Err(Error::usage(
            format!("{} has no fault {number}", unit.name),
            format!("its faults are numbered from 1 to {}", mutants.list().len()),
        )),
    }
}

/// The layout with one more input, which selects the mutant. It comes last, so
/// that the other inputs keep their positions.
fn with_select(layout: &Layout, bits: usize) -> Layout {
    let mut layout = layout.clone();
    layout.inputs.push(PortSlot {
        name: inject::SELECT.to_owned(),
        width: bits,
        offset: layout.input_words,
        words: 1,
    });
    layout.input_words += 1;
    layout
}

fn is_caught(
    rtl: &Arc<VerilatedUnit>,
    layout: &Layout,
    unit: &EmittedUnit,
    config: &Config,
    mutant: &Mutant,
    options: &MutationOptions,
) -> Result<bool> {
    let setup = Setup::new(config, layout);
    let short = (1..=options.seeds).map(|seed| (seed, options.cycles));
    for (seed, cycles) in short.chain([(options.seeds + 1, options.long_cycles)]) {
        let mut bench = Selected {
            inner: bench_for(&unit.name, &setup)?,
            select: layout.input(inject::SELECT).clone(),
            mutant: mutant.number,
        };
        let run = Lockstep::new(layout, &mut bench, rtl.instance(), seed, false);
        let outcome = run.run(cycles, &|_| {});
        interrupt::check(&unit.name)?; // half a run decides nothing
        match outcome {
            Ok((outcome, _)) if outcome.mismatches == 0 => {}
            // A fault that makes a loop that never settles shows, too.
            Ok(_) | Err(Error::CheckFailed { .. }) => return Ok(true),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// A bench with one mutant switched on.
struct Selected {
    inner: Box<dyn Bench>,
    select: PortSlot,
    mutant: u32,
}

impl Bench for Selected {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        self.inner.cycle(stimulus, frame);
        frame.drive(&self.select, self.mutant);
    }
}
