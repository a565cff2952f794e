//! Formulas of the atomics paper.

use super::Formula;

pub(super) const FORMULAS: &[Formula] = &[];
