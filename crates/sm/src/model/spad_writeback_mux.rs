//! `spad_writeback_mux`: one result a cycle to the writeback port (elastic
//! paper, section 4.2; microarchitecture/writeback-mux.md).

use spadkit_hdl::codes::source;

/// The source of a result, by priority; the code of `wb_src`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Data from off-chip.
    #[default]
    Icn = source::ICN as isize,
    /// The last memory stage.
    Mem = source::MEM as isize,
    /// The NONMEM queue.
    Nonmem = source::NONMEM as isize,
}

/// Inputs of one clock cycle. `P` is the payload.
#[derive(Clone, Copy, Debug)]
pub struct WritebackInputs<P> {
    /// Synchronous reset.
    pub rst: bool,
    /// Data from off-chip.
    pub icn: Option<P>,
    /// Result of the last memory stage.
    pub mem: Option<P>,
    /// Result of the NONMEM queue.
    pub nm: Option<P>,
    /// The writeback port takes its result.
    pub wb_ready: bool,
}

/// Outputs of one clock cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritebackOutputs<P> {
    /// Registered.
    pub icn_ready: bool,
    /// Registered if AHEAD > 0; else comb(icn valid).
    pub mem_ready: bool,
    /// comb(mem valid) if AHEAD > 0; else comb(icn and mem valid).
    pub nm_ready: bool,
    /// The writeback port; registered.
    pub wb: Option<(Source, P)>,
}

/// The mux and its buffer of two: no ready depends on `wb_ready`.
#[derive(Clone, Debug)]
pub struct WritebackMux<P> {
    /// The writeback port's.
    first: Option<(Source, P)>,
    /// Waits for it; only where there is a first one.
    second: Option<(Source, P)>,
    /// If AHEAD > 0: off-chip data has the turn in this cycle.
    turn: Option<bool>,
}

impl<P: Copy> WritebackMux<P> {
    /// The mux of a path with `ahead` stages before EX, after reset.
    pub fn new(ahead: u32) -> Self {
        WritebackMux {
            first: None,
            second: None,
            turn: (ahead > 0).then_some(false),
        }
    }

    /// The writeback port.
    pub fn wb(&self) -> Option<(Source, P)> {
        self.first
    }

    /// The buffer takes a result in this cycle.
    pub fn free(&self) -> bool {
        self.second.is_none()
    }

    /// Data from off-chip is taken if it is offered.
    pub fn icn_ready(&self) -> bool {
        self.free() && self.turn.unwrap_or(true)
    }

    /// A result of the memory stages is taken if it is offered.
    pub fn mem_ready(&self, icn_valid: bool) -> bool {
        self.free() && !self.turn.unwrap_or(icn_valid)
    }

    /// The outputs of this cycle.
    pub fn eval(&self, inputs: &WritebackInputs<P>) -> WritebackOutputs<P> {
        let mem_ready = self.mem_ready(inputs.icn.is_some());
        WritebackOutputs {
            icn_ready: self.icn_ready(),
            mem_ready,
            nm_ready: mem_ready && inputs.mem.is_none(),
            wb: self.first,
        }
    }

    /// The clock edge.
    #[inline(always)]
    pub fn commit(&mut self, inputs: &WritebackInputs<P>) {
        if inputs.rst {
            (self.first, self.second) = (None, None);
            self.turn = self.turn.map(|_| false);
            return;
        }
        let winner = self.winner(inputs);
        if self.free() {
            self.turn = self.turn.map(|turn| inputs.icn.is_some() && !turn);
        }
        if self.first.is_none() || inputs.wb_ready {
            // Mostly nothing waits.
            self.first = match self.second {
                None => winner,
                Some(_) => self.second.take(),
            };
        } else if self.second.is_none() {
            self.second = winner;
        }
    }

    /// The result that is taken in this cycle.
    #[inline(always)]
    fn winner(&self, inputs: &WritebackInputs<P>) -> Option<(Source, P)> {
        if let Some(icn) = inputs.icn.filter(|_| self.icn_ready()) {
            return Some((Source::Icn, icn));
        }
        if !self.mem_ready(inputs.icn.is_some()) {
            return None;
        }
        let mem = inputs.mem.map(|result| (Source::Mem, result));
        mem.or(inputs.nm.map(|result| (Source::Nonmem, result)))
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &WritebackInputs<P>) -> WritebackOutputs<P> {
        let outputs = self.eval(inputs);
        self.commit(inputs);
        outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: WritebackInputs<u32> = WritebackInputs {
        rst: false,
        icn: Some(1),
        mem: Some(2),
        nm: Some(3),
        wb_ready: true,
    };

    fn ready(out: &WritebackOutputs<u32>) -> (bool, bool, bool) {
        (out.icn_ready, out.mem_ready, out.nm_ready)
    }

    #[test]
    fn off_chip_data_before_memory_before_the_rest() {
        let mut mux = WritebackMux::new(0);
        let mut inputs = ALL;
        assert_eq!(ready(&mux.step(&inputs)), (true, false, false));
        inputs.icn = None;
        let out = mux.step(&inputs);
        assert_eq!(ready(&out), (true, true, false));
        assert_eq!(out.wb, Some((Source::Icn, 1)));
        inputs.mem = None;
        let out = mux.step(&inputs);
        assert_eq!(ready(&out), (true, true, true));
        assert_eq!(out.wb, Some((Source::Mem, 2)));
        assert_eq!(mux.wb(), Some((Source::Nonmem, 3)));
    }

    /// The buffer takes a second result while the port waits, then none.
    #[test]
    fn a_port_that_waits_holds_two_results() {
        let mut mux = WritebackMux::new(0);
        let mut inputs = WritebackInputs {
            wb_ready: false,
            ..ALL
        };
        for result in [1, 2, 3, 4] {
            inputs.icn = Some(result);
            let taken = mux.step(&inputs).icn_ready;
            assert_eq!(taken, result <= 2, "{result}");
            assert_eq!(mux.wb(), Some((Source::Icn, 1)));
        }
        inputs.wb_ready = true;
        assert!(!mux.step(&inputs).icn_ready, "free does not see wb_ready");
        assert_eq!(mux.wb(), Some((Source::Icn, 2)));
        assert!(mux.step(&inputs).icn_ready);
        assert_eq!(mux.wb(), Some((Source::Icn, 4)));
    }

    #[test]
    fn with_ahead_off_chip_data_have_every_second_cycle() {
        let mut mux = WritebackMux::new(3);
        let taken: Vec<_> = (0..5).map(|_| ready(&mux.step(&ALL))).collect();
        let (memory, far) = ((false, true, false), (true, false, false));
        assert_eq!(taken, [memory, far, memory, far, memory]);
        let mut alone = ALL;
        (alone.icn, alone.mem) = (None, None);
        assert_eq!(ready(&mux.step(&alone)), (true, false, false), "lost");
        assert_eq!(ready(&mux.step(&alone)), (false, true, true));
    }

    /// A port that takes every second result would else always be free in the
    /// same side's turn.
    #[test]
    fn with_ahead_a_turn_stays_while_there_is_no_room() {
        let mut mux = WritebackMux::new(3);
        let mut taken = [0; 2];
        for cycle in 0..40 {
            let inputs = WritebackInputs {
                wb_ready: cycle % 2 == 1,
                ..ALL
            };
            let out = mux.step(&inputs);
            taken[0] += usize::from(out.icn_ready);
            taken[1] += usize::from(out.mem_ready);
        }
        assert!(taken[0].abs_diff(taken[1]) <= 1, "{taken:?}");
        assert!(taken[0] >= 9, "{taken:?}");
    }
}
