// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_lowest: the lowest set bit of a vector.
//
// Parameters: WIDTH, bits, 2 to 128
// Timing:     combinational
// Reference:  microarchitecture/warp-scheduler.md
//
// in  want   WIDTH  the vector
// out found  WIDTH  bit i: a bit of want from 0 to i is set
// out lowest WIDTH  the lowest set bit of want alone; none if none is

`default_nettype none

module spad_lowest #(
    parameter integer WIDTH = 8 // 2 to 128
) (
    input wire [WIDTH-1:0] want,
    output wire [WIDTH-1:0] found,
    output wire [WIDTH-1:0] lowest
);
    localparam LEVELS = WIDTH <= 2 ? 1 : WIDTH <= 4 ? 2 : WIDTH <= 8 ? 3 : WIDTH <= 16 ? 4
        : WIDTH <= 32 ? 5 : WIDTH <= 64 ? 6 : 7;

    // A prefix network. In front of level k a position has seen the 2**k from
    // itself down; after it twice as many.
    genvar k;
    generate
        for (k = 0; k < LEVELS; k = k + 1) begin : level
            wire [WIDTH-1:0] so_far;
            wire [WIDTH-1:0] seen = so_far | (so_far << (1 << k));
            if (k == 0) begin : first
                assign so_far = want;
            end else begin : next
                assign so_far = level[k-1].seen;
            end
        end
    endgenerate

    assign found = level[LEVELS-1].seen;
    assign lowest = want & ~(found << 1);
endmodule

`default_nettype wire
