// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_select_32x9: one word of many, by its number. A tree of two-input
// multiplexers: with encoded selects it takes fewer cells than an AND-OR
// plane.
//
// Parameters: 32 words of 9 bits
// Timing:     combinational
// Reference:  docs/microarchitecture.md, section 4
//
// in  index   5  number of the word
// in  words 288  the words, number 0 in the low bits
// out word    9  the word selected

module spad_select_32x9 (
    input wire [4:0] index,
    input wire [287:0] words,
    output wire [8:0] word
);
    // One level per index bit, the lowest first: each halves the words.
    wire [143:0] level0;
    wire [71:0] level1;
    wire [35:0] level2;
    wire [17:0] level3;
    wire [8:0] level4;

    genvar j;
    generate
        for (j = 0; j < 16; j = j + 1) begin : pairs0
            assign level0[j*9 +: 9] = index[0]
                ? words[(2*j+1)*9 +: 9]
                : words[2*j*9 +: 9];
        end
        for (j = 0; j < 8; j = j + 1) begin : pairs1
            assign level1[j*9 +: 9] = index[1]
                ? level0[(2*j+1)*9 +: 9]
                : level0[2*j*9 +: 9];
        end
        for (j = 0; j < 4; j = j + 1) begin : pairs2
            assign level2[j*9 +: 9] = index[2]
                ? level1[(2*j+1)*9 +: 9]
                : level1[2*j*9 +: 9];
        end
        for (j = 0; j < 2; j = j + 1) begin : pairs3
            assign level3[j*9 +: 9] = index[3]
                ? level2[(2*j+1)*9 +: 9]
                : level2[2*j*9 +: 9];
        end
        for (j = 0; j < 1; j = j + 1) begin : pairs4
            assign level4[j*9 +: 9] = index[4]
                ? level3[(2*j+1)*9 +: 9]
                : level3[2*j*9 +: 9];
        end
    endgenerate

    assign word = level4;
endmodule
