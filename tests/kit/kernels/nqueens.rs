//! N queens: all permutations tried, and the published numbers.

use crate::kernels::harness::TestKernel;

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
        // Restores the order: the last element returns to its position.
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
        TestKernel::load("nqueens", "nqueens")
            .grid([blocks as u32, 1, 1])
            .count("solutions", blocks)
            .scalar("n", n as i32)
            .check(|run| {
                let found: u32 = run.after::<u32>("solutions").iter().sum();
                assert_eq!(found, published, "{n} queens");
            });
    }
}

/// Queens of the first two rows, the first in columns before `first_half`, as
/// columns and diagonals taken in the third row.
fn states(n: usize, first_half: usize) -> [Vec<u32>; 3] {
    let far = |a: usize, b: usize| a.abs_diff(b) > 1;
    let places = (0..first_half).flat_map(|a| (0..n).map(move |b| (a, b)));
    let places: Vec<(u32, u32)> = places
        .filter(|(a, b)| far(*a, *b))
        .map(|(a, b)| (1 << a, 1 << b))
        .collect();
    let of = |f: fn(u32, u32) -> u32| places.iter().map(|(a, b)| f(*a, *b)).collect();
    [
        of(|a, b| a | b),
        of(|a, b| (a << 1 | b) << 1),
        of(|a, b| (a >> 1 | b) >> 1),
    ]
}

#[test]
fn solutions_from_given_states() {
    for (n, first, published) in [(8, 8, 92), (8, 4, 46), (9, 9, 352), (5, 5, 10)] {
        let [columns, left, right] = states(n, first);
        TestKernel::load("nqueens", "nqueens_states")
            .grid([3, 1, 1])
            .count("solutions", 3)
            .data("columns", &columns)
            .data("left", &left)
            .data("right", &right)
            .scalar("n", n as i32)
            .scalar("rows", n as i32 - 2)
            .scalar("states", columns.len() as i32)
            .check(|run| {
                let found = run.after::<u32>("solutions");
                assert_eq!(found.iter().sum::<u32>(), published, "{n} queens");
                assert_eq!(found[2], 0, "without a state");
            });
    }
}
