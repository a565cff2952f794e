//! Every bit of a signal has one driver. Loops are run through for it, with the
//! parameters of the module at their defaults and one above.

use crate::item::Loop;
use crate::number::{Number, Values};
use crate::origin::Origin;
use crate::signal::Part;
use crate::size::Size;
use std::collections::{BTreeMap, HashSet};

/// A loop or choice around a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope {
    Loop(Loop),
    /// A block for where a condition of `generate` holds, or does not.
    Where {
        condition: &'static Number,
        holds: bool,
    },
}

impl Scope {
    /// Whether both are the same block of the Verilog; different loops have different labels.
    pub(crate) fn is(&self, other: &Scope) -> bool {
        match (self, other) {
            (Scope::Loop(a), Scope::Loop(b)) => a.label == b.label,
            (
                Scope::Where { condition, holds },
                Scope::Where {
                    condition: other,
                    holds: others,
                },
            ) => condition == other && holds == others,
            _ => false,
        }
    }
}

/// A statement that drives bits.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) part: Part,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) at: Origin,
    /// Lines inside an instance that drive its port.
    pub(crate) inside: Vec<Origin>,
}

/// A signal that is to be driven.
pub(crate) struct Driven {
    pub(crate) name: &'static str,
    pub(crate) width: Size,
    /// The number of scopes around its drivers in which it is declared: there is
    /// one signal for each of their iterations.
    pub(crate) depth: usize,
}

/// Checks that each bit has one driver; the error names a bit without, or with
/// two of them. `signals` are by their index, inputs are none; the others are
/// the numbers with names that the module has.
pub(crate) fn check(
    signals: &[Option<Driven>],
    drivers: &[Driver],
    parameters: &[(&'static str, usize)],
    sizes: &[(&'static str, Size)],
) -> Result<(), String> {
    let mut values = Values::new();
    for (name, value) in parameters {
        values.insert(name, *value as isize);
    }
    for (name, size) in sizes {
        values.insert(name, valued(*size, &values));
    }
    let mut bits = Bits {
        signals,
        values,
        of: BTreeMap::new(),
        driven: Vec::new(),
    };
    for driver in drivers {
        if let Some(signal) = &signals[driver.part.signal] {
            bits.run((driver, signal), 0, &mut Vec::new(), None);
        }
    }
    bits.check(drivers)
}

/// The value of a size, given the values of its names.
fn valued(size: Size, values: &Values) -> isize {
    match size.value() {
        Some(value) => value as isize,
        None => size.number().value(values),
    }
}

/// Bits from one to below another, and the line that drives them.
type Range = (isize, isize, Origin);

/// The bits of all signals, with their drivers.
struct Bits<'a> {
    signals: &'a [Option<Driven>],
    values: Values,
    /// The index of a signal's bits, by the iteration that declares it.
    of: BTreeMap<(usize, Vec<isize>), usize>,
    /// The width of these bits, and the ranges that are driven.
    driven: Vec<(isize, Vec<Range>)>,
}

impl Bits<'_> {
    /// Runs through the scopes of a statement from one on; `outer` has the
    /// iterations of those that its signal is declared in, `instance` its bits.
    fn run(
        &mut self,
        statement: (&Driver, &Driven),
        level: usize,
        outer: &mut Vec<isize>,
        mut instance: Option<usize>,
    ) {
        let (driver, signal) = statement;
        if level == signal.depth {
            instance = Some(self.instance(statement, outer));
        }
        match driver.scopes.get(level) {
            None => self.drive(
                driver,
                instance.expect("driven in the loop that declares it"),
            ),
            Some(Scope::Where { condition, holds }) => {
                if (condition.value(&self.values) != 0) == *holds {
                    self.run(statement, level + 1, outer, instance);
                }
            }
            Some(Scope::Loop(Loop {
                index, from, to, ..
            })) => {
                let [from, to] = [from, to].map(|end| valued(*end, &self.values));
                let hidden = self.values.remove(index);
                for iteration in from..to {
                    self.values.insert(index, iteration);
                    outer.push(iteration);
                    self.run(statement, level + 1, outer, instance);
                    outer.pop();
                }
                self.values.remove(index);
                self.values.extend(hidden.map(|value| (*index, value)));
            }
        }
    }

    fn instance(&mut self, (driver, signal): (&Driver, &Driven), outer: &[isize]) -> usize {
        let next = self.driven.len();
        let instance = self.of.entry((driver.part.signal, outer.to_vec()));
        let instance = *instance.or_insert(next);
        if instance == next {
            let width = valued(signal.width, &self.values);
            self.driven.push((width, Vec::new()));
        }
        instance
    }

    /// Notes the bits that a statement drives in this iteration.
    fn drive(&mut self, driver: &Driver, instance: usize) {
        let [from, count] = match driver.part.bits {
            None => [0, self.driven[instance].0],
            Some((from, count)) => [from, count].map(|size| valued(size, &self.values)),
        };
        let (_, driven) = &mut self.driven[instance];
        driven.push((from, from + count, driver.at));
    }

    /// Every bit is driven once; of a signal in a loop without iterations there
    /// is none.
    fn check(mut self, drivers: &[Driver]) -> Result<(), String> {
        let has_driver: HashSet<_> = drivers.iter().map(|driver| driver.part.signal).collect();
        for (index, signal) in self.signals.iter().enumerate() {
            if let (Some(signal), false) = (signal, has_driver.contains(&index)) {
                return Err(format!("nothing drives {}", signal.name));
            }
        }
        for ((signal, _), instance) in self.of {
            let name = self.signals[signal]
                .as_ref()
                .map_or("", |signal| signal.name);
            let (width, driven) = &mut self.driven[instance];
            one_driver(name, *width, driven)?;
        }
        Ok(())
    }
}

/// Every bit of a signal is in one of the ranges.
fn one_driver(name: &str, width: isize, driven: &mut [Range]) -> Result<(), String> {
    driven.sort_by_key(|(from, ..)| *from);
    let mut end = 0;
    let mut before = None;
    for (from, to, at) in driven {
        match before {
            Some(other) if *from < end => {
                return Err(format!("{name}[{from}] has two drivers: {other} and {at}"));
            }
            _ if *from > end => return Err(format!("nothing drives {name}[{end}]")),
            _ => {}
        }
        (end, before) = (*to, Some(at));
    }
    if end < width {
        return Err(format!("nothing drives {name}[{end}]"));
    }
    Ok(())
}
