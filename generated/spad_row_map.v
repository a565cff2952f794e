// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_row_map: row index inside the bank: the address bits that are not
// pivots of the bank function. Row bit j is address bit m+j unless that bit is
// a pivot; the displaced row bits take low address bits.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational; cfg_* is static while a kernel runs
// Reference:  beyond the papers: makes the bank functions of the hash paper
//             bijective
//
// in  addr         14  word address
// in  cfg_row_sel  54  one-hot select of row bit j in bits [j*(m+1) +: m+1]:
//                      bit i < m takes addr[i], bit m takes addr[m+j]
// out row           9  row index

`default_nettype none

module spad_row_map (
    input wire [13:0] addr,
    input wire [53:0] cfg_row_sel,
    output wire [8:0] row
);
    assign row[0] = (cfg_row_sel[0] & addr[0]) | (cfg_row_sel[1] & addr[1])
        | (cfg_row_sel[2] & addr[2]) | (cfg_row_sel[3] & addr[3]) | (cfg_row_sel[4] & addr[4])
        | (cfg_row_sel[5] & addr[5]);
    assign row[1] = (cfg_row_sel[6] & addr[0]) | (cfg_row_sel[7] & addr[1])
        | (cfg_row_sel[8] & addr[2]) | (cfg_row_sel[9] & addr[3]) | (cfg_row_sel[10] & addr[4])
        | (cfg_row_sel[11] & addr[6]);
    assign row[2] = (cfg_row_sel[12] & addr[0]) | (cfg_row_sel[13] & addr[1])
        | (cfg_row_sel[14] & addr[2]) | (cfg_row_sel[15] & addr[3])
        | (cfg_row_sel[16] & addr[4]) | (cfg_row_sel[17] & addr[7]);
    assign row[3] = (cfg_row_sel[18] & addr[0]) | (cfg_row_sel[19] & addr[1])
        | (cfg_row_sel[20] & addr[2]) | (cfg_row_sel[21] & addr[3])
        | (cfg_row_sel[22] & addr[4]) | (cfg_row_sel[23] & addr[8]);
    assign row[4] = (cfg_row_sel[24] & addr[0]) | (cfg_row_sel[25] & addr[1])
        | (cfg_row_sel[26] & addr[2]) | (cfg_row_sel[27] & addr[3])
        | (cfg_row_sel[28] & addr[4]) | (cfg_row_sel[29] & addr[9]);
    assign row[5] = (cfg_row_sel[30] & addr[0]) | (cfg_row_sel[31] & addr[1])
        | (cfg_row_sel[32] & addr[2]) | (cfg_row_sel[33] & addr[3])
        | (cfg_row_sel[34] & addr[4]) | (cfg_row_sel[35] & addr[10]);
    assign row[6] = (cfg_row_sel[36] & addr[0]) | (cfg_row_sel[37] & addr[1])
        | (cfg_row_sel[38] & addr[2]) | (cfg_row_sel[39] & addr[3])
        | (cfg_row_sel[40] & addr[4]) | (cfg_row_sel[41] & addr[11]);
    assign row[7] = (cfg_row_sel[42] & addr[0]) | (cfg_row_sel[43] & addr[1])
        | (cfg_row_sel[44] & addr[2]) | (cfg_row_sel[45] & addr[3])
        | (cfg_row_sel[46] & addr[4]) | (cfg_row_sel[47] & addr[12]);
    assign row[8] = (cfg_row_sel[48] & addr[0]) | (cfg_row_sel[49] & addr[1])
        | (cfg_row_sel[50] & addr[2]) | (cfg_row_sel[51] & addr[3])
        | (cfg_row_sel[52] & addr[4]) | (cfg_row_sel[53] & addr[13]);
endmodule

`default_nettype wire
