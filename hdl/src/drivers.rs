//! Every bit of a signal has one driver. Loops are run through for it, with the
//! parameters of the module at their defaults and one above.

use crate::arithmetic::{Names, Number};
use crate::origin::Origin;
use crate::signal::Part;
use crate::size::Size;
use std::collections::{BTreeMap, HashSet};

/// What stands around a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope {
    /// A loop: its label, and its index from one number to below another.
    Loop {
        label: &'static str,
        index: &'static str,
        from: Size,
        to: Size,
    },
    /// A block for where a condition of `generate` holds, or does not.
    Where {
        condition: &'static str,
        holds: bool,
    },
}

/// A statement that drives bits.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) part: Part,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) at: Origin,
    /// Of an instance: the lines that drive its port.
    pub(crate) inside: Vec<Origin>,
}

/// A signal that is to be driven.
pub(crate) struct Driven {
    pub(crate) name: &'static str,
    pub(crate) width: Size,
    /// How many of the scopes around its drivers it is declared in: there is one
    /// for each of their iterations.
    pub(crate) depth: usize,
}

/// Checks that each bit has one driver; the error names a bit without, or with
/// two of them. `signals` are by their index, inputs are none; the others are
/// the numbers with names that the module has.
pub(crate) fn check(
    signals: &[Option<Driven>],
    drivers: &[Driver],
    parameters: &[(&'static str, usize)],
    sizes: &[(Size, String)],
) -> Result<(), String> {
    let mut names = Names::default();
    for (name, value) in parameters {
        let slot = names.slot(name);
        names.set(slot, Some(*value as isize));
    }
    for (size, text) in sizes {
        let value = size.value().map(|value| value as isize);
        let value = value.unwrap_or_else(|| Number::parse(text, &mut names).value(&names));
        let slot = names.slot(size.text());
        names.set(slot, Some(value));
    }
    let mut bits = Bits {
        signals,
        names,
        of: BTreeMap::new(),
        driven: Vec::new(),
    };
    for driver in drivers {
        if let Some(signal) = &signals[driver.part.signal] {
            let statement = Statement::new(driver, signal, &mut bits.names);
            bits.run(&statement, 0, &mut Vec::new(), None);
        }
    }
    bits.check(drivers)
}

/// A driver whose numbers have been read.
struct Statement {
    signal: usize,
    depth: usize,
    width: Number,
    /// The first bit and their number; all if there are none.
    bits: Option<[Number; 2]>,
    scopes: Vec<Block>,
    at: Origin,
}

/// A scope whose numbers have been read.
enum Block {
    /// The slot of the index, and its range.
    Loop(usize, [Number; 2]),
    Where(Number, bool),
}

/// Reads a size.
fn number(size: Size, names: &mut Names) -> Number {
    match size.value() {
        Some(value) => Number::Literal(value as isize),
        None => Number::parse(size.text(), names),
    }
}

impl Statement {
    fn new(driver: &Driver, signal: &Driven, names: &mut Names) -> Self {
        let width = number(signal.width, names);
        let bits = driver.part.bits;
        let bits = bits.map(|(from, count)| [from, count].map(|size| number(size, names)));
        let scopes = driver.scopes.iter().map(|scope| match *scope {
            Scope::Loop {
                index, from, to, ..
            } => {
                let range = [from, to].map(|size| number(size, names));
                Block::Loop(names.slot(index), range)
            }
            Scope::Where { condition, holds } => {
                Block::Where(Number::parse(condition, names), holds)
            }
        });
        Statement {
            signal: driver.part.signal,
            depth: signal.depth,
            width,
            bits,
            scopes: scopes.collect(),
            at: driver.at,
        }
    }
}

/// Bits from one to below another, and the line that drives them.
type Range = (isize, isize, Origin);

/// The bits of all signals, with their drivers.
struct Bits<'a> {
    signals: &'a [Option<Driven>],
    names: Names,
    /// Where the bits of a signal are, by the iteration that it is declared in.
    of: BTreeMap<(usize, Vec<isize>), usize>,
    /// Their width, and the ranges that are driven.
    driven: Vec<(isize, Vec<Range>)>,
}

impl Bits<'_> {
    /// Runs through the scopes of a statement from one on; `outer` has the
    /// iterations of those that its signal is declared in, `instance` its bits.
    fn run(
        &mut self,
        statement: &Statement,
        level: usize,
        outer: &mut Vec<isize>,
        mut instance: Option<usize>,
    ) {
        if level == statement.depth {
            instance = Some(self.instance(statement, outer));
        }
        match statement.scopes.get(level) {
            None => self.drive(
                statement,
                instance.expect("driven in the loop that declares it"),
            ),
            Some(Block::Where(condition, holds)) => {
                if (condition.value(&self.names) != 0) == *holds {
                    self.run(statement, level + 1, outer, instance);
                }
            }
            Some(Block::Loop(index, range)) => {
                let [from, to] = [0, 1].map(|end| range[end].value(&self.names));
                let hidden = self.names.set(*index, None);
                for iteration in from..to {
                    self.names.set(*index, Some(iteration));
                    outer.push(iteration);
                    self.run(statement, level + 1, outer, instance);
                    outer.pop();
                }
                self.names.set(*index, hidden);
            }
        }
    }

    fn instance(&mut self, statement: &Statement, outer: &[isize]) -> usize {
        let next = self.driven.len();
        let instance = self.of.entry((statement.signal, outer.to_vec()));
        let instance = *instance.or_insert(next);
        if instance == next {
            let width = statement.width.value(&self.names);
            self.driven.push((width, Vec::new()));
        }
        instance
    }

    /// Notes the bits that a statement drives in this iteration.
    fn drive(&mut self, statement: &Statement, instance: usize) {
        let (width, driven) = &mut self.driven[instance];
        let [from, count] = match &statement.bits {
            None => [0, *width],
            Some(bits) => [0, 1].map(|i| bits[i].value(&self.names)),
        };
        driven.push((from, from + count, statement.at));
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
