//! Overrides from the command line: keys of `--set` and schedulers.

use super::Global;
use crate::config::{Config, Overlay, Scheduler};
use crate::error::{Error, Result};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use serde_json::Value;
use std::str::FromStr;

/// A parser of `T` that takes these names.
pub(super) fn named<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = strum::ParseError> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}

/// The values of one `--set SECTION.KEY=A,B,...`.
pub(super) struct SetList {
    pub key: String,
    pub values: Vec<String>,
}

/// Reads the values of `--set`.
pub(super) fn set_lists(options: &[String]) -> Result<Vec<SetList>> {
    let read = |option: &String| match option.split_once('=') {
        Some((key, values)) if !values.is_empty() => Ok(SetList {
            key: key.trim().to_owned(),
            values: values.split(',').map(|v| v.trim().to_owned()).collect(),
        }),
        _ => Err(Error::usage(
            format!("--set {option} is missing a value"),
            "expected SECTION.KEY=VALUE, with --sweep also SECTION.KEY=A,B,...",
        )),
    };
    options.iter().map(read).collect()
}

/// The name that serde has for a value.
pub(super) fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

/// The machine of `--config`, or of the one `--preset`.
pub(super) fn base(global: &Global) -> Result<Overlay> {
    match &global.config {
        Some(path) => Overlay::load(path),
        None => Overlay::preset(global.preset()),
    }
}

/// The machine with one value for each key of `--set`, and a scheduler on top.
pub(super) fn machine(
    global: &Global,
    sets: &[String],
    scheduler: Option<&Scheduler>,
) -> Result<Config> {
    let mut overlay = base(global)?;
    for set in set_lists(sets)? {
        let [value] = &set.values[..] else {
            return Err(Error::usage(
                format!("--set {} has {} values", set.key, set.values.len()),
                "expected one",
            ));
        };
        overlay.set(&set.key, value)?;
    }
    if let Some(scheduler) = scheduler {
        overlay.set("scheduler.policy", &name(scheduler))?;
    }
    overlay.config()
}
