//! `spad_conflict_history`: the excess of each memory instruction's last
//! execution (elastic paper, section 5.2;
//! microarchitecture/conflict-history.md).

use super::spad_degree_accumulator::ExcessUpdate;

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct HistoryInputs {
    /// Synchronous reset.
    pub rst: bool,
    /// Kernel launch: forget everything; wins over an update.
    pub clear: bool,
    /// Program counter to look up.
    pub lookup: Option<u16>,
    /// The measured excess of an instruction.
    pub update: Option<ExcessUpdate>,
}

/// Answer to the previous cycle's look-up; registered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryOutputs {
    /// There was a look-up.
    pub done: bool,
    /// Whether the look-up found its program counter.
    pub hit: bool,
    /// The excess; 0 on a miss, the paper's default.
    pub excess: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Way {
    valid: bool,
    tag: u16,
    excess: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Set {
    ways: [Way; 2],
    /// The way to be replaced next.
    lru: usize,
}

impl Set {
    fn find(&self, tag: u16) -> Option<usize> {
        self.ways.iter().position(|w| w.valid && w.tag == tag)
    }
}

/// The cache: two ways.
#[derive(Clone, Debug)]
pub struct ConflictHistory {
    sets: Vec<Set>,
    answer: HistoryOutputs,
}

impl ConflictHistory {
    /// An empty cache of `sets` sets, a power of two.
    pub fn new(sets: usize) -> Self {
        ConflictHistory {
            sets: vec![Set::default(); sets],
            answer: HistoryOutputs::default(),
        }
    }

    fn place(&self, pc: u16) -> (usize, u16) {
        let sets = self.sets.len();
        (usize::from(pc) & (sets - 1), pc >> sets.trailing_zeros())
    }

    /// The answer to the previous cycle's look-up.
    pub fn eval(&self) -> HistoryOutputs {
        self.answer
    }

    /// The clock edge.
    #[inline(always)]
    pub fn commit(&mut self, inputs: &HistoryInputs) {
        // Contents of before this edge.
        self.answer = match inputs.lookup {
            Some(pc) if !inputs.rst => self.look_up(pc),
            _ => HistoryOutputs::default(),
        };
        if inputs.rst || inputs.clear {
            self.sets.fill(Set::default());
        } else if let Some(update) = inputs.update {
            self.learn(update);
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &HistoryInputs) -> HistoryOutputs {
        let outputs = self.eval();
        self.commit(inputs);
        outputs
    }

    #[inline(always)]
    fn look_up(&self, pc: u16) -> HistoryOutputs {
        let (set, tag) = self.place(pc);
        let set = &self.sets[set];
        let found = set.find(tag);
        HistoryOutputs {
            done: true,
            hit: found.is_some(),
            excess: found.map_or(0, |way| set.ways[way].excess),
        }
    }

    #[inline(always)]
    fn learn(&mut self, update: ExcessUpdate) {
        let (set, tag) = self.place(update.pc);
        let set = &mut self.sets[set];
        let invalid = || set.ways.iter().position(|w| !w.valid);
        let way = set.find(tag).or_else(invalid).unwrap_or(set.lru);
        set.ways[way] = Way {
            valid: true,
            tag,
            excess: update.excess,
        };
        set.lru = 1 - way;
    }
}

/// Bytes of the cache by the elastic paper's formula (section 5.4): an excess
/// and a tag per entry.
pub fn paper_bytes(sets: u32, pc_bits: u32, excess_bits: u32) -> u32 {
    let tag_bits = pc_bits - sets.trailing_zeros();
    2 * sets * (excess_bits + tag_bits) / 8
}

/// Bits in the memories of the RTL: the paper's, and a second copy of the tags,
/// because updates read them in the cycle of a look-up.
pub fn memory_bits(sets: u32, pc_bits: u32, excess_bits: u32) -> u32 {
    let tag_bits = pc_bits - sets.trailing_zeros();
    8 * paper_bytes(sets, pc_bits, excess_bits) + 2 * sets * tag_bits
}

/// Flip-flops of the RTL: a valid bit per entry, an LRU bit per set, and the
/// registers of a look-up and of the two updates under way.
pub fn flops(sets: u32, pc_bits: u32, excess_bits: u32) -> u32 {
    let tag_bits = pc_bits - sets.trailing_zeros();
    let look_up = 6 + tag_bits + excess_bits;
    let update = pc_bits + excess_bits;
    3 * sets + look_up + (8 + update) + (2 + update)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn(history: &mut ConflictHistory, pc: u16, excess: u32) {
        history.step(&HistoryInputs {
            update: Some(ExcessUpdate { pc, excess }),
            ..HistoryInputs::default()
        });
    }

    fn look(history: &mut ConflictHistory, pc: u16) -> Option<u32> {
        history.step(&HistoryInputs {
            lookup: Some(pc),
            ..HistoryInputs::default()
        });
        let out = history.eval();
        assert!(out.done);
        out.hit.then_some(out.excess)
    }

    #[test]
    fn the_older_of_two_ways_is_replaced() {
        let mut h = ConflictHistory::new(256);
        assert_eq!(look(&mut h, 5), None);
        learn(&mut h, 5, 3);
        learn(&mut h, 5 + 256, 4);
        assert_eq!((look(&mut h, 5), look(&mut h, 261)), (Some(3), Some(4)));
        learn(&mut h, 5, 7);
        learn(&mut h, 5 + 512, 9);
        assert_eq!(look(&mut h, 261), None, "replaced: 5 was written after it");
        assert_eq!((look(&mut h, 5), look(&mut h, 517)), (Some(7), Some(9)));
    }

    #[test]
    fn a_look_up_sees_the_contents_before_the_edge_and_clear_wins() {
        let mut h = ConflictHistory::new(4);
        let both = HistoryInputs {
            lookup: Some(1),
            update: Some(ExcessUpdate { pc: 1, excess: 6 }),
            ..HistoryInputs::default()
        };
        h.step(&both);
        assert!(!h.eval().hit);
        h.step(&HistoryInputs {
            clear: true,
            ..both
        });
        assert_eq!(h.eval().excess, 6);
        assert_eq!(look(&mut h, 1), None);
    }

    /// Elastic paper, section 5.4.
    #[test]
    fn the_papers_cache_has_704_bytes() {
        assert_eq!(paper_bytes(256, 14, 5), 704);
        assert_eq!(memory_bits(256, 14, 5), 8 * 704 + 512 * 6);
        assert_eq!(flops(256, 14, 5), 768 + 17 + 27 + 21);
    }
}
