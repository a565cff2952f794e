//! The arrays that are mapped, and how the source declares them.

pub(super) mod copies;
pub(super) mod extent;
pub(super) mod form;
pub(super) mod room;
pub(super) mod rows;
pub(super) mod target;
