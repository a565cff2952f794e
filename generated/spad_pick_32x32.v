// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_pick_32x32: one word of many, by a one-hot vector: an AND-OR plane, in
// cells about half of a tree of multiplexers.
//
// Parameters: 32 words of 32 bits
// Timing:     combinational
// Reference:  docs/microarchitecture.md, section 4
//
// in  pick   32  the word: at most one bit is set
// in  words 1024  the words, number 0 in the low bits
// out word   32  the word selected; 0 if none is

module spad_pick_32x32 (
    input wire [31:0] pick,
    input wire [1023:0] words,
    output wire [31:0] word
);
    // The words are gated, then joined in pairs, level by level.
    wire [511:0] level0;
    wire [255:0] level1;
    wire [127:0] level2;
    wire [63:0] level3;
    wire [31:0] level4;

    genvar j;
    generate
        for (j = 0; j < 16; j = j + 1) begin : pairs0
            assign level0[j*32 +: 32] =
                (words[2*j*32 +: 32] & {32{pick[2*j]}})
                | (words[(2*j+1)*32 +: 32] & {32{pick[2*j+1]}});
        end
        for (j = 0; j < 8; j = j + 1) begin : pairs1
            assign level1[j*32 +: 32] =
                level0[2*j*32 +: 32]
                | level0[(2*j+1)*32 +: 32];
        end
        for (j = 0; j < 4; j = j + 1) begin : pairs2
            assign level2[j*32 +: 32] =
                level1[2*j*32 +: 32]
                | level1[(2*j+1)*32 +: 32];
        end
        for (j = 0; j < 2; j = j + 1) begin : pairs3
            assign level3[j*32 +: 32] =
                level2[2*j*32 +: 32]
                | level2[(2*j+1)*32 +: 32];
        end
        for (j = 0; j < 1; j = j + 1) begin : pairs4
            assign level4[j*32 +: 32] =
                level3[2*j*32 +: 32]
                | level3[(2*j+1)*32 +: 32];
        end
    endgenerate

    assign word = level4;
endmodule
