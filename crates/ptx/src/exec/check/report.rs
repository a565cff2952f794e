//! Races that were found, as they are reported: which two accesses, where, and why.

use super::ordered::{ends_barrier, fetches_texels, form, uses_barrier};
use crate::exec::image::form::{Form, Step};
use crate::exec::machine::Machine;
use crate::exec::machine::pairs::{Memory, Place, Race, Side, Why};
use crate::exec::machine::peers::place_of;
use crate::exec::memory::Object;
use crate::exec::ordering::Scope;
use crate::exec::race::shadow::{Hit, Touch};
use crate::exec::race::{AGENTS, FLYING};

impl Place {
    /// A byte of the block's shared memory.
    pub fn shared(m: &Machine, byte: u64) -> Self {
        let (variable, offset) = m.shared_place(byte);
        Place {
            memory: Memory::Shared,
            address: byte,
            variable,
            offset,
        }
    }

    /// A byte of a buffer.
    pub fn global(object: &Object, byte: u64) -> Self {
        Place {
            memory: Memory::Global,
            address: byte,
            variable: Some(object.name.clone()),
            offset: byte,
        }
    }

    /// A cell of the cluster's shared memory.
    pub fn cell(m: &Machine, cell: u64) -> Self {
        // Without the number of the cluster: the rank, and the offset.
        let cell = cell & u64::from(u32::MAX);
        Place {
            address: cell,
            ..Place::shared(m, place_of(cell).1)
        }
    }
}

impl Side {
    /// The access that a lane makes now.
    pub fn now(m: &Machine, lane: u32, wrote: bool) -> Self {
        Side {
            pc: m.pc,
            thread: m.thread(lane),
            wrote,
            block: None,
        }
    }

    /// The earlier access of a hit, by a thread of another block if one is given.
    fn earlier(hit: &Hit, thread: u32, block: Option<u64>) -> Self {
        Side {
            pc: hit.earlier.pc,
            thread,
            wrote: hit.wrote,
            block,
        }
    }
}

/// Notes what an access hit on shared memory of the block.
pub fn shared(m: &mut Machine, wrote: bool) {
    let Some(races) = &mut m.races else {
        return;
    };
    let hits = std::mem::take(&mut races.shadow.hits);
    let unit = u64::from(races.shadow.unit());
    for hit in &hits {
        let Some(races) = &m.races else {
            return;
        };
        let through = || races.order.is_through(m.warp, hit.lane, &hit.earlier);
        if ends_barrier(m, m.pc) && uses_barrier(m, hit.earlier.pc) && through() {
            continue;
        }
        let thread = races.thread_of(hit, 32 * m.warp + hit.lane);
        let now = Side::now(m, hit.lane, wrote);
        let why = match why_shared(m, hit) {
            Why::Copy if is_overtaken(m, hit, u64::from(hit.place) * unit) => Why::Order,
            why => why,
        };
        let race = Race {
            why,
            harmless: hit.harmless,
            sides: [now, Side::earlier(hit, thread, None)],
            place: Place::shared(m, u64::from(hit.place) * unit),
        };
        m.pair(race);
    }
    if let Some(races) = &mut m.races {
        races.shadow.hits = hits;
        races.shadow.hits.clear();
    }
}

/// Whether only a barrier is missing that holds a copy up until who accesses its place now
/// has done so.
fn is_overtaken(m: &mut Machine, hit: &Hit, byte: u64) -> bool {
    let (image, now, copy) = (m.image, m.pc, hit.earlier.pc);
    let Some(races) = &mut m.races else {
        return false;
    };
    races.is_overtaken((m.warp, hit.lane, now), (hit, byte), || {
        image.reaches(now, copy) && !image.reaches(copy, now)
    })
}

fn why_shared(m: &Machine, hit: &Hit) -> Why {
    let earlier = &hit.earlier;
    let pending = earlier.moment == FLYING || earlier.warp >= AGENTS;
    match form(m, earlier.pc) {
        _ if uses_barrier(m, earlier.pc) || uses_barrier(m, m.pc) => Why::Barrier,
        Some(Form::Step(Step::Group { .. })) if pending => Why::Product,
        _ if pending && !hit.wrote => Why::Bulk,
        _ if pending => Why::Copy,
        _ => Why::Order,
    }
}

/// Notes what an access at an address hit on shared memory of the cluster's blocks;
/// what the block did to its `own` memory is found without.
pub fn cells(m: &mut Machine, address: u64, touch: &Touch, own: bool) {
    let cells = m.races.as_mut().and_then(|r| r.cells.as_mut());
    let hits = cells.map(|cells| std::mem::take(&mut cells.hits));
    for hit in hits.unwrap_or_default() {
        let Some(races) = &m.races else {
            return;
        };
        if hit.hoisted || own && races.order.is_own(&hit.earlier) {
            continue;
        }
        let block = races.order.other_block(&hit.earlier);
        let thread = races
            .cells
            .as_ref()
            .map_or(0, |cells| cells.thread_of(&hit));
        let now = Side::now(m, hit.lane, touch.write);
        let race = Race {
            why: why_cells(m, &hit, touch),
            harmless: hit.harmless,
            sides: [now, Side::earlier(&hit, thread, block)],
            place: Place::cell(m, address + u64::from(hit.place)),
        };
        m.pair(race);
    }
}

fn why_cells(m: &Machine, hit: &Hit, touch: &Touch) -> Why {
    if uses_barrier(m, hit.earlier.pc) || uses_barrier(m, m.pc) {
        Why::ClusterBarrier
    } else if narrow(m, hit, touch).is_some() {
        Why::ClusterScope
    } else {
        Why::Cluster
    }
}

/// The narrowest scope that has both threads, where two strong accesses conflict only
/// because one has a narrower scope.
fn narrow(m: &Machine, hit: &Hit, touch: &Touch) -> Option<Scope> {
    let between = m.races.as_ref()?.order.between(&hit.earlier);
    let is_narrow = touch.how.is_too_narrow(hit.earlier.how, between);
    is_narrow.then_some(between)
}

/// Notes what an access at an offset in a buffer hit on global memory.
#[inline(never)]
pub fn global(m: &mut Machine, (object, offset): (&Object, u64), touch: &Touch) {
    let memory = m.races.as_mut().and_then(|r| r.global.as_mut());
    let hits = memory.map(|memory| std::mem::take(&mut memory.hits));
    for hit in hits.unwrap_or_default() {
        let Some(races) = &m.races else {
            return;
        };
        let block = races.order.other_block(&hit.earlier);
        let memory = races.global.as_ref();
        let thread = memory.map_or(0, |memory| memory.thread_of(&hit));
        let why = why_global(m, &hit, (touch, thread), block);
        let ticket = matches!(why, Why::Ticket(_)) && !hit.cached;
        let now = Side::now(m, hit.lane, touch.write);
        m.pair(Race {
            why,
            harmless: ticket || hit.harmless && !matches!(why, Why::Constant | Why::Texture),
            sides: [now, Side::earlier(&hit, thread, block)],
            place: Place::global(object, offset + u64::from(hit.place)),
        });
    }
}

fn why_global(m: &Machine, hit: &Hit, (touch, thread): (&Touch, u32), block: Option<u64>) -> Why {
    let reads_constant = |pc: u32| {
        let access = m.image.access.get(pc as usize).copied().flatten();
        access.is_some_and(|a| m.image.memory[a as usize].order.fixed)
    };
    // Of a pair with a read, the one that reads.
    let reader = if hit.wrote { m.pc } else { hit.earlier.pc };
    if reads_constant(reader) {
        return Why::Constant;
    }
    if fetches_texels(m, reader) {
        return Why::Texture;
    }
    if block.is_some() {
        let ticket = hit.ticket.map(Why::Ticket);
        let scope = || narrow(m, hit, touch).map(Why::Scope);
        return ticket.or_else(scope).unwrap_or(Why::Blocks);
    }
    let Some(races) = &m.races else {
        return Why::Order;
    };
    // What a thread has read itself, it has read before what it does next.
    let itself = thread == m.thread(hit.lane) && hit.earlier.warp >= AGENTS && !hit.wrote;
    if races.stores.is_open(thread, hit.earlier.moment) {
        Why::Bulk
    } else if itself || races.loads.is_open(thread, hit.earlier.moment) {
        Why::Copy
    } else {
        Why::Order
    }
}
