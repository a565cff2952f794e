//! `spad_counters`: performance counters that observe the path (microarchitecture/counters.md).

use spadkit_hdl::codes::{counter, kind, seq, source, stall};

/// Counters.
const COUNTERS: usize = counter::FIELD.codes.len();

/// Inputs of one clock cycle: but for the first two and the last, what
/// `spad_sm_path` shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct CounterInputs {
    /// Synchronous reset.
    pub rst: bool,
    /// Clears all counters.
    pub clear: bool,
    /// A pass enters EX.
    pub iss_valid: bool,
    /// Why EX is held (code STALL).
    pub stall: u8,
    /// The mask holds a ready warp back.
    pub masked: bool,
    /// State of the retry sequencer (code SEQ).
    pub seq_state: u8,
    /// The result that the register file takes: source (code SOURCE), kind
    /// (code KIND) and conflict degree.
    pub written: Option<(u8, u8, u32)>,
    /// A counter (code COUNTER) that is set, and to what.
    pub write: Option<(u8, u32)>,
    /// The counter that is to be shown (code COUNTER).
    pub rd_index: u8,
}

/// The counters.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// The increments of the last cycle.
    added: [u32; COUNTERS],
    count: [u32; COUNTERS],
    /// The sequencer was in READ in the last cycle.
    was_read: bool,
    shown: u32,
}

impl Counters {
    /// The counter asked for in the cycle before, as it was then.
    pub fn eval(&self) -> u32 {
        self.shown
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &CounterInputs) {
        if inputs.rst {
            *self = Counters::default();
            return;
        }
        self.shown = self.value(inputs.rd_index);
        let added = self.events(inputs);
        self.was_read = inputs.seq_state == seq::READ;
        if inputs.clear {
            (self.added, self.count) = Default::default();
            return;
        }
        for (count, added) in self.count.iter_mut().zip(self.added) {
            *count = count.wrapping_add(added);
        }
        self.added = added;
        if let Some((index, value)) = inputs.write
            && let Some(count) = self.count.get_mut(usize::from(index))
        {
            *count = value;
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &CounterInputs) -> u32 {
        let shown = self.eval();
        self.commit(inputs);
        shown
    }

    /// The present value of a counter (code COUNTER); 0 if there is none.
    fn value(&self, index: u8) -> u32 {
        self.count.get(usize::from(index)).copied().unwrap_or(0)
    }

    /// The increments of a cycle.
    fn events(&self, inputs: &CounterInputs) -> [u32; COUNTERS] {
        let mut added = [0; COUNTERS];
        let mut add = |counter: u8, amount: u32| added[usize::from(counter)] = amount;
        add(counter::CYCLES, 1);
        add(counter::PASSES, inputs.iss_valid.into());
        add(counter::MASKED, inputs.masked.into());
        match inputs.stall {
            stall::BANK_CONFLICT => add(counter::STALL_BANK, 1),
            stall::WRITEBACK => add(counter::STALL_WRITEBACK, 1),
            stall::LOCK_RETRY => add(counter::STALL_RETRY, 1),
            _ => {}
        }
        let begins = inputs.seq_state == seq::READ && !self.was_read;
        add(counter::ROUNDS, begins.into());
        match inputs.written {
            Some((source::MEM, kind::LOAD..=kind::STUL, degree)) => {
                add(counter::ACCESSES, 1);
                add(counter::DEGREE, degree);
            }
            Some((source::MEM, kind::ATOMIC, _)) => add(counter::ATOMICS, 1),
            _ => {}
        }
        added
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counters after `inputs`, once everything has been counted.
    fn counted(inputs: &[CounterInputs]) -> impl Fn(u8) -> u32 + use<> {
        let mut counters = Counters::default();
        let quiet = CounterInputs::default();
        for cycle in inputs.iter().chain([&quiet]) {
            counters.step(cycle);
        }
        move |index| {
            let mut counters = counters.clone();
            let asked = CounterInputs {
                rd_index: index,
                ..quiet
            };
            counters.step(&asked);
            counters.eval()
        }
    }

    #[test]
    fn each_event_has_its_counter() {
        let cycle = CounterInputs::default();
        let access = |kind, degree| CounterInputs {
            written: Some((source::MEM, kind, degree)),
            ..cycle
        };
        let state = |seq_state, stall| CounterInputs {
            seq_state,
            stall,
            ..cycle
        };
        let of = counted(&[
            access(kind::LOAD, 3),
            access(kind::STUL, 1),
            access(kind::ATOMIC, 7),
            access(kind::ALU, 0),
            state(seq::READ, stall::LOCK_RETRY),
            state(seq::READ, stall::BANK_CONFLICT),
            state(seq::BRANCH, stall::WRITEBACK),
            state(seq::READ, stall::WRITEBACK),
        ]);
        assert_eq!(of(counter::CYCLES), 8);
        assert_eq!((of(counter::ACCESSES), of(counter::DEGREE)), (2, 4));
        assert_eq!((of(counter::ATOMICS), of(counter::ROUNDS)), (1, 2));
        let stalls = [
            counter::STALL_BANK,
            counter::STALL_WRITEBACK,
            counter::STALL_RETRY,
        ];
        assert_eq!(stalls.map(of), [1, 2, 1]);
    }

    #[test]
    fn a_write_sets_one_counter_and_wraps_on() {
        let write = CounterInputs {
            iss_valid: true,
            write: Some((counter::PASSES, u32::MAX)),
            ..CounterInputs::default()
        };
        let of = counted(&[write, write]);
        assert_eq!((of(counter::PASSES), of(counter::CYCLES)), (0, 2));
    }

    #[test]
    fn a_clear_forgets_what_is_on_its_way() {
        let issue = CounterInputs {
            iss_valid: true,
            ..CounterInputs::default()
        };
        let clear = CounterInputs {
            clear: true,
            ..issue
        };
        let of = counted(&[issue, issue, clear, issue]);
        assert_eq!(of(counter::PASSES), 1);
        assert_eq!(of(15), 0);
    }
}
