//! Hough transform: for each angle and distance the points on that line.

use crate::kernels::harness::TestKernel;

#[test]
fn votes() {
    for variant in ["", "_replicated", "_padded", "_stretched"] {
        for n in [300usize, 7] {
            TestKernel::load("hough", &format!("hough{variant}"))
                .count("points", 2 * n)
                .scalar("n", n as u32)
                .check(|run| {
                    let points = run.before::<u16>("points");
                    let mut want = vec![0u32; 180 * 768];
                    for angle in 0..180 {
                        let (sin, cos) = (angle as f64).to_radians().sin_cos();
                        let fixed = |v: f64| (v * 16384.0).round();
                        for point in points.chunks(2) {
                            let (x, y) = (f64::from(point[0]), f64::from(point[1]));
                            // The nearest distance; halves go up.
                            let distance = (x * fixed(cos) + y * fixed(sin)) / 16384.0;
                            let bin = (distance + 0.5).floor() + 384.0;
                            want[angle * 768 + bin as usize] += 1;
                        }
                    }
                    assert_eq!(run.after::<u32>("votes"), want, "{variant} {n}");
                });
        }
    }
}

/// Images of 640 x 480, with points that are one word each.
#[test]
fn large_images() {
    for variant in ["1", "2", "3", "4", "5", "6", "stretched"] {
        TestKernel::load("hough", &format!("hough640_{variant}"))
            .count("points", 300)
            .scalar("n", 300u32)
            .check(|run| {
                let points = run.before::<u32>("points");
                let mut want = vec![0u32; 180 * 1600];
                for angle in 0..180 {
                    let (sin, cos) = (angle as f64).to_radians().sin_cos();
                    let fixed = |v: f64| (v * 16384.0).round();
                    for point in &points {
                        let (x, y) = (f64::from(point & 0xffff), f64::from(point >> 16));
                        let distance = (x * fixed(cos) + y * fixed(sin)) / 16384.0;
                        let bin = (distance + 0.5).floor() + 800.0;
                        want[angle * 1600 + bin as usize] += 1;
                    }
                }
                assert_eq!(run.after::<u32>("votes"), want, "{variant}");
            });
    }
}
