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
// out sel          48  the warp, one-hot; 0 if none
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
    output wire [47:0] sel,
    output wire [5:0] sel_warp,
    output wire masked
);
    localparam [1:0] POLICY_OWF_LRR = 2'd1;
    localparam [1:0] POLICY_OWF_SLOT = 2'd2;
    localparam W = 48;

    // The warps behind the one that was taken last.
    reg [W-1:0] behind;

    // Masked warps go where violating is allowed and nothing else can.
    wire [47:0] unmasked = ready & ~(is_mem & {48{cfg_aware & mask}});
    wire use_masked = cfg_violate & ~(|unmasked);
    wire [47:0] cand = use_masked ? ready : unmasked;
    assign masked = ~use_masked & cfg_aware & mask & (|(ready & is_mem));

    // Per class: a candidate is of it; it is the first with one. What would be
    // there with and without masked warps is found side by side.
    wire [3:0] present;
    wire [3:0] first;
    wire [4*W-1:0] of_class;
    wire [W-1:0] of_first;
    wire by_class = (cfg_policy == POLICY_OWF_LRR) | (cfg_policy == POLICY_OWF_SLOT);
    assign first[0] = present[0];
    assign first[1] = present[1] & ~present[0];
    assign first[2] = present[2] & ~(|present[1:0]);
    assign first[3] = present[3] & ~(|present[2:0]);

    genvar w, c;
    generate
        for (c = 0; c < 4; c = c + 1) begin : each_class
            for (w = 0; w < W; w = w + 1) begin : warp
                assign of_class[c*W + w] = cls[2*w +: 2] == c;
            end
            wire [W-1:0] members = of_class[c*W +: W];
            assign present[c] = use_masked ? |(ready & members) : |(unmasked & members);
        end
        for (w = 0; w < W; w = w + 1) begin : keep
            wire [3:0] mine = {of_class[3*W + w], of_class[2*W + w], of_class[W + w], of_class[w]};
            assign of_first[w] = |(mine & first);
        end
    endgenerate
    wire [47:0] chosen = cand & ({48{~by_class}} | of_first);

    // Round-robin: first the warps behind the last one, then all.
    wire [W-1:0] found_behind;
    wire [W-1:0] next;
    wire [W-1:0] found;
    wire [W-1:0] lowest;
    spad_lowest_48 search_behind (.want(chosen & behind), .found(found_behind), .lowest(next));
    spad_lowest_48 search_all (.want(chosen), .found(found), .lowest(lowest));
    wire go_on = found_behind[47] & ~cfg_policy[1];
    assign sel_valid = found[47];
    assign sel = go_on ? next : lowest;
    // Behind the selected warp are those at which it has been found below.
    wire [47:0] found_sel = go_on ? found_behind : found;
    wire [47:0] behind_next = found_sel << 1;
    spad_number_48 encode (.above(sel[W-1:1]), .number(sel_warp));

    always @(posedge clk) begin
        if (rst) behind <= {W{1'b0}};
        else if (take & sel_valid) behind <= behind_next;
    end
endmodule
