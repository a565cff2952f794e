//! Text output.

use super::Shared;
use crate::cli::printer::CommandResult;
use crate::config::Scheduler;
use crate::readable::{counted, readable};
use crate::sharing::annotate::Annotated;
use crate::sharing::{Gain, Layout, Placement, Plan};
use crate::terminal::{Columns, Details, Hint, Table, Tone};
use strum::VariantNames;

impl Shared<'_> {
    /// Whether the gain is good news, or bad; none if it is neither.
    pub(super) fn good(&self) -> Option<bool> {
        let last = self.variants.last().filter(|last| last.pairs > 0)?;
        (last.speed_up != 1.0).then_some(last.speed_up > 1.0)
    }
}

impl CommandResult for Shared<'_> {
    fn verdict(&self) -> String {
        let (plan, blocks) = (self.plan, &self.plan.residency);
        let name = readable(&plan.kernel.function().name);
        let more = blocks.blocks().saturating_sub(blocks.unshared);
        if let Some(last) = self.variants.last().filter(|last| last.pairs > 0)
            && last.speed_up < 1.0
        {
            let although = match more {
                0 => format!("leaves its resident blocks at {}", blocks.unshared),
                _ => format!(
                    "makes {} of its blocks resident instead of {}",
                    blocks.blocks(),
                    blocks.unshared
                ),
            };
            let times = format!("{:.3}", last.speed_up);
            return if times == "1.000" {
                format!("Sharing makes {name} no faster: {times} times as fast. It {although}.")
            } else {
                format!("Sharing makes {name} slower: {times} times as fast. It {although}.")
            };
        }
        let resident = match more {
            0 => format!(
                "Sharing leaves the number of resident blocks of {name} at {}",
                blocks.unshared
            ),
            _ => format!(
                "Sharing makes {} blocks of {name} resident instead of {}",
                blocks.blocks(),
                blocks.unshared
            ),
        };
        match self.variants.last() {
            // The only variant left has another scheduler.
            Some(last) if last.pairs == 0 => format!(
                "{resident}: no pair of blocks shares.{}",
                by_scheduler(last)
            ),
            Some(last) if more == 0 => format!(
                "{resident}; with it the kernel runs {:.3} times as fast.",
                last.speed_up
            ),
            Some(last) => format!("{resident}, {:.3} times as fast.", last.speed_up),
            None => format!("{resident}."),
        }
    }

    fn tone(&self) -> Tone {
        match self.good() {
            Some(true) => Tone::Good,
            Some(false) => Tone::Bad,
            None => Tone::Plain,
        }
    }

    fn details(&self) -> Details {
        let plan = self.plan;
        let mut details = Details::new();
        details.say(head(plan));
        details.gap();
        details.table(variables(plan));
        details.gap();
        details.say(range(plan));
        details.say(releases(plan, self.annotated));
        details.toned(Tone::Doubt, doubts(plan));
        if !self.variants.is_empty() {
            details.gap();
            details.table(gain(&self.variants));
            details.note(
                "before, with it, after: where blocks of pairs spend their cycles with respect to \
                 the shared part",
            );
        }
        details
    }

    fn hints(&self) -> Vec<Hint> {
        self.next.iter().cloned().collect()
    }
}

/// The effect of a variant's scheduler without pairs.
fn by_scheduler(gain: &Gain) -> String {
    let times = format!("{:.3}", gain.speed_up);
    if times == "1.000" {
        return String::new();
    }
    let how = match 1.0 / gain.speed_up - 1.0 {
        slower if slower > 0.0 => format!("{:.1} % slower", 100.0 * slower),
        _ => format!("{times} times as fast"),
    };
    format!(
        " The scheduler {} alone makes the kernel {how}.",
        Scheduler::VARIANTS[gain.scheduler as usize]
    )
}

fn head(plan: &Plan) -> String {
    let (kernel, blocks) = (plan.kernel, &plan.residency);
    let boundary = plan.layout.boundary;
    let mut text = format!(
        "{}: {} bytes of shared memory and {} threads a block, t = {}\n",
        readable(&kernel.function().name),
        kernel.bytes,
        plan.needs.threads,
        plan.sharing
    );
    text += &format!(
        "resident blocks: {} without sharing, {} with it ({}, {} alone), limited by {}\n",
        blocks.unshared,
        blocks.blocks(),
        counted(blocks.pairs, "pair"),
        blocks.alone,
        blocks.limit
    );
    text += &format!(
        "a block has {boundary} private bytes and shares {}; {} bits of storage per SM\n",
        kernel.bytes.saturating_sub(boundary),
        plan.storage_bits
    );
    if let Some([x, y, z]) = kernel.block {
        text += &format!(
            "this holds for blocks of {x} x {y} x {z} threads, which the annotated PTX requires \
             (.reqntid)\n"
        );
    }
    text
}

fn variables(plan: &Plan) -> Table {
    let part = |i| {
        if plan.layout.is_shared(i) {
            "shared"
        } else {
            "private"
        }
    };
    Columns::of(plan.kernel.variables.iter().enumerate())
        .left("variable", |(_, v)| readable(&v.name))
        .right("bytes", |(_, v)| v.bytes)
        .right("offset", |(i, _)| plan.layout.offsets[*i])
        .left("part", |(i, _)| part(*i))
        .right("accesses", |(i, _)| plan.kernel.accesses[*i])
        .table()
}

fn range(plan: &Plan) -> String {
    let kernel = plan.kernel;
    let declared = Layout::declared(&kernel.variables, plan.layout.boundary, &kernel.costs());
    let proof = match (plan.layout.optimal, plan.layout.cost <= declared.cost) {
        (true, _) => "the minimum over all layouts",
        (false, true) => "not proved to be the minimum",
        (false, false) => "",
    };
    let mut text = format!(
        "access range of the shared variables: {} of {} instructions, {proof}; {} as declared\n",
        plan.layout.cost,
        kernel.graph.exit(),
        declared.cost
    );
    if let Some(reason) = &kernel.fixed {
        text += &format!("the variables stay as they are declared: {reason}\n");
    }
    text
}

fn releases(plan: &Plan, annotated: &Annotated) -> String {
    if annotated.markers.is_empty() {
        return match (plan.layout.shared, plan.placement) {
            (_, Placement::None) => "no relssp: a block releases when it ends\n",
            _ => "no relssp: no shared variable can be accessed, a block never waits\n",
        }
        .to_owned();
    }
    let place = |m: &crate::sharing::annotate::Marker| match &m.edge {
        None => format!("line {}", m.line),
        Some([from, to]) => format!("line {} (on the way from {from} to {to})", m.line),
    };
    let places: Vec<String> = annotated.markers.iter().map(place).collect();
    format!("relssp in the annotated PTX: {}\n", places.join(", "))
}

fn doubts(plan: &Plan) -> String {
    let list = &plan.kernel.unattributed;
    if list.is_empty() {
        return String::new();
    }
    let some: Vec<String> = list
        .iter()
        .take(5)
        .map(|u| format!("line {} ({}, line {})", u.line, u.reason, u.because))
        .collect();
    let more = match list.len() - some.len() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!(
        "accesses that could touch any variable: {}{more}\n",
        some.join(", ")
    )
}

fn gain(variants: &[Gain]) -> Table {
    let part = |gain: &Gain, percent: f64| match gain.pairs {
        0 => String::new(),
        _ => format!("{percent:.1} %"),
    };
    Columns::of(variants)
        .left("variant", |v| v.variant)
        .right("resident", |v| v.resident_blocks)
        .right("cycles", |v| v.cycles)
        .right("times as fast", |v| format!("{:.3}", v.speed_up))
        .right("IPC", |v| format!("{:.3}", v.ipc))
        .right("thread IPC", |v| format!("{:.2}", v.thread_ipc))
        .right("before", |v| part(v, v.progress_pct.before))
        .right("with it", |v| part(v, v.progress_pct.holding))
        .right("after", |v| part(v, v.progress_pct.after))
        .minor(&["thread IPC", "after", "before", "with it"])
        .table()
}
