// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_pick_64x28: one word of many, by a one-hot vector: an AND-OR plane, in
// cells about half of a tree of multiplexers.
//
// Parameters: 64 words of 28 bits
// Timing:     combinational
// Reference:  docs/microarchitecture.md, section 4
//
// in  pick   64  the word: at most one bit is set
// in  words 1792  the words, number 0 in the low bits
// out word   28  the word selected; 0 if none is

module spad_pick_64x28 (
    input wire [63:0] pick,
    input wire [1791:0] words,
    output wire [27:0] word
);
    // The words are gated, then joined in pairs, level by level.
    wire [895:0] level0;
    wire [447:0] level1;
    wire [223:0] level2;
    wire [111:0] level3;
    wire [55:0] level4;
    wire [27:0] level5;

    genvar j;
    generate
        for (j = 0; j < 32; j = j + 1) begin : pairs0
            assign level0[j*28 +: 28] =
                (words[2*j*28 +: 28] & {28{pick[2*j]}})
                | (words[(2*j+1)*28 +: 28] & {28{pick[2*j+1]}});
        end
        for (j = 0; j < 16; j = j + 1) begin : pairs1
            assign level1[j*28 +: 28] =
                level0[2*j*28 +: 28]
                | level0[(2*j+1)*28 +: 28];
        end
        for (j = 0; j < 8; j = j + 1) begin : pairs2
            assign level2[j*28 +: 28] =
                level1[2*j*28 +: 28]
                | level1[(2*j+1)*28 +: 28];
        end
        for (j = 0; j < 4; j = j + 1) begin : pairs3
            assign level3[j*28 +: 28] =
                level2[2*j*28 +: 28]
                | level2[(2*j+1)*28 +: 28];
        end
        for (j = 0; j < 2; j = j + 1) begin : pairs4
            assign level4[j*28 +: 28] =
                level3[2*j*28 +: 28]
                | level3[(2*j+1)*28 +: 28];
        end
        for (j = 0; j < 1; j = j + 1) begin : pairs5
            assign level5[j*28 +: 28] =
                level4[2*j*28 +: 28]
                | level4[(2*j+1)*28 +: 28];
        end
    endgenerate

    assign word = level5;
endmodule
