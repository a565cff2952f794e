//! Context of the analyses: the more is known of a launch, the more is proved.

use crate::ast::{Function, Module, Parameter, Symbol, Variable};
use crate::names::{Space, Special};
use crate::shared::is_shared;
use spadkit_base::cuda::{MAX_BLOCK, MAX_GRID};

/// Assumptions of the analyses about the launch; by default nothing but CUDA's
/// limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Threads of a block.
    pub block: Option<[u32; 3]>,
    /// Blocks of the grid.
    pub grid: Option<[u32; 3]>,
    /// The entry's parameters as they lie in memory
    /// ([`crate::exec::Launch::params`]).
    pub params: Option<Vec<u8>>,
}

impl Context {
    /// Assumptions that the function itself states: `.reqntid`.
    pub fn of(function: &Function) -> Self {
        Context {
            block: function.tuning.reqntid,
            ..Context::default()
        }
    }

    /// The largest value of a special register, and the smallest; none where
    /// it is not bounded.
    pub fn range(&self, special: Special) -> Option<(u32, u32)> {
        use Special::*;
        let below = |known: Option<[u32; 3]>, limit: [u32; 3], axis: usize| {
            Some((0, known.unwrap_or(limit)[axis].saturating_sub(1)))
        };
        let count = |known: Option<[u32; 3]>, limit: [u32; 3], axis: usize| match known {
            Some(known) => Some((known[axis], known[axis])),
            None => Some((1, limit[axis])),
        };
        let warps = match self.block {
            Some([x, y, z]) => x
                .saturating_mul(y)
                .saturating_mul(z)
                .div_ceil(32)
                .clamp(1, 32),
            None => 32,
        };
        match special {
            TidX => below(self.block, MAX_BLOCK, 0),
            TidY => below(self.block, MAX_BLOCK, 1),
            TidZ => below(self.block, MAX_BLOCK, 2),
            NtidX => count(self.block, MAX_BLOCK, 0),
            NtidY => count(self.block, MAX_BLOCK, 1),
            NtidZ => count(self.block, MAX_BLOCK, 2),
            CtaidX => below(self.grid, MAX_GRID, 0),
            CtaidY => below(self.grid, MAX_GRID, 1),
            CtaidZ => below(self.grid, MAX_GRID, 2),
            NctaidX => count(self.grid, MAX_GRID, 0),
            NctaidY => count(self.grid, MAX_GRID, 1),
            NctaidZ => count(self.grid, MAX_GRID, 2),
            Laneid => Some((0, 31)),
            Warpid => Some((0, warps - 1)),
            Nwarpid if self.block.is_some() => Some((warps, warps)),
            _ => None,
        }
    }

    /// The value of `bytes` bytes at `offset` of the entry's parameters.
    pub fn parameter(&self, offset: u64, bytes: u32) -> Option<u64> {
        let start = usize::try_from(offset).ok()?;
        let all = self.params.as_ref()?;
        let part = all.get(start..start.checked_add(bytes as usize)?)?;
        let mut value = [0; 8];
        value.get_mut(..part.len())?.copy_from_slice(part);
        Some(u64::from_le_bytes(value))
    }
}

/// Whether a space is that of shared memory, other blocks' included.
pub(super) fn is_any_shared(space: Space) -> bool {
    is_shared(space) || space == Space::SharedCluster
}

/// The parameter that a variable of `function` is: its index, and its offset
/// among all.
pub(super) fn parameter_of(function: &Function, symbol: Symbol) -> Option<(u32, u64)> {
    let Symbol::Local(at) = symbol else {
        return None;
    };
    let mut offset = 0u64;
    for (index, parameter) in function.params.iter().enumerate() {
        let Parameter::Variable(variable) = parameter else {
            continue;
        };
        let v = &function.variables[*variable as usize];
        offset = offset.next_multiple_of(u64::from(v.align.max(1)));
        if *variable == at {
            return Some((index as u32, offset));
        }
        offset += v.bytes;
    }
    None
}

/// The shared variable of that name in a function, if it is one.
pub(super) fn shared_variable<'a>(
    module: &'a Module,
    function: &'a Function,
    symbol: Symbol,
) -> Option<&'a Variable> {
    let variable = module.variable(function, symbol);
    is_any_shared(variable.space).then_some(variable)
}
