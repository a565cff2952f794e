//! The loop that executes a path until it waits, ends, or has run for long.

use super::observe::observe;
use super::{Entry, Path, State, Warp, pass};
use crate::ptx::exec::api::FindingKind;
use crate::ptx::exec::asynchronous::mbarrier;
use crate::ptx::exec::execute;
use crate::ptx::exec::execute::barrier;
use crate::ptx::exec::execute::exchange::exchange;
use crate::ptx::exec::execute::execute;
use crate::ptx::exec::execute::members;
use crate::ptx::exec::image::NEVER;
use crate::ptx::exec::image::form::{Form, Step};
use crate::ptx::exec::machine::Machine;
use crate::ptx::exec::system::print;
use crate::ptx::names::{Special, Word};

/// Branches after which others get their turn.
const TURN: u32 = 1 << 14;

/// Thread instructions of a block after which it looks at those of the others.
const SHARE: u64 = 1 << 20;

/// Why a path stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It waits.
    Waiting,
    /// All its lanes have exited.
    Done,
    /// Its time slice is used up.
    Turn,
    /// The whole run has to stop.
    Abort,
}

impl Warp {
    /// Runs the path of that index.
    pub fn run<const OBSERVED: bool>(&mut self, m: &mut Machine, path: usize) -> Stopped {
        let image = m.image;
        let mut turn = TURN;
        'entry: loop {
            let stack = &mut self.paths[path].stack;
            let Some(&Entry {
                pc: start,
                meet,
                lanes: active,
                ..
            }) = stack.last()
            else {
                return Stopped::Done;
            };
            if start == meet || active == 0 {
                stack.pop();
                continue;
            }
            if m.thread_instructions > m.pause && m.over_limit() {
                return Stopped::Abort;
            }
            let mut pc = start;
            let count = u64::from(active.count_ones());
            m.active = active;
            loop {
                let op = &image.ops[pc as usize];
                m.pc = pc;
                m.warp_instructions += 1;
                m.thread_instructions += count;
                let exec = active & m.registers.lanes(op.guard);
                if OBSERVED {
                    observe(m, pc, active, exec);
                }
                // Most instructions: a test foretells them better than a table.
                if let Form::Step(Step::Map(map)) = &op.form {
                    if exec != 0 {
                        execute::map(m, map, exec);
                    }
                    pc += 1;
                    if pc == meet {
                        self.paths[path].stack.pop();
                        continue 'entry;
                    }
                    continue;
                }
                match &op.form {
                    Form::Step(step) => {
                        if exec != 0 {
                            execute(m, step, exec);
                        }
                    }
                    &Form::Branch { target, meet: join } => {
                        let next = match (exec, active & !exec) {
                            (0, _) => pc + 1,
                            (_, 0) => target,
                            (taken, rest) => {
                                let sides = if target <= pc {
                                    [(target, taken), (pc + 1, rest)]
                                } else {
                                    [(pc + 1, rest), (target, taken)]
                                };
                                diverge(&mut self.paths[path], join, &sides);
                                turn -= 1;
                                if turn == 0 {
                                    return self.turn(m, path);
                                }
                                continue 'entry;
                            }
                        };
                        turn -= 1;
                        if turn == 0 {
                            self.top(path).pc = next;
                            return self.turn(m, path);
                        }
                        if m.thread_instructions > m.pause && m.over_limit() {
                            self.top(path).pc = next;
                            return Stopped::Abort;
                        }
                        if next == meet {
                            self.paths[path].stack.pop();
                            continue 'entry;
                        }
                        pc = next;
                        continue;
                    }
                    &Form::Together {
                        members,
                        exchange: made,
                    } => {
                        let member = m.registers.word(members, exec.trailing_zeros() % 32);
                        let missing = member & self.alive & !active;
                        if exec != 0 && missing != 0 {
                            self.top(path).pc = pc;
                            self.split(path);
                            self.paths[path].state = State::Together(member);
                            m.warp_instructions -= 1;
                            m.thread_instructions -= count;
                            return Stopped::Waiting;
                        }
                        if exec != 0 {
                            members::check(m, members, exec, self.alive, self.started);
                            if let Some(at) = made {
                                exchange(m, &image.exchanges[at as usize], exec);
                            }
                        }
                    }
                    &Form::Wait { wait } => {
                        let info = &image.waits[wait as usize];
                        if exec != 0 && !mbarrier::wait(m, info, exec, false) {
                            self.top(path).pc = pc;
                            self.paths[path].state = State::Mbarrier;
                            m.warp_instructions -= 1;
                            m.thread_instructions -= count;
                            return Stopped::Waiting;
                        }
                    }
                    &Form::IndexedBranch {
                        index,
                        table,
                        meet: join,
                    } => {
                        self.top(path).pc = pc;
                        if !self.indexed(m, path, (index, table, join), exec) {
                            return Stopped::Abort;
                        }
                        continue 'entry;
                    }
                    &Form::Call { call } => {
                        self.top(path).pc = pc + 1;
                        if exec != 0 && !self.call(m, path, call, exec) {
                            return Stopped::Abort;
                        }
                        continue 'entry;
                    }
                    Form::Return | Form::Exit => {
                        self.top(path).pc = pc + 1;
                        self.leave(m, path, exec, matches!(op.form, Form::Exit));
                        continue 'entry;
                    }
                    &Form::Barrier { barrier } => {
                        if exec != 0 {
                            self.top(path).pc = pc + 1;
                            if self.barrier(m, path, barrier, exec) {
                                return Stopped::Waiting;
                            }
                            continue 'entry;
                        }
                    }
                    &Form::Assert { call } => {
                        if exec != 0 {
                            print::assertion(m, &image.system_calls[call as usize], exec);
                            return Stopped::Abort;
                        }
                    }
                    Form::Trap => {
                        if exec != 0 {
                            let text = trap_text(m);
                            m.found(FindingKind::Trap, exec.trailing_zeros(), None, None, text);
                            m.stop = true;
                            return Stopped::Abort;
                        }
                    }
                }
                pc += 1;
                if pc == meet {
                    self.paths[path].stack.pop();
                    continue 'entry;
                }
            }
        }
    }

    fn top(&mut self, path: usize) -> &mut Entry {
        let stack = &mut self.paths[path].stack;
        let last = stack.len() - 1;
        &mut stack[last]
    }

    /// The end of a turn: lanes that have been waiting get a path.
    fn turn(&mut self, m: &mut Machine, path: usize) -> Stopped {
        self.split(path);
        if m.over_limit() {
            Stopped::Abort
        } else {
            Stopped::Turn
        }
    }

    fn indexed(
        &mut self,
        m: &mut Machine,
        path: usize,
        (index, table, meet): (u32, u32, u32),
        exec: u32,
    ) -> bool {
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
                m.found(FindingKind::Trap, lane, None, None, text);
                m.stop = true;
                return false;
            };
            add(target, 1 << lane);
        }
        match sides[..] {
            [(target, _)] => self.top(path).pc = target,
            _ => diverge(&mut self.paths[path], meet, &sides),
        }
        true
    }

    /// Enters the functions that the lanes call.
    fn call(&mut self, m: &mut Machine, path: usize, call: u32, exec: u32) -> bool {
        let info = &m.image.calls[call as usize];
        let Some(pointer) = info.pointer else {
            pass(m, &info.callees[0].arguments, exec);
            self.paths[path].stack.push(Entry {
                pc: info.callees[0].pc,
                meet: NEVER,
                lanes: exec,
                call: Some((call, 0)),
            });
            return true;
        };
        let targets = m.registers.read(pointer);
        let mut left = exec;
        while left != 0 {
            let lane = left.trailing_zeros();
            let target = targets[lane as usize];
            let function = |f: u32| crate::ptx::exec::image::FUNCTION_WINDOW | u64::from(f) << 4;
            let Some(at) = info
                .callees
                .iter()
                .position(|c| function(c.function) == target)
            else {
                let text = format!(
                    "a call through {target:#x}, which is not a function of this signature"
                );
                m.found(FindingKind::Trap, lane, None, None, text);
                m.stop = true;
                return false;
            };
            let same = (0..32).filter(|&l| left >> l & 1 != 0 && targets[l as usize] == target);
            let lanes = same.fold(0, |all, l| all | 1 << l);
            pass(m, &info.callees[at].arguments, lanes);
            self.paths[path].stack.push(Entry {
                pc: info.callees[at].pc,
                meet: NEVER,
                lanes,
                call: Some((call, at as u32)),
            });
            left &= !lanes;
        }
        // Recursion through pointers cannot be seen before it happens.
        if self.paths[path].stack.len() > 4096 {
            let text = "calls are nested too deep: recursion through a pointer".to_owned();
            m.found(FindingKind::Trap, exec.trailing_zeros(), None, None, text);
            m.stop = true;
            return false;
        }
        true
    }

    /// `ret` and `exit`: the lanes leave the function, or the kernel.
    fn leave(&mut self, m: &mut Machine, path: usize, exec: u32, exit: bool) {
        let stack = &mut self.paths[path].stack;
        let base = stack.iter().rposition(|e| e.call.is_some());
        match base.filter(|_| !exit) {
            Some(base) => {
                if let Some((call, callee)) = stack[base].call {
                    let info = &m.image.calls[call as usize];
                    pass(m, &info.callees[callee as usize].returns, exec);
                }
                stack[base..].iter_mut().for_each(|e| e.lanes &= !exec);
                let keep: Vec<Entry> = stack.drain(base..).filter(|e| e.lanes != 0).collect();
                stack.extend(keep);
            }
            None => {
                self.alive &= !exec;
                self.paths[path].remove(exec);
            }
        }
    }

    /// Lanes that wait for those of the top, and would only leave the kernel:
    /// `if (i >= n) return;` is a branch to the last `ret`. What a check of
    /// bounds turns away are the threads from some index on; where others are
    /// between them, it is the barrier that is in a branch.
    fn leaving(&self, m: &Machine, path: usize) -> u32 {
        let stack = &self.paths[path].stack;
        if stack.iter().any(|e| e.call.is_some()) {
            return 0;
        }
        // Lanes of an entry are also those of the entries above it.
        let (mut above, mut leaving) = (stack[stack.len() - 1].lanes, 0);
        for entry in stack.iter().rev().skip(1) {
            match m.image.ops.get(entry.pc as usize) {
                Some(op) if matches!(op.form, Form::Exit | Form::Return) => {
                    leaving |= entry.lanes & !above & m.registers.lanes(op.guard);
                }
                // Where all leave on their way, none comes here.
                _ => {}
            }
            above |= entry.lanes;
        }
        let [x, y, _] = m.common.block;
        let index = |lane: u32| {
            let t = m.thread(lane);
            [t % x, t / x % y, t / (x * y)]
        };
        let lanes = |mask: u32| (0..32).filter(move |lane| mask >> lane & 1 == 1);
        let is_behind = |stays: u32| {
            let at = index(stays);
            lanes(leaving).any(|l| index(l).iter().zip(at).all(|(left, at)| *left <= at))
        };
        if lanes(self.alive & !leaving).any(is_behind) {
            0
        } else {
            leaving
        }
    }

    /// Arrives at a barrier: whether the path waits there.
    fn barrier(&mut self, m: &mut Machine, path: usize, barrier: u32, exec: u32) -> bool {
        let info = &m.image.barriers[barrier as usize];
        // Where the warp is split already, its other parts may come here, too;
        // that is seen when the barrier lets them go.
        let here = self.alive & !self.leaving(m, path);
        if info.aligned && exec != here && self.paths.len() == 1 {
            note_divergent(m, exec, here);
        }
        let (number, count) = barrier::named(m, info, exec);
        if info.arrive_only {
            barrier::arrive(m, number, count, exec);
            return false;
        }
        // Lanes that the guard excludes do not wait.
        let top = *self.top(path);
        if top.lanes != exec {
            let waiting = Entry {
                meet: top.pc,
                lanes: exec,
                call: None,
                ..top
            };
            self.paths[path].stack.push(waiting);
        }
        self.split(path);
        self.paths[path].state = State::Barrier(barrier);
        true
    }
}

/// A barrier that only some lanes of the warp have reached.
pub fn note_divergent(m: &mut Machine, here: u32, alive: u32) {
    let text = format!(
        "only some threads of the warp are at the barrier: lanes {here:#010x}, not {:#010x}",
        alive & !here
    );
    m.found(
        FindingKind::DivergentBarrier,
        here.trailing_zeros(),
        None,
        None,
        text,
    );
}

/// Puts the sides of a branch on the stack; lanes that already are where
/// all meet wait in the entry below.
fn diverge(path: &mut Path, meet: u32, sides: &[(u32, u32)]) {
    let Some(top) = path.stack.last_mut() else {
        return;
    };
    let mut call = None;
    if top.meet == meet {
        call = top.call;
        path.stack.pop();
    } else {
        top.pc = meet;
    }
    for &(pc, lanes) in sides.iter().filter(|(pc, _)| *pc != meet) {
        path.stack.push(Entry {
            pc,
            meet,
            lanes,
            call,
        });
    }
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
        if crate::interrupt::requested() {
            self.common.stop.store(true, Relaxed);
        }
        self.pause = self.thread_instructions + SHARE.min(self.common.limit.saturating_sub(sum));
        self.stop |= self.common.stop.load(Relaxed);
        self.stop
    }
}

/// What is said of a trap. The barrier of a grid in cooperative groups traps if
/// the registers that it needs are zero.
fn trap_text(m: &Machine) -> String {
    let mut read = m.image.specials.iter().map(|(_, special)| *special);
    let hint = if read.any(|special| special == Special::Envreg) {
        "; it reads %envreg, which is zero here: grid.sync() needs a cooperative launch, which is \
         not supported"
    } else {
        ""
    };
    format!("the kernel executed trap{hint}")
}

/// How a reduction of a barrier combines: count and number of threads.
pub fn reduced(word: Word, set: u32, all: u32) -> u64 {
    match word {
        Word::Popc => u64::from(set),
        Word::And => u64::from(set == all),
        _ => u64::from(set != 0),
    }
}
