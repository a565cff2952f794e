//! Tensor maps in memory: where an address leads, and their bytes there.

use super::bulk;
use crate::exec::api::FindingKind;
use crate::exec::check::asynchronous;
use crate::exec::image::asynchronous::{MapMove, MapReplace};
use crate::exec::image::{PARAM_WINDOW, SHARED_WINDOW, WINDOW, offset_in};
use crate::exec::machine::Machine;
use crate::exec::memory::Object;
use crate::exec::registers::active;
use crate::exec::tensor_map::{BYTES, TensorMap, replaced};
use crate::names::Space;

/// Alignment of a map (CUDA driver API, `CUtensorMap`).
const ALIGN: u64 = 64;

/// The place of a map.
#[derive(Clone, Copy)]
enum Spot<'a> {
    Shared(u64),
    Global(&'a Object, u64),
    Parameter(u64),
}

/// The checked map at a generic address; what is wrong becomes a finding.
pub fn map_at(m: &mut Machine, address: u64, lane: u32) -> Option<TensorMap> {
    let spot = locate(m, None, address, lane)?;
    if let Spot::Shared(at) = spot {
        let text = format!(
            "the tensor map at byte {at} of shared memory: copies take maps in parameters and in \
             global memory only"
        );
        invalid(m, lane, spot, text);
        return None;
    }
    match TensorMap::decode(&read(m, spot)) {
        Ok(map) => Some(map),
        Err(wrong) => {
            let (key, what, expected) = (wrong.key, wrong.what, wrong.expected);
            let text = format!("{}, {key}: {what}; {expected}", named(m, spot));
            invalid(m, lane, spot, text);
            None
        }
    }
}

/// `tensormap.replace`
pub fn replace(m: &mut Machine, info: &MapReplace, exec: u32) {
    let values = m.registers.read(info.value);
    for lane in active(exec) {
        let address = m.address_from(info.from, info.offset, lane);
        let Some(spot) = locate(m, info.space, address, lane) else {
            continue;
        };
        let old = read(m, spot);
        match replaced(old, info.field, values[lane as usize]) {
            Some(new) => write(m, spot, lane, &new),
            None => {
                let text = format!(
                    "{}: tensormap.replace on bytes that do not hold a tensor map",
                    named(m, spot)
                );
                invalid(m, lane, spot, text);
            }
        }
    }
}

/// `tensormap.cp_fenceproxy`
pub fn copy(m: &mut Machine, info: &MapMove, exec: u32) {
    for lane in active(exec) {
        let from = m.address_from(info.from.from, info.from.offset, lane);
        let to = m.address_from(info.to.from, info.to.offset, lane);
        let from = locate(m, Some(Space::Shared), from, lane);
        let to = locate(m, Some(Space::Global), to, lane);
        if let (Some(Spot::Shared(at)), Some(to)) = (from, to) {
            bulk::track(m, lane, (at, BYTES as u64), false);
            asynchronous::whole(m, lane, (at, BYTES as u32), false);
            let bytes = read(m, Spot::Shared(at));
            write(m, to, lane, &bytes);
        }
    }
}

fn invalid(m: &mut Machine, lane: u32, spot: Spot, text: String) {
    let (address, name) = match spot {
        Spot::Shared(at) => (at, m.shared_variable(at)),
        Spot::Global(object, at) => (at, Some(object.name.clone())),
        Spot::Parameter(at) => (at, m.parameter(at).map(|p| p.0)),
    };
    m.found(
        FindingKind::InvalidTensorMap,
        lane,
        Some(address),
        name,
        text,
    );
}

/// A map as a sentence names it.
fn named(m: &Machine, spot: Spot) -> String {
    match spot {
        Spot::Shared(at) => format!("the tensor map at byte {at} of shared memory"),
        Spot::Global(object, at) => format!("the tensor map at byte {at} of {}", object.name),
        Spot::Parameter(at) => match m.parameter(at) {
            Some((name, 0)) => format!("the tensor map in parameter {name}"),
            Some((name, byte)) => format!("the tensor map at byte {byte} of parameter {name}"),
            None => format!("the tensor map at byte {at} of the parameters"),
        },
    }
}

/// The place of the bytes of a map; without a space, the address is generic.
fn locate<'a>(
    m: &mut Machine<'a>,
    space: Option<Space>,
    address: u64,
    lane: u32,
) -> Option<Spot<'a>> {
    let size = BYTES as u64;
    let inside = |at: u64, len: u64| at.checked_add(size).is_some_and(|end| end <= len);
    let shared = match space {
        Some(Space::Shared) => Some(address & !WINDOW),
        None => offset_in(SHARED_WINDOW, address),
        Some(_) => None,
    };
    let spot = if let Some(at) = shared {
        inside(at, m.shared_len).then_some((Spot::Shared(at), at))
    } else if space.is_none() && address & WINDOW == PARAM_WINDOW {
        let at = address & !WINDOW;
        inside(at, m.common.params.len).then_some((Spot::Parameter(at), at))
    } else {
        let place = m.global_place(address, BYTES as u32);
        place.map(|(object, at)| (Spot::Global(object, at), address))
    };
    let Some((spot, at)) = spot else {
        let text = format!(
            "a tensor map at address {address:#x}, which is not inside one buffer, variable or \
             parameter"
        );
        m.found(FindingKind::OutOfBounds, lane, None, None, text);
        return None;
    };
    if at.is_multiple_of(ALIGN) {
        return Some(spot);
    }
    let text = format!(
        "{}: its address is not a multiple of {ALIGN}",
        named(m, spot)
    );
    m.found(FindingKind::Misaligned, lane, Some(at), None, text);
    None
}

fn read(m: &Machine, spot: Spot) -> [u8; BYTES] {
    let byte = |n: usize| {
        let n = n as u64;
        match spot {
            Spot::Shared(at) => m.shared_byte(at + n).unwrap_or(0),
            Spot::Global(object, at) => object.byte(at + n),
            Spot::Parameter(at) => m.common.params.byte(at + n),
        }
    };
    std::array::from_fn(byte)
}

fn write(m: &mut Machine, spot: Spot, lane: u32, bytes: &[u8; BYTES]) {
    match spot {
        Spot::Shared(at) => {
            bulk::track(m, lane, (at, BYTES as u64), true);
            asynchronous::whole(m, lane, (at, BYTES as u32), true);
            for (n, byte) in (0u64..).zip(bytes) {
                m.put_shared(at + n, 1, u64::from(*byte));
            }
        }
        Spot::Global(object, _) if object.constant => {
            let text = format!(
                "a tensor map is written to {}, which is constant",
                object.name
            );
            invalid(m, lane, spot, text);
        }
        Spot::Global(object, at) => {
            for (n, byte) in (0u64..).zip(bytes) {
                object.put(at + n, 1, u64::from(*byte));
            }
        }
        Spot::Parameter(_) => {
            let text = format!("{}: parameters are not written", named(m, spot));
            invalid(m, lane, spot, text);
        }
    }
}
