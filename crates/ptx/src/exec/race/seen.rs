//! Vector clocks: for each other thread, the moment before which its accesses have been
//! seen.
//!
//! Moments are numbers that grow with every access of the launch. Threads are lanes of
//! warps; behind the warps of a block come those of its asynchronous
//! [agents](super::agent).

use std::collections::BTreeMap;

/// The part of a vector clock for the lanes of one warp.
#[derive(Clone, Debug, Default)]
struct OfWarp {
    warp: u8,
    /// Everything that any lane did before this moment.
    all: u32,
    /// By lane, a later moment, if the lanes differ.
    each: Option<Box<[u32; 32]>>,
}

impl OfWarp {
    fn get(&self, lane: u32) -> u32 {
        let own = self.each.as_ref().map_or(0, |e| e[lane as usize]);
        own.max(self.all)
    }

    fn join(&mut self, other: &OfWarp) {
        self.all = self.all.max(other.all);
        match (&mut self.each, &other.each) {
            (_, None) => {}
            (Some(own), Some(new)) => {
                let both = own.iter_mut().zip(new.iter());
                both.for_each(|(own, new)| *own = (*new).max(*own));
            }
            (own, new) => own.clone_from(new),
        }
    }
}

/// A vector clock over the threads of a block and of the blocks before it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Everything that threads of the block did before this moment.
    all: u32,
    /// The part for each warp, sorted by warp.
    warps: Vec<OfWarp>,
    /// The vector clocks over earlier blocks, by number.
    blocks: BTreeMap<u32, Seen>,
}

impl Seen {
    /// Everything that the threads of the block did before a moment.
    pub fn until(all: u32) -> Self {
        Seen {
            all,
            ..Seen::default()
        }
    }

    pub fn is_empty(&self) -> bool {
        self.all == 0 && self.warps.is_empty() && self.blocks.is_empty()
    }

    pub fn clear(&mut self) {
        self.all = 0;
        self.warps.clear();
        self.blocks.clear();
    }

    /// Forgets the threads of the block, but not its agents.
    pub fn forget_threads(&mut self) {
        self.all = 0;
        self.warps.retain(|w| w.warp >= super::AGENTS);
    }

    /// Takes out the part for other blocks.
    pub fn take_blocks(&mut self) -> Seen {
        Seen {
            blocks: std::mem::take(&mut self.blocks),
            ..Seen::default()
        }
    }

    /// Whether anything of another block was seen.
    pub fn has_blocks(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Forgets the threads of other blocks.
    pub fn forget_blocks(&mut self) {
        self.blocks.clear();
    }

    fn of(&mut self, warp: u8) -> &mut OfWarp {
        let at = match self.warps.binary_search_by_key(&warp, |w| w.warp) {
            Ok(at) => at,
            Err(at) => {
                let new = OfWarp {
                    warp,
                    ..OfWarp::default()
                };
                self.warps.insert(at, new);
                at
            }
        };
        &mut self.warps[at]
    }

    /// The lanes of a warp up to a moment; `u32::MAX` for all of it.
    pub fn raise(&mut self, warp: u8, lanes: u32, moment: u32) {
        let of = self.of(warp);
        if lanes == u32::MAX {
            of.all = of.all.max(moment);
            return;
        }
        let each = of.each.get_or_insert_with(|| Box::new([0; 32]));
        for lane in super::lanes(lanes) {
            let own = &mut each[lane as usize];
            *own = moment.max(*own);
        }
    }

    /// The moment of a lane up to which it was seen.
    pub fn get(&self, warp: u8, lane: u32) -> u32 {
        let found = self.warps.binary_search_by_key(&warp, |w| w.warp);
        let of = found.map_or(0, |at| self.warps[at].get(lane));
        // Agents (asynchronous copies) belong to no thread, so `all` does not cover them.
        if warp >= super::AGENTS {
            of
        } else {
            of.max(self.all)
        }
    }

    /// The moment before which a lane of another block was seen.
    pub fn get_of(&self, block: u32, warp: u8, lane: u32) -> u32 {
        let of = self.blocks.get(&block);
        of.map_or(0, |seen| seen.get(warp, lane))
    }

    pub fn join(&mut self, other: &Seen) {
        if other.is_empty() {
            return;
        }
        self.all = self.all.max(other.all);
        for of in &other.warps {
            self.of(of.warp).join(of);
        }
        for (block, seen) in &other.blocks {
            self.blocks.entry(*block).or_default().join(seen);
        }
    }

    /// The clock as other blocks have it: its part for the own block becomes that of block
    /// `number`.
    pub fn abroad(&self, number: u32) -> Seen {
        let mut blocks = self.blocks.clone();
        let own = Seen {
            all: self.all,
            warps: self.warps.clone(),
            blocks: BTreeMap::new(),
        };
        blocks.entry(number).or_default().join(&own);
        Seen {
            blocks,
            ..Seen::default()
        }
    }
}

/// Vector clocks of a thread: what it knows of the others, one clock per way of
/// synchronising.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    /// Accesses that happened before, for all purposes.
    pub seen: Seen,
    /// Accesses that volatile loads have seen; they need no fence.
    pub loose: Seen,
    /// Accesses that a proxy fence has made visible to asynchronous copies and tensor
    /// cores, in shared and in global memory.
    pub proxied: [Seen; 2],
    /// Accesses before a fence for the block: what a word carries there.
    pub fenced: Seen,
    /// Accesses before a fence for the cluster.
    pub near: Seen,
    /// Accesses before a fence for other blocks.
    pub published: Seen,
    /// Accesses that words of the block have brought, until the next fence.
    pub pending: Seen,
    /// Accesses that words of other blocks of the cluster have brought, until the next
    /// fence.
    pub pending_near: Seen,
    /// Accesses that words of blocks outside the cluster have brought, until the next
    /// fence.
    pub pending_wide: Seen,
    /// Accesses that words of other blocks had brought before a barrier of the block, where
    /// the thread that read them made no fence.
    pub unfenced: Seen,
    /// The instruction that read the last word without a fence.
    pub ticket: Option<u32>,
}

impl Knowledge {
    fn parts(&self) -> [&Seen; 11] {
        let k = self;
        [
            &k.seen,
            &k.loose,
            &k.proxied[0],
            &k.proxied[1],
            &k.fenced,
            &k.near,
            &k.published,
            &k.pending,
            &k.pending_near,
            &k.pending_wide,
            &k.unfenced,
        ]
    }

    fn parts_mut(&mut self) -> [&mut Seen; 11] {
        let [shared, global] = &mut self.proxied;
        [
            &mut self.seen,
            &mut self.loose,
            shared,
            global,
            &mut self.fenced,
            &mut self.near,
            &mut self.published,
            &mut self.pending,
            &mut self.pending_near,
            &mut self.pending_wide,
            &mut self.unfenced,
        ]
    }

    /// The clocks that fences fill, by the kinds of fence.
    pub fn by_fences(&mut self) -> [&mut Seen; 5] {
        let [shared, global] = &mut self.proxied;
        [
            &mut self.fenced,
            &mut self.published,
            shared,
            &mut self.near,
            global,
        ]
    }

    pub fn clear(&mut self) {
        self.parts_mut().into_iter().for_each(Seen::clear);
        self.ticket = None;
    }

    pub fn join(&mut self, other: &Knowledge) {
        let both = self.parts_mut().into_iter().zip(other.parts());
        both.for_each(|(own, new)| own.join(new));
        self.ticket = other.ticket.or(self.ticket);
    }

    /// A barrier of threads has been passed: they know what words have brought to one of
    /// them, but for its fence.
    pub fn settle(&mut self) {
        self.unfenced.join(&self.pending_near);
        self.unfenced.join(&self.pending_wide);
    }

    /// A barrier of the block has been passed: what its threads did before is
    /// known without.
    pub fn pass(&mut self) {
        let parts = [
            &mut self.seen,
            &mut self.loose,
            &mut self.fenced,
            &mut self.pending,
            &mut self.pending_near,
            &mut self.pending_wide,
            &mut self.unfenced,
        ];
        parts.into_iter().for_each(Seen::forget_threads);
    }
}
