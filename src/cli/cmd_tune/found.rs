//! The results of the searches of the hash units.

use crate::cli::printer::{CommandResult, Printer};
use crate::config::Config;
use crate::error::Result;
use crate::hash::{Configuration, HashKind, HashSpec, Mapping};
use crate::readable::{counted, readable_words, without_accesses};
use crate::report::removal;
use crate::search::tune::Method;
use crate::search::{Outcome, space};
use crate::terminal::{Columns, Details, Hint, Table, Tone};
use crate::trace::{AccessTrace, ConflictProfile, TracedBlock};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// The reference for the result of a search.
pub(super) struct Against<'a> {
    pub profile: &'a ConflictProfile,
    pub machine: &'a Config,
    /// Conflicts with bank = address mod 2^m.
    pub baseline: u64,
    /// Whether a block fits into the scratchpad without a mapping.
    pub has_room: bool,
}

impl Against<'_> {
    /// The line of a search.
    pub fn found(
        &self,
        (kind, method): (HashKind, Method),
        outcome: Outcome,
        took: Duration,
    ) -> Result<TunedUnit> {
        let Against {
            profile, machine, ..
        } = self;
        let space = space::of_unit(kind, machine.geometry);
        Ok(TunedUnit {
            kind,
            method: method.name(),
            conflicts: outcome.conflicts,
            baseline_conflicts: self.baseline,
            wavefronts: outcome.conflicts + profile.active_passes(),
            ideal_wavefronts: profile.ideal_wavefronts(machine.geometry.banks()),
            lower_bound: outcome.lower_bound,
            evaluated: outcome.evaluated,
            search_space: space.try_into().ok(),
            space,
            optimal: outcome.optimal(),
            rank: outcome.rank,
            fits: self.has_room && self.fits(&outcome),
            configuration: if outcome.is_mapping {
                Some(machine.configuration(&outcome.spec, None)?)
            } else {
                None
            },
            hash: outcome.spec,
            seconds: took.as_secs_f64(),
        })
    }

    /// Whether all rows are within the capacity.
    fn fits(&self, outcome: &Outcome) -> bool {
        Mapping::new(&outcome.spec, self.machine.geometry)
            .is_ok_and(|mapping| mapping.fits(self.machine.pivot_limit()))
    }
}

/// The best configuration of each unit.
#[derive(Serialize)]
pub(super) struct OfUnits<'a> {
    pub rule: &'static str,
    pub rule_text: String,
    pub hash_stage: String,
    pub results: Vec<TunedUnit>,
    #[serde(skip)]
    pub trace: &'a AccessTrace,
    /// Conflicts with bank = address mod 2^m.
    #[serde(skip)]
    pub baseline: u64,
    #[serde(skip)]
    pub machine: &'a Config,
    /// The option that names the machine.
    #[serde(skip)]
    pub again: String,
    #[serde(skip)]
    pub input: &'a Path,
}

/// One line of the result.
#[derive(Serialize)]
pub(super) struct TunedUnit {
    hash: HashSpec,
    kind: HashKind,
    method: &'static str,
    conflicts: u64,
    baseline_conflicts: u64,
    /// Sum of the degrees, and their sum without conflicts.
    wavefronts: u64,
    ideal_wavefronts: u64,
    lower_bound: u64,
    evaluated: u64,
    /// Configurations of the unit (hash paper, Table 1); null beyond 64 bits.
    search_space: Option<u64>,
    #[serde(skip)]
    space: u128,
    optimal: bool,
    rank: u32,
    fits: bool,
    seconds: f64,
    /// The register values; none if the rank is too low.
    configuration: Option<Configuration>,
}

impl TunedUnit {
    /// Warns of what is no mapping, or addresses rows that are not there.
    pub fn warn(&self, machine: &Config, printer: &Printer) {
        let TunedUnit { hash, rank, .. } = self;
        if self.configuration.is_none() {
            printer.warn(format!(
                "{hash} has rank {rank} for {} banks: no mapping",
                machine.geometry.banks()
            ));
        } else if !self.fits {
            printer.warn(format!(
                "{hash}: rows beyond the capacity of {} words would be addressed \
                 (--fits searches only mappings without)",
                machine.capacity_words
            ));
        }
    }
}

/// Exact while short, as in Table 1 beyond.
fn show_space(space: u128) -> String {
    match space {
        0..100_000 => space.to_string(),
        _ => format!("{:.1e}", space as f64),
    }
}

impl OfUnits<'_> {
    /// The mapping of hardware that leaves the fewest conflicts.
    fn best(&self) -> Option<&TunedUnit> {
        let mappings = self.results.iter().filter(|f| f.configuration.is_some());
        mappings.min_by_key(|f| (f.conflicts, !f.optimal))
    }
}

impl CommandResult for OfUnits<'_> {
    fn counted(&self) -> Option<TracedBlock> {
        self.trace.traced_block()
    }

    fn verdict(&self) -> String {
        let (name, all) = (readable_words(&self.trace.name), self.baseline);
        if self.trace.accesses.is_empty() {
            return without_accesses(&name);
        }
        let Some(best) = self.best() else {
            return format!("No mapping was found for {name}, which has {all} conflicts.");
        };
        let hash = &best.hash;
        let proved = if best.optimal {
            format!("no {} unit leaves fewer, proved", best.kind)
        } else {
            format!(
                "any {} unit leaves at least {}",
                best.kind, best.lower_bound
            )
        };
        match removal(best.conflicts, all) {
            _ if all == 0 => format!("{name} has no bank conflicts: no hash is needed."),
            Some(removes) if best.conflicts == 0 => format!("{hash} {removes} of {name}."),
            Some(removes) => format!("{hash} {removes} of {name}: {proved}."),
            None => {
                let all = counted(all, "conflict");
                format!("No mapping found leaves fewer than the {all} of {name}: {proved}.")
            }
        }
    }

    fn tone(&self) -> Tone {
        match self.best() {
            Some(best) if best.conflicts == 0 => Tone::Good,
            _ => Tone::Plain,
        }
    }

    fn details(&self) -> Details {
        if self.trace.accesses.is_empty() {
            return Details::new();
        }
        let yes = |is| if is { "yes" } else { "no" };
        let searches = Columns::of(&self.results)
            .left("hash", |f| &f.hash)
            .right("conflicts", |f| f.conflicts)
            .left("optimal", |f| yes(f.optimal))
            .right("at least", |f| f.lower_bound)
            .left("fits", |f| yes(f.fits))
            .left("method", |f| f.method)
            .right("wavefronts", |f| f.wavefronts)
            .right("ideal", |f| f.ideal_wavefronts)
            .right("evaluated", |f| f.evaluated)
            .right("space", |f| show_space(f.space))
            .right("time", |f| format!("{:.3} s", f.seconds))
            .minor(&[
                "space",
                "ideal",
                "evaluated",
                "wavefronts",
                "time",
                "method",
            ])
            .table()
            .readable("hash", 30);
        let mut details = Details::of(searches);
        details.note(crate::cli::machine::rule_line(self.machine));
        details.say(format!("hash stage: {}", self.hash_stage));
        details.note(copied_too(self.trace));
        details.heading(
            "configuration: bank, row map, and the bank unit of the machine's path where that is \
             another one (spadkit encode SPEC shows the ports, too):",
        );
        let writes = self.results.iter().flat_map(|found| {
            let of_mapping = found.configuration.iter();
            let units = of_mapping.flat_map(|c| c.units().into_iter().chain(&c.path));
            units.enumerate().map(|(i, unit)| {
                let hash = match i {
                    0 => found.hash.to_string(),
                    _ => String::new(),
                };
                let register_file = unit.config_unit().unwrap_or_default();
                vec![hash, register_file.into(), unit.writes_text()]
            })
        });
        let titles = ["hash", "registers", "wr_data for wr_index 0, 1, ..."];
        details.table(Table::new(&titles, writes));
        details
    }

    fn hints(&self) -> Vec<Hint> {
        let Some(best) = self.best().filter(|_| self.baseline > 0) else {
            return Vec::new();
        };
        let (input, hash) = (
            crate::quote::shell(self.input),
            crate::quote::shell(best.hash.to_string()),
        );
        let again = &self.again;
        vec![
            Hint::new(
                "what it gains in cycles",
                format!("spadkit sim {input} --hash {hash} {again}"),
            ),
            Hint::new(
                "without hardware",
                format!("spadkit tune {input} --software {again}"),
            ),
        ]
    }
}

/// What a mapping does to copies, which are none of the accesses.
fn copied_too(trace: &AccessTrace) -> String {
    let (bulk, tensor) = (trace.bulk_copies().len(), trace.tensor_copies().len());
    if bulk + tensor == 0 {
        return String::new();
    }
    let copies = match bulk + tensor {
        1 => "one bulk copy writes or reads".to_owned(),
        several => format!("{several} bulk copies write or read"),
    };
    format!(
        "{copies} shared memory, too: the hardware has to place their rows by the same mapping, \
         and sim counts the cycles that they take under it; a mapping in software cannot follow \
         them, but for the swizzle modes of tensor copies (tune --software)"
    )
}
