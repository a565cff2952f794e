//! A warp: paths of lanes through the code, and where they meet again.
//!
//! Lanes that take different ways at a branch are entries of a stack; they
//! meet at its immediate post-dominator. A path is such a stack. Normally a
//! warp is one path. It becomes several if lanes wait for lanes that the
//! stack would only run later. This happens at barriers, at instructions that
//! name lanes of other paths, or if lanes have been branching for long while
//! others of their warp wait (for a lock held by one of them).

pub(super) mod barrier;
mod call;
mod observe;
pub(super) mod stalled;
pub(super) mod step;

use super::api::FindingKind;
use super::asynchronous::mbarrier;
use super::execute::exchange::exchange;
use super::execute::members;
use super::image::form::Form;
use super::image::{Image, NEVER, ValuePlace};
use super::machine::Machine;
use super::registers::{Mask, Registers, Slot, active};
use crate::names::Special;

/// Lanes that are at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub pc: u32,
    /// Where the lanes join the entry below.
    pub meet: u32,
    pub lanes: u32,
    /// Call that began here, as call and callee; none further up.
    pub call: Option<(u32, u32)>,
    /// They go round again in a loop that waits.
    pub retry: bool,
}

/// What a path waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// The barrier instruction number, of `Image::barriers`.
    Barrier(u32),
    /// The barrier of the cluster.
    Cluster,
    /// A phase of an `mbarrier`, at the instruction that waits for it.
    Mbarrier,
    /// Lanes that an instruction names.
    Together(u32),
}

/// A stack of lanes.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub stack: Vec<Entry>,
    pub state: State,
}

impl Path {
    fn lanes(&self) -> u32 {
        self.stack.iter().fold(0, |all, e| all | e.lanes)
    }

    /// Takes lanes out everywhere.
    pub fn remove(&mut self, lanes: u32) {
        self.stack.iter_mut().for_each(|e| e.lanes &= !lanes);
        self.stack.retain(|e| e.lanes != 0);
    }

    fn same_shape(&self, other: &Path) -> bool {
        let shape = |e: &Entry| (e.pc, e.meet, e.call);
        self.state == other.state
            && self.stack.len() == other.stack.len()
            && self
                .stack
                .iter()
                .map(shape)
                .eq(other.stack.iter().map(shape))
    }
}

/// When an instruction that names lanes runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Together {
    /// All lanes are there, and nothing else of the warp can run: more may come to
    /// the same instruction, and execute it with them.
    Idle,
    /// All lanes are there. The others may be in a loop that waits for them.
    Complete,
    /// Nothing else can run: with the lanes that came.
    Any,
}

/// A warp.
pub(super) struct Warp {
    pub registers: Vec<u64>,
    pub local: Vec<u64>,
    pub paths: Vec<Path>,
    /// Lanes that have not exited.
    pub alive: u32,
    /// Lanes that the block has begun with.
    pub started: u32,
    /// Lanes that have arrived at the barrier of the cluster, which still waits
    /// for others.
    pub arrived: u32,
    /// Lanes that it has let go and that have not waited for it yet.
    pub passed: u32,
}

impl Warp {
    pub fn new(image: &Image) -> Self {
        Warp {
            // One line more, for the alignment.
            registers: vec![0; image.register_bytes as usize / 8 + 8],
            local: vec![0; image.local_bytes as usize * 4 + 16],
            paths: Vec::new(),
            alive: 0,
            started: 0,
            arrived: 0,
            passed: 0,
        }
    }

    /// Start of the register file: at a line of 64 bytes.
    fn file(&mut self) -> *mut u8 {
        let start = self.registers.as_mut_ptr().cast::<u8>();
        start.wrapping_add(start.align_offset(64))
    }

    /// Makes it the current warp of the machine.
    pub fn enter(&mut self, m: &mut Machine, index: u32) {
        m.registers = Registers::new(self.file());
        m.local = self.local.as_mut_ptr().cast();
        m.warp = index;
    }

    /// Begins a block: registers zero, all `lanes` at the first instruction.
    pub fn start(&mut self, m: &mut Machine, index: u32, lanes: u32) {
        self.registers.fill(0);
        self.local.fill(0);
        self.enter(m, index);
        let image = m.image;
        m.registers.set_mask(Mask::ALL_AT, u32::MAX, u32::MAX);
        for &(slot, bits) in &image.constants {
            m.registers.write(slot, u32::MAX, &[bits; 32]);
        }
        for &(slot, special) in &image.specials {
            let values = special_values(m, special);
            m.registers.write(slot, u32::MAX, &values);
        }
        self.alive = lanes;
        self.started = lanes;
        (self.arrived, self.passed) = (0, 0);
        if let Some(races) = &mut m.races {
            races.order.start(index, lanes);
        }
        self.paths.clear();
        self.paths.push(Path {
            stack: vec![Entry {
                pc: 0,
                meet: NEVER,
                lanes,
                call: None,
                retry: false,
            }],
            state: State::Ready,
        });
    }

    /// Makes the waiting lanes of a path a path of their own, so that only
    /// those of its top remain; false if there are none.
    pub fn split(&mut self, path: usize) -> bool {
        let Some(top) = self.paths[path].stack.last().map(|e| e.lanes) else {
            return false;
        };
        let others = self.paths[path].lanes() & !top;
        if others == 0 {
            return false;
        }
        let mut rest = self.paths[path].clone();
        rest.remove(top);
        rest.state = State::Ready;
        self.paths[path].remove(others);
        self.paths.push(rest);
        true
    }

    /// Joins paths that are at the same place.
    pub fn merge(&mut self) {
        let mut at = 0;
        while at < self.paths.len() {
            let mut other = at + 1;
            while other < self.paths.len() {
                if self.paths[at].state == State::Ready
                    && self.paths[at].same_shape(&self.paths[other])
                {
                    let gone = self.paths.remove(other);
                    for (entry, more) in self.paths[at].stack.iter_mut().zip(gone.stack) {
                        entry.lanes |= more.lanes;
                    }
                } else {
                    other += 1;
                }
            }
            at += 1;
        }
    }

    /// Lets the paths go on that wait for a phase which is complete.
    pub fn resume_all(&mut self, m: &mut Machine) {
        let mut resumed = false;
        for path in 0..self.paths.len() {
            let waits = self.paths[path].state == State::Mbarrier;
            resumed |= waits && self.resume(m, path, false);
        }
        if resumed && self.paths.len() > 1 {
            self.merge();
        }
    }

    /// Finishes the wait of a path for an `mbarrier`, where its phase is
    /// complete or it goes on `now`: whether it does.
    pub fn resume(&mut self, m: &mut Machine, path: usize, now: bool) -> bool {
        let image = m.image;
        let Some(top) = self.paths[path].stack.last_mut() else {
            return false;
        };
        let op = &image.ops[top.pc as usize];
        let Form::Wait { wait } = op.form else {
            return false;
        };
        (m.pc, m.active) = (top.pc, top.lanes);
        let exec = top.lanes & m.registers.lanes(op.guard);
        let done = mbarrier::wait(m, &image.waits[wait as usize], exec, now);
        if done {
            m.warp_instructions += 1;
            m.thread_instructions += u64::from(top.lanes.count_ones());
            top.pc += 1;
            self.paths[path].state = State::Ready;
        }
        done
    }

    /// Runs instructions that wait for lanes, as `together` says: whether one ran.
    pub fn run_together(&mut self, m: &mut Machine, index: u32, together: Together) -> bool {
        let groups: Vec<(u32, u32)> = self.paths.iter().filter_map(waiting).collect();
        let is_ready = |p: &Path| p.state == State::Ready;
        let is_busy = together != Together::Complete && self.paths.iter().any(is_ready);
        if groups.is_empty() || is_busy {
            return false;
        }
        let chosen = self.chosen(&groups);
        let came = chosen.iter().fold(0, |all, c| all | c.1);
        let named = groups.iter().find(|g| chosen.iter().any(|c| c.0 == g.0));
        let missing = named.map_or(0, |g| g.1) & self.alive & !came;
        if missing != 0 && together != Together::Any {
            return false;
        }
        self.enter(m, index);
        self.check_together(m, &chosen, missing);
        if let (Some(races), [_, _, ..]) = (&mut m.races, &chosen[..]) {
            let all = chosen.iter().filter(|c| is_barrier(m.image, c.0));
            let all = all.fold(0, |all, c| all | c.1);
            races.order.meet(index, all);
        }
        for &(pc, lanes) in &chosen {
            self.run_named(m, pc, lanes);
        }
        for path in &mut self.paths {
            if waiting(path).is_some_and(|(at, _)| chosen.iter().any(|c| c.0 == at)) {
                path.state = State::Ready;
                path.stack.iter_mut().rev().take(1).for_each(|e| e.pc += 1);
            }
        }
        self.merge();
        true
    }

    /// Of the groups that wait, by instruction and members, those that go on: one
    /// whose members are all there, or else the first. The lanes at each instruction.
    fn chosen(&self, groups: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let is_complete =
            |(pc, members): &&(u32, u32)| members & self.alive & !self.waiting_at(*pc) == 0;
        let mut pcs: Vec<u32> = match (groups.iter().find(is_complete), groups.first()) {
            (Some(complete), _) => vec![complete.0],
            // Lanes that name the same ones wait for each other, wherever they are.
            (None, Some(first)) => {
                let same = groups.iter().filter(|g| g.1 == first.1);
                same.map(|g| g.0).collect()
            }
            (None, None) => Vec::new(),
        };
        pcs.sort_unstable();
        pcs.dedup();
        let lanes = |pc| (pc, self.waiting_at(pc));
        pcs.into_iter().map(lanes).collect()
    }

    /// The lanes that wait for others at an instruction.
    fn waiting_at(&self, pc: u32) -> u32 {
        let here = |p: &&Path| waiting(p).is_some_and(|(at, _)| at == pc);
        let lanes = |p: &Path| p.stack.last().map_or(0, |e| e.lanes);
        let here = self.paths.iter().filter(here);
        here.fold(0, |all, p| all | lanes(p))
    }

    /// Lanes that are named and wait elsewhere, or at another kind of
    /// instruction: a GPU waits for them forever, or does anything.
    fn check_together(&self, m: &mut Machine, chosen: &[(u32, u32)], missing: u32) {
        let line = |pc: u32| m.image.infos.get(pc as usize).map_or(0, |i| i.line);
        let kind = |pc: u32| match m.image.ops[pc as usize].form {
            Form::Together { exchange, .. } => {
                exchange.map(|at| m.image.exchanges[at as usize].opcode)
            }
            _ => None,
        };
        let Some(&(pc, lanes)) = chosen.first() else {
            return;
        };
        let waits = |p: &&Path| p.lanes() & missing != 0;
        let top = self.paths.iter().find(waits).and_then(|p| p.stack.last());
        let other = chosen.iter().find(|c| kind(c.0) != kind(pc));
        let (gone, at) = match (top, other) {
            (Some(top), _) => (missing, line(top.pc.saturating_sub(1))),
            (None, Some(&(other, gone))) => (gone, line(other)),
            (None, None) => return,
        };
        m.pc = pc;
        let text = format!(
            "it names the lanes {gone:#010x}, which wait elsewhere, at PTX line {at}: expected all \
             lanes of the mask at the same instruction"
        );
        let lane = lanes.trailing_zeros();
        m.found(FindingKind::InvalidMask, lane, None, None, text);
    }

    /// Runs an instruction that names lanes, for those that have come to it.
    fn run_named(&self, m: &mut Machine, pc: u32, lanes: u32) {
        m.pc = pc;
        let image = m.image;
        let op = &image.ops[pc as usize];
        let exec = lanes & m.registers.lanes(op.guard);
        m.active = lanes;
        m.warp_instructions += 1;
        m.thread_instructions += u64::from(lanes.count_ones());
        let Form::Together {
            members,
            exchange: made,
        } = op.form
        else {
            return;
        };
        if exec != 0 {
            members::check(m, members, exec, self.alive, self.started);
            match made {
                Some(at) => exchange(m, &image.exchanges[at as usize], exec),
                None => members::meet(m, members, exec),
            }
        }
    }
}

/// Whether an instruction is `bar.warp.sync`.
/// The instruction at which a path waits for others, and the members that it names.
fn waiting(path: &Path) -> Option<(u32, u32)> {
    match (path.state, path.stack.last()) {
        (State::Together(members), Some(top)) => Some((top.pc, members)),
        _ => None,
    }
}

fn is_barrier(image: &Image, pc: u32) -> bool {
    let form = &image.ops[pc as usize].form;
    matches!(form, Form::Together { exchange: None, .. })
}

/// The values of a special register for the current warp.
fn special_values(m: &Machine, special: Special) -> [u64; 32] {
    use Special::*;
    let [x, y, _] = m.common.block.map(u64::from);
    let lane = |f: fn(u32) -> u32| std::array::from_fn(|l| u64::from(f(l as u32)));
    let thread =
        |f: &dyn Fn(u64) -> u64| std::array::from_fn(|l| f(u64::from(m.warp) * 32 + l as u64));
    match special {
        TidX => thread(&|t| t % x),
        TidY => thread(&|t| t / x % y),
        TidZ => thread(&|t| t / (x * y)),
        Laneid => lane(|l| l),
        LanemaskEq => lane(|l| 1 << l),
        LanemaskLt => lane(|l| (1 << l) - 1),
        LanemaskLe => lane(|l| u32::MAX >> (31 - l)),
        LanemaskGe => lane(|l| u32::MAX << l),
        LanemaskGt => lane(|l| (u32::MAX << l) & !(1 << l)),
        same => [warp_value(m, same); 32],
    }
}

/// The value of a special register that is the same in all lanes.
fn warp_value(m: &Machine, special: Special) -> u64 {
    use Special::*;
    let block = m.common.block.map(u64::from);
    let grid = m.common.grid.map(u64::from);
    let index = m.block_index.map(u64::from);
    let cluster = m.common.cluster.map(u64::from);
    let shared = u64::from(m.common.dynamic_shared);
    let all_shared = shared + u64::from(m.image.shared_bytes);
    let reserved = u64::from(m.image.reserved_shared);
    match special {
        NtidX => block[0],
        NtidY => block[1],
        NtidZ => block[2],
        CtaidX => index[0],
        CtaidY => index[1],
        CtaidZ => index[2],
        NctaidX => grid[0],
        NctaidY => grid[1],
        NctaidZ => grid[2],
        ClusteridX => index[0] / cluster[0],
        ClusteridY => index[1] / cluster[1],
        ClusteridZ => index[2] / cluster[2],
        NclusteridX => grid[0] / cluster[0],
        NclusteridY => grid[1] / cluster[1],
        NclusteridZ => grid[2] / cluster[2],
        ClusterCtaidX => index[0] % cluster[0],
        ClusterCtaidY => index[1] % cluster[1],
        ClusterCtaidZ => index[2] % cluster[2],
        ClusterNctaidX => cluster[0],
        ClusterNctaidY => cluster[1],
        ClusterNctaidZ => cluster[2],
        ClusterCtarank => m.cluster.rank.into(),
        ClusterNctarank => cluster.iter().product(),
        Warpid => m.warp.into(),
        Nwarpid => block.iter().product::<u64>().div_ceil(32),
        Nsmid => 1,
        // Where a barrier of the whole grid counts.
        Envreg1 => m.common.workspace >> 32,
        Envreg2 => m.common.workspace & 0xffff_ffff,
        DynamicSmemSize => shared,
        TotalSmemSize => all_shared - reserved,
        AggrSmemSize => all_shared,
        ReservedSmemEnd | ReservedSmemCap => reserved,
        // Two halves: PTX does not say where in the region they are.
        ReservedSmem1 => reserved / 2,
        // One multiprocessor runs everything.
        _ => 0,
    }
}

/// Copies values between registers and local memory of the lanes.
pub(super) fn pass(m: &mut Machine, values: &[super::image::Passed], exec: u32) {
    for value in values {
        match (value.from, value.to) {
            (ValuePlace::Slot(from), ValuePlace::Slot(to)) => {
                let lanes = m.registers.read(from);
                m.registers.write(to, exec, &lanes);
            }
            (ValuePlace::Slot(from), ValuePlace::Local(to)) => {
                let lanes = m.registers.read(from);
                let size = bytes_of(from).min(value.bytes as usize);
                for lane in active(exec) {
                    let bytes = lanes[lane as usize].to_le_bytes();
                    // SAFETY: parameters lie inside the local memory of the lane.
                    unsafe {
                        let to = m.lane_local(lane).add(to as usize);
                        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, size);
                    }
                }
            }
            (ValuePlace::Local(from), ValuePlace::Slot(to)) => {
                let mut lanes = [0u64; 32];
                let size = bytes_of(to).min(value.bytes as usize);
                for lane in active(exec) {
                    let mut bytes = [0; 8];
                    // SAFETY: as above.
                    unsafe {
                        let from = m.lane_local(lane).add(from as usize);
                        std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), size);
                    }
                    lanes[lane as usize] = u64::from_le_bytes(bytes);
                }
                m.registers.write(to, exec, &lanes);
            }
            (ValuePlace::Local(from), ValuePlace::Local(to)) => {
                for lane in active(exec) {
                    // SAFETY: as above; the two variables may be the same.
                    unsafe {
                        let base = m.lane_local(lane);
                        let (from, to) = (base.add(from as usize), base.add(to as usize));
                        std::ptr::copy(from, to, value.bytes as usize);
                    }
                }
            }
        }
    }
}

fn bytes_of(slot: Slot) -> usize {
    slot.width.bits().div_ceil(8) as usize
}
