// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_matrix: bank index as a product with any matrix over GF(2): bank
// bit i is the parity of the address bits that row mask i selects.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational; cfg_* is static while a kernel runs
// Reference:  hash paper, section 4 (XOR-based functions)
//
// in  addr      14  word address
// in  cfg_rows  70  row masks: bits [i*n +: n] are the mask of bank bit i
// out bank       5  bank index

`default_nettype none

module spad_hash_matrix (
    input wire [13:0] addr,
    input wire [69:0] cfg_rows,
    output wire [4:0] bank
);
    assign bank[0] = (cfg_rows[0] & addr[0]) ^ (cfg_rows[1] & addr[1]) ^ (cfg_rows[2] & addr[2])
        ^ (cfg_rows[3] & addr[3]) ^ (cfg_rows[4] & addr[4]) ^ (cfg_rows[5] & addr[5])
        ^ (cfg_rows[6] & addr[6]) ^ (cfg_rows[7] & addr[7]) ^ (cfg_rows[8] & addr[8])
        ^ (cfg_rows[9] & addr[9]) ^ (cfg_rows[10] & addr[10]) ^ (cfg_rows[11] & addr[11])
        ^ (cfg_rows[12] & addr[12]) ^ (cfg_rows[13] & addr[13]);
    assign bank[1] = (cfg_rows[14] & addr[0]) ^ (cfg_rows[15] & addr[1])
        ^ (cfg_rows[16] & addr[2]) ^ (cfg_rows[17] & addr[3]) ^ (cfg_rows[18] & addr[4])
        ^ (cfg_rows[19] & addr[5]) ^ (cfg_rows[20] & addr[6]) ^ (cfg_rows[21] & addr[7])
        ^ (cfg_rows[22] & addr[8]) ^ (cfg_rows[23] & addr[9]) ^ (cfg_rows[24] & addr[10])
        ^ (cfg_rows[25] & addr[11]) ^ (cfg_rows[26] & addr[12]) ^ (cfg_rows[27] & addr[13]);
    assign bank[2] = (cfg_rows[28] & addr[0]) ^ (cfg_rows[29] & addr[1])
        ^ (cfg_rows[30] & addr[2]) ^ (cfg_rows[31] & addr[3]) ^ (cfg_rows[32] & addr[4])
        ^ (cfg_rows[33] & addr[5]) ^ (cfg_rows[34] & addr[6]) ^ (cfg_rows[35] & addr[7])
        ^ (cfg_rows[36] & addr[8]) ^ (cfg_rows[37] & addr[9]) ^ (cfg_rows[38] & addr[10])
        ^ (cfg_rows[39] & addr[11]) ^ (cfg_rows[40] & addr[12]) ^ (cfg_rows[41] & addr[13]);
    assign bank[3] = (cfg_rows[42] & addr[0]) ^ (cfg_rows[43] & addr[1])
        ^ (cfg_rows[44] & addr[2]) ^ (cfg_rows[45] & addr[3]) ^ (cfg_rows[46] & addr[4])
        ^ (cfg_rows[47] & addr[5]) ^ (cfg_rows[48] & addr[6]) ^ (cfg_rows[49] & addr[7])
        ^ (cfg_rows[50] & addr[8]) ^ (cfg_rows[51] & addr[9]) ^ (cfg_rows[52] & addr[10])
        ^ (cfg_rows[53] & addr[11]) ^ (cfg_rows[54] & addr[12]) ^ (cfg_rows[55] & addr[13]);
    assign bank[4] = (cfg_rows[56] & addr[0]) ^ (cfg_rows[57] & addr[1])
        ^ (cfg_rows[58] & addr[2]) ^ (cfg_rows[59] & addr[3]) ^ (cfg_rows[60] & addr[4])
        ^ (cfg_rows[61] & addr[5]) ^ (cfg_rows[62] & addr[6]) ^ (cfg_rows[63] & addr[7])
        ^ (cfg_rows[64] & addr[8]) ^ (cfg_rows[65] & addr[9]) ^ (cfg_rows[66] & addr[10])
        ^ (cfg_rows[67] & addr[11]) ^ (cfg_rows[68] & addr[12]) ^ (cfg_rows[69] & addr[13]);
endmodule

`default_nettype wire
