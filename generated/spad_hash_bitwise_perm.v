// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_bitwise_perm: bitwise permutation hash: each bank bit is one
// address bit, chosen by one-hot selects that are decoded once per SM.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational; cfg_* is static while a kernel runs
// Reference:  hash paper, section 4.3
//
// in  addr     14  word address
// in  cfg_sel  70  one-hot select of bank bit i in bits [i*n +: n]: bit a
//                  takes addr[a]
// out bank      5  bank index

`default_nettype none

module spad_hash_bitwise_perm (
    input wire [13:0] addr,
    input wire [69:0] cfg_sel,
    output wire [4:0] bank
);
    assign bank[0] = (cfg_sel[0] & addr[0]) | (cfg_sel[1] & addr[1]) | (cfg_sel[2] & addr[2])
        | (cfg_sel[3] & addr[3]) | (cfg_sel[4] & addr[4]) | (cfg_sel[5] & addr[5])
        | (cfg_sel[6] & addr[6]) | (cfg_sel[7] & addr[7]) | (cfg_sel[8] & addr[8])
        | (cfg_sel[9] & addr[9]) | (cfg_sel[10] & addr[10]) | (cfg_sel[11] & addr[11])
        | (cfg_sel[12] & addr[12]) | (cfg_sel[13] & addr[13]);
    assign bank[1] = (cfg_sel[14] & addr[0]) | (cfg_sel[15] & addr[1]) | (cfg_sel[16] & addr[2])
        | (cfg_sel[17] & addr[3]) | (cfg_sel[18] & addr[4]) | (cfg_sel[19] & addr[5])
        | (cfg_sel[20] & addr[6]) | (cfg_sel[21] & addr[7]) | (cfg_sel[22] & addr[8])
        | (cfg_sel[23] & addr[9]) | (cfg_sel[24] & addr[10]) | (cfg_sel[25] & addr[11])
        | (cfg_sel[26] & addr[12]) | (cfg_sel[27] & addr[13]);
    assign bank[2] = (cfg_sel[28] & addr[0]) | (cfg_sel[29] & addr[1]) | (cfg_sel[30] & addr[2])
        | (cfg_sel[31] & addr[3]) | (cfg_sel[32] & addr[4]) | (cfg_sel[33] & addr[5])
        | (cfg_sel[34] & addr[6]) | (cfg_sel[35] & addr[7]) | (cfg_sel[36] & addr[8])
        | (cfg_sel[37] & addr[9]) | (cfg_sel[38] & addr[10]) | (cfg_sel[39] & addr[11])
        | (cfg_sel[40] & addr[12]) | (cfg_sel[41] & addr[13]);
    assign bank[3] = (cfg_sel[42] & addr[0]) | (cfg_sel[43] & addr[1]) | (cfg_sel[44] & addr[2])
        | (cfg_sel[45] & addr[3]) | (cfg_sel[46] & addr[4]) | (cfg_sel[47] & addr[5])
        | (cfg_sel[48] & addr[6]) | (cfg_sel[49] & addr[7]) | (cfg_sel[50] & addr[8])
        | (cfg_sel[51] & addr[9]) | (cfg_sel[52] & addr[10]) | (cfg_sel[53] & addr[11])
        | (cfg_sel[54] & addr[12]) | (cfg_sel[55] & addr[13]);
    assign bank[4] = (cfg_sel[56] & addr[0]) | (cfg_sel[57] & addr[1]) | (cfg_sel[58] & addr[2])
        | (cfg_sel[59] & addr[3]) | (cfg_sel[60] & addr[4]) | (cfg_sel[61] & addr[5])
        | (cfg_sel[62] & addr[6]) | (cfg_sel[63] & addr[7]) | (cfg_sel[64] & addr[8])
        | (cfg_sel[65] & addr[9]) | (cfg_sel[66] & addr[10]) | (cfg_sel[67] & addr[11])
        | (cfg_sel[68] & addr[12]) | (cfg_sel[69] & addr[13]);
endmodule

`default_nettype wire
