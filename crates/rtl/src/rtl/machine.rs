//! The machine that a design is emitted for, as its manifest and its FuseSoC
//! core name it.

use crate::config::{Config, PathHash};
use crate::digest::sha256_hex;
use crate::hash::{HashKind, HashSpec};
use serde::Serialize;
use spadkit_hdl::Params;

/// The machine of a design, as far as its Verilog depends on it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Description {
    /// The preset's name, or for other values than the preset's that name with
    /// their digest.
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) fixed: Fixed,
    cfg: Settings,
}

/// The parameters that are fixed in the Verilog.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Fixed {
    /// Under the names of microarchitecture/parameters.md.
    pub(super) parameters: Params,
    hash: LaneHash,
}

/// The hash of the lanes.
#[derive(Clone, Debug, Serialize)]
struct LaneHash {
    path: PathHash,
    unit: HashKind,
    /// The mapping after a reset; left out for bank = addr mod 2^m.
    #[serde(skip_serializing_if = "HashSpec::is_mod")]
    reset: HashSpec,
}

/// The codes with which to drive the `cfg_*` ports of the path.
#[derive(Clone, Debug, Serialize)]
struct Settings {
    cfg_pipeline: u8,
    cfg_barrel: u8,
    /// Null for a scheduler that is the model's alone.
    cfg_policy: Option<u8>,
    cfg_aware: u8,
    cfg_violate: u8,
    cfg_lock_hash: u8,
    cfg_sharing: u8,
}

impl Description {
    pub(super) fn of(config: &Config) -> Self {
        let fixed = Fixed::of(config);
        let text = fixed.text();
        // A preset with the latencies of its paper, or with those of hardware.
        let as_named = Config::preset(&config.name).map(|preset| {
            let machines = [preset.clone(), preset.for_hardware()];
            machines
                .iter()
                .any(|machine| Fixed::of(machine).text() == text)
        });
        let name = match as_named {
            Ok(false) => {
                format!("{}-{}", config.name, &sha256_hex(text)[..8])
            }
            _ => config.name.clone(),
        };
        Description {
            name,
            fixed,
            cfg: Settings::of(config),
        }
    }
}

impl Fixed {
    fn of(config: &Config) -> Self {
        Fixed {
            parameters: config.parameters(),
            hash: LaneHash {
                path: config.path.hash,
                unit: config.hash_unit,
                reset: config.path.hash_reset.clone(),
            },
        }
    }

    fn text(&self) -> String {
        serde_json::to_string(self).expect("fields with names")
    }
}

impl Settings {
    fn of(config: &Config) -> Self {
        let settings = &config.settings;
        Settings {
            cfg_pipeline: settings.pipeline.code(),
            cfg_barrel: settings.barrel.code(),
            cfg_policy: settings.scheduler.code(),
            cfg_aware: settings.is_aware().into(),
            cfg_violate: settings.violate.into(),
            cfg_lock_hash: settings.lock_hash.code(),
            cfg_sharing: config.sm.sharing.on.into(),
        }
    }
}
