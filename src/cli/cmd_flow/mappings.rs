//! The mappings as `flow` shows them: the answer, the table, the configuration.

use crate::cli::changes;
use crate::readable::{counted, readable_words};
use crate::report::{
    DeclaredLine, FlowReport, MappingLine, Software, SoftwareLine, removal, that_keeps_vectors,
};
use crate::rewrite::Resources;
use crate::terminal::{Columns, Details, Table, Tone};
use crate::trace::removed_text;

/// The gain of the best mapping, in a sentence: the fastest one if cycles are
/// known, else the one with the fewest conflicts.
pub(super) fn answer(report: &FlowReport, of: &str) -> String {
    let all = report.mappings.first().map_or(0, |m| m.conflicts);
    let name = format!("{}{of}", readable_words(&report.kernel.name));
    let of_software = report.software.as_ref().and_then(|s| {
        let timed = report.worth.as_ref().map(|w| &w.after.hash);
        let timed = s.front.iter().find(|line| Some(&line.hash) == timed);
        let best = timed.or(s.front.iter().min_by_key(|line| line.conflicts))?;
        Some((best.hash.clone(), best.conflicts))
    });
    let of_hardware = report.recommended().map(|m| (m.hash.clone(), m.conflicts));
    let best = if report.hash_unit {
        of_hardware
    } else {
        of_software.or(of_hardware)
    };
    let slower = match &report.worth {
        Some(worth) if worth.speed_up < 1.0 => format!(
            ", but in simulation the kernel is slower with it: {:.3} times as fast",
            worth.speed_up
        ),
        Some(worth) if worth.after.cycles == worth.before.cycles => {
            ", but in simulation the kernel takes as many cycles without it".to_owned()
        }
        _ => String::new(),
    };
    if all == 0 {
        return format!("{name} has no bank conflicts.");
    }
    if let Some(software) = &report.software
        && let Some((declared, speed_up)) = software.fastest_is_declared()
        && let Some(removes) = removal(declared.conflicts, all)
    {
        return format!(
            "{} in the declaration {removes} of {name}: {speed_up:.3} times as fast, without an \
             instruction more.",
            declared.hash
        );
    }
    let in_order = report.software.as_ref().and_then(|s| s.in_order.as_ref());
    let in_order = in_order.map_or(String::new(), |text| format!(" {text}"));
    let removes = best.and_then(|(hash, left)| Some(format!("{hash} {}", removal(left, all)?)));
    let answer = match removes {
        Some(removes) => format!("{removes} of {name}{slower}."),
        None => no_mapping(report, &format!("{} of {name}", counted(all, "conflict"))),
    };
    answer + &in_order
}

/// The answer where no mapping in software gains: what else does.
fn no_mapping(report: &FlowReport, all: &str) -> String {
    let software = report.software.as_ref();
    let kind = if report.hash_unit {
        "No mapping".to_owned()
    } else if software.is_some_and(|s| s.nothing_to_rewrite().is_some()) {
        "No mapping put into the PTX".to_owned()
    } else {
        let vectors = software.and_then(|s| s.vector_bytes);
        format!("No mapping in software{}", that_keeps_vectors(vectors))
    };
    let mut text = format!("{kind} leaves fewer than the {all}.");
    let changes = report.software.iter().flat_map(|s| &s.suggestions);
    for s in changes.filter(|s| s.parted.is_some()) {
        let (hash, parts, left) = (&s.hash, s.parts_text(), s.conflicts);
        text += &format!(" {hash}{parts} leaves {left}, by the change of the source below.");
    }
    text
}

/// `doubt`: why changes of the source are not judged by the machine code.
pub(super) fn details_of_mappings(report: &FlowReport, doubt: Option<String>) -> Details {
    let baseline = report.mappings.first().map_or(0, |m| m.conflicts);
    let mappings = Columns::of(&report.mappings)
        .left("mapping", |m| {
            format!("{}{}", if m.recommended { "* " } else { "" }, m.hash)
        })
        .left("search", |m| &m.method)
        .right("conflicts", |m| m.conflicts)
        .right("max degree", |m| m.max_degree)
        .right("wavefronts", |m| m.wavefronts)
        .right("ideal", |m| m.ideal_wavefronts)
        .right("removed", |m| removed_text(baseline, m.conflicts))
        .left("optimal", |m| match m.optimal {
            None => "",
            Some(true) => "proved",
            Some(false) => "not proved",
        })
        .minor(&["ideal", "search", "wavefronts", "max degree"])
        .table();
    let no_unit = if report.hash_unit {
        ""
    } else {
        ", if the machine had it"
    };
    let mut details = Details::new();
    details.say(format!(
        "{} on {}",
        readable_words(&report.kernel.name),
        report.machine_text
    ));
    if !report.advice.is_empty() {
        let machine = &report.machine;
        details.say(format!(
            "{machine} has no hash unit: change the kernel's indices"
        ));
    }
    details.say(report.worth_text());
    // A terminal groups no digits, neither here nor in its tables.
    let merged = report.merged_by_ptxas().unwrap_or_default();
    details.toned(Tone::Doubt, merged.replace('\u{202f}', ""));
    if let Some(software) = &report.software {
        details.add(software_details(software, doubt));
    }
    details.gap();
    details.table(mappings);
    details.note(format!(
        "* the smallest unit with the fewest conflicts{no_unit}"
    ));
    details.note(format!("conflicts by: {}", report.rule_text));
    details.say(format!("hash stage: {}", report.hash_stage));
    if let Some(mapping) = report.recommended() {
        details.add(configuration(mapping));
    }
    details.gap();
    details
}

/// The mappings in software, and what to type.
fn software_details(software: &Software, doubt: Option<String>) -> Details {
    let run = if software.cycles.is_some() {
        ", put into the kernel and run (sim)"
    } else {
        ""
    };
    let mut details = Details::new();
    details.heading(format!("mappings in software{run}:"));
    details.table(software_table(software));
    details.note(best_note(software));
    details.add(changes::details(&software.suggestions, false));
    let is_rewritten = |line: &SoftwareLine| line.rewritten.is_some();
    let rewrites = software.front.iter().any(is_rewritten);
    details.add(changes::left_alone(&software.left_alone, |_| rewrites));
    details.note(doubt.unwrap_or_default());
    details.heading("hash units, if the machine had them:");
    details
}

/// The cycles of a mapping in software, where they are known.
fn cycles(software: &Software, line: &SoftwareLine) -> Option<u64> {
    match &line.rewritten {
        _ if line.is_plain() => software.cycles,
        rewritten => rewritten.as_ref().and_then(|r| r.cycles),
    }
}

/// A row of the table of mappings in software.
struct Row {
    name: String,
    is_best: bool,
    conflicts: u64,
    wavefronts: u64,
    operations: usize,
    wasted_bytes: u32,
    /// Instructions added per access.
    added: Option<f64>,
    resources: Option<Resources>,
    cycles: Option<u64>,
}

/// The mappings put into the kernel, then the longer rows in the declarations.
fn rows(software: &Software) -> Vec<Row> {
    let fastest_is_declared = software.fastest_is_declared().is_some();
    let mapping = |line: &SoftwareLine| Row {
        name: line.hash.clone(),
        is_best: !fastest_is_declared && software.best.as_ref() == Some(&line.hash),
        conflicts: line.conflicts,
        wavefronts: line.wavefronts,
        operations: line.added_per_access,
        wasted_bytes: line.wasted_bytes,
        added: line.rewritten.as_ref().and_then(|r| r.added_per_access),
        resources: line.resources,
        cycles: cycles(software, line),
    };
    let declared = |line: &DeclaredLine| Row {
        name: format!("{} in the declaration", line.hash),
        is_best: fastest_is_declared,
        conflicts: line.conflicts,
        wavefronts: line.wavefronts,
        operations: 0,
        wasted_bytes: line.wasted_bytes,
        added: Some(0.0),
        resources: line.resources,
        cycles: line.cycles,
    };
    let front = software.front.iter().map(mapping);
    front
        .chain(software.declared.iter().map(declared))
        .collect()
}

fn software_table(software: &Software) -> Table {
    let shown = |n: Option<u64>| n.map_or(String::new(), |n| n.to_string());
    let rows = rows(software);
    let mut table = Columns::of(&rows)
        .left("mapping", |row| {
            format!("{}{}", if row.is_best { "* " } else { "" }, row.name)
        })
        .right("conflicts", |row| row.conflicts)
        .right("wavefronts", |row| row.wavefronts)
        .right("operations", |row| row.operations)
        .right("wasted bytes", |row| row.wasted_bytes)
        .right("instr/access", |row| {
            row.added.map_or(String::new(), |n| format!("{n:.2}"))
        });
    if software.assembler.is_some() {
        let used = |row: &Row| row.resources.and_then(|r| r.assembled);
        table = table
            .right("registers", |r| shown(used(r).map(|a| a.registers.into())))
            .right("instructions", |r| shown(used(r).map(|a| a.instructions)));
    }
    let blocks = |row: &Row| row.resources.and_then(|r| r.occupancy);
    table
        .right("blocks", |r| shown(blocks(r).map(|o| o.blocks.into())))
        .right("cycles", |r| shown(r.cycles))
        .minor(&[
            "instructions",
            "wavefronts",
            "registers",
            "operations",
            "blocks",
        ])
        .table()
}

/// The meaning of the mark in the table, or why no line has one.
fn best_note(software: &Software) -> String {
    let mut mapped = software.front.iter().filter(|l| !l.is_plain()).peekable();
    let was_run = mapped.peek().is_none() || mapped.any(|l| cycles(software, l).is_some());
    let mut timed = software.front.iter().filter_map(|l| cycles(software, l));
    let gains = timed.any(|c| Some(c) < software.cycles);
    if software.fastest_is_declared().is_some() {
        return "* the fewest cycles, simulated with the accesses at their new addresses; the \
                changed source was not compiled"
            .to_owned();
    }
    match (&software.ptx, software.dynamic_shared) {
        (Some(_), Some(bytes)) => {
            format!("* the fewest cycles; launch it with {bytes} bytes of dynamic shared memory")
        }
        (Some(_), None) => "* the fewest cycles".to_owned(),
        (None, _) if software.nothing_to_rewrite().is_some() => {
            "by the machine code none gains when it is put into the PTX".to_owned()
        }
        (None, _) if software.cycles.is_some() && !was_run => {
            "none can be put into the PTX, which is why no cycles are known".to_owned()
        }
        // The run was interrupted before the fastest was written.
        (None, _) if gains => String::new(),
        (None, _) if software.cycles.is_some() => {
            let unknown = software
                .declared
                .as_ref()
                .is_some_and(|d| d.cycles.is_none());
            let simulated = if unknown { " that was simulated" } else { "" };
            format!("no mapping{simulated} takes fewer cycles than the kernel as it is")
        }
        (None, _) => String::new(),
    }
}

/// Everything that the recommended mapping's hardware is set to.
fn configuration(mapping: &MappingLine) -> Details {
    let bank = mapping.bank();
    let settings = [&bank, &mapping.row_map].into_iter().chain(&mapping.path);
    let rows = settings.flat_map(|setting| {
        let ports = setting.ports.iter();
        let ports = ports.map(|(n, v)| vec![setting.unit.clone(), n.clone(), v.clone()]);
        let writes = setting.config_unit.iter().map(|config| {
            let data = setting.registers.join(" ");
            vec![config.clone(), "wr_data 0, 1, ...".to_owned(), data]
        });
        ports.chain(writes).collect::<Vec<_>>()
    });
    let of_path = mapping.path.as_ref().map_or(String::new(), |path| {
        format!(
            ", and of the bank unit in the machine's path ({})",
            path.unit
        )
    });
    let mut details = Details::new();
    details.heading(format!(
        "configuration of {}, bank and row{of_path}:",
        mapping.hash
    ));
    details.table(Table::new(&["unit", "port", "value"], rows));
    details
}
