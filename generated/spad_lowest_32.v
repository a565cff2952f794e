// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_lowest_32: the lowest set bit of a vector.
//
// Parameters: 32 bits
// Timing:     combinational
// Reference:  the lowest lane, warp or bank goes first:
//             docs/microarchitecture.md, sections 1.3 and 3
//
// in  want   32  the candidates
// out any     1  a bit is set
// out index   5  number of the lowest set bit; 0 if none is

module spad_lowest_32(want,any,index);
    input wire [31:0] want;
    output reg any;
    output reg [4:0] index;
    reg [31:0] any0;
    reg [15:0] any1;
    reg [15:0] index1;
    reg [7:0] any2;
    reg [15:0] index2;
    reg [3:0] any3;
    reg [11:0] index3;
    reg [1:0] any4;
    reg [7:0] index4;
    reg any5;
    reg [4:0] index5;
    always @(*) begin
        any0[0] = want[0];
        any0[1] = want[1];
        any0[2] = want[2];
        any0[3] = want[3];
        any0[4] = want[4];
        any0[5] = want[5];
        any0[6] = want[6];
        any0[7] = want[7];
        any0[8] = want[8];
        any0[9] = want[9];
        any0[10] = want[10];
        any0[11] = want[11];
        any0[12] = want[12];
        any0[13] = want[13];
        any0[14] = want[14];
        any0[15] = want[15];
        any0[16] = want[16];
        any0[17] = want[17];
        any0[18] = want[18];
        any0[19] = want[19];
        any0[20] = want[20];
        any0[21] = want[21];
        any0[22] = want[22];
        any0[23] = want[23];
        any0[24] = want[24];
        any0[25] = want[25];
        any0[26] = want[26];
        any0[27] = want[27];
        any0[28] = want[28];
        any0[29] = want[29];
        any0[30] = want[30];
        any0[31] = want[31];
        any1[0] = (any0[0] | any0[1]);
        index1[0] = (~any0[0] & any0[1]);
        any1[1] = (any0[2] | any0[3]);
        index1[1] = (~any0[2] & any0[3]);
        any1[2] = (any0[4] | any0[5]);
        index1[2] = (~any0[4] & any0[5]);
        any1[3] = (any0[6] | any0[7]);
        index1[3] = (~any0[6] & any0[7]);
        any1[4] = (any0[8] | any0[9]);
        index1[4] = (~any0[8] & any0[9]);
        any1[5] = (any0[10] | any0[11]);
        index1[5] = (~any0[10] & any0[11]);
        any1[6] = (any0[12] | any0[13]);
        index1[6] = (~any0[12] & any0[13]);
        any1[7] = (any0[14] | any0[15]);
        index1[7] = (~any0[14] & any0[15]);
        any1[8] = (any0[16] | any0[17]);
        index1[8] = (~any0[16] & any0[17]);
        any1[9] = (any0[18] | any0[19]);
        index1[9] = (~any0[18] & any0[19]);
        any1[10] = (any0[20] | any0[21]);
        index1[10] = (~any0[20] & any0[21]);
        any1[11] = (any0[22] | any0[23]);
        index1[11] = (~any0[22] & any0[23]);
        any1[12] = (any0[24] | any0[25]);
        index1[12] = (~any0[24] & any0[25]);
        any1[13] = (any0[26] | any0[27]);
        index1[13] = (~any0[26] & any0[27]);
        any1[14] = (any0[28] | any0[29]);
        index1[14] = (~any0[28] & any0[29]);
        any1[15] = (any0[30] | any0[31]);
        index1[15] = (~any0[30] & any0[31]);
        any2[0] = (any1[0] | any1[1]);
        index2[0] = (index1[0] | (~any1[0] & index1[1]));
        index2[1] = (~any1[0] & any1[1]);
        any2[1] = (any1[2] | any1[3]);
        index2[2] = (index1[2] | (~any1[2] & index1[3]));
        index2[3] = (~any1[2] & any1[3]);
        any2[2] = (any1[4] | any1[5]);
        index2[4] = (index1[4] | (~any1[4] & index1[5]));
        index2[5] = (~any1[4] & any1[5]);
        any2[3] = (any1[6] | any1[7]);
        index2[6] = (index1[6] | (~any1[6] & index1[7]));
        index2[7] = (~any1[6] & any1[7]);
        any2[4] = (any1[8] | any1[9]);
        index2[8] = (index1[8] | (~any1[8] & index1[9]));
        index2[9] = (~any1[8] & any1[9]);
        any2[5] = (any1[10] | any1[11]);
        index2[10] = (index1[10] | (~any1[10] & index1[11]));
        index2[11] = (~any1[10] & any1[11]);
        any2[6] = (any1[12] | any1[13]);
        index2[12] = (index1[12] | (~any1[12] & index1[13]));
        index2[13] = (~any1[12] & any1[13]);
        any2[7] = (any1[14] | any1[15]);
        index2[14] = (index1[14] | (~any1[14] & index1[15]));
        index2[15] = (~any1[14] & any1[15]);
        any3[0] = (any2[0] | any2[1]);
        index3[0] = (index2[0] | (~any2[0] & index2[2]));
        index3[1] = (index2[1] | (~any2[0] & index2[3]));
        index3[2] = (~any2[0] & any2[1]);
        any3[1] = (any2[2] | any2[3]);
        index3[3] = (index2[4] | (~any2[2] & index2[6]));
        index3[4] = (index2[5] | (~any2[2] & index2[7]));
        index3[5] = (~any2[2] & any2[3]);
        any3[2] = (any2[4] | any2[5]);
        index3[6] = (index2[8] | (~any2[4] & index2[10]));
        index3[7] = (index2[9] | (~any2[4] & index2[11]));
        index3[8] = (~any2[4] & any2[5]);
        any3[3] = (any2[6] | any2[7]);
        index3[9] = (index2[12] | (~any2[6] & index2[14]));
        index3[10] = (index2[13] | (~any2[6] & index2[15]));
        index3[11] = (~any2[6] & any2[7]);
        any4[0] = (any3[0] | any3[1]);
        index4[0] = (index3[0] | (~any3[0] & index3[3]));
        index4[1] = (index3[1] | (~any3[0] & index3[4]));
        index4[2] = (index3[2] | (~any3[0] & index3[5]));
        index4[3] = (~any3[0] & any3[1]);
        any4[1] = (any3[2] | any3[3]);
        index4[4] = (index3[6] | (~any3[2] & index3[9]));
        index4[5] = (index3[7] | (~any3[2] & index3[10]));
        index4[6] = (index3[8] | (~any3[2] & index3[11]));
        index4[7] = (~any3[2] & any3[3]);
        any5 = (any4[0] | any4[1]);
        index5[0] = (index4[0] | (~any4[0] & index4[4]));
        index5[1] = (index4[1] | (~any4[0] & index4[5]));
        index5[2] = (index4[2] | (~any4[0] & index4[6]));
        index5[3] = (index4[3] | (~any4[0] & index4[7]));
        index5[4] = (~any4[0] & any4[1]);
        any = any5;
        index = index5;
    end
endmodule
