//! Manner of an access, and the order that the words it reads or writes make.

use crate::exec::image::form::{Form, Step};
use crate::exec::image::{Action, MemoryOp, Transfer};
use crate::exec::machine::Machine;
use crate::exec::ordering::Strength;
use crate::exec::race::clock::Word;
use crate::exec::race::lanes;
use crate::exec::race::mark::How;
use crate::exec::race::shadow::Touch;
use crate::exec::race::stored::Stored;
use crate::exec::race::words::Bytes;
use crate::exec::texture::Operation;

/// Lanes access words, and what that orders before and after: words by their
/// keys, which other blocks may read or not.
pub fn ordered<'a>(
    m: &mut Machine<'a>,
    info: &MemoryOp,
    exec: u32,
    (wide, keys): (bool, &[u64; 32]),
    access: impl FnOnce(&mut Machine<'a>),
) {
    if let Some(races) = &mut m.races {
        races.order.act(m.warp, exec);
    }
    let some = |m: &Machine| {
        let races = m.races.as_ref();
        let orders = info.order.acquire || info.order.release;
        info.order.strength != Strength::Weak
            && (orders || races.is_some_and(|r| r.order.has_words()))
    };
    let orders = some(m);
    // A volatile load orders what follows, but not itself.
    let late = info.order.strength == Strength::Volatile && !info.transfer.writes();
    if orders && info.transfer.is_atomic() {
        lanes(exec).for_each(|lane| order(m, info, 1 << lane, wide, keys));
    } else if orders && !info.transfer.writes() && !late {
        order(m, info, exec, wide, keys);
    }
    access(m);
    if some(m) && (info.transfer.only_writes() || late) {
        order(m, info, exec, wide, keys);
    }
    if info.order.strength == Strength::Weak && info.transfer.writes() {
        overwrite(m, info, exec, wide, keys);
    }
}

/// Lets the words that weak stores of lanes replace carry nothing any more.
fn overwrite(m: &mut Machine, info: &MemoryOp, exec: u32, global: bool, addresses: &[u64; 32]) {
    let Some(races) = (m.races.as_mut()).filter(|r| r.order.has_carried(global)) else {
        return;
    };
    for lane in lanes(exec) {
        let write = Bytes {
            address: addresses[lane as usize],
            count: info.bytes as u8,
        };
        races.order.overwrite(write, global);
    }
}

/// Lanes read or write words that may order.
fn order(m: &mut Machine, info: &MemoryOp, mut mask: u32, global: bool, addresses: &[u64; 32]) {
    let (warp, pc, update) = (m.warp, m.pc, info.transfer.is_atomic());
    let scope = info.order.scope.among(m.has_peers());
    let size = how(m, info).size;
    let Some(races) = &mut m.races else {
        return;
    };
    while mask != 0 {
        let address = addresses[mask.trailing_zeros() as usize];
        let same = lanes(mask).filter(|&l| addresses[l as usize] == address);
        let same = same.fold(0, |all, l| all | 1 << l);
        mask &= !same;
        // A vector is an access to each of its elements.
        for element in (address..address + u64::from(info.bytes)).step_by(usize::from(size)) {
            let word = |orders| Word {
                bytes: Bytes {
                    address: element,
                    count: size,
                },
                global,
                scope,
                orders,
                update,
                pc,
            };
            if !info.transfer.only_writes() && !info.order.unread {
                races.order.read(warp, same, word(info.order.acquire));
            }
            if info.transfer.writes() {
                races.order.write(warp, same, word(info.order.release));
            }
        }
    }
}

/// The manner of an access.
fn how(m: &Machine, info: &MemoryOp) -> How {
    let blind = match &info.transfer {
        Transfer::Atomic(updates) => updates.iter().all(|u| u.result.is_none()),
        _ => false,
    };
    How {
        blind,
        strength: info.order.strength,
        scope: info.order.scope.among(m.has_peers()),
        size: info.strong_bytes() as u8,
    }
}

/// An access that a warp is about to make.
pub fn touch(m: &Machine, info: &MemoryOp, moment: u32) -> Touch {
    Touch {
        warp: m.warp,
        lanes: 0,
        moment,
        pc: m.pc,
        how: how(m, info),
        write: info.transfer.writes(),
        update: info.transfer.is_atomic(),
        stored: Stored::default(),
        passing: info.transfer.is_copy(),
    }
}

pub fn form<'i>(m: &Machine<'i>, pc: u32) -> Option<&'i Form> {
    m.image.ops.get(pc as usize).map(|op| &op.form)
}

/// Whether an instruction fetches texels through the cache of textures, which does not see
/// what the launch writes.
pub fn fetches_texels(m: &Machine, pc: u32) -> bool {
    let Some(Form::Step(Step::Texture { texture })) = form(m, pc) else {
        return false;
    };
    let operation = &m.image.textures[*texture as usize].operation;
    matches!(
        operation,
        Operation::Fetch { .. } | Operation::Gather { .. }
    )
}

/// Whether an instruction is one of `mbarrier`.
pub fn uses_barrier(m: &Machine, pc: u32) -> bool {
    let form = form(m, pc);
    form.is_some_and(|f| matches!(f, Form::Step(Step::Mbarrier { .. }) | Form::Wait { .. }))
}

/// Whether it is `mbarrier.inval`.
pub fn ends_barrier(m: &Machine, pc: u32) -> bool {
    match form(m, pc) {
        Some(Form::Step(Step::Mbarrier { change })) => {
            m.image.changes[*change as usize].action == Action::Invalidate
        }
        _ => false,
    }
}
