//! Thread instructions a second of the PTX executor on one core, against
//! the scalar definitions of the same instructions (what a machine without
//! vector instructions gets), a plain interpreter of one thread at a time
//! (that of the tests), ptoxide 0.1 where it takes the kernel, and with an
//! observer of every instruction; and what a second core brings.
//!
//! `cargo bench -p spadkit-benches --bench ptx` prints each kernel's rates and ratios, all
//! sides measured alternately in this one run, in processor time (two cores
//! against one: in wall time). With names of kernels behind `--` only those.

mod timing;

#[path = "../tests/kit/reference/mod.rs"]
mod reference;

use ptoxide::{Argument, Context, LaunchParams};
use spadkit::ptx::Module;
use spadkit::ptx::exec::{BlockSink, Event, Launch, Memory, Options, Program, Sink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use timing::{median, timed};

const ROUNDS: usize = 5;

/// A kernel of a pointer and a number.
struct Benchmark {
    name: &'static str,
    grid: [u32; 2],
    block: [u32; 2],
    number: u32,
    /// The slow sides get this part of the number.
    less: u32,
    /// Words of the buffer. Each is initialised to its index modulo 7, as a float.
    words: usize,
    text: String,
}

const HEAD: &str = ".version 8.5
.target sm_80
.address_size 64
.shared .align 16 .b8 tile[8192];
.visible .entry k(.param .u64 p, .param .u32 n) {
 .reg .b64 %rd<5>; .reg .b32 %r<20>; .reg .f32 %f<12>; .reg .pred %p, %q;
 ld.param.u64 %rd1, [p]; ld.param.u32 %r9, [n]; mov.u32 %r1, %tid.x;
 mad.wide.u32 %rd2, %r1, 4, %rd1; mov.u32 %r2, 0;";

/// Two blocks in a row.
struct Small {
    name: &'static str,
    threads: u32,
    number: u32,
    body: &'static str,
}

const SMALL: &[Small] = &[
    Small {
        name: "arithmetic",
        threads: 256,
        number: 20_000,
        body: "cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f3F800000;
 L: fma.rn.f32 %f2, %f2, %f1, 0f3F000000; mul.f32 %f3, %f2, 0f3F000000; add.f32 %f2, %f3, %f1;
 mad.lo.s32 %r1, %r1, 5, %r2; xor.b32 %r3, %r1, %r2; shl.b32 %r4, %r3, 3; add.u32 %r1, %r4, %r3;
 add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r9; @%p bra L;
 cvt.rn.f32.s32 %f4, %r1; add.f32 %f2, %f2, %f4; st.global.f32 [%rd2], %f2; ret;",
    },
    // The inner product of a tile: a row that all lanes share, and columns.
    Small {
        name: "tile",
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
    Small {
        name: "bitonic",
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
    Small {
        name: "few lanes",
        threads: 256,
        number: 20_000,
        body: "and.b32 %r3, %r1, 7; setp.ne.u32 %q, %r3, 0; @%q bra E;
 L: mad.lo.s32 %r1, %r1, 5, %r2; xor.b32 %r3, %r1, %r2; shl.b32 %r4, %r3, 3; add.u32 %r1, %r4, %r3;
 add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r9; @%p bra L;
 E: st.global.u32 [%rd2], %r1; ret;",
    },
];

fn kernels() -> Vec<Benchmark> {
    let small = SMALL.iter().map(|small| Benchmark {
        name: small.name,
        grid: [2, 1],
        block: [small.threads, 1],
        number: small.number,
        less: 100,
        words: 1024,
        text: format!("{HEAD}{}\n}}", small.body),
    });
    small.chain([matmul()]).collect()
}

/// A matrix product of n x n through tiles of 16 x 16, with no instruction
/// that ptoxide has not: the operands and the product one behind the other.
fn matmul() -> Benchmark {
    let mut text = ".version 8.3
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) {
 .reg .pred %p<2>; .reg .f32 %f<8>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
 .shared .align 4 .b8 a[1024];
 .shared .align 4 .b8 b[1024];
 ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];
 cvta.to.global.u64 %rd2, %rd1;
 mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y;
 shl.b32 %r6, %r4, 4; add.s32 %r6, %r6, %r2; shl.b32 %r7, %r5, 4; add.s32 %r7, %r7, %r3;
 mad.lo.s32 %r8, %r7, %r1, %r2; mul.wide.s32 %rd3, %r8, 4; add.s64 %rd4, %rd2, %rd3;
 mul.lo.s32 %r9, %r1, %r1; mul.wide.s32 %rd5, %r9, 4; add.s64 %rd6, %rd2, %rd5;
 mad.lo.s32 %r10, %r3, %r1, %r6; mul.wide.s32 %rd7, %r10, 4; add.s64 %rd8, %rd6, %rd7;
 add.s64 %rd9, %rd6, %rd5; mad.lo.s32 %r11, %r7, %r1, %r6; mul.wide.s32 %rd10, %r11, 4;
 add.s64 %rd9, %rd9, %rd10; shl.b32 %r12, %r1, 6; cvt.s64.s32 %rd11, %r12;
 mov.u32 %r13, a; mov.u32 %r14, b; shl.b32 %r15, %r2, 2; shl.b32 %r16, %r3, 6;
 add.s32 %r17, %r13, %r16; add.s32 %r18, %r17, %r15; add.s32 %r19, %r14, %r15;
 add.s32 %r20, %r19, %r16; mov.u32 %r21, 0; mov.f32 %f1, 0f00000000;
L:
 ld.global.f32 %f2, [%rd4]; st.shared.f32 [%r18], %f2;
 ld.global.f32 %f3, [%rd8]; st.shared.f32 [%r20], %f3;
 bar.sync 0;
"
    .to_owned();
    for k in 0..16 {
        let (a, b) = (4 * k, 64 * k);
        text += &format!(
            " ld.shared.f32 %f4, [%r17+{a}]; ld.shared.f32 %f5, [%r19+{b}]; \
             fma.rn.f32 %f1, %f4, %f5, %f1;\n"
        );
    }
    text += " bar.sync 0;
 add.s64 %rd4, %rd4, 64; add.s64 %rd8, %rd8, %rd11; add.s32 %r21, %r21, 16;
 setp.lt.s32 %p1, %r21, %r1;
 @%p1 bra L;
 st.global.f32 [%rd9], %f1;
 ret;
}
";
    Benchmark {
        name: "matmul",
        grid: [8, 8],
        block: [16, 16],
        number: 128,
        // The grid covers 128 rows and columns, whatever n is.
        less: 1,
        words: 3 * 128 * 128,
        text,
    }
}

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

impl Benchmark {
    fn buffer(&self) -> Vec<u8> {
        let word = |at: usize| ((at % 7) as f32).to_le_bytes();
        (0..self.words).flat_map(word).collect()
    }

    fn launch(&self, address: u64, number: u32) -> Launch {
        let mut params = address.to_le_bytes().to_vec();
        params.extend(number.to_le_bytes());
        Launch {
            entry: "k".to_owned(),
            grid: [self.grid[0], self.grid[1], 1],
            block: [self.block[0], self.block[1], 1],
            dynamic_shared: 0,
            params,
        }
    }
}

/// The executor with a kernel and its buffer.
struct Ours {
    program: Program,
    memory: Memory,
    buffer: spadkit::ptx::exec::BufferId,
}

impl Ours {
    fn new(kernel: &Benchmark) -> Result<Self, spadkit::error::Error> {
        let mut memory = Memory::new();
        Ok(Ours {
            program: Program::new(&Module::parse(&kernel.text, kernel.name)?)?,
            buffer: memory.alloc("p", kernel.buffer()),
            memory,
        })
    }

    /// Thread instructions, and processor and wall time.
    fn run(
        &mut self,
        kernel: &Benchmark,
        number: u32,
        options: Options,
    ) -> Result<[f64; 3], Failed> {
        let launch = kernel.launch(self.memory.address(self.buffer), number);
        let start = Instant::now();
        let (outcome, seconds) = timed(|| self.program.run(&mut self.memory, &launch, &options));
        let count = outcome?.thread_instructions as f64;
        Ok([count, seconds, start.elapsed().as_secs_f64()])
    }

    fn rate(&mut self, kernel: &Benchmark, number: u32, options: Options) -> Result<f64, Failed> {
        let options = Options {
            threads: 1,
            ..options
        };
        let [count, seconds, _] = self.run(kernel, number, options)?;
        Ok(count / seconds)
    }
}

type Failed = Box<dyn std::error::Error>;

/// The interpreter of the tests: its rate, and the buffer afterwards.
fn plain(kernel: &Benchmark, number: u32) -> Result<(f64, Vec<u8>), Failed> {
    let module = Module::parse(&kernel.text, kernel.name)?;
    let mut memory = reference::GlobalMemory::default();
    let launch = kernel.launch(memory.add(kernel.buffer()), number);
    let launch = reference::Launch {
        entry: "k",
        grid: launch.grid,
        block: launch.block,
        dynamic_shared: 0,
        params: &launch.params,
        limit: u64::MAX,
    };
    let (count, seconds) = timed(|| reference::run(&module, &launch, &mut memory));
    let count = count.map_err(|e| format!("{e:?}"))?;
    Ok((count as f64 / seconds, memory.buffers.remove(0).bytes))
}

/// ptoxide: seconds and the buffer afterwards; none where it does not take the
/// kernel (it refuses some instructions, and panics at others).
fn other(kernel: &Benchmark, number: u32) -> Option<(f64, Vec<u8>)> {
    let run = || {
        let mut context = Context::new_with_module(&kernel.text).ok()?;
        let buffer = context.alloc_raw(4 * kernel.words, 16);
        context.write_raw(buffer, 0, &kernel.buffer());
        let launch = LaunchParams::func_id(0)
            .grid2d(kernel.grid[0], kernel.grid[1])
            .block2d(kernel.block[0], kernel.block[1]);
        let arguments = [Argument::Ptr(buffer), Argument::U32(number)];
        let (done, seconds) = timed(|| context.run(launch, &arguments));
        done.ok()?;
        let mut bytes = vec![0; 4 * kernel.words];
        context.read_raw(buffer, 0, &mut bytes);
        Some((seconds, bytes))
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = catch_unwind(AssertUnwindSafe(run));
    std::panic::set_hook(hook);
    result.ok().flatten()
}

fn main() -> Result<(), Failed> {
    let names: Vec<String> = std::env::args()
        .skip(1)
        .filter(|n| !n.starts_with('-'))
        .collect();
    println!(
        "{:12} {:>10} {:>9} {:>9} {:>9} {:>9} {:>8}",
        "kernel", "lanes/s", "x scalar", "x plain", "x ptoxide", "x traced", "2 cores"
    );
    for kernel in kernels() {
        if names.is_empty() || names.iter().any(|n| n == kernel.name) {
            measure(&kernel)?;
        }
    }
    Ok(())
}

/// One line of the table. Ratios are medians over the rounds.
fn measure(kernel: &Benchmark) -> Result<(), Failed> {
    let mut ours = Ours::new(kernel)?;
    let counter = Counter::default();
    let (few, fewer) = (
        kernel.number / kernel.less.min(10),
        kernel.number / kernel.less,
    );
    // All three compute the same.
    let launched = Options::default();
    let [count, ..] = ours.run(kernel, fewer, launched.clone())?;
    let (_, expected) = plain(kernel, fewer)?;
    assert!(
        ours.memory.bytes(ours.buffer) == expected,
        "{}",
        kernel.name
    );
    if let Some((_, bytes)) = other(kernel, fewer) {
        assert!(bytes == expected, "{}: ptoxide", kernel.name);
    }
    let mut best = 0.0f64;
    let [mut scalar, mut slow, mut vm, mut traced, mut cores] = [const { Vec::new() }; 5];
    for _ in 0..ROUNDS {
        let fast = ours.rate(kernel, kernel.number, launched.clone())?;
        let observed = Options {
            sink: Some(&counter),
            ..Options::default()
        };
        traced.push(ours.rate(kernel, kernel.number, observed)? / fast);
        let definitions = Options {
            vector: false,
            ..Options::default()
        };
        scalar.push(fast / ours.rate(kernel, few, definitions)?);
        slow.push(fast / plain(kernel, fewer)?.0);
        if let Some((seconds, _)) = other(kernel, fewer) {
            vm.push(fast / (count / seconds));
        }
        let mut wall = |threads| -> Result<f64, Failed> {
            let options = Options {
                threads,
                ..Options::default()
            };
            Ok(ours.run(kernel, kernel.number, options)?[2])
        };
        cores.push(wall(1)? / wall(2)?);
        best = best.max(fast);
    }
    let shown = |values: Vec<f64>| match values[..] {
        [] => "-".to_owned(),
        _ => format!("{:.2}", median(values)),
    };
    println!(
        "{:12} {best:>10.2e} {:>9} {:>9} {:>9} {:>9} {:>8}",
        kernel.name,
        shown(scalar),
        shown(slow),
        shown(vm),
        shown(traced),
        shown(cores)
    );
    Ok(())
}
