//! Speckle-reducing anisotropic diffusion, on the image as a whole.

use crate::kernels::bound::{Approx, assert_within, sum};
use crate::kernels::harness::TestKernel;

struct Image<'a> {
    pixels: &'a [Approx],
    columns: usize,
    rows: usize,
}

impl Image<'_> {
    /// The pixel, or the border's nearest.
    fn at(&self, x: isize, y: isize) -> Approx {
        let x = x.clamp(0, self.columns as isize - 1) as usize;
        let y = y.clamp(0, self.rows as isize - 1) as usize;
        self.pixels[y * self.columns + x]
    }
}

/// North, south, west, east.
const NEIGHBOURS: [(isize, isize); 4] = [(0, -1), (0, 1), (-1, 0), (1, 0)];

fn differences(image: &Image, i: usize) -> [Approx; 4] {
    let (x, y) = ((i % image.columns) as isize, (i / image.columns) as isize);
    NEIGHBOURS.map(|(dx, dy)| image.at(x + dx, y + dy) - image.at(x, y))
}

/// The coefficient from the instantaneous coefficient of variation.
fn coefficient(image: &Image, i: usize, q0sqr: f32) -> Approx {
    let (c, exact) = (image.pixels[i], Approx::exact);
    let d = differences(image, i);
    let g2 = sum(d.map(|d| d * d)) / (c * c);
    let l = sum(d) / c;
    let numerator = exact(0.5) * g2 - exact(0.0625) * l * l;
    let denominator = exact(1.0) + exact(0.25) * l;
    let q = numerator / (denominator * denominator);
    let q0 = exact(q0sqr);
    let k = exact(1.0) / (exact(1.0) + (q - q0) / (q0 * (exact(1.0) + q0)));
    // Neither bound moves anything away from anything.
    Approx {
        value: k.value.clamp(0.0, 1.0),
        ..k
    }
}

fn exact(values: &[f32]) -> Vec<Approx> {
    values.iter().map(|v| Approx::exact(*v)).collect()
}

const NAMES: [&str; 4] = ["north", "south", "west", "east"];

#[test]
fn first_kernel() {
    let sizes = [
        ("srad1", 24, [48usize, 48usize]),
        ("srad1", 24, [24, 72]),
        ("srad1_branches", 16, [48, 32]),
        ("srad1_branches", 16, [16, 48]),
    ];
    for (name, tile, [columns, rows]) in sizes {
        let mut kernel = TestKernel::load("srad", name)
            .grid([columns as u32 / tile, rows as u32 / tile, 1])
            .scalar("columns", columns as i32)
            .scalar("rows", rows as i32);
        for name in NAMES.iter().chain(&["coefficient", "image"]) {
            kernel = kernel.count(name, columns * rows);
        }
        kernel.check(|run| {
            let pixels = exact(&run.before::<f32>("image"));
            let image = Image {
                pixels: &pixels,
                columns,
                rows,
            };
            for (k, name) in NAMES.iter().enumerate() {
                let want: Vec<Approx> = (0..pixels.len())
                    .map(|i| differences(&image, i)[k])
                    .collect();
                assert_within(name, &run.after(name), &want);
            }
            let want: Vec<Approx> = (0..pixels.len())
                .map(|i| coefficient(&image, i, 0.05))
                .collect();
            assert_within("coefficient", &run.after("coefficient"), &want);
        });
    }
}

/// Image after the divergence with the given differences and coefficients.
fn updated(
    pixels: &[Approx],
    coefficients: &Image,
    d: impl Fn(usize) -> [Approx; 4],
    lambda: f32,
) -> Vec<Approx> {
    let update = |i: usize| {
        let (x, y) = (
            (i % coefficients.columns) as isize,
            (i / coefficients.columns) as isize,
        );
        let (own, d) = (coefficients.at(x, y), d(i));
        let south_east = [own * d[0], coefficients.at(x, y + 1) * d[1], own * d[2]];
        let all = south_east
            .into_iter()
            .chain([coefficients.at(x + 1, y) * d[3]]);
        pixels[i] + Approx::exact(0.25) * Approx::exact(lambda) * sum(all)
    };
    (0..pixels.len()).map(update).collect()
}

#[test]
fn second_kernel() {
    for lambda in [0.5f32, 1.0] {
        TestKernel::load("srad", "srad2")
            .scalar("lambda", lambda)
            .check(|run| {
                let pixels = exact(&run.before::<f32>("image"));
                let coefficients = exact(&run.before::<f32>("coefficient"));
                let image = Image {
                    pixels: &coefficients,
                    columns: 48,
                    rows: 48,
                };
                let d = NAMES.map(|name| exact(&run.before::<f32>(name)));
                let want = updated(&pixels, &image, |i| [0, 1, 2, 3].map(|k| d[k][i]), lambda);
                assert_within("image", &run.after("image"), &want);
            });
    }
}

#[test]
fn a_whole_step() {
    TestKernel::load("srad", "srad").check(|run| {
        let pixels = exact(&run.before::<f32>("image"));
        let image = Image {
            pixels: &pixels,
            columns: 48,
            rows: 48,
        };
        let coefficients: Vec<Approx> = (0..pixels.len())
            .map(|i| coefficient(&image, i, 0.05))
            .collect();
        let coefficients = Image {
            pixels: &coefficients,
            columns: 48,
            rows: 48,
        };
        let want = updated(&pixels, &coefficients, |i| differences(&image, i), 0.5);
        assert_within("image", &run.after("image"), &want);
    });
}
