//! Separable convolution by its definition, zero outside the image.

use crate::kernels::bound::{Approx, assert_within, sum};
use crate::kernels::harness::TestKernel;

fn check(name: &str, rows: bool, grid: [u32; 3], width: usize, height: usize) {
    check_taps(name, rows, 8, grid, [width, height]);
}

fn check_taps(name: &str, rows: bool, radius: isize, grid: [u32; 3], [width, height]: [usize; 2]) {
    TestKernel::load("convolution", name)
        .grid(grid)
        .count("in", width * height)
        .count("out", width * height)
        .scalar("width", width as i32)
        .scalar("height", height as i32)
        .check(|run| {
            let (input, taps) = (run.before::<f32>("in"), run.before::<f32>("taps"));
            let pixel = |x: isize, y: isize| {
                let inside = (0..width as isize).contains(&x) && (0..height as isize).contains(&y);
                inside.then(|| input[y as usize * width + x as usize])
            };
            let element = |at: usize| {
                let (x, y) = ((at % width) as isize, (at / width) as isize);
                // Convolution: the taps run against the pixels.
                sum((-radius..=radius).filter_map(|d| {
                    let (px, py) = if rows { (x - d, y) } else { (x, y - d) };
                    let value = pixel(px, py)?;
                    Some(Approx::exact(taps[(d + radius) as usize]) * Approx::exact(value))
                }))
            };
            let want: Vec<Approx> = (0..width * height).map(element).collect();
            assert_within(name, &run.after("out"), &want);
        });
}

#[test]
fn rows() {
    check("conv_rows", true, [2, 2, 1], 256, 8);
    check("conv_rows", true, [1, 1, 1], 128, 4);
}

#[test]
fn columns() {
    for name in ["conv_columns", "conv_columns_padded"] {
        check(name, false, [2, 2, 1], 32, 128);
        check(name, false, [1, 1, 1], 16, 64);
    }
    check("conv_columns_halo4", false, [2, 2, 1], 32, 128);
    check("conv_columns_halo4", false, [1, 3, 1], 16, 192);
    check_taps("conv_columns_5", false, 2, [2, 2, 1], [32, 128]);
}
