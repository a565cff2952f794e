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
        &[$(($name, include_str!(concat!("presets/", $name, ".toml")))),+]
    };
}

/// The machines of the papers and of today's GPUs, and one for blocks behind a bus.
const MACHINES: &[Preset] = presets![
    "fermi",
    "gt200",
    "small",
    "gpgpusim-16k",
    "sharing-48k",
    "sharing-64k",
    "sm70",
    "sm75",
    "sm80",
    "sm86",
    "sm87",
    "sm89",
    "sm90",
    "sm110",
    "sm120",
    "sm121",
    "bus",
];

/// The machines that units of the path are proved for.
const FOR_PROOFS: &[Preset] = presets!["pair", "quad", "prompt", "rows", "whole", "lockless"];

/// The names of the presets.
pub const PRESETS: [&str; MACHINES.len()] = names(MACHINES);

const fn names<const N: usize>(presets: &[Preset]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = presets[at].0;
        at += 1;
    }
    names
}

/// The preset of the GPUs that PTX for `sm_SM` is for: that of the compute capability, else
/// of its family, the newest for newer ones; none before sm_70, whose machines are those of
/// the papers.
pub(super) fn of_target(sm: u32) -> Option<&'static str> {
    match sm {
        ..70 => None,
        75 => Some("sm75"),
        70..80 => Some("sm70"),
        86 => Some("sm86"),
        87 => Some("sm87"),
        89 => Some("sm89"),
        80..90 => Some("sm80"),
        110 => Some("sm110"),
        120 => Some("sm120"),
        121 => Some("sm121"),
        _ => Some("sm90"),
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
    let mut all = MACHINES.iter().chain(FOR_PROOFS);
    match all.find(|(known, _)| *known == name) {
        Some((name, text)) => {
            let config = file::preset(name, text)?;
            read().insert(name, config.clone());
            Ok(config)
        }
        None => Err(Error::usage(
            format!("there is no preset '{name}'{}", instead_of(name)),
            format!(
                "presets are {}; small machines for proofs are {}",
                PRESETS.join(", "),
                names::<{ FOR_PROOFS.len() }>(FOR_PROOFS).join(", ")
            ),
        )),
    }
}

/// Suggestions for a name that is no preset: the machine for the PTX of that GPU, or a
/// similar name.
fn instead_of(name: &str) -> String {
    let sm = name.strip_prefix("sm").map(|sm| sm.trim_start_matches('_'));
    match sm.and_then(|sm| of_target(sm.parse().ok()?)) {
        Some(preset) => format!("; PTX for that GPU is counted by {preset}"),
        None => did_you_mean(name, PRESETS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::KEYS;

    /// CUDA C++ Programming Guide, table of compute capabilities: KiB of shared memory of
    /// an SM and of a block, warps, blocks. What serves accesses is the family's.
    #[test]
    fn an_sm_has_the_limits_of_its_compute_capability() {
        for (sm, family, kib, block_kib, warps, blocks) in [
            (75, "sm70", 64, 64, 32, 16),
            (86, "sm80", 100, 99, 48, 16),
            (87, "sm80", 164, 163, 48, 16),
            (89, "sm80", 100, 99, 48, 24),
            (110, "sm90", 228, 227, 48, 24),
            (120, "sm90", 100, 99, 48, 24),
            (121, "sm90", 100, 99, 48, 24),
        ] {
            let machine = preset(of_target(sm).unwrap()).unwrap();
            assert_eq!(machine.compute_capability, Some(sm));
            let shared = [machine.capacity_words, machine.block_words];
            assert_eq!(shared, [kib * 256, block_kib * 256], "sm_{sm}");
            let path = &machine.path;
            assert_eq!([path.warps, path.blocks], [warps, blocks], "sm_{sm}");
            let family = preset(family).unwrap();
            assert_eq!(machine.geometry, family.geometry);
            assert_eq!(machine.conflict_rule(), family.conflict_rule());
            assert_eq!(machine.sm.registers, 65536);
        }
        for (sm, name) in [(72, "sm70"), (88, "sm80"), (100, "sm90"), (103, "sm90")] {
            assert_eq!(of_target(sm), Some(name));
        }
    }

    #[test]
    fn a_preset_without_a_base_sets_every_key() {
        let mut first = 0;
        for (name, text) in MACHINES.iter().chain(FOR_PROOFS) {
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

    #[test]
    fn a_gpu_without_a_preset_has_the_machine_of_its_ptx() {
        let refused = |name| preset(name).unwrap_err().to_string();
        assert!(refused("sm100").contains("counted by sm90"));
        assert!(refused("sm_80").contains("counted by sm80"));
        assert!(refused("gt20").contains("did you mean 'gt200'?"));
        assert!(refused("sm1").ends_with("'sm1'"), "{}", refused("sm1"));
    }
}
