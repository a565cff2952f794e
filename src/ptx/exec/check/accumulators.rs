//! Results of `wgmma` that are read before the warp has waited for the product.

use crate::ptx::exec::api::FindingKind;
use crate::ptx::exec::machine::{Machine, RawFinding};

/// The warp is about to execute an instruction with the uses number `at`.
pub fn access(m: &mut Machine, at: u32, exec: u32) {
    let image = m.image;
    let Some(races) = m.races.as_mut().filter(|_| exec != 0) else {
        return;
    };
    let uses = &image.accumulator_uses[at as usize];
    let Some((name, product)) = races.accumulators.access(m.warp, m.pc, uses) else {
        return;
    };
    // Beside what the same instruction does to shared memory.
    const KEY: u8 = 4;
    if !m.known.insert((FindingKind::Race, m.pc, KEY)) {
        return;
    }
    let thread = m.thread(exec.trailing_zeros());
    let side = |pc, verb: &str, other| RawFinding {
        kind: FindingKind::Race,
        warning: false,
        other,
        pc,
        block: None,
        thread,
        address: None,
        variable: None,
        message: format!("{verb} the register {name}; its warp has not waited for the wgmma"),
    };
    let sides = [side(m.pc, "reads", false), side(product, "writes", true)];
    m.findings.extend(sides);
}
