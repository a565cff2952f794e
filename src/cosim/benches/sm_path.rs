//! `spad_sm_path`: warps that offer instructions of all kinds, blocks that come
//! and go, every configuration of the pipeline in turn. Configurations change
//! with a reset: they are static while anything is in flight.

use super::pattern::Patterns;
use super::support::{Rhythm, drive_reset, ports};
use crate::config::Config;
use crate::cosim::bench::{Bench, Frame, Stimulus};
use crate::cosim::layout::Layout;
use crate::model::{
    Exit, IcnData, NO_OPERANDS, Offer, Offers, Operands, PathConfig, PathLaunch, Policy, SmPath,
    SmPathInputs, SmPathOutputs, Source,
};
use crate::trace::AccessTrace;

/// Cycles with one configuration.
const EPOCH_CYCLES: u64 = 1024;

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

/// The operands of the pass in EXE.
struct Pass {
    mask: u64,
    addr: Vec<u16>,
    data: Vec<u64>,
    be: Vec<u8>,
    aop: u8,
}

pub(super) struct SmPathBench {
    ports: Ports,
    model: SmPath,
    config: Config,
    patterns: Patterns,
    cfg: PathConfig,
    policy: u32,
    offers: Offers,
    pass: Option<Pass>,
    /// Instructions in flight per warp: its threads exit only without any.
    in_flight: Vec<u32>,
    live: u64,
    offer: Rhythm,
    ready: Rhythm,
    icn: Rhythm,
}

impl SmPathBench {
    pub(super) fn new(config: &Config, layout: &Layout, trace: Option<&AccessTrace>) -> Self {
        let warps = config.path.warps as usize;
        SmPathBench {
            ports: Ports::new(layout),
            model: SmPath::new(config),
            config: config.clone(),
            patterns: Patterns::new(config, trace),
            cfg: PathConfig::of(config),
            policy: 0,
            offers: Offers::none(warps),
            pass: None,
            in_flight: vec![0; warps],
            live: 0,
            offer: Rhythm::default(),
            ready: Rhythm::default(),
            icn: Rhythm::default(),
        }
    }

    fn warps(&self) -> usize {
        self.config.path.warps as usize
    }

    /// A new configuration and nothing in flight: with the reset of an epoch.
    fn new_epoch(&mut self, stimulus: &mut Stimulus) {
        self.policy = stimulus.below(4);
        let policies = [
            Policy::Lrr,
            Policy::OwfLrr,
            Policy::OwfSlot,
            Policy::LowestSlot,
        ];
        let n = self.config.geometry.addr_bits();
        self.cfg = PathConfig {
            pipeline: stimulus.below(4) as u8,
            barrel: stimulus.below(4) as u8,
            policy: policies[self.policy as usize],
            aware: stimulus.one_in(2),
            violate: stimulus.one_in(2),
            lock_hash: stimulus.below(4) as u8,
            sharing: !stimulus.one_in(3),
            limit: stimulus.below(1 << n) as u16,
        };
        self.offers = Offers::none(self.warps());
        self.pass = None;
        self.in_flight.fill(0);
        self.live = 0;
    }

    fn draw_offers(&mut self, stimulus: &mut Stimulus) {
        let kinds = [0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 15];
        let n = self.config.geometry.addr_bits() as usize;
        for _ in 0..2 {
            let warp = stimulus.below(self.warps() as u32) as usize;
            if self.offers.get(warp).is_none() && self.offer.beat(stimulus) {
                let offer = Offer {
                    kind: kinds[stimulus.below(16) as usize],
                    words: stimulus.below(4) as u8,
                    tag: stimulus.bits() as u8,
                    // Few of them, so that the history knows them.
                    pc: (stimulus.below(4) << 8 | stimulus.below(4)) as u16,
                    hi: stimulus.wide(n) as u16,
                };
                self.offers.set(warp, Some(offer));
            }
        }
    }

    fn draw_pass(&mut self, stimulus: &mut Stimulus) -> Pass {
        let access = self.patterns.next(stimulus, true);
        let (lanes, bits) = (self.config.lanes, self.config.word_bits as usize);
        let m = self.config.geometry.bank_bits();
        let banks = access.bank.iter().map(|&b| u16::from(b));
        let word = |(row, bank): (&u16, u16)| row << m | bank;
        Pass {
            mask: access.mask,
            addr: access.row.iter().zip(banks).map(word).collect(),
            data: (0..lanes).map(|_| stimulus.wide(bits) as u64).collect(),
            be: (0..lanes).map(|_| stimulus.wide(bits / 8) as u8).collect(),
            aop: stimulus.below(11) as u8,
        }
    }

    /// A block in an empty slot now and then; each slot has warps of its own.
    fn draw_launch(&self, stimulus: &mut Stimulus) -> Option<PathLaunch> {
        let blocks = self.config.path.blocks;
        let per_block = self.warps() as u32 / blocks;
        let block = stimulus.below(blocks);
        if self.live >> block & 1 == 1 || !stimulus.one_in(8) {
            return None;
        }
        let count = 1 + stimulus.below(per_block);
        Some(PathLaunch {
            block: block as usize,
            shared: !stimulus.one_in(4),
            warps: ((1u128 << count) - 1) << (block * per_block),
            last: 1 | stimulus.wide(self.config.warp_size as usize) as u64,
        })
    }

    fn draw_exit(&self, stimulus: &mut Stimulus) -> Option<Exit> {
        let warp = stimulus.below(self.warps() as u32) as usize;
        let idle = self.in_flight[warp] == 0 && self.offers.get(warp).is_none();
        (idle && stimulus.one_in(8)).then(|| Exit {
            warp,
            mask: match stimulus.below(4) {
                0 => stimulus.wide(self.config.warp_size as usize) as u64,
                _ => u64::MAX >> (64 - self.config.warp_size),
            },
        })
    }

    fn drive(&self, inputs: &SmPathInputs, frame: &mut Frame) {
        let (p, lanes, warps) = (&self.ports, self.config.lanes as usize, self.warps());
        let (bits, n) = (self.config.word_bits as usize, p.cfg_limit.width);
        frame.drive(&p.kernel_clear, inputs.kernel_clear.into());
        frame.drive(&p.cfg_pipeline, inputs.cfg.pipeline.into());
        frame.drive(&p.cfg_barrel, inputs.cfg.barrel.into());
        frame.drive(&p.cfg_policy, self.policy);
        frame.drive(&p.cfg_aware, inputs.cfg.aware.into());
        frame.drive(&p.cfg_violate, inputs.cfg.violate.into());
        frame.drive(&p.cfg_lock_hash, inputs.cfg.lock_hash.into());
        frame.drive(&p.cfg_sharing, inputs.cfg.sharing.into());
        frame.drive(&p.cfg_limit, inputs.cfg.limit.into());
        let launch = inputs.launch;
        frame.drive(&p.launch_valid, launch.is_some().into());
        frame.drive(&p.launch_block, launch.map_or(0, |l| l.block) as u32);
        frame.drive(&p.launch_shared, launch.is_some_and(|l| l.shared).into());
        frame.drive_bits(&p.launch_wmask, launch.map_or(0, |l| l.warps));
        frame.drive_bits(&p.launch_last, launch.map_or(0, |l| l.last).into());
        frame.drive(&p.exit_valid, inputs.exit.is_some().into());
        frame.drive(&p.exit_warp, inputs.exit.map_or(0, |e| e.warp) as u32);
        frame.drive_bits(&p.exit_mask, inputs.exit.map_or(0, |e| e.mask).into());
        let offer = |w| inputs.offers.get(w).unwrap_or_default();
        frame.drive_bits(&p.off_valid, inputs.offers.valid());
        frame.drive_fields(&p.off_kind, 4, (0..warps).map(|w| offer(w).kind));
        frame.drive_fields(&p.off_words, 2, (0..warps).map(|w| offer(w).words));
        let (tag, pc) = (p.off_tag.width / warps, p.off_pc.width / warps);
        frame.drive_fields(&p.off_tag, tag, (0..warps).map(|w| offer(w).tag));
        frame.drive_fields(&p.off_pc, pc, (0..warps).map(|w| offer(w).pc));
        frame.drive_fields(&p.off_hi, n, (0..warps).map(|w| offer(w).hi));
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
        let words = icn.map_or(&[][..], |d| &d.data[..lanes]);
        frame.drive_fields(&p.icn_data, bits, words.iter().copied());
        frame.drive(&p.wb_ready, inputs.wb_ready.into());
    }

    fn expect(&self, out: &SmPathOutputs, wb_data: &[u64], frame: &mut Frame) {
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
        let bits = self.config.word_bits as usize;
        frame.expect_fields(&p.wb_data, bits, wb_data.iter().copied());
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

    /// What the environment learns from the outputs.
    fn follow(&mut self, out: &SmPathOutputs, wb_ready: bool, stimulus: &mut Stimulus) {
        if let Some(issue) = out.iss {
            if issue.pass == 0 {
                self.offers.set(issue.warp, None);
                self.in_flight[issue.warp] += 1;
            }
            self.pass = Some(self.draw_pass(stimulus));
        } else if !out.ex_hold {
            self.pass = None;
        }
        if let Some(wb) = out
            .wb
            .filter(|w| wb_ready && w.last && w.src != Source::Icn)
        {
            let count = &mut self.in_flight[wb.warp];
            *count = count.saturating_sub(1);
        }
    }
}

impl Bench for SmPathBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let in_epoch = stimulus.cycle % EPOCH_CYCLES;
        let rst = stimulus.cycle < 2 || in_epoch == 0;
        if in_epoch == 0 {
            self.new_epoch(stimulus);
        }
        self.draw_offers(stimulus);
        let launch = self.draw_launch(stimulus);
        let exit = self.draw_exit(stimulus);
        let lanes = self.config.lanes as usize;
        let bits = self.config.word_bits as usize;
        let words: Vec<u64> = (0..lanes).map(|_| stimulus.wide(bits) as u64).collect();
        let far = IcnData {
            warp: stimulus.below(self.warps() as u32) as usize,
            tag: stimulus.bits() as u8,
            pass: stimulus.below(self.config.warp_size / self.config.lanes) as u16,
            last: stimulus.one_in(2),
            mask: stimulus.wide(lanes) as u64,
            data: &words,
        };
        let far_offered = self.icn.beat(stimulus) && stimulus.one_in(8);
        let wb_ready = self.ready.beat(stimulus);
        let held = &self.pass;
        let offers = self.offers.clone();
        let inputs = SmPathInputs {
            rst,
            kernel_clear: in_epoch == 1,
            cfg: self.cfg,
            hash_wr: None,
            row_wr: None,
            launch,
            exit,
            offers: &offers,
            op: held.as_ref().map_or(NO_OPERANDS, |pass| Operands {
                mask: pass.mask,
                addr: &pass.addr,
                data: &pass.data,
                be: &pass.be,
                aop: pass.aop,
            }),
            icn: far_offered.then_some(far),
            wb_ready,
            age: &[],
            active: 0,
        };
        self.drive(&inputs, frame);
        let wb_data = self.model.wb_data().map_or(Vec::new(), <[u64]>::to_vec);
        let out = self.model.step(&inputs);
        self.expect(&out, &wb_data, frame);
        drive_reset(stimulus, frame, &self.ports.rst, rst);
        if rst {
            self.pass = None;
            return;
        }
        self.live = out.live | launch.map_or(0, |l| 1 << l.block);
        self.follow(&out, wb_ready, stimulus);
    }
}
