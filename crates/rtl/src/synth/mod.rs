//! Area, delay and power of units on a real cell library: Yosys and ABC map
//! them, OpenSTA adds static timing and power.
//!
//! Units: areas in µm², times in ps, powers in mW.

mod effort;
mod features;
mod files;
mod gates;
mod job;
pub mod liberty;
mod macros;
mod netlist;
mod paths;
mod prepare;
mod published;
mod result;
mod sta;
mod stages;
mod structure;
mod sweep;
mod synthesis;
mod technology;
mod timing;
mod yosys;

pub use effort::Effort;
pub use features::{FEATURE_BLOCKS, FeatureCost, feature_builds, feature_costs};
pub use gates::Gates;
pub use job::{Memory, SynthJob};
pub use netlist::Netlist;
pub use paths::{End, PathReport, Segment, Step, WorstPath};
pub use published::{PUBLISHED, Published, TARGET_CLOCKS_GHZ, TARGET_PERIODS_PS};
pub use result::{SmTotal, SynthReport, UnitResult};
pub use sta::Analysis;
pub use structure::Structure;
pub use sweep::Flow;
pub use synthesis::{Measured, Synthesis};
pub use technology::{
    CellLibrary, DEFAULT_TECHNOLOGY, MemoryTiming, Technology, TechnologyPreset, TechnologySummary,
};
pub use timing::{ACTIVITY, Timing};

#[cfg(test)]
mod tests;
