//! The environment of the path in random stimulus: kernels, each with its own
//! settings, bank mapping and rhythm. The next kernel begins with a reset in
//! mid flight, or after the path has drained.

use super::cycle::{Arrival, PassOperands, PathCycle};
use super::ports::Shown;
use crate::config::{Config, PC_BITS};
use crate::model::kind;
use crate::model::{Exit, Offer, Offers, PathConfig, PathLaunch, RegisterWrite, WarpMask};
use crate::units::answers::words;
use crate::units::bench::Stimulus;
use crate::units::hash_units::{RegisterWrites, register_writes};
use crate::units::pattern::{LaneAccess, Patterns};
use crate::units::support::Rhythm;
use crate::units::warps::POLICIES;
use std::ops::Range;

/// Kinds of offers, 16 each: all of them; without load-and-lock, whose locks
/// keep an atomic waiting for a long time; loads and ALU instructions alone;
/// atomics that wait for each other.
const KIND_MIXES: [[u8; 16]; 4] = [
    [0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 15],
    [0, 0, 0, 0, 1, 1, 1, 2, 2, 4, 5, 5, 6, 6, 7, 9],
    [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 6],
    [0, 1, 1, 1, 1, 1, 2, 2, 5, 5, 5, 5, 5, 5, 5, 6],
];

/// Program counters of offers: few, so that the history knows them.
const PCS: u32 = 16;

/// Cycles to wait for the path to drain. An atomic may wait for a lock that
/// nobody gives back.
const DRAIN_CYCLES: u32 = 2048;

/// The phase of the environment.
enum Phase {
    /// Reset for this many more cycles.
    Reset(u32),
    /// Register writes, the last one first.
    Configure(RegisterWrites),
    /// A kernel runs for this many more cycles.
    Run(u32),
    /// Nothing new until the path is empty.
    Drain(u32),
}

/// Habits of a kernel.
#[derive(Default)]
struct Habits {
    kinds: usize,
    /// Warps that offer atomics. One is served at a time, and soon all warps
    /// would wait with one, and none be left to keep the scratchpad busy.
    atomics: WarpMask,
    /// Whether only warps with threads offer, and blocks end as a whole.
    orderly: bool,
    /// Blocks take any warps that are free, not those of their slot.
    scattered: bool,
    /// Accesses of one pc look alike, so that predictions come true.
    steady: bool,
    /// The first of its program counters: every bit is used some time.
    first_pc: u16,
    /// The bits of the history's tags in which the others differ from it.
    tag_bits: [u32; 2],
}

impl Habits {
    /// The program counter with this number: four sets of the history, four tags each.
    fn pc(&self, number: u32) -> u16 {
        let [low, high] = self.tag_bits;
        let tag = (number >> 2 & 1) << low | (number >> 3) << high;
        self.first_pc ^ (tag | number & 3) as u16
    }

    /// The number of a program counter.
    fn number(&self, pc: u16) -> usize {
        let differs = pc ^ self.first_pc;
        let [low, high] = self.tag_bits.map(|bit| differs >> bit & 1);
        usize::from(differs & 3 | low << 2 | high << 3)
    }
}

pub(super) struct Environment {
    config: Config,
    patterns: Patterns,
    phase: Phase,
    cfg: PathConfig,
    habits: Habits,
    offers: Offers,
    /// The operands of the pass in EX.
    pass: PassOperands,
    /// Whether that pass is of a RELSSP.
    releases: bool,
    /// The usual access of each pc.
    usual: Vec<Option<LaneAccess>>,
    /// Instructions in flight per warp: its threads exit only without any.
    in_flight: Vec<u32>,
    /// Threads of each warp.
    threads: Vec<u64>,
    /// The block slot that each warp was last in.
    block_of: Vec<usize>,
    live: u64,
    /// Block slots that are to end.
    ending: u64,
    /// The path was empty in the cycle before, and nothing was offered.
    empty: bool,
    /// The path was empty, and will never accept an offer.
    stuck: bool,
    /// Data from off-chip that stays at the port until it is taken.
    arrival: Option<Arrival>,
    offer: Rhythm,
    ready: Rhythm,
    icn: Rhythm,
}

impl Environment {
    pub(super) fn new(config: &Config) -> Self {
        let warps = config.path.warps as usize;
        Environment {
            patterns: Patterns::new(config, None),
            phase: Phase::Reset(2),
            cfg: PathConfig::of(config),
            habits: Habits::default(),
            offers: Offers::none(warps),
            pass: PassOperands::default(),
            releases: false,
            usual: vec![None; PCS as usize],
            in_flight: vec![0; warps],
            threads: vec![0; warps],
            block_of: vec![0; warps],
            live: 0,
            ending: 0,
            empty: true,
            stuck: false,
            arrival: None,
            offer: Rhythm::default(),
            ready: Rhythm::with_silence(),
            icn: Rhythm::default(),
            config: config.clone(),
        }
    }

    /// A cycle in which nothing is offered.
    pub(super) fn idle(&self) -> PathCycle {
        PathCycle::idle(self.warps(), self.cfg)
    }

    /// The inputs of the next cycle.
    pub(super) fn next(&mut self, stimulus: &mut Stimulus) -> PathCycle {
        self.change_phase(stimulus);
        let mut cycle = self.idle();
        match &mut self.phase {
            Phase::Configure(writes) => {
                (cycle.hash_wr, cycle.row_wr) = writes.pop().unwrap_or_default();
                cycle.kernel_clear = writes.is_empty();
                cycle.icn = self.arrival.clone();
                return cycle;
            }
            Phase::Reset(left) => {
                *left -= 1;
                cycle.rst = true;
                // A reset goes before everything else.
                cycle.hash_wr = stimulus.one_in(2).then(|| random_write(stimulus));
                cycle.row_wr = stimulus.one_in(2).then(|| random_write(stimulus));
            }
            Phase::Run(left) | Phase::Drain(left) => *left -= 1,
        }
        if !matches!(self.phase, Phase::Drain(_)) {
            self.draw_offers(stimulus);
            cycle.launch = self.draw_launch(stimulus);
        }
        cycle.exit = self.draw_exit(stimulus);
        if self.arrival.is_none() {
            self.arrival = self.draw_arrival(stimulus);
        }
        cycle.icn = self.arrival.clone();
        cycle.offers = self.offers.clone();
        cycle.op = self.pass.clone();
        cycle.wb_ready = self.ready.beat(stimulus);
        cycle
    }

    /// Updates the environment from the outputs of the path.
    pub(super) fn follow(&mut self, cycle: &PathCycle, shown: &Shown, stimulus: &mut Stimulus) {
        if cycle.rst {
            self.forget();
            return;
        }
        if let Some(exit) = cycle.exit {
            self.threads[exit.warp] &= !exit.mask;
        }
        if shown.icn_ready {
            self.arrival = None;
        }
        self.live = shown.live;
        if let Some(launch) = cycle.launch {
            self.live |= 1 << launch.block;
            self.ending &= !(1 << launch.block);
            self.take_threads(&launch);
        }
        if let Some((warp, pass)) = shown.issue {
            let offer = self.offers.get(warp);
            let pc = offer.map(|o| o.pc);
            if pass == 0 {
                self.releases = offer.is_some_and(|o| o.kind == kind::RELSSP);
                self.offers.set(warp, None);
                self.in_flight[warp] += 1;
            }
            self.pass = self.draw_pass(pc, stimulus);
        } else if !shown.ex_hold {
            self.pass = PassOperands::default();
        }
        if let Some(warp) = shown.last_result.filter(|_| cycle.wb_ready) {
            let count = &mut self.in_flight[warp];
            *count = count.saturating_sub(1);
        }
        let idle = self.in_flight.iter().all(|&count| count == 0) && shown.occ == 0;
        let offered = self.offers.valid();
        self.empty = idle && offered == 0;
        self.stuck = idle && offered != 0 && offered & !shown.viol == 0;
    }

    fn warps(&self) -> usize {
        self.config.path.warps as usize
    }

    fn warps_per_block(&self) -> usize {
        self.warps() / self.config.path.blocks as usize
    }

    fn change_phase(&mut self, stimulus: &mut Stimulus) {
        let next = match &self.phase {
            Phase::Reset(0) => self.configure(stimulus),
            Phase::Configure(writes) if writes.is_empty() => Phase::Run(128 + stimulus.below(1024)),
            Phase::Run(0) if stimulus.one_in(2) => Phase::Reset(1 + stimulus.below(2)),
            Phase::Run(0) => {
                // If the issue is decided ahead, an offer is kept until it is accepted.
                if self.config.path.ahead == 0 {
                    self.offers = Offers::none(self.warps());
                }
                Phase::Drain(DRAIN_CYCLES)
            }
            Phase::Drain(0) => Phase::Reset(1),
            Phase::Drain(_) if self.stuck => Phase::Reset(1),
            Phase::Drain(_) if self.empty => self.configure(stimulus),
            _ => return,
        };
        self.phase = next;
    }

    /// Nothing is in flight: settings, habits and mapping of the next kernel.
    fn configure(&mut self, stimulus: &mut Stimulus) -> Phase {
        let n = self.config.geometry.addr_bits();
        self.cfg = PathConfig {
            pipeline: stimulus.below(4) as u8,
            barrel: stimulus.below(4) as u8,
            policy: POLICIES[stimulus.below(4) as usize],
            aware: stimulus.one_in(2),
            violate: stimulus.one_in(2),
            lock_hash: stimulus.below(4) as u8,
            sharing: !stimulus.one_in(3),
            limit: stimulus.below(1 << n) as u16,
        };
        self.habits = Habits {
            kinds: stimulus.below(KIND_MIXES.len() as u32) as usize,
            atomics: self.warps_with_atomics(stimulus),
            orderly: stimulus.one_in(2),
            scattered: stimulus.one_in(2),
            steady: stimulus.one_in(2),
            first_pc: stimulus.wide(PC_BITS) as u16,
            tag_bits: self.tag_bits(stimulus),
        };
        self.usual.fill(None);
        let writes = match stimulus.below(8) {
            0 | 1 => Vec::new(), // as it is, after a reset the low bits
            2 if self.has_beyond() => self.folded_writes(stimulus),
            _ => register_writes(&self.config, stimulus),
        };
        Phase::Configure(writes)
    }

    /// All, or about a quarter.
    fn warps_with_atomics(&self, stimulus: &mut Stimulus) -> WarpMask {
        if stimulus.one_in(2) {
            WarpMask::MAX
        } else {
            stimulus.wide(self.warps()) & stimulus.wide(self.warps())
        }
    }

    /// Draws the kind that `warp` offers.
    fn draw_kind(&self, warp: usize, stimulus: &mut Stimulus) -> u8 {
        let drawn = KIND_MIXES[self.habits.kinds][stimulus.below(16) as usize];
        if drawn == kind::ATOMIC && self.habits.atomics >> warp & 1 == 0 {
            kind::LOAD
        } else {
            drawn
        }
    }

    /// Two bits of a program counter above those of a set, in order.
    fn tag_bits(&self, stimulus: &mut Stimulus) -> [u32; 2] {
        let bits = PC_BITS as u32;
        let first = (self.config.parameters().SETW as u32).clamp(2, bits - 3);
        let low = first + stimulus.below(bits - first - 1);
        [low, low + 1 + stimulus.below(bits - low - 1)]
    }

    /// Whether addresses beyond the capacity exist.
    fn has_beyond(&self) -> bool {
        self.config.capacity_words < 1 << self.config.geometry.addr_bits()
    }

    /// A mapping with rows of low address bits, so that the upper ones choose
    /// banks alone: of a bijection their rows would be beyond the capacity.
    fn folded_writes(&self, stimulus: &mut Stimulus) -> RegisterWrites {
        let low_bits = self.config.geometry.bank_bits();
        let mut writes = register_writes(&self.config, stimulus);
        for write in writes.iter_mut().filter_map(|(_, row)| row.as_mut()) {
            write.data = stimulus.below(low_bits + 1).into();
        }
        writes
    }

    /// After a reset.
    fn forget(&mut self) {
        self.offers = Offers::none(self.warps());
        self.pass = PassOperands::default();
        self.in_flight.fill(0);
        self.threads.fill(0);
        self.block_of.fill(0);
        (self.live, self.ending) = (0, 0);
        (self.empty, self.stuck) = (true, false);
        self.arrival = None;
    }

    fn take_threads(&mut self, launch: &PathLaunch) {
        let highest = 127 - launch.warps.leading_zeros() as usize;
        for w in (0..=highest).filter(|w| launch.warps >> w & 1 == 1) {
            self.block_of[w] = launch.block;
            self.threads[w] = if w == highest {
                launch.last
            } else {
                self.all_threads()
            };
        }
    }

    fn all_threads(&self) -> u64 {
        u64::MAX >> (64 - self.config.warp_size)
    }

    fn is_ending(&self, warp: usize) -> bool {
        self.ending >> self.block_of[warp] & 1 == 1
    }

    fn draw_offers(&mut self, stimulus: &mut Stimulus) {
        let n = self.config.geometry.addr_bits() as usize;
        for _ in 0..2 {
            let warp = stimulus.below(self.warps() as u32) as usize;
            let barred = self.habits.orderly && (self.threads[warp] == 0 || self.is_ending(warp));
            if barred || self.offers.get(warp).is_some() || !self.offer.beat(stimulus) {
                continue;
            }
            let offer = Offer {
                kind: self.draw_kind(warp, stimulus),
                words: stimulus.below(4) as u8,
                tag: stimulus.bits() as u8,
                pc: self.habits.pc(stimulus.below(PCS)),
                hi: stimulus.wide(n) as u16,
            };
            self.offers.set(warp, Some(offer));
        }
    }

    fn draw_pass(&mut self, pc: Option<u16>, stimulus: &mut Stimulus) -> PassOperands {
        let mut access = self.patterns.next(stimulus, true);
        if let Some(pc) = pc.filter(|_| self.habits.steady && !stimulus.one_in(16)) {
            let usual = &mut self.usual[self.habits.number(pc)];
            access = usual.get_or_insert(access).clone();
        }
        let (lanes, bits) = (self.config.lanes as usize, self.config.word_bits as usize);
        let m = self.config.geometry.bank_bits();
        let places = access.row.iter().zip(access.bank);
        let word = |(row, bank): (&u16, u8)| row << m | u16::from(bank);
        PassOperands {
            mask: self.mask(access.mask, stimulus),
            addr: places.map(word).take(lanes).collect(),
            data: words(lanes, bits, stimulus),
            be: (0..lanes).map(|_| stimulus.word(bits / 8) as u8).collect(),
            aop: stimulus.below(11) as u8,
        }
    }

    /// The mask of a RELSSP: often all lanes, or all but one, because a block
    /// has released when each of its threads has.
    fn mask(&self, drawn: u64, stimulus: &mut Stimulus) -> u64 {
        if !self.releases || stimulus.one_in(4) {
            return drawn;
        }
        let all = u64::MAX >> (64 - self.config.lanes);
        if stimulus.one_in(8) {
            all & !(1 << stimulus.below(self.config.lanes))
        } else {
            all
        }
    }

    /// A block in an empty slot now and then.
    fn draw_launch(&self, stimulus: &mut Stimulus) -> Option<PathLaunch> {
        let block = stimulus.below(self.config.path.blocks) as usize;
        if self.live >> block & 1 == 1 || !stimulus.one_in(8) {
            return None;
        }
        let warps = if self.habits.scattered {
            self.any_free_warps(stimulus)
        } else {
            self.own_warps(block, stimulus)
        };
        (warps != 0).then(|| PathLaunch {
            block,
            shared: !stimulus.one_in(4),
            warps,
            last: 1 | stimulus.wide(self.config.warp_size as usize) as u64,
        })
    }

    /// Warps of a slot: some of those that it has of its own.
    fn own_warps(&self, block: usize, stimulus: &mut Stimulus) -> WarpMask {
        let per_block = self.warps_per_block();
        let first = block * per_block;
        let count = 1 + stimulus.below(per_block as u32) as usize;
        warps_that(first..first + count, |w| self.threads[w] == 0)
    }

    /// Some of the warps that have no threads and nothing under way.
    fn any_free_warps(&self, stimulus: &mut Stimulus) -> WarpMask {
        let free = |w: usize| {
            self.threads[w] == 0 && self.in_flight[w] == 0 && self.offers.get(w).is_none()
        };
        warps_that(0..self.warps(), free) & stimulus.wide(self.warps())
    }

    /// Threads of a warp with nothing in flight exit.
    fn draw_exit(&mut self, stimulus: &mut Stimulus) -> Option<Exit> {
        if stimulus.one_in(64) {
            self.ending |= 1 << stimulus.below(self.config.path.blocks);
        }
        let warp = stimulus.below(self.warps() as u32) as usize;
        let idle = self.in_flight[warp] == 0 && self.offers.get(warp).is_none();
        let exits = if self.habits.orderly {
            self.is_ending(warp) || stimulus.one_in(64)
        } else {
            stimulus.one_in(8)
        };
        (idle && exits).then(|| Exit {
            warp,
            mask: match stimulus.below(4) {
                0 => stimulus.wide(self.config.warp_size as usize) as u64,
                _ => self.all_threads(),
            },
        })
    }

    fn draw_arrival(&mut self, stimulus: &mut Stimulus) -> Option<Arrival> {
        let lanes = self.config.lanes;
        let bits = self.config.word_bits as usize;
        let offered = self.icn.beat(stimulus) && stimulus.one_in(8);
        offered.then(|| Arrival {
            warp: stimulus.below(self.warps() as u32) as usize,
            tag: stimulus.bits() as u8,
            pass: stimulus.below(self.config.subwarps()) as u16,
            last: stimulus.one_in(2),
            mask: stimulus.wide(lanes as usize) as u64,
            data: (0..lanes).map(|_| stimulus.word(bits)).collect(),
        })
    }
}

fn warps_that(warps: Range<usize>, fits: impl Fn(usize) -> bool) -> WarpMask {
    warps.filter(|&w| fits(w)).fold(0, |mask, w| mask | 1 << w)
}

fn random_write(stimulus: &mut Stimulus) -> RegisterWrite {
    RegisterWrite {
        index: stimulus.below(2) as usize,
        data: u64::from(stimulus.below(2)),
    }
}
