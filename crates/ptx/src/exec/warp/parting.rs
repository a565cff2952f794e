//! Lanes part at a branch: the sides become entries of the stack, above one where they wait
//! for each other (`BSSY`). A lane that takes a way on which it cannot come to such an entry
//! any more is taken out of it (`BREAK`), so the others do not wait for it.
//!
//! An entry has the lanes of all entries above it that are still to come there. Where a lane
//! is, the topmost entry with it says.

use super::{Entry, Path};
use crate::analysis::Relation;
use crate::exec::image::NEVER;
use crate::exec::image::form::{APART, Meet, Meeting, Overtaken};

/// Puts the sides of a branch on the stack, as places with their lanes; lanes that already are
/// where all meet wait in the entry below. Sides that leave the function apart meet where the
/// entry does.
pub(super) fn diverge(path: &mut Path, at: Meeting, sides: &[(u32, u32)]) {
    let Some(top) = path.stack.last_mut() else {
        return;
    };
    let meet = match at.depth {
        APART if top.meet != NEVER => top.meet,
        _ => at.pc,
    };
    let mut call = None;
    if top.meet == meet {
        call = top.call;
        path.stack.pop();
    } else {
        top.pc = meet;
        top.waits = Some(at);
    }
    for &(pc, lanes) in sides.iter().filter(|(pc, _)| *pc != meet) {
        path.stack.push(Entry {
            pc,
            meet,
            lanes,
            waits: None,
            call,
            retry: false,
        });
    }
}

/// Parts the sides of a branch of which some lead past entries where others wait, and takes
/// their lanes out of these: whether there are such sides. `inside`: where those meet that
/// stay in the loop around the branch, and their lanes.
#[inline(never)]
pub(super) fn overtake(
    path: &mut Path,
    past: &[Overtaken],
    (meet, inside): (Meet, Option<(Meeting, u32)>),
    sides: &[(u32, u32)],
) -> bool {
    let stack = &mut path.stack;
    let base = base(stack);
    let active = sides.iter().copied().filter(|side| side.1 != 0);
    let active: Vec<(u32, u32)> = active.collect();
    let below = (stack[base..].split_last()).map_or(&[][..], |(_, below)| below);
    let missed = missed(below, past, &active);
    let parts = active.len() > 1;
    let is_apart = |e: &Entry| of_entry(past, e).is_some_and(|o| o.own.is_some());
    let is_apart = || parts && below.iter().any(is_apart);
    if missed.is_empty() && inside.is_none() && !is_apart() {
        return false;
    }
    let Some(own) = stack.pop() else {
        return false;
    };
    let mut frame = stack.split_off(base.min(stack.len()));
    let first = *frame.first().unwrap_or(&own);
    for (all, passed, lanes) in missed {
        let waiting = frame.iter_mut().find(|e| e.waits == Some(passed.at));
        waiting.into_iter().for_each(|e| e.lanes &= !lanes);
        let join = passed.join.iter();
        join.for_each(|join| wait(&mut frame, *join, all));
    }
    let crosses = |e: &Entry| {
        let of = of_entry(past, e).filter(|_| e.lanes & own.lanes != 0);
        of.is_some_and(|o| o.own == Some(Relation::Crosses))
    };
    if meet.at.depth != APART && parts && !frame.iter().any(crosses) {
        wait(&mut frame, meet.at, own.lanes);
    }
    if let Some((at, lanes)) = inside {
        wait(&mut frame, at, lanes);
    }
    frame.extend(active.into_iter().map(|(pc, lanes)| Entry {
        pc,
        lanes,
        waits: None,
        call: None,
        ..own
    }));
    settle(&mut frame, first);
    stack.extend(frame);
    true
}

/// The lowest entry of the function on top.
fn base(stack: &[Entry]) -> usize {
    let call = stack.iter().rposition(|e| e.call.is_some());
    call.unwrap_or(0)
}

/// The meetings that sides of a branch lead past: the lanes that wait there so far, the
/// meeting, and the lanes of the side.
fn missed<'p>(
    below: &[Entry],
    past: &'p [Overtaken],
    sides: &[(u32, u32)],
) -> Vec<(u32, &'p Overtaken, u32)> {
    let mut found = Vec::new();
    for entry in below {
        let Some(of) = of_entry(past, entry) else {
            continue;
        };
        let passing = |side: &&(u32, u32)| side.1 & entry.lanes != 0 && of.sides.contains(&side.0);
        let passing = sides.iter().filter(passing);
        found.extend(passing.map(|&(_, lanes)| (entry.lanes, of, lanes)));
    }
    found
}

/// Lets each entry of a function meet the next one below that has its lanes. `first`: the
/// lowest entry so far.
fn settle(frame: &mut Vec<Entry>, first: Entry) {
    frame.retain(|e| e.lanes != 0);
    for at in 0..frame.len() {
        let (below, own) = frame.split_at_mut(at);
        let lanes = own[0].lanes;
        let meet = match own[0].waits {
            Some(_) => {
                let all = below.iter().rev().find(|e| lanes & !e.lanes == 0);
                all.map(|e| e.pc)
            }
            None => settled(below, lanes),
        };
        own[0].meet = meet.unwrap_or(first.meet);
        own[0].call = first.call.filter(|_| at == 0);
    }
    // Who is there already waits.
    frame.retain(|e| e.waits.is_some() || e.pc != e.meet);
}

/// The meeting of the sides of a branch that stay in the loop around it, `inside`, with
/// their lanes, if they are several.
pub(super) fn staying(
    past: &[Overtaken],
    inside: Meeting,
    sides: &[(u32, u32)],
) -> Option<(Meeting, u32)> {
    let out = past.iter().find(|o| o.at == inside);
    let stays = |pc: &u32| out.is_none_or(|o| !o.sides.contains(pc));
    let stay = || sides.iter().filter(|(pc, lanes)| *lanes != 0 && stays(pc));
    (stay().count() > 1).then(|| (inside, stay().fold(0, |all, side| all | side.1)))
}

/// Begins to execute the lanes on top, which others waited for so far.
pub(super) fn begin(stack: &mut [Entry]) {
    let base = base(stack);
    let Some((top, below)) = stack[base..].split_last_mut() else {
        return;
    };
    top.waits = None;
    if let Some(meet) = settled(below, top.lanes) {
        top.meet = meet;
    }
}

/// The place of the topmost entry where all of these lanes wait. They are at one place, so
/// where some of them wait only, those come by another way: they are taken out.
fn settled(below: &mut [Entry], lanes: u32) -> Option<u32> {
    for entry in below.iter_mut().rev() {
        if lanes & !entry.lanes == 0 {
            return Some(entry.pc);
        }
        entry.lanes &= !lanes;
    }
    None
}

/// The branch's knowledge of an entry where lanes wait.
fn of_entry<'p>(past: &'p [Overtaken], entry: &Entry) -> Option<&'p Overtaken> {
    past.iter().find(|o| Some(o.at) == entry.waits)
}

/// Lets lanes wait for each other at a place: below all entries that they come to first.
fn wait(frame: &mut Vec<Entry>, at: Meeting, lanes: u32) {
    let known = frame.iter().position(|e| e.waits == Some(at));
    let lanes = lanes | known.map_or(0, |known| frame.remove(known).lanes);
    let is_first = |e: &Entry| {
        let first = |other: Meeting| {
            let inside = other.depth != APART && other.depth > at.depth;
            inside || other.depth == at.depth && other.order < at.order
        };
        e.lanes & lanes != 0 && e.waits.is_none_or(first)
    };
    let below = frame.iter().position(is_first).unwrap_or(frame.len());
    frame.insert(
        below,
        Entry {
            pc: at.pc,
            meet: NEVER,
            lanes,
            waits: Some(at),
            call: None,
            retry: false,
        },
    );
}
