//! Clusters of one block: there is no shared memory of other blocks, and
//! waits for other blocks return at once. Also instructions without effect here.

use super::operand::Reason;
use super::{Decoder, Problem};
use crate::ptx::ast::{Immediate, Instruction, Operand};
use crate::ptx::exec::image::SHARED_WINDOW;
use crate::ptx::names::{Space, Type, Word};
use crate::ptx::opcodes::Opcode;

/// An address in the shared memory of a block that the cluster does not have:
/// beyond every block's own.
const NOWHERE: u64 = 0x7fff_0000;

impl Decoder<'_> {
    /// `mapa` and `getctarank`
    pub(super) fn cluster_address(&mut self, i: &Instruction) -> Result<(), Reason> {
        let generic = match i.space() {
            None => true,
            Some(Space::SharedCluster) => false,
            Some(_) => return Err("expected .shared::cluster or a generic address".to_owned()),
        };
        let (to, from) = match &i.operands[..] {
            [to, from, ..] => (to, from),
            _ => return Err("too few operands".to_owned()),
        };
        let ty = i.ty(0).ok_or("no type")?;
        let address = match from {
            // A variable of shared memory: its offset, or its generic address.
            Operand::Variable(symbol, offset) => {
                let own = self.address_of(*symbol)?.wrapping_add(*offset as u64);
                let window = if generic { SHARED_WINDOW } else { 0 };
                let width = crate::ptx::exec::registers::Width::of(ty).ok_or("no address type")?;
                self.constant(own | window, width)
            }
            one => self.source(one, ty)?,
        };
        if i.opcode == Opcode::Getctarank {
            let to = self.target(to, Type::U32)?;
            self.generic(Box::new(|_| [0, 0]), vec![address], to, None);
            return Ok(());
        }
        let rank = i.operands.get(2).ok_or("the rank of a block is missing")?;
        let rank = self.source(rank, Type::U32)?;
        let to = self.target(to, ty)?;
        let window = if generic { SHARED_WINDOW } else { 0 };
        self.generic(
            Box::new(move |x| match x[1] as u32 {
                0 => [x[0], 0],
                _ => [window | NOWHERE, 0],
            }),
            vec![address, rank],
            to,
            None,
        );
        Ok(())
    }

    /// `setmaxnreg`: registers have no limit here, but the number has to be
    /// one that a GPU takes.
    pub(super) fn hint(&mut self, i: &Instruction) -> Result<(), Reason> {
        let expected = |words: &[Word]| i.one_of(words).is_some();
        match i.opcode {
            Opcode::Setmaxnreg => match i.operands.first() {
                Some(Operand::Immediate(Immediate::Integer(n)))
                    if (24..=256).contains(n)
                        && n % 8 == 0
                        && expected(&[Word::Inc, Word::Dec]) =>
                {
                    Ok(())
                }
                _ => Err("expected .inc or .dec and a multiple of 8 from 24 to 256".to_owned()),
            },
            Opcode::Griddepcontrol if !expected(&[Word::LaunchDependents, Word::Wait]) => {
                Err("expected .launch_dependents or .wait".to_owned())
            }
            Opcode::Createpolicy => {
                let policy = i.operands.first().ok_or("too few operands")?;
                let policy = self.target(policy, Type::B64)?;
                self.generic(Box::new(|_| [0, 0]), Vec::new(), policy, None);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What the entry says of its clusters.
    pub(super) fn check_cluster(&self, entry: u32) -> Result<(), Problem> {
        let function = &self.module.functions[entry as usize];
        match function.tuning.cluster {
            Some(size) if size.iter().product::<u32>() != 1 => Err(Problem {
                place: function.span,
                text: format!(".reqnctapercluster {}, {}, {}", size[0], size[1], size[2]),
                reason: "only clusters of one block are supported".to_owned(),
            }),
            _ => Ok(()),
        }
    }
}
