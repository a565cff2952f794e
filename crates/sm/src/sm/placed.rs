//! The accesses of a block wherever blocks of its kernel can lie: what a bank
//! mapping is to be good for on an SM where blocks share.

use super::instr::{Instr, InstrKind};
use super::layout::{Layout, SlotWords};
use super::workload::Workload;
use spadkit_base::error::Result;
use spadkit_mapping::trace::{Access, AccessTrace, Op};

impl Layout {
    /// The accesses of the grid's first block at the addresses that they have
    /// in each slot. The words of a pair lie at bases that are not multiples of
    /// a row of banks: a mapping without conflicts in one slot can have some in
    /// another.
    pub fn placed(&self, workload: &dyn Workload) -> Result<AccessTrace> {
        let info = workload.info();
        let slots: Vec<SlotWords> = (0..self.slots()).map(|slot| self.words_of(slot)).collect();
        let mut accesses = Vec::new();
        for warp in 0..info.warps() {
            let mut program = workload.open(0, warp)?;
            while let Some(part) = program.next_part()? {
                for instr in part.iter().filter(|i| i.kind.is_shared()) {
                    let placed = slots
                        .iter()
                        .map(|s| access(instr, warp, info.warp_size, *s));
                    accesses.extend(placed);
                }
            }
        }
        let words = |a: &Access| a.addrs.iter().flatten().map(|w| w + a.words()).max();
        let words = accesses.iter().filter_map(words).max().unwrap_or(0);
        Ok(AccessTrace {
            name: info.name.clone(),
            source: info.source.clone(),
            block_dim: info.block_dim,
            shared_bytes: 4 * words,
            warp_size: info.warp_size,
            barriers: Vec::new(),
            accesses,
            executed: Default::default(),
            extra: serde_json::Map::new(),
        })
    }
}

fn access(instr: &Instr, warp: u32, lanes: u32, slot: SlotWords) -> Access {
    let word = |lane: u32| {
        let active = instr.mask >> lane & 1 == 1;
        active.then(|| slot.physical((instr.addrs.of(lane as usize) / 4) as u32))
    };
    Access {
        warp,
        pc: instr.pc,
        op: match instr.kind {
            InstrKind::LdShared | InstrKind::LdLock => Op::Load,
            InstrKind::AtomShared => Op::Atomic,
            _ => Op::Store,
        },
        addrs: (0..lanes).map(word).collect(),
        bytes: u32::from(instr.bytes.max(1)),
        increment: instr.is_increment(),
        aggregated: instr.is_aggregated(),
        extra: serde_json::Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::sm::WarpText;

    #[test]
    fn a_block_is_at_its_addresses_in_every_slot() {
        let mut config = Config::preset("small").unwrap();
        config.sm.sharing.on = true;
        let text = ".block 32\n.shared 1920\nst.shared [4*t], r1\nst.shared [4*(448 + t)], r1\n";
        let workload = WarpText::parse(text, std::path::Path::new("k.warp")).unwrap();
        let layout = Layout::new(&config, workload.info()).unwrap();
        let trace = layout.placed(&workload).unwrap();
        let slots = layout.slots();
        assert!(slots > 1 && trace.accesses.len().is_multiple_of(slots));
        let mut seen = trace.accesses.iter().flat_map(|a| a.addrs.iter().flatten());
        assert!(seen.all(|&word| word < config.capacity_words));
        for (i, access) in trace.accesses.iter().enumerate() {
            let own = 448 * u32::from(i / slots >= trace.accesses.len() / slots / 2);
            let first = layout.physical(i % slots, own);
            assert_eq!(access.addrs[0], Some(first), "access {i}");
        }
    }
}
