//! Lanes part at a branch: the sides become entries of the stack. Lanes that go past the place
//! where others of their entry meet are taken out of it.

use super::{Entry, Path};
use crate::exec::image::NEVER;
use crate::exec::image::form::{APART, Meet, Overtaken};

/// Puts the sides of a branch on the stack, as places with their lanes; lanes that already are
/// where all meet wait in the entry below. Sides that leave the function apart meet where the
/// entry does.
pub(super) fn diverge(path: &mut Path, at: Meet, sides: &[(u32, u32)]) {
    let Some(top) = path.stack.last_mut() else {
        return;
    };
    let (meet, depth) = match at.depth {
        APART if top.meet != NEVER => (top.meet, top.depth),
        APART => (at.pc, 0),
        depth => (at.pc, depth),
    };
    let mut call = None;
    if top.meet == meet {
        call = top.call;
        path.stack.pop();
    } else {
        top.pc = meet;
    }
    for &(pc, lanes) in sides.iter().filter(|(pc, _)| *pc != meet) {
        path.stack.push(Entry {
            pc,
            meet,
            depth,
            lanes,
            call,
            retry: false,
        });
    }
}

/// Where sides of a branch lead past the meeting of the entry on top, takes their lanes to the
/// entries whose meeting they come to: whether there are such sides. The others stay.
#[inline(never)]
pub(super) fn overtake(
    path: &mut Path,
    past: &[Overtaken],
    meet: Meet,
    sides: &[(u32, u32)],
) -> bool {
    let top = path.stack.len() - 1;
    let active = sides.iter().copied().filter(|side| side.1 != 0);
    let placed = active.map(|side| (around(&path.stack, past, side), side));
    let (stay, mut leaving): (Vec<_>, Vec<_>) = placed.partition(|(at, _)| *at == top);
    let Some(own) = path.stack.pop_if(|_| !leaving.is_empty()) else {
        return false;
    };
    // The outer ones first: their entry is then around the others'.
    leaving.sort_by_key(|(at, _)| *at);
    let sides = |all: Vec<(usize, (u32, u32))>| all.into_iter().map(|(_, side)| side);
    let entry = |(pc, lanes)| Entry { pc, lanes, ..own };
    path.stack.extend(sides(stay).map(entry));
    if meet.depth == APART {
        // They come nowhere but out.
        path.stack.extend(sides(leaving).map(entry));
    } else {
        leave(path, past, meet, &sides(leaving).collect::<Vec<_>>());
    }
    true
}

/// Parts the sides of a branch to a table some of which leave the loop that it is in, where
/// several others stay, which meet at `inside`: whether it is so.
pub(super) fn leave_loop(
    path: &mut Path,
    past: &[Overtaken],
    (meet, inside): (Meet, (u32, u8)),
    sides: &[(u32, u32)],
) -> bool {
    let out = past.iter().find(|o| (o.meet, o.depth) == inside);
    let leaves = |pc: u32| out.is_some_and(|o| o.sides.contains(&pc));
    let active = sides.iter().copied().filter(|side| side.1 != 0);
    let (leaving, stay): (Vec<_>, Vec<_>) = active.partition(|(pc, _)| leaves(*pc));
    if stay.len() < 2 || meet.depth == APART && !leaving.is_empty() {
        return false;
    }
    let (pc, depth) = inside;
    diverge(path, Meet { pc, depth, ..meet }, &stay);
    leave(path, past, meet, &leaving);
    true
}

/// Takes the lanes of sides out of the entries whose meeting they lead past. They go on by
/// themselves, and meet the others at `meet`.
fn leave(path: &mut Path, past: &[Overtaken], meet: Meet, sides: &[(u32, u32)]) {
    for &side in sides {
        let at = around(&path.stack, past, side);
        take_out(&mut path.stack, (at, side.1), meet);
    }
    let away = sides.iter().filter(|(pc, _)| *pc != meet.pc);
    path.stack.extend(away.map(|&(pc, lanes)| Entry {
        pc,
        meet: meet.pc,
        depth: meet.depth,
        lanes,
        call: None,
        retry: false,
    }));
}

/// The entry of a function, from the top down, whose meeting lanes come to from `pc`. Between
/// those that the lanes are in are other sides of their branches.
fn around(stack: &[Entry], past: &[Overtaken], (pc, lanes): (u32, u32)) -> usize {
    let base = (stack.iter().rposition(|e| e.call.is_some())).unwrap_or(0);
    let passes = |entry: &Entry| {
        past.iter()
            .any(|o| (o.meet, o.depth) == (entry.meet, entry.depth) && o.sides.contains(&pc))
    };
    let mut own = (base..stack.len())
        .rev()
        .filter(|&at| stack[at].lanes & lanes != 0);
    own.find(|&at| !passes(&stack[at])).unwrap_or(base)
}

/// Takes lanes out of an entry and those above it, and lets all of that entry meet at `meet`
/// before they come to its meeting.
fn take_out(stack: &mut Vec<Entry>, (mut at, lanes): (usize, u32), meet: Meet) {
    let outer = stack[at];
    if outer.meet != meet.pc {
        stack[at] = Entry {
            meet: meet.pc,
            depth: meet.depth,
            call: None,
            ..outer
        };
        let below = Entry {
            pc: meet.pc,
            retry: false,
            ..outer
        };
        stack.insert(at, below);
        at += 1;
    }
    stack[at..].iter_mut().for_each(|e| e.lanes &= !lanes);
    let inner: Vec<Entry> = stack.drain(at..).filter(|e| e.lanes != 0).collect();
    stack.extend(inner);
}
