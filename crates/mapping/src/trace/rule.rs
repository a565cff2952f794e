//! Rules for counting conflicts: which words of a warp access are served
//! together (docs/guides/conflicts.md).

use super::access::{Access, AccessTrace, Op};
use serde::{Deserialize, Serialize};

/// A rule of counting accesses wider than a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wide {
    /// Wide accesses count on the first word of each lane: the machines of the
    /// papers, and the scratchpad that the kit emits.
    FirstWord,
    /// Today's GPUs: 8-byte accesses go in two phases of half a warp, 16-byte
    /// ones in four of a quarter, each with all words of its lanes.
    Phases,
    /// Phases as in `Phases`, but a load whose lanes agree in pairs takes half of
    /// them: lanes l and l ^ 1, or l and l ^ 2, have the same address for every
    /// active l. NVIDIA states this for compute capability 7.x (Developer Forums,
    /// "Unexpected shared memory bank conflict", topic 77228).
    PhasesMerged,
}

impl Wide {
    /// The name in configuration files and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Wide::FirstWord => "first-word",
            Wide::Phases => "phases",
            Wide::PhasesMerged => "phases-merged",
        }
    }

    /// Whether every word of a lane counts, in phases of a part of the warp.
    pub fn in_phases(self) -> bool {
        self != Wide::FirstWord
    }

    /// The phases that a load of `words` words a lane takes; `addr` gives the
    /// address of a lane, `None` where it is inactive.
    pub fn load_phases<A: PartialEq>(
        self,
        words: u32,
        lanes: usize,
        addr: impl Fn(usize) -> Option<A>,
    ) -> u32 {
        let agree = |l: usize, partner: usize| match (addr(l), addr(partner)) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        let pairs = |distance| (0..lanes).all(|l| agree(l, l ^ distance));
        let merges = self == Wide::PhasesMerged && words > 1 && (pairs(1) || pairs(2));
        if merges { words / 2 } else { words }
    }
}

/// A rule of counting the conflict degree of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Atomics {
    /// Different words, as of a load: a lock unit sorts out lanes on one word.
    Words,
    /// Lanes: those on one word are served one after another.
    Lanes,
    /// Lanes, but words of an [increment](Access::increment).
    LanesButIncrements,
}

impl Atomics {
    /// Whether the lanes of an atomic that are on one word are served one after
    /// another; `increment` as [`Access::increment`], `aggregated` as
    /// [`Access::aggregated`].
    pub fn in_turn(self, increment: bool, aggregated: bool) -> bool {
        match self {
            Atomics::Words => false,
            Atomics::Lanes => !aggregated,
            Atomics::LanesButIncrements => !increment && !aggregated,
        }
    }
}

/// A rule for the words of a warp access that are served together. A *phase* is the
/// set of words that are served together, apart from bank conflicts: a pass of the
/// lanes, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConflictRule {
    /// Words that are served at a time where no two are in one bank.
    pub lanes: u32,
    /// Accesses of 8 and 16 bytes.
    pub wide: Wide,
    /// Atomics.
    pub atomics: Atomics,
    /// Whether lanes of a load or store on one word are served together.
    pub broadcast: bool,
}

/// The rule of the papers, for `lanes` lanes a pass.
impl From<u32> for ConflictRule {
    fn from(lanes: u32) -> Self {
        ConflictRule {
            lanes,
            wide: Wide::FirstWord,
            atomics: Atomics::Words,
            broadcast: true,
        }
    }
}

/// The common part of both rules with phases.
const IN_PHASES: &str = "every word of each lane; accesses of 8 bytes in two phases of half a \
                         warp, of 16 bytes in four of a quarter";

impl ConflictRule {
    /// The name in JSON: that of the configuration key `wide`.
    pub fn name(&self) -> &'static str {
        self.wide.name()
    }

    /// The rule in words, for people.
    pub fn describe(&self) -> String {
        let together = if self.broadcast {
            "lanes on one word are served together"
        } else {
            "lanes on one word are served one after another"
        };
        let wide = match self.wide {
            Wide::FirstWord => format!(
                "{} lanes a pass, the first word of each (of accesses of 8 and 16 bytes, too)",
                self.lanes
            ),
            Wide::Phases => IN_PHASES.to_owned(),
            Wide::PhasesMerged => format!(
                "{IN_PHASES}; a load whose lanes have one address in pairs (l and l ^ 1, or l and \
                 l ^ 2) takes half as many"
            ),
        };
        let atomics = match self.atomics {
            Atomics::Words => "",
            Atomics::Lanes => {
                ", those of an atomic one after another unless one lane does it for all"
            }
            Atomics::LanesButIncrements => {
                ", those of an atomic one after another unless one lane does it for all, or it adds \
                 one and its result is unused"
            }
        };
        format!("{wide}; {together}{atomics}")
    }

    /// Words of each lane that count.
    fn words(&self, access: &Access) -> u32 {
        match self.wide {
            Wide::FirstWord => 1,
            Wide::Phases | Wide::PhasesMerged => access.words(),
        }
    }

    /// The words of each phase with an active lane, lane by lane; a word of
    /// several lanes occurs as often.
    pub fn phases<'a>(&self, access: &'a Access) -> impl Iterator<Item = Vec<u32>> + use<'a> {
        let words = self.words(access);
        let lanes = (self.lanes / self.phases_of(access)).max(1);
        let phases = access.addrs.chunks(lanes as usize);
        let all = move |lanes: &[Option<u32>]| -> Vec<u32> {
            let first = lanes.iter().copied().flatten();
            first.flat_map(|addr| addr..addr + words).collect()
        };
        phases.map(all).filter(|words| !words.is_empty())
    }

    /// The words of each phase, as [`phases`](Self::phases), with the lane of each
    /// word.
    pub fn lanes_of_phases(&self, access: &Access) -> Vec<Vec<(u32, u32)>> {
        let words = self.words(access);
        let count = self.phases_of(access);
        let lanes = (self.lanes / count).max(1);
        let numbered: Vec<(u32, Option<u32>)> = (0..).zip(access.addrs.iter().copied()).collect();
        let phases = numbered.chunks(lanes as usize).map(|lanes| {
            let active = lanes
                .iter()
                .filter_map(|(lane, addr)| Some((*lane, (*addr)?)));
            let all = active.flat_map(|(lane, addr)| (addr..addr + words).map(move |w| (lane, w)));
            all.collect::<Vec<_>>()
        });
        phases.filter(|phase| !phase.is_empty()).collect()
    }

    /// Phases of a warp that is wholly active: one, if one lane does it for all.
    fn phases_of(&self, access: &Access) -> u32 {
        let words = self.words(access);
        match access.op {
            Op::Atomic if access.aggregated && self.atomics != Atomics::Words => 1,
            Op::Load => {
                let of_lane = |l: usize| access.addrs.get(l).copied().flatten();
                self.wide.load_phases(words, access.addrs.len(), of_lane)
            }
            _ => words,
        }
    }

    /// The reference sets of the search heuristics: one per warp access (hash
    /// paper, section 5.2), on machines with phases one per phase.
    pub fn reference_sets(&self, access: &Access) -> Vec<Vec<u32>> {
        match self.wide {
            Wide::Phases | Wide::PhasesMerged => self.phases(access).collect(),
            Wide::FirstWord => {
                let all: Vec<u32> = access.addrs.iter().copied().flatten().collect();
                if all.is_empty() { vec![] } else { vec![all] }
            }
        }
    }

    /// Whether each lane on a word costs time of its own.
    pub fn counts_lanes(&self, access: &Access) -> bool {
        match access.op {
            Op::Atomic => self.atomics.in_turn(access.increment, access.aggregated),
            Op::Load | Op::Store => !self.broadcast,
        }
    }

    /// The distances in words between the words of one lane that count: they
    /// are strides of the trace, too.
    pub fn strides_within_lanes(&self, trace: &AccessTrace) -> std::ops::Range<u64> {
        let words = trace.accesses.iter().map(|a| self.words(a)).max();
        1..u64::from(words.unwrap_or(1))
    }
}
