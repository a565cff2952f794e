// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_relssp_warp: the threads of a warp: which are active and which have
// released, before and after this cycle's events, and combinationally with
// them.
//
// Parameters: WS = 32
// Timing:     combinational
// Reference:  microarchitecture/relssp.md
//
// in  starts          1  the warp's block starts
// in  highest         1  the warp is the highest of the block
// in  launch_last    WS  threads of the highest warp
// in  exits           1  threads of it exit
// in  exit_mask      WS  these threads
// in  marks          WS  threads that stand before relssp
// in  active         WS  threads that are launched and not exited
// in  released       WS  threads that have released; of active ones only it
//                        counts
// out active_next    WS  active threads in the next cycle
// out released_next  WS  the same in the next cycle, if relssp is executed
// out was_done        1  every active thread had released before this cycle
// out was_live        1  the warp had an active thread before this cycle
// out done            1  every active thread has released before
// out done_if         1  or has if relssp is executed
// out live            1  the warp has an active thread

`default_nettype none

module spad_relssp_warp #(
    parameter integer WS = 32 // 1 to 64
) (
    input wire starts,
    input wire highest,
    input wire [WS-1:0] launch_last,
    input wire exits,
    input wire [WS-1:0] exit_mask,
    input wire [WS-1:0] marks,
    input wire [WS-1:0] active,
    input wire [WS-1:0] released,
    output wire [WS-1:0] active_next,
    output wire [WS-1:0] released_next,
    output wire was_done,
    output wire was_live,
    output wire done,
    output wire done_if,
    output wire live
);
    // Threads that exit are no longer active; only active ones release.
    wire [WS-1:0] active_now = active & ~(exit_mask & {WS{exits}});
    wire [WS-1:0] released_now = released | (marks & active);
    assign was_done = &(~active | released);
    assign was_live = |active;
    assign done = &(~active_now | released);
    assign done_if = &(~active_now | released_now);
    assign live = |active_now;
    // The highest warp of a block has its last threads, the others are full.
    wire [WS-1:0] started = highest ? launch_last : {WS{1'b1}};
    assign active_next = starts ? started : active_now;
    assign released_next = starts ? {WS{1'b0}} : released_now;
endmodule

`default_nettype wire
