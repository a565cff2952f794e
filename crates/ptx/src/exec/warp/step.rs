//! The loop that executes a path until it waits, ends, or has run for long.

use super::observe::{observe, observe_again};
use super::parting::{begin, diverge, overtake, staying};
use super::{Entry, State, Warp};
use crate::exec::api::FindingKind;
use crate::exec::asynchronous::mbarrier;
use crate::exec::execute::{self, execute};
use crate::exec::image::Spin;
use crate::exec::image::form::{Form, Meet, Meeting, Step};
use crate::exec::machine::Machine;
use crate::exec::machine::draw::draw;
use crate::exec::system::print;
use crate::names::Special;

/// Branches after which others get their turn.
const TURN: u32 = 1 << 14;

/// Rounds of a loop that waits after which others get their turn.
const AGAIN: u32 = 2;

/// Thread instructions of a block after which it looks at those of the others.
const SHARE: u64 = 1 << 20;

/// Why a path stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The path waits.
    Waiting,
    /// The path's lanes have all exited.
    Done,
    /// The path's time slice is used up.
    Turn,
    /// The time slice is used up in a loop that waits, without a change (if a seed draws
    /// the turns: perhaps with one).
    Stuck,
    /// The whole run has to stop.
    Abort,
}

/// The way of a path after an instruction.
pub(super) enum Flow {
    /// To that instruction, with the same lanes.
    To(u32),
    /// To where the top of its stack says.
    Top,
    /// Nowhere.
    Stopped(Stopped),
}

impl Warp {
    /// Runs the path of that index.
    pub fn run<const OBSERVED: bool>(&mut self, m: &mut Machine, path: usize) -> Stopped {
        // At least two branches, most turns few.
        let mut turn = match &mut m.draws {
            None => TURN,
            Some(state) => 2 + draw(state, 64) * draw(state, 64) / 16,
        };
        loop {
            let stack = &mut self.paths[path].stack;
            let Some(top) = stack.last() else {
                return Stopped::Done;
            };
            if top.waits.is_some() {
                begin(stack);
                continue;
            }
            let top = *top;
            if top.pc == top.meet || top.lanes == 0 {
                stack.pop();
                continue;
            }
            if m.thread_instructions > m.pause && m.over_limit() {
                return Stopped::Abort;
            }
            if let Some(stopped) = self.run_top::<OBSERVED>(m, path, top, &mut turn) {
                return stopped;
            }
        }
    }

    /// Runs the lanes on top of the stack until they meet others, or the stack
    /// changes; why the path stopped, where it did.
    #[inline(always)]
    fn run_top<const OBSERVED: bool>(
        &mut self,
        m: &mut Machine,
        path: usize,
        top: Entry,
        turn: &mut u32,
    ) -> Option<Stopped> {
        let image = m.image;
        let (mut pc, active) = (top.pc, top.lanes);
        let count = u64::from(active.count_ones());
        let mut retry = top.retry;
        m.active = active;
        loop {
            let op = &image.ops[pc as usize];
            m.pc = pc;
            m.warp_instructions += 1;
            m.thread_instructions += count;
            let exec = active & m.registers.lanes(op.guard);
            if OBSERVED {
                retry = self.observe_step(m, path, (active, exec), retry);
            }
            // Most instructions: a test foretells them better than a table.
            if let Form::Step(Step::Map(map)) = &op.form {
                if exec != 0 {
                    execute::map(m, map, exec);
                }
                pc += 1;
                if pc == top.meet {
                    self.paths[path].stack.pop();
                    return None;
                }
                continue;
            }
            let flow = match &op.form {
                Form::Step(step) => {
                    if exec != 0 {
                        execute(m, step, exec);
                    }
                    if OBSERVED && m.handover.take() {
                        self.top(path).pc = pc + 1;
                        return Some(Stopped::Turn);
                    }
                    Flow::To(pc + 1)
                }
                &Form::Branch { target, meet } => {
                    let flow = self.branch(m, path, (pc, exec), (target, meet), turn);
                    if OBSERVED && let Flow::To(next) = flow {
                        retry = self.top(path).retry;
                        if m.goes_on_later((pc, next)) {
                            self.top(path).pc = next;
                            return Some(Stopped::Turn);
                        }
                    }
                    flow
                }
                form => self.control(m, path, form, (pc, exec)),
            };
            match flow {
                Flow::To(next) => pc = next,
                Flow::Top => return None,
                Flow::Stopped(stopped) => return Some(stopped),
            }
            if pc == top.meet {
                self.paths[path].stack.pop();
                return None;
            }
        }
    }

    /// Shows an instruction to those who observe it, of lanes that retry or not: whether
    /// they still do.
    #[inline(always)]
    fn observe_step(
        &mut self,
        m: &mut Machine,
        path: usize,
        (active, exec): (u32, u32),
        mut retry: bool,
    ) -> bool {
        let (image, pc) = (m.image, m.pc);
        if retry && image.spins[pc as usize] == Spin::No {
            retry = false;
            self.top(path).retry = false;
        }
        if m.races.is_some() && image.aligned[pc as usize] && exec != 0 {
            self.check_whole(m, exec);
        }
        if retry {
            observe_again(m, pc, (active, exec));
        } else {
            observe(m, pc, (active, exec));
        }
        retry
    }

    /// `bra`: the lanes of `exec` go to the target.
    #[inline(always)]
    fn branch(
        &mut self,
        m: &mut Machine,
        path: usize,
        (pc, exec): (u32, u32),
        (target, meet): (u32, Meet),
        turn: &mut u32,
    ) -> Flow {
        *turn -= 1;
        let again = target <= pc && m.image.spins[pc as usize] == Spin::Again;
        if again && exec != 0 {
            // Others get their turn soon: it is they who end the wait.
            if *turn > AGAIN {
                let changed = self.paths[path].spun.begin(m, pc, exec);
                *turn = if changed { AGAIN } else { 0 };
            }
            self.top(path).retry |= m.active & !exec == 0;
        }
        let rest = m.active & !exec;
        if let Some(past) = meet.past {
            let past = &m.image.past[past as usize];
            let sides = [(target, exec), (pc + 1, rest)];
            if overtake(&mut self.paths[path], past, (meet, None), &sides) {
                return match *turn {
                    0 => Flow::Stopped(self.turn(m, path, pc)),
                    _ => Flow::Top,
                };
            }
        }
        let next = match (exec, rest) {
            (0, _) => pc + 1,
            (_, 0) => target,
            (taken, rest) => {
                let sides = if target <= pc {
                    [(target, taken), (pc + 1, rest)]
                } else {
                    [(pc + 1, rest), (target, taken)]
                };
                diverge(&mut self.paths[path], meet.at, &sides);
                if again {
                    let stack = self.paths[path].stack.iter_mut().rev().take(2);
                    let own = stack.filter(|e| e.lanes == taken && e.pc == target);
                    own.for_each(|e| e.retry = true);
                }
                return match *turn {
                    0 => Flow::Stopped(self.turn(m, path, pc)),
                    _ => Flow::Top,
                };
            }
        };
        if *turn == 0 {
            self.top(path).pc = next;
            return Flow::Stopped(self.turn(m, path, pc));
        }
        if m.thread_instructions > m.pause && m.over_limit() {
            self.top(path).pc = next;
            return Flow::Stopped(Stopped::Abort);
        }
        Flow::To(next)
    }

    /// Executes what is neither a step nor a branch.
    #[inline(always)]
    fn control(
        &mut self,
        m: &mut Machine,
        path: usize,
        form: &Form,
        (pc, exec): (u32, u32),
    ) -> Flow {
        let image = m.image;
        match *form {
            Form::Together { members, exchange } if exec != 0 => {
                return self.together(m, path, (members, exchange), (pc, exec));
            }
            Form::Wait { wait }
                if exec != 0 && !mbarrier::wait(m, &image.waits[wait as usize], exec, false) =>
            {
                self.top(path).pc = pc;
                return self.wait_again(m, path, State::Mbarrier);
            }
            Form::IndexedBranch {
                index,
                table,
                meet,
                inside,
            } => {
                self.top(path).pc = pc;
                return match self.indexed(m, path, (index, table), (meet, inside), exec) {
                    Ok(()) => Flow::Top,
                    Err(stopped) => Flow::Stopped(stopped),
                };
            }
            Form::Call { call } => {
                self.top(path).pc = pc + 1;
                if exec != 0
                    && let Err(stopped) = self.call(m, path, call, exec)
                {
                    return Flow::Stopped(stopped);
                }
                return Flow::Top;
            }
            Form::Return | Form::Exit => {
                self.top(path).pc = pc + 1;
                self.leave(m, path, exec, matches!(form, Form::Exit));
                return Flow::Top;
            }
            Form::Barrier { barrier } if exec != 0 => {
                self.top(path).pc = pc + 1;
                return self.barrier(m, path, barrier, exec);
            }
            Form::Assert { call } if exec != 0 => {
                print::assertion(m, &image.system_calls[call as usize], exec);
                return Flow::Stopped(Stopped::Abort);
            }
            Form::Trap if exec != 0 => {
                let text = trap_text(m);
                return Flow::Stopped(trap(m, exec.trailing_zeros(), text));
            }
            // No lane executes it, or the phase is complete.
            _ => {}
        }
        Flow::To(pc + 1)
    }

    /// The path waits and then executes the instruction again, which counts
    /// once.
    pub(super) fn wait_again(&mut self, m: &mut Machine, path: usize, state: State) -> Flow {
        self.paths[path].state = state;
        m.warp_instructions -= 1;
        m.thread_instructions -= u64::from(m.active.count_ones());
        Flow::Stopped(Stopped::Waiting)
    }

    pub(super) fn top(&mut self, path: usize) -> &mut Entry {
        let stack = &mut self.paths[path].stack;
        let last = stack.len() - 1;
        &mut stack[last]
    }

    /// The end of a turn, at a branch: lanes that have been waiting get a path, unless
    /// the others are in a loop that may end without them.
    fn turn(&mut self, m: &mut Machine, path: usize, pc: u32) -> Stopped {
        let waits = m.image.spins[pc as usize] != Spin::No;
        let stopped = if waits && m.draws.is_none() {
            self.spin(m, path, pc)
        } else {
            self.split(path);
            if waits { Stopped::Stuck } else { Stopped::Turn }
        };
        if m.over_limit() {
            Stopped::Abort
        } else {
            stopped
        }
    }

    fn indexed(
        &mut self,
        m: &mut Machine,
        path: usize,
        (index, table): (u32, u32),
        (meet, inside): (Meet, Option<Meeting>),
        exec: u32,
    ) -> Result<(), Stopped> {
        let pc = self.top(path).pc;
        let table = &m.image.tables[table as usize];
        let mut sides: Vec<(u32, u32)> = Vec::new();
        let mut add = |target: u32, lanes: u32| match sides.iter_mut().find(|s| s.0 == target) {
            Some(side) => side.1 |= lanes,
            None if lanes != 0 => sides.push((target, lanes)),
            None => {}
        };
        add(pc + 1, m.active & !exec);
        for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
            let index = m.registers.word(index, lane);
            let Some(&target) = table.get(index as usize) else {
                let text = format!("brx.idx with index {index} of {} targets", table.len());
                return Err(trap(m, lane, text));
            };
            add(target, 1 << lane);
        }
        let past = meet
            .past
            .map_or(&[][..], |past| &m.image.past[past as usize]);
        let inside = inside.and_then(|inside| staying(past, inside, &sides));
        if overtake(&mut self.paths[path], past, (meet, inside), &sides) {
            return Ok(());
        }
        match sides[..] {
            [(target, _)] => self.top(path).pc = target,
            _ => diverge(&mut self.paths[path], meet.at, &sides),
        }
        Ok(())
    }
}

/// Stops the whole run, as `trap` does.
pub(super) fn trap(m: &mut Machine, lane: u32, text: String) -> Stopped {
    m.found(FindingKind::Trap, lane, None, None, text);
    m.stop = true;
    Stopped::Abort
}

/// The text on a trap. The barrier of a grid in cooperative groups traps if the registers
/// that it needs are zero.
fn trap_text(m: &Machine) -> String {
    let mut read = m.image.specials.iter().map(|(_, special)| *special);
    let hint = if m.common.workspace == 0 && read.any(Special::is_of_the_driver) {
        "; it reads %envreg, which is zero here: grid.sync() needs a cooperative launch \
         (cooperative = true in the launch file)"
    } else {
        ""
    };
    format!("the kernel executed trap{hint}")
}

impl Machine<'_> {
    /// Adds what was executed to the sum of all blocks: whether that is more
    /// than allowed, or another block has found so. Else it says when to ask
    /// again, which changes nothing in what the block does.
    pub fn over_limit(&mut self) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        let new = self.thread_instructions - self.reported;
        self.reported = self.thread_instructions;
        let sum = self.common.used.fetch_add(new, Relaxed) + new;
        if sum > self.common.limit && !self.common.stop.swap(true, Relaxed) {
            self.limit_reached = true;
        }
        if spadkit_base::interrupt::requested() {
            self.common.interrupted.store(true, Relaxed);
            self.common.stop.store(true, Relaxed);
        }
        self.pause = self.thread_instructions + SHARE.min(self.common.limit.saturating_sub(sum));
        self.stop |= self.common.stop.load(Relaxed);
        self.stop
    }
}
