//! The kernels that no scratchpad limits: the sharing paper's Set-3.

use crate::kernels::bound::{Approx, assert_within, sum};
use crate::kernels::harness::TestKernel;

#[test]
fn a_level_of_a_breadth_first_search() {
    TestKernel::load("bfs", "bfs").check(|run| {
        let number = |name: &str| run.before::<u32>(name);
        let (frontier, visited) = (number("frontier"), number("visited"));
        let (first, edges) = (number("first"), number("edges"));
        let mut cost = run.before::<i32>("cost");
        let mut next = vec![0u32; frontier.len()];
        let successors = |n: usize| &edges[first[n] as usize..first[n + 1] as usize];
        let reached = (0..frontier.len())
            .filter(|n| frontier[*n] != 0)
            .flat_map(|n| successors(n).iter().map(move |to| (n, *to as usize)))
            .filter(|(_, to)| visited[*to] == 0);
        let before = cost.clone();
        for (from, to) in reached {
            cost[to] = before[from] + 1;
            next[to] = 1;
        }
        assert!(next.iter().sum::<u32>() > 100);
        assert_eq!(run.after::<u32>("next"), next);
        assert_eq!(run.after::<i32>("cost"), cost);
        assert!(run.after::<u32>("frontier").iter().all(|f| *f == 0));
    });
}

/// Keys are 0, 1, 2, ..., each that of the record of its number.
#[test]
fn ranges_in_a_tree() {
    for seed in [1, 5] {
        TestKernel::load("btree", "btree")
            .seed("from", seed)
            .check(|run| {
                let (from, to) = (run.before::<i32>("from"), run.before::<i32>("to"));
                let lengths: Vec<i32> = from.iter().zip(&to).map(|(a, b)| b - a + 1).collect();
                assert_eq!(run.after::<i32>("record"), from);
                assert_eq!(run.after::<i32>("length"), lengths);
            });
    }
}

#[test]
fn multipliers_of_an_elimination() {
    for step in [0usize, 3, 15] {
        TestKernel::load("gaussian", "gaussian")
            .scalar("step", step as i32)
            .check(|run| {
                let matrix = run.before::<f32>("matrix");
                let exact = |i: usize| Approx::exact(matrix[i]);
                let pivot = exact(16 * step + step);
                // Division in single precision is rounded once.
                let want: Vec<Approx> = (0..matrix.len())
                    .map(|i| {
                        if i / 16 > step && i % 16 == step {
                            exact(i) / pivot
                        } else {
                            Approx::exact(0.0)
                        }
                    })
                    .collect();
                assert_within("multipliers", &run.after("multipliers"), &want);
            });
    }
}

#[test]
fn neurons_of_the_second_layer() {
    TestKernel::load("neuralnet", "neuralnet").check(|run| {
        let (layer, weights) = (run.before::<f32>("layer"), run.before::<f32>("weights"));
        let neuron = |i: usize| {
            let (map, y, x) = (i / 25, i / 5 % 5, i % 5);
            let bias = weights[151 * map];
            let terms = (0..6).flat_map(|k| (0..25).map(move |w| (k, w)));
            let products = terms.map(|(k, w)| {
                let at = k * 169 + (2 * y + w / 5) * 13 + 2 * x + w % 5;
                Approx::exact(layer[at]) * Approx::exact(weights[151 * map + 1 + 6 * w + k])
            });
            let total = sum(products.chain([Approx::exact(bias)]));
            // tanh by an exponential in base 2 of single precision: some units of 4 / (1 + e)^2
            // of relative error in e, well below 32 half units of the largest result.
            let squashed = total.map(|s| 1.7159 * (s * 2.0 / 3.0).tanh(), 1.15, 4.0);
            Approx {
                error: squashed.error + 32.0 * crate::kernels::bound::U * 1.7159,
                ..squashed
            }
        };
        let want: Vec<Approx> = (0..1250).map(neuron).collect();
        assert_within("neurons", &run.after("neurons"), &want);
    });
}
