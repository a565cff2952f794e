//! Which accesses of a program are ordered, from the PTX ISA's memory consistency model:
//! causality through barriers, release and acquire patterns, and completed copies.
//!
//! A pattern needs a fence of the thread that writes or reads the flag. The detector also
//! accepts a fence of another thread of its block that is ordered next to the flag's
//! access (docs/reference/findings.md). Such pairs need not be found, and are not false.

use super::program::{Kind, Program, Scope, Side, Step, THREADS, Thread};
use std::collections::BTreeSet;

/// Accesses of single threads, a bit each.
#[derive(Clone, Copy, Default)]
struct Set([u64; 9]);

impl Set {
    fn add(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    fn has(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    fn join(&mut self, other: &Set) {
        for (own, more) in self.0.iter_mut().zip(other.0) {
            *own |= more;
        }
    }
}

/// What a thread knows.
#[derive(Clone, Copy, Default)]
struct Knowledge {
    /// Accesses that are before what it does next.
    before: Set,
    /// Those that were when it last executed a fence, by scope: a relaxed write that
    /// follows releases them.
    fenced: [Set; 2],
    /// Those that relaxed reads have seen released in its block, and in another one: a
    /// fence that follows acquires them.
    seen: [Set; 2],
    /// Its copies that it has not waited for.
    copies: Set,
}

impl Knowledge {
    fn learn(&mut self, other: &Knowledge) {
        self.before.join(&other.before);
        for side in 0..2 {
            self.fenced[side].join(&other.fenced[side]);
            self.seen[side].join(&other.seen[side]);
        }
    }

    fn fence(&mut self, scope: Scope) {
        self.before.join(&self.seen[0]);
        if scope == Scope::Gpu {
            self.before.join(&self.seen[1]);
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
            Side::Access | Side::Atomic => receiver.before.join(&released),
            Side::Relaxed => receiver.seen[across].join(&released),
            Side::Fence(scope) => {
                receiver.seen[across].join(&released);
                receiver.fence(scope);
            }
        }
    }

    /// Notes what a step orders.
    fn step(&mut self, step: &Step) {
        let warp = |warp: u32| -> Vec<u32> { (32 * warp..32 * warp + 32).collect() };
        match step {
            Step::Access { .. } => {}
            Step::WaitForCopies { by } => {
                let thread = self.of(*by);
                let copies = std::mem::take(&mut thread.copies);
                thread.before.join(&copies);
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

/// An access of a thread.
struct Access {
    step: usize,
    by: Thread,
    kind: Kind,
    bytes: std::ops::Range<u32>,
    /// Accesses that are before it.
    after: Set,
}

impl Access {
    /// Whether a later access races with `self`, which has this number.
    fn races(&self, number: usize, later: &Access) -> bool {
        let apart = self.bytes.end <= later.bytes.start || later.bytes.end <= self.bytes.start;
        let own = self.by == later.by && self.kind != Kind::Copy;
        let reads = self.kind == Kind::Read && later.kind == Kind::Read;
        let strong = match (self.kind, later.kind) {
            (Kind::Atomic(a), Kind::Atomic(b)) => {
                self.by.block == later.by.block || a.min(b) == Scope::Gpu
            }
            _ => false,
        };
        !apart && !own && !reads && !strong && !later.after.has(number)
    }
}

/// The pairs of steps that race.
pub fn races(program: &Program, fences: Fences) -> BTreeSet<(usize, usize)> {
    let all = vec![Knowledge::default(); (program.blocks * THREADS) as usize];
    let mut threads = Threads { all, fences };
    let mut all: Vec<Access> = Vec::new();
    let mut pairs = BTreeSet::new();
    for (step, what) in program.steps.iter().enumerate() {
        let Step::Access {
            by,
            kind,
            offset,
            bytes,
            stride,
        } = what
        else {
            threads.step(what);
            continue;
        };
        for (rank, &by) in by.iter().enumerate() {
            let first = (offset + stride * rank as u32) % 16;
            let access = Access {
                step,
                by,
                kind: *kind,
                bytes: first..first + bytes,
                after: threads.of(by).before,
            };
            let racing = all.iter().enumerate();
            let racing = racing.filter(|(number, earlier)| earlier.races(*number, &access));
            pairs.extend(racing.map(|(_, earlier)| (earlier.step, step)));
            let thread = threads.of(by);
            match kind {
                Kind::Copy => thread.copies.add(all.len()),
                _ => thread.before.add(all.len()),
            }
            all.push(access);
        }
    }
    pairs
}
