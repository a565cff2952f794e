//! Operations on `mbarrier` objects, as the instructions of a trace have them.

use spadkit_ptx::exec::BarrierOp;

/// An instruction's operation on an `mbarrier` object, once for each of its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierOp {
    /// Initialises it.
    Init {
        /// Arrivals that complete a phase.
        arrivals: u32,
    },
    /// Invalidates it.
    Invalidate,
    /// Expects more bytes.
    Expect {
        /// Number of bytes.
        bytes: u32,
    },
    /// Bytes have come.
    Complete {
        /// Number of bytes.
        bytes: u32,
    },
    /// Arrives.
    Arrive {
        /// Number of arrivals.
        arrivals: u32,
    },
    /// Arrives once, and expects more bytes first.
    ArriveExpect {
        /// Number of bytes.
        bytes: u32,
    },
    /// Arrives, for this phase and all later ones.
    Drop {
        /// Number of arrivals.
        arrivals: u32,
    },
    /// As `Drop`, once, and expects more bytes first.
    DropExpect {
        /// Number of bytes.
        bytes: u32,
    },
    /// Arrives when the `cp.async` copies so far have come.
    CopiesArrive {
        /// Registers of the loads that stand for the copies; 255 for none.
        registers: [u8; 4],
    },
    /// Arrives as `CopiesArrive`, with one arrival more than the object was
    /// initialised for.
    CopiesJoin {
        /// Registers of the loads that stand for the copies; 255 for none.
        registers: [u8; 4],
    },
    /// Waits until a phase is complete.
    Wait {
        /// Number of the phase, counted from 0.
        phase: u32,
    },
    /// Bytes of an `st.async` come after the latency of an access to another block.
    Sent {
        /// Number of bytes.
        bytes: u32,
    },
}

impl MbarrierOp {
    /// An operation of the executor with its number.
    pub fn new(op: BarrierOp, number: u32) -> Self {
        let (arrivals, bytes) = (number, number);
        let registers = number.to_le_bytes();
        match op {
            BarrierOp::Init => MbarrierOp::Init { arrivals },
            BarrierOp::Invalidate => MbarrierOp::Invalidate,
            BarrierOp::Expect => MbarrierOp::Expect { bytes },
            BarrierOp::Complete => MbarrierOp::Complete { bytes },
            BarrierOp::Arrive => MbarrierOp::Arrive { arrivals },
            BarrierOp::ArriveExpect => MbarrierOp::ArriveExpect { bytes },
            BarrierOp::Drop => MbarrierOp::Drop { arrivals },
            BarrierOp::DropExpect => MbarrierOp::DropExpect { bytes },
            BarrierOp::CopiesArrive => MbarrierOp::CopiesArrive { registers },
            BarrierOp::CopiesJoin => MbarrierOp::CopiesJoin { registers },
            BarrierOp::Wait => MbarrierOp::Wait { phase: number },
            BarrierOp::Sent => MbarrierOp::Sent { bytes },
        }
    }

    /// The operation and its number, as recorded traces have them.
    pub(super) fn parts(self) -> (BarrierOp, u32) {
        match self {
            MbarrierOp::Init { arrivals } => (BarrierOp::Init, arrivals),
            // The number of what has none is 1.
            MbarrierOp::Invalidate => (BarrierOp::Invalidate, 1),
            MbarrierOp::Expect { bytes } => (BarrierOp::Expect, bytes),
            MbarrierOp::Complete { bytes } => (BarrierOp::Complete, bytes),
            MbarrierOp::Arrive { arrivals } => (BarrierOp::Arrive, arrivals),
            MbarrierOp::ArriveExpect { bytes } => (BarrierOp::ArriveExpect, bytes),
            MbarrierOp::Drop { arrivals } => (BarrierOp::Drop, arrivals),
            MbarrierOp::DropExpect { bytes } => (BarrierOp::DropExpect, bytes),
            MbarrierOp::CopiesArrive { registers } => {
                (BarrierOp::CopiesArrive, u32::from_le_bytes(registers))
            }
            MbarrierOp::CopiesJoin { registers } => {
                (BarrierOp::CopiesJoin, u32::from_le_bytes(registers))
            }
            MbarrierOp::Wait { phase } => (BarrierOp::Wait, phase),
            MbarrierOp::Sent { bytes } => (BarrierOp::Sent, bytes),
        }
    }
}
