//! Executes instructions of textures and surfaces, lane after lane.

use crate::exec::api::FindingKind;
use crate::exec::check::texels;
use crate::exec::image::{PARAM_WINDOW, TEXTURE_WINDOW, WINDOW};
use crate::exec::machine::Machine;
use crate::exec::memory::{Object, number};
use crate::exec::registers::active;
use crate::exec::texture::{
    Channel, Coordinates, Operation, Outside, Sampler, Texture, TextureOp, face, fetch, gather,
};
use crate::names::Word;
use crate::scalar::{Scalar, sources};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Executes an instruction for the lanes of `exec`.
pub fn run(m: &mut Machine, op: &TextureOp, exec: u32) {
    m.effects += 1;
    let handles = m.registers.read(op.handle);
    let samplers = op.sampler.map(|s| m.registers.read(s));
    let read =
        |slots: &[_]| -> Vec<[u64; 32]> { slots.iter().map(|&s| m.registers.read(s)).collect() };
    let coordinates = read(&op.coordinates);
    let layers = op.layer.map(|s| m.registers.read(s));
    let offsets = match &op.operation {
        Operation::Fetch { offsets } | Operation::Gather { offsets, .. } => read(offsets),
        _ => Vec::new(),
    };
    let writes = matches!(
        op.operation,
        Operation::Store { .. } | Operation::Reduce { .. }
    );
    let mut data = if writes {
        read(&op.data)
    } else {
        vec![[0; 32]; op.data.len()]
    };
    for lane in active(exec).map(|lane| lane as usize) {
        let Some(texture) = texture(m, op, handles[lane], lane as u32) else {
            continue;
        };
        let sampler = match &samplers {
            None => texture.shape.sampler,
            Some(s) => self::sampler(m, s[lane], lane as u32),
        };
        let of = |values: &[[u64; 32]], d: usize| values.get(d).map_or(0, |v| v[lane]);
        let at = Lane {
            lane: lane as u32,
            place: std::array::from_fn(|d| of(&coordinates, d) as u32),
            layer: layers.as_ref().map_or(0, |l| l[lane] as u32),
            offsets: std::array::from_fn(|d| i64::from(of(&offsets, d) as i32)),
        };
        let values: Vec<u64> = data.iter().map(|d| d[lane]).collect();
        let values = one(m, op, (texture, sampler), at, values);
        data.iter_mut().zip(values).for_each(|(d, v)| d[lane] = v);
    }
    if !writes {
        for (slot, values) in op.data.iter().zip(&data) {
            m.registers.write(*slot, exec, values);
        }
    }
    if let Some(slot) = op.resident {
        m.registers.write(slot, exec, &[1; 32]);
    }
}

/// The request of a lane.
struct Lane {
    lane: u32,
    /// Bits of the coordinates.
    place: [u32; 3],
    layer: u32,
    offsets: [i64; 3],
}

/// The texture of a handle, or of the handle at an address, if it is of the
/// kind that the instruction is for.
fn texture<'a>(m: &mut Machine<'a>, op: &TextureOp, value: u64, lane: u32) -> Option<&'a Texture> {
    let found = number(handle(m, value)).and_then(|n| m.common.textures.get(n));
    let wrong = match found {
        None => format!("{value:#x} is not the handle of a texture or surface of the launch file"),
        Some(texture) => match mismatch(op, texture) {
            None => return Some(texture),
            Some(wrong) => wrong,
        },
    };
    let name = found.map(|t| t.name.clone());
    m.found(FindingKind::InvalidTexture, lane, None, name, wrong);
    None
}

/// The sampler of a handle.
fn sampler(m: &mut Machine, value: u64, lane: u32) -> Option<Sampler> {
    let found = number(handle(m, value)).and_then(|n| m.common.samplers.get(n));
    if found.is_none() {
        let wrong = format!("{value:#x} is not the handle of a sampler of the launch file");
        m.found(FindingKind::InvalidTexture, lane, None, None, wrong);
    }
    found.copied()
}

/// A handle, or the one that is at an address.
fn handle(m: &Machine, value: u64) -> u64 {
    match value & WINDOW {
        TEXTURE_WINDOW => value,
        PARAM_WINDOW => {
            let (at, params) = (value & !WINDOW, m.common.params);
            let inside = at + 8 <= params.len;
            if inside { params.unaligned_word(at) } else { 0 }
        }
        0 => {
            let place = m.global_place(value, 8);
            place.map_or(0, |(object, at)| object.unaligned_word(at))
        }
        _ => 0,
    }
}

/// The error if a texture does not suit the instruction.
fn mismatch(op: &TextureOp, texture: &Texture) -> Option<String> {
    let name = &texture.name;
    let of_surfaces = matches!(
        op.operation,
        Operation::Load(_) | Operation::Store { .. } | Operation::Reduce { .. }
    );
    match (&op.operation, &texture.shape.sampler) {
        (Operation::Query(_), _) => None,
        (_, Some(_)) if of_surfaces => Some(format!(
            "{name} is a texture, which is read only: expected a [[surface]]"
        )),
        (_, None) if !of_surfaces => Some(format!(
            "{name} is a surface, which has no sampler: expected a [[texture]]"
        )),
        _ if op.geometry != texture.shape.geometry => Some(format!(
            "{name} is .{}, and the instruction is for .{}",
            texture.shape.geometry.text(),
            op.geometry.text()
        )),
        _ => None,
    }
}

/// Executes the operation for one lane, and returns what its data registers get.
fn one(
    m: &mut Machine,
    op: &TextureOp,
    (texture, sampler): (&Texture, Option<Sampler>),
    at: Lane,
    data: Vec<u64>,
) -> Vec<u64> {
    if let Operation::Query(word) = op.operation {
        return vec![query(texture, sampler, word)];
    }
    let object = m.object(texture.buffer);
    if !matches!(
        op.operation,
        Operation::Fetch { .. } | Operation::Gather { .. }
    ) {
        return surface(m, op, texture, object, at, data);
    }
    let Some(mut sampler) = sampler else {
        return vec![0; data.len()];
    };
    let (mut layer, mut place) = (at.layer.min(texture.shape.layers - 1), at.place);
    if texture.shape.geometry.cube {
        let (face, on) = face(place.map(f32::from_bits));
        layer = if texture.shape.geometry.layered {
            at.layer.min(texture.shape.layers / 6 - 1) * 6 + face
        } else {
            face
        };
        place = [on[0].to_bits(), on[1].to_bits(), 0];
        sampler.normalized = true;
    }
    let fetched = RefCell::new(BTreeSet::new());
    let checked = texels::are_checked(m);
    let read = |texel, channel| {
        if checked {
            fetched.borrow_mut().insert(texel_at(texture, layer, texel));
        }
        read_channel(texture, object, layer, texel, channel)
    };
    let real = place.map(f32::from_bits);
    let values = match op.operation {
        Operation::Gather { channel, .. } => {
            gather(texture, &sampler, real, (channel, at.offsets), &read)
        }
        _ => {
            let place = if op.real {
                Coordinates::Real(real)
            } else {
                Coordinates::Integer(place.map(|p| p as i32))
            };
            fetch(texture, &sampler, place, at.offsets, &read)
        }
    };
    let bytes = u64::from(texture.shape.format.bytes());
    for texel in fetched.into_inner() {
        texels::read(m, at.lane, object, (texel * bytes, bytes));
    }
    values.map(u64::from)[..data.len()].to_vec()
}

fn read_channel(
    texture: &Texture,
    object: &Object,
    layer: u32,
    texel: [u32; 3],
    channel: u32,
) -> u64 {
    let bytes = u64::from(texture.shape.format.bits / 8);
    let at = texel_at(texture, layer, texel) * u64::from(texture.shape.format.channels);
    object.element((at + u64::from(channel)) * bytes, bytes)
}

/// The number of a texel.
fn texel_at(texture: &Texture, layer: u32, [x, y, z]: [u32; 3]) -> u64 {
    let [width, height, depth] = texture.shape.extent.map(u64::from);
    let row = (u64::from(layer) * depth + u64::from(z)) * height + u64::from(y);
    row * width + u64::from(x)
}

/// Loads, stores and reductions of surfaces.
fn surface(
    m: &mut Machine,
    op: &TextureOp,
    texture: &Texture,
    object: &Object,
    at: Lane,
    mut data: Vec<u64>,
) -> Vec<u64> {
    let (outside, formatted) = match op.operation {
        Operation::Load(outside) => (outside, false),
        Operation::Store { formatted, outside }
        | Operation::Reduce {
            formatted, outside, ..
        } => (outside, formatted),
        _ => return data,
    };
    // The first coordinate counts bytes, but in formatted accesses.
    let step = if formatted {
        u64::from(texture.shape.format.bytes())
    } else {
        1
    };
    let loads = matches!(op.operation, Operation::Load(_));
    let unit = u64::from(op.ty.bytes());
    let size = if formatted {
        u64::from(texture.shape.format.bytes())
    } else {
        unit * data.len() as u64
    };
    let Some(offset) = offset(m, (op, texture, outside), &at, (size, step)) else {
        return vec![0; data.len()];
    };
    if let Operation::Reduce { update, .. } = &op.operation {
        let operand = data.first().copied().unwrap_or(0);
        texels::reduced(m, at.lane, object, (offset, unit));
        reduce(object, offset, update, unit, operand);
    } else if loads {
        texels::read(m, at.lane, object, (offset, size));
        for (n, value) in data.iter_mut().enumerate() {
            *value = object.element(offset + n as u64 * unit, unit);
        }
    } else {
        let elements = stored_elements(texture, offset, (formatted, unit), &data);
        texels::stored(m, at.lane, object, &elements);
        for (at, bytes, value) in elements {
            object.put(at, bytes, value);
        }
    }
    data
}

/// The elements that a store writes from an offset on: offset, bytes and value of each; the
/// channels of a texel if it is `formatted`.
fn stored_elements(
    texture: &Texture,
    offset: u64,
    (formatted, unit): (bool, u64),
    data: &[u64],
) -> Vec<(u64, u64, u64)> {
    let format = texture.shape.format;
    if !formatted {
        let elements = data.iter().enumerate();
        return elements
            .map(|(n, value)| (offset + n as u64 * unit, unit, *value))
            .collect();
    }
    let bytes = u64::from(format.bits / 8);
    let channel = |n: usize| {
        let value = format.stored(data.get(n).map_or(0, |&v| v as u32));
        (offset + n as u64 * bytes, bytes, value)
    };
    (0..format.channels as usize).map(channel).collect()
}

/// The byte that an access of `size` bytes of a surface begins with, whose first
/// coordinate counts `step` bytes; none where it does nothing.
fn offset(
    m: &mut Machine,
    (op, texture, outside): (&TextureOp, &Texture, Outside),
    at: &Lane,
    (size, step): (u64, u64),
) -> Option<u64> {
    let texel = u64::from(texture.shape.format.bytes());
    let row = u64::from(texture.shape.extent[0]) * texel;
    let mut place = at.place.map(|p| i64::from(p as i32));
    place[0] = place[0].saturating_mul(step as i64);
    let mut layer = i64::from(at.layer);
    let most = [
        row.saturating_sub(size) as i64,
        i64::from(texture.shape.extent[1]) - 1,
        i64::from(texture.shape.extent[2]) - 1,
        i64::from(texture.shape.layers) - 1,
    ];
    let dimensions = texture.shape.geometry.dimensions as usize;
    place[dimensions..].fill(0);
    let all = [place[0], place[1], place[2], layer];
    let inside = all.iter().zip(most).all(|(p, most)| (0..=most).contains(p)) && size <= row;
    let aligned = (place[0] as u64).is_multiple_of(u64::from(op.ty.bytes().max(1)));
    if inside && !aligned {
        misaligned(m, (op, texture), at.lane, place[0]);
        return None;
    }
    if !inside {
        match outside {
            Outside::Zero => return None,
            Outside::Trap => {
                outside_of(m, texture, at, &all[..dimensions], size);
                return None;
            }
            Outside::Clamp => {
                let clamp = |v: i64, most: i64| v.clamp(0, most.max(0));
                for d in 0..3 {
                    place[d] = clamp(place[d], most[d]);
                }
                place[0] -= place[0] % i64::from(op.ty.bytes().max(1));
                layer = clamp(layer, most[3]);
                if size > row {
                    return None;
                }
            }
        }
    }
    let first = texel_at(texture, layer as u32, [0, place[1] as u32, place[2] as u32]);
    Some(first * texel + place[0] as u64)
}

/// A fault: an access to a byte of a row that is not aligned.
fn misaligned(m: &mut Machine, (op, texture): (&TextureOp, &Texture), lane: u32, byte: i64) {
    let name = texture.name.clone();
    let text = format!(
        "byte {byte} of a row of {name} is not aligned to {} bytes: the first coordinate of a \
         surface counts bytes",
        op.ty.bytes()
    );
    m.found(FindingKind::Misaligned, lane, None, Some(name), text);
}

/// A fault: an access with `.trap` outside of the surface.
fn outside_of(m: &mut Machine, texture: &Texture, at: &Lane, place: &[i64], size: u64) {
    let row = u64::from(texture.shape.extent[0]) * u64::from(texture.shape.format.bytes());
    let of_layer = if texture.shape.geometry.layered {
        format!(" of layer {}", at.layer)
    } else {
        String::new()
    };
    let rest: Vec<String> = place[1..].iter().map(i64::to_string).collect();
    let row_of = if rest.is_empty() {
        String::new()
    } else {
        format!(" of row {}", rest.join(", "))
    };
    let text = format!(
        "{size} bytes at byte {}{row_of}{of_layer} of {}, whose rows have {row} bytes (extent \
         {:?}, {} layers)",
        place[0],
        texture.name,
        &texture.shape.extent[..texture.shape.geometry.dimensions as usize],
        texture.shape.layers
    );
    m.found(
        FindingKind::OutOfBounds,
        at.lane,
        None,
        Some(texture.name.clone()),
        text,
    );
}

/// `sured`: an atomic operation on 32 or 64 bits.
fn reduce(object: &Object, offset: u64, update: &Scalar, bytes: u64, operand: u64) {
    let new = |old: u64| update(&sources([old, operand]))[0];
    let pointer = object.data().wrapping_add(offset as usize);
    // SAFETY: the bytes are inside the object, at a multiple of their number.
    unsafe {
        if bytes == 8 {
            let word = AtomicU64::from_ptr(pointer.cast());
            let _ = word.fetch_update(Relaxed, Relaxed, |old| Some(new(old)));
        } else {
            let word = AtomicU32::from_ptr(pointer.cast());
            let _ = word.fetch_update(Relaxed, Relaxed, |old| Some(new(old.into()) as u32));
        }
    }
}

/// `txq` and `suq`. Types and orders of channels have OpenCL's numbers.
fn query(texture: &Texture, sampler: Option<Sampler>, word: Word) -> u64 {
    let format = texture.shape.format;
    let value = match word {
        Word::QueryWidth => texture.shape.extent[0],
        Word::QueryHeight => texture.shape.extent[1],
        Word::QueryDepth => texture.shape.extent[2],
        Word::ArraySize => {
            if texture.shape.geometry.cube {
                texture.shape.layers / 6
            } else {
                texture.shape.layers
            }
        }
        Word::NormalizedCoords => u32::from(sampler.is_some_and(|s| s.normalized)),
        Word::ChannelOrder => match format.channels {
            1 => 0x10b0,
            2 => 0x10b2,
            _ => 0x10b5,
        },
        Word::ChannelDataType => {
            let size = format.bits.ilog2() - 3;
            match (format.channel, texture.shape.normalized_read) {
                (Channel::Float, _) => 0x10dc + size,
                (Channel::Signed, true) => 0x10d0 + size,
                (Channel::Unsigned, true) => 0x10d2 + size,
                (Channel::Signed, false) => 0x10d7 + size,
                (Channel::Unsigned, false) => 0x10da + size,
            }
        }
        // Mip levels and samples.
        _ => 1,
    };
    value.into()
}
