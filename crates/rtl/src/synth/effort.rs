//! Effort of ABC to meet the target period.

use crate::error::Result;
use crate::template::fill;
use serde::{Deserialize, Serialize};

/// Whether a netlist is optimised for area or for speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Yosys' own recipe: maps for area, then sizes gates for the period.
    #[default]
    Area,
    /// A timing-driven recipe where the first does not meet the period:
    /// balances depth before it maps, buffers every net of more than six
    /// inputs. Larger and slower to run.
    Speed,
}

/// The timing-driven recipe. `if -g` and `dch` in turn restructure the logic
/// for depth and keep the alternatives for the mapper; `buffer` before sizing
/// matters most where a register drives many gates.
const SPEED: &str = include_str!("../../synth/speed.abc.tera");

impl Effort {
    /// The script for ABC, if it is not Yosys' own.
    pub(super) fn script(self, target_ps: u32) -> Result<Option<String>> {
        match self {
            Effort::Area => Ok(None),
            Effort::Speed => {
                let values = serde_json::json!({ "target_ps": target_ps });
                fill("speed.abc.tera", SPEED, &values).map(Some)
            }
        }
    }
}

impl std::fmt::Display for Effort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Effort::Area => "area",
            Effort::Speed => "speed",
        })
    }
}
