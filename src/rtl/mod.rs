//! The emit layer: from unit names to a directory of Verilog with its
//! manifest, file list and FuseSoC core.

mod design;
mod foreign;
mod machine;
mod write;

pub use design::{Design, EmittedUnit, SourceFile};
pub use foreign::{check_foreign, read_foreign};
pub use spadkit_hdl::{Dir, Port};
pub use write::write_design;
