//! Results for people.

use super::Works;
use super::plan::name;
use super::point::Point;
use super::sweep::Sweep;
use crate::config::{Config, PathHash, PathSettings, Scheduler};
use crate::readable::readable_words;
use crate::sm::{AccessWorkload, Phases};
use crate::terminal::{Details, Table, Tone};
use crate::trace::Wide;

/// The answer of one run.
pub(super) fn verdict(kernel: &str, point: &Point) -> String {
    let s = &point.statistics;
    let stalls = s.stalls.total();
    let most = s.stalls.most().filter(|(_, slots)| *slots > 0);
    let most = most.map_or(String::new(), |(reason, slots)| {
        let share = 100.0 * slots as f64 / stalls.max(1) as f64;
        format!(
            "; most frequent stall: {} ({share:.0} % of stalls)",
            spaced(reason)
        )
    });
    let ended = if point.ended {
        "takes"
    } else {
        "was interrupted after"
    };
    format!(
        "{} {ended} {} cycles, {:.3} warp instructions a cycle{most}.",
        readable_words(kernel),
        s.cycles,
        s.ipc
    )
}

/// The answer of a sweep: the point with the fewest cycles, and what it gains.
pub(super) fn best(sweep: &Sweep) -> String {
    let fastest = sweep.points.iter().min_by_key(|p| p.statistics.cycles);
    let Some(point) = fastest else {
        return "No point of the sweep has run.".to_owned();
    };
    let equal = |p: &&Point| p.statistics.cycles == point.statistics.cycles;
    let equal: Vec<&Point> = sweep.points.iter().filter(equal).collect();
    let gain = point.speed_up().filter(|speed_up| *speed_up != 1.0);
    let gain = gain.map_or(String::new(), |speed_up| {
        format!(", {speed_up:.3} times as fast as mod without a hash stage")
    });
    let (all, cycles) = (sweep.points.len(), point.statistics.cycles);
    if let [_] = equal[..] {
        let labels = match &point.draft.labels[..] {
            [] => point.hash.clone(),
            list => labels(list),
        };
        return format!("The fastest of {all} points is {labels}: {cycles} cycles{gain}.");
    }
    let in_all = |label: &&(String, String)| equal.iter().all(|p| p.draft.labels.contains(label));
    let common = point.draft.labels.iter().filter(in_all).cloned();
    let common = labels(&common.collect::<Vec<_>>());
    let with = if common.is_empty() {
        String::new()
    } else {
        format!(", all with {common}")
    };
    format!(
        "{} of {all} points are equally fast{with}: {cycles} cycles{gain}.",
        equal.len()
    )
}

/// The counts of one run, a table for each unit that they are in.
fn counts(point: &Point) -> [Table; 3] {
    let s = &point.statistics;
    let count = |name: &str, value: u64| vec![name.to_owned(), value.to_string()];
    let mean = |name: &str, value: f64| vec![name.to_owned(), format!("{value:.3}")];
    let instructions = vec![
        count("cycles", s.cycles),
        count("warp instructions", s.warp_instructions),
        mean("warp instructions per cycle", s.ipc),
        count("thread instructions", s.thread_instructions),
        mean("thread instructions per cycle", s.thread_ipc),
    ];
    let mut slots = vec![count("used", s.issued)];
    for (reason, stalled) in s.stalls.list() {
        slots.push(count(&format!("stall: {}", spaced(reason)), stalled));
    }
    let mut accesses = vec![
        count("bank conflicts", s.bank_conflicts),
        mean("mean conflict degree", s.mean_conflict_degree),
        count("atomic rounds", s.atomic_rounds),
        count("global segments", s.global_segments),
    ];
    let memory = &point.config.sm;
    if memory.l1.size_bytes > 0 {
        accesses.extend([
            count("L1 hits", s.l1_hits),
            count("L1 misses", s.l1_misses),
            count("L1 merged", s.l1_merged),
        ]);
    } else if memory.global.merge {
        accesses.push(count("global merged", s.global_merged));
    }
    [
        ("cycles and instructions", instructions),
        ("issue slots", slots),
        ("accesses", accesses),
    ]
    .map(|(of, rows)| Table::new(&[of, "count"], rows).right(&["count"]))
}

/// One run.
pub(super) fn single(point: &Point) -> Details {
    let s = &point.statistics;
    let settings = &point.config.settings;
    let (blocks, pairs) = (point.residency.blocks(), point.residency.pairs);
    let mut details = Details::new();
    details.say(format!(
        "{} pipeline, {} scheduler, lock hash {}",
        name(&settings.pipeline),
        scheduler(settings),
        name(&settings.lock_hash),
    ));
    details.say(format!(
        "hash: {} ({})",
        point.hash,
        hash_hardware(&point.config)
    ));
    details.say(format!(
        "blocks: {blocks} resident, limited by {}; pairs that share: {pairs}",
        point.residency.limit
    ));
    details.say(dependences(point.dependent));
    for table in counts(point) {
        details.gap();
        details.table(table);
    }
    details.gap();
    details.say(phases(&s.phases));
    details.note(conflict_rule(&point.config, Some(point.config.lanes)));
    details.note(not_modelled(point));
    if !point.ended {
        let text = format!("interrupted: the numbers are those of {} cycles", s.cycles);
        details.toned(Tone::Doubt, text);
    }
    details
}

/// What goes to other blocks of a cluster, of which the model has one alone.
fn not_modelled(point: &Point) -> String {
    let s = &point.statistics;
    let mut text = String::new();
    if s.remote_accesses > 0 {
        text += &format!(
            "accesses to shared memory of other blocks of the cluster: {}; each has a latency of \
             {} cycles ([sm] remote_cycles) and takes no bank of the other block\n",
            s.remote_accesses, point.config.sm.latencies.remote
        );
    }
    if s.cluster_barriers > 0 {
        text += &format!(
            "barriers of the cluster: {} warps wait for their own block alone\n",
            s.cluster_barriers
        );
    }
    text
}

/// The cycles from barrier to barrier, if any.
fn phases(phases: &Phases) -> String {
    let list = phases.list();
    if list.len() < 2 {
        return String::new();
    }
    let cycles: Vec<String> = list.iter().map(|p| p.cycles.to_string()).collect();
    format!(
        "first block, cycles from barrier to barrier: {}\n",
        cycles.join(", ")
    )
}

/// The policy, and what is on top of it.
fn scheduler(settings: &PathSettings) -> String {
    let mut text = name(&settings.scheduler);
    if settings.is_aware() && settings.scheduler != Scheduler::ConflictAware {
        text += "+aware";
    }
    if settings.violate {
        text += "+violate";
    }
    text
}

pub(super) fn spaced(name: &str) -> String {
    name.replace('_', " ")
}

/// A sentence on where the hash stands, and what it takes.
fn hash_hardware(config: &Config) -> String {
    let hardware = match config.path.hash {
        PathHash::Mod => "the low address bits, no hardware".to_owned(),
        PathHash::Xor => "fixed XOR hash".to_owned(),
        PathHash::Add => "fixed ADD hash".to_owned(),
        PathHash::Configurable => format!("configurable {} unit", config.hash_unit),
        PathHash::Rap => "unit with loadable shifts".to_owned(),
    };
    let stage = match config.path.hash_stage {
        0 => "no hash stage",
        _ => "a pipeline stage of its own",
    };
    format!("{hardware}, {stage}")
}

fn dependences(dependent: Option<u32>) -> String {
    let default = AccessWorkload::DEPENDENT;
    match dependent {
        None => String::new(),
        Some(0) => "accesses of a warp: back to back (--dependent 0)\n".to_owned(),
        Some(n) => format!(
            "accesses of a warp: each waits for the N-th one before it, N = {n} \
             (--dependent, default {default})\n"
        ),
    }
}

/// A sentence on how conflicts were counted; `lanes` of a pass, where all points have
/// as many.
pub(super) fn conflict_rule(config: &Config, lanes: Option<u32>) -> String {
    let served = if config.path.broadcast {
        "distinct words"
    } else {
        "lanes"
    };
    let pass = lanes.map_or("pass".to_owned(), |l| format!("pass of {l} lanes"));
    let wide = match config.wide {
        Wide::Phases => {
            "accesses of 8 bytes have two passes, of 16 bytes four, with all their words"
        }
        Wide::PhasesMerged => {
            "accesses of 8 bytes have two passes, of 16 bytes four, with all their words; loads \
             whose lanes have one address in pairs half as many"
        }
        Wide::FirstWord => "accesses wider than a word count by their first",
    };
    format!("bank conflicts: per {pass} the most {served} in one bank, less one; {wide}\n")
}

/// All points of a sweep.
pub(super) fn sweep(sweep: &Sweep, works: &Works) -> Details {
    let mut details = Details::new();
    let kernel = readable_words(works.kernel());
    details.say(match sweep.preset() {
        Some(preset) => format!("{kernel} on {preset}"),
        None => kernel,
    });
    details.say(dependences(works.dependent));
    if let Some(first) = sweep.points.first() {
        details.gap();
        details.table(points_table(sweep));
        details.gap();
        details.note(legend(sweep));
        let lanes = first.config.lanes;
        let same = sweep.points.iter().all(|p| p.config.lanes == lanes);
        details.note(conflict_rule(&first.config, same.then_some(lanes)));
        details.note(not_modelled(first));
    }
    if !sweep.skipped.is_empty() {
        details.heading(format!(
            "skipped, {} of {}:",
            sweep.skipped.len(),
            sweep.planned
        ));
        for (draft, reason) in &sweep.skipped {
            details.say(format!("  {}: {reason}", labels(&draft.labels)));
        }
    }
    if sweep.interrupted {
        let (done, planned) = (sweep.points.len(), sweep.planned);
        let text = format!("interrupted: {done} of {planned} points finished");
        details.toned(Tone::Doubt, text);
    }
    details
}

pub(super) fn labels(labels: &[(String, String)]) -> String {
    let labels: Vec<String> = labels.iter().map(|(k, v)| format!("{k} {v}")).collect();
    labels.join(", ")
}

/// Columns that every sweep has, whatever it varies.
const CHOICES: [&str; 4] = ["hash", "pipeline", "scheduler", "sharing"];
const NUMBERS: [&str; 8] = [
    "cycles",
    "ipc",
    "speed-up",
    "degree",
    "bank stalls",
    "writeback stalls",
    "other stalls",
    "dominant stall",
];

fn points_table(sweep: &Sweep) -> Table {
    let varied = |p: &Point| {
        let labels = p.draft.labels.iter();
        let more = labels.filter(|l| !CHOICES.contains(&l.0.as_str()));
        more.cloned().collect::<Vec<_>>()
    };
    let more: Vec<String> = varied(&sweep.points[0]).into_iter().map(|l| l.0).collect();
    let mut header: Vec<&str> = more.iter().map(String::as_str).collect();
    header.extend(CHOICES);
    header.extend(NUMBERS);
    let rows = sweep.points.iter().map(|p| {
        let mut row: Vec<String> = varied(p).into_iter().map(|l| l.1).collect();
        row.extend(row_of(p));
        row
    });
    let minor = [
        "other stalls",
        "writeback stalls",
        "degree",
        "bank stalls",
        "ipc",
        "dominant stall",
    ];
    Table::new(&header, rows).right(&NUMBERS[..7]).minor(&minor)
}

fn row_of(point: &Point) -> Vec<String> {
    let s = &point.statistics;
    let stalls = s.stalls;
    let (bank, writeback) = (stalls.bank_conflict, stalls.writeback_conflict);
    let settings = &point.config.settings;
    let dominant = point.dominant_stall().map(|(reason, share)| {
        let percent = 100.0 * share;
        format!("{} {percent:.0} %", spaced(reason))
    });
    let speed_up = point.speed_up().map(|s| format!("{s:.3}"));
    vec![
        point.hash.clone(),
        name(&settings.pipeline),
        scheduler(settings),
        point.sharing().map_or("off".to_owned(), |t| t.to_string()),
        s.cycles.to_string(),
        format!("{:.3}", s.ipc),
        speed_up.unwrap_or("-".to_owned()),
        format!("{:.3}", s.mean_conflict_degree),
        bank.to_string(),
        writeback.to_string(),
        (stalls.total() - bank - writeback).to_string(),
        dominant.unwrap_or("none".to_owned()),
    ]
}

/// The meaning of the columns.
fn legend(sweep: &Sweep) -> String {
    let mut text = String::new();
    for baseline in &sweep.baselines {
        text += &format!("speed-up: over {}\n", baseline_text(baseline));
    }
    text + "stalls: issue slots without issue; other: all but bank and writeback conflicts; \
            dominant: most of them, of all issue slots\n"
}

/// A clause on what speed-ups are over.
pub(super) fn baseline_text(baseline: &Point) -> String {
    let settings = &baseline.config.settings;
    let labels = baseline.draft.labels.iter();
    let shown = ["hash", "pipeline", "scheduler"];
    let others = labels.filter(|l| !shown.contains(&l.0.as_str()));
    let others: String = others.map(|(k, v)| format!(", {k} {v}")).collect();
    format!(
        "mod without a hash stage, {} pipeline, {} scheduler{others}: {} cycles",
        name(&settings.pipeline),
        scheduler(settings),
        baseline.statistics.cycles
    )
}
