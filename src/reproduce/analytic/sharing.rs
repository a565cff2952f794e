//! Formulas of the sharing paper.

use super::Formula;

pub(super) const FORMULAS: &[Formula] = &[];
