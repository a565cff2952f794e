//! Addresses that a loop moves by what the map does not read: the mapped
//! address moves along, and is mapped before the loop alone.

use super::super::region::Region;
use super::Facts;
use super::point::{Point, Points};
use spadkit_ptx::analysis::{Definition, ValueId, Values};
use spadkit_ptx::ast::Register;

/// A way to carry a mapped address through a loop.
#[derive(Clone, Debug)]
pub(super) struct Carry {
    /// Before the loop: the point, and the value of the register there.
    pub entries: Vec<(Point, ValueId)>,
    /// The points at which the address advances.
    pub steps: Vec<Point>,
    /// Number of bytes by which it moves.
    pub step: i64,
    /// The start of the loop.
    pub start: Point,
}

/// A way to carry the mapped address of `value`, held in `register`, through the loop
/// in whose header `value` is a phi; all `uses` must be inside.
pub(super) fn carry(
    facts: &Facts,
    points: &Points,
    region: &Region,
    (register, value): (Register, ValueId),
    uses: &[Point],
) -> Option<Carry> {
    let Definition::Phi { block, inputs, .. } = points.values.definition(value) else {
        return None;
    };
    let loops = points.loops;
    let own = loops.of_header(*block)?;
    let index = loops.innermost(*block)?;
    let inside = |b: u32| loops.is_inside(b, index);
    let period = i64::from(region.map.period()?);
    let moved = points.hoistable(*block) && uses.iter().all(|p| inside(p.block));
    if region.map.ops().len() < 2 || !moved {
        return None;
    }
    let expression = facts.affines.expression(value);
    let expression = (expression.bits >= 32).then(|| expression.truncate(32))?;
    let mut carry = Carry {
        entries: Vec::new(),
        steps: Vec::new(),
        step: 0,
        start: points.before(points.cfg.blocks[*block as usize].start),
    };
    for &(from, input) in inputs {
        if from == Values::ENTRY {
            return None;
        }
        let end = points.end(from);
        if !inside(from) {
            points.holds(end, register, input).then_some(())?;
            carry.entries.push((end, input));
            continue;
        }
        let next = facts.affines.expression(input);
        let next = (next.bits >= 32).then(|| next.truncate(32))?;
        let step = next.constant - expression.constant;
        // Behind the step the loop goes round, or is left.
        let successors = &points.cfg.blocks[from as usize].successors;
        let ends = successors
            .iter()
            .all(|&s| s == own.header || s == points.cfg.exit() || !inside(s));
        let same = carry.steps.is_empty() || step == carry.step;
        let whole = step % period == 0;
        (next.terms == expression.terms && ends && same && whole).then_some(())?;
        carry.step = step;
        carry.steps.push(end);
    }
    Some(carry)
}
