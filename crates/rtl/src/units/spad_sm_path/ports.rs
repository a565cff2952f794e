//! The ports of `spad_sm_path` and how a cycle's inputs and outputs lie on them.

use super::cycle::{Arrival, PassOperands, PathCycle};
use crate::config::Config;
use crate::model::{Exit, Offer, PathConfig, PathLaunch, SmPathInputs, SmPathOutputs, Source};
use crate::units::bench::Frame;
use crate::units::layout::{Layout, PortSlot};
use crate::units::support::ports;
use crate::units::warps::POLICIES;
use crate::units::write_port::HashRegisters;

ports!(Ports {
    in rst kernel_clear cfg_pipeline cfg_barrel cfg_policy cfg_aware cfg_violate cfg_lock_hash
        cfg_sharing cfg_limit launch_valid launch_block launch_shared launch_wmask launch_last
        exit_valid exit_warp exit_mask off_valid off_kind off_words off_tag off_pc off_hi op_mask
        op_addr op_data op_be op_aop icn_valid icn_warp icn_tag icn_pass icn_last icn_mask icn_data
        wb_ready;
    out iss_valid iss_warp iss_pass iss_last ex_hold icn_ready wb_valid wb_src wb_warp wb_tag
        wb_kind wb_pass wb_last wb_mask wb_data wb_success wb_error wb_degree wait_sh viol locked
        owner rel_done live unlock stall masked seq_state occ nm_valid pre_count;
});

/// The outputs of the path that the environment reads.
pub(super) struct Shown {
    /// Warp and pass that are issued.
    pub issue: Option<(usize, u32)>,
    pub ex_hold: bool,
    pub icn_ready: bool,
    /// The warp of an instruction's last result, if that is at the port and not
    /// data from off-chip.
    pub last_result: Option<usize>,
    pub live: u64,
    pub viol: u128,
    pub occ: u32,
}

/// The ports, and the widths of what they carry.
#[derive(Clone)]
pub(super) struct PathPorts {
    ports: Ports,
    pub(super) registers: HashRegisters,
    warps: usize,
    word_bits: usize,
}

impl PathPorts {
    pub(super) fn new(config: &Config, layout: &Layout) -> Self {
        PathPorts {
            ports: Ports::new(layout),
            registers: HashRegisters::new(layout),
            warps: config.path.warps as usize,
            word_bits: config.word_bits as usize,
        }
    }

    /// Drives every input.
    pub(super) fn drive(&self, inputs: &SmPathInputs, frame: &mut Frame) {
        let p = &self.ports;
        frame.drive(&p.rst, inputs.rst.into());
        frame.drive(&p.kernel_clear, inputs.kernel_clear.into());
        self.drive_settings(&inputs.cfg, frame);
        self.registers.drive((inputs.hash_wr, inputs.row_wr), frame);
        let launch = inputs.launch;
        frame.drive(&p.launch_valid, launch.is_some().into());
        frame.drive(&p.launch_block, launch.map_or(0, |l| l.block) as u32);
        frame.drive(&p.launch_shared, launch.is_some_and(|l| l.shared).into());
        frame.drive_bits(&p.launch_wmask, launch.map_or(0, |l| l.warps));
        frame.drive_bits(&p.launch_last, launch.map_or(0, |l| l.last).into());
        frame.drive(&p.exit_valid, inputs.exit.is_some().into());
        frame.drive(&p.exit_warp, inputs.exit.map_or(0, |e| e.warp) as u32);
        frame.drive_bits(&p.exit_mask, inputs.exit.map_or(0, |e| e.mask).into());
        self.drive_offers(inputs, frame);
        self.drive_data(inputs, frame);
        frame.drive(&p.wb_ready, inputs.wb_ready.into());
    }

    fn drive_settings(&self, cfg: &PathConfig, frame: &mut Frame) {
        let p = &self.ports;
        let policy = POLICIES.iter().position(|&policy| policy == cfg.policy);
        frame.drive(&p.cfg_pipeline, cfg.pipeline.into());
        frame.drive(&p.cfg_barrel, cfg.barrel.into());
        frame.drive(&p.cfg_policy, policy.unwrap_or(0) as u32);
        frame.drive(&p.cfg_aware, cfg.aware.into());
        frame.drive(&p.cfg_violate, cfg.violate.into());
        frame.drive(&p.cfg_lock_hash, cfg.lock_hash.into());
        frame.drive(&p.cfg_sharing, cfg.sharing.into());
        frame.drive(&p.cfg_limit, cfg.limit.into());
    }

    fn drive_offers(&self, inputs: &SmPathInputs, frame: &mut Frame) {
        let (p, warps) = (&self.ports, self.warps);
        let offer = |w| inputs.offers.get(w).unwrap_or_default();
        let each = || (0..warps).map(offer);
        frame.drive_bits(&p.off_valid, inputs.offers.valid());
        frame.drive_fields(
            &p.off_kind,
            p.off_kind.width / warps,
            each().map(|o| o.kind),
        );
        frame.drive_fields(
            &p.off_words,
            p.off_words.width / warps,
            each().map(|o| o.words),
        );
        frame.drive_fields(&p.off_tag, p.off_tag.width / warps, each().map(|o| o.tag));
        frame.drive_fields(&p.off_pc, p.off_pc.width / warps, each().map(|o| o.pc));
        frame.drive_fields(&p.off_hi, p.off_hi.width / warps, each().map(|o| o.hi));
    }

    fn drive_data(&self, inputs: &SmPathInputs, frame: &mut Frame) {
        let (p, bits, n) = (&self.ports, self.word_bits, self.ports.cfg_limit.width);
        frame.drive_bits(&p.op_mask, inputs.op.mask.into());
        frame.drive_fields(&p.op_addr, n, inputs.op.addr.iter().copied());
        frame.drive_fields(&p.op_data, bits, inputs.op.data.iter().copied());
        frame.drive_fields(&p.op_be, bits / 8, inputs.op.be.iter().copied());
        frame.drive(&p.op_aop, inputs.op.aop.into());
        let icn = inputs.icn.as_ref();
        frame.drive(&p.icn_valid, icn.is_some().into());
        frame.drive(&p.icn_warp, icn.map_or(0, |d| d.warp) as u32);
        frame.drive(&p.icn_tag, icn.map_or(0, |d| d.tag).into());
        frame.drive(&p.icn_pass, icn.map_or(0, |d| d.pass).into());
        frame.drive(&p.icn_last, icn.is_some_and(|d| d.last).into());
        frame.drive_bits(&p.icn_mask, icn.map_or(0, |d| d.mask).into());
        let words = icn.map_or(&[][..], |d| d.data);
        frame.drive_fields(&p.icn_data, bits, words.iter().copied());
    }

    /// The inputs that a frame holds.
    pub(super) fn read(&self, frame: &Frame) -> PathCycle {
        let (p, bits, n) = (&self.ports, self.word_bits, self.ports.cfg_limit.width);
        let on = |port| frame.driven(port) != 0;
        let number = |port| frame.driven(port);
        let mut cycle = PathCycle::idle(self.warps, self.read_settings(frame));
        (cycle.rst, cycle.kernel_clear) = (on(&p.rst), on(&p.kernel_clear));
        (cycle.hash_wr, cycle.row_wr) = self.registers.read(frame);
        cycle.launch = on(&p.launch_valid).then(|| PathLaunch {
            block: number(&p.launch_block) as usize,
            shared: on(&p.launch_shared),
            warps: frame.driven_bits(&p.launch_wmask),
            last: frame.driven_bits(&p.launch_last) as u64,
        });
        cycle.exit = on(&p.exit_valid).then(|| Exit {
            warp: number(&p.exit_warp) as usize,
            mask: frame.driven_bits(&p.exit_mask) as u64,
        });
        self.read_offers(frame, &mut cycle);
        cycle.op = PassOperands {
            mask: frame.driven_bits(&p.op_mask) as u64,
            addr: frame
                .driven_fields(&p.op_addr, n)
                .map(|a| a as u16)
                .collect(),
            data: frame.driven_fields(&p.op_data, bits).collect(),
            be: frame
                .driven_fields(&p.op_be, bits / 8)
                .map(|b| b as u8)
                .collect(),
            aop: number(&p.op_aop) as u8,
        };
        cycle.icn = on(&p.icn_valid).then(|| Arrival {
            warp: number(&p.icn_warp) as usize,
            tag: number(&p.icn_tag) as u8,
            pass: number(&p.icn_pass) as u16,
            last: on(&p.icn_last),
            mask: frame.driven_bits(&p.icn_mask) as u64,
            data: frame.driven_fields(&p.icn_data, bits).collect(),
        });
        cycle.wb_ready = on(&p.wb_ready);
        cycle
    }

    fn read_settings(&self, frame: &Frame) -> PathConfig {
        let p = &self.ports;
        PathConfig {
            pipeline: frame.driven(&p.cfg_pipeline) as u8,
            barrel: frame.driven(&p.cfg_barrel) as u8,
            policy: POLICIES[frame.driven(&p.cfg_policy) as usize & 3],
            aware: frame.driven(&p.cfg_aware) != 0,
            violate: frame.driven(&p.cfg_violate) != 0,
            lock_hash: frame.driven(&p.cfg_lock_hash) as u8,
            sharing: frame.driven(&p.cfg_sharing) != 0,
            limit: frame.driven(&p.cfg_limit) as u16,
        }
    }

    fn read_offers(&self, frame: &Frame, cycle: &mut PathCycle) {
        let p = &self.ports;
        let fields = |port: &PortSlot| -> Vec<u64> {
            frame.driven_fields(port, port.width / self.warps).collect()
        };
        let valid = frame.driven_bits(&p.off_valid);
        let (kind, words, tag) = (
            fields(&p.off_kind),
            fields(&p.off_words),
            fields(&p.off_tag),
        );
        let (pc, hi) = (fields(&p.off_pc), fields(&p.off_hi));
        for w in (0..self.warps).filter(|w| valid >> w & 1 == 1) {
            let offer = Offer {
                kind: kind[w] as u8,
                words: words[w] as u8,
                tag: tag[w] as u8,
                pc: pc[w] as u16,
                hi: hi[w] as u16,
            };
            cycle.offers.set(w, Some(offer));
        }
    }

    /// Expects every output.
    pub(super) fn expect(&self, out: &SmPathOutputs, wb_data: Option<&[u64]>, frame: &mut Frame) {
        let p = &self.ports;
        frame.expect(&p.iss_valid, out.iss.is_some().into());
        frame.expect(&p.iss_warp, out.iss.map_or(0, |i| i.warp) as u32);
        frame.expect(&p.iss_pass, out.iss.map_or(0, |i| i.pass).into());
        frame.expect(&p.iss_last, out.iss.is_some_and(|i| i.last).into());
        frame.expect(&p.ex_hold, out.ex_hold.into());
        frame.expect(&p.icn_ready, out.icn_ready.into());
        let wb = out.wb.as_ref();
        frame.expect(&p.wb_valid, wb.is_some().into());
        frame.expect(&p.wb_src, wb.map_or(0, |w| w.src as u32));
        frame.expect(&p.wb_warp, wb.map_or(0, |w| w.warp) as u32);
        frame.expect(&p.wb_tag, wb.map_or(0, |w| w.tag).into());
        frame.expect(&p.wb_kind, wb.map_or(0, |w| w.kind).into());
        frame.expect(&p.wb_pass, wb.map_or(0, |w| w.pass).into());
        frame.expect(&p.wb_last, wb.is_some_and(|w| w.last).into());
        frame.expect_bits(&p.wb_mask, wb.map_or(0, |w| w.mask).into());
        let words = wb_data.unwrap_or_default();
        frame.expect_fields(&p.wb_data, self.word_bits, words.iter().copied());
        frame.expect_bits(&p.wb_success, wb.map_or(0, |w| w.success).into());
        frame.expect(&p.wb_error, wb.is_some_and(|w| w.error).into());
        frame.expect(&p.wb_degree, wb.map_or(0, |w| w.degree));
        frame.expect_bits(&p.wait_sh, out.wait_sh);
        frame.expect_bits(&p.viol, out.viol);
        frame.expect(&p.locked, out.locked);
        frame.expect(&p.owner, out.owner);
        frame.expect_bits(&p.rel_done, out.rel_done.into());
        frame.expect_bits(&p.live, out.live.into());
        frame.expect_bits(&p.unlock, out.unlock.into());
        frame.expect(&p.stall, out.stall.into());
        frame.expect(&p.masked, out.masked.into());
        frame.expect(&p.seq_state, out.seq_state as u32);
        frame.expect(&p.occ, out.occ);
        frame.expect(&p.nm_valid, out.nm_valid);
        frame.expect(&p.pre_count, out.pre_count as u32);
    }

    /// The outputs of the path in a cycle.
    pub(super) fn shown(&self, frame: &Frame) -> Shown {
        let p = &self.ports;
        let number = |port| frame.shown_bits(port) as usize;
        let issued = frame.shows(&p.iss_valid);
        let result = frame.shows(&p.wb_valid) && frame.shows(&p.wb_last);
        let own = number(&p.wb_src) != Source::Icn as usize;
        Shown {
            issue: issued.then(|| (number(&p.iss_warp), number(&p.iss_pass) as u32)),
            ex_hold: frame.shows(&p.ex_hold),
            icn_ready: frame.shows(&p.icn_ready),
            last_result: (result && own).then(|| number(&p.wb_warp)),
            live: frame.shown_bits(&p.live) as u64,
            viol: frame.shown_bits(&p.viol),
            occ: number(&p.occ) as u32,
        }
    }
}
