//! Which accesses of a program are ordered, from the PTX ISA's memory consistency model:
//! causality through barriers, release and acquire patterns, and completed copies.
//!
//! A pattern needs a fence of the thread that writes or reads the flag. The detector also
//! takes that of another thread of its block which is ordered beside it
//! (docs/reference/findings.md). Such pairs need not be found, and are not false.

use super::program::{Kind, Program, Scope, Side, Step, THREADS, Thread};

/// Steps, a bit each.
type Steps = u64;

/// What a thread knows.
#[derive(Clone, Copy, Default)]
struct Knowledge {
    /// Steps that are before what it does next.
    before: Steps,
    /// Those that were when it last executed a fence, by scope: a relaxed write that
    /// follows releases them.
    fenced: [Steps; 2],
    /// Those that relaxed reads have seen released in its block, and in another one: a
    /// fence that follows acquires them.
    seen: [Steps; 2],
    /// Its copies that it has not waited for.
    copies: Steps,
}

impl Knowledge {
    fn learn(&mut self, other: &Knowledge) {
        self.before |= other.before;
        for side in 0..2 {
            self.fenced[side] |= other.fenced[side];
            self.seen[side] |= other.seen[side];
        }
    }

    fn fence(&mut self, scope: Scope) {
        self.before |= self.seen[0];
        if scope == Scope::Gpu {
            self.before |= self.seen[1];
            self.fenced[1] = self.before;
        }
        self.fenced[0] = self.before;
    }
}

/// All threads.
struct Threads {
    all: Vec<Knowledge>,
    fences: Fences,
}

/// Whose fences make a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fences {
    /// Those of the thread itself.
    Own,
    /// Also those of others in its block.
    OfOthers,
}

impl Threads {
    fn of(&mut self, thread: Thread) -> &mut Knowledge {
        &mut self.all[(thread.block * THREADS + thread.index) as usize]
    }

    /// Those that wait know what all that arrive do.
    fn meet(&mut self, block: u32, arrive: &[u32], wait: &[u32]) {
        let thread = |&index: &u32| Thread { block, index };
        let mut all = Knowledge::default();
        for index in arrive {
            all.learn(&self.told(thread(index)));
        }
        for index in wait {
            self.of(thread(index)).learn(&all);
        }
    }

    /// What others of the block learn from a thread.
    fn told(&mut self, thread: Thread) -> Knowledge {
        let own = *self.of(thread);
        let before = own.before;
        match self.fences {
            Fences::Own => Knowledge {
                before,
                ..Knowledge::default()
            },
            Fences::OfOthers => own,
        }
    }

    fn flag(&mut self, [from, to]: [Thread; 2], [send, receive]: [Side; 2]) {
        let across = usize::from(from.block != to.block);
        let sender = self.of(from);
        if let Side::Fence(scope) = send {
            sender.fence(scope);
        }
        let released = match send {
            Side::Access | Side::Atomic => sender.before,
            Side::Fence(_) | Side::Relaxed => sender.fenced[across],
        };
        let told = self.told(from);
        let receiver = self.of(to);
        if across == 0 && send != Side::Relaxed && receive != Side::Relaxed {
            receiver.learn(&told);
        }
        match receive {
            Side::Access | Side::Atomic => receiver.before |= released,
            Side::Relaxed => receiver.seen[across] |= released,
            Side::Fence(scope) => {
                receiver.seen[across] |= released;
                receiver.fence(scope);
            }
        }
    }

    /// Notes what a step orders: an access, after what it follows was asked for.
    fn step(&mut self, at: usize, step: &Step) {
        let warp = |warp: u32| -> Vec<u32> { (32 * warp..32 * warp + 32).collect() };
        match step {
            Step::Access {
                by,
                kind: Kind::Copy,
                ..
            } => self.of(*by).copies |= 1 << at,
            Step::Access { by, .. } => self.of(*by).before |= 1 << at,
            Step::WaitForCopies { by } => {
                let thread = self.of(*by);
                thread.before |= std::mem::take(&mut thread.copies);
            }
            Step::Flag {
                from, to, sides, ..
            } => self.flag([*from, *to], *sides),
            Step::Barrier { block } => {
                let all: Vec<u32> = (0..THREADS).collect();
                self.meet(*block, &all, &all);
            }
            Step::Named {
                block,
                warps,
                both_wait,
                ..
            } => {
                let [first, second] = warps.map(warp);
                let all = [&first[..], &second].concat();
                self.meet(*block, &all, if *both_wait { &all } else { &second });
            }
            Step::WarpBarrier {
                block,
                warp: number,
                lanes,
            } => {
                let named = |index: &u32| lanes >> (index % 32) & 1 == 1;
                let lanes: Vec<u32> = warp(*number).into_iter().filter(named).collect();
                self.meet(*block, &lanes, &lanes);
            }
            Step::Mbarrier {
                block,
                arrive,
                wait,
                ..
            } => self.meet(*block, arrive, wait),
        }
    }
}

/// An access of a program.
struct Access {
    step: usize,
    by: Thread,
    kind: Kind,
    bytes: std::ops::Range<u32>,
    /// Steps that are before it.
    after: Steps,
}

impl Access {
    /// Whether `self` and a later access race.
    fn races(&self, later: &Access) -> bool {
        let apart = self.bytes.end <= later.bytes.start || later.bytes.end <= self.bytes.start;
        let own = self.by == later.by && self.kind != Kind::Copy;
        let reads = self.kind == Kind::Read && later.kind == Kind::Read;
        let strong = match (self.kind, later.kind) {
            (Kind::Atomic(a), Kind::Atomic(b)) => {
                self.by.block == later.by.block || a.min(b) == Scope::Gpu
            }
            _ => false,
        };
        !apart && !own && !reads && !strong && later.after >> self.step & 1 == 0
    }
}

/// The pairs of steps that race.
pub fn races(program: &Program, fences: Fences) -> Vec<(usize, usize)> {
    let all = vec![Knowledge::default(); (program.blocks * THREADS) as usize];
    let mut threads = Threads { all, fences };
    let mut all: Vec<Access> = Vec::new();
    let mut pairs = Vec::new();
    for (step, what) in program.steps.iter().enumerate() {
        if let Step::Access {
            by,
            kind,
            offset,
            bytes,
        } = what
        {
            let access = Access {
                step,
                by: *by,
                kind: *kind,
                bytes: *offset..offset + bytes,
                after: threads.of(*by).before,
            };
            let racing = all.iter().filter(|earlier| earlier.races(&access));
            pairs.extend(racing.map(|earlier| (earlier.step, step)));
            all.push(access);
        }
        threads.step(step, what);
    }
    pairs
}
