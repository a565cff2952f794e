//! The emit layer: from unit names to a directory of Verilog with its
//! manifest, file list and FuseSoC core.

mod design;
mod edited;
mod machine;
mod write;

pub use design::{Design, EmittedUnit, SourceFile};
pub use spadkit_hdl::{Dir, Port};
pub use write::write_design;
