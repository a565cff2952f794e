//! The lanes that an instruction of a warp names.

use crate::exec::api::FindingKind;
use crate::exec::machine::Machine;
use crate::exec::registers::active;

/// Whether the lanes of `exec` have one mask.
#[inline(always)]
pub fn agree(m: &Machine, masks: u32, exec: u32) -> bool {
    let first = m.registers.word(masks, exec.trailing_zeros() % 32);
    // Nearly always in all 32: that is quick.
    m.registers.are_all(masks, first)
        || active(exec).all(|lane| m.registers.word(masks, lane) == first)
}

/// Looks at the masks of the lanes that execute an instruction which names
/// lanes: who executes it has to be in its own, who has exited, or does not execute
/// it because of its guard, in none. `agree` where there is one mask.
#[inline(always)]
pub fn check(m: &mut Machine, (masks, agree): (u32, bool), exec: u32, alive: u32, started: u32) {
    let first = m.registers.word(masks, exec.trailing_zeros() % 32);
    // Those named that are here, and whose guard keeps them from executing it.
    let kept = m.active & alive & !exec;
    if !agree || exec & !first != 0 || first & (started & !alive | kept) != 0 {
        look(m, masks, exec, (started & !alive, kept));
    }
}

#[inline(never)]
fn look(m: &mut Machine, masks: u32, exec: u32, (exited, kept): (u32, u32)) {
    for lane in active(exec) {
        let mask = m.registers.word(masks, lane);
        if mask >> lane & 1 == 0 {
            let text = format!("lane {lane} executes it and is not in its mask {mask:#010x}");
            m.found(FindingKind::InvalidMask, lane, None, None, text);
        } else if mask & kept != 0 {
            let text = format!(
                "the mask {mask:#010x} names lanes whose guard is false, which do not execute it: \
                 {:#010x}",
                mask & kept
            );
            m.found(FindingKind::InvalidMask, lane, None, None, text);
        } else if mask & exited != 0 {
            let gone = mask & exited;
            let text = format!("the mask {mask:#010x} names lanes that have exited: {gone:#010x}");
            m.note((FindingKind::InvalidMask, true), lane, None, None, text);
        }
    }
}

/// `bar.warp.sync`: lanes with one mask that names them have seen what each other did.
/// Of all instructions that name lanes it alone orders memory.
pub fn meet(m: &mut Machine, masks: u32, exec: u32) {
    let Some(races) = &mut m.races else {
        return;
    };
    let mut left = exec;
    while left != 0 {
        let mask = m.registers.word(masks, left.trailing_zeros());
        let group = active(left).filter(|&l| m.registers.word(masks, l) == mask);
        let group = group.fold(0, |all, l| all | 1 << l);
        left &= !group;
        races.order.meet(m.warp, group & mask);
    }
}
