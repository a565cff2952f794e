//! Scratchpad sharing between pairs of thread blocks (sharing paper).
//!
//! The hardware half is in [`model`](spadkit_sm::model) and [`sm`](spadkit_sm::sm). This
//! module has the residency that both use, and the compiler half
//! (docs/guides/sharing.md): access ranges of shared variables, the choice of
//! those that two blocks share, and the placement of `relssp`.

pub mod annotate;
mod attribution;
mod drawing;
mod entry;
mod flights;
mod graph;
mod layout;
mod placement;
mod plan;
mod ranges;
mod variants;

pub use attribution::Unattributed;
pub use drawing::{Drawing, DrawnBlock, DrawnEdge, short};
pub use entry::{AnalysedEntry, find_entry};
pub use graph::{Edge, FlowGraph};
pub use layout::{BUDGET, EXACT, Layout, Variable};
pub use placement::{Placement, ProgramPoint, release_points};
pub use plan::{LayoutKind, Needs, Plan, Planned, storage_bits};
pub use ranges::{Costs, Ranges, VariableSet};
pub use spadkit_sm::sm::{BlockNeeds, Limit, Residency, cannot_share};
pub use variants::{Gain, Launched, Progress, Variant, annotated_launch, gains, variants};
