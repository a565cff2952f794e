//! Reports each warp instruction to the observer and the race detector.

use crate::exec::access::reading;
use crate::exec::api::{Access, Event};
use crate::exec::check::accumulators;
use crate::exec::check::asynchronous;
use crate::exec::check::clusters;
use crate::exec::check::groups;
use crate::exec::check::prepared;
use crate::exec::check::raced;
use crate::exec::check::unwritten;
use crate::exec::image::matrices::GroupOp;
use crate::exec::image::{From, LOCAL_WINDOW, MemoryOp, SHARED_WINDOW, Transfer, WINDOW};
use crate::exec::machine::Machine;
use crate::exec::machine::peers::Reached;
use crate::exec::registers::active;
use crate::exec::tensor;
use crate::names::Space;

/// Tells the race detector alone of another round of a loop that waits: it is nothing that
/// the kernel does.
#[inline(never)]
pub fn observe_again(m: &mut Machine, pc: u32, lanes: (u32, u32)) {
    let observer = m.observer.take();
    observe(m, pc, lanes);
    m.observer = observer;
}

/// Tells the observer and the search for races what comes.
#[inline(always)]
pub fn observe(m: &mut Machine, pc: u32, (active, exec): (u32, u32)) {
    let image = m.image;
    if let Some(at) = image.unsure_at[pc as usize] {
        unwritten::registers(m, at, (active, exec));
    }
    if let Some(&Some(at)) = image.accumulators_at.get(pc as usize) {
        accumulators::access(m, at, exec);
    }
    let event = Event {
        warp: m.warp,
        pc,
        active,
        exec,
        access: None,
        copied: None,
        remote: None,
    };
    if let Some(at) = image.access[pc as usize] {
        let info = &image.memory[at as usize];
        match &info.transfer {
            Transfer::Fragment(moved) => fragment(m, info, moved.accesses, event),
            Transfer::Factors(op) => factors(m, info, op, event),
            _ => observe_access(m, info, event),
        }
    } else if let Some(observer) = &mut m.observer {
        observer.instruction(&event);
    }
}

/// The accesses of a matrix of `wmma`.
#[inline(never)]
fn fragment(m: &mut Machine, info: &MemoryOp, accesses: u32, event: Event) {
    let image = m.image;
    for access in &image.memory[info.index as usize..][..accesses as usize] {
        if let Transfer::Fragment(moved) = &access.transfer {
            tensor::place(m, moved, event.exec);
            let exec = event.exec & moved.lanes();
            observe_access(m, access, Event { exec, ..event });
        }
    }
}

/// The accesses of a product of a warpgroup. Each warp reads its rows of `a`;
/// the tensor cores read `b` once for all four, which are accesses of the first.
/// Behind them comes the product itself.
#[inline(never)]
fn factors(m: &mut Machine, info: &MemoryOp, op: &GroupOp, event: Event) {
    let operands = groups::operands(m, op, event.exec);
    let of_a = op
        .part_of_a(m.warp)
        .map(|(stored, part)| (stored, part, true));
    let (stored, part) = op.part_of_b();
    let of_b = (stored, part, m.warp.is_multiple_of(4));
    let descriptors = operands.descriptors.into_iter();
    let all = descriptors.zip([of_a, Some(of_b)]);
    for (bits, factor) in all {
        let Some((stored, part, counts)) = factor else {
            continue;
        };
        let accesses = part.accesses(stored, bits).filter(|_| event.exec != 0);
        for (addresses, lanes) in accesses {
            if m.races.is_some() {
                asynchronous::begin_reads(m, lanes, &addresses);
            }
            if let Some(observer) = m.observer.as_mut().filter(|_| counts) {
                let access = Some(Access {
                    space: Space::Shared,
                    bytes: info.bytes,
                    lanes,
                    addresses: &addresses,
                    row_bytes: None,
                });
                let exec = event.exec & lanes;
                observer.instruction(&Event {
                    access,
                    exec,
                    ..event
                });
            }
        }
    }
    if let Some(observer) = &mut m.observer {
        observer.instruction(&event);
    }
}

/// Tells the observer of an access, with its addresses. Lanes of generic addresses may be
/// in several spaces: each of these is an access of its own.
#[inline(never)]
fn observe_access(m: &mut Machine, info: &MemoryOp, event: Event) {
    let mut addresses = m.addresses(info);
    if let Some(space) = info.space {
        addresses.iter_mut().for_each(|a| *a &= !WINDOW);
        return observe_in(m, info, event, space, &mut addresses);
    }
    let first = |mask: u32| addresses[mask.trailing_zeros() as usize % 32];
    let mut left = event.exec;
    loop {
        let space = space_of(info, first(left));
        let other = |lane: &u32| space_of(info, addresses[*lane as usize]) != space;
        let others = active(left).filter(other).fold(0, |all, l| all | 1 << l);
        let exec = left & !others;
        let mut offsets = addresses.map(|a| a & !WINDOW);
        observe_in(m, info, Event { exec, ..event }, space, &mut offsets);
        left = others;
        if left == 0 {
            return;
        }
    }
}

/// The space that a generic address is in.
fn space_of(info: &MemoryOp, address: u64) -> Space {
    match address & WINDOW {
        SHARED_WINDOW => Space::Shared,
        LOCAL_WINDOW => Space::Local,
        0 if info.from != From::Constant => Space::Global,
        _ => Space::Param,
    }
}

/// Compares the access with earlier ones, and notes whether others wait for it.
fn look_for_races(
    m: &mut Machine,
    info: &MemoryOp,
    space: Space,
    exec: u32,
    addresses: &[u64; 32],
) {
    let lanes = info.transfer.addressed(exec);
    if matches!(space, Space::Shared | Space::Global) {
        prepared::check(m, info, lanes, (space == Space::Shared, addresses));
    }
    raced::access(m, info, space, lanes, addresses);
    if lanes != 0 {
        m.note_published(info);
    }
}

/// Tells the observer of the lanes that access one space, with their addresses there.
#[inline(always)]
fn observe_in(
    m: &mut Machine,
    info: &MemoryOp,
    event: Event,
    space: Space,
    addresses: &mut [u64; 32],
) {
    let exec = event.exec;
    let exec = if space == Space::Shared && m.has_peers() {
        if m.races.is_some() {
            clusters::remote(m, info, info.transfer.addressed(exec), addresses);
        }
        own_lanes(m, exec, addresses)
    } else {
        exec
    };
    if let Some(&Some(at)) = m.image.moves_at.get(event.pc as usize) {
        unwritten::moved(m, at, info, space, event.exec);
    }
    if m.races.is_some() {
        look_for_races(m, info, space, exec, addresses);
    }
    if m.watch.is_some() {
        m.note_watched(info, space, info.transfer.addressed(exec), addresses);
    }
    let sources = copy_sources(m, info, exec);
    if let (true, Some((addresses, lanes)), Transfer::CopyTarget { source, .. }) =
        (m.races.is_some(), &sources, &info.transfer)
    {
        let from = &m.image.memory[*source as usize];
        raced::access(m, from, Space::Global, *lanes, addresses);
    }
    // What goes to other blocks of the cluster alone is no access here.
    let elsewhere = exec == 0 && event.exec != 0;
    let remote = event.exec & !exec;
    let offsets = (remote != 0).then(|| peer_offsets(m, remote, addresses));
    let row_bytes = match &info.transfer {
        Transfer::Fragment(moved) => Some(tensor::row_bytes(m, moved, exec)),
        _ => None,
    };
    if let Some(observer) = &mut m.observer {
        let access = Access {
            space,
            bytes: info.bytes,
            lanes: exec,
            addresses,
            row_bytes,
        };
        let access = (!elsewhere).then_some(access);
        let plain = |(space, lanes, addresses)| Access {
            space,
            bytes: info.bytes,
            lanes,
            addresses,
            row_bytes: None,
        };
        let copied = (sources.as_ref()).map(|(at, lanes)| plain((Space::Global, *lanes, at)));
        let remote = (offsets.as_ref()).map(|at| plain((space, remote, at)));
        observer.instruction(&Event {
            access,
            copied,
            remote,
            ..event
        });
    }
}

/// The lanes whose addresses are in the block's own shared memory, of which they
/// become the offsets: what others do in it, these do not see.
fn own_lanes(m: &Machine, exec: u32, addresses: &mut [u64; 32]) -> u32 {
    let mut own = 0;
    for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
        if let Reached::Own(at) = m.reached(addresses[lane]) {
            addresses[lane] = at;
            own |= 1 << lane;
        }
    }
    own
}

/// The offsets of the lanes of `remote` in the shared memory of other blocks; beyond all of
/// it where the cluster has no such block.
fn peer_offsets(m: &Machine, remote: u32, addresses: &[u64; 32]) -> [u64; 32] {
    let mut offsets = *addresses;
    for lane in active(remote) {
        offsets[lane as usize] = match m.reached(addresses[lane as usize]) {
            Reached::Peer(_, at) => at,
            Reached::Own(_) | Reached::Nobody(_) => u64::MAX,
        };
    }
    offsets
}

/// Addresses at which an asynchronous copy reads, and the lanes that do.
fn copy_sources(m: &Machine, to: &MemoryOp, exec: u32) -> Option<([u64; 32], u32)> {
    let Transfer::CopyTarget { source, size } = to.transfer else {
        return None;
    };
    let addresses = m.addresses(&m.image.memory[source as usize]);
    Some((addresses, reading(m, size, exec)))
}
