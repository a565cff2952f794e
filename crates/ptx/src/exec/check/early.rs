//! Reads of shared memory that nobody has written yet, and uses of an `mbarrier` that
//! nobody has initialised yet.
//!
//! Where a store to the byte races with the read, another order of the warps has it
//! first. The race is told, which holds in every order; that the read came first does
//! not, and is not told. The same holds for an initialisation, and for what comes of it
//! that arrivals before it are lost.

use crate::exec::api::FindingKind;
use crate::exec::machine::pairs::{Memory, Pair, Why};
use crate::exec::machine::{Machine, RawFinding};

/// Reads of an instruction that are kept until the block ends; of more the first ones.
const MOST: usize = 1 << 14;

/// Notes a read of a byte of shared memory which nobody has written so far, or a use of
/// an `mbarrier` which is none so far.
pub fn note(
    m: &mut Machine,
    kind: FindingKind,
    lane: u32,
    (address, byte): (u64, u64),
    message: String,
) {
    let variable = m.shared_variable(address);
    if m.races.is_none() {
        return m.found(kind, lane, Some(address), variable, message);
    }
    let raw = RawFinding {
        kind,
        warning: kind.only_warns(),
        other: false,
        pc: m.pc,
        block: None,
        thread: m.thread(lane),
        address: Some(address),
        variable,
        message,
    };
    let all = m.early.entry(m.pc).or_default();
    if all.len() < MOST {
        all.push((byte, raw));
    }
}

/// The block has ended: tells of each instruction the first read that no store races with.
pub fn settle(m: &mut Machine) {
    let early = std::mem::take(&mut m.early);
    for (pc, reads) in early {
        let first = reads.into_iter().find(|(byte, _)| !races(m, *byte));
        if let Some((_, raw)) = first
            && m.known.insert((raw.kind, pc, raw.warning.into()))
        {
            m.findings.push(raw);
        }
    }
}

/// Whether accesses to a byte of shared memory race.
fn races(m: &Machine, byte: u64) -> bool {
    let own = m
        .pairs
        .iter()
        .filter(|(key, _)| key.memory == Memory::Shared);
    let mut own = own.filter(|(key, _)| !key.why.is_of_lanes());
    // Places were words before some access was to less than one.
    let has = |pair: &Pair| pair.places.contains(&byte) || pair.places.contains(&(byte & !3));
    own.any(|(_, pair)| has(pair))
}

/// Whether an `mbarrier` is used before its initialisation is visible: that its phases
/// never complete then depends on the order of the warps.
pub fn is_premature(m: &Machine, barrier: u64) -> bool {
    let mut of = m.pairs.iter().filter(|(key, _)| key.why == Why::Barrier);
    of.any(|(_, pair)| pair.places.contains(&barrier))
}
