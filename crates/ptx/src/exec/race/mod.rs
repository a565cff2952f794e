//! The race detector. A race is two accesses of a byte, at least one of which writes, that
//! [nothing orders](clock).
//!
//! It works as FastTrack and its kin do: vector clocks hold what each thread knows of the
//! others, and shadow memory the accesses to each place. In the field's words:
//!
//! - *time stamp*: a moment, `Mark::moment`. It grows with every access of the launch
//!   ([`Moments`]).
//! - *vector clock*: `Seen`, the moment up to which each other thread was seen. A thread
//!   has several, one per way of synchronising ([`Knowledge`]).
//! - *happens-before*: an access happens before a thread's next one if the thread has
//!   *seen* it: its moment lies below the thread's clock. `Order` keeps the clocks of a
//!   block.
//! - *release, acquire*: a store lets a word *carry* knowledge, an arrival *brings* it to a
//!   phase of an `mbarrier`; a load or a wait *takes* it. `Carried` and `Release` are
//!   released clocks.
//! - *shadow cell*: the `Mark`s of a place, in `Shadow` and `cell::Cell`.
//! - *asynchronous proxy*: an *agent*, a warp and lane that stand for copies or products.
//! - *in flight, commit*: what is asynchronous is in a `Flights` or `Stores` until a wait
//!   for its group; `commit` closes the group.
//!
//! The modules:
//!
//! - `mark` is what is remembered of an access.
//! - `seen` has vector clocks, `warp` those of a warp and its lanes, and `clock` the order
//!   that they make.
//! - `words` has the words that carry clocks, and `moments` what the blocks of a launch
//!   share.
//! - `touch` is an access that is compared with earlier ones, `stored` what stores write.
//! - `shadow` has the accesses to shared memory, by warp in `planes`, and `global` those to
//!   global memory, by place in `cell`.
//! - `sights` has what strong reads have observed.
//! - `flights` has what is asynchronous, `stores` copies to or from global memory, `sends`
//!   copies that read shared memory or overtake its readers.
//! - `visits` has accesses to other blocks of the cluster.
//! - `accumulators` has what tensor cores do with registers.
//!
//! For every byte that has a race, one race is found, whatever the order in which the warps
//! run. An access is forgotten only if whatever could still race with it would race with a
//! later one, too.

pub(super) mod accumulators;
mod cell;
pub(super) mod clock;
pub(super) mod flights;
pub(super) mod global;
pub(super) mod mark;
pub(super) mod moments;
mod planes;
mod seen;
mod sends;
pub(super) mod shadow;
mod sights;
pub(super) mod stored;
pub(super) mod stores;
#[cfg(test)]
mod tests;
mod touch;
pub(super) mod visits;
mod warp;
pub(super) mod words;

use accumulators::Accumulators;
use clock::Order;
use flights::{Flights, Reads};
use global::GlobalRaces;
use mark::Mark;
pub(super) use moments::Moments;
pub(super) use seen::{Knowledge, Seen};
use shadow::{Hit, Shadow};
use std::collections::{BTreeMap, HashMap};
use stores::Stores;
use visits::Visits;

/// The first of the warps that stand for asynchronous copies.
pub(super) const AGENTS: u8 = 32;
/// The moment of copies in flight.
pub(super) const FLYING: u32 = u32::MAX;
/// The moment after which the clock restarts with the next block.
const WORN: u32 = 3 << 30;

/// Lanes of a mask.
pub(super) fn lanes(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros());
        mask &= mask.wrapping_sub(1);
        lane
    })
}

/// Warp and lane that stand for the copies which arrive at an `mbarrier`, the
/// `n`-th of the block.
fn agent(n: usize) -> (u8, u32) {
    let n = n as u32 % ((256 - u32::from(AGENTS)) * 32);
    (AGENTS + (n / 32) as u8, n % 32)
}

/// State that blocks which run together hand from one to the next.
#[derive(Debug, Default)]
pub(super) struct Common {
    pub moments: Moments,
    pub global: Option<GlobalRaces>,
    pub cells: Option<GlobalRaces>,
}

impl Common {
    /// Whether the logical clock is about to overflow.
    pub fn is_worn(&self) -> bool {
        self.moments.now() > WORN
    }
}

/// The state of the race detector for a block: its order, and the accesses of its threads.
pub(super) struct Races {
    pub order: Order,
    pub shadow: Shadow,
    /// Copies in flight of threads (`cp.async`): what they write to shared memory.
    pub copies: Flights,
    /// Bulk copies in flight from shared memory, by thread: what they read.
    pub bulk: Flights,
    /// Bulk copies in flight to global memory, by thread: what they write.
    pub stores: Stores,
    /// Copies in flight of threads (`cp.async`) from global memory: what they read.
    pub loads: Stores,
    /// Bulk copies from shared memory, by thread: what they read, for the other blocks of the
    /// cluster.
    pub sources: Stores,
    /// Products, by warp: what they read, for the other blocks of the cluster.
    pub products: Stores,
    /// The agent that reads global memory for a bulk copy to shared memory, while it is
    /// begun.
    pub loading: Option<(u8, u32)>,
    /// Factors of products, by warps.
    pub factors: Flights,
    pub reads: Reads,
    pub accumulators: Accumulators,
    /// `mbarrier`s that were initialised, by whom, and whether a fence for that
    /// has come.
    inits: HashMap<u64, (u32, u32, bool)>,
    /// Somebody has arrived at the barrier of the cluster by `.relaxed`.
    pub arrived_relaxed: bool,
    /// Global memory, where races are looked for there.
    pub global: Option<GlobalRaces>,
    /// Shared memory of the blocks of clusters, if there are several: what is
    /// done to it by others than the block's own threads.
    pub cells: Option<GlobalRaces>,
    /// Accesses to other blocks of the cluster.
    pub visits: Visits,
    /// The `mbarrier`s that copies arrive at, by address.
    agents: HashMap<u64, usize>,
    /// By the moment of an agent's access, the thread that began it.
    begun: HashMap<u32, u32>,
    /// Reads of shared memory by bulk copies that arrive at an `mbarrier`: address, bytes,
    /// and the agent with its moment.
    sends: Vec<(u64, u64, Mark)>,
    /// The last bulk copy of each thread to shared memory by an instruction, and its address.
    filled: BTreeMap<(u32, u32, u64), (Mark, u64)>,
    /// Instructions that parts of warps have executed.
    parted: Vec<bool>,
    /// Whether a copy comes only behind an access, by their instructions.
    overtaking: HashMap<[u32; 2], bool>,
}

impl Races {
    /// The detector of a block with so many bytes of shared memory. Its places are bytes
    /// from the start if it `has_bytes`: if the kernel accesses something smaller than a
    /// word.
    pub fn new(bytes: u64, warps: u32, (volatile, has_bytes): (bool, bool)) -> Self {
        let mut order = Order::new(warps);
        order.volatile = volatile;
        let mut shadow = Shadow::new(bytes, warps);
        if has_bytes {
            shadow.refine();
        }
        Races {
            order,
            shadow,
            copies: Flights::default(),
            bulk: Flights::default(),
            stores: Stores::default(),
            loads: Stores::default(),
            sources: Stores::default(),
            products: Stores::default(),
            loading: None,
            factors: Flights::default(),
            reads: Reads::new(bytes),
            accumulators: Accumulators::new(32 * warps),
            inits: HashMap::new(),
            arrived_relaxed: false,
            global: None,
            cells: None,
            visits: Visits::default(),
            agents: HashMap::new(),
            begun: HashMap::new(),
            sends: Vec::new(),
            filled: BTreeMap::new(),
            parted: Vec::new(),
            overtaking: HashMap::new(),
        }
    }

    /// Notes that only some of the live lanes of a warp execute an access, if so.
    #[inline(always)]
    pub fn note_part(&mut self, warp: u32, mask: u32, pc: u32) {
        if !self.order.is_all_alive(warp, mask) {
            let at = pc as usize;
            if at >= self.parted.len() {
                self.parted.resize(at + 1, false);
            }
            self.parted[at] = true;
        }
    }

    /// Whether a part of a warp has executed an access.
    pub fn is_parted(&self, pc: u32) -> bool {
        self.parted.get(pc as usize).copied().unwrap_or(false)
    }

    /// The next block begins.
    pub fn begin(&mut self, block: u64) {
        for flight in self.copies.clear() {
            self.land(flight, |m| *m = Mark::default());
        }
        self.bulk.clear();
        self.stores.clear();
        self.loads.clear();
        self.sources.clear();
        self.products.clear();
        self.factors.clear();
        self.reads.clear();
        self.accumulators.clear();
        self.agents.clear();
        self.begun.clear();
        self.filled.clear();
        self.sends.clear();
        self.inits.clear();
        self.visits.clear();
        self.arrived_relaxed = false;
        if self.order.now() > WORN && !self.order.turns {
            self.renew();
        }
        self.order.begin(block);
    }

    /// Restarts the clock; older marks become invalid.
    pub fn renew(&mut self) {
        self.order.renew();
        self.shadow.clear();
        self.begun.clear();
        self.global.iter_mut().for_each(GlobalRaces::clear);
    }

    /// The block has its turn among blocks that run together.
    pub fn enter(&mut self, common: Common) {
        self.order.enter(common.moments);
        (self.global, self.cells) = (common.global, common.cells);
    }

    /// Ends the block's turn and returns what the next one needs.
    pub fn leave(&mut self) -> Common {
        Common {
            moments: self.order.leave(),
            global: self.global.take(),
            cells: self.cells.take(),
        }
    }

    /// Warp and lane that stand for the copies which arrive at an `mbarrier`.
    pub fn agent(&mut self, barrier: u64) -> (u8, u32) {
        let next = self.agents.len();
        agent(*self.agents.entry(barrier).or_insert(next))
    }

    /// Warp and lane that stand for the bulk copies of a thread to global memory.
    pub fn store_agent(&mut self, thread: u32) -> (u8, u32) {
        self.agent(1 << 60 | u64::from(thread))
    }

    /// A thread begins a `cp.async` at a moment: warp and lane that stand for its reads.
    pub fn begin_load(&mut self, thread: u32, moment: u32) -> (u8, u32) {
        self.loads.begin(thread, moment);
        self.load_agent(thread)
    }

    fn load_agent(&mut self, thread: u32) -> (u8, u32) {
        self.agent(1 << 62 | u64::from(thread))
    }

    /// A thread begins a bulk copy from shared memory: warp and lane that stand for its
    /// reads.
    pub fn begin_source(&mut self, thread: u32, moment: u32) -> (u8, u32) {
        self.sources.begin(thread, moment);
        self.source_agent(thread)
    }

    fn source_agent(&mut self, thread: u32) -> (u8, u32) {
        self.agent(1 << 59 | u64::from(thread))
    }

    /// A thread has waited for its bulk copies: it knows that they have read.
    pub fn see_sources(&mut self, thread: u32, left: u32) {
        if let Some(moment) = self.sources.wait(thread, Some(left)) {
            let agent = self.source_agent(thread);
            self.order.see(thread / 32, thread % 32, agent, moment);
        }
    }

    /// A warp begins a product: warp and lane that stand for its reads.
    pub fn begin_product(&mut self, warp: u32, moment: u32) -> (u8, u32) {
        self.products.begin(warp, moment);
        self.product_agent(warp)
    }

    fn product_agent(&mut self, warp: u32) -> (u8, u32) {
        self.agent(1 << 58 | u64::from(warp))
    }

    /// A warp has waited for its products.
    pub fn see_products(&mut self, warp: u32, left: u32) {
        if let Some(moment) = self.products.wait(warp, Some(left)) {
            let agent = self.product_agent(warp);
            (0..32).for_each(|lane| self.order.see(warp, lane, agent, moment));
        }
    }

    /// Warp and lane that stand for what the block sends to an `mbarrier` in the block
    /// of a rank.
    pub fn sender(&mut self, rank: u32, barrier: u64) -> (u8, u32) {
        self.agent(1 << 61 | u64::from(rank) << 32 | barrier)
    }

    /// A thread has waited for its bulk copies: it sees what they wrote.
    pub fn see_stores(&mut self, thread: u32, left: u32) {
        if let Some(moment) = self.stores.wait(thread, Some(left)) {
            let (agent, lane) = self.store_agent(thread);
            self.order
                .see(thread / 32, thread % 32, (agent, lane), moment);
        }
    }

    /// The thread of an earlier access that races, if possible one other than `own`; for a
    /// copy, the thread that began it.
    pub fn thread_of(&self, hit: &Hit, own: u32) -> u32 {
        let mark = &hit.earlier;
        let same = u32::from(mark.warp) == own / 32;
        let others = if same {
            hit.unseen & !(1 << (own % 32))
        } else {
            hit.unseen
        };
        let others = if others == 0 { hit.unseen } else { others };
        let lane = others.trailing_zeros() % 32;
        let begun = self.begun.get(&mark.moment);
        begun.copied().unwrap_or(32 * u32::from(mark.warp) + lane)
    }

    /// A thread begins a copy to shared memory. The copy is in flight or, with an
    /// `mbarrier`, an access of an agent, which those who wait for the `mbarrier` see.
    pub fn fly(&mut self, at: (u64, u32), touch: &shadow::Touch, barrier: Option<u64>) {
        let (first, count) = self.places(at.0, at.1);
        let mut mark = touch.mark();
        mark.moment = FLYING;
        if let Some(barrier) = barrier {
            let (agent, lane) = self.agent(barrier);
            (mark.moment, mark.warp, mark.lanes) = (touch.moment, agent, 1 << lane);
            let thread = 32 * touch.warp + touch.lanes.trailing_zeros();
            self.begun.insert(mark.moment, thread);
            self.filled
                .insert((touch.pc, thread, barrier), (mark, at.0));
        } else {
            let thread = 32 * touch.warp + touch.lanes.trailing_zeros();
            self.copies.begin(thread, at, (touch.pc, touch.moment));
        }
        self.shadow.put(&self.order, first, count, (mark, touch));
    }

    /// A copy that a lane has begun comes in the phase of an `mbarrier`, with
    /// what the lane did before.
    pub fn come(&mut self, warp: u32, lane: u32, (barrier, phase): (u64, u64)) {
        let (agent, place) = self.agent(barrier);
        self.order.bring(warp, 1 << lane, phase);
        self.order.bring_agent(agent, place, phase);
    }

    /// Whether anything asynchronous reads shared memory.
    #[inline(always)]
    pub fn any_reads(&self) -> bool {
        self.reads.any() || !self.sends.is_empty()
    }

    /// A lane initialises an `mbarrier`.
    pub fn initialise(&mut self, warp: u32, lane: u32, barrier: u64) {
        self.inits.insert(barrier, (warp, lane, false));
    }

    /// `fence.mbarrier_init` of lanes.
    pub fn fence_init(&mut self, warp: u32, mask: u32) {
        let own = |(by, lane, _): &&mut (u32, u32, bool)| *by == warp && mask >> *lane & 1 != 0;
        self.inits.values_mut().filter(own).for_each(|i| i.2 = true);
    }

    /// Passes the barrier of the cluster. If threads have arrived by `.relaxed`, it orders
    /// no accesses but the initialisations of `mbarrier`s that were fenced, which are
    /// returned.
    pub fn pass_relaxed(&mut self) -> Vec<u64> {
        if !std::mem::take(&mut self.arrived_relaxed) {
            return Vec::new();
        }
        let fenced = self.inits.iter().filter(|(_, i)| i.2);
        let fenced: Vec<u64> = fenced.map(|(at, _)| *at).collect();
        for &at in &fenced {
            let (first, count) = self.places(at, 8);
            for place in first..first + count {
                self.shadow
                    .written(place)
                    .for_each(|m| *m = Mark::default());
            }
        }
        fenced
    }

    /// The places that bytes are in.
    pub fn places(&mut self, address: u64, bytes: u32) -> (u32, u32) {
        let unit = u64::from(self.shadow.unit());
        if unit == 4 && (!address.is_multiple_of(4) || !bytes.is_multiple_of(4)) {
            self.shadow.refine();
            return (address as u32, bytes);
        }
        // 4 or 1: a division would be most of what a lane costs.
        let bits = u32::from(unit == 4) * 2;
        ((address >> bits) as u32, bytes >> bits)
    }

    /// Changes the marks of a copy in flight.
    fn land(&mut self, flight: flights::Flight, change: impl Fn(&mut Mark)) {
        let (first, count) = self.places(flight.address, flight.bytes);
        for place in first..first + count {
            let marks = self.shadow.written(place);
            let own = |m: &&mut Mark| m.moment == FLYING && m.pc == flight.pc;
            marks.filter(own).for_each(&change);
        }
    }

    /// A thread has waited for copies of its own: others may see them after it.
    pub fn landed(&mut self, warp: u32, lane: u32, left: Option<u32>) {
        let thread = 32 * warp + lane;
        self.order.act(warp, 1 << lane);
        if let Some(moment) = self.loads.wait(thread, left) {
            let agent = self.load_agent(thread);
            self.order.see(warp, lane, agent, moment);
        }
        let moment = self.order.tick();
        for flight in self.copies.wait(thread, left) {
            self.land(flight, |mark| {
                if u32::from(mark.warp) == warp && mark.lanes == 1 << lane {
                    mark.moment = moment;
                }
            });
        }
    }

    /// The copies of a thread so far arrive at an `mbarrier`, in a phase of it.
    pub fn bind(&mut self, warp: u32, lane: u32, (barrier, phase): (u64, u64)) {
        let thread = 32 * warp + lane;
        if self.loads.wait(thread, None).is_some() {
            let (agent, place) = self.load_agent(thread);
            self.order.bring_agent(agent, place, phase);
        }
        let (agent, place) = self.agent(barrier);
        let moment = self.order.tick();
        self.begun.insert(moment, thread);
        for flight in self.copies.take(thread) {
            self.land(flight, |mark| {
                if u32::from(mark.warp) == warp && mark.lanes == 1 << lane {
                    (mark.moment, mark.warp, mark.lanes) = (moment, agent, 1 << place);
                }
            });
        }
    }
}
