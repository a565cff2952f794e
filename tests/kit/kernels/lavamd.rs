//! Particle forces: every pair of neighbouring boxes on its own.

use crate::kernels::bound::{Approx, assert_within_double, sum};
use crate::kernels::harness::TestKernel;

/// Particles of a box.
const N: usize = 100;

fn neighbours(a: [usize; 3], b: [usize; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 1)
}

#[test]
fn forces() {
    for (grid, alpha) in [([2usize, 1, 1], 0.5), ([3, 1, 1], 1.25), ([1, 1, 1], 0.5)] {
        let boxes: usize = grid.iter().product();
        let place = |i: usize| [i % grid[0], i / grid[0] % grid[1], i / (grid[0] * grid[1])];
        TestKernel::load("lavamd", "lavamd")
            .grid(grid.map(|d| d as u32))
            .count("force", 4 * N * boxes)
            .count("position", 4 * N * boxes)
            .count("charge", N * boxes)
            .scalar("alpha", alpha)
            .check(|run| {
                let (p, q) = (run.before::<f64>("position"), run.before::<f64>("charge"));
                let position = |i: usize, c: usize| Approx::double(p[4 * i + c]);
                let a2 = Approx::double(2.0 * alpha * alpha);
                let mut want = Vec::new();
                for i in 0..N * boxes {
                    let mut forces: [Vec<Approx>; 4] = Default::default();
                    for (j, charge) in q.iter().enumerate() {
                        if !neighbours(place(i / N), place(j / N)) {
                            continue;
                        }
                        let dot = sum((1..4).map(|c| position(i, c) * position(j, c)));
                        let r2 = position(i, 0) + position(j, 0) - dot;
                        let exponent = -(a2 * r2);
                        // exp of the toolkit is off by one unit in the last place.
                        let slope = (exponent.value + exponent.error).exp();
                        let v = exponent.map(f64::exp, slope, 2.0);
                        let charge = Approx::double(*charge);
                        forces[0].push(charge * v);
                        let two_v = v + v;
                        for (c, force) in forces.iter_mut().enumerate().skip(1) {
                            let difference = position(i, c) - position(j, c);
                            force.push(charge * (two_v * difference));
                        }
                    }
                    want.extend(forces.map(sum));
                }
                assert_within_double("force", &run.after("force"), &want);
            });
    }
}
