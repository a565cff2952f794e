//! Addresses in clusters, and how large these are. Also instructions without
//! effect here.

use super::operand::Reason;
use super::{Decoder, Problem};
use crate::ast::{Immediate, Instruction, Operand};
use crate::exec::image::form::Step;
use crate::exec::image::{MemoryOp, MemoryOrder, Region, SHARED_WINDOW, Transfer};
use crate::exec::machine::peers::{MOST_BLOCKS, mapped, split};
use crate::names::{Space, Special, Type, Word};
use crate::opcodes::Opcode;
use crate::scalar::Sources;

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
                let width = crate::exec::registers::Width::of(ty).ok_or("no address type")?;
                self.constant(own | window, width)
            }
            one => self.source(one, ty)?,
        };
        let own = self.source(&Operand::Special(Special::ClusterCtarank), Type::U32)?;
        let window = if generic { SHARED_WINDOW } else { 0 };
        if i.opcode == Opcode::Getctarank {
            let to = self.target(to, Type::U32)?;
            let rank = move |x: &Sources| {
                let named = split(x[0] & !window).0;
                [named.map_or(x[1], u64::from), 0]
            };
            self.generic(Box::new(rank), vec![address, own], to, None);
            return Ok(());
        }
        let rank = i.operands.get(2).ok_or("the rank of a block is missing")?;
        let rank = self.source(rank, Type::U32)?;
        let to = self.target(to, ty)?;
        let map = move |x: &Sources| {
            let (named, offset) = split(x[0] & !window);
            let rank = x[1] as u32;
            match rank == x[2] as u32 {
                // Its own: the address that it has without a cluster.
                true if named.is_none() => [x[0], 0],
                true => [window | offset, 0],
                false => [window | mapped(offset, rank), 0],
            }
        };
        self.generic(Box::new(map), vec![address, rank, own], to, None);
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
            Opcode::Discard => self.discard(i),
            Opcode::Createpolicy => {
                let policy = i.operands.first().ok_or("too few operands")?;
                let policy = self.target(policy, Type::B64)?;
                self.generic(Box::new(|_| [0, 0]), Vec::new(), policy, None);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `discard`
    fn discard(&mut self, i: &Instruction) -> Result<(), Reason> {
        let [operand, Operand::Immediate(Immediate::Integer(128))] = &i.operands[..] else {
            return Err("expected an address and 128 bytes".to_owned());
        };
        let (_, from, offset) = self.address(i, operand)?;
        let access = self.add_memory(MemoryOp {
            index: 0,
            space: Some(Space::Global),
            from,
            offset,
            region: Region::ANYWHERE,
            bytes: 128,
            transfer: Transfer::Discard,
            order: MemoryOrder::default(),
        });
        self.step(Step::Discard { access });
        Ok(())
    }

    /// Checks what the entry says of its clusters and blocks.
    pub(super) fn check_cluster(&mut self, entry: u32) -> Result<(), Problem> {
        let function = &self.module.functions[entry as usize];
        self.image.cluster = function.tuning.cluster;
        self.image.block = function.tuning.reqntid;
        let most = function.tuning.maxntid;
        self.image.most_threads = most.map(|n| n.into_iter().fold(1, u32::saturating_mul));
        match function.tuning.cluster {
            Some(size) if !(1..=MOST_BLOCKS).contains(&blocks(size)) => Err(Problem {
                place: function.span,
                text: format!(".reqnctapercluster {}, {}, {}", size[0], size[1], size[2]),
                reason: format!("clusters of more than {MOST_BLOCKS} blocks are not supported"),
            }),
            _ => Ok(()),
        }
    }
}

/// Blocks of a cluster; 0 if there are too many to count.
fn blocks(size: [u32; 3]) -> u32 {
    let product = |all: u32, n: &u32| all.checked_mul(*n);
    size.iter().try_fold(1, product).unwrap_or(0)
}
