//! A warp: its program, its registers and what it waits for.

use super::instr::{Detail, Instr, InstrKind};
use super::workload::ProgramStream;
use spadkit_base::error::Result;
use spadkit_mapping::trace::Atomics;
use std::sync::Arc;

/// A cycle that is not known yet.
pub(super) const NEVER: u64 = u64::MAX;

/// The state of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No block has the slot.
    Absent,
    /// The warp executes its program.
    Running,
    /// The warp has issued `bar` and completes it in cycle `arrived`.
    Barrier { number: u8, arrived: u64 },
    /// The warp's threads have all ended.
    Ended,
}

/// An instruction that has not completed.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub tag: u8,
    pub kind: InstrKind,
    pub pc: u32,
    pub dst: Option<u8>,
    pub mask: u64,
    /// Words per lane.
    pub words: u32,
    pub detail: Detail,
    /// Lanes of a load-and-lock that took their lock.
    pub success: u64,
    /// Segments of a global access.
    pub segments: Box<[u64]>,
}

/// A warp slot.
pub(super) struct Warp<'a> {
    pub state: State,
    /// Slot of its block.
    pub slot: usize,
    /// Number of its block in the grid, and of the warp in the block.
    pub block: u32,
    pub index: u32,
    /// Launch number: the oldest warp has the least.
    pub age: u64,
    /// Threads that have not exited.
    pub live: u64,
    /// Program counter of the instruction issued last.
    pub issued_pc: u32,
    /// Threads that have executed relssp.
    pub released: u64,
    /// First cycle in which the next instruction may be offered.
    pub ready_at: u64,
    /// Cycle in which a barrier releases it.
    pub barrier_until: u64,
    /// Cycle of the last completion so far.
    pub done_at: u64,
    /// Cycle in which the last of its stores so far is acknowledged, which its
    /// end waits for.
    pub acknowledged_at: u64,
    /// Whether the warp offers its next instruction.
    pub offered: bool,
    /// Instructions inside the path.
    pub in_path: u32,
    pub pending: Vec<Pending>,
    next_tag: u8,
    stream: Option<Box<dyn ProgramStream + 'a>>,
    part: Option<Arc<[Instr]>>,
    at: usize,
    /// First cycle in which each register can be used.
    registers: Box<[u64; 256]>,
    /// Results of load-and-lock: register and lanes.
    predicates: Vec<(u8, u64)>,
    /// Service of atomics by the machine.
    atomics: Atomics,
}

impl<'a> Warp<'a> {
    pub fn absent(atomics: Atomics) -> Self {
        Warp {
            state: State::Absent,
            slot: 0,
            block: 0,
            index: 0,
            age: 0,
            live: 0,
            issued_pc: 0,
            released: 0,
            ready_at: NEVER,
            barrier_until: 0,
            done_at: 0,
            acknowledged_at: 0,
            offered: false,
            in_path: 0,
            pending: Vec::new(),
            next_tag: 0,
            stream: None,
            part: None,
            at: 0,
            registers: Box::new([0; 256]),
            predicates: Vec::new(),
            atomics,
        }
    }

    /// A program for the slot; the warp may offer from `ready_at` on.
    pub fn start(&mut self, stream: Box<dyn ProgramStream + 'a>, ready_at: u64) -> Result<()> {
        self.state = State::Running;
        self.released = 0;
        self.ready_at = ready_at;
        self.done_at = 0;
        self.acknowledged_at = 0;
        self.registers.fill(0);
        self.predicates.clear();
        self.stream = Some(stream);
        self.fetch()
    }

    fn fetch(&mut self) -> Result<()> {
        self.at = 0;
        self.part = match &mut self.stream {
            Some(stream) => stream.next_part()?,
            None => None,
        };
        if self.atomics != Atomics::Words {
            self.part = self.part.take().map(|part| as_loads(part, self.atomics));
        }
        Ok(())
    }

    /// The next instruction; `None` at the end of the program.
    pub fn next(&self) -> Option<&Instr> {
        self.part.as_ref().and_then(|part| part.get(self.at))
    }

    /// The part of the program and the index in it, by which the instruction can be kept.
    pub fn place(&self) -> Option<(Arc<[Instr]>, usize)> {
        self.part.as_ref().map(|part| (part.clone(), self.at))
    }

    /// Goes on to the instruction after the next one.
    pub fn advance(&mut self) -> Result<()> {
        self.at += 1;
        match self.next() {
            Some(_) => Ok(()),
            None => self.fetch(),
        }
    }

    /// A tag that no pending instruction has.
    pub fn take_tag(&mut self) -> u8 {
        while self.pending.iter().any(|p| p.tag == self.next_tag) {
            self.next_tag = self.next_tag.wrapping_add(1);
        }
        self.next_tag
    }

    /// The next instruction gets another tag.
    pub fn use_tag(&mut self) {
        self.next_tag = self.next_tag.wrapping_add(1);
    }

    /// First cycle in which all registers of `instr` can be used.
    pub fn registers_ready(&self, instr: &Instr) -> u64 {
        // The tensor unit keeps products of warpgroups in order.
        let written = instr.dst.as_ref().filter(|_| !instr.is_of_group());
        let used = instr.srcs.as_slice().iter().chain(written);
        used.map(|&r| self.registers[usize::from(r)])
            .max()
            .unwrap_or(0)
    }

    /// `register` can be used from `cycle` on.
    pub fn set_register(&mut self, register: Option<u8>, cycle: u64) {
        if let Some(register) = register {
            self.registers[usize::from(register)] = cycle;
        }
    }

    /// `register` holds the lanes that took their lock.
    pub fn set_predicate(&mut self, register: u8, lanes: u64) {
        self.predicates.retain(|p| p.0 != register);
        self.predicates.push((register, lanes));
    }

    /// The lanes in which `instr` acts.
    pub fn active(&self, instr: &Instr) -> u64 {
        let mut mask = instr.mask & self.live;
        if instr.kind == InstrKind::StUnlock {
            for (register, lanes) in &self.predicates {
                if instr.srcs.as_slice().contains(register) {
                    mask &= lanes;
                }
            }
        }
        mask
    }

    /// The atomic whose end `instr` waits for, with or without a register in
    /// common. An atomic leaves the memory path, which keeps the other accesses
    /// of shared memory in order. A barrier lets no access overtake another.
    pub fn atomic_before(&self, instr: &Instr) -> Option<&Pending> {
        let orders = instr.kind.is_shared() || instr.kind == InstrKind::Bar;
        let mut pending = self.pending.iter().filter(|_| orders);
        pending.find(|p| p.kind == InstrKind::AtomShared)
    }

    /// The pending instruction that the next one waits for, or, at the end of
    /// the program and under strict barrel execution, any.
    pub fn blocked_by(&self, strict: bool) -> Option<&Pending> {
        let all = |i: &&Instr| strict || i.kind == InstrKind::Exit;
        let Some(next) = self.next().filter(|i| !all(i)) else {
            return self.pending.first();
        };
        let uses = |r: u8| next.dst == Some(r) || next.srcs.as_slice().contains(&r);
        let by_register = self.pending.iter().find(|p| p.dst.is_some_and(uses));
        by_register.or_else(|| self.atomic_before(next))
    }

    /// Program counter of the instruction at which a resident warp is that
    /// issues nothing in `cycle`: the next one; that of a barrier at which it
    /// waits, and the last one where no other follows.
    pub fn waits_at(&self, cycle: u64) -> u32 {
        let at_barrier = matches!(self.state, State::Barrier { .. }) || cycle < self.barrier_until;
        let next = self.next().filter(|_| !at_barrier);
        next.map_or(self.issued_pc, |instr| instr.pc)
    }

    /// Whether its program has ended, or it is at the exit of all remaining
    /// threads.
    pub fn ends(&self) -> bool {
        self.next()
            .is_none_or(|next| next.kind == InstrKind::Exit && next.mask & self.live == self.live)
    }

    /// The first cycle in which its next threads, or all that are left, may
    /// exit, when nothing is pending.
    pub fn exits_at(&self) -> u64 {
        let at = match self.next() {
            Some(_) if !self.ends() => self.ready_at,
            Some(_) => self.ready_at.max(self.done_at + 1),
            None => self.done_at + 1,
        };
        if self.ends() && self.acknowledged_at > 0 {
            at.max(self.acknowledged_at + 1)
        } else {
            at
        }
    }

    /// Whether the slot has a block's warp that has not ended.
    pub fn is_resident(&self) -> bool {
        matches!(self.state, State::Running | State::Barrier { .. })
    }
}

/// `part` with loads for the atomics of a machine that has no lock unit; the lanes
/// of most are served one after another.
fn as_loads(part: Arc<[Instr]>, atomics: Atomics) -> Arc<[Instr]> {
    if !part.iter().any(|i| i.kind == InstrKind::AtomShared) {
        return part;
    }
    let load = |instr: &Instr| {
        let mut instr = instr.clone();
        if instr.kind == InstrKind::AtomShared {
            let detail = if atomics.in_turn(instr.is_increment(), instr.is_aggregated()) {
                Detail::LaneByLane
            } else {
                Detail::None
            };
            (instr.kind, instr.detail) = (InstrKind::LdShared, detail);
        }
        instr
    };
    part.iter().map(load).collect()
}
