//! A machine with single keys of its configuration replaced, as the command
//! line does it.

use super::Config;
use super::file::ConfigFile;
use crate::error::{Error, Result};
use serde::Deserialize;
use std::path::Path;
use toml::{Table, Value};

/// A machine and keys of a configuration file that are to replace its own,
/// before the two are checked as a whole.
///
/// ```
/// use spadkit::config::Overlay;
/// let mut overlay = Overlay::preset("fermi")?;
/// overlay.set("path.mem_stages", "4")?;
/// assert_eq!(overlay.config()?.path.mem_stages, 4);
/// # Ok::<(), spadkit::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Overlay {
    base: Config,
    keys: Table,
}

impl Overlay {
    /// The preset called `name`.
    pub fn preset(name: &str) -> Result<Self> {
        Ok(Config::preset(name)?.into())
    }

    /// The machine of a configuration file.
    pub fn load(path: &Path) -> Result<Self> {
        Ok(Config::load(path)?.into())
    }

    /// Replaces `key`, which is `section.key`, by a value as it would stand in
    /// the file; texts go without quotes, too. Unknown keys and values of
    /// another type are refused here, machines that cannot be by
    /// [`config`](Overlay::config).
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let refuse = |what: String, help: &str| Err(Error::usage(what, help));
        let Some((section, name)) = key.split_once('.') else {
            return refuse(
                format!("'{key}' is no key of a configuration"),
                "expected section.key, as in sm.alu_cycles (docs/reference/formats.md)",
            );
        };
        let mut changed = self.keys.clone();
        let section = changed
            .entry(section)
            .or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(section) = section {
            section.insert(name.to_owned(), read_value(value));
        }
        if let Err(error) = ConfigFile::deserialize(changed.clone()) {
            let reason = super::file::with_nearest(error.message());
            return refuse(
                format!("{key} = {value}: {reason}"),
                "keys and values are those of configuration files (docs/reference/formats.md)",
            );
        }
        self.keys = changed;
        Ok(())
    }

    /// The machine, checked as a whole.
    pub fn config(&self) -> Result<Config> {
        let file = ConfigFile::deserialize(self.keys.clone());
        file.map_err(|e| Error::usage(e.message(), "expected keys of a configuration file"))?
            .over(self.base.clone())
    }
}

impl From<Config> for Overlay {
    fn from(base: Config) -> Self {
        Overlay {
            base,
            keys: Table::new(),
        }
    }
}

/// A value as TOML has it, or else a text.
fn read_value(text: &str) -> Value {
    let line: Option<Table> = format!("v = {text}").parse().ok();
    line.filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("v"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{PathHash, Scheduler};

    #[test]
    fn keys_are_those_of_files() {
        let mut overlay = Overlay::preset("gt200").unwrap();
        for (key, value) in [
            ("sm.alu_cycles", "7"),
            ("hash.path", "xor"),
            ("scheduler.policy", "\"conflict-aware\""),
            ("scheduler.violate", "true"),
            ("sharing.threshold", "0.25"),
        ] {
            overlay.set(key, value).unwrap();
        }
        let config = overlay.config().unwrap();
        assert_eq!(
            (config.name.as_str(), config.sm.latencies.alu),
            ("gt200", 7)
        );
        assert_eq!(config.path.hash, PathHash::Xor);
        assert_eq!(config.settings.scheduler, Scheduler::ConflictAware);
        assert!(config.settings.violate && config.sm.sharing.threshold == 0.25);
    }

    #[test]
    fn what_no_file_may_say_is_refused() {
        let mut overlay = Overlay::preset("fermi").unwrap();
        for (key, value, reason) in [
            ("alu_cycles", "1", "no key of a configuration"),
            ("sm.alu_cycle", "1", "unknown field"),
            ("nope.alu_cycles", "1", "unknown field"),
            ("sm.alu_cycles", "fast", "invalid type"),
            ("sm.alu_cycles", "1\nsfu_cycles = 2", "invalid type"),
            ("name.x", "1", "invalid type"),
        ] {
            let error = overlay.set(key, value).unwrap_err().to_string();
            assert!(error.contains(reason), "{key} = {value}: {error}");
        }
        assert_eq!(overlay.config().unwrap(), Config::preset("fermi").unwrap());
        // The value is of the right type; the machine cannot be.
        overlay.set("path.blocks", "3").unwrap();
        let error = overlay.config().unwrap_err().to_string();
        assert!(error.contains("3 blocks do not go with"), "{error}");
        assert!(Overlay::preset("nope").is_err());
    }

    #[test]
    fn a_file_keeps_what_is_not_set() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.toml");
        std::fs::write(&path, "name = \"mine\"\n[path]\nlock_group_cycles = 4\n").unwrap();
        let mut overlay = Overlay::load(&path).unwrap();
        overlay.set("path.mem_stages", "3").unwrap();
        let config = overlay.config().unwrap();
        assert_eq!(config.name, "mine");
        assert_eq!(
            (config.path.mem_stages, config.path.lock_group_cycles),
            (3, 4)
        );
    }
}
