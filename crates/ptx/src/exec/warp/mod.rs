//! A warp: paths of lanes through the code, and where they meet again.
//!
//! Lanes that take different ways at a branch are entries of a stack; they
//! meet where [`Meets`](crate::analysis::Meets) says. A path is such a stack. Normally a
//! warp is one path. It becomes several if lanes wait for lanes that the
//! stack would only run later. This happens at barriers, at instructions that
//! name lanes of other paths, or if lanes have been branching for long while
//! others of their warp wait (for a lock held by one of them).

pub(super) mod barrier;
mod call;
mod observe;
mod parting;
mod spun;
pub(super) mod stalled;
mod state;
pub(super) mod step;
mod together;

use super::asynchronous::mbarrier;
use super::image::form::{Form, Meeting};
use super::image::{Image, NEVER, ValuePlace};
use super::machine::Machine;
use super::registers::{Mask, Registers, Slot, active};
use crate::names::Special;

/// Lanes that are at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub pc: u32,
    /// Place where the lanes join an entry further down.
    pub meet: u32,
    pub lanes: u32,
    /// The meeting for which the entry waits: lanes are still on their way to it, as the
    /// entries above it show.
    pub waits: Option<Meeting>,
    /// Call that began here, as call and callee; none further up.
    pub call: Option<(u32, u32)>,
    /// The lanes go round again in a loop that waits.
    pub retry: bool,
}

/// The state of a path, and what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    Ready,
    /// The barrier instruction number, of `Image::barriers`.
    Barrier(u32),
    /// The barrier of the cluster.
    Cluster,
    /// A phase of an `mbarrier`, at the instruction that waits for it.
    Mbarrier,
    /// Lanes that an instruction names. Some may have been here and executed it with
    /// another mask: these have parted.
    Together {
        parted: u32,
    },
}

/// A stack of lanes.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub stack: Vec<Entry>,
    pub state: State,
    /// At an aligned barrier, the lanes that have to come there, where some of them may
    /// still be on their way; else 0.
    pub expected: u32,
    /// State at the end of its last turn in a loop that waits.
    spun: Spun,
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
        let shape = |e: &Entry| (e.pc, e.meet, e.waits, e.call);
        self.state == other.state
            && self.stack.len() == other.stack.len()
            && self
                .stack
                .iter()
                .map(shape)
                .eq(other.stack.iter().map(shape))
    }
}

use spun::Spun;
pub(super) use together::Together;

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
                waits: None,
                call: None,
                retry: false,
            }],
            state: State::Ready,
            expected: 0,
            spun: Spun::default(),
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
