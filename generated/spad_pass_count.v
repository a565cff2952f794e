// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_pass_count: passes of an instruction after its first: one per subwarp,
// and of loads and stores one per word of a lane.
//
// Parameters: S = 1, PW = 2
// Timing:     combinational
// Reference:  microarchitecture/issue.md
//
// in  kind    4  kind of the instruction
// in  words   2  words per lane: 0 one, 1 two, 2 four
// out more    2  passes but for the first

`default_nettype none

module spad_pass_count (
    input wire [3:0] kind,
    input wire [1:0] words,
    output wire [1:0] more
);
    localparam [3:0] KIND_LOAD = 4'd1;
    localparam [3:0] KIND_STORE = 4'd2;
    wire wide = (kind == KIND_LOAD) | (kind == KIND_STORE);
    assign more = (wide & (words == 2'd1)) ? 2'd1
        : (wide & (words == 2'd2)) ? 2'd3
        : 2'd0;
endmodule

`default_nettype wire
