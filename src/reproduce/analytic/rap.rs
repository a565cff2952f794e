//! Formulas of the RAP paper.

use super::Formula;

pub(super) const FORMULAS: &[Formula] = &[];
