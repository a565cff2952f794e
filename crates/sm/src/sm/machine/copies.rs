//! Asynchronous copies, and what waits for them (microarchitecture/sm-model.md).

use super::Sm;
use super::abroad::{Abroad, Landing};
use crate::model::{WarpMask, lanes_of, warp_bit, warps_of};
use crate::sm::MbarrierOp;
use crate::sm::copy_engine::{Completion, CopyEngine, Groups, Owner, Progress};
use crate::sm::incoming::Incoming;
use crate::sm::instr::{Addresses, BulkGroupOp, Detail, Instr, InstrKind};
use crate::sm::transfer::Rows;
use crate::sm::warp::NEVER;
use spadkit_base::error::{Error, Result};
use spadkit_ptx::exec::BarrierOp;
use spadkit_ptx::exec::{Arrival, BarrierObject};
use std::collections::BTreeMap;

/// Stands for no register where an arrival names those of copies.
const NO_COPY: u8 = 255;

/// Copies under way, the `mbarrier` objects of the blocks, and who waits.
#[derive(Default)]
pub(super) struct Copies {
    pub engine: CopyEngine,
    pub rows: Rows,
    /// Stores that the channel takes in a cycle.
    leaving: Vec<(u64, Owner)>,
    /// Objects of each block slot, by their byte address.
    pub barriers: Vec<BTreeMap<u64, BarrierObject>>,
    /// Bulk groups of each warp: of the lanes that have made some.
    groups: Vec<BTreeMap<u32, Groups>>,
    /// Arrivals that wait for loads of `cp.async`.
    deferred: Vec<Deferred>,
    /// What other blocks do to the objects of each block slot.
    pub abroad: Vec<Abroad>,
    /// What is on its way to objects.
    pub landing: Vec<Landing>,
    /// Copies under way of each block slot.
    pub under_way: Vec<u32>,
    /// Warps that wait for a phase of an `mbarrier`.
    pub barrier_waits: WarpMask,
    /// Warps that wait for bulk groups.
    pub group_waits: WarpMask,
    /// Whether a row has the banks in this cycle.
    pub has_banks: bool,
}

/// Arrivals at an `mbarrier` when copies have come.
struct Deferred {
    warp: usize,
    slot: usize,
    /// Byte address of the object.
    at: u64,
    arrivals: u32,
    /// Tags of the loads that have not come.
    tags: Vec<u8>,
}

impl Copies {
    /// For a machine whose shared memory has these rows.
    pub fn new(warps: usize, slots: usize, rows: Rows) -> Self {
        Copies {
            rows,
            barriers: vec![BTreeMap::new(); slots],
            groups: vec![BTreeMap::new(); warps],
            abroad: vec![Abroad::new(); slots],
            under_way: vec![0; slots],
            ..Copies::default()
        }
    }

    /// No copy is under way.
    pub fn is_idle(&self) -> bool {
        self.engine.is_idle() && self.leaving.is_empty() && self.landing.is_empty()
    }

    /// No copy of the block in `slot` is under way.
    pub fn has_left(&self, slot: usize) -> bool {
        self.under_way[slot] == 0
    }

    /// A block starts in `slot`, to which others of its cluster do this.
    pub fn start(&mut self, slot: usize, warps: std::ops::Range<usize>, incoming: Vec<Incoming>) {
        self.barriers[slot].clear();
        self.landing.retain(|landing| landing.slot != slot);
        self.abroad[slot].clear();
        for one in incoming {
            self.abroad[slot]
                .entry(one.object)
                .or_default()
                .push_back(one);
        }
        self.groups[warps].fill(BTreeMap::new());
    }

    /// First cycle in which something happens, if the channel is free in
    /// `channel`.
    pub fn next_event(&self, channel: u64) -> u64 {
        let leaves = self.leaving.iter().map(|(cycle, _)| *cycle).min();
        let lands = self.landing.iter().map(|landing| landing.cycle).min();
        let event = self.engine.next_event(channel);
        event
            .min(leaves.unwrap_or(NEVER))
            .min(lands.unwrap_or(NEVER))
    }
}

impl Sm<'_> {
    /// The engine's work before the path's cycle; returns whether there is any.
    #[inline(always)]
    pub(super) fn begin_copy_cycle(&mut self) -> Result<bool> {
        self.copies.has_banks = false;
        if self.copies.is_idle() {
            return Ok(false);
        }
        self.advance_copies()?;
        self.path.offer_row(self.copies.engine.has_row(self.cycle));
        Ok(true)
    }

    /// The engine's work after the path's cycle.
    #[inline(never)]
    pub(super) fn end_copy_cycle(&mut self) -> Result<()> {
        self.path.offer_row(false);
        self.copies.has_banks = self.path.row_taken();
        if self.copies.has_banks {
            self.move_row()?;
        }
        Ok(())
    }

    /// The channel takes segments of copies, and those that it has taken all of
    /// are complete.
    #[inline(never)]
    fn advance_copies(&mut self) -> Result<()> {
        let now = self.cycle;
        while self.copies.engine.asks(now) && self.global.is_free(now) {
            let data = self.global.transfer(now);
            let Some(progress) = self.copies.engine.asked(now, data) else {
                break;
            };
            if progress.stores && progress.done {
                let taken = self.global.store_taken();
                self.copies.leaving.push((taken, progress.owner));
                self.completed_in(taken);
            }
        }
        let (left, leaving) = std::mem::take(&mut self.copies.leaving)
            .into_iter()
            .partition(|(cycle, _)| *cycle <= now);
        self.copies.leaving = leaving;
        let left: Vec<(u64, Owner)> = left;
        left.iter().try_for_each(|(_, owner)| self.copied(owner))?;
        self.land()
    }

    /// A row has had the banks in this cycle.
    fn move_row(&mut self) -> Result<()> {
        let Some(progress) = self.copies.engine.row_moved(self.cycle) else {
            return Ok(());
        };
        let Progress { owner, stores, .. } = progress;
        if !progress.moved {
            return Ok(());
        }
        if stores {
            self.group_ends(&owner, false);
            if progress.done {
                // Nothing of it lies in global memory.
                self.copied(&owner)?;
            }
            return Ok(());
        }
        self.completed_in(self.cycle);
        self.copied(&owner)
    }

    /// A copy is complete.
    fn copied(&mut self, owner: &Owner) -> Result<()> {
        self.ends_in(owner.slot);
        match owner.completion {
            Completion::Barrier(at, bytes) => {
                self.change_barrier(owner.warp, owner.slot, at, |object| {
                    object.complete(bytes).map(drop)
                })
            }
            Completion::Group(..) => {
                self.group_ends(owner, true);
                Ok(())
            }
            Completion::Incoming(at, bytes) => {
                let op = MbarrierOp::Complete { bytes };
                self.done_by_other(owner.slot, at, op)
            }
        }
    }

    /// A copy of the block in `slot` is no longer under way.
    pub(super) fn ends_in(&mut self, slot: usize) {
        self.copies.under_way[slot] -= 1;
        if self.copies.has_left(slot) && self.shares(slot) {
            // Warps that end have waited for it.
            for w in self.layout.warps(slot) {
                let warp = &self.warps[w];
                if warp.is_resident() && !warp.offered && warp.ends() {
                    self.check(w, self.cycle + 1);
                }
            }
        }
    }

    fn group_ends(&mut self, owner: &Owner, done: bool) {
        let Completion::Group(lane, group) = owner.completion else {
            return;
        };
        let w = owner.warp;
        if let Some(groups) = self.copies.groups[w].get_mut(&lane) {
            groups.end(group, done);
        }
        if self.copies.group_waits & warp_bit(w) != 0 {
            self.check(w, self.cycle + 1);
        }
    }

    /// Whether copies and barriers allow the next instruction of warp `w` to be
    /// offered. If not, the event that it waits for checks again.
    pub(super) fn is_through(&mut self, w: usize) -> bool {
        let warp = &self.warps[w];
        let Some(instr) = warp.next() else {
            return true;
        };
        let (through, by_barrier) = match instr.detail {
            Detail::Mbarrier(BarrierOp::Wait, phase) => {
                let (slot, at) = (warp.slot, instr.addrs.of(0));
                let object = self.copies.barriers[slot].get(&at);
                let through = object.is_some_and(|o| o.phase() > u64::from(phase));
                if !through {
                    self.summon(slot, at);
                }
                (through, true)
            }
            Detail::BulkGroup(op @ (BulkGroupOp::Wait | BulkGroupOp::WaitRead), left) => {
                let done = op == BulkGroupOp::Wait;
                let lanes = warp.active(instr);
                let own = self.copies.groups[w].iter();
                let mut waited = own.filter(|(lane, _)| lanes >> **lane & 1 == 1);
                let through = waited.all(|(_, groups)| groups.are_through(left, done));
                (through, false)
            }
            _ => return true,
        };
        let waits = if by_barrier {
            &mut self.copies.barrier_waits
        } else {
            &mut self.copies.group_waits
        };
        *waits &= !warp_bit(w);
        if !through {
            *waits |= warp_bit(w);
        }
        through
    }

    /// An instruction of copies or barriers of warp `w` was issued for `lanes`.
    pub(super) fn begin_asynchronous(&mut self, w: usize, lanes: u64) -> Result<()> {
        let warp = &self.warps[w];
        let (slot, Some((part, at))) = (warp.slot, warp.place()) else {
            return Ok(());
        };
        let instr = &part[at];
        match (instr.kind, instr.detail) {
            (InstrKind::BulkCopy, _) if lanes != 0 => {
                self.begin_copy(w, slot, instr, lanes.trailing_zeros())
            }
            (_, Detail::BulkGroup(BulkGroupOp::Commit, _)) => {
                for lane in lanes_of(lanes) {
                    self.copies.groups[w]
                        .entry(lane as u32)
                        .or_default()
                        .commit();
                }
                Ok(())
            }
            (_, Detail::Mbarrier(op, number)) if lanes != 0 => {
                let op = MbarrierOp::new(op, number);
                let at = instr.addrs.of(0);
                self.summon(slot, at);
                self.barrier_op(w, (slot, at), (op, lanes.count_ones()))
            }
            _ => Ok(()),
        }
    }

    fn begin_copy(&mut self, w: usize, slot: usize, instr: &Instr, lane: u32) -> Result<()> {
        let Addresses::Copy(transfer) = &instr.addrs else {
            return Ok(());
        };
        let size = u64::from(self.workload.info().shared_bytes);
        let outside = |&&(at, bytes): &&(u64, u64)| at.saturating_add(bytes) > size;
        if let Some((at, bytes)) = transfer.shared.iter().find(outside) {
            return Err(Error::usage(
                format!(
                    "{} of {bytes} bytes at byte {at} of shared memory",
                    self.place(w, instr)
                ),
                format!("a block has {size} bytes"),
            ));
        }
        self.statistics.remote_accesses += u64::from(transfer.others);
        let completion = match transfer.arrives {
            Some((at, bytes)) => Completion::Barrier(at, bytes),
            None => {
                let groups = self.copies.groups[w].entry(lane).or_default();
                Completion::Group(lane, groups.begin())
            }
        };
        let owner = Owner {
            warp: w,
            slot,
            completion,
        };
        let segment = self.global.segment_bytes();
        self.copies.under_way[slot] += 1;
        let Copies { engine, rows, .. } = &mut self.copies;
        if engine.begin(owner, transfer, (rows, segment), self.cycle) {
            return Ok(());
        }
        self.group_ends(&owner, false);
        self.copied(&owner)
    }

    /// An operation of this many lanes on an object.
    pub(super) fn barrier_op(
        &mut self,
        w: usize,
        (slot, at): (usize, u64),
        (op, lanes): (MbarrierOp, u32),
    ) -> Result<()> {
        let all = |number: u32| lanes.saturating_mul(number);
        let arrival = |count, bytes, drops| Arrival {
            count,
            bytes,
            drops,
            stays: false,
        };
        let arrival = match op {
            MbarrierOp::Init { arrivals } => {
                let object = BarrierObject::new(arrivals);
                let object = object.map_err(|text| self.object_error(w, at, text))?;
                self.forget_landing(slot, at);
                self.copies.barriers[slot].insert(at, object);
                return Ok(());
            }
            MbarrierOp::Invalidate => {
                self.forget_landing(slot, at);
                self.copies.barriers[slot].remove(&at);
                return Ok(());
            }
            MbarrierOp::Wait { .. } => return Ok(()),
            MbarrierOp::Sent { bytes } => {
                self.send(w, (slot, at), all(bytes));
                return Ok(());
            }
            MbarrierOp::Expect { bytes } => {
                return self.change_barrier(w, slot, at, |o| o.expect(all(bytes)));
            }
            MbarrierOp::Complete { bytes } => {
                return self.change_barrier(w, slot, at, |o| o.complete(all(bytes)).map(drop));
            }
            MbarrierOp::Arrive { arrivals } => arrival(all(arrivals), 0, false),
            MbarrierOp::ArriveExpect { bytes } => arrival(lanes, all(bytes), false),
            MbarrierOp::Drop { arrivals } => arrival(all(arrivals), 0, true),
            MbarrierOp::DropExpect { bytes } => arrival(lanes, all(bytes), true),
            MbarrierOp::CopiesArrive { registers } => {
                return self.arrive_after(w, (slot, at), lanes, registers);
            }
            MbarrierOp::CopiesJoin { registers } => {
                let join = |o: &mut BarrierObject| {
                    o.join(lanes);
                    Ok(())
                };
                self.change_barrier(w, slot, at, join)?;
                return self.arrive_after(w, (slot, at), lanes, registers);
            }
        };
        self.change_barrier(w, slot, at, |o| o.arrive(arrival).map(drop))
    }

    /// Arrives at an object with this many lanes when the loads of `registers` have
    /// come.
    fn arrive_after(
        &mut self,
        w: usize,
        (slot, at): (usize, u64),
        arrivals: u32,
        registers: [u8; 4],
    ) -> Result<()> {
        let pending = self.warps[w].pending.iter();
        let copies = pending.filter(|p| {
            let is_one = |register| registers.contains(&register) && register != NO_COPY;
            p.kind == InstrKind::LdGlobal && p.dst.is_some_and(is_one)
        });
        let deferred = Deferred {
            warp: w,
            slot,
            at,
            arrivals,
            tags: copies.map(|p| p.tag).collect(),
        };
        if deferred.tags.is_empty() {
            return self.arrive_now(&deferred);
        }
        self.copies.deferred.push(deferred);
        Ok(())
    }

    fn arrive_now(&mut self, deferred: &Deferred) -> Result<()> {
        let &Deferred { warp, slot, at, .. } = deferred;
        let arrival = Arrival {
            count: deferred.arrivals,
            ..Arrival::default()
        };
        self.change_barrier(warp, slot, at, |o| o.arrive(arrival).map(drop))
    }

    /// A load of warp `w` has come: what arrives after it may do so.
    pub(super) fn loaded(&mut self, w: usize, tag: u8) -> Result<()> {
        if self.copies.deferred.is_empty() {
            return Ok(());
        }
        let mut all = std::mem::take(&mut self.copies.deferred);
        let own = all.iter_mut().filter(|d| d.warp == w);
        own.for_each(|d| d.tags.retain(|t| *t != tag));
        let (due, rest) = all.into_iter().partition(|d| d.tags.is_empty());
        self.copies.deferred = rest;
        let due: Vec<Deferred> = due;
        due.iter().try_for_each(|d| self.arrive_now(d))
    }

    /// Changes an object; if that completes its phase, those who wait for it
    /// are looked at in the next cycle.
    pub(super) fn change_barrier(
        &mut self,
        w: usize,
        slot: usize,
        at: u64,
        change: impl FnOnce(&mut BarrierObject) -> Result<(), String>,
    ) -> Result<()> {
        let Some(object) = self.copies.barriers[slot].get_mut(&at) else {
            return Err(self.object_error(w, at, "it has not been initialised".to_owned()));
        };
        let phase = object.phase();
        let changed = change(object);
        let completes = object.phase() != phase;
        if let Err(text) = changed {
            return Err(self.object_error(w, at, text));
        }
        if completes {
            let waiting = self.copies.barrier_waits;
            let of_block = warps_of(waiting).filter(|w| self.warps[*w].slot == slot);
            let next = self.cycle + 1;
            for w in of_block.collect::<Vec<usize>>() {
                self.check(w, next);
            }
        }
        Ok(())
    }

    fn object_error(&self, w: usize, at: u64, text: String) -> Error {
        let warp = &self.warps[w];
        Error::usage(
            format!(
                "block {}, warp {}: the mbarrier at byte {at} of shared memory: {text}",
                warp.block, warp.index
            ),
            "expected what the PTX ISA's mbarrier allows",
        )
    }
}
