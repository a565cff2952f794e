// spad_relssp: a block's part is unlocked exactly in the cycle in which the
// last of its active threads has released or exited
// (microarchitecture/relssp.md).
module miter #(parameter W = 4, parameter WS = 8, parameter L = 4, parameter S = 2, parameter T = 4,
               parameter TW = 2, parameter WW = 2, parameter W_rel_sub = 1) (
    input wire clk,
    input wire rst,
    input wire launch_valid,
    input wire [TW-1:0] launch_block,
    input wire [W-1:0] launch_wmask,
    input wire [WS-1:0] launch_last,
    input wire rel_valid,
    input wire [WW-1:0] rel_warp,
    input wire [W_rel_sub-1:0] rel_sub,
    input wire [L-1:0] rel_mask,
    input wire exit_valid,
    input wire [WW-1:0] exit_warp,
    input wire [WS-1:0] exit_mask,
    input wire [W*TW-1:0] warp_blk,
    input wire [TW-1:0] block_seen,
    output wire assume_one_block, // any one block slot is looked at
    output wire keep_threads, // the unit knows which threads are active and which of them have released
    output wire check_unlock, // unlock in exactly the cycle in which every active thread has become released
    output wire check_done, // rel_done while no active thread still has to release
    output wire check_live, // live while the block has an active thread
    output wire check_inactive, // a release by threads that are not active changes nothing
    output wire check_other, // what other blocks do changes nothing
    output wire cover_release, // 6: a relssp unlocks a block of two warps
    output wire cover_exit, // 6: the exit of the last thread that has not released unlocks
    output wire cover_both // 7: some threads have released, another exits, one more releases: unlock
);
    wire [T-1:0] rel_done, live, unlock;
    spad_relssp unit (
        .clk(clk), .rst(rst), .launch_valid(launch_valid), .launch_block(launch_block),
        .launch_wmask(launch_wmask), .launch_last(launch_last),
        .rel_valid(rel_valid), .rel_warp(rel_warp), .rel_sub(rel_sub), .rel_mask(rel_mask),
        .exit_valid(exit_valid), .exit_warp(exit_warp), .exit_mask(exit_mask),
        .warp_blk(warp_blk), .rel_done(rel_done), .live(live), .unlock(unlock)
    );
    (* hierconn *) wire [W*WS-1:0] \unit.active_q ;
    (* hierconn *) wire [W*WS-1:0] \unit.released_q ;
    reg [TW-1:0] block;
    always @(posedge clk) block <= block_seen;
    assign assume_one_block = (block == block_seen) & (block < T);

    // Every thread: active, has released; now and with this cycle's events.
    reg [W*WS-1:0] active, released, active_now, released_now, active_next, released_next;
    reg [W*WS-1:0] member;
    reg above, event_here;
    integer w, t;
    always @* begin
        active_now = active;
        released_now = released;
        event_here = 0;
        for (w = 0; w < W; w = w + 1)
            for (t = 0; t < WS; t = t + 1) begin
                member[w*WS + t] = warp_blk[w*TW +: TW] == block;
                if (exit_valid & (exit_warp == w) & exit_mask[t]) begin
                    active_now[w*WS + t] = 0;
                    if (member[w*WS + t] & active[w*WS + t]) event_here = 1;
                end
                if (rel_valid & (rel_warp == w) & (rel_sub == t / L) & rel_mask[t % L] & active[w*WS + t]) begin
                    released_now[w*WS + t] = 1;
                    if (member[w*WS + t]) event_here = 1;
                end
            end
        active_next = active_now;
        released_next = released_now;
        // The block's highest warp has its last threads, the others are full.
        above = 0;
        for (w = W - 1; w >= 0; w = w - 1)
            if (launch_valid & launch_wmask[w]) begin
                for (t = 0; t < WS; t = t + 1) begin
                    active_next[w*WS + t] = above | launch_last[t];
                    released_next[w*WS + t] = 0;
                end
                above = 1;
            end
    end
    always @(posedge clk) begin
        active <= rst ? 0 : active_next;
        released <= rst ? 0 : released_next;
    end
    // A thread that exits has nothing more to release; whether it had does not matter.
    assign keep_threads = (\unit.active_q == active) & ((\unit.released_q & active) == (released & active));

    wire [W*WS-1:0] waiting = member & active & ~released;
    wire [W*WS-1:0] waiting_now = member & active_now & ~released_now;
    assign check_done = rel_done[block] == (waiting_now == 0);
    assign check_live = live[block] == ((member & active_now) != 0);
    assign check_unlock = unlock[block] == ((waiting != 0) & (waiting_now == 0));
    assign check_inactive = event_here | (
        (rel_done[block] == (waiting == 0)) & (live[block] == ((member & active) != 0)) & !unlock[block]);
    wire elsewhere = !(exit_valid & (warp_blk[exit_warp*TW +: TW] == block))
        & !(rel_valid & (warp_blk[rel_warp*TW +: TW] == block));
    assign check_other = !elsewhere | (!unlock[block] & (rel_done[block] == (waiting == 0)));
    wire two_warps = ((member & active) >> WS) != 0 & (member & active & {WS{1'b1}}) != 0;
    assign cover_release = unlock[block] & !exit_valid & two_warps & !rst;
    assign cover_exit = unlock[block] & !rel_valid & live[block] & !rst;
    assign cover_both = unlock[block] & rel_valid & exit_valid & live[block] & ((active & released & member) != 0)
        & (active_now != active) & (released_now != released) & !rst;
endmodule
