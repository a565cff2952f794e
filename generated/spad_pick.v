// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_pick: one word of many, by a one-hot vector: an AND-OR plane, in cells
// about half of a tree of multiplexers.
//
// Parameters: COUNT, a power of two from 2 to 128; WIDTH, bits of a word
// Timing:     combinational
// Reference:  microarchitecture/crossbar.md
//
// in  pick        COUNT  the word: at most one of COUNT bits is set
// in  words COUNT*WIDTH  the words of WIDTH bits, number 0 in the low bits
// out word        WIDTH  the word selected; 0 if none is

`default_nettype none

module spad_pick #(
    parameter integer COUNT = 2, // a power of two from 2 to 128
    parameter integer WIDTH = 8 // 1 to 4096
) (
    input wire [COUNT-1:0] pick,
    input wire [COUNT*WIDTH-1:0] words,
    output wire [WIDTH-1:0] word
);
    localparam LEVELS = COUNT <= 2 ? 1 : COUNT <= 4 ? 2 : COUNT <= 8 ? 3 : COUNT <= 16 ? 4
        : COUNT <= 32 ? 5 : COUNT <= 64 ? 6 : 7;

    // The words are gated, then joined in pairs, level by level.
    genvar k, j;
    generate
        for (k = 0; k < LEVELS; k = k + 1) begin : level
            wire [(COUNT >> k)*WIDTH-1:0] from;
            wire [(COUNT >> (k + 1))*WIDTH-1:0] joined;
            if (k == 0) begin : first
                for (j = 0; j < COUNT; j = j + 1) begin : gate
                    assign from[j*WIDTH +: WIDTH] = words[j*WIDTH +: WIDTH] & {WIDTH{pick[j]}};
                end
            end else begin : next
                assign from = level[k-1].joined;
            end
            for (j = 0; j < (COUNT >> (k + 1)); j = j + 1) begin : pair
                assign joined[j*WIDTH +: WIDTH] = from[2*j*WIDTH +: WIDTH]
                    | from[(2*j + 1)*WIDTH +: WIDTH];
            end
        end
    endgenerate

    assign word = level[LEVELS-1].joined;
endmodule

`default_nettype wire
