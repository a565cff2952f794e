//! An access that is compared with earlier ones, and the result of the comparison.

use super::clock::Order;
use super::mark::{How, Mark};
use super::stored::Stored;
use super::{FLYING, lanes};
use crate::exec::ordering::{Scope, Strength};

/// An access of lanes of a warp to a place, with a moment of its own.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub warp: u32,
    pub lanes: u32,
    pub moment: u32,
    pub pc: u32,
    pub how: How,
    pub write: bool,
    /// An atomic; `write` is set, too.
    pub update: bool,
    /// The values that it stores.
    pub stored: Stored,
    /// The access is only compared: whoever calls remembers it, if at all.
    pub passing: bool,
}

impl Touch {
    /// A weak read of lanes that is not remembered.
    pub fn weak(warp: u32, lanes: u32, moment: u32, pc: u32) -> Touch {
        Touch {
            warp,
            lanes,
            moment,
            pc,
            how: How::default(),
            write: false,
            update: false,
            stored: Stored::default(),
            passing: true,
        }
    }

    /// Lanes use an `mbarrier` object.
    pub fn of_object(warp: u32, lanes: u32, moment: u32, pc: u32, kind: ObjectUse) -> Touch {
        let strength = match kind {
            ObjectUse::Made => Strength::Weak,
            ObjectUse::Changed | ObjectUse::Read => Strength::Strong,
        };
        Touch {
            how: How {
                strength,
                size: OBJECT_BYTES as u8,
                ..How::default()
            },
            write: kind != ObjectUse::Read,
            update: kind == ObjectUse::Changed,
            passing: false,
            ..Touch::weak(warp, lanes, moment, pc)
        }
    }

    pub fn mark(&self) -> Mark {
        Mark {
            moment: self.moment,
            pc: self.pc,
            lanes: self.lanes,
            warp: self.warp as u8,
            how: self.how,
            ..Mark::default()
        }
    }

    /// The mark of a place, of so many bytes from a byte of the access on.
    #[inline(always)]
    pub fn mark_at(&self, at: u32, unit: u32) -> Mark {
        if self.write {
            self.stored.mark(self.mark(), at, unit)
        } else {
            self.mark()
        }
    }
}

/// Bytes of an `mbarrier` object, and their alignment.
pub const OBJECT_BYTES: u64 = 8;

/// Kinds of use of an `mbarrier` object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectUse {
    /// The object is initialised or invalidated.
    Made,
    Changed,
    Read,
}

/// A race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    pub place: u32,
    /// The lane that has not seen the earlier access.
    pub lane: u32,
    pub earlier: Mark,
    /// The lanes of it that the lane has not seen.
    pub unseen: u32,
    pub wrote: bool,
    /// The value stays the same, whoever comes first.
    pub harmless: bool,
    /// Only a fence is missing, after this instruction, which read a word of another
    /// block.
    pub ticket: Option<u32>,
    /// The block may have an old value in its L1 cache.
    pub cached: bool,
    /// Both accesses are volatile: no race, but the load may come too early.
    pub hoisted: bool,
}

impl Hit {
    /// A fault of the lane at `place`, which has not seen the lanes `unseen` of an `earlier`
    /// access, a write if it `wrote`.
    pub fn new(place: u32, lane: u32, (earlier, unseen): (Mark, u32), wrote: bool) -> Self {
        Hit {
            place,
            lane,
            earlier,
            unseen,
            wrote,
            harmless: false,
            ticket: None,
            cached: false,
            hoisted: false,
        }
    }
}

/// The lane for which an earlier access is unordered and conflicts.
pub fn clash(order: &Order, mark: &Mark, touch: &Touch) -> Option<u32> {
    let gone = mark.moment < order.start_of_block();
    if gone || mark.moment == touch.moment || touch.how.agrees(mark.how, Scope::Block) {
        return None;
    }
    if mark.moment == FLYING {
        return Some(touch.lanes.trailing_zeros());
    }
    let loosely = touch.how.is_loose_with(mark.how);
    lanes(touch.lanes).find(|&l| order.unseen(touch.warp, l, mark, loosely) != 0)
}

/// The lanes of an earlier access that race with a lane; all of them, if the race does not
/// depend on what the lane has seen.
pub fn unseen(order: &Order, mark: &Mark, touch: &Touch, lane: u32) -> u32 {
    let loosely = touch.how.is_loose_with(mark.how);
    let some = match mark.moment {
        FLYING => 0,
        _ => order.unseen(touch.warp, lane, mark, loosely),
    };
    if some == 0 { mark.lanes } else { some }
}

/// Judges an access that clashes with an earlier store of a place: the lane concerned, and
/// whether the value is the same whoever comes first. Two stores have to write the same;
/// beside a read, the value has to have been there before the store. `None` if the reader
/// has seen, or made, a later store of the same value.
pub fn judged<'a>(
    order: &Order,
    (store, stores): (&Mark, impl Iterator<Item = &'a Mark> + Clone),
    (touch, new): (&Touch, &Mark),
    lane: u32,
) -> Option<(u32, bool)> {
    if touch.write || store.moment == FLYING {
        return Some((lane, touch.write && new.differs(store) == 0));
    }
    let unseen = |l: u32, m: &Mark| order.unseen(touch.warp, l, m, false) != 0;
    let made = |l: u32, m: &Mark| {
        let own = u32::from(m.warp) == touch.warp && m.lanes >> l & 1 != 0;
        own && m.known && !m.joint && order.is_own(m)
    };
    let echo = |l: u32| {
        let later = |m: &Mark| m.is_silent() && m.moment > store.moment && m.moment != FLYING;
        let mut all = stores.clone().filter(|m| later(m));
        all.any(|m| made(l, m) || !unseen(l, m))
    };
    if lanes(touch.lanes).all(echo) {
        return None;
    }
    if store.is_silent() {
        return Some((lane, true));
    }
    let wrong = |&l: &u32| unseen(l, store) && !made(l, store) && !echo(l);
    let wrong = lanes(touch.lanes).find(wrong);
    Some(wrong.map_or((lane, true), |wrong| (wrong, false)))
}

/// Whether nothing races with an earlier access any more.
pub fn is_dead(order: &Order, mark: &Mark) -> bool {
    let settled = mark.warp < super::AGENTS && mark.moment < order.base();
    settled || mark.moment < order.start_of_block()
}

/// Whether all that may race with an earlier access races with this one, too.
pub fn is_passed(order: &Order, mark: &Mark, touch: &Touch) -> bool {
    let seen = |l: u32| order.unseen(touch.warp, l, mark, false) == 0;
    mark.moment != FLYING && touch.how.covers(mark.how) && lanes(touch.lanes).all(seen)
}
