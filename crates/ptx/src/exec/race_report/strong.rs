//! Strong accesses that race because a scope is too narrow, or their sizes differ: how they
//! are told.

use crate::exec::image::{Image, MemoryOp, Transfer};
use crate::exec::machine::pairs::Why;
use crate::exec::ordering::{Scope, Strength};

/// An access, as far as it may be strong for others.
pub struct StrongAccess {
    scope: Scope,
    strength: Strength,
    /// Bytes of an element.
    size: u32,
    what: &'static str,
}

impl StrongAccess {
    /// The access of an instruction.
    pub fn at(image: &Image, pc: u32) -> Self {
        let access = image.access.get(pc as usize).copied().flatten();
        let info = access.map(|at| &image.memory[at as usize]);
        StrongAccess {
            scope: info.map_or(Scope::Wide, |info| info.order.scope),
            strength: info.map_or(Strength::Weak, |info| info.order.strength),
            size: info.map_or(0, MemoryOp::strong_bytes),
            what: match info.map(|info| &info.transfer) {
                Some(Transfer::Atomic(_) | Transfer::AtomicPair(_)) => "an atomic",
                Some(transfer) if transfer.writes() => "a strong store",
                _ => "a strong load",
            },
        }
    }

    /// The scope, where it is why the access races.
    pub fn narrow(&self, why: Why) -> Option<&'static str> {
        let between = match why {
            Why::Scope(between) => between,
            Why::ClusterScope => Scope::Cluster,
            _ => return None,
        };
        match self.scope {
            scope if scope >= between => None,
            Scope::Block => Some(".cta"),
            _ => Some(".cluster"),
        }
    }

    /// Whether two accesses would need no order if they had one size.
    fn differ_in_size(one: &Self, other: &Self) -> bool {
        use Strength::{Volatile, Weak};
        let strengths = [one.strength, other.strength];
        !strengths.contains(&Weak) && strengths != [Volatile; 2] && one.size != other.size
    }

    /// A clause on the first of two accesses, where a scope is why they race, or that their
    /// sizes differ.
    pub fn text([one, other]: [&StrongAccess; 2], why: Why) -> String {
        let what = one.what;
        let order = matches!(why, Why::Order | Why::Blocks | Why::Cluster);
        if order && Self::differ_in_size(one, other) {
            return format!(
                "; {what} of {} bytes and {} of {} bytes are not strong for each other",
                one.size, other.what, other.size
            );
        }
        match (one.narrow(why), other.narrow(why)) {
            (Some(scope), _) => {
                format!(" by {what} of scope {scope}, which does not include the other block")
            }
            (None, Some(scope)) => format!(
                " by {what}; that of the other side has scope {scope}, which does not include \
                 this block"
            ),
            _ => String::new(),
        }
    }
}
