//! Instructions whose effect others wait for: bulk copies and copies of
//! tensors, the groups of copies and products, and `mbarrier`.
//!
//! What they are told is decoded to `image::asynchronous`; the state of an
//! `mbarrier` is `machine::phase`.

pub(super) mod bulk;
pub(super) mod bulk_tensor;
pub(super) mod deliver;
mod map_memory;
pub(super) mod mbarrier;
