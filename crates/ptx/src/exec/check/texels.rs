//! Races through textures and surfaces, whose texels are bytes of a buffer.

use super::ordered::fetches_texels;
use super::raced;
use crate::exec::machine::Machine;
use crate::exec::memory::Object;
use crate::exec::ordering::{Scope, Strength};
use crate::exec::race::global::Reach;
use crate::exec::race::mark::How;
use crate::exec::race::shadow::Touch;
use crate::exec::race::stored::Stored;

/// Whether accesses to texels are remembered.
pub fn are_checked(m: &Machine) -> bool {
    m.races.as_ref().is_some_and(|r| r.global.is_some())
}

/// A lane fetches or loads bytes of a buffer from an offset on.
pub fn read(m: &mut Machine, lane: u32, object: &Object, (offset, bytes): (u64, u64)) {
    touch(m, (object, offset, bytes), lane, |touch| touch);
}

/// A lane stores elements, each an offset, its bytes and the value.
pub fn stored(m: &mut Machine, lane: u32, object: &Object, elements: &[(u64, u64, u64)]) {
    let Some(&(first, ..)) = elements.first() else {
        return;
    };
    let bytes = elements.iter().map(|(_, bytes, _)| bytes).sum();
    let mut stored = Stored::of(bytes as u32);
    for &(offset, bytes, value) in elements {
        let changed = (object.element(offset, bytes) ^ value).to_le_bytes();
        let is_there = |n: &u64| changed[*n as usize] == 0;
        let there = (0..bytes).filter(is_there).fold(0, |all, n| all | 1 << n);
        stored.put((offset - first) as u32, bytes as u32, value, there);
    }
    touch(m, (object, first, bytes), lane, |touch| Touch {
        write: true,
        stored,
        ..touch
    });
}

/// A lane reduces an element by an atomic, for the whole GPU.
pub fn reduced(m: &mut Machine, lane: u32, object: &Object, (offset, bytes): (u64, u64)) {
    let how = How {
        strength: Strength::Strong,
        scope: Scope::Wide,
        size: bytes as u8,
        blind: true,
    };
    touch(m, (object, offset, bytes), lane, |touch| Touch {
        write: true,
        update: true,
        how,
        ..touch
    });
}

fn touch(
    m: &mut Machine,
    (object, offset, bytes): (&Object, u64, u64),
    lane: u32,
    with: impl FnOnce(Touch) -> Touch,
) {
    let fixed = fetches_texels(m, m.pc);
    let Some(races) = m.races.as_mut().filter(|r| r.global.is_some()) else {
        return;
    };
    let moment = races.order.tick();
    let touch = with(Touch {
        passing: false,
        ..Touch::weak(m.warp, 1 << lane, moment, m.pc)
    });
    let reach = Reach {
        address: object.address + offset,
        bytes: bytes as u32,
        fixed,
        agent: None,
    };
    raced::global(m, reach, None, touch);
}
