//! Banks and locks, and how a group reaches them.

use super::stages::{BanksAndRows, Group, Place, Request};
use super::{ResponseControl, op};
use crate::config::Config;
use crate::model::lanes::{LaneMask, MAX_LANES, copy_words, for_each_lane, lanes_of};
use crate::model::spad_bank_ram::{BankInputs, BankRam};
use crate::model::spad_crossbar::{BankRequests, Crossbar, RequestInputs};
use crate::model::spad_lock_unit::{LockBits, LockInputs, LockUnit};

/// Banks with the request crossbar in front of them, and locks.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    banks: Vec<BankRam>,
    crossbar: Crossbar,
    /// What the request crossbar drives; of use in banks that a group uses.
    to_banks: Box<BankRequests>,
    locks: LockUnit,
    /// Lanes that earlier groups and windows of the access gave their lock.
    success: LaneMask,
    lanes: u32,
    windows: u32,
}

impl Memory {
    pub(super) fn new(config: &Config) -> Self {
        let windows = config.path.lock_group_cycles;
        Memory {
            banks: vec![BankRam::new(config.parameters().ROWS); config.geometry.banks()],
            crossbar: Crossbar {
                word_bytes: config.word_bytes(),
                merge: config.path.merge_bytes,
            },
            to_banks: Box::new(BankRequests::NONE),
            locks: LockUnit::new(config.lanes, windows),
            success: 0,
            lanes: config.lanes,
            windows,
        }
    }

    /// Everything but the banks' contents.
    pub(super) fn reset(&mut self) {
        self.locks = LockUnit::new(self.lanes, self.windows);
        self.success = 0;
        for bank in &mut self.banks {
            bank.commit(&BankInputs {
                rst: true,
                ..BankInputs::default()
            });
        }
    }

    pub(super) fn word(&self, bank: usize, row: usize) -> u64 {
        self.banks[bank].word(row)
    }

    pub(super) fn preload(&mut self, bank: usize, row: usize, word: u64) {
        self.banks[bank].preload(row, word);
    }

    pub(super) fn held_locks(&self) -> &LockBits {
        self.locks.held()
    }

    /// The clock edge at which a group accesses banks and locks; what stands
    /// behind them then. The words that it brings go into `words`.
    pub(super) fn serve<T: Copy + Default>(
        &mut self,
        request: &Request<T>,
        lanes: BanksAndRows,
        place: &Place,
        words: &mut [u64; MAX_LANES],
    ) -> Group<T> {
        if !place.valid {
            return Group::reset();
        }
        let brings = match request.op {
            op::LOAD | op::LDLK => self.read(lanes, place, words),
            op::STORE | op::STUL => self.write(request, lanes, place),
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

    /// Leaders address their banks, whose words go to all lanes of the group.
    fn read(
        &mut self,
        (bank, row): BanksAndRows,
        place: &Place,
        words: &mut [u64; MAX_LANES],
    ) -> LaneMask {
        let banks = &mut self.banks[..];
        for_each_lane(place.leader, self.lanes as usize, |lane| {
            words[lane] = banks[usize::from(bank[lane])].read(row[lane]);
        });
        for lane in lanes_of(place.served & !place.leader) {
            words[lane] = self.banks[usize::from(bank[lane])].eval();
        }
        place.served
    }

    fn write<T>(
        &mut self,
        request: &Request<T>,
        (bank, row): BanksAndRows,
        place: &Place,
    ) -> LaneMask {
        if place.served == place.leader {
            // Each bank has one lane, whose word needs no merging.
            let (crossbar, banks) = (&self.crossbar, &mut self.banks[..]);
            for_each_lane(place.leader, self.lanes as usize, |lane| {
                let be = crossbar.enables(request.be[lane]);
                banks[usize::from(bank[lane])].write(row[lane], be, request.data[lane]);
            });
            return 0;
        }
        let requests = RequestInputs {
            served: place.served,
            leader: place.leader,
            lane_bank: bank,
            lane_row: row,
            lane_data: &request.data,
            lane_be: &request.be,
        };
        self.crossbar.drive(&requests, &mut self.to_banks);
        for lane in lanes_of(place.leader) {
            let bank = usize::from(bank[lane]);
            let to_bank = &self.to_banks;
            let (be, wdata) = (to_bank.wbe[bank], to_bank.wdata[bank]);
            self.banks[bank].write(to_bank.row[bank], be, wdata);
        }
        0
    }
}
