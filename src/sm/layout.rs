//! Which block runs in which slot, and where its scratchpad lies
//! (docs/microarchitecture.md, section 19.4; sharing paper, section 3).

use super::instr::KernelInfo;
use crate::config::Config;
use crate::error::{Error, Result};

/// Blocks that are resident at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Pairs of blocks that share a part of their scratchpad.
    pub pairs: u32,
    /// Blocks with a scratchpad of their own.
    pub unshared: u32,
}

impl Residency {
    /// Resident blocks.
    pub fn blocks(self) -> u32 {
        2 * self.pairs + self.unshared
    }
}

/// Where a slot's scratchpad lies, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// From `base` on.
    Own { base: u32 },
    /// Slot 2p + `half` of a pair whose scratchpad begins at `base`.
    Paired { base: u32, half: u32 },
}

/// The slots of a kernel on a machine.
#[derive(Clone, Debug)]
pub struct Layout {
    residency: Residency,
    /// Words of a block.
    words: u32,
    /// First block-relative word of the shared part; Rtb * t.
    limit: u32,
    warps_per_block: u32,
    places: Vec<Place>,
}

impl Layout {
    /// As many blocks as fit; with sharing, as many pairs as bring further
    /// blocks while the blocks that can always run stay as many.
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
        let words = info.shared_bytes.div_ceil(config.word_bytes());
        let threshold = config.sm.sharing.threshold;
        let limit = (f64::from(words) * threshold).floor() as u32;
        let banks = config.geometry.banks() as u32;
        let own = words.next_multiple_of(banks);
        let pair = words.saturating_add(limit).next_multiple_of(banks);
        let capacity = config.capacity_words;
        let limits = block_limits(config, info)?;
        if own > capacity {
            return Err(Error::usage(
                format!(
                    "a block of {} needs {words} words of scratchpad, the machine has {capacity}",
                    info.name
                ),
                "use a machine with a larger scratchpad (--preset, --config)",
            ));
        }
        let alone = match own {
            0 => limits,
            own => limits.min(capacity / own),
        };
        let mut pairs = 0;
        if config.sm.sharing.on && own > 0 && limit < words {
            // `alone` blocks can always run: each pair keeps one of them.
            let fits = |pairs: u32| (alone - pairs) * own + pairs * pair <= capacity;
            let most = alone.min(limits - alone);
            pairs = (0..=most).rev().find(|&p| fits(p)).unwrap_or(0);
        }
        let unshared = alone - pairs;
        let mut places = Vec::new();
        for p in 0..pairs {
            let base = p * pair;
            places.extend([0, 1].map(|half| Place::Paired { base, half }));
        }
        places.extend((0..unshared).map(|u| Place::Own {
            base: pairs * pair + u * own,
        }));
        Ok(Layout {
            residency: Residency { pairs, unshared },
            words,
            limit,
            warps_per_block: info.warps(),
            places,
        })
    }

    /// Resident blocks by kind.
    pub fn residency(&self) -> Residency {
        self.residency
    }

    /// First block-relative word of the shared part.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Words of a block.
    pub fn words(&self) -> u32 {
        self.words
    }

    /// Slots in use.
    pub fn slots(&self) -> usize {
        self.places.len()
    }

    /// The block in `slot` shares its scratchpad.
    pub fn is_shared(&self, slot: usize) -> bool {
        matches!(self.places[slot], Place::Paired { .. })
    }

    /// Warp slots of block slot `slot`.
    pub fn warps(&self, slot: usize) -> std::ops::Range<usize> {
        let each = self.warps_per_block as usize;
        slot * each..(slot + 1) * each
    }

    /// Slots in the order in which they are filled: those that run without
    /// sharing, then the partners.
    pub fn fill_order(&self) -> Vec<usize> {
        let is_partner = |&s: &usize| matches!(self.places[s], Place::Paired { half: 1, .. });
        let (partners, first): (Vec<_>, Vec<_>) = (0..self.slots()).partition(is_partner);
        [first, partners].concat()
    }

    /// The word of the machine where `slot` has its block-relative `word`.
    pub fn physical(&self, slot: usize, word: u32) -> u32 {
        match self.places[slot] {
            Place::Own { base } => base + word,
            Place::Paired { base, half } if word < self.limit => base + half * self.limit + word,
            Place::Paired { base, .. } => base + self.limit + word,
        }
    }
}

/// Blocks that slots, warps and registers allow.
fn block_limits(config: &Config, info: &KernelInfo) -> Result<u32> {
    let by_warps = config.path.warps / info.warps();
    let registers = u64::from(info.registers) * info.threads();
    let by_registers = match registers {
        0 => u32::MAX,
        each => u32::try_from(u64::from(config.sm.registers) / each).unwrap_or(u32::MAX),
    };
    let too_large = |what: String, help: &str| Err(Error::usage(what, help));
    if by_warps == 0 {
        return too_large(
            format!(
                "a block of {} has {} warps, the machine {} warp slots",
                info.name,
                info.warps(),
                config.path.warps
            ),
            "use a machine with more warps (--preset, --config)",
        );
    }
    if by_registers == 0 {
        return too_large(
            format!(
                "a block of {} needs {registers} registers, the machine has {}",
                info.name, config.sm.registers
            ),
            "use a machine with more registers (--preset, --config)",
        );
    }
    Ok(config.path.blocks.min(by_warps).min(by_registers))
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
        let expected = Residency {
            pairs: 1,
            unshared: 1,
        };
        assert_eq!(layout.residency(), expected);
        assert_eq!(layout.fill_order(), [0, 2, 1]);
        assert_eq!(layout.limit(), 48);
        let place = |slot, word| layout.physical(slot, word);
        assert_eq!((place(0, 47), place(1, 0), place(1, 47)), (47, 48, 95));
        assert_eq!((place(0, 48), place(1, 48)), (96, 96));
        assert_eq!((place(1, 479), place(2, 0)), (527, 528));
        let off = Layout::new(&Config::preset("small").unwrap(), &info(480, 32)).unwrap();
        assert_eq!(off.residency().blocks(), 2);
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
}
