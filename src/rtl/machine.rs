//! The machine that a design is emitted for, as its manifest and its FuseSoC
//! core name it.

use crate::config::Config;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The machine of a design, as far as its Verilog depends on it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Description {
    /// What is fixed in the Verilog.
    pub(super) fixed: Value,
    /// What the `cfg_*` ports of the path are to be driven with.
    pub(super) cfg: Value,
    /// The preset's name, or for other values than the preset's that name with
    /// their digest.
    pub(super) name: String,
}

impl Description {
    pub(super) fn of(config: &Config) -> Self {
        let fixed = fixed(config);
        let as_named = Config::preset(&config.name).map(|preset| self::fixed(&preset) == fixed);
        let name = match as_named {
            Ok(false) => {
                let digest = Sha256::digest(fixed.to_string());
                let digits = digest[..4].iter().map(|byte| format!("{byte:02x}"));
                format!("{}-{}", config.name, digits.collect::<String>())
            }
            _ => config.name.clone(),
        };
        Description {
            fixed,
            cfg: cfg(config),
            name,
        }
    }
}

/// Parameters under the names of microarchitecture/parameters.md, and
/// the hash of the lanes.
fn fixed(config: &Config) -> Value {
    json!({
        "parameters": config.parameters(),
        "hash": { "path": config.path.hash, "unit": config.hash_unit },
    })
}

/// The settings of the configuration as codes on the ports of the path. A
/// scheduler that is the model's alone has none.
fn cfg(config: &Config) -> Value {
    let settings = &config.settings;
    json!({
        "cfg_pipeline": settings.pipeline.code(),
        "cfg_barrel": settings.barrel.code(),
        "cfg_policy": settings.scheduler.code(),
        "cfg_aware": u8::from(settings.is_aware()),
        "cfg_violate": u8::from(settings.violate),
        "cfg_lock_hash": settings.lock_hash.code(),
        "cfg_sharing": u8::from(config.sm.sharing.on),
    })
}
