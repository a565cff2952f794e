//! Cycles as bars that add up, for `bars.html.tera`.

use crate::choice::CycleParts;
use crate::verdict::grouped;
use serde_json::{Value, json};

/// A run: its name, whether it stands out, its cycles, and how many times as
/// fast as the first it is.
pub(super) type Run = (String, bool, CycleParts, Option<f64>);

/// A bar for each run, to one scale.
pub(super) fn bars(runs: impl Iterator<Item = Run>) -> Value {
    let runs: Vec<Run> = runs.collect();
    let most = runs.iter().map(|run| run.2.total).max().unwrap_or(1).max(1);
    let bar = |(name, chosen, cycles, speed_up): &Run| {
        let parts = cycles.list().into_iter().filter(|part| part.2 >= 0.5);
        let part = parts.map(|(name, class, cycles)| {
            let percent = 100.0 * cycles / most as f64;
            json!({
                "name": name,
                "class": class,
                "cycles": grouped(cycles.round() as u64),
                "percent": format!("{percent:.3}"),
                "label": percent >= 7.0,
            })
        });
        json!({
            "name": name,
            "chosen": chosen,
            "total": grouped(cycles.total),
            "speed_up": speed_up.map(|s| format!("{s:.3}")),
            "parts": part.collect::<Vec<_>>(),
        })
    };
    json!(runs.iter().map(bar).collect::<Vec<_>>())
}

/// The legend of the colours.
pub(super) fn key() -> Value {
    let parts = CycleParts::default().list();
    json!(parts.map(|p| json!({"name": p.0, "class": p.1})))
}
