//! Thread instructions a second of the PTX executor on one core, against
//! the scalar definitions of the same instructions (what a machine without
//! vector instructions gets), and with an observer of every instruction.
//!
//! `cargo bench --bench ptx` prints each kernel's rates and ratios, all
//! sides measured alternately in this one run, in processor time. With names
//! of kernels behind `--` only those.

mod clock;

use clock::timed;
use spadkit::ptx::Module;
use spadkit::ptx::exec::{BlockSink, Event, Launch, Memory, Options, Program, Sink};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const ROUNDS: usize = 5;

/// A kernel of a pointer and a number.
struct Kernel {
    name: &'static str,
    blocks: u32,
    threads: u32,
    number: u32,
    body: &'static str,
}

const HEAD: &str = ".version 8.5
.target sm_80
.address_size 64
.shared .align 16 .b8 tile[8192];
.visible .entry k(.param .u64 p, .param .u32 n) {
 .reg .b64 %rd<5>; .reg .b32 %r<20>; .reg .f32 %f<12>; .reg .pred %p, %q;
 ld.param.u64 %rd1, [p]; ld.param.u32 %r9, [n]; mov.u32 %r1, %tid.x;
 mad.wide.u32 %rd2, %r1, 4, %rd1; mov.u32 %r2, 0;";

const KERNELS: &[Kernel] = &[
    Kernel {
        name: "arithmetic",
        blocks: 2,
        threads: 256,
        number: 20_000,
        body: "cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f3F800000;
 L: fma.rn.f32 %f2, %f2, %f1, 0f3F000000; mul.f32 %f3, %f2, 0f3F000000; add.f32 %f2, %f3, %f1;
 mad.lo.s32 %r1, %r1, 5, %r2; xor.b32 %r3, %r1, %r2; shl.b32 %r4, %r3, 3; add.u32 %r1, %r4, %r3;
 add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r9; @%p bra L;
 cvt.rn.f32.s32 %f4, %r1; add.f32 %f2, %f2, %f4; st.global.f32 [%rd2], %f2; ret;",
    },
    // The inner product of a tile: a row that all lanes share, and columns.
    Kernel {
        name: "tile",
        blocks: 2,
        threads: 1024,
        number: 1000,
        body: "cvt.rn.f32.u32 %f1, %r1; mov.u32 %r3, tile; shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4;
 st.shared.f32 [%r5], %f1; st.shared.f32 [%r5+4096], %f1; mov.f32 %f2, 0f00000000;
 and.b32 %r6, %r4, 127; add.u32 %r6, %r6, %r3; shr.u32 %r7, %r1, 5; shl.b32 %r7, %r7, 7;
 add.u32 %r7, %r7, %r3;
 L: bar.sync 0;
 ld.shared.f32 %f3, [%r6]; ld.shared.f32 %f4, [%r7+4096]; fma.rn.f32 %f2, %f3, %f4, %f2;
 ld.shared.f32 %f5, [%r6+128]; ld.shared.f32 %f6, [%r7+4100]; fma.rn.f32 %f2, %f5, %f6, %f2;
 ld.shared.f32 %f7, [%r6+256]; ld.shared.f32 %f8, [%r7+4104]; fma.rn.f32 %f2, %f7, %f8, %f2;
 ld.shared.f32 %f9, [%r6+384]; ld.shared.f32 %f10, [%r7+4108]; fma.rn.f32 %f2, %f9, %f10, %f2;
 add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r9; @%p bra L; st.global.f32 [%rd2], %f2; ret;",
    },
    // Exchanges in shared memory at a distance that is no order of lanes.
    Kernel {
        name: "bitonic",
        blocks: 2,
        threads: 512,
        number: 1000,
        body: "mov.u32 %r3, tile; shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4; st.shared.u32 [%r5], %r1;
 L: bar.sync 0; and.b32 %r6, %r2, 7; mov.u32 %r7, 1; shl.b32 %r7, %r7, %r6; xor.b32 %r8, %r1, %r7;
 shl.b32 %r10, %r8, 2; add.u32 %r10, %r10, %r3; setp.gt.u32 %q, %r8, %r1;
 ld.shared.u32 %r11, [%r5]; ld.shared.u32 %r12, [%r10]; bar.sync 0; min.u32 %r13, %r11, %r12;
 max.u32 %r14, %r11, %r12; selp.b32 %r15, %r13, %r14, %q; st.shared.u32 [%r5], %r15;
 add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r9; @%p bra L; st.global.u32 [%rd2], %r15; ret;",
    },
    // Every eighth lane of a warp.
    Kernel {
        name: "few lanes",
        blocks: 2,
        threads: 256,
        number: 20_000,
        body: "and.b32 %r3, %r1, 7; setp.ne.u32 %q, %r3, 0; @%q bra E;
 L: mad.lo.s32 %r1, %r1, 5, %r2; xor.b32 %r3, %r1, %r2; shl.b32 %r4, %r3, 3; add.u32 %r1, %r4, %r3;
 add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r9; @%p bra L;
 E: st.global.u32 [%rd2], %r1; ret;",
    },
];

/// Counts lanes and addresses, so that nothing is left out as unused.
#[derive(Default)]
struct Counter(AtomicU64);

struct BlockCounter<'a>(&'a Counter, u64);

impl Sink for Counter {
    fn block(&self, _block: [u32; 3]) -> Option<Box<dyn BlockSink + '_>> {
        Some(Box::new(BlockCounter(self, 0)))
    }
}

impl BlockSink for BlockCounter<'_> {
    fn instruction(&mut self, event: &Event) {
        self.1 += u64::from(event.exec.count_ones());
        self.1 ^= event.access.map_or(0, |a| a.addresses[0]);
    }

    fn finish(self: Box<Self>) {
        self.0.0.fetch_add(self.1, Relaxed);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<String> = std::env::args()
        .skip(1)
        .filter(|n| !n.starts_with('-'))
        .collect();
    println!(
        "{:12} {:>12} {:>10} {:>10}",
        "kernel", "lanes/s", "x scalar", "x traced"
    );
    for kernel in KERNELS {
        if !names.is_empty() && !names.iter().any(|n| n == kernel.name) {
            continue;
        }
        let module = Module::parse(&format!("{HEAD}{}\n}}", kernel.body), kernel.name)?;
        let program = Program::new(&module)?;
        let mut memory = Memory::new();
        let buffer = memory.alloc("out", vec![0; 4096]);
        let mut params = memory.address(buffer).to_le_bytes().to_vec();
        params.extend(kernel.number.to_le_bytes());
        let mut launch = Launch {
            entry: "k".to_owned(),
            grid: [kernel.blocks, 1, 1],
            block: [kernel.threads, 1, 1],
            dynamic_shared: 0,
            params,
        };
        let counter = Counter::default();
        let mut rate = |launch: &Launch, options: Options| {
            let options = Options {
                threads: 1,
                ..options
            };
            let (outcome, seconds) = timed(|| program.run(&mut memory, launch, &options));
            outcome.map(|o| o.thread_instructions as f64 / seconds)
        };
        let (mut scalar, mut traced, mut best) = (Vec::new(), Vec::new(), 0.0f64);
        for _ in 0..ROUNDS {
            let fast = rate(&launch, Options::default())?;
            let observed = rate(
                &launch,
                Options {
                    sink: Some(&counter),
                    ..Options::default()
                },
            )?;
            // The slow side on a tenth of the work.
            launch.params[8..].copy_from_slice(&(kernel.number / 10).to_le_bytes());
            let slow = rate(
                &launch,
                Options {
                    vector: false,
                    ..Options::default()
                },
            )?;
            launch.params[8..].copy_from_slice(&kernel.number.to_le_bytes());
            best = best.max(fast);
            scalar.push(fast / slow);
            traced.push(observed / fast);
        }
        scalar.sort_by(f64::total_cmp);
        traced.sort_by(f64::total_cmp);
        let (scalar, traced) = (scalar[ROUNDS / 2], traced[ROUNDS / 2]);
        println!(
            "{:12} {best:>12.3e} {scalar:>10.1} {traced:>10.2}",
            kernel.name
        );
    }
    Ok(())
}
