//! Turns of a path in a loop that waits.
//!
//! The lanes that leave such a loop wait for the others where all meet. They go on before
//! only if the others may be waiting for them: a round changes no register, and nothing
//! else of the block goes on, or it has been so for long.

use super::Warp;
use super::step::Stopped;
use crate::exec::machine::Machine;
use crate::exec::machine::watch::mix;
use crate::exec::registers::active;

/// Turns of the same lanes in which registers change, as with a back-off, after which
/// lanes that have left go on.
const LONG: u32 = 256;

/// Turns for which one counts in which no register changes.
const IDLE: u32 = 16;

/// Lanes at a branch of a loop that waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Round {
    pc: u32,
    lanes: u32,
    /// Digest of the registers that such loops write.
    state: u64,
}

/// Turns of a path in a loop that waits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spun {
    /// The begin of this turn, and the end of the last one.
    begin: Round,
    end: Round,
    /// Turns after which lanes that have left the loop go on.
    left: u32,
}

impl Spun {
    /// The whole state as numbers.
    pub fn words(&self) -> [u64; 7] {
        let round = |r: &Round| [u64::from(r.pc), u64::from(r.lanes), r.state];
        let ([a, b, c], [d, e, f]) = (round(&self.begin), round(&self.end));
        [a, b, c, d, e, f, u64::from(self.left)]
    }

    /// The first time round in a turn: whether anything has changed since the last one.
    pub fn begin(&mut self, m: &Machine, pc: u32, lanes: u32) -> bool {
        self.begin = Round::new(m, pc, lanes);
        self.begin != self.end
    }
}

impl Round {
    fn new(m: &Machine, pc: u32, lanes: u32) -> Self {
        let state = state(m, lanes);
        Round { pc, lanes, state }
    }
}

/// Digest of the registers of the lanes that loops write which wait.
fn state(m: &Machine, lanes: u32) -> u64 {
    let mut all = 0u64;
    for slot in &m.image.spun {
        for lane in active(lanes) {
            let value = m.registers.read_lane(*slot, lane);
            all = mix(all, value);
        }
    }
    all
}

impl Warp {
    /// The end of a turn of a path in a loop that waits.
    pub(super) fn spin(&mut self, m: &Machine, path: usize, pc: u32) -> Stopped {
        let now = Round::new(m, pc, self.top(path).lanes);
        let spun = &mut self.paths[path].spun;
        let is_same = now == spun.begin || now == spun.end;
        if spun.end.lanes != now.lanes {
            spun.left = LONG;
        }
        spun.end = now;
        spun.left = spun.left.saturating_sub(if is_same { IDLE } else { 1 });
        let is_over = spun.left == 0;
        if is_over {
            self.split(path);
        }
        if is_same || is_over {
            Stopped::Stuck
        } else {
            Stopped::Turn
        }
    }
}
