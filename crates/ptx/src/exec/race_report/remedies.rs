//! Remedies for pairs of lines, and their places.

use super::lines::Ends;
use super::{Instructions, ReportedPair};
use crate::exec::advice::{Advisor, Place, Remedy};
use crate::exec::machine::pairs::Why;

/// The remedy that would order a pair of lines, the one that comes first being the first.
pub enum Advice {
    Barrier(Place, [String; 2]),
    /// A barrier behind a wait for the copy.
    WaitAndBarrier(Place, [String; 2]),
    WarpBarrier(Place, [String; 2]),
    Atomic,
}

/// The remedy that would order the two lines, of a copy that nobody has waited for or not;
/// none where both are one line of the source.
pub fn advice(told: &ReportedPair, unwaited: bool, advisor: &Advisor) -> Option<Advice> {
    let one = told.sides[0].block == told.sides[1].block;
    let ends = Ends::of(&told.sides);
    if one && told.key.why == Why::Barrier {
        return before_uses(told, ends?, advisor);
    }
    if !one || !matches!(told.key.why, Why::Order | Why::Copy) {
        return None;
    }
    let mut all = told.pcs.iter().map(|of| {
        let remedy = |back: bool| remedy(of, back, (ends.as_ref(), unwaited), advisor);
        remedy(false).or_else(|| remedy(true))
    });
    let mut first = all.next()??;
    for other in all {
        first = joined(first, other?)?;
    }
    let (remedy, back) = first;
    if remedy == Remedy::Atomic {
        return Some(Advice::Atomic);
    }
    let lines = ends?.in_order(back).lines;
    match remedy {
        Remedy::Block(place) if unwaited => Some(Advice::WaitAndBarrier(place, lines)),
        Remedy::Block(place) => Some(Advice::Barrier(place, lines)),
        Remedy::Warp(place) if !unwaited => Some(Advice::WarpBarrier(place, lines)),
        _ => None,
    }
}

/// The remedy that orders two instructions, the second one being the first to be executed
/// if they are taken `back`.
fn remedy(
    of: &Instructions,
    back: bool,
    (ends, unwaited): (Option<&Ends>, bool),
    advisor: &Advisor,
) -> Option<(Remedy, bool)> {
    let (pcs, warps) = of.in_order(back);
    // What a copy overtakes needs no wait for it.
    if unwaited && !advisor.is_copy(pcs[0]) {
        return None;
    }
    let remedy = advisor.remedy(pcs, warps, unwaited)?;
    let around = |ends: &Ends| advisor.around(remedy, pcs, ends.in_order(back).calls);
    Some((ends.map_or(remedy, around), back))
}

/// The remedy that orders the initialisation of an `mbarrier` with the first use, if all
/// others come behind that one.
fn before_uses(told: &ReportedPair, ends: Ends, advisor: &Advisor) -> Option<Advice> {
    let made = told.made?;
    let init = told.key.pcs[made];
    let in_order = |of: &Instructions| of.in_order(of.pcs[0] != init);
    let (pcs, mut warps) = in_order(told.pcs.first()?);
    for ([one, next], more) in told.pcs.iter().map(in_order) {
        if one != init || !advisor.dominates(pcs[1], next) {
            return None;
        }
        warps = warps.and(more);
    }
    let ends = ends.in_order(made == 1);
    match advisor.around(advisor.remedy(pcs, warps, false)?, pcs, ends.calls) {
        Remedy::Block(place) => Some(Advice::Barrier(place, ends.lines)),
        Remedy::Warp(place) => Some(Advice::WarpBarrier(place, ends.lines)),
        Remedy::Atomic => None,
    }
}

/// The remedy that orders two pairs of instructions of the same lines.
fn joined(one: (Remedy, bool), other: (Remedy, bool)) -> Option<(Remedy, bool)> {
    use Remedy::{Block, Warp};
    if one.1 != other.1 {
        return None;
    }
    let remedy = match (one.0, other.0) {
        (one, other) if one == other => one,
        (Warp(a), Warp(b)) => Warp(a.and(b)),
        (Block(a), Block(b) | Warp(b)) | (Warp(a), Block(b)) => Block(a.and(b)),
        _ => return None,
    };
    Some((remedy, one.1))
}

/// A place between two lines.
pub fn at(place: Place, [one, other]: &[String; 2]) -> String {
    match place {
        Place::Between => format!("after {one}, before {other}"),
        Place::AtFirst => format!("right after {one}, before {other}"),
        Place::AtSecond => format!("after {one}, right before {other}"),
        Place::Outside => format!("after {one}, before {other}, outside of their conditions"),
    }
}
