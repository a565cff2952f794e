//! The composition as text and as a chart.

use super::super::number::number;
use super::{Composed, Subset, idle};
use spadkit_report::draw::{Choice, pareto};

/// A table per kernel, below its sentence.
pub fn markdown(kernels: &[Composed], chart: &str) -> String {
    let mut text = format!(
        "The baseline and all subsets have the same scheduler. *µm²*: the area that the mechanisms \
         add. *ps*: the period of the slowest stage of the subset. *µs*: cycles times period. \
         *Speed-up*: of that time, against *none*. \\*: no smaller subset is as fast. A kernel's \
         table leaves out subsets with a mechanism that does nothing for it.\n\n\
         ![Speed-up over area]({chart})\n"
    );
    for kernel in kernels {
        text += &of_kernel(kernel);
    }
    text
}

fn of_kernel(kernel: &Composed) -> String {
    let subsets = &kernel.composition.results;
    let idle = idle(subsets);
    let mut text = format!(
        "\n**{}**\n\n\
         | subset | cycles | conflicts | stalls | µm² | ps | µs | speed-up | |\n\
         |---|---|---|---|---|---|---|---|---|\n",
        kernel.composition.sentence
    );
    let shown = subsets.iter().filter(|s| !idle.iter().any(|m| s.has(m)));
    for subset in shown {
        let numbers = [
            subset.cycles,
            subset.bank_conflicts,
            subset.stalls,
            subset.area_um2,
            subset.clock_ps,
            subset.time_ns / 1000.0,
            subset.speed_up,
        ];
        let numbers = numbers.map(number).join(" | ");
        let front = if subset.front { "*" } else { "" };
        text += &format!("| {} | {numbers} | {front} |\n", subset.name);
    }
    text
}

/// Speed-up over area, a panel per kernel.
pub fn chart(kernels: &[Composed]) -> String {
    let choice = |s: &Subset| Choice {
        name: s.name.clone(),
        area: s.area_um2,
        speed: s.speed_up,
        front: s.front,
    };
    let panel = |k: &Composed| {
        let subsets = k.composition.results.iter();
        (k.kernel.clone(), subsets.map(choice).collect())
    };
    let panels: Vec<(String, Vec<Choice>)> = kernels.iter().map(panel).collect();
    pareto(
        "All mechanisms on one SM: speed-up over area",
        ("µm² added", "speed-up"),
        &panels,
    )
}
