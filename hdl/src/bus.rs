//! Shared by the units that put the scratchpad behind a bus: their parts, and
//! the number of accesses in flight.

use crate::hashed_lanes::HashedLanes;
use crate::machine::Machine;
use crate::module::{Module, Result};
use crate::params::Params;
use crate::signal::{Bits, Expr, Signal};
use crate::size::index_bits;
use crate::unit::UnitBuilder;
use crate::{spad_scratchpad, spad_skid, spad_window};

/// Bits of the number of accesses inside: those of two buffers, and of the stages
/// or of the window.
fn inside_bits(p: &Params) -> usize {
    index_bits(4 + p.SMS.max(p.SWIN) + 1).max(4)
}

/// The parts of a bus unit.
pub(crate) struct Bus {
    pub lanes: HashedLanes,
    /// The scratchpad, or the window of accesses, its parts first.
    pub scratchpad: Vec<Module>,
    /// The buffer between a bus and the scratchpad.
    pub skid: Module,
}

impl Bus {
    pub(crate) fn new(p: &Params, machine: &Machine) -> Result<Self> {
        Ok(Bus {
            lanes: HashedLanes::new(p, machine)?,
            scratchpad: match p.SWIN {
                0 => spad_scratchpad::emit_for_stream(p)?,
                _ => spad_window::emit_helper(p)?,
            },
            skid: spad_skid::emit_helper()?,
        })
    }

    /// The modules of `unit`, each after the modules that it instantiates.
    pub(crate) fn modules_of(self, unit: Module) -> Vec<Module> {
        let parts = self.scratchpad.into_iter().chain([self.skid]);
        let parts = parts.chain(self.lanes.into_modules());
        parts.chain([unit]).collect()
    }
}

/// An output of the scratchpad that nobody reads.
pub(crate) fn unread(u: &UnitBuilder, name: &str, width: usize) -> Signal {
    u.wire_in_part(name, width, "this unit has no port for it")
}

/// The number of accesses inside: they enter, and leave with an answer or, as posted
/// stores, without one.
pub(crate) fn inside(
    u: &UnitBuilder,
    p: &Params,
    [enters, leaves]: [Expr; 2],
    posted: Option<Expr>,
) -> Signal {
    let bits = inside_bits(p);
    let count = match posted.clone() {
        None => u.counter("count", bits, enters.clone(), leaves.clone()),
        Some(posted) => {
            let count = u.register("count", bits).reset(0);
            let [more, answered, stored] =
                [&enters, &leaves, &posted].map(|bit| bit.clone().extended(bits));
            u.at_clock().next(count, count + more - answered - stored);
            count
        }
    };
    u.assertions(|| {
        let message = "an answer leaves, but no access is inside";
        let some = enters.clone() | count.any();
        u.property("answer_has_access", leaves.clone(), some.clone(), message);
        if let Some(posted) = posted {
            let message = "a posted store leaves, but no access is inside";
            u.property("store_has_access", posted, some, message);
        }
        let message = "more accesses are inside than can be counted";
        u.property("accesses_fit", enters & !leaves, !count.all(), message);
    });
    count
}
