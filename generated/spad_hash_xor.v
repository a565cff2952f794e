// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_xor: fixed XOR hash, for banks and for locks: the m low address
// bits XOR the next m; address bits from n upward read as zero.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational
// Reference:  atomics paper, section 4; hash paper, section 7.1 (fixed
//             bit-vector XOR)
//
// in  addr  14  word address
// out bank   5  bank index

`default_nettype none

module spad_hash_xor (
    /* verilator lint_off UNUSEDSIGNAL */ // addr[13:10] does not enter the hash
    input wire [13:0] addr,
    /* verilator lint_on UNUSEDSIGNAL */
    output wire [4:0] bank
);
    assign bank[0] = addr[0] ^ addr[5];
    assign bank[1] = addr[1] ^ addr[6];
    assign bank[2] = addr[2] ^ addr[7];
    assign bank[3] = addr[3] ^ addr[8];
    assign bank[4] = addr[4] ^ addr[9];
endmodule

`default_nettype wire
