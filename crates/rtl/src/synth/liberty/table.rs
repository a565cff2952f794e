//! Lookup tables of delay and slew, and the FO4 delay they give.

use super::syntax::Group;

/// Values over input slew and output load, in the library's units.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    slews: Vec<f64>,
    loads: Vec<f64>,
    /// One row per slew.
    values: Vec<Vec<f64>>,
}

/// Delays and output slews of an inverter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InverterArc {
    rise: (Table, Table),
    fall: (Table, Table),
}

impl InverterArc {
    /// Reads the `timing` group of an inverter; `None` if it has not all
    /// four tables in a form that we know.
    pub fn read(timing: &Group<'_>, library: &Group<'_>) -> Option<Self> {
        let table = |name| Table::read(timing.groups(name).next()?, library);
        Some(InverterArc {
            rise: (table("cell_rise")?, table("rise_transition")?),
            fall: (table("cell_fall")?, table("fall_transition")?),
        })
    }

    /// Mean delay of an edge in an endless chain of inverters, each of which
    /// drives `load`: the slew that comes in is the slew that goes out.
    pub fn chain_delay(&self, load: f64) -> f64 {
        let mut slew = self.rise.1.slews[0];
        let mut delay = 0.0;
        // The slew settles within a few stages.
        for _ in 0..50 {
            let falling = self.fall.0.at(slew, load);
            let slew_between = self.fall.1.at(slew, load);
            let rising = self.rise.0.at(slew_between, load);
            slew = self.rise.1.at(slew_between, load);
            delay = (falling + rising) / 2.0;
        }
        delay
    }
}

impl Table {
    fn read(group: &Group<'_>, library: &Group<'_>) -> Option<Self> {
        let template = library
            .groups("lu_table_template")
            .find(|t| t.label() == group.label())?;
        let index = |name| {
            let own = group.get_complex(name);
            own.or_else(|| template.get_complex(name)).map(numbers)
        };
        let (first, second) = (index("index_1")??, index("index_2")??);
        let values = group.get_complex("values")?;
        let flat = numbers(values)?;
        let sizes_fit = flat.len() == first.len() * second.len();
        let sorted = |v: &[f64]| v.is_sorted() && !v.is_empty();
        if !sizes_fit || !sorted(&first) || !sorted(&second) {
            return None;
        }
        let rows: Vec<Vec<f64>> = flat.chunks(second.len()).map(<[f64]>::to_vec).collect();
        let load_first = match (template.get("variable_1")?, template.get("variable_2")?) {
            ("total_output_net_capacitance", "input_net_transition") => true,
            ("input_net_transition", "total_output_net_capacitance") => false,
            _ => return None,
        };
        Some(if load_first {
            Table {
                values: transposed(&rows, second.len()),
                slews: second,
                loads: first,
            }
        } else {
            Table {
                slews: first,
                loads: second,
                values: rows,
            }
        })
    }

    /// Bilinear interpolation, linear beyond the ends, as timing tools do.
    fn at(&self, slew: f64, load: f64) -> f64 {
        let (i, x) = place(&self.slews, slew);
        let (j, y) = place(&self.loads, load);
        let next = |i: usize, n: usize| (i + 1).min(n - 1);
        let (i1, j1) = (next(i, self.slews.len()), next(j, self.loads.len()));
        let along = |row: &[f64]| row[j] + (row[j1] - row[j]) * y;
        let (low, high) = (along(&self.values[i]), along(&self.values[i1]));
        low + (high - low) * x
    }
}

/// The interval of `axis` that `value` is in, or the nearest one, and how
/// far along it.
fn place(axis: &[f64], value: f64) -> (usize, f64) {
    let last = axis.len().saturating_sub(2);
    let i = axis
        .partition_point(|&a| a <= value)
        .saturating_sub(1)
        .min(last);
    match axis.get(i + 1) {
        Some(next) if next > &axis[i] => (i, (value - axis[i]) / (next - axis[i])),
        _ => (i, 0.0),
    }
}

fn transposed(rows: &[Vec<f64>], columns: usize) -> Vec<Vec<f64>> {
    (0..columns)
        .map(|c| rows.iter().map(|r| r[c]).collect())
        .collect()
}

/// All numbers of a list of quoted number lists.
fn numbers(lists: &[&str]) -> Option<Vec<f64>> {
    let separator = |c: char| c == ',' || c == '\\' || c.is_whitespace();
    lists
        .iter()
        .flat_map(|l| l.split(separator))
        .filter(|w| !w.is_empty())
        .map(|w| w.parse().ok().filter(|v: &f64| v.is_finite()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            slews: vec![0.0, 1.0],
            loads: vec![0.0, 2.0, 4.0],
            values: vec![vec![0.0, 2.0, 4.0], vec![10.0, 12.0, 20.0]],
        }
    }

    #[test]
    fn interpolates_and_goes_on_beyond_the_ends() {
        let t = table();
        assert_eq!(t.at(0.0, 1.0), 1.0);
        assert_eq!(t.at(0.5, 2.0), 7.0);
        assert_eq!(t.at(0.0, 6.0), 6.0);
        assert_eq!(t.at(2.0, 0.0), 20.0);
        let single = Table {
            slews: vec![1.0],
            loads: vec![1.0],
            values: vec![vec![3.0]],
        };
        assert_eq!(single.at(5.0, 5.0), 3.0);
    }

    #[test]
    fn numbers_are_separated_by_commas_or_blanks() {
        assert_eq!(
            numbers(&["1, 2", "\\\n 3 4e1"]).unwrap(),
            [1.0, 2.0, 3.0, 40.0]
        );
        assert!(numbers(&["1, x"]).is_none());
        assert!(numbers(&["nan"]).is_none());
    }
}
