//! The cells of a library.

use super::function::truth_table;
use super::syntax::Group;

/// The way that a signal goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into the cell.
    Input,
    /// Out of the cell.
    Output,
    /// Both, or inside.
    Other,
}

/// A pin of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// Name of the pin.
    pub name: String,
    /// Direction of the pin.
    pub direction: Direction,
    /// Input capacitance in fF.
    pub capacitance_ff: f64,
    /// The boolean function of an output.
    pub function: Option<String>,
}

/// A cell of a library.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Name of the cell.
    pub name: String,
    /// Area in µm².
    pub area_um2: f64,
    /// Signal pins of the cell.
    pub pins: Vec<Pin>,
    /// Whether it is a flip-flop.
    pub flop: bool,
    /// Whether it is a flip-flop, latch or other cell with state.
    pub sequential: bool,
    /// Whether the library asks not to use it.
    pub dont_use: bool,
}

impl Cell {
    /// Reads a `cell` group; `None` if it has no area in numbers.
    pub(super) fn read(group: &Group<'_>, ff_per_unit: f64) -> Option<Self> {
        let area = group.get("area").unwrap_or("0").parse::<f64>().ok()?;
        let has = |names: &[&str]| group.groups.iter().any(|g| names.contains(&g.name));
        Some(Cell {
            name: group.label().to_owned(),
            area_um2: area,
            pins: group
                .groups("pin")
                .map(|p| Pin::read(p, ff_per_unit))
                .collect(),
            flop: has(&["ff", "ff_bank"]),
            sequential: has(&["ff", "ff_bank", "latch", "latch_bank", "statetable"]),
            dont_use: group.get("dont_use") == Some("true"),
        })
    }

    /// Truth table of the only output over the inputs in their order, with
    /// the number of inputs; `None` for other cells.
    pub fn truth_table(&self) -> Option<(usize, u64)> {
        let of = |direction| self.pins.iter().filter(move |p| p.direction == direction);
        let inputs: Vec<&str> = of(Direction::Input).map(|p| p.name.as_str()).collect();
        let mut outputs = of(Direction::Output);
        let (output, more) = (outputs.next()?, outputs.next());
        if self.sequential || more.is_some() {
            return None;
        }
        let table = truth_table(output.function.as_deref()?, &inputs)?;
        Some((inputs.len(), table))
    }

    /// The largest input capacitance in fF.
    pub fn input_capacitance_ff(&self) -> f64 {
        let inputs = self.pins.iter().filter(|p| p.direction == Direction::Input);
        inputs.map(|p| p.capacitance_ff).fold(0.0, f64::max)
    }
}

impl Pin {
    fn read(group: &Group<'_>, ff_per_unit: f64) -> Self {
        let capacitance = group.get("capacitance").and_then(|c| c.parse::<f64>().ok());
        let three_state = group.get("three_state").is_some();
        Pin {
            name: group.label().to_owned(),
            direction: match group.get("direction") {
                Some("input") => Direction::Input,
                Some("output") => Direction::Output,
                _ => Direction::Other,
            },
            capacitance_ff: capacitance.unwrap_or(0.0) * ff_per_unit,
            // A three-state output is not the plain function it names.
            function: group
                .get("function")
                .filter(|_| !three_state)
                .map(str::to_owned),
        }
    }
}
