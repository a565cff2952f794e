//! N queens: all permutations tried, and the published numbers.

use crate::harness::Kernel;

/// Permutations of `rest` behind `placed` in which no two queens share a
/// diagonal.
fn permutations(placed: &mut Vec<usize>, rest: &mut Vec<usize>) -> u32 {
    if rest.is_empty() {
        let rows = 0..placed.len();
        let attack = |a: usize, b: usize| placed[a].abs_diff(placed[b]) == b - a;
        let peaceful = rows.clone().all(|b| (0..b).all(|a| !attack(a, b)));
        return peaceful.into();
    }
    let mut count = 0;
    for i in 0..rest.len() {
        placed.push(rest.swap_remove(i));
        count += permutations(placed, rest);
        // Back to where it was: the last one stands in its place.
        rest.push(placed.pop().unwrap());
        let last = rest.len() - 1;
        rest.swap(i, last);
    }
    count
}

#[test]
fn solutions() {
    // Published: OEIS A000170.
    for (n, published) in [(3, 0), (4, 2), (5, 10), (6, 4), (7, 40), (8, 92), (9, 352)] {
        if n <= 7 {
            let tried = permutations(&mut Vec::new(), &mut (0..n).collect());
            assert_eq!(tried, published, "{n} queens");
        }
        let blocks = (n * n).div_ceil(64);
        Kernel::load("nqueens", "nqueens")
            .grid([blocks as u32, 1, 1])
            .count("solutions", blocks)
            .scalar("n", n as i32)
            .check(|run| {
                let found: u32 = run.after::<u32>("solutions").iter().sum();
                assert_eq!(found, published, "{n} queens");
            });
    }
}
