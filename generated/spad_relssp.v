// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_relssp: tracks which active threads have executed relssp, and says when
// all of a block have.
//
// Parameters: W = 48, WS = 32, L = 32, S = 1, T = 8, TW = 3
// Timing:     rel_done, live and unlock include this cycle's events; launches
//             show in the next
// Reference:  sharing paper, section 5; docs/microarchitecture.md, section 17
//
// in  clk            1  clock
// in  rst            1  synchronous reset
// in  launch_valid   1  a block starts
// in  launch_block   3  its slot
// in  launch_wmask  48  its warps
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
    localparam W = 48;
    localparam WS = 32;
    localparam L = 32;
    localparam S = 1;
    localparam T = 8;
    localparam TW = 3;

    // Per thread: active, has released.
    reg [W*WS-1:0] active;
    reg [W*WS-1:0] released;

    // Per warp, before and with this cycle's events.
    wire [W-1:0] done_r;
    wire [W-1:0] live_r;
    wire [W-1:0] done_e;
    wire [W-1:0] live_e;

    genvar w, s, b;
    generate
        for (w = 0; w < W; w = w + 1) begin : warp
            wire [WS-1:0] a = active[w*WS +: WS];
            wire [WS-1:0] r = released[w*WS +: WS];
            wire exits = exit_valid & (exit_warp == w);
            wire [WS-1:0] a_e = a & ~(exit_mask & {WS{exits}});
            wire releases = rel_valid & (rel_warp == w);
            wire [WS-1:0] marks;
            for (s = 0; s < S; s = s + 1) begin : subwarp
                assign marks[s*L +: L] = rel_mask & {L{releases}};
            end
            wire [WS-1:0] r_e = r | (marks & a);

            assign done_r[w] = &(~a | r);
            assign live_r[w] = |a;
            assign done_e[w] = &(~a_e | r_e);
            assign live_e[w] = |a_e;

            // The highest warp of a block has its last threads, the others are full.
            wire highest;
            if (w + 1 < W) begin : inner
                assign highest = ~(|launch_wmask[W-1:w+1]);
            end else begin : top
                assign highest = 1'b1;
            end
            // Written only when something happens to the warp. Releases need no
            // reset: only those of active threads count.
            wire starts = launch_valid & launch_wmask[w];
            always @(posedge clk) begin
                if (rst) active[w*WS +: WS] <= {WS{1'b0}};
                else if (starts) active[w*WS +: WS] <= launch_last | {WS{~highest}};
                else if (exits) active[w*WS +: WS] <= a_e;
            end
            always @(posedge clk) begin
                if (starts) released[w*WS +: WS] <= {WS{1'b0}};
                else if (releases) released[w*WS +: WS] <= r_e;
            end
        end
        for (b = 0; b < T; b = b + 1) begin : block
            wire [W-1:0] mine;
            for (w = 0; w < W; w = w + 1) begin : of_warp
                assign mine[w] = warp_blk[w*TW +: TW] == b;
            end
            wire was_done = &(~mine | done_r);
            wire was_live = |(mine & live_r);
            assign rel_done[b] = &(~mine | done_e);
            assign live[b] = |(mine & live_e);
            assign unlock[b] = rel_done[b] & was_live & ~was_done;
        end
    endgenerate
endmodule
