//! The tables of the commands `synth` and `flow`.

use crate::synth::{Published, SmTotal, SynthReport, Synthesis, UnitResult};
use crate::terminal::{Columns, Details, Table};

/// The table of whole SMs, with the technology.
pub(super) fn totals_of(synthesis: &Synthesis) -> Details {
    let mut details = Details::new();
    details.note(technology(&synthesis.report));
    add_totals(&synthesis.per_sm, &mut details);
    details
}

/// The smallest and the fastest unit.
pub(super) fn answer(synthesis: &Synthesis) -> String {
    let report = &synthesis.report;
    let best: Vec<&UnitResult> = (report.units().into_iter())
        .filter_map(|unit| report.best(unit))
        .collect();
    let text = |r: &UnitResult| {
        let period = r.rated_ps.unwrap_or(r.delay_ps);
        let nand2 = match r.nand2_equivalents {
            Some(n) => format!("{n:.0} NAND2"),
            None => format!("{:.0} µm²", r.area_um2),
        };
        format!("{}: {nand2}, {period:.0} ps", r.unit)
    };
    let smallest = best.iter().min_by(|a, b| a.area_um2.total_cmp(&b.area_um2));
    match (smallest, best.len()) {
        (None, _) => "Nothing was measured.".to_owned(),
        (Some(one), 1) => format!("{} ({}).", text(one), report.technology.name),
        (Some(smallest), n) => format!(
            "The smallest of {n} units is {} ({}).",
            text(smallest),
            report.technology.name
        ),
    }
}

/// All tables.
pub(super) fn all(synthesis: &Synthesis) -> Details {
    let mut details = Details::new();
    details.note(technology(&synthesis.report));
    details.gap();
    details.table(points(&synthesis.report));
    details.note(
        "* least area x delay of the unit, by OpenSTA's period (clock-to-output and set-up \
         included) if it has a clock, otherwise by ABC's delay. Power over the target periods. \
         STA ps: with the library's wire load, if it has one; no wires: without it, as ABC ps is. \
         40 nm: latencies published in the hash paper, Fig. 4",
    );
    details.gap();
    add_totals(&synthesis.per_sm, &mut details);
    details
}

/// A line about the library and the tools.
fn technology(report: &SynthReport) -> String {
    let technology = &report.technology;
    let tools = report.tools.iter().map(|(t, v)| format!("{t} {v}"));
    let known = |value: Option<f64>, unit: &str| match value {
        Some(value) => format!("{value:.2} {unit}"),
        None => "unknown".to_owned(),
    };
    format!(
        "{}, effort {}: inputs driven by {}, outputs loaded with {} fF, NAND2 {}, FO4 {}, wire load {}; {}",
        technology.name,
        report.effort,
        technology.driving_cell,
        technology.load_ff,
        known(technology.nand2_um2, "µm²"),
        known(technology.fo4_ps, "ps"),
        technology.wire_load.as_deref().unwrap_or("none"),
        tools.collect::<Vec<_>>().join(", "),
    )
}

/// A row per unit and netlist; targets that ended in the same netlist share
/// a row. The best of a unit is marked.
fn points(report: &SynthReport) -> Table {
    let header = [
        "unit",
        "target ps",
        "cells",
        "flops",
        "RAM bits",
        "area µm²",
        "NAND2",
        "ABC ps",
        "FO4",
        "STA ps",
        "no wires",
        "power mW",
        "40 nm ps",
    ];
    let rows = same_netlist(&report.results);
    let rows = rows.into_iter().map(|targets| cells(report, targets));
    let minor = [
        "no wires",
        "FO4",
        "RAM bits",
        "cells",
        "area µm²",
        "power mW",
        "40 nm ps",
    ];
    Table::new(&header, rows).right(&header[1..]).minor(&minor)
}

/// The row of targets that ended in the same netlist.
fn cells(report: &SynthReport, targets: &[UnitResult]) -> Vec<String> {
    let (first, last) = (&targets[0], &targets[targets.len() - 1]);
    let best = report.best(&first.unit);
    let best = targets
        .iter()
        .any(|r| best.is_some_and(|b| std::ptr::eq(b, r)));
    // The mark is on the figure that the unit is rated by.
    let by_sta = first.rated_ps.is_some() && first.rated_ps == first.sta_delay_ps;
    let star = |here: bool| if best && here { "* " } else { "" }.to_owned();
    let published = |r: &UnitResult| {
        let latency = Published::of(&r.unit)?.latency_at(r.period_ps)?;
        Some(latency.to_string())
    };
    let published: Vec<String> = targets.iter().filter_map(published).collect();
    vec![
        first.unit.clone(),
        range(first.period_ps.to_string(), last.period_ps.to_string()),
        first.cells.to_string(),
        first.flops.to_string(),
        match first.memory_bits {
            0 => String::new(),
            bits => bits.to_string(),
        },
        format!("{:.1}", first.area_um2),
        number(first.nand2_equivalents, 0),
        star(!by_sta) + &format!("{:.1}", first.delay_ps),
        number(first.delay_fo4, 1),
        star(by_sta) + &number(first.sta_delay_ps, 1),
        number(first.sta_delay_no_wires_ps, 1),
        range(number(first.power_mw, 4), number(last.power_mw, 4)),
        match &published[..] {
            [] => String::new(),
            [first, .., last] => range(first.clone(), last.clone()),
            [only] => only.clone(),
        },
    ]
}

/// Runs of results of one unit with the same netlist.
fn same_netlist(results: &[UnitResult]) -> Vec<&[UnitResult]> {
    let same = |a: &UnitResult, b: &UnitResult| {
        let key = |r: &UnitResult| (r.area_um2, r.delay_ps);
        a.unit == b.unit && a.cells_by_type == b.cells_by_type && key(a) == key(b)
    };
    results.chunk_by(same).collect()
}

fn range(first: String, last: String) -> String {
    if first == last {
        first
    } else {
        format!("{first} .. {last}")
    }
}

/// A row per unit with configuration registers, next to the published area.
fn add_totals(per_sm: &[SmTotal], details: &mut Details) {
    let Some(period) = per_sm.first().map(|t| t.power_period_ps) else {
        return;
    };
    let published = |t: &SmTotal| {
        let unit = Published::of(&t.unit);
        unit.map(|p| p.area_um2() * f64::from(t.lanes))
    };
    let table = Columns::of(per_sm)
        .left("per SM", |t| &t.unit)
        .right("lanes", |t| t.lanes)
        .right("unit µm²", |t| format!("{:.1}", t.unit_area_um2))
        .right("registers µm²", |t| format!("{:.1}", t.config_area_um2))
        .right("total µm²", |t| format!("{:.0}", t.area_um2))
        .right("NAND2", |t| number(t.nand2_equivalents, 0))
        .right("power mW", |t| number(t.power_mw, 3))
        .right("40 nm µm²", |t| number(published(t), 0))
        .minor(&["unit µm²", "registers µm²", "lanes", "40 nm µm²"])
        .table();
    details.table(table);
    details.note(format!(
        "Power of all lanes at a period of {period} ps. 40 nm: lanes times the area of one unit in \
         the hash paper, Table 4, without registers"
    ));
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or(String::new(), |v| format!("{v:.digits$}"))
}
