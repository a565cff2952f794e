// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_select_2x160: one word of many, by its number: a tree of two-input
// multiplexers.
//
// Parameters: 2 words of 160 bits
// Timing:     combinational
// Reference:  docs/microarchitecture.md, section 6
//
// in  index   1  number of the word
// in  words 320  the words, number 0 in the low bits
// out word  160  the word selected

module spad_select_2x160 (
    input wire index,
    input wire [319:0] words,
    output wire [159:0] word
);
    // One level per index bit, the lowest first: each halves the words.
    wire [159:0] level0;

    genvar j;
    generate
        for (j = 0; j < 1; j = j + 1) begin : pairs0
            assign level0[j*160 +: 160] = index
                ? words[(2*j+1)*160 +: 160]
                : words[2*j*160 +: 160];
        end
    endgenerate

    assign word = level0;
endmodule
