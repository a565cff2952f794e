//! The output of `conflicts`: the answer, the mappings, the lines, and advice.

use super::conflicts_lines::{self, Counted, LineCost, cost_tone};
use super::machine_code;
use super::printer::CommandResult;
use super::source_rows::SourceRow;
use crate::config::Config;
use crate::error::Result;
use crate::quote::shell;
use crate::readable::{readable_words, without_accesses};
use crate::software::{Layout, LayoutSpec};
use crate::suggest::SourceFiles;
use crate::terminal::{Details, Hint, Table, Tone};
use crate::trace::{AccessTrace, ConflictProfile, Line, Op, Place, TracedBlock};
use serde::Serialize;
use std::path::Path;

/// The lines with conflicts, under the first mapping.
#[derive(Default)]
pub(super) struct Culprits {
    /// Lines with conflicts, those with most first.
    lines: Vec<(String, u64)>,
}

impl Culprits {
    /// The lines of a trace that names lines; else none.
    pub fn of(
        trace: &AccessTrace,
        spec: Option<&LayoutSpec>,
        machine: &Config,
        text: &mut SourceFiles,
    ) -> Result<Self> {
        let Some(spec) = spec.filter(|_| !trace.places().is_empty()) else {
            return Ok(Self::default());
        };
        let layout = Layout::new(spec, machine.geometry)?;
        let lines = ConflictProfile::per_line(trace, machine.conflict_rule());
        let counted = lines.iter().map(|(line, profile)| {
            let conflicts = profile.count(|a| layout.bank(a)).conflicts;
            (line, conflicts)
        });
        let mut worst: Vec<(&Line, u64)> = counted.filter(|(_, c)| *c > 0).collect();
        worst.sort_by_key(|(_, conflicts)| std::cmp::Reverse(*conflicts));
        let mut phrase = |line: &Line| {
            let same = |(other, _): &&(Line, _)| match (line, other) {
                (Line::Source(own, _), Line::Source(other, _)) => own == other,
                _ => false,
            };
            let several = lines.iter().filter(same).count() > 1;
            SourceRow::of(line, "access site", text).phrase(several)
        };
        let named = worst.into_iter().map(|(line, c)| (phrase(line), c));
        Ok(Culprits {
            lines: named.collect(),
        })
    }

    /// `56 of 72 wavefronts of transpose are bank conflicts, all at k.cu:25, up to 8
    /// ways`.
    pub fn problem(&self, total: &Counted, name: &str) -> String {
        format!(
            "{} of {} wavefronts of {name} are bank conflicts{}, up to {} ways",
            total.conflicts,
            total.wavefronts,
            self.text(),
            total.max_degree
        )
    }

    /// `, all at k.cu:25`; nothing where it is not known.
    fn text(&self) -> String {
        let all: u64 = self.lines.iter().map(|(_, conflicts)| conflicts).sum();
        match &self.lines[..] {
            [] => String::new(),
            [(place, _)] => format!(", all at {place}"),
            [(place, most), ..] => {
                let share = (200 * most + all) / (2 * all).max(1);
                match self.lines.iter().filter(|(_, n)| n == most).count() {
                    1 => format!(", {share} % of them at {place}"),
                    n => format!(", {share} % of them at each of {n} lines, such as {place}"),
                }
            }
        }
    }
}

/// The conflicts of a trace under each mapping.
#[derive(Serialize)]
pub(super) struct Shown<'a> {
    pub accesses: u64,
    /// Accesses to shared memory of other blocks, which are not counted.
    #[serde(skip_serializing_if = "is_zero")]
    pub remote_accesses: u64,
    pub rule: &'static str,
    pub rule_text: String,
    pub results: Vec<Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_code: Option<machine_code::Shown>,
    #[serde(skip)]
    pub trace: &'a AccessTrace,
    #[serde(skip)]
    pub machine: &'a Config,
    #[serde(skip)]
    pub input: &'a Path,
    /// The trace names lines.
    #[serde(skip)]
    pub has_places: bool,
    #[serde(skip)]
    pub culprits: Culprits,
    /// Accesses that the verdict is about: those of the machine code, where it was asked
    /// for.
    #[serde(skip)]
    pub judged: u64,
    /// The option that names the machine.
    #[serde(skip)]
    pub again: Option<&'a str>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl CommandResult for Shown<'_> {
    fn counted(&self) -> Option<TracedBlock> {
        self.trace.traced_block()
    }

    fn verdict(&self) -> String {
        let counts = self.judged_counts();
        let (hash, total) = counts[0];
        let Counted {
            conflicts,
            wavefronts,
            ideal_wavefronts: ideal,
            ..
        } = total;
        let mut under = match (&self.machine_code, hash) {
            (None, "mod") => String::new(),
            (None, hash) => format!("Under {hash}, "),
            (Some(_), "mod") => "In the machine code, ".to_owned(),
            (Some(_), hash) => format!("In the machine code under {hash}, "),
        };
        let name = readable_words(&self.trace.name);
        if self.trace.accesses.is_empty() {
            return without_accesses(&name);
        }
        let mut text = if conflicts == 0 {
            under += if under.is_empty() { "No" } else { "no" };
            let enough = if wavefronts == ideal {
                ", as few as possible".to_owned()
            } else {
                format!("; {ideal} would do if lanes shared them evenly")
            };
            format!(
                "{under} access of {name} has bank conflicts: {} warp accesses take {wavefronts} \
                 wavefronts{enough}",
                self.judged
            )
        } else {
            under + &self.culprits.problem(&total, &name)
        };
        let ptx = self.results[0].total;
        if (ptx.conflicts, ptx.wavefronts) != (conflicts, wavefronts) {
            text += &format!(" (in the PTX {} of {})", ptx.conflicts, ptx.wavefronts);
        }
        let others = &counts[1..];
        if let Some((hash, best)) = others.iter().min_by_key(|other| other.1.conflicts) {
            let left = best.conflicts;
            text += &match others.len() {
                1 => format!("; {hash} leaves {left}"),
                n => format!("; of {n} other mappings, {hash} leaves the fewest: {left}"),
            };
        }
        text + "."
    }

    fn tone(&self) -> Tone {
        cost_tone(self.judged_counts()[0].1.conflicts)
    }

    fn details(&self) -> Details {
        let mut details = Details::new();
        let each = self.results.iter().any(|m| !m.per_pc.is_empty());
        let by_line = self.results.iter().any(|m| !m.lines.is_empty());
        if self.machine_code.is_some() {
            details.heading("in the PTX:");
        }
        // The answer says it already.
        if !by_line || self.results.len() > 1 {
            details.table(self.table(each));
        }
        for measured in self.results.iter().filter(|m| !m.lines.is_empty()) {
            if self.results.len() > 1 {
                details.heading(format!("{}:", measured.hash));
            }
            details.table(conflicts_lines::table(&measured.lines));
        }
        if let Some(code) = &self.machine_code {
            details.gap();
            details.add(code.details());
        }
        details.gap();
        details.note(super::machine::rule_line(self.machine));
        if self.remote_accesses > 0 {
            details.note(format!(
                "not counted: accesses to shared memory of other blocks of the cluster, {} warp \
                 instructions\n",
                self.remote_accesses
            ));
        }
        details
    }

    /// The commands that say where and what to change.
    fn hints(&self) -> Vec<Hint> {
        let mut hints = Vec::new();
        let Some(again) = self
            .again
            .filter(|_| self.judged_counts()[0].1.conflicts > 0)
        else {
            return hints;
        };
        let input = shell(self.input);
        if self.has_places && self.results.iter().all(|m| m.lines.is_empty()) {
            let command = format!("spadkit conflicts {input} --source {again}");
            hints.push(Hint::new("which lines they are in", command));
        }
        let command = format!("spadkit tune {input} --software {again}");
        hints.push(Hint::new("what removes them", command));
        hints
    }
}

impl Shown<'_> {
    /// The mappings with the counts that the verdict is about.
    fn judged_counts(&self) -> Vec<(&str, Counted)> {
        match &self.machine_code {
            Some(code) => code.results().collect(),
            None => (self.results.iter())
                .map(|m| (m.hash.as_str(), m.total))
                .collect(),
        }
    }

    /// The mappings, and their instructions where they were asked for.
    fn table(&self, each: bool) -> Table {
        let mut header = vec![
            "hash",
            "pc",
            "conflicts",
            "max degree",
            "wavefronts",
            "ideal",
            "removed",
            "fits",
        ];
        let numbers = header[2..7].to_vec();
        if each {
            header.insert(2, "access");
            if self.has_places {
                header.push("line");
            }
        } else {
            header.remove(1);
        }
        let rows = self.results.iter().flat_map(|m| m.rows(self.has_places));
        Table::new(&header, rows)
            .right(&numbers)
            .minor(&["fits", "ideal", "removed"])
    }
}

/// One mapping's counts, whole and per instruction.
#[derive(Serialize)]
pub(super) struct Measured {
    #[serde(flatten)]
    pub total: Counted,
    pub hash: String,
    /// Share of the conflicts with bank = address mod 2^m that is gone, in percent.
    pub removed_pct: Option<f64>,
    /// The removed share in words.
    #[serde(skip)]
    pub removed: String,
    pub fits: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_pc: Vec<Site>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_op: Vec<OfOp>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineCost>,
}

/// The counts of all loads, stores or atomics.
#[derive(Serialize)]
pub(super) struct OfOp {
    pub op: Op,
    #[serde(flatten)]
    pub counted: Counted,
}

/// The counts of an access site.
#[derive(Serialize)]
pub(super) struct Site {
    #[serde(flatten)]
    pub counted: Counted,
    pub pc: u32,
    pub op: Op,
    #[serde(flatten)]
    pub place: Place,
}

impl Measured {
    fn rows(&self, has_places: bool) -> Vec<Vec<String>> {
        let mut all = vec![self.hash.clone(), "all".to_owned()];
        all.extend(self.total.cells());
        all.push(self.removed.clone());
        all.push(if self.fits { "yes" } else { "no" }.to_owned());
        if self.per_pc.is_empty() {
            all.remove(1);
            return vec![all];
        }
        // The operation is in the column behind the instruction.
        all.insert(2, String::new());
        let per_op = self.per_op.iter().map(|one| {
            let sum = format!("{}s", one.op.name());
            let mut row = vec![String::new(), "all".to_owned(), sum];
            row.extend(one.counted.cells());
            row
        });
        let per_pc = self.per_pc.iter().map(|site| {
            let op = site.op.name().to_owned();
            let mut row = vec![String::new(), site.pc.to_string(), op];
            row.extend(site.counted.cells());
            if has_places {
                row.extend([String::new(), String::new(), site.place.text()]);
            }
            row
        });
        std::iter::once(all).chain(per_op).chain(per_pc).collect()
    }
}
