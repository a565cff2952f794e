// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_warp_scheduler: selects the warp that issues: loose round-robin, owner
// warps first, or lowest slot; bank-conflict-aware on top of each. Policies: 0
// round-robin; 1 owner first, round-robin in a class; 2 owner first, lowest
// slot in a class; 3 lowest slot.
//
// Parameters: W = 48, WW = 6
// Timing:     the selection is combinational; the round-robin pointer moves
//             with take
// Reference:  elastic paper, section 5; sharing paper, section 4;
//             docs/microarchitecture.md, section 15
//
// in  clk           1  clock
// in  rst           1  synchronous reset
// in  cfg_policy    2  policy
// in  cfg_aware     1  apply the mask
// in  cfg_violate   1  masked warps go when nothing else can
// in  ready        48  warps that may issue
// in  is_mem       48  they offer a memory instruction
// in  mask          1  memory warps are masked
// in  cls          96  class per warp: 0 owner, 1 unshared, 2 non-owner
// in  take          1  the selection is issued in this cycle
// out sel_valid     1  a warp is selected
// out sel_warp      6  its number; 0 if none
// out masked        1  some ready warp is held back by the mask

module spad_warp_scheduler (
    input wire clk,
    input wire rst,
    input wire [1:0] cfg_policy,
    input wire cfg_aware,
    input wire cfg_violate,
    input wire [47:0] ready,
    input wire [47:0] is_mem,
    input wire mask,
    input wire [95:0] cls,
    input wire take,
    output wire sel_valid,
    output wire [5:0] sel_warp,
    output wire masked
);
    localparam [1:0] POLICY_OWF_LRR = 2'd1;
    localparam [1:0] POLICY_OWF_SLOT = 2'd2;
    localparam W = 48;

    reg [5:0] last;

    wire [W-1:0] blocked = ready & is_mem & {W{cfg_aware & mask}};
    wire [W-1:0] unmasked = ready & ~blocked;
    wire [W-1:0] cand = (cfg_violate & ~(|unmasked)) ? ready : unmasked;
    assign masked = |(ready & ~cand);

    // The class that goes first: owner, unshared, non-owner.
    wire by_class = (cfg_policy == POLICY_OWF_LRR) | (cfg_policy == POLICY_OWF_SLOT);
    wire [4*W-1:0] of_class;
    wire [3:0] present;
    wire [3:0] first = {
        present[3] & ~(|present[2:0]),
        present[2] & ~(|present[1:0]),
        present[1] & ~present[0],
        present[0]
    };
    wire [W-1:0] chosen;
    wire [W-1:0] after;
    assign after[0] = 1'b0;
    genvar w, c;
    generate
        for (c = 0; c < 4; c = c + 1) begin : each_class
            for (w = 0; w < W; w = w + 1) begin : warp
                assign of_class[c*W + w] = cand[w] & (cls[2*w +: 2] == c);
            end
            assign present[c] = |of_class[c*W +: W];
        end
        for (w = 0; w < W; w = w + 1) begin : keep
            assign chosen[w] = by_class ? cand[w] & first[cls[2*w +: 2]] : cand[w];
        end
        for (w = 1; w < W; w = w + 1) begin : behind
            assign after[w] = chosen[w] & (last < w);
        end
    endgenerate

    // Round-robin: first the warps behind the last one, then all.
    wire any_after;
    wire any;
    wire [5:0] next;
    wire [5:0] lowest;
    spad_lowest_48 search_after (.want(after), .any(any_after), .index(next));
    spad_lowest_48 search_all (.want(chosen), .any(any), .index(lowest));

    assign sel_valid = any;
    assign sel_warp = (any_after & ~cfg_policy[1]) ? next : lowest;

    always @(posedge clk) begin
        if (rst) last <= 6'd47;
        else if (take & sel_valid) last <= sel_warp;
    end
endmodule
