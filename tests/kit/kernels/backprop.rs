//! Back propagation: sums of products of weights and inputs, tile by tile, and
//! the weight update.

use crate::kernels::bound::{Approx, assert_within, sum};
use crate::kernels::harness::TestKernel;

fn product(weights: &[f32], input: &[f32], hidden: usize, row: usize, column: usize) -> Approx {
    Approx::exact(weights[row * hidden + column]) * Approx::exact(input[row])
}

/// Per tile and output the sum over the tile's inputs.
fn partial(weights: &[f32], input: &[f32], hidden: usize, tile: usize) -> Vec<Approx> {
    let element = |i: usize| {
        let (first, column) = (i / hidden * tile, i % hidden);
        sum((first..first + tile).map(|row| product(weights, input, hidden, row, column)))
    };
    (0..input.len() / tile * hidden).map(element).collect()
}

#[test]
fn layer_forward() {
    for (inputs, hidden) in [(64usize, 32usize), (16, 16)] {
        TestKernel::load("backprop", "layer_forward")
            .grid([hidden as u32 / 16, inputs as u32 / 16, 1])
            .count("partial", inputs / 16 * hidden)
            .count("products", inputs * hidden)
            .count("input", inputs)
            .count("weights", inputs * hidden)
            .scalar("hidden", hidden as i32)
            .check(|run| {
                let (input, weights) = (run.before::<f32>("input"), run.before::<f32>("weights"));
                let want = partial(&weights, &input, hidden, 16);
                assert_within("partial", &run.after("partial"), &want);
                // The tree leaves in row y the sum of as many rows from y on as
                // y's lowest set bit says.
                let element = |i: usize| {
                    let (row, column) = (i / hidden, i % hidden);
                    let rows = 1usize << (row % 16).trailing_zeros().min(4);
                    sum((row..row + rows).map(|r| product(&weights, &input, hidden, r, column)))
                };
                let want: Vec<Approx> = (0..inputs * hidden).map(element).collect();
                assert_within("products", &run.after("products"), &want);
            });
    }
}

#[test]
fn layer_forward_of_48() {
    for (inputs, hidden) in [(96usize, 96usize), (48, 48)] {
        TestKernel::load("backprop", "layer_forward48")
            .grid([hidden as u32 / 48, inputs as u32 / 48, 1])
            .count("partial", inputs / 48 * hidden)
            .count("input", inputs)
            .count("weights", inputs * hidden)
            .scalar("hidden", hidden as i32)
            .check(|run| {
                let (input, weights) = (run.before::<f32>("input"), run.before::<f32>("weights"));
                let want = partial(&weights, &input, hidden, 48);
                assert_within("partial", &run.after("partial"), &want);
            });
    }
}

#[test]
fn adjust_weights() {
    for (rate, momentum) in [(0.3f32, 0.3f32), (0.1, 0.0)] {
        TestKernel::load("backprop", "adjust_weights")
            .scalar("rate", rate)
            .scalar("momentum", momentum)
            .check(|run| {
                let exact = |name: &str| -> Vec<Approx> {
                    run.before::<f32>(name)
                        .iter()
                        .map(|v| Approx::exact(*v))
                        .collect()
                };
                let (weights, previous) = (exact("weights"), exact("previous"));
                let (delta, input) = (exact("delta"), exact("input"));
                let change = |i: usize| {
                    let learned = Approx::exact(rate) * delta[i % 32] * input[i / 32];
                    learned + Approx::exact(momentum) * previous[i]
                };
                let want: Vec<Approx> = (0..weights.len()).map(change).collect();
                assert_within("previous", &run.after("previous"), &want);
                let want: Vec<Approx> = weights
                    .iter()
                    .enumerate()
                    .map(|(i, w)| *w + change(i))
                    .collect();
                assert_within("weights", &run.after("weights"), &want);
            });
    }
}

/// The bias is input 0 and output 0: sums begin behind them.
#[test]
fn layer_forward_with_a_bias() {
    let hidden = 64usize;
    TestKernel::load("backprop", "layer_forward_bias").check(|run| {
        let (input, weights) = (run.before::<f32>("input"), run.before::<f32>("weights"));
        let at = |row: usize, column: usize| (row + 1) * (hidden + 1) + column + 1;
        let product = |row: usize, column: usize| {
            Approx::exact(weights[at(row, column)]) * Approx::exact(input[row + 1])
        };
        let want: Vec<Approx> = (0..4 * hidden)
            .map(|i| {
                let first = i / hidden * 16;
                sum((first..first + 16).map(|row| product(row, i % hidden)))
            })
            .collect();
        assert_within("partial", &run.after("partial"), &want);
        let mut want: Vec<Approx> = weights.iter().map(|w| Approx::exact(*w)).collect();
        for (row, column) in (0..hidden * hidden).map(|i| (i / hidden, i % hidden)) {
            let rows = 1usize << (row % 16).trailing_zeros().min(4);
            want[at(row, column)] = sum((row..row + rows).map(|r| product(r, column)));
        }
        assert_within("weights", &run.after("weights"), &want);
    });
}
