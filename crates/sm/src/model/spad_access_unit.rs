//! `spad_access_unit`: who may touch the shared part of the scratchpad now
//! (sharing paper, sections 3 and 7.1, Fig. 3;
//! microarchitecture/access-unit.md). The blocks of slots 2p and 2p+1 are
//! partners.

use super::lanes::{WarpMask, even_bits};
use super::spad_warp_scheduler::WarpClasses;

/// A bit per thread-block slot.
pub type BlockMask = u64;

/// A block launch, as the access unit sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharingLaunch {
    /// The slot.
    pub block: usize,
    /// The block shares its scratchpad with its partner.
    pub shared: bool,
}

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug)]
pub struct AccessInputs<'a> {
    /// Synchronous reset.
    pub rst: bool,
    /// ShSM: sharing is on.
    pub cfg_sharing: bool,
    /// First block-relative word of the shared part.
    pub cfg_limit: u16,
    /// A block starts.
    pub launch: Option<SharingLaunch>,
    /// Every active thread of the block has released; this cycle's events included.
    pub rel_done: BlockMask,
    /// The block has an active thread.
    pub live: BlockMask,
    /// Block slot of each warp.
    pub warp_blk: &'a [u8],
    /// Warps that offer an instruction of a shared kind.
    pub off_shmem: WarpMask,
    /// Highest block-relative word address of the offer, per warp.
    pub off_hi: &'a [u16],
    /// The warp whose instruction is issued in this cycle.
    pub acquire: Option<usize>,
}

/// Outputs of one clock cycle; comb.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessOutputs {
    /// Warps that may be issued.
    pub allow: WarpMask,
    /// Refused: the partner holds the shared part.
    pub wait_sh: WarpMask,
    /// Refused permanently: the block has already released.
    pub viol: WarpMask,
    /// Scheduling class of each warp.
    pub cls: WarpClasses,
    /// Effective lock of each pair.
    pub locked: u32,
    /// Effective owner of each pair: 0 = the even slot.
    pub owner: u32,
}

/// The access unit.
#[derive(Clone, Debug)]
pub struct AccessUnit {
    /// Slots that run in sharing mode.
    shared: BlockMask,
    /// Locked pairs.
    lock: u32,
    /// Owner of each pair.
    own: u32,
    warps: usize,
}

/// Lock and owner of every pair after the releases of this cycle.
#[derive(Clone, Copy)]
struct Effective {
    lock: u32,
    own: u32,
}

impl AccessUnit {
    /// The unit for `warps` warp slots, after reset.
    pub fn new(warps: usize) -> Self {
        AccessUnit {
            shared: 0,
            lock: 0,
            own: 0,
            warps,
        }
    }

    /// The owner keeps the role while it may need it; else it goes, with the
    /// lock, to a partner that may; else the lock is free.
    fn effective(&self, live: BlockMask, rel_done: BlockMask) -> Effective {
        let may_need = live & !rel_done;
        let even = even_bits(may_need);
        let odd = even_bits(may_need >> 1);
        let keeps = (self.own & odd) | (!self.own & even);
        let partner = (self.own & even) | (!self.own & odd);
        let passes = !keeps & partner;
        Effective {
            lock: self.lock & (keeps | passes),
            own: self.own ^ passes,
        }
    }

    /// The warp's block, and whether its instruction needs the shared part.
    fn need(&self, inputs: &AccessInputs, warp: usize) -> (usize, bool) {
        let block = usize::from(inputs.warp_blk[warp]);
        let need = inputs.off_shmem >> warp & 1 == 1
            && inputs.cfg_sharing
            && self.shared >> block & 1 == 1
            && inputs.off_hi[warp] >= inputs.cfg_limit;
        (block, need)
    }

    /// Some block shares: what the warps offer counts.
    pub(crate) fn shares(&self, cfg_sharing: bool) -> bool {
        cfg_sharing && self.shared != 0
    }

    /// The outputs of this cycle.
    #[inline(always)]
    pub fn eval(&self, inputs: &AccessInputs) -> AccessOutputs {
        let e = self.effective(inputs.live, inputs.rel_done);
        let all = WarpMask::MAX >> (WarpMask::BITS as usize - self.warps);
        let mut out = AccessOutputs {
            allow: all,
            cls: WarpClasses { low: all, high: 0 },
            locked: e.lock,
            owner: e.own,
            ..AccessOutputs::default()
        };
        if !self.shares(inputs.cfg_sharing) {
            return out;
        }
        for warp in 0..self.warps {
            let (block, need) = self.need(inputs, warp);
            let bit = 1 << warp;
            let pair = block / 2;
            let mine = (e.own >> pair & 1) as usize == block % 2;
            if self.shared >> block & 1 == 1 {
                out.cls.low &= !bit;
                out.cls.high |= if mine { 0 } else { bit };
            }
            if !need {
                continue;
            }
            if inputs.rel_done >> block & 1 == 1 {
                out.viol |= bit;
            } else if e.lock >> pair & 1 == 1 && !mine {
                out.wait_sh |= bit;
            }
        }
        out.allow = all & !out.viol & !out.wait_sh;
        out
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &AccessInputs) {
        if inputs.rst {
            *self = AccessUnit::new(self.warps);
            return;
        }
        let e = self.effective(inputs.live, inputs.rel_done);
        (self.lock, self.own) = (e.lock, e.own);
        if let Some(warp) = inputs.acquire {
            let (block, need) = self.need(inputs, warp);
            if need && self.allows(e, block, inputs.rel_done) {
                self.lock |= 1 << (block / 2);
                self.give_role(block);
            }
        }
        if let Some(launch) = inputs.launch {
            let bit = 1 << launch.block;
            if launch.shared {
                self.shared |= bit
            } else {
                self.shared &= !bit
            }
            if inputs.live >> (launch.block ^ 1) & 1 == 0 {
                self.lock &= !(1 << (launch.block / 2));
                self.give_role(launch.block);
            }
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &AccessInputs) -> AccessOutputs {
        let outputs = self.eval(inputs);
        self.commit(inputs);
        outputs
    }

    /// Whether an access of `block` that needs the shared part is allowed.
    fn allows(&self, e: Effective, block: usize, rel_done: BlockMask) -> bool {
        let mine = (e.own >> (block / 2) & 1) as usize == block % 2;
        let waits = e.lock >> (block / 2) & 1 == 1 && !mine;
        rel_done >> block & 1 == 0 && !waits
    }

    fn give_role(&mut self, block: usize) {
        self.own = (self.own & !(1 << (block / 2))) | ((block as u32 % 2) << (block / 2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Warps 0 and 1 are the blocks of pair 0, warp 2 is slot 2.
    const BLOCKS: [u8; 3] = [0, 1, 2];
    const LIMIT: u16 = 100;

    fn inputs(off_hi: &[u16], live: BlockMask, rel_done: BlockMask) -> AccessInputs<'_> {
        AccessInputs {
            rst: false,
            cfg_sharing: true,
            cfg_limit: LIMIT,
            launch: None,
            rel_done,
            live,
            warp_blk: &BLOCKS,
            off_shmem: 0b111,
            off_hi,
            acquire: None,
        }
    }

    fn launched() -> AccessUnit {
        let mut unit = AccessUnit::new(3);
        for (block, live) in [(0, 0), (1, 0b001), (2, 0b011)] {
            let launch = SharingLaunch {
                block,
                shared: block < 2,
            };
            unit.step(&AccessInputs {
                launch: Some(launch),
                ..inputs(&[0; 3], live, !live)
            });
        }
        unit
    }

    #[test]
    fn the_first_access_takes_lock_and_role() {
        let mut unit = launched();
        let hi = [LIMIT, LIMIT, LIMIT];
        let all = inputs(&hi, 0b111, 0);
        let out = unit.eval(&all);
        assert_eq!((out.allow, out.locked, out.owner), (0b111, 0, 0));
        assert_eq!([0, 1, 2].map(|w| out.cls.of(w)), [0, 2, 1]);
        unit.step(&AccessInputs {
            acquire: Some(1),
            ..all
        });
        let out = unit.eval(&all);
        assert_eq!((out.wait_sh, out.locked, out.owner), (0b001, 1, 1));
        assert_eq!([0, 1, 2].map(|w| out.cls.of(w)), [2, 0, 1]);
        // Below the limit everybody may.
        assert_eq!(unit.eval(&inputs(&[99; 3], 0b111, 0)).allow, 0b111);
    }

    #[test]
    fn a_release_passes_lock_and_role_in_its_cycle() {
        let mut unit = launched();
        let hi = [LIMIT; 3];
        unit.step(&AccessInputs {
            acquire: Some(0),
            ..inputs(&hi, 0b111, 0)
        });
        let release = AccessInputs {
            acquire: Some(1),
            ..inputs(&hi, 0b111, 0b001)
        };
        let out = unit.step(&release);
        assert_eq!((out.viol, out.allow), (0b001, 0b110));
        assert_eq!((out.locked, out.owner), (1, 1));
        // Both have released: free, and a block that released stays out.
        let out = unit.step(&inputs(&hi, 0b111, 0b011));
        assert_eq!((out.viol, out.locked, out.owner), (0b011, 0, 1));
    }

    #[test]
    fn a_relaunched_slot_is_the_non_owner_while_the_partner_lives() {
        let mut unit = launched();
        let hi = [LIMIT; 3];
        let relaunch = SharingLaunch {
            block: 0,
            shared: true,
        };
        unit.step(&AccessInputs {
            launch: Some(relaunch),
            ..inputs(&hi, 0b110, 0b001)
        });
        let out = unit.eval(&inputs(&hi, 0b111, 0));
        assert_eq!((out.owner, out.cls.of(0), out.cls.of(1)), (1, 2, 0));
        // Without a partner it is the owner, with a free lock.
        unit.step(&AccessInputs {
            launch: Some(relaunch),
            ..inputs(&hi, 0b100, 0b011)
        });
        let out = unit.eval(&inputs(&hi, 0b101, 0b010));
        assert_eq!((out.owner, out.locked), (0, 0));
    }
}
