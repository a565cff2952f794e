//! Gridding: each cell as a sum over all samples; the parts of the sort against
//! the standard library's.

use crate::kernels::bound::{Approx, U, assert_within};
use crate::kernels::harness::TestKernel;

#[test]
fn cells() {
    for seed in [1, 7] {
        let kernel = TestKernel::load("gridding", "gridding").seed("samples", seed);
        kernel.check(|run| {
            let samples = run.before::<f32>("samples");
            let samples: Vec<&[f32]> = samples.chunks(4).collect();
            let element = |at: usize| {
                let (cx, cy) = ((at % 64) as f64, (at / 64) as f64);
                let (mut total, mut magnitude, mut near) = (0.0, 0.0, 0.0);
                for sample in &samples {
                    let weight =
                        |position: f32, cell: f64| 1.0 - (f64::from(position) - cell).abs() / 2.0;
                    let (wx, wy) = (weight(sample[0], cx), weight(sample[1], cy));
                    // One that the machine may take for inside.
                    if wx > -3.0 * U && wy > -3.0 * U {
                        near += 1.0;
                        magnitude += f64::from(sample[2]).abs();
                        total += wx.max(0.0) * wy.max(0.0) * f64::from(sample[2]);
                    }
                }
                // A weight has two roundings of numbers up to 2 and is at most 1;
                // then two products and the sum of all near.
                let error = (2.0 * 3.0 + 2.0 + near) * U * magnitude;
                Approx {
                    error,
                    ..Approx::constant(total)
                }
            };
            let want: Vec<Approx> = (0..4096).map(element).collect();
            assert_within("cells", &run.after("cells"), &want);
            // The sort: keys in order, samples of a bin in their old order.
            let keys = run.after::<u32>("keys");
            assert!(keys.is_sorted());
            let key = |i: usize| (samples[i][1] / 8.0) as u32 * 8 + (samples[i][0] / 8.0) as u32;
            let mut order: Vec<usize> = (0..samples.len()).collect();
            order.sort_by_key(|i| key(*i));
            let indices = run.after::<u32>("indices");
            assert!(order.iter().zip(&indices).all(|(a, b)| *a == *b as usize));
            assert!(
                indices
                    .iter()
                    .zip(&keys)
                    .all(|(i, k)| key(*i as usize) == *k)
            );
            let starts = run.after::<u32>("starts");
            for (bin, start) in starts.iter().enumerate() {
                let before = keys.iter().filter(|k| (**k as usize) < bin).count();
                assert_eq!(*start as usize, before, "bin {bin}");
            }
        });
    }
}

#[test]
fn sorting_a_digit() {
    for (blocks, shift) in [(2usize, 0), (1, 8)] {
        TestKernel::load("gridding", "split_sort")
            .grid([blocks as u32, 1, 1])
            .count("keys", 1024 * blocks)
            .count("values", 1024 * blocks)
            .count("counts", 16 * blocks)
            .scalar("shift", shift)
            .check(|run| {
                let digit = |key: u32| key >> shift & 15;
                let (keys, values) = (run.before::<u32>("keys"), run.before::<u32>("values"));
                let mut pairs: Vec<(u32, u32)> = keys.iter().copied().zip(values).collect();
                pairs
                    .chunks_mut(1024)
                    .for_each(|b| b.sort_by_key(|p| digit(p.0)));
                let (sorted, values): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
                assert_eq!(run.after::<u32>("keys"), sorted);
                assert_eq!(run.after::<u32>("values"), values);
                let count = |i: usize| {
                    let block = &keys[i % blocks * 1024..][..1024];
                    block
                        .iter()
                        .filter(|k| digit(**k) as usize == i / blocks)
                        .count() as u32
                };
                let counts: Vec<u32> = (0..16 * blocks).map(count).collect();
                assert_eq!(run.after::<u32>("counts"), counts);
            });
    }
}

#[test]
fn scanning_the_counts() {
    for n in [1000usize, 5] {
        TestKernel::load("gridding", "scan_counts")
            .count("counts", n)
            .scalar("n", n as u32)
            .check(|run| {
                let counts = run.before::<u32>("counts");
                let want: Vec<u32> = (0..n).map(|i| counts[..i].iter().sum()).collect();
                assert_eq!(run.after::<u32>("counts"), want);
            });
    }
}

/// The partial sum that the up-sweep leaves at index i: over as many words up
/// to i as the lowest set bit of i + 1.
fn tree(group: &[u32], i: usize) -> u32 {
    let words = 1usize << (i + 1).trailing_zeros();
    group[i + 1 - words..=i].iter().sum()
}

#[test]
fn up_sweep() {
    TestKernel::load("gridding", "scan_up").check(|run| {
        let (before, after) = (run.before::<u32>("totals"), run.after::<u32>("totals"));
        let sums = run.after::<u32>("sums");
        for (b, group) in before.chunks(128).enumerate() {
            assert_eq!(sums[b], group.iter().sum::<u32>());
            for i in 0..128 {
                assert_eq!(after[128 * b + i], tree(group, i), "{b} {i}");
            }
        }
    });
}

#[test]
fn down_sweep_of_up_sweeps() {
    let words: Vec<u32> = (0..2048u32).map(|i| i * i % 1009).collect();
    let groups = words.chunks(128);
    let trees: Vec<u32> = groups
        .flat_map(|group| (0..128).map(|i| tree(group, i)))
        .collect();
    TestKernel::load("gridding", "scan_down")
        .data("totals", &trees)
        .check(|run| {
            let (after, offsets) = (run.after::<u32>("totals"), run.before::<u32>("offsets"));
            for (i, prefix) in after.iter().enumerate() {
                let first = i - i % 128;
                let want = offsets[i / 128] + words[first..i].iter().sum::<u32>();
                assert_eq!(*prefix, want, "{i}");
            }
        });
}
