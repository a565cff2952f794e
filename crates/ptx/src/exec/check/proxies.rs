//! Fences between the proxies: what threads have written, and copies and tensor cores are
//! about to read or overwrite.

use crate::exec::machine::Machine;
use crate::exec::machine::pairs::{Place, Race, Side, Why};
use crate::exec::race::global::Reach;
use crate::exec::race::mark::Mark;
use crate::exec::race::shadow::Touch;
use crate::exec::race::{AGENTS, FLYING};

/// Reports writes by threads to shared memory that no proxy fence has made visible to an
/// asynchronous access which is about to be made.
pub fn unfenced(m: &mut Machine, (address, bytes): (u64, u64), touch: &Touch) {
    let Some(races) = &mut m.races else {
        return;
    };
    let (first, count) = races.places(address, bytes as u32);
    let unit = u64::from(races.shadow.unit());
    let lane = touch.lanes.trailing_zeros();
    let mut found = Vec::new();
    let order = &races.order;
    let is_unfenced = |mark: &Mark| {
        let thread = mark.warp < AGENTS && mark.moment != FLYING;
        thread && mark.moment != 0 && !order.is_proxied(touch.warp, lane, mark, false)
    };
    for place in first..first + count {
        let at = u64::from(place) * unit;
        let written = races.shadow.written(place).map(|mark| *mark);
        found.extend(written.filter(is_unfenced).map(|mark| (at, mark)));
        let updated = races.shadow.updated(place).copied();
        found.extend(updated.filter(is_unfenced).map(|mark| (at, mark)));
    }
    for (address, mark) in found {
        unfenced_write(m, (&mark, None), touch, Place::shared(m, address));
    }
    if m.has_peers() {
        unfenced_by_peers(m, (address, bytes), touch);
    }
}

/// Reports writes by other blocks of the cluster without a proxy fence, where nothing else
/// is missing.
fn unfenced_by_peers(m: &mut Machine, (address, bytes): (u64, u64), touch: &Touch) {
    let first = m.cell(m.cluster.rank, address);
    let Some((races, cells)) = m.races.as_ref().and_then(|r| Some((r, r.cells.as_ref()?))) else {
        return;
    };
    if bytes == 0 {
        return;
    }
    let (warp, lane, order) = (touch.warp, touch.lanes.trailing_zeros(), &races.order);
    let is_unfenced = |(_, mark): &(u32, Mark)| {
        let seen = mark.warp < AGENTS && order.unseen(warp, lane, mark, false) == 0;
        seen && !order.is_own(mark) && !order.is_proxied(warp, lane, mark, false)
    };
    let found = cells
        .written(first, bytes as u32)
        .into_iter()
        .filter(is_unfenced);
    let found: Vec<_> = found
        .map(|(at, mark)| (at, mark, order.other_block(&mark)))
        .collect();
    for (at, mark, block) in found {
        let place = Place::cell(m, first + u64::from(at));
        unfenced_write(m, (&mark, block), touch, place);
    }
}

/// Reports writes to global memory without a proxy fence, where nothing else is missing.
pub fn unfenced_global(m: &mut Machine, reach: Reach, touch: &Touch) {
    let Some((object, offset)) = m.global_place(reach.address, reach.bytes) else {
        return;
    };
    let Some(races) = &m.races else {
        return;
    };
    let Some(memory) = races.global.as_ref().filter(|_| reach.bytes != 0) else {
        return;
    };
    let (warp, lane) = (touch.warp, touch.lanes.trailing_zeros());
    let order = &races.order;
    let mut found = Vec::new();
    for (at, mark) in memory.written(reach.address, reach.bytes) {
        let seen = mark.warp < AGENTS && order.unseen(warp, lane, &mark, false) == 0;
        if seen && !order.is_proxied(warp, lane, &mark, true) {
            found.push((at, mark, order.other_block(&mark)));
        }
    }
    for (at, mark, block) in found {
        let place = Place::global(object, offset + u64::from(at));
        unfenced_write(m, (&mark, block), touch, place);
    }
}

/// Notes that a proxy fence is missing after what a thread, of another block if one is
/// given, has written.
fn unfenced_write(
    m: &mut Machine,
    (mark, block): (&Mark, Option<u64>),
    touch: &Touch,
    place: Place,
) {
    let wrote = Side {
        pc: mark.pc,
        thread: 32 * u32::from(mark.warp) + mark.lanes.trailing_zeros(),
        wrote: true,
        block,
    };
    let now = Side::now(m, touch.lanes.trailing_zeros(), touch.write);
    m.pair(Race {
        why: Why::Proxy,
        harmless: false,
        sides: [now, wrote],
        place,
    });
}
