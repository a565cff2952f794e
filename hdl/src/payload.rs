//! The fields that travel along the scratchpad path, by name.

use crate::bundle::bundle;

bundle! {
    /// The control of a pass.
    Control(s) { warp: s.WW, kind: 4, tag: s.TG, pc: s.PCW, pass: s.PW, last: 1 }
}

bundle! {
    /// The request of the lanes of an access.
    Lanes(s) {
        mask: s.L,
        bank: s.L * s.m,
        row: s.L * s.R,
        lock: s.L * s.LK,
        data: s.L * s.D,
    }
}

bundle! {
    /// The tag of a request: the sequencer waits for the answer; what an atomic
    /// reports; the control of the pass.
    Tag(s) { own: 1, error: 1, degree: s.DG, ctl: s.CTL }
}

bundle! {
    /// A response of the scratchpad, after its operation.
    Response(s) {
        mask: s.L,
        tag: s.TGW,
        data: s.L * s.D,
        success: s.L,
        error: 1,
        degree: s.DG,
    }
}

bundle! {
    /// A pass that goes past the memory stages.
    Passing(s) {
        warp: s.WW,
        tag: s.TG,
        kind: 4,
        pass: s.PW,
        last: 1,
        mask: s.L,
        data: s.L * s.D,
    }
}

bundle! {
    /// A result for the writeback port.
    Outcome(s) {
        warp: s.WW,
        tag: s.TG,
        kind: 4,
        pass: s.PW,
        last: 1,
        mask: s.L,
        data: s.L * s.D,
        success: s.L,
        error: 1,
        degree: s.DG,
    }
}
