//! Launches after the first: the `[[then]]` tables of a launch file, once or in
//! rounds (`repeat`), with arguments that change from round to round.

use super::arg::{Arg, ArgKind};
use super::element::Element;
use super::single::{Instead, Launch, Passed, parse_launch};
use spadkit_base::cuda::MAX_GRID;
use spadkit_base::error::Result;
use spadkit_base::input::section::{Number, Placed, Section, Source};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Launches of a file. A loop of more is a mistake, or takes hours.
const MOST_LAUNCHES: usize = 1 << 16;

const THEN: [&str; 10] = [
    "entry",
    "grid",
    "block",
    "dynamic_shared",
    "cluster",
    "cooperative",
    "args",
    "repeat",
    "grid_step",
    "launch",
];
/// A launch of a loop: the loop says how often.
const IN_LOOP: [&str; 8] = [
    "entry",
    "grid",
    "block",
    "dynamic_shared",
    "cluster",
    "cooperative",
    "args",
    "grid_step",
];

/// The values of an argument from round to round.
enum Rounds {
    /// One argument after another, and again from the first.
    Alternate(Vec<usize>),
    /// An argument that grows by a fixed step each round.
    Step(usize, Placed<Number>),
    /// A scalar that takes one value after another, and again from the first.
    Values(usize, Vec<Vec<u8>>),
}

/// A launch of a file before its rounds are written out.
struct Template {
    launch: Launch,
    args: Vec<Rounds>,
    grid_step: [i64; 3],
    /// Offset of the steps in the file.
    grid_offset: usize,
}

/// Reads the `[[then]]` tables: all launches in the order in which they run.
pub(super) fn parse_all(
    tables: &[Placed<&DeTable>],
    source: &Source,
    args: &[Arg],
) -> Result<Vec<Launch>> {
    let mut launches = Vec::new();
    for table in tables {
        let section = Section::new(source, table.value, table.offset, "[[then]]", &THEN)?;
        let rounds = section.integer("repeat", 1, MOST_LAUNCHES as u64)?;
        let templates = if section.has("launch") {
            parse_loop(&section, source, args)?
        } else {
            vec![parse_template(&section, source, args)?]
        };
        let rounds = rounds.unwrap_or(1);
        // The file's own launch is one, too.
        if 1 + launches.len() + templates.len() * rounds as usize > MOST_LAUNCHES {
            let what = format!("the file has more than {MOST_LAUNCHES} launches");
            let help = format!("expected at most {MOST_LAUNCHES}, the first launch included");
            return Err(section.wrong("repeat", &what, &help));
        }
        for round in 0..rounds {
            for template in &templates {
                launches.push(template.round(round, source, args)?);
            }
        }
    }
    Ok(launches)
}

/// The launches of a `[[then]]` that repeats several.
fn parse_loop(section: &Section, source: &Source, args: &[Arg]) -> Result<Vec<Template>> {
    section.refuse(&IN_LOOP, "expected it in the [[then.launch]] tables")?;
    if !section.has("repeat") {
        return Err(section.missing("repeat", "the number of rounds of its [[then.launch]]"));
    }
    let tables = section.tables("launch")?;
    if tables.is_empty() {
        let expected = "expected a [[then.launch]] for each launch of a round";
        return Err(section.wrong("launch", "'launch' is empty", expected));
    }
    let template = |table: &Placed<&DeTable>| {
        let name = "[[then.launch]]";
        let section = Section::new(source, table.value, table.offset, name, &IN_LOOP)?;
        parse_template(&section, source, args)
    };
    tables.iter().map(template).collect()
}

fn parse_template(section: &Section, source: &Source, args: &[Arg]) -> Result<Template> {
    const EXPECTED: &str = "[\"NAME\", ...], names of [[arg]] tables in the entry's order";
    section.required_string("entry", "\"NAME\", an entry of the PTX")?;
    let items = section.items("args", EXPECTED)?;
    let rounds = items
        .iter()
        .map(|item| parse_rounds(section, source, item, args))
        .collect::<Result<_>>()?;
    Ok(Template {
        launch: parse_launch(section, source)?,
        args: rounds,
        grid_step: section.steps("grid_step", MAX_GRID)?.unwrap_or_default(),
        grid_offset: section.place("grid_step"),
    })
}

/// `"NAME"`, `["NAME", ...]`, `{ name = "NAME", step = 1 }` or
/// `{ name = "NAME", values = [1, 2] }`.
fn parse_rounds(
    section: &Section,
    source: &Source,
    item: &Spanned<DeValue>,
    args: &[Arg],
) -> Result<Rounds> {
    const EXPECTED: &str = "\"NAME\", [\"NAME\", ...], {name, step} or {name, values}";
    let offset = item.span().start;
    let named = |item| index(source, args, section.to_string("args", item, EXPECTED)?);
    match item.get_ref() {
        DeValue::Array(names) if names.is_empty() => {
            let help = format!("expected {EXPECTED}");
            Err(source.error("an argument of 'args' is an empty list", help, offset))
        }
        DeValue::Array(names) => {
            let names = names.iter().map(named).collect::<Result<_>>()?;
            Ok(Rounds::Alternate(names))
        }
        DeValue::Table(table) => {
            let keys = ["name", "step", "values"];
            let table = Section::new(source, table, offset, "an argument of 'args'", &keys)?;
            parse_change(&table, source, args)
        }
        _ => Ok(Rounds::Alternate(vec![named(item)?])),
    }
}

fn parse_change(table: &Section, source: &Source, args: &[Arg]) -> Result<Rounds> {
    let name = table.required_string("name", "\"NAME\" of an [[arg]]")?;
    let arg = index(source, args, name)?;
    let Some(values) = table.numbers("values")? else {
        let Some(step) = table.number("step")? else {
            return Err(table.missing("step", "step = what each round adds, or values = [...]"));
        };
        return Ok(Rounds::Step(arg, step));
    };
    table.refuse(&["step"], "expected either step or values")?;
    let element = match &args[arg].kind {
        ArgKind::Value(element, _) if *element != Element::Bytes => *element,
        _ => {
            let what = format!("'{}' is not a numeric scalar", args[arg].name);
            let help = "expected several arguments instead: [\"NAME\", \"OTHER\"]";
            return Err(table.wrong("values", &what, help));
        }
    };
    if values.is_empty() {
        return Err(table.wrong("values", "'values' is empty", "expected [NUMBER, ...]"));
    }
    let bytes = |n: &Placed<Number>| {
        let wrong = |what| source.error(format!("a value is {what}"), element.expected(), n.offset);
        element.bytes_of(&n.value).map_err(wrong)
    };
    let values = values.iter().map(bytes).collect::<Result<_>>()?;
    Ok(Rounds::Values(arg, values))
}

fn index(source: &Source, args: &[Arg], name: Placed<String>) -> Result<usize> {
    let found = args.iter().position(|a| a.name == name.value);
    found.ok_or_else(|| {
        let names: Vec<&str> = args.iter().map(|a| a.name.as_str()).collect();
        source.error(
            format!("there is no argument '{}'", name.value),
            format!("expected one of {}", names.join(", ")),
            name.offset,
        )
    })
}

impl Template {
    /// The launch of a round, counted from 0.
    fn round(&self, round: u64, source: &Source, args: &[Arg]) -> Result<Launch> {
        let mut launch = self.launch.clone();
        let sizes = launch.grid.iter_mut().zip(self.grid_step).zip(MAX_GRID);
        for ((size, step), max) in sizes {
            let next = i128::from(*size) + i128::from(step) * i128::from(round);
            if !(1..=i128::from(max)).contains(&next) {
                let what = format!("round {round} has {next} blocks in a dimension");
                let help = format!("expected 1 to {max} in every round, counted from 0");
                return Err(source.error(what, help, self.grid_offset));
            }
            *size = next as u32;
        }
        let passed = |arg: &Rounds| arg.round(round, source, args);
        launch.args = Some(self.args.iter().map(passed).collect::<Result<_>>()?);
        Ok(launch)
    }
}

impl Rounds {
    fn round(&self, round: u64, source: &Source, args: &[Arg]) -> Result<Passed> {
        Ok(match self {
            Rounds::Alternate(names) => names[(round % names.len() as u64) as usize].into(),
            Rounds::Values(arg, values) => Passed {
                arg: *arg,
                instead: Some(Instead::Value(
                    values[(round % values.len() as u64) as usize].clone(),
                )),
            },
            Rounds::Step(arg, step) => {
                let wrong = |(what, help): (String, String)| source.error(what, help, step.offset);
                Passed {
                    arg: *arg,
                    instead: Some(stepped(*arg, &step.value, round, args).map_err(wrong)?),
                }
            }
        })
    }
}

/// An argument after this many steps; otherwise what is wrong, and what was
/// expected.
fn stepped(
    arg: usize,
    step: &Number,
    round: u64,
    args: &[Arg],
) -> std::result::Result<Instead, (String, String)> {
    let name = &args[arg].name;
    let whole = |step: &Number| match step {
        Number::Integer(step) => Ok(step.saturating_mul(i128::from(round))),
        _ => {
            let what = format!("the step of '{name}' is not an integer");
            Err((what, "expected an integer".to_owned()))
        }
    };
    let out_of_range = |value: i128, min: i128, max: i128| {
        let what = format!("round {round} passes {value} for '{name}'");
        let help = format!("expected {min} to {max} in every round, counted from 0");
        (what, help)
    };
    match &args[arg].kind {
        ArgKind::Value(element, bytes) if *element != Element::Bytes => {
            let Some((min, max)) = element.integer_range() else {
                let step = element.float(step).map_err(|what| {
                    let what = format!("the step of '{name}' is {what}");
                    (what, "expected a number".to_owned())
                })?;
                let value = element.to_f64(bytes) + step * round as f64;
                return Ok(Instead::Value(element.bytes_of_float(value)));
            };
            let value = element.to_integer(bytes).saturating_add(whole(step)?);
            if (min..=max).contains(&value) {
                Ok(Instead::Value(element.bytes_of_integer(value)))
            } else {
                Err(out_of_range(value, min, max))
            }
        }
        ArgKind::Buffer(_) | ArgKind::Same { .. } => {
            let (buffer, start) = match &args[arg].kind {
                ArgKind::Same { arg, bytes } => (*arg, *bytes),
                _ => (arg, 0),
            };
            let end = bytes_of(&args[buffer]);
            let offset = i128::from(start).saturating_add(whole(step)?);
            if (0..=i128::from(end)).contains(&offset) {
                Ok(Instead::Address(buffer, offset as u64))
            } else {
                Err(out_of_range(offset, 0, end.into()))
            }
        }
        _ => Err((
            format!("'{name}' cannot step"),
            "expected a number, or a buffer, whose address steps by bytes".to_owned(),
        )),
    }
}

fn bytes_of(arg: &Arg) -> u64 {
    match &arg.kind {
        ArgKind::Buffer(buffer) => buffer.bytes(),
        _ => 0,
    }
}
