//! The texture unit (microarchitecture/sm-model.md).

use crate::config::TextureUnit;

/// The unit, which begins fetches in the order in which they come.
pub(super) struct Texture {
    parameters: TextureUnit,
    /// First cycle in which it can begin another one.
    free_at: u64,
}

impl Texture {
    pub fn new(parameters: TextureUnit) -> Self {
        Texture {
            parameters,
            free_at: 0,
        }
    }

    /// A fetch of this many lanes that leaves the path in `cycle`: the cycle of
    /// its texels.
    pub fn fetch(&mut self, lanes: u32, cycle: u64) -> u64 {
        let TextureUnit { per_cycle, latency } = self.parameters;
        let start = self.free_at.max(cycle + 1);
        self.free_at = start + u64::from(lanes.div_ceil(per_cycle).max(1));
        self.free_at - 1 + u64::from(latency)
    }
}
