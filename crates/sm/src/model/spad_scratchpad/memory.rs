//! Banks and locks, and how a group reaches them.

use super::stages::{Grant, Group, Request};
use super::{ResponseControl, op};
use crate::config::Config;
use crate::model::byte_merging::ByteMerging;
use crate::model::lanes::{LaneMask, MAX_LANES, all_lanes, byte_mask, copy_words, lanes_of};
use crate::model::spad_bank_ram::BankWords;
use crate::model::spad_lock_unit::{LockBits, LockInputs, LockUnit};

/// Banks and locks.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    banks: BankWords,
    merging: ByteMerging,
    locks: LockUnit,
    /// Lanes that earlier groups and windows of the access gave their lock.
    success: LaneMask,
    lanes: u32,
}

impl Memory {
    pub(super) fn new(config: &Config) -> Self {
        let windows = config.path.lock_group_cycles;
        Memory {
            banks: BankWords::new(config.parameters().ROWS, config.geometry.bank_bits()),
            merging: ByteMerging::of(config),
            locks: LockUnit::new(config.lanes, windows).with_owners(config.path.lock_owner),
            success: 0,
            lanes: config.lanes,
        }
    }

    /// Everything but the banks' contents.
    pub(super) fn reset(&mut self) {
        self.locks.reset();
        self.success = 0;
    }

    pub(super) fn word(&self, bank: usize, row: usize) -> u64 {
        self.banks.word(bank, row)
    }

    pub(super) fn preload(&mut self, bank: usize, row: usize, word: u64) {
        self.banks.put(bank, row, word);
    }

    pub(super) fn held_locks(&self) -> &LockBits {
        self.locks.held()
    }

    /// The clock edge at which a group accesses banks and locks; what stands
    /// after them then. The words that it brings go into `words`.
    pub(super) fn serve<T: Copy + Default>(
        &mut self,
        request: &Request<T>,
        grant: &Grant,
        words: &mut [u64; MAX_LANES],
    ) -> Group<T> {
        if !grant.valid {
            return Group::reset();
        }
        let brings = match request.op {
            op::LOAD | op::LDLK => self.read(request, grant, words),
            op::STORE | op::STUL => self.write(request, grant),
            op::PASS => {
                copy_words(request.mask, &request.data, words, self.lanes as usize);
                request.mask
            }
            _ => 0,
        };
        if request.locks() {
            self.access_locks(request, grant);
        }
        let success = self.success;
        if grant.last {
            self.success = 0;
        }
        Group {
            valid: true,
            last: grant.last,
            brings,
            control: ResponseControl {
                valid: true,
                op: request.op,
                mask: request.mask,
                tag: request.tag,
                success,
                error: request.error,
                degree: grant.degree,
            },
        }
    }

    fn access_locks<T>(&mut self, request: &Request<T>, grant: &Grant) {
        let inputs = LockInputs {
            rst: false,
            valid: true,
            window: grant.window,
            op: request.op,
            req: grant.leader,
            addr: &request.lock,
        };
        self.success |= self.locks.success(&inputs);
        self.locks.commit(&inputs);
    }

    /// Each lane of the group gets the word of its bank in the row that its
    /// leader asks for, which is its own.
    fn read<T>(
        &self,
        request: &Request<T>,
        grant: &Grant,
        words: &mut [u64; MAX_LANES],
    ) -> LaneMask {
        let (bank, row) = (&request.bank, &request.row);
        let lanes = self.lanes as usize;
        if grant.served == all_lanes(lanes) {
            let places = bank[..lanes].iter().zip(&row[..lanes]);
            for (word, (&bank, &row)) in words[..lanes].iter_mut().zip(places) {
                *word = self.banks.word(bank.into(), row.into());
            }
            return grant.served;
        }
        for lane in lanes_of(grant.served) {
            words[lane] = self.banks.word(bank[lane].into(), row[lane].into());
        }
        grant.served
    }

    fn write<T>(&mut self, request: &Request<T>, grant: &Grant) -> LaneMask {
        if grant.served == grant.leader {
            // Each bank has one lane, whose word needs no merging.

            self.write_apart(request, grant.leader)
        } else {
            self.write_merged(request, grant)
        }
        0
    }

    fn write_apart<T>(&mut self, request: &Request<T>, leader: LaneMask) {
        let (bank, row) = (&request.bank, &request.row);
        let lanes = self.lanes as usize;
        let whole = self.merging.all_bytes();
        let by_all = request.be[..lanes].iter().fold(whole, |all, be| all & be);
        if leader == all_lanes(lanes) && self.merging.enables(by_all) == whole {
            // Whole words: no byte of the old ones is kept.
            let mask = byte_mask(whole);
            let places = bank[..lanes].iter().zip(&row[..lanes]);
            for (&word, (&bank, &row)) in request.data[..lanes].iter().zip(places) {
                self.banks.put(bank.into(), row.into(), word & mask);
            }
            return;
        }
        for lane in lanes_of(leader) {
            let be = self.merging.enables(request.be[lane]);
            let (bank, row) = (bank[lane].into(), row[lane].into());
            self.banks.write(bank, row, be, request.data[lane]);
        }
    }

    fn write_merged<T>(&mut self, request: &Request<T>, grant: &Grant) {
        let Grant { served, leader, .. } = *grant;
        let (bank, row) = (&request.bank, &request.row);
        let writes = self.merging.writes(served, leader, bank, &request.be);
        for lane in lanes_of(served) {
            let (bank, row) = (bank[lane].into(), row[lane].into());
            self.banks
                .write(bank, row, writes[lane], request.data[lane]);
        }
    }
}
