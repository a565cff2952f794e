//! Finite differences: the star around each point.

use crate::kernels::bound::{Approx, assert_within, sum};
use crate::kernels::harness::TestKernel;

/// Radius, and border of the volume.
const R: usize = 4;

#[test]
fn star() {
    for (grid, height, nz) in [
        ([2, 2, 1], 4usize, 6usize),
        ([1, 1, 1], 8, 1),
        ([1, 1, 1], 16, 3),
    ] {
        let (nx, ny) = (32 * grid[0] as usize, height * grid[1] as usize);
        let (row, plane) = (nx + 2 * R, (nx + 2 * R) * (ny + 2 * R));
        let count = plane * (nz + 2 * R);
        TestKernel::load("fdtd3d", "fdtd3d")
            .grid(grid)
            .block([32, height as u32, 1])
            .count("in", count)
            .count("out", count)
            .scalar("nx", nx as i32)
            .scalar("ny", ny as i32)
            .scalar("nz", nz as i32)
            .check(|run| {
                let (input, stencil) = (run.before::<f32>("in"), run.before::<f32>("stencil"));
                let exact = Approx::exact;
                let element = |at: usize| {
                    let (x, y, z) = (at % row, at % plane / row, at / plane);
                    let inside = |v: usize, n: usize| (R..R + n).contains(&v);
                    if !(inside(x, nx) && inside(y, ny) && inside(z, nz)) {
                        return exact(0.0);
                    }
                    let centre = exact(stencil[0]) * exact(input[at]);
                    let arms = (1..=R).flat_map(|d| {
                        let six = [
                            at - d,
                            at + d,
                            at - d * row,
                            at + d * row,
                            at - d * plane,
                            at + d * plane,
                        ];
                        // The six are added before they are multiplied.
                        six.map(|i| (exact(stencil[d]) * exact(input[i])).rounded(5.0))
                    });
                    sum(arms.chain([centre]))
                };
                let want: Vec<Approx> = (0..count).map(element).collect();
                assert_within("out", &run.after("out"), &want);
            });
    }
}
