//! Registers of `wgmma`: results that are read, and registers that are written,
//! before the warp has waited for the product; registers that a product uses
//! and no `wgmma.fence` has made ready.

use crate::exec::api::FindingKind;
use crate::exec::machine::{Machine, RawFinding};
use crate::exec::race::accumulators::Misuse;

/// The warp is about to execute an instruction with the uses number `at`.
pub fn access(m: &mut Machine, at: u32, exec: u32) {
    let image = m.image;
    let Some(races) = m.races.as_mut().filter(|_| exec != 0) else {
        return;
    };
    let uses = &image.accumulator_uses[at as usize];
    let Some((name, other, misuse)) = races.accumulators.access(m.warp, m.pc, uses) else {
        return;
    };
    let (key, verbs, why) = match misuse {
        Misuse::Unfinished => (
            0,
            ["reads", "writes"],
            "its warp has not waited for the wgmma",
        ),
        Misuse::Overwritten => (
            1,
            ["writes", "writes"],
            "its warp has not waited for the wgmma",
        ),
        Misuse::Replaced => (
            2,
            ["writes", "reads"],
            "its warp has not waited for the wgmma",
        ),
        Misuse::Unfenced => (
            3,
            ["uses", "writes"],
            "no wgmma.fence comes before the wgmma",
        ),
        Misuse::Serialised => (
            4,
            ["uses", "writes"],
            "no wgmma.fence comes before the wgmma: ptxas adds one, and may let products wait for \
             each other (its messages C7510 and C7517)",
        ),
    };
    let warning = misuse == Misuse::Serialised;
    // Beside what the same instruction does to shared memory.
    const KEY: u8 = 4;
    // The same of all accumulators and products: one is told of.
    let pc = if warning { u32::MAX } else { m.pc };
    if !m.known.insert((FindingKind::Race, pc, KEY + key)) {
        return;
    }
    let thread = m.thread(exec.trailing_zeros());
    let side = |pc, verb: &str, other| RawFinding {
        kind: FindingKind::Race,
        warning,
        other,
        pc,
        block: None,
        thread,
        address: None,
        variable: None,
        message: format!("{verb} the register {name}; {why}"),
    };
    let first = side(m.pc, verbs[0], false);
    let second = (other != m.pc).then(|| side(other, verbs[1], true));
    m.findings.push(first);
    m.findings.extend(second);
}
