//! `cp.async.bulk` and `cp.reduce.async.bulk`.

use super::Decoder;
use super::atomic::atomic_update;
use super::operand::Reason;
use crate::ast::{Immediate, Instruction, Operand};
use crate::exec::image::form::Step;
use crate::exec::image::{Action, BulkEnd, BulkOp, Change};
use crate::names::{Modifier, Space, Type, Word};

/// `cp.async.bulk.wait_group N`
fn bulk_wait(i: &Instruction) -> Step {
    let left = match i.operands.first() {
        Some(Operand::Immediate(Immediate::Integer(n))) => *n as u32,
        _ => 0,
    };
    Step::BulkWait {
        left,
        reads: i.has(Word::ReadSources),
    }
}

impl Decoder<'_> {
    pub(super) fn bulk(&mut self, i: &Instruction) -> Result<(), Reason> {
        use Word::*;
        if i.has(Tensor) {
            return self.bulk_tensor(i);
        }
        // Done at once: groups matter to races only, and there is nothing to prefetch.
        if let Some(word) = i.one_of(&[CommitGroup, WaitGroup, Prefetch]) {
            self.step(match word {
                CommitGroup => Step::BulkCommit,
                WaitGroup => bulk_wait(i),
                _ => Step::Nothing,
            });
            return Ok(());
        }
        if i.has(CpMask) {
            return Err("copies with a mask of bytes are not supported".to_owned());
        }
        let [to_shared, from_shared] = shared_ends(i)?;
        let by_barrier = i.has(MbarrierBytes);
        if by_barrier != to_shared || !by_barrier && !i.has(BulkGroup) {
            return Err(
                "expected .mbarrier::complete_tx::bytes where shared memory is written, else \
                 .bulk_group"
                    .to_owned(),
            );
        }
        let [to, from, size, rest @ ..] = &i.operands[..] else {
            return Err("too few operands".to_owned());
        };
        let to = self.bulk_end(i, to, to_shared)?;
        let from = self.bulk_end(i, from, from_shared)?;
        let size = self.source(size, Type::U32)?;
        let arrives = if by_barrier {
            Some(self.bytes_arrive(i, rest.first())?)
        } else {
            None
        };
        let blocks = match (i.has(MulticastCluster), rest.get(1)) {
            (false, _) => None,
            (true, Some(blocks)) => Some(self.source(blocks, Type::B16)?),
            (true, None) => return Err("too few operands".to_owned()),
        };
        let combine = if i.has(Reduce) {
            Some(self.bulk_update(i, to_shared)?)
        } else {
            None
        };
        let bulk = self.image.bulks.len() as u32;
        self.image.bulks.push(BulkOp {
            to,
            from,
            size,
            arrives,
            blocks,
            combine,
        });
        self.step(Step::Bulk { bulk });
        Ok(())
    }

    /// The arrival of the bytes at a barrier.
    pub(super) fn bytes_arrive(
        &mut self,
        i: &Instruction,
        barrier: Option<&Operand>,
    ) -> Result<Change, Reason> {
        Ok(Change {
            action: Action::CompleteBytes,
            place: self.mbarrier_place(i, barrier)?,
            number: None,
            state: None,
            releases: true,
            narrow: false,
        })
    }

    /// Target or source of a copy.
    pub(super) fn bulk_end(
        &mut self,
        i: &Instruction,
        operand: &Operand,
        shared: bool,
    ) -> Result<BulkEnd, Reason> {
        let (_, from, offset) = self.address(i, operand)?;
        Ok(BulkEnd {
            from,
            offset,
            shared,
        })
    }

    /// The new value of an element, and its bytes.
    fn bulk_update(
        &mut self,
        i: &Instruction,
        to_shared: bool,
    ) -> Result<(crate::scalar::Scalar, u32), Reason> {
        use Word::*;
        let ty = i.ty(0).ok_or("no type")?;
        let word = i.one_of(&[Add, Min, Max, Inc, Dec, And, Or, Xor]);
        let word = word.ok_or("an operator that is not supported")?;
        let space = if to_shared {
            Space::Shared
        } else {
            Space::Global
        };
        self.image.ordered |= !to_shared && ty.is_float();
        let update = atomic_update(word, ty, Some(space));
        match update.filter(|_| (2..=8).contains(&ty.bytes())) {
            Some(update) => Ok((update, ty.bytes())),
            None => Err("an operator that the type does not have".to_owned()),
        }
    }
}

/// Whether target and source are in shared memory.
pub(super) fn shared_ends(i: &Instruction) -> Result<[bool; 2], Reason> {
    let spaces = i.modifiers.iter().filter_map(|m| match m {
        Modifier::Space(space) => Some(*space),
        _ => None,
    });
    let spaces: Vec<bool> = spaces.map(|s| s != Space::Global).collect();
    match spaces[..] {
        [to, from] => Ok([to, from]),
        _ => Err("the spaces of target and source expected".to_owned()),
    }
}
