//! Configuration files: TOML, laid over a preset.

use super::Config;
use super::blank::blank;
use super::given::Given;
use super::keys::Key;
use spadkit_base::error::{Error, Result};
use spadkit_base::input::section::{Placed, Section, Source};
use std::path::Path;
use toml::de::DeTable;

/// Parses a configuration file's text; `path` is for messages.
pub(super) fn parse(text: &str, path: &Path) -> Result<Config> {
    let source = Source {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let file = File::read(&source)?;
    let mut base = match file.base {
        None => Config::preset("fermi")?,
        Some(base) => preset_at(base, &source)?,
    };
    if let Some(name) = file.name? {
        check_name(&name, &base, &source)?;
        base.name = name.value;
    }
    file.given
        .over(&base)
        .map_err(|refusal| refusal.in_file(|key| file.given.place(key), &source))
}

/// The preset that `text` describes: its base with its keys, none of which sets
/// another one.
pub(super) fn preset(name: &str, text: &str) -> Result<Config> {
    let source = Source {
        path: format!("{name}.toml").into(),
        text: text.to_owned(),
    };
    let file = File::read(&source)?;
    let mut base = match file.base {
        None => blank()?,
        Some(base) => preset_at(base, &source)?,
    };
    base.name = name.to_owned();
    base.compute_capability = name.strip_prefix("sm").and_then(|sm| sm.parse().ok());
    file.given.put(base).map_err(|refusal| refusal.usage())
}

/// The tables of a configuration file.
struct File {
    given: Given,
    base: Option<Placed<String>>,
    /// An error of it comes after those of the base.
    name: Result<Option<Placed<String>>>,
}

impl File {
    fn read(source: &Source) -> Result<Self> {
        let table = DeTable::parse(&source.text).map_err(|e| {
            let offset = e.span().map_or(0, |s| s.start);
            source.error(e.message(), "expected a configuration file in TOML", offset)
        })?;
        let known = [vec!["name", "base"], Key::sections()].concat();
        let name = "the configuration file";
        let top = Section::new(source, table.get_ref(), 0, name, &known)?;
        Ok(File {
            given: Given::read(&top, source)?,
            base: top.string("base", "the name of a preset")?,
            name: top.string("name", NAME),
        })
    }
}

fn preset_at(name: Placed<String>, source: &Source) -> Result<Config> {
    Config::preset(&name.value).map_err(|error| match error {
        Error::Usage { what, help } => source.error(what, help.unwrap_or_default(), name.offset),
        other => other,
    })
}

const NAME: &str = "1 to 64 letters, digits, '-', '_' and '.'";

/// The name goes into headers and into the FuseSoC core. A reader takes a preset's name for
/// that preset, so only what is based on it may have it.
fn check_name(name: &Placed<String>, base: &Config, source: &Source) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.value.len() > 64 || !name.value.chars().all(plain) {
        let what = format!("name {:?} is not supported", name.value);
        return Err(source.error(what, format!("expected {NAME}"), name.offset));
    }
    if name.value != base.name && Config::preset(&name.value).is_ok() {
        let what = format!(
            "name {:?} is that of a preset, and the base is {}",
            name.value, base.name
        );
        let help = format!(
            "choose another name, or write base = {:?} if that is the machine",
            name.value
        );
        return Err(source.error(what, help, name.offset));
    }
    Ok(())
}
