//! `cp.async.bulk.tensor`: copies of the part of a tensor that a map and
//! coordinates name. They are done at once, as those of `bulk`.

use super::{bulk, map_memory, mbarrier};
use crate::exec::api::FindingKind;
use crate::exec::api::reported::{CopyEvent, PeerCopy, Piece, TensorRows};
use crate::exec::check::asynchronous as raced;
use crate::exec::image::asynchronous::{BulkEnd, Change, MapOp, TensorCopy, TensorMove};
use crate::exec::machine::Machine;
use crate::exec::memory::Object;
use crate::exec::registers::{Slot, active};
use crate::exec::tensor_map::{Boxed, Row, TensorMap};
use crate::scalar::{Scalar, sources};

/// Alignment of the bytes in shared memory.
const ALIGN: u64 = 128;
/// Bytes that change places together in shared memory.
const UNIT: u64 = 16;
/// The value that elements outside of a tensor are read as, 16 bits of them, where that is
/// not zero. CUDA leaves it open; this is what devices write.
const NAN: u64 = 0x7ff7_7ff7_7ff7_7ff7;

/// Executes an instruction of tensor maps for the lanes of `exec`.
pub fn run(m: &mut Machine, op: &MapOp, exec: u32) {
    m.effects += 1;
    match op {
        MapOp::Copy(info) => active(once(m, info, exec)).for_each(|lane| {
            copy(m, info, lane);
        }),
        MapOp::Replace(info) => map_memory::replace(m, info, exec),
        MapOp::Move(info) => map_memory::copy(m, info, exec),
    }
}

/// The lanes that copy: of stores with equal operands, the first lane's.
fn once(m: &Machine, info: &TensorCopy, exec: u32) -> u32 {
    let TensorMove::Store { from } = &info.moves else {
        return exec;
    };
    bulk::once(exec, |lane| {
        let address = m.address_from(from.from, from.offset, lane);
        let map = m.registers.read_lane(info.map, lane);
        let offsets = info.offsets.as_deref().unwrap_or(&[]);
        let others = read(m, &info.coordinates, lane).chain(read(m, offsets, lane));
        [address, map]
            .into_iter()
            .chain(others)
            .collect::<Vec<u64>>()
    })
}

/// The treatment of each element in a copy.
enum Way<'i> {
    Load,
    Store,
    Reduce(&'i Scalar),
}

/// The copy of a lane; none where something is wrong.
fn copy(m: &mut Machine, info: &TensorCopy, lane: u32) -> Option<()> {
    let address = m.registers.read_lane(info.map, lane);
    let map = map_memory::map_at(m, address, lane)?;
    check_form(m, info, &map, lane)?;
    let start: Vec<i32> = read(m, &info.coordinates, lane).map(|c| c as i32).collect();
    let offsets = info.offsets.as_deref().unwrap_or(&[]);
    let offsets: Vec<u16> = read(m, offsets, lane).map(|o| o as u16).collect();
    let (end, way, blocks) = match &info.moves {
        TensorMove::Prefetch => return Some(()),
        TensorMove::Load { to, blocks, .. } => (to, Way::Load, bulk::blocks(m, *blocks, lane)),
        TensorMove::Store { from } => (from, Way::Store, vec![None]),
        TensorMove::Reduce { from, updates } => (from, update(m, &map, updates, lane)?, vec![None]),
    };
    if !matches!(way, Way::Load) {
        check_start(m, &start, lane)?;
    }
    let at = At {
        map: &map,
        start: &start,
        offsets: &offsets,
        lane,
    };
    blocks
        .into_iter()
        .try_for_each(|block| move_box(m, info, &at, (end, &way), block))
}

/// The box that a lane's copy moves.
struct At<'m> {
    map: &'m TensorMap,
    start: &'m [i32],
    offsets: &'m [u16],
    lane: u32,
}

/// Whether the blocks that a load goes to are not only the own one.
fn goes_to_others(m: &Machine, info: &TensorCopy, lane: u32) -> bool {
    match &info.moves {
        TensorMove::Load { blocks, .. } => bulk::goes_to_others(m, *blocks, lane),
        _ => false,
    }
}

/// The arrival of the bytes of a load at its `mbarrier`.
fn arrival(info: &TensorCopy) -> Option<&Change> {
    match &info.moves {
        TensorMove::Load { arrives, .. } => Some(arrives),
        _ => None,
    }
}

/// The bytes of a load, which goes to these bytes of the shared memory of another block or of
/// the own, have come: the object and the word of its phase.
fn bytes_come(
    m: &mut Machine,
    arrives: &Change,
    lane: u32,
    bytes: (u32, Option<u32>),
    (other, shared): (Option<u32>, Piece),
) -> Option<(u64, u64)> {
    if let Some(rank) = other {
        let barrier = mbarrier::offset(m, &arrives.place, lane);
        raced::sent(m, lane, (rank, shared.0, shared.1), (barrier, None));
    }
    let copy = other.map(|_| PeerCopy {
        shared,
        from_global: true,
    });
    mbarrier::bytes_come(m, arrives, lane, bytes, copy)
}

/// Moves the box between global memory and the shared memory of `block`, or that
/// of the lane's address.
fn move_box(
    m: &mut Machine,
    info: &TensorCopy,
    at: &At,
    (end, way): (&BulkEnd, &Way),
    block: Option<u32>,
) -> Option<()> {
    let (map, lane) = (at.map, at.lane);
    let loads = matches!(way, Way::Load);
    let address = m.address_from(end.from, end.offset, lane);
    let size = (map.shared_bytes(), ALIGN);
    let (other, shared) = bulk::shared_in(m, (address, block), lane, size, loads)?;
    let bytes = map.moved_bytes() as u32;
    let arrives = arrival(info);
    let phase = match arrives {
        Some(arrives) => {
            let to = (other, (shared, size.0));
            Some(bytes_come(m, arrives, lane, (bytes, block), to)?)
        }
        None => None,
    };
    let mut pieces = Vec::new();
    let observed = m.observer.is_some() && other.is_none();
    let mut rows = |m: &mut Machine| {
        map.rows(at.start, at.offsets, |row| {
            if observed {
                add_piece(&mut pieces, map, &row);
            }
            move_row(m, map, (&row, shared), way, lane).is_some()
        });
    };
    if let Some(rank) = other {
        m.visit(rank, rows);
        return Some(());
    }
    let moves = if loads {
        raced::Way::Writes(phase)
    } else {
        raced::Way::Reads
    };
    raced::bulk(m, lane, (Some(shared), None), map.shared_bytes(), moves);
    if let Some((barrier, _)) = phase {
        raced::begin_load(m, barrier);
    }
    rows(m);
    if let Some(phase) = phase {
        raced::end_load(m, lane, phase);
    }
    if observed {
        let arrives = arrives.map(|a| (mbarrier::offset(m, &a.place, lane), bytes));
        let copy = CopyEvent {
            warp: m.warp,
            pc: m.pc,
            lane,
            shared: &[(shared, map.shared_bytes())],
            global: &pieces,
            peer: None,
            stores: !loads,
            reads_shared: !loads,
            tensor: Some(rows_of(map)),
            arrives,
            others: goes_to_others(m, info, lane),
        };
        bulk::tell(m, &copy);
    }
    Some(())
}

/// The rows of a box, as an observer sees them.
fn rows_of(map: &TensorMap) -> TensorRows {
    TensorRows {
        swizzle: map.swizzle,
        row_bytes: map.row_bytes() as u32,
    }
}

/// The values of registers of a lane.
fn read<'m>(m: &'m Machine, slots: &'m [Slot], lane: u32) -> impl Iterator<Item = u64> + 'm {
    slots.iter().map(move |s| m.registers.read_lane(*s, lane))
}

/// Copies to global memory may not begin below 0.
fn check_start(m: &mut Machine, start: &[i32], lane: u32) -> Option<()> {
    let Some(at) = start.iter().position(|c| *c < 0) else {
        return Some(());
    };
    let text = format!(
        "a tensor copy to global memory begins at coordinate {} in dimension {at}: only loads \
         may begin below 0",
        start[at]
    );
    m.found(FindingKind::OutOfBounds, lane, None, None, text);
    None
}

/// The global memory of a row, after that of the rows before it.
fn add_piece(pieces: &mut Vec<Piece>, map: &TensorMap, row: &Row) {
    let size = u64::from(map.element.bytes());
    let bytes = row.inside.len() as u64 * size;
    let address = row.address.wrapping_add(u64::from(row.inside.start) * size);
    match pieces.last_mut() {
        _ if bytes == 0 => {}
        Some((start, length)) if *start + *length == address => *length += bytes,
        _ => pieces.push((address, bytes)),
    }
}

/// The map has to be of the instruction's kind.
fn check_form(m: &mut Machine, info: &TensorCopy, map: &TensorMap, lane: u32) -> Option<()> {
    let (rank, asked) = (map.extent.len(), info.coordinates.len());
    let pixels = matches!(map.boxed, Boxed::Pixels { .. });
    let text = if rank != asked {
        format!("a tensor copy of {asked} dimensions uses a map of {rank}")
    } else if pixels != info.offsets.is_some() {
        let (is, form) = if pixels {
            ("pixels", ".im2col")
        } else {
            ("a box", ".tile")
        };
        format!("a tensor map of {is}, which needs {form}")
    } else {
        return Some(());
    };
    m.found(FindingKind::InvalidTensorMap, lane, None, None, text);
    None
}

/// The reduction of the map's elements.
fn update<'i>(
    m: &mut Machine,
    map: &TensorMap,
    updates: &'i [(crate::names::Type, Scalar)],
    lane: u32,
) -> Option<Way<'i>> {
    if let Some((_, update)) = updates.iter().find(|(ty, _)| *ty == map.element) {
        return Some(Way::Reduce(update));
    }
    let text = format!(
        "a tensor map of .{}, which has no such reduction",
        map.element.text()
    );
    m.found(FindingKind::InvalidTensorMap, lane, None, None, text);
    None
}

/// Moves a row, unit by unit; none where its global memory is missing.
fn move_row(
    m: &mut Machine,
    map: &TensorMap,
    (row, shared): (&Row, u64),
    way: &Way,
    lane: u32,
) -> Option<()> {
    let size = u64::from(map.element.bytes());
    let loads = matches!(way, Way::Load);
    let inside = row.inside.clone();
    let first = row.address.wrapping_add(u64::from(inside.start) * size);
    let bytes = inside.len() as u64 * size;
    let global = match bytes {
        0 => None,
        _ => Some(bulk::global_place(m, first, lane, bytes, !loads)?),
    };
    if global.is_some() {
        let other = match way {
            Way::Load => raced::Way::Reads,
            Way::Store => raced::Way::Writes(None),
            Way::Reduce(_) => raced::Way::Updates(None, size as u32),
        };
        raced::bulk_global(m, lane, (first, bytes), other);
    }
    let fill = if map.nan_fill { NAN } else { 0 };
    let units = u64::from(map.row_elements()) * size / UNIT;
    for unit in 0..units {
        let at = map.swizzle.place(shared + row.shared + unit * UNIT, 0);
        bulk::track(m, lane, (at, UNIT), loads);
        for n in 0..UNIT / size {
            let (at, element) = (at + n * size, (unit * (UNIT / size) + n) as u32);
            let global = global.filter(|_| inside.contains(&element));
            let Some((object, first)) = global else {
                if loads {
                    m.put_shared(at, size, fill);
                }
                continue;
            };
            let there = first + u64::from(element - inside.start) * size;
            move_element(m, way, (object, there), at, size);
        }
    }
    Some(())
}

/// Moves an element between an offset in a buffer and a byte of shared memory.
fn move_element(m: &mut Machine, way: &Way, (object, there): (&Object, u64), at: u64, size: u64) {
    match way {
        Way::Load => m.put_shared(at, size, object.element(there, size)),
        Way::Store => object.put(there, size, m.shared_element(at, size)),
        Way::Reduce(update) => {
            let values = [object.element(there, size), m.shared_element(at, size)];
            object.put(there, size, update(&sources(values))[0]);
        }
    }
}
