//! What the chosen remedy costs: area and clock, memory, or instructions.

use super::{Number, grouped, number};
use crate::choice::{ChoiceKind, ChoiceLine};
use crate::flow_report::FlowReport;
use crate::skipped::Skipped;
use spadkit_compiler::suggest::Suggestion;

/// The number for what the chosen remedy costs.
pub(super) fn of(chosen: &ChoiceLine, report: &FlowReport) -> Number {
    match (&chosen.cost, chosen.added_per_access) {
        (Some(cost), _) => {
            let area = match cost.nand2 {
                Some(gates) => format!("{} NAND2", grouped(gates.round() as u64)),
                None => format!("{} µm²", grouped(cost.area_um2.round() as u64)),
            };
            let slack = cost.slack_ps();
            let clock = if slack < 0.0 {
                format!(
                    "clock of {} ps not met: {:.0} ps over",
                    cost.target_ps, -slack
                )
            } else {
                format!("clock of {} ps met, {slack:.0} ps left", cost.target_ps)
            };
            number("Price, per SM", &area, &format!("synthesized; {clock}"))
        }
        (None, Some(_)) if chosen.kind == ChoiceKind::Padding => {
            let bytes = format!("{} bytes", grouped(chosen.wasted_bytes.into()));
            let note = "of shared memory: longer rows, no instruction";
            number("Price", &bytes, note)
        }
        (None, Some(added)) => {
            let memory = match chosen.wasted_bytes {
                0 => "no shared memory".to_owned(),
                bytes => format!("{} bytes of shared memory", grouped(bytes.into())),
            };
            let to = format!("+{added:.2} instructions");
            let before = report.choice(ChoiceKind::Nothing).and_then(|c| c.resources);
            let change = chosen.resources.zip(before);
            let change = change.and_then(|(after, before)| after.change_from(&before));
            let change = change.map_or(String::new(), |change| format!("; {change}"));
            number(
                "Price",
                &to,
                &format!("per access, {memory}; executed{change}"),
            )
        }
        (None, None) if chosen.kind == ChoiceKind::Software => in_the_source(chosen, report),
        (None, None) => number("Price", "not measured", "no synthesis in this run"),
    }
}

/// The price of a mapping that the kernel was not run under.
fn in_the_source(chosen: &ChoiceLine, report: &FlowReport) -> Number {
    let suggestions = report.software.iter().flat_map(|s| &s.suggestions);
    let mut suggestions = suggestions.peekable();
    if suggestions.peek().is_some() && suggestions.all(Suggestion::has_longer_rows) {
        let bytes = format!("{} bytes", grouped(chosen.wasted_bytes.into()));
        return number(
            "Price",
            &bytes,
            "of shared memory: longer rows, no instruction",
        );
    }
    let why = if report.skipped.iter().any(Skipped::is_of_rewriting) {
        "not put into the PTX: the reason is in what was left out"
    } else {
        "not put into the kernel: no launch file"
    };
    number("Price", "index arithmetic", why)
}
