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

module spad_hash_add(addr,bank);
    /* verilator lint_off UNUSEDSIGNAL */ // addr[13:10] does not enter the hash
    input wire [13:0] addr;
    /* verilator lint_on UNUSEDSIGNAL */
    output reg [4:0] bank;
    reg [4:0] low;
    reg [4:0] high;
    always @(*) begin
        low[0] = addr[0];
        high[0] = addr[5];
        low[1] = addr[1];
        high[1] = addr[6];
        low[2] = addr[2];
        high[2] = addr[7];
        low[3] = addr[3];
        high[3] = addr[8];
        low[4] = addr[4];
        high[4] = addr[9];
        bank = (low + high);
    end
endmodule
