//! Banks and locks, and how a group reaches them.

use super::stages::{Group, Place, Request};
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
        place: &Place,
        words: &mut [u64; MAX_LANES],
    ) -> Group<T> {
        if !place.valid {
            return Group::reset();
        }
        let brings = match request.op {
            op::LOAD | op::LDLK => self.read(request, place, words),
            op::STORE | op::STUL => self.write(request, place),
            op::PASS => {
                copy_words(request.mask, &request.data, words, self.lanes as usize);
                request.mask
            }
            _ => 0,
        };
        if request.locks() {
            self.access_locks(request, place);
        }
        let success = self.success;
        if place.last {
            self.success = 0;
        }
        Group {
            valid: true,
            last: place.last,
            brings,
            control: ResponseControl {
                valid: true,
                op: request.op,
                mask: request.mask,
                tag: request.tag,
                success,
                error: request.error,
                degree: place.degree,
            },
        }
    }

    fn access_locks<T>(&mut self, request: &Request<T>, place: &Place) {
        let inputs = LockInputs {
            rst: false,
            valid: true,
            window: place.window,
            op: request.op,
            req: place.leader,
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
        place: &Place,
        words: &mut [u64; MAX_LANES],
    ) -> LaneMask {
        let (bank, row) = (&request.bank, &request.row);
        let lanes = self.lanes as usize;
        if place.served == all_lanes(lanes) {
            let places = bank[..lanes].iter().zip(&row[..lanes]);
            for (word, (&bank, &row)) in words[..lanes].iter_mut().zip(places) {
                *word = self.banks.word(bank.into(), row.into());
            }
            return place.served;
        }
        for lane in lanes_of(place.served) {
            words[lane] = self.banks.word(bank[lane].into(), row[lane].into());
        }
        place.served
    }

    fn write<T>(&mut self, request: &Request<T>, place: &Place) -> LaneMask {
        if place.served == place.leader {
            // Each bank has one lane, whose word needs no merging.

            self.write_apart(request, place.leader)
        } else {
            self.write_merged(request, place)
        }
        0
    }

    fn write_apart<T>(&mut self, request: &Request<T>, leader: LaneMask) {
        let (bank, row) = (&request.bank, &request.row);
        let lanes = self.lanes as usize;
        let whole = self.merging.all_bytes();
        let by_all = request.be[..lanes].iter().fold(whole, |all, be| all & be);
        if leader == all_lanes(lanes) && self.merging.enables(by_all) == whole {
            // Whole words: nothing of the old ones stays.
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

    fn write_merged<T>(&mut self, request: &Request<T>, place: &Place) {
        let Place { served, leader, .. } = *place;
        let (bank, row) = (&request.bank, &request.row);
        let writes = self.merging.writes(served, leader, bank, &request.be);
        for lane in lanes_of(served) {
            let (bank, row) = (bank[lane].into(), row[lane].into());
            self.banks
                .write(bank, row, writes[lane], request.data[lane]);
        }
    }
}
