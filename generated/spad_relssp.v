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
    reg [W*WS-1:0] released_q;
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

    genvar w, s, b;
    generate
        for (w = 0; w < W; w = w + 1) begin : warp
            wire starts = launch_valid & launch_wmask[w];
            assign from_top[w] = launch_wmask[W-1-w];
            wire exits = exit_valid & (exit_warp == w);
            wire in_ex = rel_warp == w;
            wire releases = rel_valid & in_ex;
            wire [WS-1:0] marks;
            for (s = 0; s < S; s = s + 1) begin : subwarp
                assign marks[s*L +: L] = rel_mask & {L{in_ex}};
            end
            spad_relssp_warp slice (
                .starts(starts),
                .highest(highest[W-1-w]),
                .launch_last(launch_last),
                .exits(exits),
                .exit_mask(exit_mask),
                .marks(marks),
                .active(active_q[w*WS +: WS]),
                .released(released_q[w*WS +: WS]),
                .active_next(active_d[w*WS +: WS]),
                .released_next(released_d[w*WS +: WS]),
                .was_done(was_done[w]),
                .was_live(was_live[w]),
                .done(done[w]),
                .done_if(done_if[w]),
                .live(has_live[w])
            );
            // Written only when something happens to the warp. Releases need no
            // reset: only those of active threads count.
            always @(posedge clk) begin
                if (rst) active_q[w*WS +: WS] <= {WS{1'b0}};
                else if (starts | exits) active_q[w*WS +: WS] <= active_d[w*WS +: WS];
            end
            always @(posedge clk) begin
                if (starts | releases) released_q[w*WS +: WS] <= released_d[w*WS +: WS];
            end
        end
        for (b = 0; b < T; b = b + 1) begin : block
            wire [W-1:0] mine;
            for (w = 0; w < W; w = w + 1) begin : of_warp
                assign mine[w] = warp_blk[w*TW +: TW] == b;
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
