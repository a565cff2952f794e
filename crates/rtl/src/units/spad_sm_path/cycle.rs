//! The inputs of one cycle of `spad_sm_path`, owned.

use crate::model::{
    Exit, IcnData, NO_OPERANDS, Offers, Operands, PathConfig, PathLaunch, RegisterWrite,
    SmPathInputs,
};

/// The operands of the pass in EX; empty vectors if there is none.
#[derive(Clone, Default)]
pub(super) struct PassOperands {
    pub mask: u64,
    pub addr: Vec<u16>,
    pub data: Vec<u64>,
    pub be: Vec<u8>,
    pub aop: u8,
}

/// Data from off-chip.
#[derive(Clone)]
pub(super) struct Arrival {
    pub warp: usize,
    pub tag: u8,
    pub pass: u16,
    pub last: bool,
    pub mask: u64,
    pub data: Vec<u64>,
}

/// The inputs of the path in one cycle.
#[derive(Clone)]
pub(super) struct PathCycle {
    pub rst: bool,
    pub kernel_clear: bool,
    pub cfg: PathConfig,
    pub hash_wr: Option<RegisterWrite>,
    pub row_wr: Option<RegisterWrite>,
    pub launch: Option<PathLaunch>,
    pub exit: Option<Exit>,
    pub offers: Offers,
    pub op: PassOperands,
    pub icn: Option<Arrival>,
    pub wb_ready: bool,
}

impl PathCycle {
    /// Nothing is offered, and results are taken.
    pub(super) fn idle(warps: usize, cfg: PathConfig) -> Self {
        PathCycle {
            rst: false,
            kernel_clear: false,
            cfg,
            hash_wr: None,
            row_wr: None,
            launch: None,
            exit: None,
            offers: Offers::none(warps),
            op: PassOperands::default(),
            icn: None,
            wb_ready: true,
        }
    }

    /// The inputs in the form of the model.
    pub(super) fn inputs(&self) -> SmPathInputs<'_> {
        let op = match self.op.addr.len() {
            0 => NO_OPERANDS,
            _ => Operands {
                mask: self.op.mask,
                addr: &self.op.addr,
                data: &self.op.data,
                be: &self.op.be,
                aop: self.op.aop,
            },
        };
        SmPathInputs {
            rst: self.rst,
            kernel_clear: self.kernel_clear,
            cfg: self.cfg,
            hash_wr: self.hash_wr,
            row_wr: self.row_wr,
            launch: self.launch,
            exit: self.exit,
            offers: &self.offers,
            op,
            icn: self.icn.as_ref().map(|d| IcnData {
                warp: d.warp,
                tag: d.tag,
                pass: d.pass,
                last: d.last,
                mask: d.mask,
                data: &d.data,
            }),
            wb_ready: self.wb_ready,
            age: &[],
            active: 0,
        }
    }
}
