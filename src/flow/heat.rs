//! The costs of source lines, and their worst accesses.

use super::turns;
use super::worth::{Run, Runs};
use crate::config::Config;
use crate::report::{PatternPart, PhaseCount, Situation, SourceLine, SourcePage};
use crate::suggest::{SourceFiles, split};
use crate::trace::{Access, AccessTrace, ConflictProfile, ConflictRule, Line, Place};
use std::collections::{BTreeMap, BTreeSet};

/// Accesses that a page with scripting can show.
const MOST_SITUATIONS: usize = 240;
/// A file with this many lines between its first and its last is shown whole.
const WHOLE: u32 = 80;
/// Lines around those that cost something, where a file is not shown whole.
const AROUND: u32 = 2;
/// Lines above the first that may begin the function.
const HEAD: u32 = 14;
/// Shares of the cycles below this are no reason to show a line.
const LEAST_PCT: f64 = 0.1;

/// The bank of a word under a mapping.
pub(super) type Bank<'a> = &'a dyn Fn(u32) -> u32;

/// A trace whose accesses are counted by line and barrier phase.
pub(super) struct Heat<'a> {
    rule: ConflictRule,
    banks: usize,
    mask: u32,
    /// Accesses by line and barrier phase.
    groups: BTreeMap<(Line, u32), Vec<&'a Access>>,
    stacks: BTreeMap<Line, Vec<Vec<String>>>,
    /// The lines in headers of the toolkit that a line leads to.
    through: BTreeMap<Line, BTreeSet<String>>,
    /// The parts of sites whose pattern changes, by line.
    parts: BTreeMap<Line, Vec<PatternPart>>,
    /// The accesses that came into the kernel through a call, by its line.
    calls: BTreeMap<String, Vec<&'a Access>>,
}

/// The line of `place`, without the inlined calls.
fn line_of(place: &Place, pc: u32) -> Line {
    match Line::of(place, pc) {
        Line::Source(source, _) => Line::Source(source, Vec::new()),
        other => other,
    }
}

impl<'a> Heat<'a> {
    pub fn new(trace: &'a AccessTrace, machine: &Config) -> Self {
        let places = trace.places();
        let mut groups: BTreeMap<(Line, u32), Vec<&Access>> = BTreeMap::new();
        let mut stacks: BTreeMap<Line, Vec<Vec<String>>> = BTreeMap::new();
        let mut calls: BTreeMap<String, Vec<&Access>> = BTreeMap::new();
        let mut through: BTreeMap<Line, BTreeSet<String>> = BTreeMap::new();
        let mut sites: BTreeMap<u32, (Place, Line)> = BTreeMap::new();
        for (at, access) in (0u32..).zip(&trace.accesses) {
            let (place, line) = sites.entry(access.pc).or_insert_with(|| {
                let (place, headers) = places.of(access.pc).of_user();
                let line = line_of(&place, access.pc);
                if let Some(header) = headers.into_iter().next() {
                    through.entry(line.clone()).or_default().insert(header);
                }
                if !place.inlined_at.is_empty() {
                    let known = stacks.entry(line.clone()).or_default();
                    if !known.contains(&place.inlined_at) {
                        known.push(place.inlined_at.clone());
                    }
                }
                (place, line)
            });
            let phase = trace.barriers.partition_point(|&b| b <= at) as u32;
            for call in &place.inlined_at {
                calls.entry(call.clone()).or_default().push(access);
            }
            groups
                .entry((line.clone(), phase))
                .or_default()
                .push(access);
        }
        let mut parts: BTreeMap<Line, Vec<PatternPart>> = BTreeMap::new();
        for (pc, of_site) in turns::parts(trace, machine) {
            let line = line_of(&places.of(pc).of_user().0, pc);
            parts.entry(line).or_default().extend(of_site);
        }
        Heat {
            rule: machine.conflict_rule(),
            banks: machine.geometry.banks(),
            mask: machine.geometry.bank_mask(),
            groups,
            stacks,
            through,
            parts,
            calls,
        }
    }

    /// The files with lines that cost wavefronts or cycles, those with most
    /// conflicts first. `run`: the unchanged kernel on the model.
    pub fn pages(
        &self,
        after: Option<Bank>,
        run: Option<(&Runs, &Run)>,
        files: &mut SourceFiles,
        ptx: Option<&str>,
    ) -> Vec<SourcePage> {
        let mut lines = self.lines(after);
        if let Some((runs, run)) = run {
            add_cycles(&mut lines, runs, run);
        }
        let mut pages: BTreeMap<String, Vec<SourceLine>> = BTreeMap::new();
        for (line, mut costs) in lines {
            let (file, number) = match &line {
                Line::Source(source, _) => match split(source) {
                    Some((file, number)) => (file.to_owned(), number),
                    None => continue,
                },
                Line::Ptx(file, number) => {
                    let file = file.as_deref().or(ptx).unwrap_or("PTX");
                    (file.to_owned(), *number)
                }
                Line::Site(pc) => (String::new(), *pc),
            };
            costs.line = number;
            pages.entry(file).or_default().push(costs);
        }
        // Lines of no shared-memory access, in files that have none at all.
        pages.retain(|_, lines| lines.iter().any(|l| l.accesses > 0));
        let whole = |(file, lines): (String, Vec<SourceLine>)| {
            let text = files.lines(&file);
            SourcePage {
                lines: with_text(lines, text),
                file,
            }
        };
        let mut pages: Vec<SourcePage> = pages.into_iter().map(whole).collect();
        let worst = |p: &SourcePage| p.lines.iter().map(|l| l.conflicts).sum::<u64>();
        pages.sort_by_key(|p| std::cmp::Reverse(worst(p)));
        pages
    }

    fn lines(&self, after: Option<Bank>) -> BTreeMap<Line, SourceLine> {
        let mut lines: BTreeMap<Line, SourceLine> = BTreeMap::new();
        for ((line, phase), accesses) in &self.groups {
            let profile = ConflictProfile::of(accesses.iter().copied(), &self.rule);
            let plain = profile.count(|word| word & self.mask);
            let mapped = after.map_or(plain, |bank| profile.count(bank));
            let ideal = profile.ideal_wavefronts(self.banks);
            let stacks = || self.stacks.get(line).cloned().unwrap_or_default();
            let through = || {
                let own = self.through.get(line).into_iter().flatten();
                own.cloned().collect()
            };
            let costs = lines.entry(line.clone()).or_insert_with(|| SourceLine {
                inlined_at: stacks(),
                through: through(),
                parts: self.parts.get(line).cloned().unwrap_or_default(),
                ..SourceLine::default()
            });
            costs.accesses += accesses.len() as u64;
            costs.wavefronts += plain.wavefronts();
            costs.ideal_wavefronts += ideal;
            costs.conflicts += plain.conflicts;
            costs.conflicts_after += mapped.conflicts;
            costs.max_degree = costs.max_degree.max(plain.max_degree);
            let count = PhaseCount {
                phase: *phase,
                wavefronts: plain.wavefronts(),
                ideal_wavefronts: ideal,
                conflicts: plain.conflicts,
            };
            PhaseCount::add(&mut costs.phases, count);
        }
        for (call, accesses) in &self.calls {
            let profile = ConflictProfile::of(accesses.iter().copied(), &self.rule);
            let line = Line::Source(call.clone(), Vec::new());
            let conflicts = profile.count(|word| word & self.mask).conflicts;
            lines.entry(line).or_default().called_conflicts += conflicts;
        }
        lines
    }

    /// All accesses by barrier phase.
    pub fn phases(&self) -> Vec<PhaseCount> {
        let mut all = Vec::new();
        for line in self.lines(None).values() {
            for count in &line.phases {
                PhaseCount::add(&mut all, *count);
            }
        }
        all
    }

    /// The worst access of each line in each phase, most conflicts first.
    pub fn situations(&self, after: Option<Bank>) -> Vec<Situation> {
        let plain = |word: u32| word & self.mask;
        let situation = |((line, phase), accesses): (&(Line, u32), &Vec<&Access>)| {
            let served = |a: &Access, bank: Bank| self.rule.served(a, bank);
            let key = |a: &&Access| served(a, &plain).wavefronts;
            // The first of the worst.
            let worst = accesses.iter().rev().max_by_key(|a| key(a))?;
            let profile = ConflictProfile::of(accesses.iter().copied(), &self.rule);
            Some(Situation {
                place: line.text(),
                phase: *phase,
                op: worst.op.name(),
                bytes: worst.bytes,
                warp: worst.warp,
                conflicts: profile.count(plain).conflicts,
                before: served(worst, &plain),
                after: after.map(|bank| served(worst, bank)),
            })
        };
        let mut all: Vec<Situation> = self.groups.iter().filter_map(situation).collect();
        all.sort_by_key(|s| std::cmp::Reverse(s.conflicts));
        all.truncate(MOST_SITUATIONS);
        all
    }
}

fn add_cycles(lines: &mut BTreeMap<Line, SourceLine>, runs: &Runs, run: &Run) {
    let places = runs.places();
    let slots = run.profile.list();
    let all: u64 = slots.iter().map(|(_, s)| s.total()).sum();
    if places.is_empty() || all == 0 {
        return;
    }
    for (pc, slots) in slots {
        let Some(pc) = pc else { continue };
        let line = line_of(&places.of(pc).of_user().0, pc);
        let costs = lines.entry(line).or_default();
        let share = 100.0 * slots.total() as f64 / all as f64;
        *costs.cycles_pct.get_or_insert(0.0) += share;
    }
}

/// The lines of a file with their text and those around them.
fn with_text(mut costly: Vec<SourceLine>, text: Option<&[String]>) -> Vec<SourceLine> {
    costly.sort_by_key(|l| l.line);
    let Some(text) = text else {
        costly.retain(|l| l.accesses > 0);
        return costly;
    };
    let mut by_line: BTreeMap<u32, SourceLine> = BTreeMap::new();
    for line in costly {
        by_line.insert(line.line, line);
    }
    let text_at = |n: u32| text.get(n.wrapping_sub(1) as usize).map(String::as_str);
    let shown = shown_lines(&by_line, &text_at);
    let mut lines = Vec::new();
    let mut last = None;
    for number in shown {
        if last.is_some_and(|last| number > last + 1) {
            lines.push(SourceLine::default());
        }
        last = Some(number);
        let mut line = by_line.remove(&number).unwrap_or_default();
        line.line = number;
        line.text = text_at(number).unwrap_or_default().to_owned();
        lines.push(line);
    }
    lines
}

fn shown_lines<'t>(
    costs: &BTreeMap<u32, SourceLine>,
    text_at: &dyn Fn(u32) -> Option<&'t str>,
) -> Vec<u32> {
    let matters = |l: &&SourceLine| {
        l.accesses > 0 || l.called_conflicts > 0 || l.cycles_pct >= Some(LEAST_PCT)
    };
    let numbers: Vec<u32> = costs.values().filter(matters).map(|l| l.line).collect();
    // Line 0 is the compiler's for code of no line.
    let numbers: Vec<u32> = numbers.into_iter().filter(|n| *n > 0).collect();
    let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else {
        return Vec::new();
    };
    let is_head = |n: &u32| text_at(*n).is_some_and(|t| t.contains("__global__"));
    let head = (first.saturating_sub(HEAD).max(1)..=first)
        .rev()
        .find(is_head);
    let near = |n: u32| numbers.iter().any(|m| m.abs_diff(n) <= AROUND);
    let from = head.unwrap_or(first);
    let all = from.saturating_sub(AROUND).max(1)..=last + AROUND;
    let is_shown = |n: &u32| {
        let within = (from..=last).contains(n) && last - from <= WHOLE;
        text_at(*n).is_some()
            && (within || (head.is_none() || *n >= from) && near(*n) || Some(*n) == head)
    };
    all.filter(is_shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn trace() -> AccessTrace {
        let lanes = |step: u32| {
            (0..32)
                .map(|l| (l * step).to_string())
                .collect::<Vec<_>>()
                .join(",")
        };
        let text = format!(
            r#"{{"name":"t","source":"s","block_dim":[32,1,1],"shared_bytes":8192,"warp_size":32,
"barriers":[1],"accesses":[
{{"warp":0,"pc":0,"op":"store","addrs":[{}],"source":"k.cu:3"}},
{{"warp":0,"pc":1,"op":"load","addrs":[{}],"source":"k.cu:5","inlined_at":["k.cu:9"]}},
{{"warp":0,"pc":2,"op":"load","addrs":[{}],"source":"k.cu:5"}}]}}"#,
            lanes(1),
            lanes(8),
            lanes(2)
        );
        AccessTrace::from_json(&text, Path::new("t.json")).unwrap()
    }

    #[test]
    fn lines_have_their_phases_and_their_worst_access() {
        let (trace, machine) = (trace(), Config::preset("fermi").unwrap());
        let heat = Heat::new(&trace, &machine);
        let hashed = |word: u32| (word ^ word >> 5) & 31;
        let situations = heat.situations(Some(&hashed));
        let worst = &situations[0];
        assert_eq!((worst.place.as_str(), worst.phase), ("k.cu:5", 1));
        // 7 of the first load, 1 of the second.
        assert_eq!(
            (worst.conflicts, worst.before.wavefronts, worst.before.busy),
            (8, 8, 4)
        );
        let cell = |lane: u32| {
            worst
                .before
                .cells
                .iter()
                .find(|c| c.lanes == [lane])
                .unwrap()
        };
        assert_eq!((cell(5).word, cell(5).bank, cell(5).wavefront), (40, 8, 1));
        let after = worst.after.as_ref().unwrap();
        assert!(after.wavefronts < 8 && after.busy > 4);
        assert_eq!(heat.phases().len(), 2);
        let dir = tempfile::tempdir().unwrap();
        let text: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        std::fs::write(dir.path().join("k.cu"), text).unwrap();
        let input = dir.path().join("t.json");
        let mut files = SourceFiles::beside(&input);
        let pages = heat.pages(Some(&hashed), None, &mut files, None);
        assert_eq!((pages.len(), pages[0].file.as_str()), (1, "k.cu"));
        let line = |n: u32| pages[0].lines.iter().find(|l| l.line == n).unwrap();
        assert_eq!(
            (
                line(5).conflicts,
                line(5).wavefronts,
                line(5).ideal_wavefronts
            ),
            (8, 10, 2)
        );
        assert_eq!((line(3).conflicts, line(4).text.as_str()), (0, "line 4"));
        assert_eq!(line(5).inlined_at, [["k.cu:9"]]);
        assert!(line(5).conflicts_after < 8);
        assert_eq!(files.found().len(), 1);
    }

    /// The cost of code in a header is attributed to the line of the call.
    #[test]
    fn costs_of_the_toolkit_are_at_the_users_line() {
        let addrs = (0..32).map(|l| (l * 8).to_string()).collect::<Vec<_>>();
        let text = format!(
            r#"{{"name":"t","source":"s","block_dim":[32,1,1],"shared_bytes":8192,"warp_size":32,
"accesses":[{{"warp":0,"pc":0,"op":"load","addrs":[{}],"source":"/x/include/crt/mma.hpp:91",
"inlined_at":["k.cu:9","k.cu:20"]}}]}}"#,
            addrs.join(",")
        );
        let trace = AccessTrace::from_json(&text, Path::new("t.json")).unwrap();
        let heat = Heat::new(&trace, &Config::preset("fermi").unwrap());
        let mut files = SourceFiles::beside(Path::new("t.json"));
        let pages = heat.pages(None, None, &mut files, None);
        assert_eq!((pages.len(), pages[0].file.as_str()), (1, "k.cu"));
        let line = &pages[0].lines[0];
        assert_eq!((line.line, line.conflicts), (9, 7));
        assert_eq!(line.through, ["/x/include/crt/mma.hpp:91"]);
        assert_eq!(line.inlined_at, [["k.cu:20"]]);
        assert_eq!(heat.situations(None)[0].place, "k.cu:9");
    }

    #[test]
    fn lanes_on_one_word_are_one_cell_and_wide_accesses_go_in_phases() {
        let access = |addrs: &str, bytes: u32| {
            let text =
                format!(r#"{{"warp":0,"pc":0,"op":"load","bytes":{bytes},"addrs":[{addrs}]}}"#);
            serde_json::from_str::<Access>(&text).unwrap()
        };
        let rule = Config::preset("sm80").unwrap().conflict_rule();
        let same = vec!["7"; 32].join(",");
        let one = rule.served(&access(&same, 4), |w| w & 31);
        assert_eq!(
            (one.wavefronts, one.cells.len(), one.cells[0].lanes.len()),
            (1, 1, 32)
        );
        let pairs: Vec<String> = (0..32).map(|l| (2 * l).to_string()).collect();
        let wide = rule.served(&access(&pairs.join(","), 8), |w| w & 31);
        assert_eq!((wide.wavefronts, wide.cells.len(), wide.busy), (2, 64, 32));
        // A phase of its own is no conflict.
        assert_eq!((wide.cells[63].wavefront, wide.cells[63].waits), (1, 0));
    }
}
