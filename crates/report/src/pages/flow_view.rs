//! The report as the template shows it: every number is a text, rounded once.

use super::bars::bars;
use crate::choice::{ChoiceKind, ChoiceLine, CodeText};
use crate::draw::picture;
use crate::flow_report::FlowReport;
use crate::source_page::{Situation, SourceLine, SourcePage};
use crate::verdict::ratio;
use crate::verdict::{grouped, place, worst};
use serde_json::{Value, json};
use spadkit_compiler::rewrite::Resources;
use spadkit_launch::readable::counted;
use spadkit_mapping::trace::{Served, without_folder};
use std::collections::BTreeSet;

/// Accesses that a page shows without scripting.
const STATIC_PICTURES: usize = 3;
/// Wavefronts that a picture has room for.
const MOST_ROWS: u32 = 16;
/// Words of accesses that the script knows, at most: a page stays below some
/// megabytes.
const MOST_CELLS: usize = 30_000;

/// Banks and lanes of the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub banks: u32,
    pub lanes: u32,
}

impl Size {
    /// The size that the pictures of these situations need.
    pub fn of(situations: &[Situation]) -> Self {
        let cells = || {
            let served = situations.iter();
            let served = served.flat_map(|s| [Some(&s.before), s.after.as_ref()]);
            served.flatten().flat_map(|s| &s.cells)
        };
        let banks = cells().map(|c| c.bank + 1).max().unwrap_or(1);
        let lanes = cells().flat_map(|c| &c.lanes).max().map_or(1, |l| l + 1);
        Size {
            banks: banks.next_power_of_two(),
            lanes: lanes.next_power_of_two(),
        }
    }
}

/// The accesses that the page shows: the worst of each shape. `several`: there are
/// barrier phases to tell apart.
pub(super) fn pictures(situations: &[Situation], several: bool) -> Value {
    let size = Size::of(situations);
    let mut shown: Vec<&Situation> = Vec::new();
    for situation in situations.iter().filter(|s| s.conflicts > 0) {
        let is_new = shown
            .iter()
            .all(|s| s.before.shape() != situation.before.shape());
        if is_new && shown.len() < STATIC_PICTURES {
            shown.push(situation);
        }
    }
    if shown.is_empty() {
        shown.extend(situations.first());
    }
    let all: Vec<Value> = shown.iter().map(|s| one(s, size, several)).collect();
    json!(all)
}

fn one(s: &Situation, size: Size, several: bool) -> Value {
    let rows = s
        .before
        .wavefronts
        .max(s.after.as_ref().map_or(0, |a| a.wavefronts));
    let label = label(s, several);
    let drawn = |served: &Served, name: &str| {
        let title = format!("{label}, {name}: {}", tag(served, size.banks));
        json!({
            "tag": tag(served, size.banks),
            "good": served.wavefronts < s.before.wavefronts || s.before.wavefronts <= 1,
            "stack": picture::stack(served, size.banks, rows, &title),
            "lanes": picture::matrix(served, size.banks, size.lanes, &title),
        })
    };
    let note =
        (rows > MOST_ROWS).then(|| format!("The first {MOST_ROWS} of {rows} wavefronts are drawn"));
    json!({
        "label": label,
        "caption": caption(s, several),
        "note": note,
        "before": drawn(&s.before, "as it is"),
        "after": s.after.as_ref().map(|after| drawn(after, "changed")),
    })
}

fn label(s: &Situation, several: bool) -> String {
    if several {
        format!("{}, phase {}", s.place, s.phase)
    } else {
        s.place.clone()
    }
}

fn tag(served: &Served, banks: u32) -> String {
    let wavefronts = counted(served.wavefronts, "wavefront");
    format!("{wavefronts} · {} of {banks} banks busy", served.busy)
}

fn caption(s: &Situation, several: bool) -> String {
    let when = match (several, s.phase) {
        (false, _) => String::new(),
        (true, 0) => ", before the first barrier".to_owned(),
        (true, n) => format!(", after barrier {n}"),
    };
    let width = match s.bytes {
        4 => String::new(),
        n => format!(" of {n} bytes a lane"),
    };
    let article = if s.op == "atomic" { "an" } else { "a" };
    format!(
        "{}{when}: {article} {}{width} by warp {}. All accesses of the line there have {} conflicts.",
        s.place,
        s.op,
        s.warp,
        grouped(s.conflicts)
    )
}

/// Every situation for the script, in few characters.
pub(super) fn script_data(report: &FlowReport) -> String {
    let size = Size::of(&report.situations);
    let served = |s: &Served| {
        let cells = s.cells.iter();
        let cells = cells.map(|c| json!([c.lanes, c.word, c.bank, c.wavefront]));
        json!({"w": s.wavefronts, "b": s.busy, "c": cells.collect::<Vec<_>>()})
    };
    let several = report.phases.len() > 1;
    let mut cells = 0;
    let within = report.situations.iter().take_while(|s| {
        cells += 2 * s.before.cells.len();
        cells <= MOST_CELLS
    });
    let all = within.map(|s| {
        json!({
            "place": s.place,
            "phase": s.phase,
            "caption": caption(s, several),
            "conflicts": s.conflicts,
            "before": served(&s.before),
            "after": s.after.as_ref().map(served),
        })
    });
    let data = json!({
        "banks": size.banks,
        "lanes": size.lanes,
        "phases": report.phases.len(),
        "accesses": all.collect::<Vec<_>>(),
    });
    // The end of a script element must not stand in it.
    data.to_string().replace('<', "\\u003c")
}

/// Wavefronts between barriers, as bars.
pub(super) fn phases(report: &FlowReport) -> Value {
    let most = report
        .phases
        .iter()
        .map(|p| p.wavefronts)
        .max()
        .unwrap_or(1)
        .max(1);
    let percent = |n: u64| format!("{:.2}", 100.0 * n as f64 / most as f64);
    let phase = |p: &crate::source_page::PhaseCount| {
        json!({
            "phase": p.phase,
            "wavefronts": grouped(p.wavefronts),
            "conflicts": p.conflicts,
            "conflicts_text": grouped(p.conflicts),
            "ideal_pct": percent(p.wavefronts - p.conflicts.min(p.wavefronts)),
            "extra_pct": percent(p.conflicts),
        })
    };
    json!(report.phases.iter().map(phase).collect::<Vec<_>>())
}

/// The source with what its lines cost.
pub(super) fn sources(pages: &[SourcePage]) -> Value {
    let lines = pages.iter().flat_map(|p| &p.lines);
    let most = lines
        .clone()
        .map(|l| l.wavefronts)
        .max()
        .unwrap_or(1)
        .max(1);
    let all = lines.map(|l| l.conflicts).sum::<u64>().max(1);
    let page = |p: &SourcePage| {
        // The conflicts that a mapping leaves are stated at its first line only.
        let mut said = BTreeSet::new();
        let line = |l: &SourceLine| {
            let leaves = l.change_leaves.clone();
            let leaves = leaves.filter(|text| said.insert(text.clone()));
            let mut view = source_line(l, most, all);
            view["change_leaves"] = json!(leaves);
            view
        };
        json!({
            "file": p.file,
            "has_cycles": p.lines.iter().any(|l| l.cycles_pct.is_some()),
            "lines": p.lines.iter().map(line).collect::<Vec<_>>(),
        })
    };
    json!(pages.iter().map(page).collect::<Vec<_>>())
}

/// Iterations of a loop that are listed next to a line, at most.
const TURNS: usize = 6;

fn source_line(l: &SourceLine, most: u64, all: u64) -> Value {
    let percent = |n: u64| format!("{:.2}", 100.0 * n as f64 / most as f64);
    let calls = l.inlined_at.iter().map(|stack| {
        let names = stack.iter().map(|c| without_folder(c).to_owned());
        names.collect::<Vec<_>>().join(" from ")
    });
    // Only phases that differ explain anything.
    let with: Vec<String> = l
        .phases
        .iter()
        .filter(|p| p.conflicts > 0)
        .map(|p| format!("phase {}: +{}", p.phase, grouped(p.conflicts)))
        .collect();
    // Without barriers it is the iterations that differ.
    let turns = l.parts.iter().filter(|p| p.conflicts > 0);
    let turns = turns.map(|p| {
        let (when, conflicts) = (p.when(), grouped(p.conflicts));
        format!("{when}: +{conflicts}, {}", p.pattern)
    });
    let when = match l.phases.len() {
        0 | 1 => turns.take(TURNS).collect(),
        _ => with,
    };
    json!({
        "line": l.line,
        "gap": l.line == 0,
        "text": l.text,
        "access": l.accesses > 0,
        "hot": l.conflicts > 0,
        "heat": format!("{:.0}", 8.0 + 30.0 * l.conflicts as f64 / all as f64),
        "wavefronts": grouped(l.wavefronts),
        "ideal": grouped(l.ideal_wavefronts),
        "conflicts": grouped(l.conflicts),
        "after": grouped(l.conflicts_after),
        "max_degree": l.max_degree,
        "ideal_pct": percent(l.wavefronts - l.conflicts.min(l.wavefronts)),
        "extra_pct": percent(l.conflicts),
        "cycles": l.cycles_pct.filter(|p| *p >= 0.05).map(|p| format!("{p:.1} %")),
        "calls": calls.collect::<Vec<_>>(),
        "through": l.through.iter().map(|t| without_folder(t)).collect::<Vec<_>>(),
        "when": when,
        "called": (l.called_conflicts > 0 && l.accesses == 0).then(|| grouped(l.called_conflicts)),
        "change": l.change,
        "change_by_hand": l.change_by_hand,
    })
}

/// The text above the source.
pub(super) fn sources_note(pages: &[SourcePage], conflicts: u64) -> String {
    let Some((page, line)) = worst(pages) else {
        return "No line has a bank conflict.".to_owned();
    };
    format!(
        "{} has {} of {} conflicts. Wavefronts are of block 0; a line needs the grey part of its bar under any mapping.",
        place(page, line),
        grouped(line.conflicts),
        grouped(conflicts.max(1))
    )
}

/// The table of choices.
pub(super) fn choices(report: &FlowReport) -> Value {
    let row = |c: &ChoiceLine| {
        let cost = c.cost.as_ref();
        json!({
            "name": c.name,
            "hash": c.hash,
            "chosen": c.chosen,
            "today": matches!(c.kind, ChoiceKind::Software | ChoiceKind::Padding),
            "conflicts": grouped(c.conflicts),
            "none_left": c.conflicts == 0,
            "cycles": c.cycles.map(|p| grouped(p.total)),
            "speed_up": c.speed_up.map(|s| format!("{s:.3}")),
            "gain": report.gain_pct(c).map(|g| format!("{g:.0} %")),
            "no_cycles": if c.kind == ChoiceKind::Padding { "not simulated" } else { "not known" },
            "added": added(c),
            "on_sm": c.resources.map(|r| on_sm(c.kind, &r)),
            "area": area(c),
            "clock": cost.map(|cost| clock(cost.slack_ps(), cost.target_ps)),
            "met": cost.map(|cost| cost.slack_ps() >= 0.0),
            "proof": c.proof,
        })
    };
    json!(report.choices.iter().map(row).collect::<Vec<_>>())
}

fn added(c: &ChoiceLine) -> String {
    match (c.kind, c.added_per_access) {
        (ChoiceKind::Software, Some(n)) => match c.wasted_bytes {
            0 => format!("{n:.2} per access"),
            bytes => format!("{n:.2} per access, {bytes} bytes"),
        },
        (ChoiceKind::Software, None) => "not put into the kernel".to_owned(),
        (ChoiceKind::Padding, _) => format!("0, {} bytes", c.wasted_bytes),
        _ => "0".to_owned(),
    }
}

/// Registers of a thread and blocks of an SM.
fn on_sm(kind: ChoiceKind, resources: &Resources) -> String {
    let blocks = resources.occupancy.map(|o| format!("{} blocks", o.blocks));
    if kind == ChoiceKind::Padding {
        // The change is not compiled.
        return blocks.map_or(String::new(), |b| format!("{b} if the registers stay"));
    }
    let assembled = resources.assembled.as_ref();
    let registers = assembled.map(|a| format!("{} registers", a.registers));
    let parts: Vec<String> = registers.into_iter().chain(blocks).collect();
    parts.join(", ")
}

fn area(c: &ChoiceLine) -> String {
    match (&c.cost, &c.unit) {
        (Some(cost), _) => match cost.nand2 {
            Some(gates) => grouped(gates.round() as u64),
            None => format!("{} µm²", grouped(cost.area_um2.round() as u64)),
        },
        (None, None) => "0".to_owned(),
        (None, Some(_)) => "not synthesized".to_owned(),
    }
}

pub(super) fn clock(slack: f64, target: u32) -> String {
    if slack < 0.0 {
        format!("{:.0} ps over {target}: not met", -slack)
    } else {
        format!("{slack:.0} ps below {target}")
    }
}

/// The bars of the cycles.
pub(super) fn cycles(report: &FlowReport) -> Value {
    let timed = report.choices.iter().filter_map(|c| Some((c, c.cycles?)));
    bars(timed.map(|(c, parts)| (c.name.clone(), c.chosen, parts, c.speed_up)))
}

/// Whether the forms of a change are complete, above them.
pub(super) fn code_note<'a>(all: impl IntoIterator<Item = &'a CodeText>) -> String {
    let open = all.into_iter().filter(|code| code.by_hand > 0);
    let open = open.map(|code| format!("In {}, {}", code.form, by_hand_text(code.by_hand)));
    let open: Vec<String> = open.collect();
    if open.is_empty() {
        return "Each form is complete: take the one that fits where you are.".to_owned();
    }
    format!("{}. The other forms are complete.", open.join(", "))
}

/// A sentence that says that lines of a form have to be changed by hand.
pub(super) fn by_hand_text(lines: usize) -> String {
    match lines {
        1 => "1 line has to be changed by hand: its comment says how".to_owned(),
        n => format!("{n} lines have to be changed by hand: their comments say how"),
    }
}

/// The choices whose code is shown.
pub(super) fn with_code(report: &FlowReport) -> Vec<&ChoiceLine> {
    let kinds = [ChoiceKind::Software, ChoiceKind::Padding, ChoiceKind::Best];
    let others = kinds.into_iter().filter_map(|kind| report.choice(kind));
    let mut all: Vec<&ChoiceLine> = report.chosen().into_iter().collect();
    for choice in others {
        if all.iter().all(|known| known.kind != choice.kind) {
            all.push(choice);
        }
    }
    all
}

/// What the caption of a code says of the choice that it belongs to.
pub(super) struct Caption<'a> {
    pub choice: &'a str,
    pub hash: &'a str,
    pub left: u64,
    pub speed_up: Option<f64>,
    /// Whether the speed-up is that of the rewritten PTX.
    pub rewritten: bool,
}

impl Caption<'_> {
    /// The tab of a form. A text with other mappings has their names and their conflicts, and
    /// nothing that is known of the choice alone.
    pub fn tab(&self, code: &CodeText) -> Value {
        let other = code.mapping.as_ref();
        let left = match other {
            Some(other) => format!(
                "{} of {} conflicts",
                grouped(other.conflicts),
                grouped(other.conflicts_before)
            ),
            None => counted(self.left, "conflict"),
        };
        let speed_up = self.speed_up.filter(|_| other.is_none());
        json!({
            "form": code.form,
            "what": code.what,
            "cost": code.cost,
            "text": code.text.trim_end(),
            "by_hand": (code.by_hand > 0).then(|| by_hand_text(code.by_hand)),
            "note": code.note,
            "choice": if other.is_some() { "In software" } else { self.choice },
            "hash": other.map_or(self.hash, |other| &other.hash),
            "left": left,
            "other": other.is_some() && self.speed_up.is_some(),
            "speed_up": speed_up.map(ratio),
            "rewritten": self.rewritten,
        })
    }
}

/// The chosen mapping as code, and those of the other kinds.
pub(super) fn code(report: &FlowReport) -> Value {
    let mut tabs = Vec::new();
    for choice in with_code(report) {
        for code in &choice.code {
            let of_choice = Caption {
                choice: &choice.name,
                hash: &choice.hash,
                left: choice.conflicts,
                speed_up: choice.speed_up,
                rewritten: choice.kind == ChoiceKind::Software && choice.added_per_access.is_some(),
            };
            tabs.push(of_choice.tab(code));
        }
    }
    let is_of_source = |tab: &Value| {
        let languages = ["CUDA", "Numba", "CuTe DSL", "Gluon"];
        languages.iter().any(|language| tab["form"] == *language)
    };
    // The smaller change of the source is shown next to the other.
    if let Some(at) = tabs.iter().position(|tab| tab["form"] == "padding")
        && let Some(cuda) = tabs.iter().position(is_of_source)
        && cuda < at
    {
        let padding = tabs.remove(at);
        tabs.insert(cuda + 1, padding);
    }
    json!(tabs)
}
