//! The handle of a buffer.

/// Names a buffer of a [`Memory`](super::Memory).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferId(pub(super) usize);
