//! Matrix transpose: every element is where the other index order has it.

use crate::kernels::harness::TestKernel;

fn tiles(name: &str, width: usize, height: usize) {
    let blocks = |n: usize| n.div_ceil(16) as u32;
    TestKernel::load("transpose", name)
        .grid([blocks(width), blocks(height), 1])
        .count("in", width * height)
        .count("out", width * height)
        .scalar("width", width as i32)
        .scalar("height", height as i32)
        .check(|run| {
            let (input, output) = (run.before::<f32>("in"), run.after::<f32>("out"));
            for (i, value) in input.iter().enumerate() {
                let (x, y) = (i % width, i / width);
                assert_eq!(
                    output[x * height + y],
                    *value,
                    "{name} {width}x{height} ({x}, {y})"
                );
            }
        });
}

#[test]
fn through_a_tile() {
    for name in ["transpose", "transpose_padded"] {
        for (width, height) in [(64, 48), (16, 16), (37, 5), (1, 33)] {
            tiles(name, width, height);
        }
    }
}

#[test]
fn in_shared_memory() {
    for order in ["crsw", "srcw", "drdw"] {
        for layout in ["", "_padded", "_rap"] {
            let name = format!("{order}{layout}");
            for matrices in [1, 2] {
                TestKernel::load("transpose", &name)
                    .grid([matrices as u32, 1, 1])
                    .count("in", 1024 * matrices)
                    .count("out", 1024 * matrices)
                    .check(|run| {
                        let (input, output) = (run.before::<f32>("in"), run.after::<f32>("out"));
                        for (i, value) in input.iter().enumerate() {
                            let (m, y, x) = (i / 1024, i / 32 % 32, i % 32);
                            assert_eq!(output[m * 1024 + x * 32 + y], *value, "{name} {i}");
                        }
                    });
            }
        }
    }
}
