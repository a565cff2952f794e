//! Seeded images as buffers' contents: what histograms and Hough transforms
//! do depends on the pixels. All arithmetic is on integers, so that an image is
//! the same on every machine.

use super::element::Element;
use super::stream::stream;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::Rng;

/// Pixels between two points of the grid that a smooth image is drawn through.
const CELL: u64 = 64;

/// An image, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Seed of the generator.
    pub seed: u64,
    /// Pixels in a row.
    pub width: u64,
    /// Rows.
    pub height: u64,
    /// Pixels are below 2^bits.
    pub bits: u32,
    /// Content of the image.
    pub kind: ImageKind,
}

/// The content of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ImageKind {
    /// Random values 64 pixels apart, straight in between.
    Smooth,
    /// Each pixel one of this many levels, equally spaced and equally likely.
    Noise(u64),
    /// Pixels of which this many of 100 have the middle value, the others any.
    Share(u64),
    /// Every value equally likely.
    Uniform,
    /// The contours between this many bands of a smooth image; all else is 0.
    Edges(u64),
    /// Not pixels: coordinates of the edges between this many bands, in raster
    /// order, each y << 16 | x.
    Points(u64),
}

/// The image's pixels, or the coordinates of `count` of its edges, as elements.
pub(super) fn image(element: Element, count: u64, image: &Image) -> Vec<u8> {
    let item = |v: u64| element.bytes_of_integer(v.into());
    let items = match image.kind {
        ImageKind::Points(bands) => points(image, bands, count),
        _ => pixels(image),
    };
    items.into_iter().flat_map(item).collect()
}

/// The coordinates of `count` edges, spread evenly over all edges; (0, 0) if there are none.
fn points(image: &Image, bands: u64, count: u64) -> Vec<u64> {
    let edges = pixels(&Image {
        kind: ImageKind::Edges(bands),
        ..image.clone()
    });
    let all: Vec<u64> = (0..)
        .zip(edges)
        .filter_map(|(i, edge)| (edge > 0).then_some(((i / image.width) << 16) | (i % image.width)))
        .collect();
    let chosen = |i: u64| (u128::from(i) * all.len() as u128 / u128::from(count)) as usize;
    (0..count)
        .map(|i| all.get(chosen(i)).copied().unwrap_or(0))
        .collect()
}

fn pixels(image: &Image) -> Vec<u64> {
    let mut stream = stream(image.seed);
    let values = 1 << image.bits;
    let count = image.width * image.height;
    let mut noise = |levels: u64| {
        let level = |_| below(&mut stream, levels) * (values / levels);
        (0..count).map(level).collect()
    };
    match image.kind {
        ImageKind::Noise(levels) => noise(levels),
        ImageKind::Uniform => noise(values),
        ImageKind::Share(percent) => (0..count)
            .map(|_| shared(&mut stream, percent, values))
            .collect(),
        ImageKind::Smooth => smooth(image, &mut stream),
        ImageKind::Edges(bands) | ImageKind::Points(bands) => {
            edges(image, &smooth(image, &mut stream), bands)
        }
    }
}

/// The next word of the stream, scaled to 0 ..= most - 1.
fn below(stream: &mut ChaCha12Rng, most: u64) -> u64 {
    ((u128::from(stream.next_u64()) * u128::from(most)) >> 64) as u64
}

/// A pixel that has the middle value in `percent` of 100 cases. It takes two
/// words in any case.
fn shared(stream: &mut ChaCha12Rng, percent: u64, values: u64) -> u64 {
    let (case, other) = (below(stream, 100), below(stream, values));
    if case < percent { values / 2 } else { other }
}

/// Random values on a grid, bilinear in between.
fn smooth(image: &Image, stream: &mut ChaCha12Rng) -> Vec<u64> {
    let columns = image.width.div_ceil(CELL) + 1;
    let rows = image.height.div_ceil(CELL) + 1;
    let grid: Vec<u64> = (0..columns * rows)
        .map(|_| below(stream, 1 << image.bits))
        .collect();
    let at = |x: u64, y: u64| grid[(y * columns + x) as usize];
    let pixel = |i: u64| {
        let (x, y) = (i % image.width, i / image.width);
        let (column, row, right, down) = (x / CELL, y / CELL, x % CELL, y % CELL);
        let along = |row| at(column, row) * (CELL - right) + at(column + 1, row) * right;
        (along(row) * (CELL - down) + along(row + 1) * down) / (CELL * CELL)
    };
    (0..image.width * image.height).map(pixel).collect()
}

/// The largest value where the right or the lower neighbour is in another band.
fn edges(image: &Image, smooth: &[u64], bands: u64) -> Vec<u64> {
    let band = |i: u64| (smooth[i as usize] * bands) >> image.bits;
    let pixel = |i: u64| {
        let right = i % image.width + 1 < image.width && band(i + 1) != band(i);
        let below = i / image.width + 1 < image.height && band(i + image.width) != band(i);
        if right || below {
            (1 << image.bits) - 1
        } else {
            0
        }
    };
    (0..image.width * image.height).map(pixel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: ImageKind) -> Image {
        Image {
            seed: 1,
            width: 200,
            height: 100,
            bits: 12,
            kind,
        }
    }

    /// The percentage of pixels for which `is` holds.
    fn percent(pixels: &[u64], is: impl Fn(u64) -> bool) -> usize {
        pixels.iter().filter(|p| is(**p)).count() * 100 / pixels.len()
    }

    #[test]
    fn seeds_decide() {
        for kind in [
            ImageKind::Smooth,
            ImageKind::Noise(64),
            ImageKind::Share(30),
            ImageKind::Uniform,
        ] {
            let (one, two) = (
                of(kind),
                Image {
                    seed: 2,
                    ..of(kind)
                },
            );
            assert_eq!(pixels(&one), pixels(&one));
            assert_ne!(pixels(&one), pixels(&two));
            assert_eq!(pixels(&one).len(), 20_000);
            assert!(pixels(&one).iter().all(|p| *p < 4096));
        }
    }

    #[test]
    fn noise_has_its_levels_and_no_others() {
        for levels in [1, 16, 64, 256] {
            let mut found = pixels(&of(ImageKind::Noise(levels)));
            found.sort_unstable();
            found.dedup();
            let want: Vec<u64> = (0..levels).map(|l| l * (4096 / levels)).collect();
            assert_eq!(found, want);
        }
    }

    #[test]
    fn a_share_has_one_value() {
        for share in [30, 50, 100] {
            let found = percent(&pixels(&of(ImageKind::Share(share))), |p| p == 2048);
            assert!(found.abs_diff(share as usize) <= 1, "{share}: {found}");
        }
    }

    #[test]
    fn smooth_is_smooth_and_goes_through_its_grid() {
        let image = of(ImageKind::Smooth);
        let found = pixels(&image);
        // A cell has a slope of at most 4096 / 64.
        for row in found.chunks(200) {
            assert!(row.windows(2).all(|w| w[0].abs_diff(w[1]) <= 65));
        }
        let mut stream = stream(1);
        let first: Vec<u64> = (0..4).map(|_| below(&mut stream, 4096)).collect();
        assert_eq!([0, 64, 128, 192].map(|x| found[x]), first[..]);
    }

    #[test]
    fn edges_lie_between_bands() {
        let (smooth, edges) = (
            pixels(&of(ImageKind::Smooth)),
            pixels(&of(ImageKind::Edges(4))),
        );
        for y in 0..99 {
            for x in 0..199 {
                let i = y * 200 + x;
                let other = [i + 1, i + 200]
                    .iter()
                    .any(|n| smooth[*n] / 1024 != smooth[i] / 1024);
                assert_eq!(edges[i], if other { 4095 } else { 0 });
            }
        }
        let share = percent(&edges, |p| p > 0);
        assert!((1..30).contains(&share), "{share}");
    }

    #[test]
    fn points_are_edges_in_raster_order() {
        let edges = pixels(&of(ImageKind::Edges(4)));
        let found = points(&of(ImageKind::Points(4)), 4, 100);
        assert!(found.is_sorted());
        for p in found {
            assert_eq!(edges[((p >> 16) * 200 + (p & 0xffff)) as usize], 4095);
        }
        // One band has no edges.
        assert_eq!(points(&of(ImageKind::Points(1)), 1, 3), [0; 3]);
    }

    #[test]
    fn pixels_become_elements() {
        let bytes = image(Element::Unsigned(2), 20_000, &of(ImageKind::Share(100)));
        assert_eq!(bytes[..2], 2048u16.to_le_bytes());
        assert_eq!(bytes.len(), 40_000);
    }
}
