//! Template matching: correlations with the template minus its mean, in wide
//! integers, and the position of the largest.

use crate::kernels::harness::TestKernel;

/// Sides of template, window and offsets.
const T: usize = 21;
const OFFSETS: usize = 21;

/// The first frame copies the pixels around each point.
#[test]
fn the_first_frame() {
    let kernel = TestKernel::load("heartwall", "heartwall_frame");
    kernel.check(|run| {
        let (frame, centres) = (run.before::<i32>("frame"), run.before::<i32>("points"));
        let pixel = |point: usize, i: usize| {
            let (x, y) = (centres[2 * point] as usize, centres[2 * point + 1] as usize);
            frame[(y - 25 + i / 51) * 120 + x - 25 + i % 51]
        };
        let points = 0..centres.len() / 2;
        let want: Vec<i32> = points
            .flat_map(|point| (0..51 * 51).map(move |i| pixel(point, i)))
            .collect();
        assert_eq!(run.after::<i32>("templates"), want);
        assert!(run.after::<i32>("scores").iter().all(|s| *s == 0));
    });
}

/// Later frames match the middle of the templates: a template that is cut out
/// of the frame itself is found at its position.
#[test]
fn a_later_frame() {
    let kernel = TestKernel::load("heartwall", "heartwall_frame");
    let (x, y) = (50usize, 48usize);
    let frame: Vec<i32> = (0..12000u64)
        .map(|i| (((i * i * 2_654_435_761) >> 7) & 63) as i32)
        .collect();
    let template: Vec<i32> = (0..51 * 51)
        .map(|i| frame[(y - 25 + i / 51) * 120 + x - 25 + i % 51])
        .collect();
    kernel
        .grid([1, 1, 1])
        .count("places", 2)
        .count("scores", 441)
        .data("templates", &template)
        .data("frame", &frame)
        .data("points", &[x as i32 - 3, y as i32 + 5])
        .scalar("number", 1i32)
        .check(|run| assert_eq!(run.after::<i32>("places"), [x as i32, y as i32]));
}

#[test]
fn places() {
    for (points, seed) in [(3usize, 1), (1, 8)] {
        TestKernel::load("heartwall", "heartwall")
            .grid([points as u32, 1, 1])
            .count("places", 2 * points)
            .count("scores", OFFSETS * OFFSETS * points)
            .count("templates", T * T * points)
            .count("points", 2 * points)
            .seed("frame", seed)
            .check(|run| {
                let (templates, frame) =
                    (run.before::<i32>("templates"), run.before::<i32>("frame"));
                let centres = run.before::<i32>("points");
                let (mut places, mut scores) = (Vec::new(), Vec::new());
                for (template, centre) in templates.chunks(T * T).zip(centres.chunks(2)) {
                    let mean_times_area: i64 = template.iter().map(|v| i64::from(*v)).sum();
                    let (left, top) = (centre[0] as usize - 20, centre[1] as usize - 20);
                    let score = |offset: usize| -> i64 {
                        let (x, y) = (left + offset % OFFSETS, top + offset / OFFSETS);
                        let pixel = |i: usize| i64::from(frame[(y + i / T) * 100 + x + i % T]);
                        let model =
                            |i: usize| (T * T) as i64 * i64::from(template[i]) - mean_times_area;
                        (0..T * T).map(|i| model(i) * pixel(i)).sum()
                    };
                    let all: Vec<i64> = (0..OFFSETS * OFFSETS).map(score).collect();
                    let largest = all.iter().max().unwrap();
                    let first = all.iter().position(|s| s == largest).unwrap();
                    places.push((left + T / 2 + first % OFFSETS) as i32);
                    places.push((top + T / 2 + first / OFFSETS) as i32);
                    scores.extend(all.into_iter().map(|s| i32::try_from(s).unwrap()));
                }
                assert_eq!(run.after::<i32>("scores"), scores);
                assert_eq!(run.after::<i32>("places"), places);
            });
    }
}
