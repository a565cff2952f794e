//! Whole warps at an affine address: its class and its conflicts, which do not
//! depend on what is the same for all lanes.

use super::super::code::{Code, Role};
use super::{Analysed, Site};
use spadkit_mapping::trace::{Access, AccessTrace, Op};
use spadkit_ptx::analysis::{Affine, Term};

/// Addresses of a warp are moved by multiples of this many bytes, so that none
/// is negative and their banks stay.
const STEP: i64 = 1 << 16;

/// An access of every warp of the block with all its lanes, for each affine
/// site; loops are in their first round.
pub(super) fn warps<'s>(
    analysed: &Analysed,
    code: &Code,
    pcs: &[u32],
    sites: impl Iterator<Item = &'s Site>,
) -> AccessTrace {
    let block = analysed.context.block.unwrap_or([32, 1, 1]);
    let mut accesses = Vec::new();
    for site in sites {
        let Some(affine) = site.lanes.as_ref().filter(|_| site.in_step) else {
            continue;
        };
        let warps = (0..block.iter().product::<u32>().div_ceil(32)).map(|warp| {
            let lanes = code.rows[site.pc as usize].lanes;
            lane_addresses(affine, block, warp, lanes)
        });
        let Some(warps) = warps.collect::<Option<Vec<_>>>() else {
            continue;
        };
        for (warp, addrs) in warps.into_iter().enumerate() {
            accesses.push(Access {
                warp: warp as u32,
                pc: pcs[site.pc as usize],
                op: op(code, site),
                addrs,
                bytes: site.access.bytes,
                increment: code.rows[site.pc as usize].role.is_increment(),
                aggregated: code.rows[site.pc as usize].aggregated.holds(u32::MAX),
                extra: Default::default(),
            });
        }
    }
    AccessTrace {
        name: String::new(),
        source: String::new(),
        block_dim: block,
        shared_bytes: u32::MAX,
        warp_size: 32,
        barriers: Vec::new(),
        accesses,
        executed: Default::default(),
        extra: Default::default(),
    }
}

/// Operation of a site.
pub(super) fn op(code: &Code, site: &Site) -> Op {
    match code.rows[site.pc as usize].role {
        Role::Memory { op, .. } => op,
        _ => Op::Load,
    }
}

/// Words of the lanes of a warp, at some offset; none where they depend on
/// what is not known.
fn lane_addresses(
    affine: &Affine,
    block: [u32; 3],
    warp: u32,
    lanes: u32,
) -> Option<Vec<Option<u32>>> {
    let threads: u32 = block.iter().product();
    let mut bytes = Vec::with_capacity(32);
    for lane in 0..32 {
        let thread = 32 * warp + lane;
        let there = thread < threads && lanes >> lane & 1 == 1;
        let value = of_thread(affine, block, warp, lane)?;
        bytes.push(there.then_some(value));
    }
    let least = bytes.iter().flatten().min().copied().unwrap_or(0);
    let offset = least.checked_neg()?.checked_add(STEP)?.div_euclid(STEP) * STEP;
    let word = |byte: i64| u32::try_from(byte.checked_add(offset)? / 4).ok();
    let words = bytes.into_iter().map(|byte| match byte {
        Some(byte) => word(byte).map(Some),
        None => Some(None),
    });
    words.collect()
}

/// The part of the address that differs between lanes, plus the constant.
fn of_thread(affine: &Affine, block: [u32; 3], warp: u32, lane: u32) -> Option<i64> {
    let thread = 32 * warp + lane;
    let [x, y, _] = block;
    let tid = [thread % x, thread / x % y, thread / (x * y)];
    let mut sum = affine.constant;
    for (term, coefficient) in &affine.terms {
        let varies = |t: &Term| matches!(t, Term::Tid(_) | Term::Laneid);
        if !term.factors().iter().any(varies) {
            continue;
        }
        let mut product = *coefficient;
        for factor in term.factors() {
            let factor = match factor {
                Term::Tid(axis) => tid[usize::from(*axis)],
                Term::Laneid => lane,
                Term::Ntid(axis) => block[usize::from(*axis)],
                // A stride that is not known.
                _ => return None,
            };
            product = product.checked_mul(factor.into())?;
        }
        sum = sum.checked_add(product)?;
    }
    Some(sum)
}
