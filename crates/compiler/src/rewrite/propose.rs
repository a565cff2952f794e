//! The mapping to propose if the requested one splits wide accesses, or if
//! several are requested and an access may touch variables of several.

use super::measure::{Measured, measure};
use super::{Hashes, Request, attempt};
use spadkit_base::error::Result;
use spadkit_launch::launch::LaunchFile;
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::software::{Layout, LayoutSpec, Steps, swizzles};
use spadkit_mapping::trace::{ConflictProfile, ConflictRule};
use spadkit_ptx::Module;

/// A mapping for all shared variables together that has been tried.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The mapping.
    pub spec: LayoutSpec,
    /// The kernel before and after, where there is a launch: its outputs are
    /// equal.
    pub measured: Option<Measured>,
}

/// The best of `candidates` as one mapping for all shared variables. It has to
/// be one that `module` can be rewritten under. With a launch it also leaves
/// the outputs the same; of these, the one with the fewest conflicts is best,
/// then the one with the fewest instructions added. Without a launch it is the
/// first that `module` can be rewritten under.
pub fn one_for_all(
    module: &Module,
    request: &Request,
    candidates: &[LayoutSpec],
    launch: Option<(&LaunchFile, ConflictRule)>,
) -> Result<Option<Proposal>> {
    let mut best: Option<Proposal> = None;
    for spec in candidates {
        let request = Request {
            hashes: Hashes::All(spec.clone()),
            ..request.clone()
        };
        let Ok(rewritten) = attempt(module, &request)? else {
            continue;
        };
        if rewritten.text().is_none() {
            continue;
        }
        let spec = spec.clone();
        let Some((file, rule)) = launch else {
            let measured = None;
            return Ok(Some(Proposal { spec, measured }));
        };
        let measured = measure(file, module, &request, &rewritten, rule)?;
        let costs = |m: &Measured| (m.conflicts_after, m.added_executed);
        let fewest = best.as_ref().and_then(|b| b.measured.as_ref()).map(costs);
        if measured.outputs_equal && fewest.is_none_or(|fewest| costs(&measured) < fewest) {
            let measured = Some(measured);
            best = Some(Proposal { spec, measured });
        }
    }
    Ok(best)
}

/// The swizzle that keeps groups of `together` words (a power of two) whole and
/// has the fewest conflicts in `profile`; of several, the one with the fewest
/// operations. Without a profile, the one that spreads the groups of a row over
/// the banks by the row's number.
pub fn propose(
    geometry: Geometry,
    together: u32,
    profile: Option<&ConflictProfile>,
) -> Option<LayoutSpec> {
    let low = together.max(1).ilog2();
    let m = geometry.bank_bits();
    let Some(profile) = profile else {
        let bits = m.checked_sub(low).filter(|&b| b > 0)?;
        let whole = low + 2 * bits <= geometry.addr_bits();
        return whole.then_some(LayoutSpec::Swizzle {
            bits,
            base: low,
            shift: bits as i32,
        });
    };
    let keeps = |spec: &LayoutSpec| match spec {
        LayoutSpec::Swizzle { bits, base, .. } => *bits == 0 || *base >= low,
        _ => false,
    };
    let cost = |spec: &LayoutSpec| {
        let layout = Layout::new(spec, geometry).ok()?;
        let conflicts = profile.count(|word| layout.bank(word)).conflicts;
        Some((conflicts, Steps::of(&layout).count()))
    };
    let candidates = swizzles(geometry).filter(keeps);
    let measured = candidates.filter_map(|spec| Some((cost(&spec)?, spec)));
    measured.min_by_key(|(cost, _)| *cost).map(|(_, spec)| spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_proposed_keeps_groups_together() {
        let geometry = Geometry::new(14, 5).unwrap();
        for together in [2, 4] {
            let spec = propose(geometry, together, None).unwrap();
            let layout = Layout::new(&spec, geometry).unwrap();
            let first = |i: u32| i & !(together - 1);
            for i in 0..4096 {
                assert_eq!(layout.place(i), layout.place(first(i)) + i - first(i));
            }
        }
        assert_eq!(
            propose(geometry, 4, None).unwrap().to_string(),
            "swizzle:3,2,3"
        );
    }

    /// 128-bit stores by rows of 32 words, read by columns of 128 bits.
    #[test]
    fn the_best_for_a_trace_is_found() {
        let geometry = Geometry::new(14, 5).unwrap();
        let column: Vec<Option<u32>> = (0..8).map(|lane| Some(32 * lane)).collect();
        let row: Vec<Option<u32>> = (0..8).map(|lane| Some(4 * lane)).collect();
        let accesses = [&column[..], &row[..]];
        let profile = ConflictProfile::of_accesses(accesses.into_iter(), 32);
        let spec = propose(geometry, 4, Some(&profile)).unwrap();
        let layout = Layout::new(&spec, geometry).unwrap();
        assert_eq!(profile.count(|w| layout.bank(w)).conflicts, 0, "{spec}");
    }
}
