//! The keys of a configuration file: how a value is read, checked and set.
//! Files, `--set` and the check of a machine all read their table.

mod table;

pub(super) use table::KEYS;

use super::Config;
use super::refusal::Refusal;
use serde::de::value::Error as ValueError;
use spadkit_base::error::Error;
use spadkit_base::input::section::{described, float_of, integer_of};
use spadkit_base::quote::did_you_mean;
use spadkit_hdl::Allowed;
use spadkit_mapping::hash::HashSpec;
use toml::de::DeValue;

/// A key of one section.
pub(super) struct Key {
    /// `path.mem_stages`.
    pub name: &'static str,
    field: Field,
}

/// The field of a machine that a key sets.
enum Field {
    Number {
        get: fn(&Config) -> u32,
        set: fn(&mut Config, u32),
        allowed: Allowed,
    },
    Real {
        get: fn(&Config) -> f64,
        set: fn(&mut Config, f64),
        holds: fn(f64) -> bool,
        expected: &'static str,
    },
    Flag(fn(&mut Config, bool)),
    /// The name of a variant of the field.
    Choice {
        check: fn(&str) -> Result<(), ValueError>,
        set: fn(&mut Config, &str),
    },
    /// A hash spec.
    Mapping(fn(&mut Config, HashSpec)),
}

/// A value of the type that its key has.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(u32),
    Real(f64),
    Flag(bool),
    Choice(String),
    Mapping(HashSpec),
}

impl Key {
    /// The key called `name`, `section.key`.
    pub fn find(name: &str) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The sections, in order.
    pub fn sections() -> Vec<&'static str> {
        let mut sections: Vec<_> = KEYS.iter().map(|key| key.parts().0).collect();
        sections.dedup();
        sections
    }

    /// The keys of one section.
    pub fn of(section: &str) -> impl Iterator<Item = &'static Key> {
        KEYS.iter().filter(move |key| key.parts().0 == section)
    }

    /// Section and key.
    pub fn parts(&self) -> (&'static str, &'static str) {
        self.name.split_once('.').unwrap_or(("", self.name))
    }

    /// The value as the key has it, if it is of the key's type. Whether a
    /// number is allowed, [`put`](Self::put) says.
    pub fn read(&self, value: &DeValue) -> Result<Value, Refusal> {
        let read = match (&self.field, value) {
            (Field::Number { .. }, DeValue::Integer(i)) => {
                let number = integer_of(value).and_then(|v| u32::try_from(v).ok());
                return number
                    .map(Value::Number)
                    .ok_or_else(|| self.refuse(i.as_str()));
            }
            (Field::Real { .. }, DeValue::Float(f)) => Some(Value::Real(float_of(f.as_str()))),
            (Field::Real { .. }, DeValue::Integer(_)) => {
                integer_of(value).map(|v| Value::Real(v as f64))
            }
            (Field::Flag(_), DeValue::Boolean(on)) => Some(Value::Flag(*on)),
            (Field::Choice { check, .. }, DeValue::String(text)) => {
                check(text).map_err(|error| self.refuse_name(text, &error.to_string()))?;
                Some(Value::Choice(text.to_string()))
            }
            (Field::Mapping(_), DeValue::String(text)) => {
                let spec = text.parse::<HashSpec>();
                Some(Value::Mapping(
                    spec.map_err(|error| self.refuse_spec(error))?,
                ))
            }
            _ => None,
        };
        read.ok_or_else(|| {
            let what = format!("{} is {}", self.name, described(value));
            Refusal::of(self.name, what, format!("expected {}", self.expected()))
        })
    }

    /// Sets the value in a machine, unless no machine may have it.
    pub fn put(&self, value: &Value, c: &mut Config) -> Result<(), Refusal> {
        match (&self.field, value) {
            (Field::Number { set, allowed, .. }, Value::Number(value)) => {
                if !allowed.contains((*value).into()) {
                    return Err(self.refuse(&value.to_string()));
                }
                set(c, *value);
            }
            (Field::Real { set, .. }, Value::Real(value)) => set(c, *value),
            (Field::Flag(set), Value::Flag(value)) => set(c, *value),
            (Field::Choice { set, .. }, Value::Choice(text)) => set(c, text),
            (Field::Mapping(set), Value::Mapping(spec)) => set(c, spec.clone()),
            _ => unreachable!("{} cannot be {value:?}", self.name),
        }
        self.check(c)
    }

    /// Refuses a machine whose value of this key no machine may have.
    pub fn check(&self, c: &Config) -> Result<(), Refusal> {
        match self.field {
            Field::Number { get, allowed, .. } if !allowed.contains(get(c).into()) => {
                Err(self.refuse(&get(c).to_string()))
            }
            // NaN is refused, too.
            Field::Real { get, holds, .. } if !holds(get(c)) => {
                Err(self.refuse(&get(c).to_string()))
            }
            _ => Ok(()),
        }
    }

    /// The legal values, as text.
    pub fn expected(&self) -> String {
        match self.field {
            Field::Number { allowed, .. } => allowed.to_string(),
            Field::Real { expected, .. } => expected.to_owned(),
            Field::Flag(_) => "true or false".to_owned(),
            Field::Choice { .. } => "a name in quotes".to_owned(),
            Field::Mapping(_) => "a hash spec in quotes, as tune and encode have them".to_owned(),
        }
    }

    fn refuse(&self, value: &str) -> Refusal {
        let what = format!("{} {value} is not supported", self.name);
        Refusal::of(self.name, what, format!("expected {}", self.expected()))
    }

    fn refuse_spec(&self, error: Error) -> Refusal {
        let help = match &error {
            Error::Usage { help, .. } => help.clone(),
            _ => None,
        };
        let what = format!("{}: {error}", self.name);
        Refusal::of(self.name, what, help.unwrap_or_else(|| self.expected()))
    }

    /// `reason` is serde's: it quotes the name first, then those that there are.
    fn refuse_name(&self, name: &str, reason: &str) -> Refusal {
        let known: Vec<&str> = reason.split('`').skip(3).step_by(2).collect();
        let nearest = did_you_mean(name, known.iter().copied());
        Refusal::of(
            self.name,
            format!("{} {name:?} is not supported{nearest}", self.name),
            format!("expected {}", known.join(", ")),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::path::Path;

    /// The example of docs/reference/formats.md, a line for every key.
    fn documented() -> String {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/formats.md");
        let page = std::fs::read_to_string(page).unwrap();
        let (_, section) = page.split_once("## Configuration file").unwrap();
        let (_, block) = section.split_once("```toml\n").unwrap();
        block.split_once("```").unwrap().0.to_owned()
    }

    #[test]
    fn every_key_is_documented_with_what_it_may_be() {
        let text = documented();
        for section in Key::sections() {
            let (_, rest) = text.split_once(&format!("[{section}]")).unwrap();
            let lines: Vec<&str> = rest
                .lines()
                .skip(1)
                .take_while(|line| !line.starts_with('['))
                .collect();
            let keys = lines.iter().filter(|line| line.contains(" = ")).count();
            assert_eq!(keys, Key::of(section).count(), "[{section}]");
            for key in Key::of(section) {
                let name = key.parts().1;
                let line = lines
                    .iter()
                    .find(|line| line.starts_with(&format!("{name} = ")));
                let line = line.unwrap_or_else(|| panic!("{} is not documented", key.name));
                if let Field::Number { .. } | Field::Real { .. } = key.field {
                    let expected = key.expected();
                    assert!(line.contains(&expected), "{}: {expected}\n{line}", key.name);
                }
            }
        }
        Config::from_toml(&text, Path::new("formats.md")).unwrap();
    }
}
