//! Formulas of the elastic paper.

use super::{Formula, Inputs, numbers};
use crate::error::Result;
use crate::reproduce::point::Numbers;

pub(super) const FORMULAS: &[Formula] = &[("elastic.bound", bound)];

/// The theoretic speed-up of section 6.2: what is left of the time if no access
/// takes more than a pass. `intensity` is a share in percent, `degree` the mean
/// number of passes.
fn bound(inputs: &Inputs) -> Result<Numbers> {
    let intensity = inputs.number("intensity")? / 100.0;
    let degree = inputs.number("degree")?;
    Ok(numbers([("speed-up", 1.0 + intensity * (degree - 1.0))]))
}
