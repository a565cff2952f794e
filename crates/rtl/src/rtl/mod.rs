//! The emit layer: from unit names to a folder of Verilog with its manifest,
//! file list, constraints and FuseSoC core.

mod bender;
mod budget;
mod constraints;
mod design;
mod edited;
mod foreign;
mod fusesoc;
mod machine;
mod manifest;
mod prefix;
mod source_map;
mod system;
mod timescale;
mod write;

pub use budget::Budget;
pub(crate) use design::no_unit;
pub use design::{Design, EmittedUnit, SourceFile};
pub use foreign::check_foreign;
pub(crate) use foreign::read_foreign;
pub use manifest::Manifest;
pub use source_map::named;
pub(crate) use source_map::with_origins;
pub use spadkit_hdl::{Dir, Origin, Port, Reset, Style, Vector};
pub use system::SystemVerilog;
pub use timescale::Timescale;
pub use write::{design_files, write_design};
