//! Temperatures: two time steps on the chip as a whole.

use crate::kernels::bound::{Approx, assert_within};
use crate::kernels::harness::TestKernel;

fn step(now: &[Approx], power: &[f32], columns: usize, rows: usize) -> Vec<Approx> {
    let constant = Approx::exact;
    let at = |x: isize, y: isize| {
        let x = x.clamp(0, columns as isize - 1) as usize;
        now[y.clamp(0, rows as isize - 1) as usize * columns + x]
    };
    let cell = |i: usize| {
        let (x, y) = ((i % columns) as isize, (i / columns) as isize);
        let t = at(x, y);
        let two = constant(2.0) * t;
        let vertical = (at(x, y + 1) + at(x, y - 1) - two) * constant(0.2);
        let horizontal = (at(x + 1, y) + at(x - 1, y) - two) * constant(0.1);
        let sink = (constant(80.0) - t) * constant(0.05);
        t + constant(0.25) * (constant(power[i]) + vertical + horizontal + sink)
    };
    (0..now.len()).map(cell).collect()
}

#[test]
fn two_steps() {
    for (columns, rows) in [(40usize, 30usize), (12, 12), (5, 25)] {
        TestKernel::load("hotspot", "hotspot")
            .grid([columns.div_ceil(12) as u32, rows.div_ceil(12) as u32, 1])
            .count("in", columns * rows)
            .count("out", columns * rows)
            .count("power", columns * rows)
            .scalar("columns", columns as i32)
            .scalar("rows", rows as i32)
            .check(|run| {
                let power = run.before::<f32>("power");
                let input = run.before::<f32>("in");
                let first: Vec<Approx> = input.iter().map(|v| Approx::exact(*v)).collect();
                let want = step(&step(&first, &power, columns, rows), &power, columns, rows);
                assert_within("out", &run.after("out"), &want);
            });
    }
}
