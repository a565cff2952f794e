//! Formulas of the hash paper.

use super::Formula;

pub(super) const FORMULAS: &[Formula] = &[];
