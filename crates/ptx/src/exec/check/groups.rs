//! Warpgroups: four warps that execute the same products (`wgmma`), one after
//! the other. What each of them has executed is compared with what the first
//! of them has.

use crate::exec::api::FindingKind;
use crate::exec::image::matrices::{Factor, GroupOp};
use crate::exec::machine::Machine;
use crate::exec::machine::warpgroup::{Made, Operands};
use crate::exec::registers::{Slot, active};
use crate::tensor::Descriptor;

/// The operands of a product that the warp is about to compute; what is wrong
/// with them, or with the warpgroup, becomes a finding.
pub fn check(m: &mut Machine, op: &GroupOp, exec: u32) -> Operands {
    let operands = operands(m, op, exec);
    let lane = exec.trailing_zeros() % 32;
    let threads: u32 = m.common.block.iter().product();
    let first = m.warp / 4 * 4;
    if 32 * (first + 4) > threads {
        let text = format!(
            "the block has {threads} threads, and the warpgroup of warp {} is warps {first} to {}: \
             expected all 128 threads of them",
            m.warp,
            first + 3
        );
        misuse(m, lane, text);
    }
    differing(m, op, exec);
    for (bits, which) in operands.descriptors.into_iter().zip(["a", "b"]) {
        let unused = bits & Descriptor::UNUSED;
        if unused != 0 {
            let text = format!(
                "the descriptor of {which} is {bits:#018x}, which sets unused bits ({unused:#x}): \
                 expected (address & 0x3ffff) >> 4 in bits 0 to 13, and offsets likewise"
            );
            m.note((FindingKind::InvalidWgmma, true), lane, None, None, text);
        }
    }
    let made = Made { pc: m.pc, operands };
    if let Some(other) = m.groups.make(m.warp, made) {
        let text = if other.pc == m.pc {
            format!(
                "warp {} executes it with other operands than the warps before it: descriptors \
                 {:#x} and {:#x}, not {:#x} and {:#x}, scale-d {}, not {}",
                m.warp,
                operands.descriptors[0],
                operands.descriptors[1],
                other.operands.descriptors[0],
                other.operands.descriptors[1],
                operands.adds,
                other.operands.adds
            )
        } else {
            let line = m.image.infos.get(other.pc as usize).map_or(0, |i| i.line);
            format!(
                "warp {} executes it, and another warp of its warpgroup the one at PTX line \
                 {line} instead",
                m.warp
            )
        };
        misuse(m, lane, text);
    }
    operands
}

/// The operands, as the first lane has them.
pub fn operands(m: &Machine, op: &GroupOp, exec: u32) -> Operands {
    let lane = exec.trailing_zeros() % 32;
    let value = |slot: Slot| m.registers.read_lane(slot, lane);
    let of_a = match &op.a {
        Factor::Stored(a) => value(a.descriptor),
        Factor::Held(_) => 0,
    };
    Operands {
        descriptors: [of_a, value(op.b.descriptor)],
        adds: value(op.adds) != 0,
    }
}

/// Lanes that do not have the operands of the first.
fn differing(m: &mut Machine, op: &GroupOp, exec: u32) {
    let first = exec.trailing_zeros() % 32;
    let mut all = vec![
        (op.b.descriptor, "the descriptor of b"),
        (op.adds, "scale-d"),
    ];
    if let Factor::Stored(a) = &op.a {
        all.push((a.descriptor, "the descriptor of a"));
    }
    for (slot, what) in all {
        let values = m.registers.read(slot);
        let expected = values[first as usize];
        let differs = |lane: &u32| values[*lane as usize] != expected;
        if let Some(lane) = active(exec).find(differs) {
            let text = format!(
                "{what} is {:#x} in lane {lane} and {expected:#x} in lane {first}: expected the \
                 same in all threads of the warpgroup",
                values[lane as usize]
            );
            misuse(m, lane, text);
        }
    }
}

/// At the end of a block: products that only some warps of a warpgroup have
/// executed.
pub fn finish(m: &mut Machine) {
    if let Some((warp, pc)) = m.groups.missing() {
        (m.warp, m.pc) = (warp, pc);
        let text = format!(
            "warp {warp} does not execute it, and another warp of its warpgroup does: expected \
             all four warps, or none"
        );
        misuse(m, 0, text);
    }
}

fn misuse(m: &mut Machine, lane: u32, text: String) {
    m.found(FindingKind::InvalidWgmma, lane, None, None, text);
}
