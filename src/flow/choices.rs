//! The choices that matter: nothing, a fixed hash, the cheapest unit that gets most of the
//! gain, the best unit, software, and padding in the declarations alone.

use super::software::{Found, PTX};
use super::worth::{Realized, Runs};
use super::{code, commands};
use crate::config::Config;
use crate::error::Result;
use crate::hash::HashSpec;
use crate::quote::shell;
use crate::report::{
    ChoiceKind, ChoiceLine, CodeText, CycleParts, FlowReport, HardwareCost, MappingLine,
    SoftwareLine, grouped, names, that_keeps_vectors,
};
use crate::rewrite::Resources;
use crate::software::LayoutSpec;
use crate::synth::{SmTotal, Synthesis};
use crate::workload::Input;

/// The cheapest unit removes at least this share of what the best removes.
const MOST_PCT: u64 = 80;

/// The inputs of the choices.
pub(super) struct ChoiceInputs<'a> {
    pub report: &'a FlowReport,
    pub machine: &'a Config,
    pub runs: Option<&'a Runs<'a>>,
    pub found: Option<&'a Found>,
    pub synthesis: Option<&'a Synthesis>,
    /// The option that names the machine, and the input, for commands.
    pub input: &'a Input,
    pub machine_option: &'a str,
}

impl ChoiceInputs<'_> {
    /// The choices, the fastest first, then those without cycles, the one with the fewest
    /// conflicts first.
    pub fn choices(&self) -> Result<Vec<ChoiceLine>> {
        let mut lines = Vec::new();
        for (kind, mapping) in self.mappings() {
            lines.push(self.hardware(kind, mapping)?);
        }
        lines.extend(self.software()?);
        lines.extend(self.found.and_then(|found| found.padding.clone()));
        let nothing = lines.iter().find(|l| l.kind == ChoiceKind::Nothing);
        let before = nothing.and_then(|l| l.cycles);
        for line in &mut lines {
            let both = before.zip(line.cycles);
            line.speed_up = both.map(|(b, a)| b.total as f64 / a.total.max(1) as f64);
        }
        let nothing = lines.iter().position(|l| l.kind == ChoiceKind::Nothing);
        if let Some(at) = fastest(&lines, self.report.hash_unit).or(nothing) {
            lines[at].chosen = true;
        }
        // What was not simulated is at the end.
        let cycles = |l: &ChoiceLine| l.cycles.map(|c| c.total);
        lines.sort_by_key(|l| (l.cycles.is_none(), cycles(l), l.conflicts));
        Ok(lines)
    }

    /// Nothing, fixed, cheapest and best, each once.
    fn mappings(&self) -> Vec<(ChoiceKind, &MappingLine)> {
        let all = &self.report.mappings;
        let Some(nothing) = all.iter().find(|m| m.is_plain()) else {
            return Vec::new();
        };
        let mut chosen = vec![(ChoiceKind::Nothing, nothing)];
        let best = self
            .report
            .recommended()
            .filter(|m| m.conflicts < nothing.conflicts);
        if let Some(best) = best {
            chosen.push((ChoiceKind::Best, best));
            let removed = nothing.conflicts - best.conflicts;
            let gets_most = |m: &&MappingLine| {
                nothing.conflicts.saturating_sub(m.conflicts) * 100 >= removed * MOST_PCT
            };
            let cost = |m: &MappingLine| self.cost(m).map_or(f64::MAX, |c| c.area_um2);
            let own = cost(best);
            let cheaper = |m: &&MappingLine| {
                if own < f64::MAX {
                    cost(m) < own
                } else {
                    // The units stand in the order of their size.
                    all.iter().position(|a| a.hash == m.hash)
                        < all.iter().position(|a| a.hash == best.hash)
                }
            };
            let tuned = all.iter().filter(|m| !m.is_fixed() && m.hash != best.hash);
            let cheapest = tuned
                .filter(gets_most)
                .filter(cheaper)
                .min_by(|a, b| cost(a).total_cmp(&cost(b)));
            chosen.extend(cheapest.map(|m| (ChoiceKind::Cheapest, m)));
        }
        let fixed = all.iter().filter(|m| m.is_fixed() && !m.is_plain());
        let fixed = fixed.min_by_key(|m| m.conflicts);
        let is_new = |m: &&MappingLine| chosen.iter().all(|(_, c)| c.hash != m.hash);
        if let Some(fixed) = fixed.filter(is_new) {
            chosen.push((ChoiceKind::Fixed, fixed));
        }
        chosen
    }

    fn hardware(&self, kind: ChoiceKind, mapping: &MappingLine) -> Result<ChoiceLine> {
        let hash: HashSpec = mapping.hash.parse()?;
        // Why cycles are not known stands among what was left out.
        let cycles = self
            .runs
            .and_then(|r| r.under(&hash, Realized::InHardware).ok())
            .map(|r| r.parts);
        let cost = self.cost(mapping);
        let priced = match &cost {
            Some(c) => format!("{:.0} µm² per SM", c.area_um2),
            None => "not synthesized".to_owned(),
        };
        Ok(ChoiceLine {
            kind,
            name: names::unit(&mapping.hash).label,
            hash: mapping.hash.clone(),
            unit: mapping.own_unit().cloned(),
            conflicts: mapping.conflicts,
            wavefronts: mapping.wavefronts,
            cycles,
            speed_up: None,
            added_per_access: None,
            wasted_bytes: 0,
            resources: self.resources(kind).copied(),
            cost,
            proof: self.proof(mapping, cycles.as_ref()),
            chosen: false,
            code: code::in_hardware(mapping, self.machine, &priced)?,
        })
    }

    /// The resources of a block of the unchanged kernel, for the choice of changing nothing.
    fn resources(&self, kind: ChoiceKind) -> Option<&Resources> {
        let found = self.found.filter(|_| kind == ChoiceKind::Nothing);
        found.and_then(Found::as_it_is)
    }

    fn proof(&self, mapping: &MappingLine, cycles: Option<&CycleParts>) -> Vec<String> {
        let mut proof = Vec::new();
        if mapping.optimal == Some(true) {
            proof.push("proved: no setting of the unit leaves fewer".to_owned());
        }
        let cosim = self.report.cosim.iter().find(|c| c.unit == mapping.unit);
        if let Some(cosim) = cosim {
            proof.push(match cosim.mismatches {
                0 => format!("Verilog checked {} times", grouped(cosim.checks)),
                n => format!("Verilog differs {} times", grouped(n)),
            });
        }
        proof.extend(cycles.map(|_| "cycles simulated".to_owned()));
        proof
    }

    /// The cost of the mapping's units in one SM.
    fn cost(&self, mapping: &MappingLine) -> Option<HardwareCost> {
        let total = |unit: &str| -> Option<&SmTotal> {
            self.synthesis?.per_sm.iter().find(|t| t.unit == unit)
        };
        let bank = total(&mapping.unit)?;
        let mut parts = vec![bank];
        if mapping.needs_row_map() {
            parts.push(total(&mapping.row_map.unit)?);
        }
        let nand2 = parts
            .iter()
            .map(|t| t.nand2_equivalents)
            .sum::<Option<f64>>();
        Some(HardwareCost {
            nand2,
            area_um2: parts.iter().map(|t| t.area_um2).sum(),
            delay_ps: parts.iter().map(|t| t.delay_ps).fold(0.0, f64::max),
            target_ps: bank.power_period_ps,
        })
    }

    fn software(&self) -> Result<Option<ChoiceLine>> {
        let Some(found) = self.found else {
            return Ok(None);
        };
        // The fewest cycles; else, where none are known, the fewest conflicts.
        let front = &found.report.front;
        let of_fewest = || {
            let pays = |line: &&SoftwareLine| line.gains_nothing().is_none();
            front.first().filter(|line| !line.is_plain()).filter(pays)
        };
        let fastest = front
            .iter()
            .find(|l| Some(&l.hash) == found.fastest.as_ref());
        let best = found.report.recommended().or(fastest);
        let Some(line) = best.or_else(of_fewest) else {
            return Ok(None);
        };
        let spec: LayoutSpec = line.hash.parse()?;
        // What cannot be put into the PTX has no command that does it.
        let launch = self.input.launch().filter(|_| line.rewritten.is_some());
        let command = launch.map(|_| {
            let hash = format!(" --hash {}", shell(&line.hash));
            commands::rewrite(&shell(self.input.name()), &hash, PTX, self.machine_option)
        });
        let rewritten = line.rewritten.as_ref();
        let cycles = found.parts.map(|[_, after]| after);
        Ok(Some(ChoiceLine {
            kind: ChoiceKind::Software,
            name: names::software(&line.hash).label,
            hash: line.hash.clone(),
            unit: None,
            conflicts: line.conflicts,
            wavefronts: line.wavefronts,
            cycles,
            speed_up: None,
            added_per_access: rewritten.and_then(|r| r.added_per_access),
            wasted_bytes: line.wasted_bytes,
            resources: line.resources,
            cost: None,
            proof: software_proof(found, line, cycles.is_some()),
            chosen: false,
            code: self.software_code(found, line, &spec, command.as_deref())?,
        }))
    }

    fn software_code(
        &self,
        found: &Found,
        line: &SoftwareLine,
        spec: &LayoutSpec,
        command: Option<&str>,
    ) -> Result<Vec<CodeText>> {
        let (cost, suggestions) = (software_cost(line), &found.report.suggestions);
        let mut all = code::in_software(spec, self.machine, suggestions, &cost, command)?;
        // Longer rows in the declarations are a choice of their own.
        if found.padding.is_some() && code::is_declared(suggestions) {
            all.retain(|code| !code::OF_SOURCE.contains(&code.form));
        }
        let made = line
            .rewritten
            .as_ref()
            .and_then(|r| r.machine_code.as_ref());
        if let (Some(made), Some(ptx)) = (made, all.iter_mut().find(|c| c.form == "PTX")) {
            ptx.note = format!("In the machine code of the rewritten PTX: {}.", made.text());
        }
        Ok(all)
    }
}

/// The one to recommend, where one takes fewer cycles than nothing: of those that can
/// be had, the fastest. Where none was timed, one that leaves fewer conflicts: the best
/// unit where the machine has a hash unit, else software.
fn fastest(lines: &[ChoiceLine], hash_unit: bool) -> Option<usize> {
    let nothing = lines.iter().find(|l| l.kind == ChoiceKind::Nothing)?;
    // Of equally fast choices, the one with the lowest rank.
    let rank = |l: &ChoiceLine| match l.kind {
        ChoiceKind::Best if hash_unit => 0,
        // It needs no instruction.
        ChoiceKind::Padding if !hash_unit => 0,
        ChoiceKind::Software if !hash_unit => 1,
        _ => 2,
    };
    let can_be_had = |l: &ChoiceLine| match l.kind {
        ChoiceKind::Nothing => false,
        // Without a simulation it is shown, but not recommended.
        ChoiceKind::Padding => l.cycles.is_some(),
        ChoiceKind::Software => true,
        _ => hash_unit,
    };
    let all = lines.iter().enumerate().filter(|(_, l)| can_be_had(l));
    let before = nothing.cycles.map(|c| c.total);
    let timed = all.clone().filter_map(|(at, l)| {
        before?;
        Some((l.cycles?.total, rank(l), l.conflicts, at))
    });
    if let Some((cycles, .., at)) = timed.min() {
        return (Some(cycles) < before).then_some(at);
    }
    let gaining = all.filter(|(_, l)| l.conflicts < nothing.conflicts);
    let first = gaining.min_by_key(|(_, l)| (rank(l), l.conflicts));
    first.map(|(at, _)| at)
}

fn software_cost(line: &SoftwareLine) -> String {
    let added = line.rewritten.as_ref().and_then(|r| r.added_per_access);
    let instructions = match added {
        Some(n) => format!(
            "{n:.2} instructions more per access in the rewritten PTX, and more where a compiler \
             shares less"
        ),
        None => format!("{} operations per access or more", line.added_per_access),
    };
    match line.wasted_bytes {
        0 => format!("{instructions}, no shared memory"),
        bytes => format!("{instructions}, {bytes} bytes of shared memory"),
    }
}

fn software_proof(found: &Found, line: &SoftwareLine, timed: bool) -> Vec<String> {
    let mut proof = Vec::new();
    if line.rewritten.is_some() {
        proof.push("rewritten and run: same outputs".to_owned());
    }
    let fewest = found.report.front.iter().map(|l| l.conflicts).min();
    if let Some(none) = found.none_fewer
        && fewest == Some(line.conflicts)
    {
        let whole = that_keeps_vectors(found.report.vector_bytes);
        proof.push(format!("proved: {}", none.text(&whole)));
    }
    if timed {
        proof.push("cycles simulated".to_owned());
    }
    proof
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: ChoiceKind, cycles: Option<u64>, conflicts: u64) -> ChoiceLine {
        let parts = |total| CycleParts {
            total,
            ..CycleParts::default()
        };
        ChoiceLine {
            kind,
            name: String::new(),
            hash: String::new(),
            unit: None,
            conflicts,
            wavefronts: conflicts,
            cycles: cycles.map(parts),
            speed_up: None,
            added_per_access: None,
            wasted_bytes: 0,
            resources: None,
            cost: None,
            proof: Vec::new(),
            chosen: false,
            code: Vec::new(),
        }
    }

    /// The choice among these lines, by its kind.
    fn chosen(lines: &[(ChoiceKind, Option<u64>, u64)], hash_unit: bool) -> Option<ChoiceKind> {
        let lines: Vec<_> = lines.iter().map(|&(k, c, n)| line(k, c, n)).collect();
        fastest(&lines, hash_unit).map(|at| lines[at].kind)
    }

    /// The best hash has a stage of its own, which the fixed one does not need.
    #[test]
    fn where_the_best_hash_loses_another_choice_can_win() {
        use ChoiceKind::*;
        let with = |fixed, cheapest, software| {
            let lines = [
                (Nothing, Some(100), 50),
                (Fixed, Some(fixed), 20),
                (Cheapest, Some(cheapest), 10),
                (Best, Some(104), 0),
                (Software, Some(software), 0),
            ];
            chosen(&lines, true)
        };
        assert_eq!(with(90, 95, 101), Some(Fixed));
        assert_eq!(with(101, 95, 99), Some(Cheapest));
        assert_eq!(with(101, 101, 80), Some(Software));
        assert_eq!(with(101, 100, 100), None);
    }

    #[test]
    fn the_best_hash_is_preferred_to_one_as_fast() {
        use ChoiceKind::*;
        let lines = [
            (Nothing, Some(9), 5),
            (Fixed, Some(8), 0),
            (Best, Some(8), 0),
        ];
        assert_eq!(chosen(&lines, true), Some(Best));
    }

    /// A chip that is built already gets no hash.
    #[test]
    fn without_a_hash_unit_only_software_can_be_had() {
        use ChoiceKind::*;
        let hardware = [
            (Nothing, Some(9), 5),
            (Fixed, Some(7), 0),
            (Best, Some(7), 0),
        ];
        assert_eq!(chosen(&hardware, false), None);
        let software = [&hardware[..], &[(Software, Some(8), 0)]].concat();
        assert_eq!(chosen(&software, false), Some(Software));
        let with = |cycles| chosen(&[&software[..], &[(Padding, cycles, 0)]].concat(), false);
        // Longer rows need no instruction. Without cycles they are not recommended.
        assert_eq!(with(Some(6)), Some(Padding));
        assert_eq!(with(Some(8)), Some(Padding));
        assert_eq!(with(Some(9)), Some(Software));
        assert_eq!(with(None), Some(Software));
        let alone = [&hardware[..], &[(Padding, Some(8), 0)]].concat();
        assert_eq!(chosen(&alone, false), Some(Padding));
    }

    #[test]
    fn what_was_not_timed_is_chosen_by_conflicts() {
        use ChoiceKind::*;
        let lines = [
            (Nothing, None, 5),
            (Fixed, None, 4),
            (Best, None, 1),
            (Software, None, 0),
        ];
        assert_eq!(chosen(&lines, true), Some(Best));
        assert_eq!(chosen(&lines, false), Some(Software));
        assert_eq!(chosen(&[(Nothing, None, 5), (Best, None, 5)], true), None);
        // Timed choices decide; untimed ones are ignored.
        let lines = [
            (Nothing, Some(9), 5),
            (Fixed, Some(8), 4),
            (Software, None, 0),
        ];
        assert_eq!(chosen(&lines, true), Some(Fixed));
    }
}
