//! Figures and what was computed for them, for tests.

use super::compute::Table;
use super::figure::Figure;
use super::point::Numbers;

/// The figure that a text describes.
pub(super) fn figure(text: &str) -> Figure {
    let mut figure: Figure = toml::from_str(text).unwrap();
    figure.resolve(text);
    figure
}

/// The cycles of workloads under configurations.
pub(super) fn table(cells: &[(&str, &str, f64)]) -> Table {
    let cell = |&(workload, configuration, cycles): &(&str, &str, f64)| {
        let mut numbers = Numbers::default();
        numbers.values.insert("cycles".into(), cycles);
        ((workload.to_owned(), configuration.to_owned()), numbers)
    };
    cells.iter().map(cell).collect()
}

/// The cycles of workloads under `base`, and 100 of each under `new`.
pub(super) fn gains(base: &[(&str, f64)]) -> Table {
    let cells: Vec<_> = base
        .iter()
        .flat_map(|&(workload, cycles)| [(workload, "base", cycles), (workload, "new", 100.0)])
        .collect();
    table(&cells)
}
