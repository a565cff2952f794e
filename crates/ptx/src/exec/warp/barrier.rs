//! Barriers of the block: who arrives, and who is missing.

use super::step::{Flow, Stopped};
use super::{Entry, State, Warp};
use crate::exec::api::FindingKind;
use crate::exec::api::reported::Meeting;
use crate::exec::execute::barrier::{self, word};
use crate::exec::image::form::Form;
use crate::exec::machine::Machine;
use crate::exec::registers::Mask;
use crate::names::Word;

/// The guard of the instruction that leaves the kernel, where nothing else is done from
/// `pc` on: code that is not optimised branches to it.
fn exits(m: &Machine, mut pc: u32) -> Option<Mask> {
    // Each of them goes to another one, or never leaves.
    for _ in 0..=m.image.ops.len() {
        let op = m.image.ops.get(pc as usize)?;
        match op.form {
            Form::Exit | Form::Return => return Some(op.guard),
            Form::Branch { target, .. } if op.guard == Mask::ALL => pc = target,
            // Where all leave on their way, none comes here.
            _ => return None,
        }
    }
    None
}

impl Warp {
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
            if let Some(guard) = exits(m, entry.pc) {
                leaving |= entry.lanes & !above & m.registers.lanes(guard);
            }
            above |= entry.lanes;
        }
        if leaving == 0 {
            return 0;
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

    /// Lanes on the other side of a branch that they have not begun to execute: they may
    /// come to the same barrier, where the code of both sides goes on. Those that wait where
    /// the sides meet have left the barrier out.
    fn on_their_way(&self, path: usize) -> u32 {
        let (mut above, mut found) = (0, 0);
        for entry in self.paths[path].stack.iter().rev() {
            if entry.lanes & above == 0 && above != 0 {
                found |= entry.lanes;
            }
            above |= entry.lanes;
        }
        found
    }

    /// Arrives at a barrier, and waits there if it is one to wait at.
    pub(super) fn barrier(
        &mut self,
        m: &mut Machine,
        path: usize,
        barrier: u32,
        exec: u32,
    ) -> Flow {
        let info = &m.image.barriers[barrier as usize];
        // Where the warp is split already, its other parts may come here, too;
        // that is seen when the barrier lets them go.
        let here = self.alive & !self.leaving(m, path);
        let mut expected = 0;
        if info.aligned && exec != here && self.paths.len() == 1 {
            let waits = !info.arrive_only && info.cluster.is_none();
            if waits && here & !exec & !self.on_their_way(path) == 0 {
                expected = here;
            } else {
                note_divergent(m, exec, here);
            }
        }
        if let Some(orders) = info.cluster {
            tell(m, (barrier::CLUSTER, None), exec, !info.arrive_only);
            return self.cluster_barrier(m, path, (info.arrive_only, orders), exec);
        }
        let (number, count) = barrier::named(m, info, exec);
        tell(m, (number, count), exec, !info.arrive_only);
        if info.arrive_only {
            barrier::arrive(m, (number, count), exec, self.alive);
            return Flow::Top;
        }
        self.paths[path].expected = expected;
        self.wait_at(path, exec, State::Barrier(barrier))
    }

    /// The lanes of `exec` wait; those that the guard excludes do not.
    fn wait_at(&mut self, path: usize, exec: u32, state: State) -> Flow {
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
        self.paths[path].state = state;
        Flow::Stopped(Stopped::Waiting)
    }

    /// `barrier.cluster`: each thread arrives, and later waits for the arrivals
    /// of all others.
    fn cluster_barrier(
        &mut self,
        m: &mut Machine,
        path: usize,
        (arrives, orders): (bool, bool),
        exec: u32,
    ) -> Flow {
        let mut misuse = |lanes: u32, text: &str| {
            if lanes != 0 {
                let lane = lanes.trailing_zeros();
                m.found(
                    FindingKind::InvalidBarrier,
                    lane,
                    None,
                    None,
                    text.to_owned(),
                );
            }
        };
        if arrives {
            let again = exec & (self.arrived | self.passed);
            misuse(
                again,
                "arrives at the cluster's barrier again without a wait between",
            );
            self.passed &= !exec;
            self.arrived |= exec;
            m.cluster.arrived = true;
            let word = word(m.cluster.phase + 1);
            match &mut m.races {
                Some(races) if orders => races.order.bring(m.warp, exec, word),
                Some(races) => {
                    races.arrived_relaxed = true;
                    races.order.bring_fenced(m.warp, exec, word);
                }
                None => {}
            }
            return Flow::Top;
        }
        let never = exec & !(self.arrived | self.passed);
        misuse(
            never,
            "waits at the cluster's barrier without having arrived",
        );
        if exec & self.arrived != 0 {
            return self.wait_at(path, exec, State::Cluster);
        }
        self.leave_cluster_barrier(m, path);
        if let Some(observer) = &mut m.observer {
            observer.barrier_passed(barrier::CLUSTER);
        }
        Flow::Top
    }

    /// The lanes on top of a path have waited for the cluster's barrier: they see
    /// what came before the arrivals.
    pub fn leave_cluster_barrier(&mut self, m: &mut Machine, path: usize) {
        let lanes = self.top(path).lanes;
        self.passed &= !lanes;
        let word = word(m.cluster.phase);
        if let Some(races) = &mut m.races {
            races.order.take(m.warp, lanes, word);
        }
    }
}

/// Tells the observer, if there is one, of lanes that come to a barrier.
fn tell(m: &mut Machine, (number, threads): (u32, Option<u32>), lanes: u32, waits: bool) {
    let (warp, pc) = (m.warp, m.pc);
    if let Some(observer) = &mut m.observer {
        observer.barrier_reached(&Meeting {
            warp,
            pc,
            lanes,
            number,
            threads,
            waits,
            cluster: number == barrier::CLUSTER,
        });
    }
}

impl Warp {
    /// An instruction that all lanes of a warp execute together.
    #[inline(never)]
    pub(super) fn check_whole(&self, m: &mut Machine, exec: u32) {
        // Lanes that have exited on another way count, too: it is chance who is first.
        let here = self.started;
        if exec != here {
            let text = format!(
                "only some threads of the warp execute it: lanes {exec:#010x}, not {:#010x}; all \
                 of them have to",
                here & !exec
            );
            let lane = exec.trailing_zeros();
            m.found(FindingKind::DivergentBarrier, lane, None, None, text);
        }
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

/// Result of a barrier's reduction, from the count and the number of threads.
pub fn reduced(word: Word, set: u32, all: u32) -> u64 {
    match word {
        Word::Popc => u64::from(set),
        Word::And => u64::from(set == all),
        _ => u64::from(set != 0),
    }
}
