// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_select: one word of many, by its number: a tree of two-input
// multiplexers.
//
// Parameters: BITS, bits of the number; WIDTH, bits of a word
// Timing:     combinational
// Reference:  microarchitecture/lock-unit.md
//
// in  index          BITS  number of the word, BITS bits
// in  words WIDTH << BITS  the 2**BITS words of WIDTH bits, number 0 in the
//                          low bits
// out word          WIDTH  the word selected

`default_nettype none

module spad_select #(
    parameter integer BITS = 1, // 1 to 7
    parameter integer WIDTH = 8 // 1 to 4096
) (
    input wire [BITS-1:0] index,
    input wire [(WIDTH << BITS)-1:0] words,
    output wire [WIDTH-1:0] word
);
    // One level per index bit, the lowest first: each halves the words.
    genvar k, j;
    generate
        for (k = 0; k < BITS; k = k + 1) begin : level
            wire [(WIDTH << (BITS - k))-1:0] from;
            wire [(WIDTH << (BITS - k - 1))-1:0] chosen;
            if (k == 0) begin : first
                assign from = words;
            end else begin : next
                assign from = level[k-1].chosen;
            end
            for (j = 0; j < (1 << (BITS - k - 1)); j = j + 1) begin : pair
                assign chosen[j*WIDTH +: WIDTH] = index[k] ? from[(2*j + 1)*WIDTH +: WIDTH]
                    : from[2*j*WIDTH +: WIDTH];
            end
        end
    endgenerate

    assign word = level[BITS-1].chosen;
endmodule

`default_nettype wire
