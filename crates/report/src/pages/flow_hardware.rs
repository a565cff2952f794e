//! The parts of the report that are folded: hardware, access sites, what was
//! not checked, how to repeat it.

use super::flow_view::clock;
use crate::choice::ChoiceKind;
use crate::flow_report::{FlowReport, InstructionLine};
use crate::since::{Change, Since};
use crate::source_page::PatternPart;
use crate::verdict::grouped;
use serde_json::{Value, json};

/// One row per unit of the whole SM, with slack against the target.
pub(super) fn units(report: &FlowReport) -> Value {
    let totals = report.synthesis["per_sm"].as_array();
    let row = |t: &Value| {
        let number = |key: &str| t[key].as_f64();
        let text = |key: &str| number(key).map(|n| grouped(n.round() as u64));
        let target = number("power_period_ps").unwrap_or(0.0) as u32;
        let slack = number("delay_ps").map(|d| f64::from(target) - d);
        let unit = t["unit"].as_str().unwrap_or_default();
        let cosim = report.cosim.iter().find(|c| c.unit == unit);
        json!({
            "unit": unit,
            "one": number("unit_area_um2").map(two_places),
            "registers": text("config_area_um2"),
            "area": text("area_um2"),
            "nand2": text("nand2_equivalents"),
            "delay": text("delay_ps"),
            "clock": slack.map(|s| clock(s, target)),
            "met": slack.is_some_and(|s| s >= 0.0),
            "power": number("power_mw").map(two_places),
            "checked": cosim.map(|c| match c.mismatches {
                0 => format!("{} checks equal", grouped(c.checks)),
                n => format!("{} of {} checks differ", grouped(n), grouped(c.checks)),
            }),
        })
    };
    json!(totals.into_iter().flatten().map(row).collect::<Vec<_>>())
}

/// A number with two decimals, or none if it is whole.
fn two_places(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The cells that were measured with, in a sentence.
pub(super) fn technology(report: &FlowReport) -> Option<String> {
    let s = &report.synthesis;
    let tech = s["tech"].as_str()?;
    let gate = s["technology"]["nand2_um2"].as_f64();
    let gate = gate.map_or(String::new(), |g| {
        format!(", a NAND2 of {} µm²", two_places(g))
    });
    let effort = s["effort"].as_str().unwrap_or_default();
    Some(format!(
        "Cells of {tech}{gate}, effort {effort}. Area is that of all lanes and the shared registers of one SM. \
         The delay is that of one unit from input to output; power is at the target period."
    ))
}

/// One row for each access site.
pub(super) fn sites(report: &FlowReport) -> Value {
    let row = |i: &InstructionLine| {
        let ptx = i.ptx_line.map(|line| match &i.ptx_file {
            Some(file) => format!("{file}:{line}"),
            None => line.to_string(),
        });
        json!({
            "pc": i.pc,
            "ptx": ptx,
            "source": i.source.as_deref().map(spadkit_mapping::trace::without_folder),
            "op": i.op,
            "accesses": grouped(i.accesses),
            "class": i.class,
            "pattern": i.pattern,
            "parts": i.parts.iter().map(part).collect::<Vec<_>>(),
            "wavefronts": grouped(i.wavefronts),
            "ideal": grouped(i.ideal_wavefronts),
            "conflicts": grouped(i.conflicts),
            "after": grouped(i.conflicts_after),
        })
    };
    json!(report.instructions.iter().map(row).collect::<Vec<_>>())
}

/// A part of a site, between two changes of its pattern.
fn part(part: &PatternPart) -> Value {
    json!({
        "when": part.when(),
        "accesses": grouped(part.accesses),
        "pattern": part.pattern,
        "wavefronts": grouped(part.wavefronts),
        "ideal": grouped(part.ideal_wavefronts),
        "conflicts": grouped(part.conflicts),
    })
}

/// Every mapping that was counted.
pub(super) fn mappings(report: &FlowReport) -> Value {
    let row = |m: &crate::flow_report::MappingLine| {
        json!({
            "hash": m.hash,
            "method": m.method,
            "conflicts": grouped(m.conflicts),
            "max_degree": m.max_degree,
            "removed": spadkit_mapping::trace::removed_text(report.conflicts(), m.conflicts),
            "optimal": match m.optimal {
                None => "",
                Some(true) => "proved",
                Some(false) => "not proved",
            },
            "recommended": m.recommended,
        })
    };
    json!(report.mappings.iter().map(row).collect::<Vec<_>>())
}

/// The checks: what was executed, proved, simulated, and left out.
pub(super) fn checks(report: &FlowReport) -> Value {
    let mut all = vec![json!({
        "tag": "executed", "good": true,
        "text": format!("{} warp accesses of block 0 were counted.", grouped(report.kernel.accesses)),
    })];
    let software = report.choice(ChoiceKind::Software);
    if let Some(software) = software.filter(|c| c.added_per_access.is_some()) {
        all.push(json!({
            "tag": "executed", "good": true,
            "text": format!("The kernel rewritten with {} leaves the same bits in all buffers.", software.hash),
        }));
    }
    for choice in report.choices.iter().filter(|c| !c.proof.is_empty()) {
        let proved = choice.proof.iter().filter(|p| p.contains("proved"));
        all.extend(proved.map(|p| {
            json!({
                "tag": "proved", "good": true, "text": format!("{}: {p}.", choice.hash),
            })
        }));
    }
    if !report.cosim.is_empty() {
        let cycles: u64 = report.cosim.iter().map(|c| c.cycles).sum();
        let wrong: u64 = report.cosim.iter().map(|c| c.mismatches).sum();
        all.push(json!({
            "tag": "co-simulated", "good": wrong == 0,
            "text": format!(
                "{} units of the emitted Verilog ran for {} cycles in lockstep with the golden model: {} mismatches.",
                report.cosim.len(), grouped(cycles), grouped(wrong)
            ),
        }));
    }
    let times = report
        .model
        .iter()
        .map(|m| json!({"tag": "simulated", "good": true, "text": m}));
    all.extend(times);
    all.extend(
        report
            .measured
            .iter()
            .map(|m| json!({"tag": "measured", "good": true, "text": m})),
    );
    let not = report
        .skipped
        .iter()
        .map(|s| json!({"tag": "not run", "good": false, "text": s}));
    all.extend(not);
    json!(all)
}

/// The differences from an earlier run.
pub(super) fn since(since: Option<&Since>) -> Value {
    let Some(since) = since else {
        return Value::Null;
    };
    let number = |n: Option<f64>| n.map_or("none".to_owned(), |n| grouped(n.round() as u64));
    let row = |c: &Change| {
        let worse = c.now.unwrap_or(0.0) > c.before.unwrap_or(0.0);
        json!({"what": c.what, "before": number(c.before), "now": number(c.now), "worse": worse})
    };
    let rows = since.numbers.iter().chain(&since.lines).map(row);
    json!({
        "file": since.file,
        "machine": since.machine,
        "rows": rows.collect::<Vec<_>>(),
        "nothing": since.is_empty(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_once() {
        assert_eq!(
            (two_places(51.333_333), two_places(51.0), two_places(0.5)),
            ("51.33".into(), "51".into(), "0.5".into())
        );
    }
}
