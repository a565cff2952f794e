//! Handles the case in which every runnable path waits for an `mbarrier` phase.

use super::{State, Warp};
use crate::exec::api::FindingKind;
use crate::exec::asynchronous::mbarrier::{awaited, locate};
use crate::exec::check::early;
use crate::exec::image::Wait;
use crate::exec::image::form::Form;
use crate::exec::machine::Machine;
use crate::exec::registers::active;

/// Maximum retries of waiting paths without progress before the run is a
/// deadlock. A wait may end before its phase completes, so one retry is not enough.
const MOST_IDLE: u32 = 1000;

/// Resumes paths that wait: first lanes of the same warp that wait for them, then
/// the paths themselves, as after a time-out. None if no path waits; false if that
/// has changed nothing for long, which becomes a finding.
pub fn stalled(m: &mut Machine, warps: &mut [Warp]) -> Option<bool> {
    let waits = |w: &Warp, path: usize| w.paths[path].state == State::Mbarrier;
    let waiting: Vec<(usize, usize)> = (warps.iter().enumerate())
        .flat_map(|(at, w)| (0..w.paths.len()).map(move |path| (at, path)))
        .filter(|&(at, path)| waits(&warps[at], path))
        .collect();
    if waiting.is_empty() {
        return None;
    }
    m.mbarriers.idle += 1;
    if m.mbarriers.idle > MOST_IDLE {
        report(m, warps, &waiting);
        return Some(false);
    }
    let mut split = false;
    for &(at, path) in &waiting {
        split |= warps[at].split(path);
    }
    for &(at, path) in waiting.iter().filter(|_| !split) {
        let warp = &mut warps[at];
        warp.enter(m, at as u32);
        warp.resume(m, path, true);
    }
    Some(true)
}

/// A deadlock, at the first that waits, with everything that is waited for.
fn report(m: &mut Machine, warps: &mut [Warp], waiting: &[(usize, usize)]) {
    let image = m.image;
    let mut open: Vec<Open> = Vec::new();
    for &(at, path) in waiting {
        let Some(top) = warps[at].paths[path].stack.last().copied() else {
            continue;
        };
        let op = &image.ops[top.pc as usize];
        let Form::Wait { wait } = op.form else {
            continue;
        };
        warps[at].enter(m, at as u32);
        (m.pc, m.active) = (top.pc, top.lanes);
        let exec = top.lanes & m.registers.lanes(op.guard);
        for lane in active(exec) {
            let Some(offset) = waits_for(m, &image.waits[wait as usize], lane) else {
                continue;
            };
            note_skipped(m, &image.waits[wait as usize], lane, offset);
            match open.iter_mut().find(|o| o.offset == offset) {
                Some(known) => known.threads += 1,
                None => open.push(Open {
                    offset,
                    warp: at as u32,
                    pc: top.pc,
                    lane,
                    threads: 1,
                }),
            }
        }
    }
    let Some(first) = open.first() else {
        return;
    };
    if open.iter().all(|o| early::is_premature(m, o.offset)) {
        return;
    }
    let (offset, lane) = (first.offset, first.lane);
    (m.warp, m.pc) = (first.warp, first.pc);
    let parts: Vec<String> = open.iter().map(|o| o.text(m)).collect();
    let text = format!("a phase never completes: {}", parts.join("; "));
    let name = m.shared_variable(offset);
    m.found(
        FindingKind::BarrierNotReached,
        lane,
        Some(offset),
        name,
        text,
    );
}

/// A lane waits by the parity that the phase before the one it should wait for has, and
/// is here only because others were fast: before that phase was complete, it would have
/// gone on at once.
fn note_skipped(m: &mut Machine, info: &Wait, lane: u32, at: u64) {
    let Some(phase) = m.mbarriers.objects.get(&at).map(|o| o.phase()) else {
        return;
    };
    let waited = m.mbarriers.waited.get(&(at, m.thread(lane)));
    let next = waited.map_or(0, |next| next - 1);
    if m.races.is_none() || !info.parity || (phase - next).is_multiple_of(2) {
        return;
    }
    let text = format!(
        "waits by parity {} for phase {phase} of the mbarrier at byte {at}, and has not waited \
         for phase {next}: as long as that is not complete, the wait ends at once",
        phase & 1
    );
    let name = m.shared_variable(at);
    m.found(FindingKind::Race, lane, Some(at), name, text);
}

/// A barrier whose phase is waited for.
struct Open {
    offset: u64,
    /// The first that waits.
    warp: u32,
    pc: u32,
    lane: u32,
    /// Number of threads that wait.
    threads: u32,
}

impl Open {
    fn text(&self, m: &Machine) -> String {
        let Some(object) = m.mbarriers.objects.get(&self.offset) else {
            return String::new();
        };
        let threads = match self.threads {
            1 => "1 thread waits".to_owned(),
            n => format!("{n} threads wait"),
        };
        format!(
            "{threads} for phase {} of the mbarrier at byte {}, {}",
            object.phase(),
            self.offset,
            object.missing()
        )
    }
}

/// The barrier whose current phase a lane waits for.
fn waits_for(m: &mut Machine, info: &Wait, lane: u32) -> Option<u64> {
    let value = m.registers.read_lane(info.by, lane);
    let at = locate(m, &info.place, lane, "a wait for an mbarrier")?;
    let object = m.mbarriers.objects.get(&at)?;
    (object.is_complete(awaited(info, value)) == Ok(false)).then_some(at)
}
