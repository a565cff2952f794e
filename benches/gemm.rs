//! A matrix product on tensor cores (`mma.sync`, `ldmatrix`, `cp.async`),
//! compared with the same product by fused multiply-adds (kernels/gemm), in the
//! PTX executor on one core.
//!
//! `cargo bench -p spadkit-benches --bench gemm` prints multiply-adds a second of processor time
//! and the ratio, the two kernels measured alternately.

mod timing;

use spadkit::ptx::Module;
use spadkit::ptx::exec::{BufferId, Launch, Memory, Options, Program};
use std::error::Error;
use timing::{median, timed};

const PTX: &str = include_str!("../kernels/gemm/gemm.ptx");
/// All three sides of the product.
const SIZE: usize = 256;
const ROUNDS: usize = 7;

struct Product {
    program: Program,
    memory: Memory,
    result: BufferId,
    launch: Launch,
}

impl Product {
    fn new(entry: &str, threads: u32) -> Result<Self, Box<dyn Error>> {
        // Halves from 1 to 2, of which no product is exact in a half.
        let half = |i: usize| (0x3c00 + (i * 7919 % 1024) as u16).to_le_bytes();
        let operand: Vec<u8> = (0..SIZE * SIZE).flat_map(half).collect();
        let mut memory = Memory::new();
        let result = memory.alloc("c", vec![0; 4 * SIZE * SIZE]);
        let (a, b) = (
            memory.alloc("a", operand.clone()),
            memory.alloc("b", operand),
        );
        let mut params = Vec::new();
        for buffer in [result, a, b] {
            params.extend(memory.address(buffer).to_le_bytes());
        }
        for size in [SIZE as u32; 2] {
            params.extend(size.to_le_bytes());
        }
        let blocks = (SIZE / 64) as u32;
        Ok(Product {
            program: Program::new(&Module::parse(PTX, "gemm.ptx")?)?,
            memory,
            result,
            launch: Launch {
                entry: entry.to_owned(),
                grid: [blocks, blocks, 1],
                block: [threads, 1, 1],
                dynamic_shared: 0,
                params,
            },
        })
    }

    /// Multiply-adds a second.
    fn rate(&mut self) -> Result<f64, Box<dyn Error>> {
        let options = Options {
            threads: 1,
            ..Options::default()
        };
        let run = || self.program.run(&mut self.memory, &self.launch, &options);
        let (outcome, seconds) = timed(run);
        outcome?;
        Ok(SIZE.pow(3) as f64 / seconds)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut tensor = Product::new("hgemm_swizzled", 128)?;
    let mut scalar = Product::new("hgemm_scalar", 256)?;
    let [mut fast, mut slow, mut ratios] = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        let rates = [tensor.rate()?, scalar.rate()?];
        fast.push(rates[0]);
        slow.push(rates[1]);
        ratios.push(rates[0] / rates[1]);
    }
    // The sums are made in the same order, and rounded alike.
    assert!(tensor.memory.bytes(tensor.result) == scalar.memory.bytes(scalar.result));
    println!(
        "multiply-adds/s: {:.2e} by mma.sync, {:.2e} by fma",
        median(fast),
        median(slow)
    );
    println!("ratio {:.2}", median(ratios));
    Ok(())
}
