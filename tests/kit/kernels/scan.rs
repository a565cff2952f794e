//! Prefix sums against sums from the beginning, each on its own.

use crate::kernels::harness::TestKernel;

#[test]
fn prefix_sums() {
    for n in [3000usize, 2048, 1025, 7] {
        let blocks = n.div_ceil(1024);
        let mut kernel = TestKernel::load("scan", "scan")
            .grid([blocks as u32, 1, 1])
            .count("in", n)
            .count("out", n)
            .count("totals", blocks)
            .count("offsets", blocks)
            .scalar("n", n as u32)
            .scalar("blocks", blocks as u32);
        kernel.file.then[1].grid = [blocks as u32, 1, 1];
        kernel.check(|run| {
            let (input, output) = (run.before::<u32>("in"), run.after::<u32>("out"));
            for (i, prefix) in output.iter().enumerate() {
                assert_eq!(*prefix, input[..i].iter().sum::<u32>(), "{i} of {n}");
            }
            assert_eq!(run.after::<u32>("total"), [input.iter().sum::<u32>()]);
        });
    }
}

#[test]
fn rows_of_256() {
    for rows in [16usize, 1] {
        TestKernel::load("scan", "scan_rows")
            .grid([rows as u32, 1, 1])
            .count("in", 256 * rows)
            .count("out", 256 * rows)
            .check(|run| {
                let (input, output) = (run.before::<u32>("in"), run.after::<u32>("out"));
                for (i, prefix) in output.iter().enumerate() {
                    let row = i - i % 256;
                    assert_eq!(*prefix, input[row..i].iter().sum::<u32>(), "{i}");
                }
            });
    }
}
