//! The slot of each block, and the base of its scratchpad
//! (microarchitecture/sm-model.md; sharing paper, section 3).

use super::instr::KernelInfo;
use super::residency::{BlockNeeds, Residency, cannot_share};
use crate::config::Config;
use spadkit_base::error::{Error, Result};

/// The base of a slot's scratchpad, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotBase {
    /// Words from `base` on.
    Own { base: u32 },
    /// A block of a pair: its own words from `private` on, those that both
    /// share where they would lie if it began at `base`.
    Paired { base: u32, private: u32 },
}

/// The distances between blocks, in words.
struct Spacing {
    /// Distance from the start of a pair to the private words of its second block.
    partner: u32,
    /// Distance from pair to pair.
    pair: u32,
    /// Distance from block to block, for blocks without a partner.
    own: u32,
}

/// A mapping whose highest address bit is below this one has the same conflicts
/// in all blocks that begin with multiples of it.
const LONGEST_PERIOD: u32 = 4096;

impl Spacing {
    /// A pair is a whole block followed by the private words of the second one.
    /// Both parts of the second block begin at the same offset in the period of
    /// a bank mapping, and so do all blocks, if that costs no block. If it does,
    /// blocks begin with a row of banks; if that does, too, with a word.
    fn of(residency: &Residency, config: &Config) -> Self {
        let row = config.geometry.banks() as u32;
        let doubled = std::iter::successors(Some(LONGEST_PERIOD), |p| Some(p / 2));
        let periods = doubled.take_while(|&p| p > row && residency.pairs > 0);
        let aligned = periods.map(|p| Self::aligned(residency, p, p));
        let rows = [(row, row), (1, row), (1, 1)];
        let rows = rows.map(|(partner, base)| Self::aligned(residency, partner, base));
        let fits = |s: &Spacing| {
            let words = u64::from(residency.pairs) * u64::from(s.pair)
                + u64::from(residency.alone) * u64::from(s.own);
            words <= u64::from(config.capacity_words)
        };
        let tightest = Self::aligned(residency, 1, 1);
        aligned.chain(rows).find(fits).unwrap_or(tightest)
    }

    fn aligned(residency: &Residency, partner: u32, base: u32) -> Self {
        let words = residency.words;
        let partner = words.next_multiple_of(partner);
        Spacing {
            partner,
            pair: (partner + residency.private_words).next_multiple_of(base),
            own: words.next_multiple_of(base),
        }
    }
}

/// The slots of a kernel on a machine.
#[derive(Clone, Debug)]
pub struct Layout {
    residency: Residency,
    warps_per_block: u32,
    bases: Vec<SlotBase>,
}

impl Layout {
    /// The slots of the blocks that are resident; pairs first. Each scratchpad
    /// begins with a row of banks where that costs no block, else with a word.
    pub fn new(config: &Config, info: &KernelInfo) -> Result<Self> {
        if info.warp_size != config.warp_size {
            return Err(Error::usage(
                format!(
                    "{} has warps of {} threads, the machine of {}",
                    info.name, info.warp_size, config.warp_size
                ),
                "use a preset or a configuration file with the same warp_size",
            ));
        }
        let needs = BlockNeeds {
            name: &info.name,
            scratchpad_bytes: info.shared_bytes,
            threads: info.threads(),
            registers: info.registers,
        };
        let sharing = config.sm.sharing;
        let sharing = sharing.on.then_some(sharing.threshold);
        if let (Some(_), Some(together)) = (sharing, &info.together) {
            return Err(cannot_share(&info.name, together));
        }
        let residency = Residency::new(config, &needs, sharing)?;
        let (pairs, alone) = (residency.pairs, residency.alone);
        let Spacing { partner, pair, own } = Spacing::of(&residency, config);
        let mut bases = Vec::new();
        for p in 0..pairs {
            let base = p * pair;
            let second = base + partner;
            bases.push(SlotBase::Paired {
                base,
                private: base,
            });
            bases.push(SlotBase::Paired {
                base,
                private: second,
            });
        }
        bases.extend((0..alone).map(|u| SlotBase::Own {
            base: pairs * pair + u * own,
        }));
        Ok(Layout {
            residency,
            warps_per_block: info.warps(),
            bases,
        })
    }

    /// Resident blocks by kind.
    pub fn residency(&self) -> Residency {
        self.residency
    }

    /// First block-relative word of the shared part; 0 where no block shares.
    pub fn limit(&self) -> u32 {
        match self.residency.pairs {
            0 => 0,
            _ => self.residency.private_words,
        }
    }

    /// Words of a block.
    pub fn words(&self) -> u32 {
        self.residency.words
    }

    /// Slots in use.
    pub fn slots(&self) -> usize {
        self.bases.len()
    }

    /// The block in `slot` shares its scratchpad.
    pub fn is_shared(&self, slot: usize) -> bool {
        matches!(self.bases[slot], SlotBase::Paired { .. })
    }

    /// Warp slots of block slot `slot`.
    pub fn warps(&self, slot: usize) -> std::ops::Range<usize> {
        let each = self.warps_per_block as usize;
        slot * each..(slot + 1) * each
    }

    /// Slots in the order in which they are filled: those that run without
    /// sharing, then the partners.
    pub fn fill_order(&self) -> Vec<usize> {
        let is_partner = |&s: &usize| matches!(self.bases[s], SlotBase::Paired { base, private } if base != private);
        let (partners, first): (Vec<_>, Vec<_>) = (0..self.slots()).partition(is_partner);
        [first, partners].concat()
    }

    /// The word of the machine where `slot` has its block-relative `word`.
    pub fn physical(&self, slot: usize, word: u32) -> u32 {
        self.words_of(slot).physical(word)
    }

    /// The physical words of `slot`.
    pub(super) fn words_of(&self, slot: usize) -> SlotWords {
        let limit = self.limit();
        let (private, shared) = match self.bases[slot] {
            SlotBase::Own { base } => (base, base),
            SlotBase::Paired { base, private } => (private, base),
        };
        SlotWords {
            limit,
            private,
            shared,
        }
    }
}

/// The physical words of a slot: offsets to add to block-relative addresses
/// below `limit`, and from `limit` on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlotWords {
    limit: u32,
    private: u32,
    shared: u32,
}

impl SlotWords {
    /// The words lie one after the other.
    pub(super) fn is_contiguous(self) -> bool {
        self.private == self.shared
    }

    /// The word of the machine for a block-relative one.
    pub(super) fn physical(self, word: u32) -> u32 {
        let base = if word < self.limit {
            self.private
        } else {
            self.shared
        };
        base.wrapping_add(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(words: u32, threads: u32) -> KernelInfo {
        KernelInfo {
            name: "k".to_owned(),
            source: String::new(),
            block_dim: [threads, 1, 1],
            blocks: 9,
            shared_bytes: 4 * words,
            warp_size: 32,
            registers: 0,
            target: None,
            together: None,
        }
    }

    fn sharing() -> Config {
        let mut config = Config::preset("small").unwrap();
        config.sm.sharing.on = true;
        config
    }

    #[test]
    fn sharing_adds_a_block_where_one_pair_fits() {
        // Two blocks of 480 words fit into 1024; (1 + 0.1) * 480 = 528 a pair.
        let layout = Layout::new(&sharing(), &info(480, 32)).unwrap();
        let residency = layout.residency();
        assert_eq!((residency.pairs, residency.alone), (1, 1));
        assert_eq!(layout.fill_order(), [0, 2, 1]);
        assert_eq!(layout.limit(), 48);
        let place = |slot, word| layout.physical(slot, word);
        // The first 48 words of the second block follow the first block.
        assert_eq!((place(0, 47), place(1, 0), place(1, 47)), (47, 480, 527));
        assert_eq!((place(0, 48), place(1, 48)), (48, 48));
        assert_eq!((place(1, 479), place(2, 0)), (479, 544));
        let off = Layout::new(&Config::preset("small").unwrap(), &info(480, 32)).unwrap();
        assert_eq!(off.residency().blocks(), 2);
    }

    /// 7 pairs of 580 words fit into 4096, of 19 rows of 32 banks they do not.
    #[test]
    fn a_row_of_banks_is_no_reason_to_lose_a_block() {
        let mut config = Config::preset("gpgpusim-16k").unwrap();
        config.sm.sharing.on = true;
        let layout = Layout::new(&config, &info(528, 64)).unwrap();
        assert_eq!(layout.slots(), 14);
        assert_eq!(layout.physical(2, 0), 580);
        assert_eq!(
            (layout.physical(13, 51), layout.physical(13, 52)),
            (4059, 3532)
        );
        // Every word up to there, and only the shared ones twice.
        let mut words: Vec<u32> = (0..14)
            .flat_map(|slot| (0..528).map(move |word| (slot, word)))
            .map(|(slot, word)| layout.physical(slot, word))
            .collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words, (0..4060).collect::<Vec<_>>());
        // 544 words are 17 rows: without sharing nothing is lost by rows.
        config.sm.sharing.on = false;
        let layout = Layout::new(&config, &info(530, 64)).unwrap();
        assert_eq!((layout.slots(), layout.physical(1, 0)), (7, 544));
    }

    /// 1280 words, 128 of them a block's own: 2 pairs and a block fill 4096
    /// words, and all parts of a block have the same offset in a period of 256.
    #[test]
    fn both_parts_of_a_block_lie_at_one_place_of_the_period() {
        let mut config = Config::preset("gpgpusim-16k").unwrap();
        config.sm.sharing.on = true;
        let layout = Layout::new(&config, &info(1280, 128)).unwrap();
        assert_eq!((layout.slots(), layout.limit()), (5, 128));
        for slot in 0..5 {
            let (first, last) = (layout.physical(slot, 0), layout.physical(slot, 1279));
            assert_eq!(first % 256, (last - 1279) % 256, "slot {slot}");
        }
    }

    #[test]
    fn nothing_to_gain_nothing_shared() {
        // Warp slots allow two blocks, with or without sharing.
        let layout = Layout::new(&sharing(), &info(480, 128)).unwrap();
        assert_eq!(layout.residency().pairs, 0);
        // t = 1: nothing is shared.
        let mut config = sharing();
        config.sm.sharing.threshold = 1.0;
        let layout = Layout::new(&config, &info(480, 32)).unwrap();
        assert_eq!(layout.residency().pairs, 0);
        let layout = Layout::new(&sharing(), &info(0, 32)).unwrap();
        assert_eq!(layout.residency().blocks(), 4);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let config = sharing();
        let reason = |info: &KernelInfo| Layout::new(&config, info).unwrap_err().to_string();
        assert!(reason(&info(1025, 32)).contains("needs 1025 words"));
        assert!(reason(&info(8, 512)).contains("has 16 warps"));
        let mut many = info(8, 32);
        many.registers = 1000;
        assert!(reason(&many).contains("needs 32000 registers"));
        many.warp_size = 16;
        assert!(reason(&many).contains("warps of 16 threads"));
    }

    /// The system takes 1 KB of each block's 164.
    #[test]
    fn a_block_has_at_most_what_the_machine_gives_one() {
        let sm80 = Config::preset("sm80").unwrap();
        let kib = |n: u32| info(n * 256, 32);
        assert_eq!(Layout::new(&sm80, &kib(163)).unwrap().slots(), 1);
        let error = Layout::new(&sm80, &kib(164)).unwrap_err().to_string();
        assert!(
            error.contains("the machine has 41728 for a block"),
            "{error}"
        );
    }
}
