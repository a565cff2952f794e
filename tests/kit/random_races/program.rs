//! Random programs of a few steps, and their PTX.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::fmt::Write;

/// Threads of a block.
pub const THREADS: u32 = 96;

/// A thread by its block and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    pub block: u32,
    pub index: u32,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    /// A relaxed atomic operation, at this scope.
    Atomic(Scope),
    /// A write of an asynchronous copy, which its thread waits for later.
    Copy,
}

/// The threads that an operation is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Block,
    Gpu,
}

impl Scope {
    fn word(self) -> &'static str {
        match self {
            Scope::Block => "cta",
            Scope::Gpu => "gpu",
        }
    }
}

/// How the two sides of a flag order what is around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The access to the flag itself releases or acquires.
    Access,
    /// A fence of this scope, with a relaxed access.
    Fence(Scope),
    /// Nothing does.
    Relaxed,
    /// An atomic operation releases or acquires.
    Atomic,
}

/// What one or several threads do, one step after another in the text.
#[derive(Clone, Debug)]
pub enum Step {
    /// Threads of one warp access bytes, each the next ones or all the same.
    Access {
        by: Vec<Thread>,
        kind: Kind,
        offset: u32,
        bytes: u32,
        stride: u32,
    },
    /// One thread sets a flag that another waits for.
    Flag {
        from: Thread,
        to: Thread,
        scope: Scope,
        number: u32,
        sides: [Side; 2],
    },
    Barrier {
        block: u32,
    },
    /// A barrier with a number for two warps; the first may go on without waiting.
    Named {
        block: u32,
        number: u32,
        warps: [u32; 2],
        both_wait: bool,
    },
    WarpBarrier {
        block: u32,
        warp: u32,
        lanes: u32,
    },
    /// Threads arrive at an `mbarrier`, and others wait for its phase.
    Mbarrier {
        block: u32,
        number: u32,
        arrive: Vec<u32>,
        wait: Vec<u32>,
    },
    WaitForCopies {
        by: Thread,
    },
}

/// Steps of `blocks` blocks. One block accesses shared memory, two global memory.
pub struct Program {
    pub blocks: u32,
    pub steps: Vec<Step>,
}

/// A source of choices.
struct Dice(ChaCha12Rng);

impl Dice {
    fn below(&mut self, end: u32) -> u32 {
        self.0.next_u32() % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize]
    }

    fn some<T: Copy>(&mut self, all: &[T]) -> Vec<T> {
        let mut chosen: Vec<T> = all.iter().copied().filter(|_| self.below(2) == 0).collect();
        if chosen.is_empty() {
            chosen.push(self.of(all));
        }
        chosen
    }
}

/// `mbarrier` objects, numbers of barriers and flags that there are.
const MBARRIERS: u32 = 8;
const NAMED: u32 = 15;

impl Program {
    pub fn random(seed: u64, blocks: u32) -> Self {
        let mut dice = Dice(ChaCha12Rng::seed_from_u64(seed));
        let indices: &[u32] = match blocks {
            1 => &[0, 1, 2, 31, 32, 33, 64, 95],
            _ => &[0, 1, 33],
        };
        let threads: Vec<Thread> = (0..blocks)
            .flat_map(|block| indices.iter().map(move |&index| Thread { block, index }))
            .collect();
        let threads = match blocks {
            1 => (0..4).map(|_| dice.of(&threads)).collect(),
            _ => threads,
        };
        let mut program = Program {
            blocks,
            steps: Vec::new(),
        };
        for _ in 0..6 + dice.below(11) {
            let step = program.step(&mut dice, &threads);
            program.steps.extend(step);
        }
        program
    }

    fn count(&self, of: impl Fn(&Step) -> bool) -> u32 {
        self.steps.iter().filter(|step| of(step)).count() as u32
    }

    /// One more step; none where there is no room for it, or where it makes no sense.
    fn step(&self, dice: &mut Dice, threads: &[Thread]) -> Option<Step> {
        let by = dice.of(threads);
        let block = by.block;
        let scopes = [Scope::Block, Scope::Gpu];
        Some(match dice.below(20) {
            0..=9 => {
                let kind = match dice.below(11) {
                    0..=4 => Kind::Write,
                    5..=9 => Kind::Read,
                    _ => Kind::Atomic(dice.of(&scopes)),
                };
                let bytes = match kind {
                    Kind::Atomic(_) => 4,
                    _ => dice.of(&[1, 2, 4, 4, 8]),
                };
                access(dice, by, kind, bytes)
            }
            10..=13 => {
                let to = dice.of(threads);
                if to == by {
                    return None;
                }
                // Accesses to the flag itself are no race.
                let scope = if to.block == by.block {
                    dice.of(&scopes)
                } else {
                    Scope::Gpu
                };
                let fence = Side::Fence(dice.of(&scopes));
                let sides = [Side::Access, fence, fence, Side::Relaxed, Side::Atomic];
                let sides = [dice.of(&sides), dice.of(&sides)];
                let number = self.count(|step| matches!(step, Step::Flag { .. }));
                Step::Flag {
                    from: by,
                    to,
                    scope,
                    number,
                    sides,
                }
            }
            14 => Step::Barrier { block },
            15 => {
                let number = 1 + self.count(|step| matches!(step, Step::Named { .. })) % NAMED;
                let first = dice.below(3);
                let warps = [first, (first + 1 + dice.below(2)) % 3];
                Step::Named {
                    block,
                    number,
                    warps,
                    both_wait: dice.below(2) == 0,
                }
            }
            16 => {
                let chosen = dice.below(u32::MAX) | 1 << (by.index % 32);
                let lanes = dice.of(&[chosen, u32::MAX]);
                Step::WarpBarrier {
                    block,
                    warp: by.index / 32,
                    lanes,
                }
            }
            17 => {
                let number = self.count(|step| matches!(step, Step::Mbarrier { .. }));
                let own = threads.iter().filter(|t| t.block == block).map(|t| t.index);
                let mut own: Vec<u32> = own.collect();
                own.sort_unstable();
                own.dedup();
                if number == MBARRIERS {
                    return None;
                }
                Step::Mbarrier {
                    block,
                    number,
                    arrive: dice.some(&own),
                    wait: dice.some(&own),
                }
            }
            18 if self.blocks == 1 => {
                let bytes = dice.of(&[4, 8]);
                access(dice, by, Kind::Copy, bytes)
            }
            _ => Step::WaitForCopies { by },
        })
    }

    /// The launch file.
    pub fn launch(&self) -> String {
        let Program { blocks, .. } = self;
        let together = if *blocks > 1 {
            "cooperative = true\n"
        } else {
            ""
        };
        format!(
            "ptx = \"k.ptx\"\ngrid = [{blocks}]\nblock = [{THREADS}]\n{together}limit = 5000000\n\
             [[arg]]\nname = \"out\"\ntype = \"u32\"\ncount = {}\n",
            blocks * THREADS
        )
    }

    /// The PTX, and the line of each step.
    pub fn ptx(&self) -> (String, Vec<u64>) {
        let mut text = HEAD.to_owned();
        for step in &self.steps {
            if let Step::Mbarrier {
                block,
                number,
                arrive,
                ..
            } = step
            {
                let init = format!(
                    "mbarrier.init.shared.b64 [mb+{}], {};",
                    8 * number,
                    arrive.len()
                );
                let first = Thread {
                    block: *block,
                    index: 0,
                };
                only(&mut text, &format!("init{number}"), &[first], &init);
            }
        }
        text += "bar.sync 0;\n";
        let mut lines = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            lines.push(text.matches('\n').count() as u64 + 1);
            self.write(&mut text, at, step);
        }
        text += TAIL;
        (text, lines)
    }

    fn write(&self, text: &mut String, at: usize, step: &Step) {
        let label = &at.to_string();
        let (space, data, flags) = match self.blocks {
            1 => ("shared", "data", "flags"),
            _ => ("global", "gdata", "gflags"),
        };
        match step {
            Step::Access {
                by,
                kind,
                offset,
                bytes,
                stride,
            } => {
                let width = 8 * bytes;
                let register = if *bytes == 8 { "%rd9" } else { "%r9" };
                let lanes = by.iter().fold(0u32, |all, t| all | 1 << (t.index % 32));
                let address = format!(
                    "mov.u32 %r10, %lanemask_lt; and.b32 %r10, %r10, {lanes}; popc.b32 %r10, %r10; \
                     mad.lo.u32 %r10, %r10, {stride}, {offset}; and.b32 %r10, %r10, 15; \
                     cvt.u64.u32 %rd7, %r10; mov.u64 %rd8, {data}; add.u64 %rd8, %rd8, %rd7;"
                );
                let code = match kind {
                    Kind::Read => format!("ld.{space}.u{width} {register}, [%rd8];"),
                    // Another value in each thread and step.
                    Kind::Write => format!(
                        "mad.lo.u32 %r9, %r1, 7, {}; cvt.u64.u32 %rd9, %r9; \
                         st.{space}.u{width} [%rd8], {register};",
                        1 + 3 * at
                    ),
                    Kind::Atomic(scope) => {
                        format!("red.relaxed.{}.{space}.add.u32 [%rd8], 1;", scope.word())
                    }
                    Kind::Copy => {
                        format!("cp.async.ca.shared.global [%rd8], [source], {bytes};")
                    }
                };
                only(text, label, by, &format!("{address} {code}"));
            }
            Step::Flag {
                from,
                to,
                scope,
                number,
                sides: [send, receive],
            } => {
                let (at, scope) = (format!("[{flags}+{}]", 4 * number), scope.word());
                let fence = |side: &Side| match side {
                    Side::Fence(scope) => format!("fence.acq_rel.{}; ", scope.word()),
                    _ => String::new(),
                };
                let set = match send {
                    Side::Access => format!("st.release.{scope}.{space}.u32 {at}, 1;"),
                    Side::Atomic => format!("red.release.{scope}.{space}.add.u32 {at}, 1;"),
                    _ => format!("{}st.relaxed.{scope}.{space}.u32 {at}, 1;", fence(send)),
                };
                only(text, &format!("{label}s"), &[*from], &set);
                let get = match receive {
                    Side::Access => format!("ld.acquire.{scope}.{space}.u32 %r9, {at};"),
                    Side::Atomic => format!("atom.acquire.{scope}.{space}.or.b32 %r9, {at}, 0;"),
                    _ => format!("ld.relaxed.{scope}.{space}.u32 %r9, {at};"),
                };
                let wait = format!(
                    "$W{label}: {get} setp.eq.u32 %p4, %r9, 0; @%p4 bra $W{label}; {}",
                    fence(receive)
                );
                only(text, &format!("{label}r"), &[*to], &wait);
            }
            Step::Barrier { block } => in_block(text, label, *block, "bar.sync 0;"),
            Step::Named {
                block,
                number,
                warps: [first, second],
                both_wait,
            } => {
                let how = if *both_wait { "sync" } else { "arrive" };
                let code = format!(
                    "shr.u32 %r9, %tid_x, 5; setp.eq.u32 %p3, %r9, {first}; setp.eq.u32 %p4, %r9, {second};\n\
                     @%p3 bar.{how} {number}, 64;\n@%p4 bar.sync {number}, 64;"
                )
                .replace("%tid_x", "%r1");
                in_block(text, label, *block, &code);
            }
            Step::WarpBarrier { block, warp, lanes } => {
                let named = (0..32).filter(|lane| lanes >> lane & 1 == 1);
                let named: Vec<Thread> = named
                    .map(|lane| Thread {
                        block: *block,
                        index: 32 * warp + lane,
                    })
                    .collect();
                only(text, label, &named, &format!("bar.warp.sync {lanes};"));
            }
            Step::Mbarrier {
                block,
                number,
                arrive,
                wait,
            } => {
                let at = format!("[mb+{}]", 8 * number);
                let of = |all: &[u32]| -> Vec<Thread> {
                    let thread = |&index: &u32| Thread {
                        block: *block,
                        index,
                    };
                    all.iter().map(thread).collect()
                };
                let code = format!("mbarrier.arrive.shared.b64 %rd9, {at};");
                only(text, &format!("{label}a"), &of(arrive), &code);
                let code = format!(
                    "$W{label}: mbarrier.try_wait.parity.shared.b64 %p4, {at}, 0; @!%p4 bra $W{label};"
                );
                only(text, &format!("{label}w"), &of(wait), &code);
            }
            Step::WaitForCopies { by } => only(text, label, &[*by], "cp.async.wait_all;"),
        }
    }
}

/// An access of a thread, or of several of its warp. Those that write have bytes of their
/// own.
fn access(dice: &mut Dice, by: Thread, kind: Kind, bytes: u32) -> Step {
    let offset = dice.below(16 / bytes) * bytes;
    let most = match kind {
        Kind::Read | Kind::Atomic(_) => 32,
        Kind::Write | Kind::Copy => 16 / bytes,
    };
    let (block, warp) = (by.block, by.index / 32 * 32);
    let more = if dice.below(2) == 0 {
        0
    } else {
        dice.below(most)
    };
    let mut indices = vec![by.index];
    indices.extend((0..more).map(|_| warp + dice.below(32)));
    indices.sort_unstable();
    indices.dedup();
    let stride = match kind {
        Kind::Read | Kind::Atomic(_) => dice.of(&[0, bytes]),
        Kind::Write | Kind::Copy => bytes,
    };
    Step::Access {
        by: indices
            .iter()
            .map(|&index| Thread { block, index })
            .collect(),
        kind,
        offset,
        bytes,
        stride,
    }
}

/// `code` for these threads of one block; it begins in the first line that is written.
fn only(text: &mut String, label: &str, threads: &[Thread], code: &str) {
    let block = threads[0].block;
    let mut guard =
        format!("setp.ne.u32 %p3, %r0, {block}; @%p3 bra $L{label}; setp.ne.u32 %p2, %r0, %r0; ");
    for thread in threads {
        write!(guard, "setp.eq.or.u32 %p2, %r1, {}, %p2; ", thread.index).unwrap();
    }
    writeln!(text, "{guard}@!%p2 bra $L{label}; {code}\n$L{label}:").unwrap();
}

fn in_block(text: &mut String, label: &str, block: u32, code: &str) {
    writeln!(
        text,
        "setp.ne.u32 %p3, %r0, {block}; @%p3 bra $L{label};\n{code}\n$L{label}:"
    )
    .unwrap();
}

const HEAD: &str = "\
.version 8.6
.target sm_90
.address_size 64
.shared .align 16 .b8 data[16];
.shared .align 16 .b8 flags[128];
.shared .align 8 .b64 mb[8];
.global .align 16 .b8 gdata[16];
.global .align 16 .b8 gflags[128];
.global .align 16 .b8 source[16];
.visible .entry k(.param .u64 out) {
.reg .pred %p<9>; .reg .b32 %r<12>; .reg .b64 %rd<12>;
mov.u32 %r1, %tid.x; mov.u32 %r0, %ctaid.x; mov.u32 %r2, 0;
shl.b32 %r3, %r1, 2; setp.ge.u32 %p1, %r1, 32; @%p1 bra $READY;
mov.u32 %r4, flags; add.u32 %r4, %r4, %r3; st.shared.u32 [%r4], 0;
setp.ge.u32 %p1, %r1, 4; @%p1 bra $READY;
mov.u32 %r4, data; add.u32 %r4, %r4, %r3; st.shared.u32 [%r4], 0;
$READY:
";

const TAIL: &str = "\
bar.sync 0;
ld.param.u64 %rd1, [out]; mad.lo.u32 %r5, %r0, 96, %r1; mad.wide.u32 %rd1, %r5, 4, %rd1;
st.global.u32 [%rd1], %r2;
ret;
}
";
