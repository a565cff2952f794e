//! The trace, and the mappings that are best for it.

use super::options::Watch;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hash::{HashKind, HashSpec, Mapping};
use crate::interrupt;
use crate::report::{FIXED, FlowReport, InstructionLine, KernelSummary, MappingLine, UnitSetting};
use crate::search::bitvec::all_pairs;
use crate::search::reference::Selection;
use crate::search::tune::{Method, Tuner};
use crate::search::{Control, Outcome, Problem, Update};
use crate::trace::{AccessTrace, ConflictCount, ConflictProfile, pattern, removed_pct};
use std::time::Duration;

/// Steps of progress per search.
const STEPS: u64 = 1000;

pub(super) struct Analysis<'a> {
    trace: &'a AccessTrace,
    machine: &'a Config,
    profile: ConflictProfile,
    /// Counts with bank = address mod 2^m.
    baseline: ConflictCount,
    ideal: u64,
}

impl<'a> Analysis<'a> {
    pub fn new(trace: &'a AccessTrace, machine: &'a Config) -> Result<Self> {
        machine.admit(trace)?;
        if !machine.has_room_for(trace) {
            return Err(Error::usage(
                format!(
                    "a block of {} has {} bytes, {} gives a block at most {}",
                    trace.name,
                    trace.shared_bytes,
                    machine.name,
                    machine.block_words * machine.word_bytes()
                ),
                "use a machine with a larger scratchpad (--preset, --config): \
                 what is recommended must fit",
            ));
        }
        let profile = ConflictProfile::new(trace, machine.conflict_rule());
        let mask = machine.geometry.bank_mask();
        Ok(Analysis {
            trace,
            machine,
            baseline: profile.count(|addr| addr & mask),
            ideal: profile.ideal_wavefronts(machine.geometry.banks()),
            profile,
        })
    }

    /// The conventional mapping, the fixed hashes, and the best configuration
    /// of each configurable unit that fits the capacity.
    pub fn mappings(&self, budget: Duration, watch: &dyn Watch) -> Result<Vec<MappingLine>> {
        let mut lines = Vec::new();
        for spec in [HashSpec::Mod, HashSpec::Xor, HashSpec::Add] {
            lines.push(self.mapping(&spec, FIXED, None)?);
        }
        let problem = Problem::new(&self.profile, self.machine.geometry)
            .with_pivot_limit(self.machine.pivot_limit())?;
        let tuner = Tuner {
            problem: &problem,
            sets: &[],
            pairs: &all_pairs(self.machine.geometry),
            selection: Selection::Allowed,
        };
        let total = STEPS * HashKind::ALL.len() as u64;
        let mut outcomes: Vec<Outcome> = Vec::new();
        for (i, kind) in HashKind::ALL.into_iter().enumerate() {
            let before = STEPS * i as u64;
            watch.progress(before, total, kind.name());
            let report = |update: Update| {
                let part = STEPS * update.done.min(update.total) / update.total.max(1);
                watch.progress(before + part, total, kind.name());
            };
            let method = Method::default_for(kind);
            let control = Control::none()
                .stop_when(&interrupt::requested)
                .progress(&report)
                .budget(budget);
            let outcome = tuner.run(kind, method, &control)?;
            let outcome = outcome.or_of(kind, &problem, &outcomes);
            lines.push(self.mapping(&outcome.spec, method.name(), Some(&outcome))?);
            outcomes.push(outcome);
        }
        // Smaller units come first: the first that is best is recommended.
        let fewest = lines.iter().map(|l| l.conflicts).min();
        if let Some(line) = lines.iter_mut().find(|l| Some(l.conflicts) == fewest) {
            line.recommended = true;
        }
        Ok(lines)
    }

    fn mapping(
        &self,
        spec: &HashSpec,
        method: &str,
        outcome: Option<&Outcome>,
    ) -> Result<MappingLine> {
        let geometry = self.machine.geometry;
        let mapping = Mapping::new(spec, geometry)?;
        let count = self.profile.count(|addr| mapping.bank(addr));
        let configuration = self.machine.configuration(spec, None)?;
        let bank = match spec {
            HashSpec::Mod => UnitSetting::none(),
            _ => UnitSetting::of(&configuration.bank),
        };
        Ok(MappingLine {
            hash: spec.to_string(),
            unit: bank.unit,
            method: method.to_owned(),
            conflicts: count.conflicts,
            max_degree: count.max_degree,
            wavefronts: count.wavefronts(),
            ideal_wavefronts: self.ideal,
            removed_pct: removed_pct(self.baseline.conflicts, count.conflicts),
            optimal: outcome.map(Outcome::optimal),
            evaluated: outcome.map(|o| o.evaluated),
            ports: bank.ports,
            config_unit: bank.config_unit,
            registers: bank.registers,
            row_map: UnitSetting::of(&configuration.row_map),
            path: configuration.path.as_ref().map(UnitSetting::of),
            recommended: false,
        })
    }

    /// The part of the report that needs no hardware results.
    pub fn report(&self, mappings: Vec<MappingLine>) -> Result<FlowReport> {
        let rule = self.machine.conflict_rule();
        Ok(FlowReport {
            format_version: 1,
            kernel: self.kernel(),
            machine: self.machine.name.clone(),
            machine_text: machine_text(self.machine),
            rule: rule.name().to_owned(),
            rule_text: rule.describe(),
            hash_stage: self.machine.hash_stage_text(),
            hash_unit: self.machine.has_hash_unit(),
            instructions: self.instructions(&mappings)?,
            mappings,
            ..FlowReport::default()
        })
    }

    fn kernel(&self) -> KernelSummary {
        let passes = self.profile.active_passes().max(1);
        KernelSummary {
            name: self.trace.name.clone(),
            source: self.trace.source.clone(),
            block_dim: self.trace.block_dim,
            shared_bytes: self.trace.shared_bytes,
            accesses: self.profile.accesses,
            counted: self.trace.traced_block(),
            mean_conflict_degree: self.baseline.degree_sum as f64 / passes as f64,
            wavefronts: self.baseline.wavefronts(),
            ideal_wavefronts: self.ideal,
        }
    }

    fn instructions(&self, mappings: &[MappingLine]) -> Result<Vec<InstructionLine>> {
        let geometry = self.machine.geometry;
        let mask = geometry.bank_mask();
        let best = mappings.iter().find(|m| m.recommended);
        let best: HashSpec = best.map_or("mod", |m| &m.hash).parse()?;
        let best = Mapping::new(&best, geometry)?;
        let per_pc = ConflictProfile::per_pc(self.trace, self.machine.conflict_rule());
        let places = self.trace.places();
        let parts = super::turns::parts(self.trace, self.machine);
        let line = |i: &pattern::Instruction| {
            let place = places.of(i.pc);
            let at = per_pc.binary_search_by_key(&i.pc, |(pc, _)| *pc);
            let profile = &per_pc[at.expect("every instruction is an access site")].1;
            let plain = profile.count(|addr| addr & mask);
            InstructionLine {
                pc: i.pc,
                ptx_line: place.ptx_line,
                ptx_file: place.ptx_file,
                source: place.source,
                op: format!("{:?}", i.op).to_lowercase(),
                accesses: i.accesses,
                class: i.class.to_string(),
                pattern: i
                    .patterns
                    .first()
                    .map_or(String::new(), |(p, _)| p.to_string()),
                parts: parts.get(&i.pc).cloned().unwrap_or_default(),
                conflicts: plain.conflicts,
                conflicts_after: profile.count(|addr| best.bank(addr)).conflicts,
                wavefronts: plain.wavefronts(),
                ideal_wavefronts: profile.ideal_wavefronts(geometry.banks()),
            }
        };
        Ok(pattern::classify(self.trace).iter().map(line).collect())
    }
}

fn machine_text(machine: &Config) -> String {
    format!(
        "{}: {} lanes, {} banks, {} words of {} bits, warps of {}",
        machine.name,
        machine.lanes,
        machine.geometry.banks(),
        machine.capacity_words,
        machine.word_bits,
        machine.warp_size
    )
}
