//! Instructions that name lanes: `shfl.sync`, `vote.sync`, `bar.warp.sync` and the like.
//!
//! A lane waits until all lanes of its mask that have not exited execute an instruction
//! with the same qualifiers and the same mask, wherever in the code. Then they execute it
//! as one.

use super::step::Flow;
use super::{Path, State, Warp};
use crate::exec::api::FindingKind;
use crate::exec::execute::{exchange, members};
use crate::exec::image::Image;
use crate::exec::image::form::Form;
use crate::exec::machine::Machine;
use crate::exec::registers::active;

/// The condition under which an instruction that names lanes runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec) enum Together {
    /// The lanes are all there, and nothing else of the warp can run: more may come to the
    /// same instruction, and execute it with them.
    Idle,
    /// The lanes are all there. Others may be in a loop that waits for them.
    Complete,
    /// Nothing else can run: with the lanes that came.
    Any,
}

/// Lanes that wait for each other: they name one mask, in instructions of one kind.
struct Group {
    mask: u32,
    /// Index of one of the instructions.
    pc: u32,
    lanes: u32,
    /// Lanes that came with them, and whose guard keeps them from executing it.
    kept: u32,
    /// Lanes of other masks that have gone on from there.
    parted: u32,
}

impl Group {
    fn is_complete(&self, alive: u32) -> bool {
        self.mask & alive & !(self.lanes | self.kept) == 0
    }
}

/// The instruction at which a path waits for lanes, and its own ones.
fn waiting(path: &Path) -> Option<(u32, u32, u32)> {
    match (path.state, path.stack.last()) {
        (State::Together { parted }, Some(top)) => Some((top.pc, top.lanes, parted)),
        _ => None,
    }
}

/// The mask of an instruction that names lanes.
fn members_of(image: &Image, pc: u32) -> u32 {
    match image.ops[pc as usize].form {
        Form::Together { members, .. } => members,
        _ => unreachable!("only instructions that name lanes wait for some"),
    }
}

fn exchange_of(image: &Image, pc: u32) -> Option<u32> {
    match image.ops[pc as usize].form {
        Form::Together { exchange, .. } => exchange,
        _ => None,
    }
}

/// Whether two instructions that name lanes do the same.
fn same_kind(image: &Image, a: u32, b: u32) -> bool {
    let qualifiers = |at: u32| {
        let info = &image.exchanges[at as usize];
        (info.opcode, info.qualifiers)
    };
    a == b || exchange_of(image, a).map(qualifiers) == exchange_of(image, b).map(qualifiers)
}

impl Warp {
    /// An instruction that names lanes: those that are elsewhere have to come.
    #[inline(always)]
    pub(super) fn together(
        &mut self,
        m: &mut Machine,
        path: usize,
        (masks, made): (u32, Option<u32>),
        (pc, exec): (u32, u32),
    ) -> Flow {
        let first = m.registers.word(masks, exec.trailing_zeros() % 32);
        let agree = members::agree(m, masks, exec);
        if first & self.alive & !m.active != 0 || !agree && !self.are_here(m, path, pc) {
            self.top(path).pc = pc;
            self.split(path);
            return self.wait_again(m, path, State::Together { parted: 0 });
        }
        members::check(m, (masks, agree), exec, self.alive, self.started);
        match made {
            Some(at) => {
                if let Some(races) = &mut m.races {
                    races.order.together(m.warp, exec);
                }
                exchange::exchange(m, &m.image.exchanges[at as usize], exec);
            }
            None => members::meet(m, masks, exec),
        }
        Flow::To(pc + 1)
    }

    /// Whether all lanes are here that the lanes of a path name, with the same masks.
    #[inline(never)]
    fn are_here(&self, m: &Machine, path: usize, pc: u32) -> bool {
        let lanes = self.paths[path].stack.last().map_or(0, |e| e.lanes);
        let mut groups = Vec::new();
        gather(m, &mut groups, (pc, lanes, 0));
        groups.iter().all(|g| g.is_complete(self.alive))
    }

    /// Runs instructions that wait for lanes, as `together` says: whether one ran.
    pub fn run_together(&mut self, m: &mut Machine, index: u32, together: Together) -> bool {
        let is_ready = |p: &Path| p.state == State::Ready;
        let is_busy = together != Together::Complete && self.paths.iter().any(is_ready);
        if is_busy || !self.paths.iter().any(|p| waiting(p).is_some()) {
            return false;
        }
        self.enter(m, index);
        let mut groups = Vec::new();
        for place in self.paths.iter().filter_map(waiting) {
            gather(m, &mut groups, place);
        }
        let mut chosen: Vec<&Group> = groups.iter().collect();
        chosen.retain(|g| g.is_complete(self.alive));
        let lanes = if chosen.is_empty() {
            if together != Together::Any {
                return false;
            }
            self.report_missing(m, &groups)
        } else {
            chosen.iter().fold(0, |all, g| all | g.lanes | g.kept)
        };
        self.run_named(m, &groups, lanes);
        self.go_on(lanes);
        true
    }

    /// Lanes that are named never come: a GPU waits for them forever, or does anything.
    /// The lanes that go on all the same: those of the first mask, and whoever is with
    /// them.
    fn report_missing(&self, m: &mut Machine, groups: &[Group]) -> u32 {
        let first = &groups[0];
        let same = groups.iter().filter(|g| g.mask == first.mask);
        let came = same.clone().fold(0, |all, g| all | g.lanes | g.kept);
        let missing = first.mask & self.alive & !came;
        let (gone, text) = self.elsewhere(m.image, groups, missing);
        let text = format!(
            "it names the lanes {gone:#010x}, which {text}: expected all lanes of the mask at \
             the same kind of instruction, with the same mask"
        );
        m.pc = first.pc;
        let lane = first.lanes.trailing_zeros();
        m.found(FindingKind::InvalidMask, lane, None, None, text);
        let places = self.paths.iter().filter_map(waiting);
        let is_with = |pc: u32| {
            let mut places = self.paths.iter().filter_map(waiting);
            places.any(|(at, lanes, _)| at == pc && lanes & came != 0)
        };
        let with = places.filter(|&(pc, ..)| is_with(pc));
        with.fold(came, |all, (_, lanes, _)| all | lanes)
    }

    /// Lanes that the first group waits for, and what they do: those `missing`, or else
    /// those that name the same lanes in another instruction.
    fn elsewhere(&self, image: &Image, groups: &[Group], missing: u32) -> (u32, String) {
        let first = &groups[0];
        let line = |pc: u32| image.infos.get(pc as usize).map_or(0, |i| i.line);
        let is_first = |g: &&Group| same_kind(image, g.pc, first.pc);
        if let Some(other) = groups
            .iter()
            .find(|g| g.lanes & missing != 0 && is_first(g))
        {
            let text = format!("execute it with the mask {:#010x}", other.mask);
            return (other.lanes & missing, text);
        }
        let waits = |p: &&Path| p.lanes() & missing != 0;
        if let Some(path) = self.paths.iter().find(waits) {
            // Who waits at a barrier has its instruction behind it.
            let behind = matches!(path.state, State::Barrier(_) | State::Cluster);
            let pc = path.stack.last().map_or(0, |e| e.pc);
            let at = line(pc.saturating_sub(behind.into()));
            return (missing, format!("wait elsewhere, at PTX line {at}"));
        }
        let mut others = groups
            .iter()
            .filter(|g| g.mask == first.mask && !is_first(g));
        let (lanes, at) = others.next().map_or((0, 0), |g| (g.lanes, line(g.pc)));
        (
            lanes,
            format!("execute another instruction, at PTX line {at}"),
        )
    }

    /// Runs the instructions at which these lanes wait: each kind of them once, for all
    /// of its lanes.
    fn run_named(&self, m: &mut Machine, groups: &[Group], lanes: u32) {
        let image = m.image;
        let mut places: Vec<(u32, u32)> = Vec::new();
        for (pc, here, _) in self.paths.iter().filter_map(waiting) {
            match places.iter_mut().find(|p| p.0 == pc) {
                _ if here & lanes == 0 => {}
                Some(place) => place.1 |= here & lanes,
                None => places.push((pc, here & lanes)),
            }
        }
        places.sort_unstable();
        for &(pc, here) in &places {
            let exec = here & m.registers.lanes(image.ops[pc as usize].guard);
            (m.pc, m.active) = (pc, here);
            m.warp_instructions += 1;
            m.thread_instructions += u64::from(here.count_ones());
            self.check_named(m, groups, (pc, exec));
        }
        while let Some(&(first, _)) = places.first() {
            let (now, later) = (places.iter()).partition(|p| same_kind(image, p.0, first));
            places = later;
            run_kind(m, now);
        }
        if let Some(races) = &mut m.races {
            let barriers = groups.iter().filter(|g| exchange_of(image, g.pc).is_none());
            for group in barriers {
                races.order.meet(m.warp, group.lanes & lanes & group.mask);
            }
        }
    }

    /// The masks of lanes that have waited: those who were with them, and have exited,
    /// have executed the instruction with another one.
    fn check_named(&self, m: &mut Machine, groups: &[Group], (pc, exec): (u32, u32)) {
        let gone = self.started & !self.alive;
        let broken = |g: &&Group| g.lanes & exec != 0 && g.mask & g.parted & gone != 0;
        let Some(group) = groups.iter().find(broken) else {
            let masks = members_of(m.image, pc);
            let agree = members::agree(m, masks, exec);
            return members::check(m, (masks, agree), exec, self.alive, self.started);
        };
        let text = format!(
            "it names the lanes {:#010x}, which execute it with another mask: expected all \
             lanes of the mask at the same kind of instruction, with the same mask",
            group.mask & group.parted & gone
        );
        let lane = (group.lanes & exec).trailing_zeros();
        m.found(FindingKind::InvalidMask, lane, None, None, text);
    }

    /// Lets lanes go on from the instruction at which they have waited; others of their
    /// paths wait there for longer.
    fn go_on(&mut self, lanes: u32) {
        for at in 0..self.paths.len() {
            let Some((_, here, parted)) = waiting(&self.paths[at]) else {
                continue;
            };
            let (now, later) = (here & lanes, here & !lanes);
            if now == 0 {
                continue;
            }
            if later != 0 {
                let mut rest = self.paths[at].clone();
                rest.remove(now);
                rest.state = State::Together {
                    parted: parted | now,
                };
                self.paths[at].remove(later);
                self.paths.push(rest);
            }
            self.paths[at].state = State::Ready;
            self.top(at).pc += 1;
        }
        self.merge();
    }
}

/// Adds the lanes that wait at a place to their groups.
fn gather(m: &Machine, groups: &mut Vec<Group>, (pc, here, parted): (u32, u32, u32)) {
    let image = m.image;
    let masks = members_of(image, pc);
    let exec = here & m.registers.lanes(image.ops[pc as usize].guard);
    for lane in active(exec) {
        let mask = m.registers.word(masks, lane);
        let same = |g: &Group| g.mask == mask && same_kind(image, g.pc, pc);
        let at = groups.iter().position(same).unwrap_or_else(|| {
            groups.push(Group {
                mask,
                pc,
                lanes: 0,
                kept: 0,
                parted: 0,
            });
            groups.len() - 1
        });
        groups[at].lanes |= 1 << lane;
        groups[at].kept |= here & !exec;
        groups[at].parted |= parted;
    }
}

/// Instructions of one kind, each with its lanes.
fn run_kind(m: &mut Machine, places: Vec<(u32, u32)>) {
    let image = m.image;
    let part = |(pc, here): (u32, u32)| {
        let exec = here & m.registers.lanes(image.ops[pc as usize].guard);
        let info = &image.exchanges[exchange_of(image, pc)? as usize];
        Some((pc, info, exec))
    };
    let parts: Vec<_> = places.into_iter().filter_map(part).collect();
    if let (Some(races), false) = (&mut m.races, parts.is_empty()) {
        let all = parts.iter().fold(0, |all, part| all | part.2);
        races.order.together(m.warp, all);
    }
    exchange::joint(m, &parts);
}
