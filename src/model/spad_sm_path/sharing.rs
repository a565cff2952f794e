//! Who has released, and who may touch the shared part: relssp, the release
//! register and the access unit (microarchitecture/access-unit.md and
//! microarchitecture/relssp.md).

use super::SmPathInputs;
use crate::config::Config;
use crate::model::spad_access_unit::{
    AccessInputs, AccessOutputs, AccessUnit, BlockMask, SharingLaunch,
};
use crate::model::spad_release_register::{ReleaseInputs, ReleaseRegister};
use crate::model::spad_relssp::{Release, Relssp, RelsspInputs, RelsspOutputs, ThreadLaunch};

/// The three units, and the block of each warp.
#[derive(Clone, Debug)]
pub(super) struct Sharing {
    relssp: Relssp,
    /// Where AHEAD > 0.
    register: Option<ReleaseRegister>,
    access: AccessUnit,
    warp_blk: Vec<u8>,
    /// (rel_done, live) at the start of the cycle, of relssp itself.
    registered: (BlockMask, BlockMask),
    /// What they say until the next event, where sharing is off or no block
    /// shares; and the `cfg_sharing` under which they do.
    calm: Option<(bool, SharingOutputs)>,
}

/// What they say in one cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharingOutputs {
    /// Of relssp.
    now: RelsspOutputs,
    /// What the access unit and the ports see of it.
    pub(super) shown: RelsspOutputs,
    pub(super) access: AccessOutputs,
}

impl Sharing {
    pub(super) fn new(config: &Config) -> Self {
        let path = &config.path;
        let warps = path.warps as usize;
        let relssp = Relssp::new(warps, path.blocks, config.warp_size, config.lanes);
        let warp_blk = vec![0; warps];
        Sharing {
            registered: relssp.registered(&warp_blk),
            relssp,
            register: (path.ahead > 0).then(|| ReleaseRegister::new(path.blocks)),
            access: AccessUnit::new(warps),
            warp_blk,
            calm: None,
        }
    }

    #[inline(always)]
    pub(super) fn eval(&self, inputs: &SmPathInputs, release: Option<Release>) -> SharingOutputs {
        if let Some(calm) = self.calm(inputs, release) {
            return *calm;
        }
        let events = release_inputs(inputs, release, &self.warp_blk);
        let now = self.relssp.eval_from(self.registered, &events);
        let shown = self.register.as_ref().map_or(now, ReleaseRegister::eval);
        let access = self
            .access
            .eval(&access_inputs(inputs, &shown, &self.warp_blk));
        SharingOutputs { now, shown, access }
    }

    /// The clock edge; `acquire` is the warp whose offer is taken.
    #[inline(always)]
    pub(super) fn commit(
        &mut self,
        inputs: &SmPathInputs,
        release: Option<Release>,
        out: &SharingOutputs,
        acquire: Option<usize>,
    ) {
        if self.calm(inputs, release).is_some() {
            return;
        }
        let &SmPathInputs { rst, launch, .. } = inputs;
        let access = AccessInputs {
            launch: launch.map(|launch| SharingLaunch {
                block: launch.block,
                shared: launch.shared,
            }),
            acquire,
            ..access_inputs(inputs, &out.shown, &self.warp_blk)
        };
        self.access.commit(&access);
        if let Some(register) = &mut self.register {
            register.commit(&ReleaseInputs {
                rst,
                launch: launch.map(|launch| launch.block),
                now: out.now,
            });
        }
        self.calm = None;
        if !has_event(inputs, release) {
            let sharing = inputs.cfg.sharing;
            let stays = self.rests(out) && !self.access.shares(sharing);
            self.calm = stays.then_some((sharing, *out));
            return;
        }
        self.relssp.commit(&RelsspInputs {
            launch: launch.map(|launch| ThreadLaunch {
                warps: launch.warps,
                last: launch.last,
            }),
            ..release_inputs(inputs, release, &self.warp_blk)
        });
        for (warp, block) in self.warp_blk.iter_mut().enumerate() {
            match launch {
                _ if rst => *block = 0,
                Some(launch) if launch.warps >> warp & 1 == 1 => *block = launch.block as u8,
                _ => {}
            }
        }
        self.registered = self.relssp.registered(&self.warp_blk);
    }

    /// What they say, if that is what they said in the cycle before.
    #[inline(always)]
    fn calm(&self, inputs: &SmPathInputs, release: Option<Release>) -> Option<&SharingOutputs> {
        let (sharing, outputs) = self.calm.as_ref()?;
        let stays = *sharing == inputs.cfg.sharing && !has_event(inputs, release);
        stays.then_some(outputs)
    }

    /// What is shown is what relssp says.
    pub(super) fn rests(&self, out: &SharingOutputs) -> bool {
        out.now == out.shown
    }
}

/// Something is launched, released or ends, or all is reset.
fn has_event(inputs: &SmPathInputs, release: Option<Release>) -> bool {
    inputs.rst || inputs.launch.is_some() || inputs.exit.is_some() || release.is_some()
}

fn release_inputs<'a>(
    inputs: &SmPathInputs,
    release: Option<Release>,
    warp_blk: &'a [u8],
) -> RelsspInputs<'a> {
    RelsspInputs {
        rst: inputs.rst,
        launch: None,
        release,
        exit: inputs.exit,
        warp_blk,
    }
}

fn access_inputs<'a>(
    inputs: &SmPathInputs<'a>,
    shown: &RelsspOutputs,
    warp_blk: &'a [u8],
) -> AccessInputs<'a> {
    AccessInputs {
        rst: inputs.rst,
        cfg_sharing: inputs.cfg.sharing,
        cfg_limit: inputs.cfg.limit,
        launch: None,
        rel_done: shown.rel_done,
        live: shown.live,
        warp_blk,
        off_shmem: inputs.offers.shared & inputs.offers.valid,
        off_hi: &inputs.offers.hi,
        acquire: None,
    }
}
