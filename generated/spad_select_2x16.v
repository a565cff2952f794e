// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_select_2x16: one word of many, by its number: a tree of two-input
// multiplexers.
//
// Parameters: 2 words of 16 bits
// Timing:     combinational
// Reference:  docs/microarchitecture.md, section 6
//
// in  index   1  number of the word
// in  words  32  the words, number 0 in the low bits
// out word   16  the word selected

module spad_select_2x16 (
    input wire index,
    input wire [31:0] words,
    output wire [15:0] word
);
    // One level per index bit, the lowest first: each halves the words.
    wire [15:0] level0;

    genvar j;
    generate
        for (j = 0; j < 1; j = j + 1) begin : pairs0
            assign level0[j*16 +: 16] = index
                ? words[(2*j+1)*16 +: 16]
                : words[2*j*16 +: 16];
        end
    endgenerate

    assign word = level0;
endmodule
