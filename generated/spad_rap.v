// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_rap: random address permute-shift (RAP) or random address shift (RAS):
// row i of a matrix with 2^m columns is rotated by r_i; the row index is addr
// >> m.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational; cfg_* is static while a kernel runs
// Reference:  RAP paper, section IV
//
// in  addr       14  word address: column in bits [m-1:0], row i in the next m
//                    bits
// in  cfg_shift 160  shifts: r_i in bits [i*m +: m]; a permutation for RAP,
//                    any values for RAS
// out bank        5  bank index

module spad_rap (
    /* verilator lint_off UNUSEDSIGNAL */ // addr[13:10] does not enter the hash
    input wire [13:0] addr,
    /* verilator lint_on UNUSEDSIGNAL */
    input wire [159:0] cfg_shift,
    output wire [4:0] bank
);
    wire [4:0] column;
    wire [4:0] row;
    wire [31:0] chosen;
    wire [4:0] shift;
    assign column[0] = addr[0];
    assign column[1] = addr[1];
    assign column[2] = addr[2];
    assign column[3] = addr[3];
    assign column[4] = addr[4];
    assign row[0] = addr[5];
    assign row[1] = addr[6];
    assign row[2] = addr[7];
    assign row[3] = addr[8];
    assign row[4] = addr[9];
    assign chosen[0] = row == 5'd0;
    assign chosen[1] = row == 5'd1;
    assign chosen[2] = row == 5'd2;
    assign chosen[3] = row == 5'd3;
    assign chosen[4] = row == 5'd4;
    assign chosen[5] = row == 5'd5;
    assign chosen[6] = row == 5'd6;
    assign chosen[7] = row == 5'd7;
    assign chosen[8] = row == 5'd8;
    assign chosen[9] = row == 5'd9;
    assign chosen[10] = row == 5'd10;
    assign chosen[11] = row == 5'd11;
    assign chosen[12] = row == 5'd12;
    assign chosen[13] = row == 5'd13;
    assign chosen[14] = row == 5'd14;
    assign chosen[15] = row == 5'd15;
    assign chosen[16] = row == 5'd16;
    assign chosen[17] = row == 5'd17;
    assign chosen[18] = row == 5'd18;
    assign chosen[19] = row == 5'd19;
    assign chosen[20] = row == 5'd20;
    assign chosen[21] = row == 5'd21;
    assign chosen[22] = row == 5'd22;
    assign chosen[23] = row == 5'd23;
    assign chosen[24] = row == 5'd24;
    assign chosen[25] = row == 5'd25;
    assign chosen[26] = row == 5'd26;
    assign chosen[27] = row == 5'd27;
    assign chosen[28] = row == 5'd28;
    assign chosen[29] = row == 5'd29;
    assign chosen[30] = row == 5'd30;
    assign chosen[31] = row == 5'd31;
    assign shift[0] = (chosen[0] & cfg_shift[0]) | (chosen[1] & cfg_shift[5])
        | (chosen[2] & cfg_shift[10]) | (chosen[3] & cfg_shift[15])
        | (chosen[4] & cfg_shift[20]) | (chosen[5] & cfg_shift[25])
        | (chosen[6] & cfg_shift[30]) | (chosen[7] & cfg_shift[35])
        | (chosen[8] & cfg_shift[40]) | (chosen[9] & cfg_shift[45])
        | (chosen[10] & cfg_shift[50]) | (chosen[11] & cfg_shift[55])
        | (chosen[12] & cfg_shift[60]) | (chosen[13] & cfg_shift[65])
        | (chosen[14] & cfg_shift[70]) | (chosen[15] & cfg_shift[75])
        | (chosen[16] & cfg_shift[80]) | (chosen[17] & cfg_shift[85])
        | (chosen[18] & cfg_shift[90]) | (chosen[19] & cfg_shift[95])
        | (chosen[20] & cfg_shift[100]) | (chosen[21] & cfg_shift[105])
        | (chosen[22] & cfg_shift[110]) | (chosen[23] & cfg_shift[115])
        | (chosen[24] & cfg_shift[120]) | (chosen[25] & cfg_shift[125])
        | (chosen[26] & cfg_shift[130]) | (chosen[27] & cfg_shift[135])
        | (chosen[28] & cfg_shift[140]) | (chosen[29] & cfg_shift[145])
        | (chosen[30] & cfg_shift[150]) | (chosen[31] & cfg_shift[155]);
    assign shift[1] = (chosen[0] & cfg_shift[1]) | (chosen[1] & cfg_shift[6])
        | (chosen[2] & cfg_shift[11]) | (chosen[3] & cfg_shift[16])
        | (chosen[4] & cfg_shift[21]) | (chosen[5] & cfg_shift[26])
        | (chosen[6] & cfg_shift[31]) | (chosen[7] & cfg_shift[36])
        | (chosen[8] & cfg_shift[41]) | (chosen[9] & cfg_shift[46])
        | (chosen[10] & cfg_shift[51]) | (chosen[11] & cfg_shift[56])
        | (chosen[12] & cfg_shift[61]) | (chosen[13] & cfg_shift[66])
        | (chosen[14] & cfg_shift[71]) | (chosen[15] & cfg_shift[76])
        | (chosen[16] & cfg_shift[81]) | (chosen[17] & cfg_shift[86])
        | (chosen[18] & cfg_shift[91]) | (chosen[19] & cfg_shift[96])
        | (chosen[20] & cfg_shift[101]) | (chosen[21] & cfg_shift[106])
        | (chosen[22] & cfg_shift[111]) | (chosen[23] & cfg_shift[116])
        | (chosen[24] & cfg_shift[121]) | (chosen[25] & cfg_shift[126])
        | (chosen[26] & cfg_shift[131]) | (chosen[27] & cfg_shift[136])
        | (chosen[28] & cfg_shift[141]) | (chosen[29] & cfg_shift[146])
        | (chosen[30] & cfg_shift[151]) | (chosen[31] & cfg_shift[156]);
    assign shift[2] = (chosen[0] & cfg_shift[2]) | (chosen[1] & cfg_shift[7])
        | (chosen[2] & cfg_shift[12]) | (chosen[3] & cfg_shift[17])
        | (chosen[4] & cfg_shift[22]) | (chosen[5] & cfg_shift[27])
        | (chosen[6] & cfg_shift[32]) | (chosen[7] & cfg_shift[37])
        | (chosen[8] & cfg_shift[42]) | (chosen[9] & cfg_shift[47])
        | (chosen[10] & cfg_shift[52]) | (chosen[11] & cfg_shift[57])
        | (chosen[12] & cfg_shift[62]) | (chosen[13] & cfg_shift[67])
        | (chosen[14] & cfg_shift[72]) | (chosen[15] & cfg_shift[77])
        | (chosen[16] & cfg_shift[82]) | (chosen[17] & cfg_shift[87])
        | (chosen[18] & cfg_shift[92]) | (chosen[19] & cfg_shift[97])
        | (chosen[20] & cfg_shift[102]) | (chosen[21] & cfg_shift[107])
        | (chosen[22] & cfg_shift[112]) | (chosen[23] & cfg_shift[117])
        | (chosen[24] & cfg_shift[122]) | (chosen[25] & cfg_shift[127])
        | (chosen[26] & cfg_shift[132]) | (chosen[27] & cfg_shift[137])
        | (chosen[28] & cfg_shift[142]) | (chosen[29] & cfg_shift[147])
        | (chosen[30] & cfg_shift[152]) | (chosen[31] & cfg_shift[157]);
    assign shift[3] = (chosen[0] & cfg_shift[3]) | (chosen[1] & cfg_shift[8])
        | (chosen[2] & cfg_shift[13]) | (chosen[3] & cfg_shift[18])
        | (chosen[4] & cfg_shift[23]) | (chosen[5] & cfg_shift[28])
        | (chosen[6] & cfg_shift[33]) | (chosen[7] & cfg_shift[38])
        | (chosen[8] & cfg_shift[43]) | (chosen[9] & cfg_shift[48])
        | (chosen[10] & cfg_shift[53]) | (chosen[11] & cfg_shift[58])
        | (chosen[12] & cfg_shift[63]) | (chosen[13] & cfg_shift[68])
        | (chosen[14] & cfg_shift[73]) | (chosen[15] & cfg_shift[78])
        | (chosen[16] & cfg_shift[83]) | (chosen[17] & cfg_shift[88])
        | (chosen[18] & cfg_shift[93]) | (chosen[19] & cfg_shift[98])
        | (chosen[20] & cfg_shift[103]) | (chosen[21] & cfg_shift[108])
        | (chosen[22] & cfg_shift[113]) | (chosen[23] & cfg_shift[118])
        | (chosen[24] & cfg_shift[123]) | (chosen[25] & cfg_shift[128])
        | (chosen[26] & cfg_shift[133]) | (chosen[27] & cfg_shift[138])
        | (chosen[28] & cfg_shift[143]) | (chosen[29] & cfg_shift[148])
        | (chosen[30] & cfg_shift[153]) | (chosen[31] & cfg_shift[158]);
    assign shift[4] = (chosen[0] & cfg_shift[4]) | (chosen[1] & cfg_shift[9])
        | (chosen[2] & cfg_shift[14]) | (chosen[3] & cfg_shift[19])
        | (chosen[4] & cfg_shift[24]) | (chosen[5] & cfg_shift[29])
        | (chosen[6] & cfg_shift[34]) | (chosen[7] & cfg_shift[39])
        | (chosen[8] & cfg_shift[44]) | (chosen[9] & cfg_shift[49])
        | (chosen[10] & cfg_shift[54]) | (chosen[11] & cfg_shift[59])
        | (chosen[12] & cfg_shift[64]) | (chosen[13] & cfg_shift[69])
        | (chosen[14] & cfg_shift[74]) | (chosen[15] & cfg_shift[79])
        | (chosen[16] & cfg_shift[84]) | (chosen[17] & cfg_shift[89])
        | (chosen[18] & cfg_shift[94]) | (chosen[19] & cfg_shift[99])
        | (chosen[20] & cfg_shift[104]) | (chosen[21] & cfg_shift[109])
        | (chosen[22] & cfg_shift[114]) | (chosen[23] & cfg_shift[119])
        | (chosen[24] & cfg_shift[124]) | (chosen[25] & cfg_shift[129])
        | (chosen[26] & cfg_shift[134]) | (chosen[27] & cfg_shift[139])
        | (chosen[28] & cfg_shift[144]) | (chosen[29] & cfg_shift[149])
        | (chosen[30] & cfg_shift[154]) | (chosen[31] & cfg_shift[159]);
    assign bank = column + shift;
endmodule
