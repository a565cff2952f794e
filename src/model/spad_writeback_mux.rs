//! `spad_writeback_mux`: one result a cycle to the writeback port (elastic
//! paper, section 4.2; docs/microarchitecture.md, section 11).

use spadkit_hdl::codes::source;

/// Where a result comes from, by priority; the code of `wb_src`.
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
    /// comb(wb_ready).
    pub icn_ready: bool,
    /// comb(wb_ready, icn valid).
    pub mem_ready: bool,
    /// comb(wb_ready, icn and mem valid).
    pub nm_ready: bool,
    /// The writeback register.
    pub wb: Option<(Source, P)>,
}

/// The mux and its register.
#[derive(Clone, Debug)]
pub struct WritebackMux<P> {
    wb: Option<(Source, P)>,
}

impl<P: Copy> Default for WritebackMux<P> {
    fn default() -> Self {
        WritebackMux { wb: None }
    }
}

impl<P: Copy> WritebackMux<P> {
    /// The writeback register.
    pub fn wb(&self) -> Option<(Source, P)> {
        self.wb
    }

    /// The register takes a result in this cycle.
    pub fn free(&self, wb_ready: bool) -> bool {
        self.wb.is_none() || wb_ready
    }

    /// The outputs of this cycle.
    pub fn eval(&self, inputs: &WritebackInputs<P>) -> WritebackOutputs<P> {
        let free = self.free(inputs.wb_ready);
        WritebackOutputs {
            icn_ready: free,
            mem_ready: free && inputs.icn.is_none(),
            nm_ready: free && inputs.icn.is_none() && inputs.mem.is_none(),
            wb: self.wb,
        }
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &WritebackInputs<P>) {
        if inputs.rst {
            self.wb = None;
        } else if self.free(inputs.wb_ready) {
            let from = |source, result: Option<P>| result.map(|r| (source, r));
            self.wb = from(Source::Icn, inputs.icn)
                .or(from(Source::Mem, inputs.mem))
                .or(from(Source::Nonmem, inputs.nm));
        }
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

    #[test]
    fn off_chip_data_before_memory_before_the_rest() {
        let mut mux = WritebackMux::default();
        let mut inputs = WritebackInputs {
            rst: false,
            icn: Some(1),
            mem: Some(2),
            nm: Some(3),
            wb_ready: false,
        };
        let out = mux.step(&inputs);
        assert_eq!(
            (out.icn_ready, out.mem_ready, out.nm_ready),
            (true, false, false)
        );
        inputs.icn = None;
        let held = mux.step(&inputs);
        assert_eq!((held.mem_ready, held.wb), (false, Some((Source::Icn, 1))));
        inputs.wb_ready = true;
        assert_eq!(mux.step(&inputs).wb, Some((Source::Icn, 1)));
        inputs.mem = None;
        let next = mux.step(&inputs);
        assert_eq!((next.nm_ready, next.wb), (true, Some((Source::Mem, 2))));
        assert_eq!(mux.wb(), Some((Source::Nonmem, 3)));
    }
}
