//! `spad_hash_stage`: the hash of the lanes, and HX where H = 1
//! (microarchitecture/hash-units.md and microarchitecture/pipelines.md).

use super::kind;
use super::lane_hash::{LaneHash, RegisterWrite};
use super::lanes::LaneMask;
use super::pass::{Pass, PassData};
use crate::config::Config;
use spadkit_base::error::Result;
use spadkit_mapping::hash::HashSpec;

/// Operands of the pass that is in EX in this cycle.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    /// Active lanes.
    pub mask: LaneMask,
    /// Physical word address of each lane.
    pub addr: &'a [u16],
    /// Store data or operand of each lane.
    pub data: &'a [u64],
    /// Byte enables of each lane.
    pub be: &'a [u8],
    /// Atomic operation.
    pub aop: u8,
}

/// No lane is active; room for every number of lanes.
pub const NO_OPERANDS: Operands<'static> = Operands {
    mask: 0,
    addr: &[0; 64],
    data: &[0; 64],
    be: &[0; 64],
    aop: 0,
};

/// Inputs of one clock cycle. The operands of `input` are put into its slot
/// with [`HashStage::fill`], in the cycle in which it is taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct HashStageInputs {
    /// Synchronous reset.
    pub rst: bool,
    /// Write to the hash's configuration registers, where HASH has them.
    pub hash_wr: Option<RegisterWrite>,
    /// Write to the row map's, where HASH has one.
    pub row_wr: Option<RegisterWrite>,
    /// The pass in EX, if it goes to the memory.
    pub input: Option<Pass>,
    /// The output is taken.
    pub out_ready: bool,
}

/// Outputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HashStageOutputs {
    /// The pass is taken; comb(out_ready).
    pub in_ready: bool,
    /// The pass in HX; with H = 0 comb(input).
    pub output: Option<Pass>,
    /// HX is occupied; registered.
    pub hx_valid: bool,
}

/// The stage.
#[derive(Clone, Debug)]
pub struct HashStage {
    lanes: LaneHash,
    lane_count: usize,
    /// H = 1.
    registered: bool,
    hx: Option<Pass>,
}

impl HashStage {
    /// The stage of `config`, after reset.
    pub fn new(config: &Config) -> Self {
        HashStage {
            lanes: LaneHash::new(config),
            lane_count: config.lanes as usize,
            registered: config.path.hash_stage == 1,
            hx: None,
        }
    }

    /// Sets the hash as if a host had written the registers, whatever unit the
    /// stage has. A reset or a register write undoes it.
    pub fn load(&mut self, spec: &HashSpec) -> Result<()> {
        self.lanes.load(spec)
    }

    /// The hash of the lanes.
    pub fn lanes(&self) -> &LaneHash {
        &self.lanes
    }

    /// Puts the operands of a pass into its slot, hashed where `kind` accesses
    /// the scratchpad, with locks where it takes them. `lock_hash` as
    /// `cfg_lock_hash`. Bank and row are of all lanes, locks of active ones.
    pub fn fill(&self, kind: u8, op: &Operands, lock_hash: u8, data: &mut PassData) {
        let n = self.lane_count;
        data.set_data(op.mask, op.data, n);
        if !kind::is_shared(kind) {
            return;
        }
        data.aop = op.aop;
        data.be[..n].copy_from_slice(&op.be[..n]);
        let places = (&mut data.bank[..n], &mut data.row[..n]);
        self.lanes.places(&op.addr[..n], places.0, places.1);
        if kind::locks(kind) {
            self.lanes
                .locks(op.mask, lock_hash, op.addr, &mut data.lock);
        }
    }

    /// The pass in HX; with H = 0 `input`.
    pub fn output(&self, input: Option<Pass>) -> Option<Pass> {
        if self.registered { self.hx } else { input }
    }

    /// Whether a pass is taken in this cycle.
    pub fn in_ready(&self, out_ready: bool) -> bool {
        out_ready || (self.registered && self.hx.is_none())
    }

    /// HX is occupied.
    pub fn hx_valid(&self) -> bool {
        self.hx.is_some()
    }

    /// The outputs of this cycle.
    pub fn eval(&self, inputs: &HashStageInputs) -> HashStageOutputs {
        HashStageOutputs {
            in_ready: self.in_ready(inputs.out_ready),
            output: self.output(inputs.input),
            hx_valid: self.hx.is_some(),
        }
    }

    /// The clock edge.
    #[inline(always)]
    pub fn commit(&mut self, inputs: &HashStageInputs) {
        if inputs.rst {
            self.hx = None;
            self.lanes.reset();
            return;
        }
        if self.registered && self.in_ready(inputs.out_ready) {
            self.hx = inputs.input;
        }
        self.lanes.commit(inputs.hash_wr, inputs.row_wr);
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &HashStageInputs) -> HashStageOutputs {
        let outputs = self.eval(inputs);
        self.commit(inputs);
        outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::pass::PassControl;

    fn stage(hash_stage: u32) -> HashStage {
        let mut config = Config::preset("fermi").unwrap();
        config.path.hash_stage = hash_stage;
        HashStage::new(&config)
    }

    fn cycle(stage: &mut HashStage, slot: Option<u8>, out_ready: bool) -> (bool, Option<u8>) {
        let input = slot.map(|slot| Pass {
            control: PassControl::default(),
            slot,
        });
        let out = stage.step(&HashStageInputs {
            input,
            out_ready,
            ..HashStageInputs::default()
        });
        (out.in_ready, out.output.map(|pass| pass.slot))
    }

    #[test]
    fn hx_takes_as_it_gives_and_without_it_there_is_a_wire() {
        let mut stage = stage(1);
        assert_eq!(cycle(&mut stage, Some(1), false), (true, None));
        assert_eq!(cycle(&mut stage, Some(2), false), (false, Some(1)));
        assert_eq!(cycle(&mut stage, Some(2), true), (true, Some(1)));
        assert_eq!(cycle(&mut stage, None, true), (true, Some(2)));
        assert_eq!(cycle(&mut stage, None, false), (true, None));
        let mut wire = self::stage(0);
        for ready in [false, true] {
            assert_eq!(cycle(&mut wire, Some(3), ready), (ready, Some(3)));
        }
    }

    /// Data of inactive lanes is zero. Bank and row are computed only for kinds that
    /// access shared memory.
    #[test]
    fn operands_are_hashed_for_the_kinds_that_need_it() {
        let mut stage = stage(0);
        stage.load(&"mod".parse().unwrap()).unwrap();
        let addr: Vec<u16> = (0..64).map(|lane| 33 * lane).collect();
        let op = Operands {
            mask: 0b10,
            addr: &addr,
            data: &[7; 64],
            be: &[1; 64],
            aop: 2,
        };
        let mut data = PassData::EMPTY;
        stage.fill(kind::ALU, &op, 0, &mut data);
        assert_eq!((data.mask, data.data[0], data.data[1]), (0b10, 0, 7));
        assert_eq!((data.row[1], data.bank[1]), (0, 0));
        stage.fill(kind::ATOMIC, &op, 0, &mut data);
        assert_eq!((data.row[1], data.bank[1], data.lock[1]), (1, 1, 33));
        assert_eq!((data.aop, data.be[1], data.lock[2]), (2, 1, 0));
    }
}
