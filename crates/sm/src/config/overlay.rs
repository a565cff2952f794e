//! A machine with single keys of its configuration replaced, as the command
//! line does it.

use super::Config;
use super::given::Given;
use super::keys::{KEYS, Key, Value};
use spadkit_base::error::{Error, Result};
use spadkit_base::quote::did_you_mean;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// A machine and keys of a configuration file that are to replace its own,
/// before the two are checked as a whole.
///
/// ```
/// use spadkit_sm::config::Overlay;
/// let mut overlay = Overlay::preset("fermi")?;
/// overlay.set("path.mem_stages", "4")?;
/// assert_eq!(overlay.config()?.path.mem_stages, 4);
/// # Ok::<(), spadkit_base::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Overlay {
    base: Config,
    given: Given,
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
        let Some(key) = Key::find(key) else {
            return Err(unknown(key));
        };
        let value = read_value(key, value).map_err(|error| match error {
            Error::Usage { what, help } => {
                let help = help.unwrap_or_default();
                Error::usage(format!("{} = {value}: {what}", key.name), help)
            }
            other => other,
        })?;
        self.given.set(key, value, None);
        Ok(())
    }

    /// The machine, checked as a whole.
    pub fn config(&self) -> Result<Config> {
        self.given
            .over(&self.base)
            .map_err(|refusal| refusal.usage())
    }
}

impl From<Config> for Overlay {
    fn from(base: Config) -> Self {
        Overlay {
            base,
            given: Given::default(),
        }
    }
}

fn unknown(key: &str) -> Error {
    let nearest = did_you_mean(key, KEYS.iter().map(|key| key.name));
    Error::usage(
        format!("'{key}' is not a key of a configuration{nearest}"),
        "expected section.key, as in sm.alu_cycles (docs/reference/formats.md)",
    )
}

/// A value as TOML has it, or else a text.
fn read_value(key: &Key, text: &str) -> Result<Value> {
    let line = format!("v = {text}");
    let table = DeTable::parse(&line).ok().map(|table| table.into_inner());
    let value = table.filter(|table| table.len() == 1).and_then(|table| {
        let value = table.get("v")?.get_ref().clone();
        Some(value)
    });
    let value = value.unwrap_or_else(|| DeValue::String(text.to_owned().into()));
    key.read(&value).map_err(|refusal| refusal.usage())
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

    /// A mapping after a reset belongs to the registers of the path's hash.
    #[test]
    fn another_hash_of_the_path_has_no_mapping_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.toml");
        std::fs::write(&path, "[hash]\nreset = 'xor'\n").unwrap();
        let with = |settings: &[(&str, &str)]| {
            let mut overlay = Overlay::load(&path).unwrap();
            for (key, value) in settings {
                overlay.set(key, value).unwrap();
            }
            overlay.config().map(|machine| machine.path.hash_reset)
        };
        for path in ["mod", "add", "rap"] {
            let reset = with(&[("hash.path", path)]).unwrap();
            assert!(reset.is_mod(), "{path}: {reset}");
        }
        for kept in [("hash.path", "configurable"), ("sm.alu_cycles", "7")] {
            assert_eq!(with(&[kept]).unwrap().to_string(), "xor", "{kept:?}");
        }
        let error = with(&[("hash.path", "mod"), ("hash.reset", "xor")]).unwrap_err();
        assert!(error.to_string().contains("'xor' without registers"));
    }

    #[test]
    fn what_no_file_may_say_is_refused() {
        let mut overlay = Overlay::preset("fermi").unwrap();
        for (key, value, reason) in [
            ("alu_cycles", "1", "not a key of a configuration"),
            ("sm.alu_cycle", "1", "did you mean 'sm.alu_cycles'"),
            ("nope.alu_cycles", "1", "not a key of a configuration"),
            ("sm.alu_cycles", "fast", "sm.alu_cycles is a string"),
            ("sm.alu_cycles", "1\nsfu_cycles = 2", "is a string"),
            ("name.x", "1", "not a key of a configuration"),
        ] {
            let error = overlay.set(key, value).unwrap_err().to_string();
            assert!(error.contains(reason), "{key} = {value}: {error}");
        }
        assert_eq!(overlay.config().unwrap(), Config::preset("fermi").unwrap());
        // The value is of the right type; the machine cannot be.
        overlay.set("path.blocks", "3").unwrap();
        let error = overlay.config().unwrap_err().to_string();
        assert!(
            error.contains("3 block slots are not compatible with"),
            "{error}"
        );
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
