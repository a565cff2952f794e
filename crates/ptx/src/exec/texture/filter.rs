//! Filtering of a fetch: the nearest texel, or the weighted sum of neighbours.

use super::coordinate::{addressed, nearest, neighbours};
use super::{AddressMode, Sampler, Texture};

/// A texel, by its indices in the layer; none for the border.
type Texel = Option<[u32; 3]>;

/// Reads the bits of a channel of a texel.
pub(in crate::exec) type Read<'a> = dyn Fn([u32; 3], u32) -> u64 + 'a;

/// The place at which a fetch reads.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) enum Coordinates {
    Real([f32; 3]),
    Integer([i32; 3]),
}

/// The four channels of a fetch, as registers get them.
pub(in crate::exec) fn fetch(
    texture: &Texture,
    sampler: &Sampler,
    place: Coordinates,
    offsets: [i64; 3],
    read: &Read,
) -> [u32; 4] {
    let real = texture.shape.format.is_real(texture.shape.normalized_read);
    let coordinates = match place {
        Coordinates::Real(coordinates) if sampler.linear && real => coordinates,
        _ => {
            let texel = nearest_texel(texture, sampler, place, offsets);
            return std::array::from_fn(|c| channel(texture, texel, c, read));
        }
    };
    let sides: [_; 3] = std::array::from_fn(|d| {
        let how = (sampler.normalized, sampler.address[d]);
        neighbours(coordinates[d], offsets[d], texture.shape.extent[d], how)
    });
    let dimensions = texture.shape.geometry.dimensions as usize;
    std::array::from_fn(|c| {
        let mut sum = 0.0;
        for corner in 0..1usize << dimensions {
            let side = |d: usize| corner >> d & 1;
            let mut weight = 1.0;
            let mut texel = Some([0; 3]);
            for d in 0..dimensions {
                let second = f64::from(sides[d].weight) / 256.0;
                weight *= if side(d) == 1 { second } else { 1.0 - second };
                texel = texel.zip(sides[d].texels[side(d)]).map(|(mut t, at)| {
                    t[d] = at;
                    t
                });
            }
            let value = f32::from_bits(channel(texture, texel, c, read));
            // Nothing of a texel without weight is read, be it infinite.
            if weight != 0.0 {
                sum += weight * f64::from(value);
            }
        }
        (sum as f32).to_bits()
    })
}

/// One channel of the four texels that a linear fetch reads, from the lower
/// left against the clock.
pub(in crate::exec) fn gather(
    texture: &Texture,
    sampler: &Sampler,
    coordinates: [f32; 3],
    (channel_read, offsets): (u32, [i64; 3]),
    read: &Read,
) -> [u32; 4] {
    let [x, y] = std::array::from_fn(|d| {
        let how = (sampler.normalized, sampler.address[d]);
        neighbours(coordinates[d], offsets[d], texture.shape.extent[d], how).texels
    });
    [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(right, down): (usize, usize)| {
        let texel = x[right].zip(y[down]).map(|(x, y)| [x, y, 0]);
        channel(texture, texel, channel_read as usize, read)
    })
}

fn nearest_texel(
    texture: &Texture,
    sampler: &Sampler,
    place: Coordinates,
    offsets: [i64; 3],
) -> Texel {
    let mut texel = [0; 3];
    for d in 0..texture.shape.geometry.dimensions as usize {
        let (size, mode) = (texture.shape.extent[d], sampler.address[d]);
        texel[d] = match place {
            Coordinates::Real(c) => nearest(c[d], offsets[d], size, (sampler.normalized, mode))?,
            // Of memory without a second dimension, outside of it is zero.
            Coordinates::Integer(c) => {
                let alone =
                    texture.shape.geometry.dimensions == 1 && !texture.shape.geometry.layered;
                let mode = if alone { AddressMode::Border } else { mode };
                addressed(i64::from(c[d]) + offsets[d], size, mode)?
            }
        };
    }
    Some(texel)
}

/// A channel of a texel, or of the border, which is zero.
fn channel(texture: &Texture, texel: Texel, channel: usize, read: &Read) -> u32 {
    let format = texture.shape.format;
    let real = format.is_real(texture.shape.normalized_read);
    match texel {
        _ if channel >= format.channels as usize => format.missing(channel, real),
        None => 0,
        Some(texel) => {
            let bits = read(texel, channel as u32);
            if real {
                format.number(bits).to_bits()
            } else {
                format.integer(bits) as u32
            }
        }
    }
}
