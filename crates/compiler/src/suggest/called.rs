//! The CUDA functions that changed lines call.

use super::lines::change::{LineChange, Parts};
use super::mapped::Mapped;
use super::source::edits::Maps;
use super::source::words::word;
use spadkit_mapping::geometry::WORD_BYTES;
use spadkit_mapping::software::{Layout, cuda_address_function, cuda_function};

/// The functions that the changed `lines` call; elements have `bytes`.
pub(super) fn functions(
    lines: &[LineChange],
    layout: &Layout,
    mapped: Mapped,
    bytes: u32,
) -> String {
    let of_address = |l: &LineChange| {
        let is_of_objects = l.parts.are_torn() || l.parts == Parts::OfOneObject;
        let is_address = is_of_objects || l.is_through_a_pointer(mapped.array);
        match l.maps() {
            Some(maps) => !matches!(maps, Maps::Indices | Maps::Both),
            None => l.is_by_hand() && is_address,
        }
    };
    // Addresses need only the function of words.
    let unit = if lines.iter().all(of_address) {
        WORD_BYTES
    } else {
        bytes
    };
    let mut code = cuda_function(layout, mapped.function, unit);
    let helper = format!("{}_at", mapped.function);
    let names_helper = |l: &LineChange| l.statement().is_some_and(|(_, new)| has(new, &helper));
    let is_mixed = |l: &LineChange| !l.also_through.is_empty();
    if lines
        .iter()
        .any(|l| of_address(l) || names_helper(l) || is_mixed(l))
    {
        code += &cuda_address_function(layout, mapped.function, unit);
    }
    code
}

/// Whether a line names `name`.
fn has(line: &str, name: &str) -> bool {
    word(line, name).is_some()
}
