//! Needleman-Wunsch by recursion from the end, with memory.

use crate::kernels::harness::TestKernel;

struct Table<'a> {
    n: usize,
    penalty: i32,
    similarity: &'a [i32],
    known: Vec<Option<i32>>,
}

impl Table<'_> {
    fn score(&mut self, row: usize, column: usize) -> i32 {
        if row == 0 || column == 0 {
            return -((row + column) as i32) * self.penalty;
        }
        let place = row * (self.n + 1) + column;
        if let Some(score) = self.known[place] {
            return score;
        }
        let pair = self.similarity[(row - 1) * self.n + column - 1];
        let score = (self.score(row - 1, column - 1) + pair)
            .max(self.score(row, column - 1) - self.penalty)
            .max(self.score(row - 1, column) - self.penalty);
        self.known[place] = Some(score);
        score
    }
}

/// The chain of launches for a table of `tiles` x `tiles` tiles.
fn alignment(tile: usize, tiles: usize) -> TestKernel {
    let suffix = if tile == 16 { "" } else { "32" };
    let n = tile * tiles;
    let mut kernel = TestKernel::load("nw", &format!("nw{suffix}"))
        .alone(4)
        .count("score", (n + 1) * (n + 1))
        .count("similarity", n * n)
        .scalar("n", n as i32);
    for wave in 0..2 * tiles - 1 {
        let name = format!("at{wave}");
        kernel = kernel.add_scalar(&name, "penalty", wave as i32);
        let (half, blocks) = if wave < tiles {
            ("upper", wave + 1)
        } else {
            ("lower", 2 * tiles - 1 - wave)
        };
        kernel = kernel.then(
            &format!("nw_{half}{suffix}"),
            [blocks as u32, 1, 1],
            [tile as u32, 1, 1],
            &["score", "similarity", "n", "penalty", &name],
        );
    }
    kernel
}

fn check(kernel: &TestKernel, n: usize) {
    kernel.check(|run| {
        let similarity = run.before::<i32>("similarity");
        let mut table = Table {
            n,
            penalty: 10,
            similarity: &similarity,
            known: vec![None; (n + 1) * (n + 1)],
        };
        let score = run.after::<i32>("score");
        for (i, got) in score.iter().enumerate().rev() {
            let (row, column) = (i / (n + 1), i % (n + 1));
            assert_eq!(*got, table.score(row, column), "({row}, {column}) of {n}");
        }
    });
}

#[test]
fn tiles_of_16() {
    check(&TestKernel::load("nw", "nw"), 48);
    check(&alignment(16, 1), 16);
    check(&alignment(16, 4).seed("similarity", 4), 64);
}

#[test]
fn tiles_of_32() {
    check(&TestKernel::load("nw", "nw32"), 96);
    check(&alignment(32, 2).seed("similarity", 5), 64);
}
