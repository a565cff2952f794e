// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_add: fixed ADD hash, for banks and for locks: the m low address
// bits plus the next m, modulo 2^m; address bits from n upward read as zero.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational
// Reference:  atomics paper, section 4
//
// in  addr  14  word address
// out bank   5  bank index

`default_nettype none

module spad_hash_add (
    /* verilator lint_off UNUSEDSIGNAL */ // addr[13:10] does not enter the hash
    input wire [13:0] addr,
    /* verilator lint_on UNUSEDSIGNAL */
    output wire [4:0] bank
);
    wire [4:0] low = addr[4:0];
    wire [4:0] high = addr[9:5];
    assign bank = low + high;
endmodule

`default_nettype wire
