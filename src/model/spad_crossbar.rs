//! `spad_crossbar`: requests from lanes to banks, data back from banks to
//! lanes (docs/microarchitecture.md, section 4). Combinational.

use super::lanes::{LaneMask, MAX_BANKS, MAX_LANES, byte_mask, lanes_of};

/// The request side: one group of the arbiter, with the lanes' data.
#[derive(Clone, Copy, Debug)]
pub struct RequestInputs<'a> {
    /// Lanes of the group.
    pub served: LaneMask,
    /// The group's leaders, at most one per bank.
    pub leader: LaneMask,
    /// Bank of each lane.
    pub lane_bank: &'a [u8],
    /// Row of each lane.
    pub lane_row: &'a [u16],
    /// Store data of each lane.
    pub lane_data: &'a [u64],
    /// Byte enables of each lane.
    pub lane_be: &'a [u8],
}

/// The response side: which lane takes which bank's word.
#[derive(Clone, Copy, Debug)]
pub struct ResponseInputs<'a> {
    /// Lanes to route.
    pub sel_valid: LaneMask,
    /// Bank of each lane.
    pub sel_bank: &'a [u8],
    /// The word that each bank read.
    pub bank_rdata: &'a [u64],
}

/// What the banks get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankRequests {
    /// Row of each used bank's leader; 0 if the bank is unused.
    pub row: [u16; MAX_BANKS],
    /// Per byte the lowest served lane that enables it; 0 if none.
    pub wdata: [u64; MAX_BANKS],
    /// Per byte: some served lane enables it.
    pub wbe: [u8; MAX_BANKS],
}

impl BankRequests {
    /// No bank is used.
    pub(super) const NONE: BankRequests = BankRequests {
        row: [0; MAX_BANKS],
        wdata: [0; MAX_BANKS],
        wbe: [0; MAX_BANKS],
    };
}

/// Outputs of one evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossbarOutputs {
    /// To the banks.
    pub banks: BankRequests,
    /// Each lane's word; 0 for lanes that are not routed.
    pub lane_rdata: [u64; MAX_LANES],
}

/// Both crossbars.
#[derive(Clone, Debug)]
pub struct Crossbar {
    /// Bytes of a word: 4 or 8.
    pub word_bytes: u32,
    /// MERGE: stores to one word merge per byte; else the leader's word wins.
    pub merge: bool,
}

impl Crossbar {
    /// The request side.
    pub fn requests(&self, inputs: &RequestInputs) -> BankRequests {
        let mut banks = BankRequests::NONE;
        self.drive(inputs, &mut banks);
        banks
    }

    /// The request side, where nobody looks at banks that are not used: they
    /// are left alone.
    pub(super) fn drive(&self, inputs: &RequestInputs, banks: &mut BankRequests) {
        for lane in lanes_of(inputs.leader) {
            let bank = usize::from(inputs.lane_bank[lane]) % MAX_BANKS;
            banks.row[bank] = inputs.lane_row[lane];
            (banks.wdata[bank], banks.wbe[bank]) = match self.merge {
                true => (0, 0),
                false => (inputs.lane_data[lane], self.all_bytes()),
            };
        }
        if self.merge {
            // The lowest lane of a byte is the first that enables it.
            for lane in lanes_of(inputs.served) {
                let bank = usize::from(inputs.lane_bank[lane]) % MAX_BANKS;
                let new = self.enables(inputs.lane_be[lane]) & !banks.wbe[bank];
                banks.wdata[bank] |= inputs.lane_data[lane] & byte_mask(new);
                banks.wbe[bank] |= new;
            }
        }
    }

    /// The response side, into `lane_rdata`: words of the routed lanes; the
    /// others are left alone.
    pub fn route(&self, inputs: &ResponseInputs, lane_rdata: &mut [u64]) {
        for lane in lanes_of(inputs.sel_valid) {
            lane_rdata[lane] = inputs.bank_rdata[usize::from(inputs.sel_bank[lane])];
        }
    }

    /// Both sides.
    pub fn eval(&self, request: &RequestInputs, response: &ResponseInputs) -> CrossbarOutputs {
        let mut lane_rdata = [0; MAX_LANES];
        self.route(response, &mut lane_rdata);
        CrossbarOutputs {
            banks: self.requests(request),
            lane_rdata,
        }
    }

    /// The bytes that a lane writes which shares its word with no other.
    pub(super) fn enables(&self, lane_be: u8) -> u8 {
        match self.merge {
            true => lane_be & self.all_bytes(),
            false => self.all_bytes(),
        }
    }

    /// The bytes of a word.
    pub(super) fn all_bytes(&self) -> u8 {
        (u16::MAX >> (16 - self.word_bytes)) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lanes 0..4 on one word of bank 2, with the given byte enables.
    fn store(merge: bool, lane_be: [u8; 4]) -> (u64, u8) {
        let crossbar = Crossbar {
            word_bytes: 4,
            merge,
        };
        let banks = crossbar.requests(&RequestInputs {
            served: 0b1111,
            leader: 1,
            lane_bank: &[2; 4],
            lane_row: &[9, 0, 0, 0],
            lane_data: &[0x11111111, 0x22222222, 0x33333333, 0x44444444],
            lane_be: &lane_be,
        });
        assert_eq!((banks.row[2], banks.row[1]), (9, 0));
        (banks.wdata[2], banks.wbe[2])
    }

    #[test]
    fn stores_to_one_word_merge_per_byte() {
        assert_eq!(store(true, [1, 2, 4, 8]), (0x44332211, 15));
        // Overlapping: the lowest lane of each byte; the leader may enable none.
        assert_eq!(store(true, [0, 0b0110, 0b1100, 0]), (0x33222200, 0b1110));
        assert_eq!(store(true, [0; 4]), (0, 0));
        assert_eq!(store(false, [0; 4]), (0x11111111, 15));
    }

    #[test]
    fn routed_lanes_get_their_bank() {
        let crossbar = Crossbar {
            word_bytes: 4,
            merge: true,
        };
        let mut words = [7; 4];
        let inputs = ResponseInputs {
            sel_valid: 0b1011,
            sel_bank: &[1, 0, 0, 1],
            bank_rdata: &[10, 11],
        };
        crossbar.route(&inputs, &mut words);
        assert_eq!(words, [11, 10, 7, 11]);
    }
}
