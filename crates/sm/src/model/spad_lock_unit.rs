//! `spad_lock_unit`: the lock bits (atomics paper, section II;
//! microarchitecture/lock-unit.md).

use super::lanes::{LaneMask, lanes_of};
use spadkit_hdl::codes::op::{LDLK, STUL};

/// Most lock bits that a unit can have.
pub const MAX_LOCKS: usize = 1024;

/// A bit per lock, lock 0 in bit 0 of the first word.
pub type LockBits = [u64; MAX_LOCKS / 64];

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug)]
pub struct LockInputs<'a> {
    /// Synchronous reset.
    pub rst: bool,
    /// A window of a group is served in this cycle.
    pub valid: bool,
    /// Number of the window; ignored where a group is one window.
    pub window: u32,
    /// The scratchpad operation; only 3 and 4 act.
    pub op: u8,
    /// Leaders of the group.
    pub req: LaneMask,
    /// Lock index of each lane.
    pub addr: &'a [u16],
}

/// Outputs of one clock cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockOutputs {
    /// Lanes that take their lock now; of an unlock those that own it, if owners
    /// are known.
    pub success: LaneMask,
    /// The operation is not supported.
    pub error: bool,
    /// The lock bits; registered.
    pub held: LockBits,
}

/// The lock bits.
#[derive(Clone, Debug)]
pub struct LockUnit {
    held: LockBits,
    /// The lane that took each lock, if it is held; empty without owners.
    owner: Vec<u8>,
    lanes_per_window: u32,
    windows: u32,
}

impl LockUnit {
    /// A unit with all locks free. `windows` = LKG, of `lanes / windows` lanes
    /// each.
    pub fn new(lanes: u32, windows: u32) -> Self {
        LockUnit {
            held: [0; MAX_LOCKS / 64],
            owner: Vec::new(),
            lanes_per_window: lanes / windows,
            windows,
        }
    }

    /// The unit with an owner for each lock (LKO = 1), if `known`.
    #[must_use]
    pub fn with_owners(mut self, known: bool) -> Self {
        self.owner = vec![0; if known { MAX_LOCKS } else { 0 }];
        self
    }

    /// Frees all locks.
    pub fn reset(&mut self) {
        self.held = [0; MAX_LOCKS / 64];
    }

    /// The lock bits.
    pub fn held(&self) -> &LockBits {
        &self.held
    }

    /// Lanes that take their lock: in the window the lowest of each free lock. Of
    /// an unlock, with owners, the lanes that own the lock that they clear.
    pub fn success(&self, inputs: &LockInputs) -> LaneMask {
        match inputs.op {
            LDLK if inputs.valid => self.takers(inputs),
            STUL if inputs.valid && !self.owner.is_empty() => self.owners(inputs),
            _ => 0,
        }
    }

    fn owners(&self, inputs: &LockInputs) -> LaneMask {
        let lanes = lanes_of(self.in_window(inputs));
        let owning = lanes.filter(|&lane| {
            let (word, bit) = place(inputs.addr[lane]);
            let owner = self.owner[word * 64 + bit as usize];
            self.held[word] >> bit & 1 == 1 && usize::from(owner) == lane
        });
        owning.fold(0, |mask, lane| mask | 1 << lane)
    }

    fn takers(&self, inputs: &LockInputs) -> LaneMask {
        let mut held = self.held;
        let mut success = 0;
        for lane in lanes_of(self.in_window(inputs)) {
            let (word, bit) = place(inputs.addr[lane]);
            if held[word] >> bit & 1 == 0 {
                held[word] |= 1 << bit;
                success |= 1 << lane;
            }
        }
        success
    }

    /// The outputs of this cycle.
    pub fn eval(&self, inputs: &LockInputs) -> LockOutputs {
        LockOutputs {
            success: self.success(inputs),
            error: inputs.valid && inputs.op > STUL,
            held: self.held,
        }
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &LockInputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        if !inputs.valid || ![LDLK, STUL].contains(&inputs.op) {
            return;
        }
        if inputs.op == LDLK && !self.owner.is_empty() {
            for lane in lanes_of(self.takers(inputs)) {
                let (word, bit) = place(inputs.addr[lane]);
                self.owner[word * 64 + bit as usize] = lane as u8;
            }
        }
        for lane in lanes_of(self.in_window(inputs)) {
            let (word, bit) = place(inputs.addr[lane]);
            match inputs.op {
                LDLK => self.held[word] |= 1 << bit,
                _ => self.held[word] &= !(1 << bit),
            }
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &LockInputs) -> LockOutputs {
        let outputs = self.eval(inputs);
        self.commit(inputs);
        outputs
    }

    fn in_window(&self, inputs: &LockInputs) -> LaneMask {
        if self.windows == 1 {
            return inputs.req;
        }
        let window = (1 << self.lanes_per_window) - 1;
        inputs.req & window << (inputs.window * self.lanes_per_window)
    }
}

/// Word and bit of a lock.
fn place(lock: u16) -> (usize, u32) {
    let lock = usize::from(lock) % MAX_LOCKS;
    (lock / 64, (lock % 64) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(op: u8, window: u32, req: LaneMask, addr: &[u16]) -> LockInputs<'_> {
        LockInputs {
            rst: false,
            valid: true,
            window,
            op,
            req,
            addr,
        }
    }

    #[test]
    fn the_lowest_lane_of_each_free_lock_wins_and_held_locks_have_no_winner() {
        let mut unit = LockUnit::new(8, 1);
        let addr = [5, 5, 9, 9, 5, 1023, 0, 0];
        let out = unit.step(&inputs(LDLK, 0, 0b1011_1110, &addr));
        assert_eq!(out.success, 0b1010_0110);
        let again = unit.step(&inputs(LDLK, 0, 0xff, &addr));
        assert_eq!(again.success, 0);
        assert_eq!(
            (again.held[0], again.held[15]),
            (1 << 5 | 1 << 9 | 1, 1 << 63)
        );
        unit.step(&inputs(STUL, 0, 0b0000_0110, &addr));
        assert_eq!(unit.held()[0], 1);
        assert!(unit.eval(&inputs(5, 0, 0xff, &addr)).error);
    }

    #[test]
    fn an_unlock_tells_whether_its_lane_owns_the_lock() {
        let addr = [5, 5, 9, 9, 7, 1023, 0, 0];
        let mut unit = LockUnit::new(8, 2).with_owners(true);
        assert_eq!(
            unit.step(&inputs(LDLK, 0, 0b0000_1110, &addr)).success,
            0b0110
        );
        assert_eq!(
            unit.step(&inputs(LDLK, 1, 0b0010_0000, &addr)).success,
            1 << 5
        );
        // Lane 0 frees the lock of lane 1, so that lane 1 has none any more.
        assert_eq!(
            unit.step(&inputs(STUL, 0, 0b0000_0101, &addr)).success,
            0b0100
        );
        assert_eq!(unit.step(&inputs(STUL, 0, 0b0000_0110, &addr)).success, 0);
        assert_eq!(
            unit.step(&inputs(STUL, 1, 0b0011_0000, &addr)).success,
            1 << 5
        );
        assert_eq!(unit.held(), LockUnit::new(8, 2).held());
        let mut plain = LockUnit::new(8, 2);
        plain.step(&inputs(LDLK, 0, 1, &addr));
        assert_eq!(plain.step(&inputs(STUL, 0, 1, &addr)).success, 0);
    }

    #[test]
    fn windows_take_turns_and_the_winners_are_the_same() {
        let addr = [3, 4, 5, 6, 6, 4, 7, 7];
        let mut one = LockUnit::new(8, 1);
        let mut two = LockUnit::new(8, 2);
        let all = one.step(&inputs(LDLK, 0, 0xff, &addr)).success;
        let low = two.step(&inputs(LDLK, 0, 0xff, &addr)).success;
        let high = two.step(&inputs(LDLK, 1, 0xff, &addr)).success;
        assert_eq!((low, high), (0b1111, 0b0100_0000));
        assert_eq!((low | high, two.held()), (all, one.held()));
    }
}
