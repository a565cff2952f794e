//! The settings of a configuration file or a command line, applied to a base.

use super::keys::{KEYS, Key, Value};
use super::refusal::Refusal;
use super::{Config, PathHash};
use spadkit_base::error::Result;
use spadkit_base::input::section::{Section, Source};
use spadkit_mapping::hash::HashSpec;

/// Keys with their values.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    settings: Vec<Setting>,
}

#[derive(Clone, Debug)]
struct Setting {
    key: &'static str,
    value: Value,
    /// Byte offset in the file; none on a command line.
    place: Option<usize>,
}

impl Given {
    /// The keys of a file's sections. `top` knows its sections.
    pub fn read(top: &Section, source: &Source) -> Result<Self> {
        let mut given = Given::default();
        for section in Key::sections() {
            given.read_section(top, section, source)?;
        }
        Ok(given)
    }

    fn read_section(&mut self, top: &Section, name: &'static str, source: &Source) -> Result<()> {
        let Some(table) = top.table(name)? else {
            return Ok(());
        };
        let known: Vec<&str> = Key::of(name).map(|key| key.parts().1).collect();
        let section = Section::new(
            source,
            table.value,
            table.offset,
            format!("[{name}]"),
            &known,
        )?;
        for key in Key::of(name) {
            let Some(value) = section.get(key.parts().1) else {
                continue;
            };
            let place = value.span().start;
            let value = key.read(value.get_ref());
            let value = value.map_err(|refusal| refusal.at(source, place))?;
            self.set(key, value, Some(place));
        }
        Ok(())
    }

    /// Sets a key; replaces an earlier value.
    pub fn set(&mut self, key: &'static Key, value: Value, place: Option<usize>) {
        self.settings.retain(|setting| setting.key != key.name);
        self.settings.push(Setting {
            key: key.name,
            value,
            place,
        });
    }

    /// Whether the key is set.
    fn has(&self, key: &str) -> bool {
        self.settings.iter().any(|setting| setting.key == key)
    }

    /// The offset at which a file sets the key.
    pub fn place(&self, key: &str) -> Option<usize> {
        let setting = self.settings.iter().find(|setting| setting.key == key)?;
        setting.place
    }

    /// The machine: `base` with these keys, checked as a whole.
    pub fn over(&self, base: &Config) -> Result<Config, Refusal> {
        let mut config = self.put(base.clone())?;
        self.follow(base, &mut config);
        self.wait_in_hardware(&mut config);
        config.check()?;
        Ok(config)
    }

    /// `base` with these keys, and nothing else changed.
    pub fn put(&self, mut base: Config) -> Result<Config, Refusal> {
        for key in KEYS {
            let setting = self.settings.iter().find(|setting| setting.key == key.name);
            if let Some(setting) = setting {
                key.put(&setting.value, &mut base)?;
            }
        }
        Ok(base)
    }

    /// The latencies of the retry loop that are set are those of the hardware, too.
    fn wait_in_hardware(&self, c: &mut Config) {
        let (from, to) = (c.path.retry, &mut c.path.emitted_retry);
        for (key, from, to) in [
            ("retry.read", from.read, &mut to.read),
            ("retry.update", from.update, &mut to.update),
            ("retry.write", from.write, &mut to.write),
            ("retry.branch", from.branch, &mut to.branch),
        ] {
            if self.has(key) {
                *to = from;
            }
        }
    }

    /// Settings that are not given follow from those that are.
    fn follow(&self, base: &Config, c: &mut Config) {
        if c.lanes != base.lanes && !self.has("path.lock_group_cycles") {
            c.path.lock_group_cycles = if c.lanes >= 32 { 2 } else { 1 };
        }
        // A geometry of its own comes with a full scratchpad.
        if c.geometry != base.geometry && !self.has("geometry.capacity_words") {
            c.capacity_words = c.geometry.words() as u32;
        }
        if c.capacity_words != base.capacity_words && !self.has("geometry.block_words") {
            c.block_words = c.capacity_words;
        }
        // The extra cycle is the configurable units' (hash paper, section 6).
        let fixed = c.path.hash != PathHash::Configurable;
        if self.has("hash.path") && fixed && !self.has("hash.stage") {
            c.path.hash_stage = 0;
        }
        // The base's is for the registers of the base's hash.
        if c.path.hash != base.path.hash && !self.has("hash.reset") {
            c.path.hash_reset = HashSpec::Mod;
        }
        // A lock per word is as many as a small geometry can use.
        if !self.has("path.locks") {
            c.path.locks = c.path.locks.min(1 << c.geometry.addr_bits());
        }
        // The base's goes with the base's mask.
        if !self.has("scheduler.violate") {
            c.settings.violate &= c.settings.is_aware();
        }
    }
}
