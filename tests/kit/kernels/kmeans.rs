//! k-means: no centre is nearer than the chosen one, within the error of the
//! distances; the counts follow from the choice.

use crate::kernels::bound::{Approx, sum};
use crate::kernels::harness::TestKernel;

#[test]
fn one_step() {
    for (points, clusters, dimensions) in [(1000usize, 5usize, 4usize), (576, 3, 7), (100, 1, 1)] {
        let blocks = points.div_ceil(576);
        TestKernel::load("kmeans", "kmeans")
            .grid([blocks as u32, 1, 1])
            .count("membership", points)
            .count("moved", blocks)
            .count("sizes", blocks * clusters)
            .count("features", points * dimensions)
            .count("centres", clusters * dimensions)
            .scalar("points", points as i32)
            .scalar("clusters", clusters as i32)
            .scalar("dimensions", dimensions as i32)
            .check(|run| {
                let (features, centres) =
                    (run.before::<f32>("features"), run.before::<f32>("centres"));
                let chosen = run.after::<i32>("membership");
                for (point, chosen) in chosen.iter().enumerate() {
                    let distance = |cluster: usize| {
                        sum((0..dimensions).map(|d| {
                            let a = Approx::exact(features[d * points + point]);
                            let difference = a - Approx::exact(centres[cluster * dimensions + d]);
                            difference * difference
                        }))
                    };
                    let own = distance(*chosen as usize);
                    for other in (0..clusters).map(distance) {
                        assert!(
                            own.value - own.error <= other.value + other.error,
                            "{point}"
                        );
                    }
                }
                let before = run.before::<i32>("membership");
                let pairs: Vec<(i32, i32)> = before.into_iter().zip(chosen).collect();
                let moved: Vec<i32> = pairs
                    .chunks(576)
                    .map(|block| block.iter().filter(|(a, b)| a != b).count() as i32)
                    .collect();
                assert_eq!(run.after::<i32>("moved"), moved);
                let size = |block: &[(i32, i32)], c: usize| {
                    block.iter().filter(|p| p.1 == c as i32).count()
                };
                let sizes: Vec<i32> = pairs
                    .chunks(576)
                    .flat_map(|block| (0..clusters).map(move |c| size(block, c) as i32))
                    .collect();
                assert_eq!(run.after::<i32>("sizes"), sizes);
            });
    }
}
