//! Scratchpad sharing between pairs of thread blocks (sharing paper).

mod residency;

pub use residency::{BlockNeeds, Limit, Residency};
