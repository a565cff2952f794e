//! Checks that need more than the instruction: races with earlier accesses,
//! reads of what nobody has written or waited for, products that the warps of a
//! warpgroup do not have in common. They compare with the state in `race` and `machine`
//! and note findings.

pub(super) mod accumulators;
pub(super) mod asynchronous;
pub(super) mod clusters;
pub(super) mod departures;
pub(super) mod discard;
pub(super) mod early;
pub(super) mod groups;
pub(super) mod ordered;
mod overwritten;
pub(super) mod prepared;
mod proxies;
pub(super) mod raced;
mod report;
pub(super) mod texels;
pub(super) mod unwaited;
pub(super) mod unwritten;
pub(super) mod values;
