// spad_warp_scheduler: what is selected may be, in the order of the policy, and
// round-robin makes nobody wait longer than the number of warps
// (microarchitecture/warp-scheduler.md). One warp is followed; it may be any.
module miter #(parameter W = 4, parameter WW = 2) (
    input wire clk,
    input wire rst,
    input wire [1:0] cfg_policy,
    input wire cfg_aware,
    input wire cfg_violate,
    input wire [W-1:0] ready,
    input wire [W-1:0] is_mem,
    input wire mask,
    input wire [W-1:0] put_off_seen,
    input wire [2*W-1:0] cls,
    input wire take,
    input wire [WW-1:0] warp_seen,
    output wire assume_one_warp, // any one warp is looked at
    output wire keep_last, // the warps behind the one that was taken last are known
    output wire keep_turn, // with every selection the followed warp has come nearer
    output wire check_candidate, // what is selected is ready and not masked, or violating is allowed and nothing else is there; without the mask none that is put off, if there are others
    output wire check_some, // something is selected whenever there is a candidate
    output wire check_masked, // `masked` tells that a ready warp is no candidate
    output wire check_class, // owners go before unshared warps, these before others, in policies 1 and 2
    output wire check_order, // round-robin: the next candidate behind the last taken one; else the lowest
    output wire check_fair, // LRR: a warp that stays a candidate is taken within W selections that are taken
    output wire cover_wrap, // 5: the selection wraps around
    output wire cover_violate, // 3: a masked warp is selected since nothing else is there
    output wire cover_wait // 7: a candidate still waits after three others were taken
);
    wire [W-1:0] put_off = put_off_seen & ~is_mem;
    wire sel_valid, masked;
    wire [WW-1:0] sel_warp;
    spad_warp_scheduler unit (
        .clk(clk), .rst(rst), .cfg_policy(cfg_policy), .cfg_aware(cfg_aware), .cfg_violate(cfg_violate),
        .ready(ready), .is_mem(is_mem), .mask(mask), .put_off(put_off), .cls(cls), .take(take),
        .sel_valid(sel_valid), .sel_warp(sel_warp), .masked(masked)
    );
    (* hierconn *) wire [W-1:0] \unit.behind_q ;
    reg [WW-1:0] warp;
    always @(posedge clk) warp <= warp_seen;
    assign assume_one_warp = (warp == warp_seen) & (warp < W);

    // Candidates, and whether a better class is among them.
    wire [W-1:0] free = ready & ~(is_mem & {W{cfg_aware & mask}});
    wire [W-1:0] allowed = (free == 0) & cfg_violate ? ready : free;
    wire first = !(cfg_aware & mask) & ((allowed & ~put_off) != 0);
    wire [W-1:0] candidates = first ? allowed & ~put_off : allowed;
    wire classes = (cfg_policy == 1) | (cfg_policy == 2);
    wire round = !cfg_policy[1];
    reg [WW-1:0] last;
    reg better;
    reg sooner;
    reg [WW-1:0] distance, other;
    wire [WW-1:0] chosen_distance = sel_warp - last - 1;
    integer w;
    always @* begin
        better = 0;
        sooner = 0;
        for (w = 0; w < W; w = w + 1) if (candidates[w]) begin
            if (cls[2*w +: 2] < cls[2*sel_warp +: 2]) better = 1;
            other = w - last - 1;
            if (!classes | (cls[2*w +: 2] == cls[2*sel_warp +: 2]))
                if (round ? other < chosen_distance : w < sel_warp) sooner = 1;
        end
    end

    // Selections that were taken while the followed warp was a candidate under
    // policy 0 without a break, and its place in the order behind the last.
    reg [WW:0] waited;
    wire waits = (cfg_policy == 0) & candidates[warp];
    wire [WW-1:0] place = warp - last - 1;
    always @(posedge clk) begin
        if (rst) last <= W - 1;
        else if (take & sel_valid) last <= sel_warp;
        if (rst | !waits | (take & (sel_warp == warp))) waited <= 0;
        else if (take) waited <= waited + 1;
    end
    wire [W-1:0] from_last = {W{1'b1}} << last;
    assign keep_last = (\unit.behind_q == (from_last & (from_last << 1))) & (last < W);
    assign keep_turn = waited + place < W;

    assign check_candidate = !sel_valid | candidates[sel_warp];
    assign check_some = (sel_valid == (candidates != 0)) & (sel_valid | (sel_warp == 0));
    assign check_masked = masked == ((ready & ~allowed) != 0);
    assign check_class = !sel_valid | !classes | !better;
    assign check_order = !sel_valid | !sooner;
    assign check_fair = !waits | (waited < W - 1) | (sel_warp == warp);
    assign cover_wrap = sel_valid & round & (sel_warp < last) & (last != W - 1) & !rst;
    assign cover_violate = sel_valid & mask & is_mem[sel_warp] & cfg_aware & !rst;
    assign cover_wait = waits & (waited == 3) & !rst;
endmodule
