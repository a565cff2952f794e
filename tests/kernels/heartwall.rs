//! Template matching: correlations with the template less its mean, in wide
//! integers, and the place of the largest.

use crate::harness::Kernel;

/// Sides of template, window and offsets.
const T: usize = 21;
const OFFSETS: usize = 21;

#[test]
fn places() {
    for (points, seed) in [(3usize, 1), (1, 8)] {
        Kernel::load("heartwall", "heartwall")
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
