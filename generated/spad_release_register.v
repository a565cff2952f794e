// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_release_register: what relssp says of each block, one cycle later; a
// block that starts is alive and not done.
//
// Parameters: T = 8
// Timing:     one cycle
// Reference:  sharing paper, section 4; microarchitecture/relssp.md
//
// in  clk            1  clock
// in  rst            1  synchronous reset
// in  launch_valid   1  a block starts
// in  launch_block   3  slot of the block that starts
// in  now_done       8  every active thread of the block has released
// in  now_live       8  the block has an active thread
// in  now_unlock     8  now_done rises
// out rel_done       8  now_done of the cycle before; 0 for a block that
//                       started
// out live           8  now_live of the cycle before; 1 for a block that
//                       started
// out unlock         8  now_unlock of the cycle before

`default_nettype none

module spad_release_register (
    input wire clk,
    input wire rst,
    input wire launch_valid,
    input wire [2:0] launch_block,
    input wire [7:0] now_done,
    input wire [7:0] now_live,
    input wire [7:0] now_unlock,
    output wire [7:0] rel_done,
    output wire [7:0] live,
    output wire [7:0] unlock
);
    localparam T = 8;

    // Outputs from registers.
    reg [T-1:0] rel_done_q;
    reg [T-1:0] live_q;
    reg [T-1:0] unlock_q;
    assign rel_done = rel_done_q;
    assign live = live_q;
    assign unlock = unlock_q;

    // A block that starts is alive and not done, whatever its slot was before.
    wire [T-1:0] starts;
    genvar b;
    generate
        for (b = 0; b < T; b = b + 1) begin : slot
            assign starts[b] = launch_valid & (launch_block == b);
        end
    endgenerate

    always @(posedge clk) begin
        if (rst) begin
            rel_done_q <= {T{1'b1}};
            live_q <= {T{1'b0}};
            unlock_q <= {T{1'b0}};
        end else begin
            rel_done_q <= now_done & ~starts;
            live_q <= now_live | starts;
            unlock_q <= now_unlock;
        end
    end
endmodule

`default_nettype wire
