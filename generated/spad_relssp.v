// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_relssp: tracks which active threads have executed relssp, and says when
// all of a block have.
//
// Parameters: W = 48, WS = 32, L = 32, S = 1, T = 8, TW = 3
// Timing:     rel_done, live and unlock include this cycle's events; launches
//             show in the next
// Reference:  sharing paper, section 5; microarchitecture/relssp.md
//
// in  clk            1  clock
// in  rst            1  synchronous reset
// in  launch_valid   1  a block starts
// in  launch_block   3  slot of the block that starts
// in  launch_wmask  48  warps of the block that starts
// in  launch_last   32  threads of the highest of them; the others are full
// in  rel_valid      1  lanes of a subwarp execute relssp
// in  rel_warp       6  their warp
// in  rel_sub        1  their subwarp
// in  rel_mask      32  the lanes
// in  exit_valid     1  threads exit
// in  exit_warp      6  their warp
// in  exit_mask     32  the threads
// in  warp_blk     144  block slot of each warp, TW bits, before this launch
// out rel_done       8  every active thread of the block has released
// out live           8  the block has an active thread
// out unlock         8  rel_done rises

`default_nettype none

module spad_relssp (
    input wire clk,
    input wire rst,
    input wire launch_valid,
    /* verilator lint_off UNUSEDSIGNAL */ // the path keeps it in warp_blk
    input wire [2:0] launch_block,
    /* verilator lint_on UNUSEDSIGNAL */
    input wire [47:0] launch_wmask,
    input wire [31:0] launch_last,
    input wire rel_valid,
    input wire [5:0] rel_warp,
    /* verilator lint_off UNUSEDSIGNAL */ // a warp is one subwarp
    input wire rel_sub,
    /* verilator lint_on UNUSEDSIGNAL */
    input wire [31:0] rel_mask,
    input wire exit_valid,
    input wire [5:0] exit_warp,
    input wire [31:0] exit_mask,
    input wire [143:0] warp_blk,
    output wire [7:0] rel_done,
    output wire [7:0] live,
    output wire [7:0] unlock
);
    localparam L = 32;
    localparam WS = 32;
    localparam S = 1;
    localparam W = 48;
    localparam T = 8;
    localparam TW = 3;

    // Per thread: active, has released.
    reg [W*WS-1:0] active_q;
    reg [W*WS-1:0] released_q; // no reset: `active_q` covers it
    wire [W*WS-1:0] active_d;
    wire [W*WS-1:0] released_d;

    // Per warp, before and with this cycle's events.
    wire [W-1:0] was_done;
    wire [W-1:0] was_live;
    wire [W-1:0] done;
    wire [W-1:0] done_if;
    wire [W-1:0] has_live;

    // The highest warp of a launch: the lowest, seen from the other end.
    wire [W-1:0] from_top;
    wire [W-1:0] highest;
    /* verilator lint_off UNUSEDSIGNAL */ // the warp itself is what counts
    wire [W-1:0] found;
    /* verilator lint_on UNUSEDSIGNAL */
    spad_lowest #(.WIDTH(W)) search (.want(from_top), .found(found), .lowest(highest));

    genvar i, j, b;
    generate
        for (i = 0; i < W; i = i + 1) begin : warp
            wire starts = launch_valid & launch_wmask[i];
            assign from_top[i] = launch_wmask[W-1-i];
            wire exits = exit_valid & (exit_warp == i);
            wire in_ex = rel_warp == i;
            wire releases = rel_valid & in_ex;
            wire [WS-1:0] marks;
            for (j = 0; j < S; j = j + 1) begin : subwarp
                assign marks[j*L +: L] = rel_mask & {L{in_ex}};
            end
            spad_relssp_warp slice (
                .starts(starts),
                .highest(highest[W-1-i]),
                .launch_last(launch_last),
                .exits(exits),
                .exit_mask(exit_mask),
                .marks(marks),
                .active(active_q[i*WS +: WS]),
                .released(released_q[i*WS +: WS]),
                .active_next(active_d[i*WS +: WS]),
                .released_next(released_d[i*WS +: WS]),
                .was_done(was_done[i]),
                .was_live(was_live[i]),
                .done(done[i]),
                .done_if(done_if[i]),
                .live(has_live[i])
            );
            // Written only when something happens to the warp.
            always @(posedge clk) begin
                if (rst) active_q[i*WS +: WS] <= {WS{1'b0}};
                else if (starts | exits) active_q[i*WS +: WS] <= active_d[i*WS +: WS];
            end
            always @(posedge clk) begin
                if (starts | releases) released_q[i*WS +: WS] <= released_d[i*WS +: WS];
            end
        end
        for (b = 0; b < T; b = b + 1) begin : block
            wire [W-1:0] mine;
            for (i = 0; i < W; i = i + 1) begin : of_warp
                assign mine[i] = warp_blk[i*TW +: TW] == b;
            end
            spad_relssp_block slice (
                .mine(mine),
                .was_done(was_done),
                .was_live(was_live),
                .done(done),
                .done_if(done_if),
                .releases(rel_valid),
                .live(has_live),
                .rel_done(rel_done[b]),
                .rel_live(live[b]),
                .unlock(unlock[b])
            );
        end
    endgenerate
endmodule

`default_nettype wire
