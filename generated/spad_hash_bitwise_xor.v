// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_bitwise_xor: bitwise XOR hash: each bank bit is one address bit or
// the XOR of any two, taken from four groups of AND-OR terms such that every
// pair of address bits lies in two different groups.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational; cfg_* is static while a kernel runs
// Reference:  hash paper, section 4.4
//
// in  addr     14  word address
// in  cfg_sel 120  selects of bank bit i in bits [i*24 +: 24], at most one per
//                  group; address bits of the groups, from the low select on:
//                  0 4 6 8 10 12 / 1 4 7 9 10 13 / 2 5 6 9 11 12 / 3 5 7 8 11
//                  13
// out bank      5  bank index

`default_nettype none

module spad_hash_bitwise_xor (
    input wire [13:0] addr,
    input wire [119:0] cfg_sel,
    output wire [4:0] bank
);
    assign bank[0] = ((cfg_sel[0] & addr[0]) | (cfg_sel[1] & addr[4]) | (cfg_sel[2] & addr[6])
            | (cfg_sel[3] & addr[8]) | (cfg_sel[4] & addr[10]) | (cfg_sel[5] & addr[12]))
        ^ ((cfg_sel[6] & addr[1]) | (cfg_sel[7] & addr[4]) | (cfg_sel[8] & addr[7])
            | (cfg_sel[9] & addr[9]) | (cfg_sel[10] & addr[10]) | (cfg_sel[11] & addr[13]))
        ^ ((cfg_sel[12] & addr[2]) | (cfg_sel[13] & addr[5]) | (cfg_sel[14] & addr[6])
            | (cfg_sel[15] & addr[9]) | (cfg_sel[16] & addr[11]) | (cfg_sel[17] & addr[12]))
        ^ ((cfg_sel[18] & addr[3]) | (cfg_sel[19] & addr[5]) | (cfg_sel[20] & addr[7])
            | (cfg_sel[21] & addr[8]) | (cfg_sel[22] & addr[11]) | (cfg_sel[23] & addr[13]));
    assign bank[1] = ((cfg_sel[24] & addr[0]) | (cfg_sel[25] & addr[4])
            | (cfg_sel[26] & addr[6]) | (cfg_sel[27] & addr[8]) | (cfg_sel[28] & addr[10])
            | (cfg_sel[29] & addr[12]))
        ^ ((cfg_sel[30] & addr[1]) | (cfg_sel[31] & addr[4]) | (cfg_sel[32] & addr[7])
            | (cfg_sel[33] & addr[9]) | (cfg_sel[34] & addr[10]) | (cfg_sel[35] & addr[13]))
        ^ ((cfg_sel[36] & addr[2]) | (cfg_sel[37] & addr[5]) | (cfg_sel[38] & addr[6])
            | (cfg_sel[39] & addr[9]) | (cfg_sel[40] & addr[11]) | (cfg_sel[41] & addr[12]))
        ^ ((cfg_sel[42] & addr[3]) | (cfg_sel[43] & addr[5]) | (cfg_sel[44] & addr[7])
            | (cfg_sel[45] & addr[8]) | (cfg_sel[46] & addr[11]) | (cfg_sel[47] & addr[13]));
    assign bank[2] = ((cfg_sel[48] & addr[0]) | (cfg_sel[49] & addr[4])
            | (cfg_sel[50] & addr[6]) | (cfg_sel[51] & addr[8]) | (cfg_sel[52] & addr[10])
            | (cfg_sel[53] & addr[12]))
        ^ ((cfg_sel[54] & addr[1]) | (cfg_sel[55] & addr[4]) | (cfg_sel[56] & addr[7])
            | (cfg_sel[57] & addr[9]) | (cfg_sel[58] & addr[10]) | (cfg_sel[59] & addr[13]))
        ^ ((cfg_sel[60] & addr[2]) | (cfg_sel[61] & addr[5]) | (cfg_sel[62] & addr[6])
            | (cfg_sel[63] & addr[9]) | (cfg_sel[64] & addr[11]) | (cfg_sel[65] & addr[12]))
        ^ ((cfg_sel[66] & addr[3]) | (cfg_sel[67] & addr[5]) | (cfg_sel[68] & addr[7])
            | (cfg_sel[69] & addr[8]) | (cfg_sel[70] & addr[11]) | (cfg_sel[71] & addr[13]));
    assign bank[3] = ((cfg_sel[72] & addr[0]) | (cfg_sel[73] & addr[4])
            | (cfg_sel[74] & addr[6]) | (cfg_sel[75] & addr[8]) | (cfg_sel[76] & addr[10])
            | (cfg_sel[77] & addr[12]))
        ^ ((cfg_sel[78] & addr[1]) | (cfg_sel[79] & addr[4]) | (cfg_sel[80] & addr[7])
            | (cfg_sel[81] & addr[9]) | (cfg_sel[82] & addr[10]) | (cfg_sel[83] & addr[13]))
        ^ ((cfg_sel[84] & addr[2]) | (cfg_sel[85] & addr[5]) | (cfg_sel[86] & addr[6])
            | (cfg_sel[87] & addr[9]) | (cfg_sel[88] & addr[11]) | (cfg_sel[89] & addr[12]))
        ^ ((cfg_sel[90] & addr[3]) | (cfg_sel[91] & addr[5]) | (cfg_sel[92] & addr[7])
            | (cfg_sel[93] & addr[8]) | (cfg_sel[94] & addr[11]) | (cfg_sel[95] & addr[13]));
    assign bank[4] = ((cfg_sel[96] & addr[0]) | (cfg_sel[97] & addr[4])
            | (cfg_sel[98] & addr[6]) | (cfg_sel[99] & addr[8]) | (cfg_sel[100] & addr[10])
            | (cfg_sel[101] & addr[12]))
        ^ ((cfg_sel[102] & addr[1]) | (cfg_sel[103] & addr[4]) | (cfg_sel[104] & addr[7])
            | (cfg_sel[105] & addr[9]) | (cfg_sel[106] & addr[10]) | (cfg_sel[107] & addr[13]))
        ^ ((cfg_sel[108] & addr[2]) | (cfg_sel[109] & addr[5]) | (cfg_sel[110] & addr[6])
            | (cfg_sel[111] & addr[9]) | (cfg_sel[112] & addr[11]) | (cfg_sel[113] & addr[12]))
        ^ ((cfg_sel[114] & addr[3]) | (cfg_sel[115] & addr[5]) | (cfg_sel[116] & addr[7])
            | (cfg_sel[117] & addr[8]) | (cfg_sel[118] & addr[11]) | (cfg_sel[119] & addr[13]));
endmodule

`default_nettype wire
