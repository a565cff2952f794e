//! Releases and the owners of the shared parts: relssp, the release register
//! and the access unit (microarchitecture/access-unit.md and
//! microarchitecture/relssp.md).

use super::SmPathInputs;
use crate::config::Config;
use crate::model::lanes::warps_of;
use crate::model::spad_access_unit::{AccessInputs, AccessOutputs, AccessUnit, SharingLaunch};
use crate::model::spad_release_register::{ReleaseInputs, ReleaseRegister};
use crate::model::spad_relssp::{Release, Relssp, RelsspInputs, RelsspOutputs, ThreadLaunch};

/// The three units, and the block of each warp.
#[derive(Clone, Debug)]
pub(crate) struct Sharing {
    relssp: Relssp,
    /// Register of releases, where AHEAD > 0.
    register: Option<ReleaseRegister>,
    pub(crate) access: AccessUnit,
    warp_blk: Vec<u8>,
}

/// The outputs of these units in one cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharingOutputs {
    /// Outputs of relssp.
    pub(crate) now: RelsspOutputs,
    /// Outputs of relssp, as the access unit and the ports see them.
    pub(super) shown: RelsspOutputs,
    pub(super) access: AccessOutputs,
}

impl SharingOutputs {
    /// Whether the outputs shown are those of relssp in this cycle.
    pub(crate) fn is_settled(&self) -> bool {
        self.now == self.shown
    }
}

impl Sharing {
    pub(super) fn new(config: &Config) -> Self {
        let path = &config.path;
        let warps = path.warps as usize;
        Sharing {
            relssp: Relssp::new(warps, path.blocks, config.warp_size, config.lanes),
            register: (path.ahead > 0).then(|| ReleaseRegister::new(path.blocks)),
            access: AccessUnit::new(warps),
            warp_blk: vec![0; warps],
        }
    }

    /// The outputs in this cycle; `release` is a RELSSP that leaves EX.
    pub(crate) fn eval(&self, inputs: &SmPathInputs, release: Option<Release>) -> SharingOutputs {
        let events = release_inputs(inputs, release, &self.warp_blk);
        self.eval_behind(inputs, self.relssp.eval(&events))
    }

    /// The outputs if those of relssp are `now`.
    pub(crate) fn eval_behind(&self, inputs: &SmPathInputs, now: RelsspOutputs) -> SharingOutputs {
        let shown = self.register.as_ref().map_or(now, ReleaseRegister::eval);
        let access = self
            .access
            .eval(&access_inputs(inputs, &shown, &self.warp_blk));
        SharingOutputs { now, shown, access }
    }

    /// The clock edge; `acquire` is the warp whose offer is taken.
    pub(crate) fn commit(
        &mut self,
        inputs: &SmPathInputs,
        release: Option<Release>,
        out: &SharingOutputs,
        acquire: Option<usize>,
    ) {
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
        self.relssp.commit(&RelsspInputs {
            launch: launch.map(|launch| ThreadLaunch {
                warps: launch.warps,
                last: launch.last,
            }),
            ..release_inputs(inputs, release, &self.warp_blk)
        });
        if rst {
            self.warp_blk.fill(0);
        } else if let Some(launch) = launch {
            for warp in warps_of(launch.warps) {
                self.warp_blk[warp] = launch.block as u8;
            }
        }
    }
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
