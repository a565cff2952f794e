//! Trees and networks over one array: reduction, prefix sum, bitonic sort.

use super::block::{Block, Warp};
use crate::trace::AccessTrace;

/// Tree reduction with strided index (hash paper, section 3.2.3):
/// `sdata[2 s t] += sdata[2 s t + s]` for s = 1, 2, 4, ...
pub fn reduction(values: &[u32]) -> AccessTrace {
    let threads = values[0];
    let mut block = Block::new([threads, 1, 1], threads);
    block.phase_then_barrier(|w| w.store(0, |t| Some(t.x)));
    let mut s = 1;
    while s < threads {
        let index = |x: u32| Some(2 * s * x).filter(|&i| i < threads);
        block.phase_then_barrier(|w| {
            w.load(1, |t| index(t.x).map(|i| i + s));
            w.load(2, |t| index(t.x));
            w.store(3, |t| index(t.x));
        });
        s *= 2;
    }
    block.phase(|w| w.load(4, |t| (t.x == 0).then_some(0)));
    block.finish()
}

/// Work-efficient exclusive prefix sum of 4 items per thread: up-sweep, the
/// total moved after the array, down-sweep. The widest level has two pairs
/// per thread.
pub fn scan(values: &[u32]) -> AccessTrace {
    let threads = values[0];
    let n = 4 * threads;
    let mut block = Block::new([threads, 1, 1], n + 1);
    block.phase_then_barrier(|w| (0..4).for_each(|k| w.store(k, |t| Some(4 * t.x + k))));

    block.phase(|w| {
        for half in 0..2 {
            let pair = |x: u32| Some(2 * x + half * n / 2);
            up_sweep(w, 4 + 3 * half, 1, pair);
        }
    });
    let mut stride = 2;
    while stride < n {
        block.barrier();
        block.phase(|w| {
            let active = |x: u32| (x < n / 2 / stride).then_some(stride * (2 * x + 1) - 1);
            up_sweep(w, 10, stride, active);
            if stride == n / 2 {
                let first = |addr| move |t: super::block::Thread| (t.x == 0).then_some(addr);
                w.load(13, first(n - 1));
                w.store(14, first(n));
                w.store(15, first(n - 1));
            }
        });
        stride *= 2;
    }
    while stride > 2 {
        stride /= 2;
        block.barrier();
        block.phase(|w| {
            let active = |x: u32| (x < n / 2 / stride).then_some(stride * (2 * x + 1) - 1);
            down_sweep(w, 16, stride, active);
        });
    }
    block.barrier();
    block.phase_then_barrier(|w| {
        for half in 0..2 {
            let pair = |x: u32| Some(2 * x + half * n / 2);
            down_sweep(w, 21 + 5 * half, 1, pair);
        }
    });
    block.phase(|w| {
        (0..4).for_each(|k| w.load(31 + k, |t| Some(4 * t.x + k)));
        w.load(35, |_| Some(n));
    });
    block.finish()
}

/// `x[i + stride] += x[i]` at sites pc, pc + 1, pc + 2.
fn up_sweep(w: &mut Warp, pc: u32, stride: u32, left: impl Fn(u32) -> Option<u32>) {
    w.load(pc, |t| left(t.x));
    w.load(pc + 1, |t| left(t.x).map(|i| i + stride));
    w.store(pc + 2, |t| left(t.x).map(|i| i + stride));
}

/// `(x[i], x[i + stride]) = (x[i + stride], x[i] + x[i + stride])` at sites
/// pc to pc + 4.
fn down_sweep(w: &mut Warp, pc: u32, stride: u32, left: impl Fn(u32) -> Option<u32>) {
    let right = |x: u32| left(x).map(|i| i + stride);
    w.load(pc, |t| left(t.x));
    w.load(pc + 1, |t| right(t.x));
    w.store(pc + 2, |t| left(t.x));
    w.load(pc + 3, |t| right(t.x));
    w.store(pc + 4, |t| right(t.x));
}

/// Bitonic sorting network of n elements by n / 2 threads. Comparators are
/// branch-free: both elements are written back whether they swap or not.
pub fn bitonic(values: &[u32]) -> AccessTrace {
    let n = 1 << values[0];
    let threads = n / 2;
    let mut block = Block::new([threads, 1, 1], n);
    block.phase(|w| {
        w.store(0, |t| Some(t.x));
        w.store(1, |t| Some(t.x + threads));
    });
    for size in (1..=values[0]).map(|k| 1 << k) {
        let mut stride = size / 2;
        while stride > 0 {
            let low = |x: u32| 2 * x - (x & (stride - 1));
            block.barrier();
            block.phase(|w| {
                w.load(2, |t| Some(low(t.x)));
                w.load(3, |t| Some(low(t.x) + stride));
                w.store(4, |t| Some(low(t.x)));
                w.store(5, |t| Some(low(t.x) + stride));
            });
            stride /= 2;
        }
    }
    block.barrier();
    block.phase(|w| {
        w.load(6, |t| Some(t.x));
        w.load(7, |t| Some(t.x + threads));
    });
    block.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Executes a trace; `step` sees (pc, addr, the thread's registers, memory).
    fn run(
        trace: &AccessTrace,
        memory: &mut [i64],
        mut step: impl FnMut(u32, u32, &mut [i64], &mut [i64]),
    ) {
        let threads: u32 = trace.block_dim.iter().product();
        let mut registers = vec![vec![0i64; 4]; threads as usize];
        for access in &trace.accesses {
            for (lane, addr) in access.addrs.iter().enumerate() {
                if let Some(addr) = *addr {
                    let thread = access.warp as usize * 32 + lane;
                    let r = &mut registers[thread];
                    step(access.pc, addr, r, memory);
                }
            }
        }
    }

    #[test]
    fn executing_the_reduction_sums_its_input() {
        let mut memory = vec![0; 256];
        let mut next = 0;
        run(&reduction(&[256]), &mut memory, |pc, addr, r, m| {
            let cell = &mut m[addr as usize];
            match pc {
                0 => {
                    next += 1;
                    *cell = next;
                }
                1 => r[0] = *cell,
                2 => r[1] = *cell,
                3 => *cell = r[0] + r[1],
                _ => r[2] = *cell,
            }
        });
        assert_eq!(memory[0], (1..=256).sum::<i64>());
    }

    #[test]
    fn executing_the_scan_gives_prefix_sums() {
        let trace = scan(&[64]);
        let input: Vec<i64> = (0..256).map(|i| (i * 7919) % 101).collect();
        let mut memory = vec![0; 257];
        run(&trace, &mut memory, |pc, addr, r, m| {
            let cell = &mut m[addr as usize];
            match pc {
                0..=3 => *cell = input[addr as usize],
                4 | 7 | 10 => r[0] = *cell,
                5 | 8 | 11 => r[1] = *cell,
                6 | 9 | 12 => *cell = r[0] + r[1],
                13 => r[0] = *cell,
                14 => *cell = r[0],
                15 => *cell = 0,
                16 | 21 | 26 => r[0] = *cell,
                17 | 22 | 27 => r[1] = *cell,
                18 | 23 | 28 => *cell = r[1],
                19 | 24 | 29 => r[2] = *cell,
                20 | 25 | 30 => *cell = r[0] + r[2],
                _ => {}
            }
        });
        let mut sum = 0;
        for (i, x) in input.iter().enumerate() {
            assert_eq!(memory[i], sum, "prefix {i}");
            sum += x;
        }
        assert_eq!(memory[256], sum);
    }

    #[test]
    fn executing_the_bitonic_network_sorts() {
        // One warp, so that the next access of a site belongs to the next stage.
        let trace = bitonic(&[6]);
        let mut memory: Vec<i64> = vec![0; 64];
        let (mut stage, mut last) = (0, 0);
        // size and stride of each stage, as the network defines them
        let stages: Vec<(u32, u32)> = (1..=6)
            .flat_map(|k| (0..k).rev().map(move |s| (1u32 << k, 1u32 << s)))
            .collect();
        run(&trace, &mut memory, |pc, addr, r, m| {
            stage += usize::from(pc == 2 && last == 5);
            last = pc;
            let (size, stride) = stages[stage.min(stages.len() - 1)];
            let ascending = addr & size == 0;
            let cell = &mut m[addr as usize];
            match pc {
                0 | 1 => *cell = i64::from(addr) * 7919 % 64,
                2 => r[0] = *cell,
                3 => {
                    r[1] = *cell;
                    assert!(addr & stride != 0);
                    if (r[0] > r[1]) == ascending {
                        r.swap(0, 1);
                    }
                }
                4 => *cell = r[0],
                5 => *cell = r[1],
                _ => {}
            }
        });
        assert!(memory.is_sorted());
        assert_eq!(memory.iter().sum::<i64>(), (0..64).sum::<i64>());
    }
}
