//! The presets (microarchitecture/presets.md): configuration files that are a part of
//! the program.

use super::{Config, file};
use spadkit_base::error::{Error, Result};
use spadkit_base::quote::did_you_mean;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// A preset's name, and its configuration file.
type Preset = (&'static str, &'static str);

macro_rules! presets {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("presets/", $name, ".toml")))),+]
    };
}

/// The machines of the papers and of today's GPUs, and one for blocks behind a bus.
const MACHINES: [Preset; 10] = presets![
    "fermi",
    "gt200",
    "small",
    "gpgpusim-16k",
    "sharing-48k",
    "sharing-64k",
    "sm70",
    "sm80",
    "sm90",
    "bus",
];

/// The machines that units of the path are proved for.
const FOR_PROOFS: [Preset; 6] = presets!["pair", "quad", "prompt", "rows", "whole", "lockless"];

/// The names of the presets.
pub const PRESETS: [&str; 10] = names(MACHINES);

const fn names<const N: usize>(presets: [Preset; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = presets[at].0;
        at += 1;
    }
    names
}

/// The preset of the GPUs that PTX for `sm_SM` is for, the newest for newer
/// ones; none before sm_70, whose machines are those of the papers.
pub(super) fn of_target(sm: u32) -> Option<&'static str> {
    match sm {
        ..70 => None,
        70..80 => Some("sm70"),
        80..90 => Some("sm80"),
        _ => Some("sm90"),
    }
}

/// Warps of an SM, KB of its shared memory, and KB that a block may have, of the GPUs of
/// `sm_SM` (CUDA C++ Programming Guide, table of compute capabilities), where these are not
/// those of the preset.
pub(super) fn other_limits(sm: u32) -> Option<[u32; 3]> {
    match sm {
        75 => Some([32, 64, 64]),
        86 | 89 | 120 | 121 => Some([48, 100, 99]),
        87 => Some([48, 164, 163]),
        110 => Some([48, 228, 227]),
        _ => None,
    }
}

/// The presets that were asked for: a run over many machines reads each once.
static READ: Mutex<BTreeMap<&str, Config>> = Mutex::new(BTreeMap::new());

/// The preset called `name`.
pub(super) fn preset(name: &str) -> Result<Config> {
    let read = || READ.lock().expect("no holder panics");
    if let Some(config) = read().get(name) {
        return Ok(config.clone());
    }
    let mut all = MACHINES.iter().chain(&FOR_PROOFS);
    match all.find(|(known, _)| *known == name) {
        Some((name, text)) => {
            let config = file::preset(name, text)?;
            read().insert(name, config.clone());
            Ok(config)
        }
        None => Err(Error::usage(
            format!("there is no preset '{name}'{}", did_you_mean(name, PRESETS)),
            format!(
                "presets are {}; small machines for proofs are {}",
                PRESETS.join(", "),
                names(FOR_PROOFS).join(", ")
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_named_where_the_preset_has_others() {
        for sm in [75, 86, 87, 89, 110, 120, 121] {
            let machine = preset(of_target(sm).unwrap()).unwrap();
            let own = [machine.path.warps, machine.block_words / 256];
            let [warps, _, of_block] = other_limits(sm).unwrap();
            assert_ne!(own, [warps, of_block], "sm_{sm}");
        }
        for sm in [60, 70, 80, 90, 100, 103] {
            assert_eq!(other_limits(sm), None, "sm_{sm}");
        }
    }
    use crate::config::keys::KEYS;

    #[test]
    fn a_preset_without_a_base_sets_every_key() {
        let mut first = 0;
        for (name, text) in MACHINES.iter().chain(&FOR_PROOFS) {
            let table: toml::Table = toml::from_str(text).unwrap();
            if table.contains_key("base") {
                continue;
            }
            first += 1;
            // Without this key, the policy says it.
            for key in KEYS.iter().filter(|key| key.name != "scheduler.aware") {
                let (section, own) = key.parts();
                assert!(table[section].get(own).is_some(), "{name}: {}", key.name);
            }
        }
        assert_eq!(first, 1);
    }
}
