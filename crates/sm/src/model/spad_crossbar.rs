//! `spad_crossbar`: requests from lanes to banks, data back from banks to
//! lanes (microarchitecture/crossbar.md). Combinational.

use super::lanes::{LaneMask, MAX_BANKS, MAX_LANES, byte_mask, lanes_of};

/// The request side: one group of the arbiter, with the lanes' data.
#[derive(Clone, Copy, Debug)]
pub struct RequestInputs<'a> {
    /// The group's leaders, at most one per bank.
    pub leader: LaneMask,
    /// Bank of each lane.
    pub lane_bank: &'a [u8],
    /// Row of each lane.
    pub lane_row: &'a [u16],
    /// Store data of each lane.
    pub lane_data: &'a [u64],
    /// Bytes that each lane writes; each byte of a bank by one lane at most.
    pub lane_writes: &'a [u8],
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

/// The requests to the banks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankRequests {
    /// Row of each used bank's leader; 0 if the bank is unused.
    pub row: [u16; MAX_BANKS],
    /// Store data; 0 in bytes that are not written.
    pub wdata: [u64; MAX_BANKS],
    /// Bytes that are written.
    pub wbe: [u8; MAX_BANKS],
}

/// Outputs of one evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossbarOutputs {
    /// To the banks.
    pub banks: BankRequests,
    /// Each lane's word; 0 for lanes that are not routed.
    pub lane_rdata: [u64; MAX_LANES],
}

/// Both sides of the crossbar.
pub fn crossbar(request: &RequestInputs, response: &ResponseInputs) -> CrossbarOutputs {
    CrossbarOutputs {
        banks: to_banks(request),
        lane_rdata: to_lanes(response),
    }
}

fn to_banks(inputs: &RequestInputs) -> BankRequests {
    let mut banks = BankRequests {
        row: [0; MAX_BANKS],
        wdata: [0; MAX_BANKS],
        wbe: [0; MAX_BANKS],
    };
    for lane in lanes_of(inputs.leader) {
        banks.row[usize::from(inputs.lane_bank[lane])] = inputs.lane_row[lane];
    }
    for (lane, &writes) in inputs.lane_writes.iter().enumerate() {
        let bank = usize::from(inputs.lane_bank[lane]);
        banks.wdata[bank] |= inputs.lane_data[lane] & byte_mask(writes);
        banks.wbe[bank] |= writes;
    }
    banks
}

fn to_lanes(inputs: &ResponseInputs) -> [u64; MAX_LANES] {
    let mut lane_rdata = [0; MAX_LANES];
    for lane in lanes_of(inputs.sel_valid) {
        lane_rdata[lane] = inputs.bank_rdata[usize::from(inputs.sel_bank[lane])];
    }
    lane_rdata
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lanes 0..4 on one word of bank 2, which they write together.
    #[test]
    fn a_word_is_put_together_and_read_by_all() {
        let request = RequestInputs {
            leader: 1,
            lane_bank: &[2; 4],
            lane_row: &[9, 0, 0, 0],
            lane_data: &[0x11111111, 0x22222222, 0x33333333, 0x44444444],
            lane_writes: &[0, 0b0110, 0b1000, 0],
        };
        let response = ResponseInputs {
            sel_valid: 0b1011,
            sel_bank: &[1, 0, 0, 1],
            bank_rdata: &[10, 11],
        };
        let out = crossbar(&request, &response);
        assert_eq!((out.banks.row[2], out.banks.row[1]), (9, 0));
        assert_eq!((out.banks.wdata[2], out.banks.wbe[2]), (0x33222200, 0b1110));
        assert_eq!(out.lane_rdata[..4], [11, 10, 0, 11]);
    }
}
