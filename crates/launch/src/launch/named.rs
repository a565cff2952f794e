//! Arguments by their names.

use spadkit_base::error::Result;
use spadkit_base::input::section::{Placed, Source};
use spadkit_base::quote::did_you_mean;

/// The argument of that name.
pub(super) fn index_of(name: &Placed<String>, source: &Source, names: &[String]) -> Result<usize> {
    let found = names.iter().position(|n| *n == name.value);
    found.ok_or_else(|| {
        let near = did_you_mean(&name.value, names.iter().map(String::as_str));
        let what = format!("there is no argument '{}'{near}", name.value);
        let help = format!("expected one of {}", names.join(", "));
        source.error(what, help, name.offset)
    })
}
