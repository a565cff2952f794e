// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_first_warp: the candidate that goes first: by class where the policy
// says so, then round-robin after the warp selected last, or the lowest.
//
// Parameters: W = 48
// Timing:     combinational
// Reference:  sharing paper, section 4; microarchitecture/warp-scheduler.md
//
// in  cfg_policy   2  policy
// in  cand        48  the candidates
// in  of_class   192  warps of each class, class 0 lowest
// in  behind      48  warps after the one that was taken last
// out sel         48  the warp, one-hot; 0 if none
// out found_sel   48  per position: the warp is at it or below; nonzero if
//                     there is one

`default_nettype none

module spad_first_warp (
    input wire [1:0] cfg_policy,
    input wire [47:0] cand,
    input wire [191:0] of_class,
    input wire [47:0] behind,
    output wire [47:0] sel,
    output wire [47:0] found_sel
);
    localparam [1:0] POLICY_OWF_LRR = 2'd1;
    localparam [1:0] POLICY_OWF_SLOT = 2'd2;
    localparam W = 48;

    // Per class: whether it has a candidate; whether it is the first class with
    // one.
    wire [3:0] present;
    wire [3:0] first;
    wire [W-1:0] of_first;
    assign first[0] = present[0];
    assign first[1] = present[1] & ~present[0];
    assign first[2] = present[2] & ~(|present[1:0]);
    assign first[3] = present[3] & ~(|present[2:0]);

    genvar i, c;
    generate
        for (c = 0; c < 4; c = c + 1) begin : each_class
            assign present[c] = |(cand & of_class[c*W +: W]);
        end
        for (i = 0; i < W; i = i + 1) begin : keep
            wire [3:0] mine = {of_class[3*W + i], of_class[2*W + i], of_class[W+i], of_class[i]};
            assign of_first[i] = |(mine & first);
        end
    endgenerate
    wire by_class = (cfg_policy == POLICY_OWF_LRR) | (cfg_policy == POLICY_OWF_SLOT);
    wire [W-1:0] chosen = cand & ({48{~by_class}} | of_first);

    // Round-robin: first the warps after the last one, then all.
    wire [W-1:0] found_behind;
    wire [W-1:0] next;
    wire [W-1:0] found;
    wire [W-1:0] lowest;
    spad_lowest #(.WIDTH(W)) search_behind (
        .want(chosen & behind),
        .found(found_behind),
        .lowest(next)
    );
    spad_lowest #(.WIDTH(W)) search_all (.want(chosen), .found(found), .lowest(lowest));
    wire go_on = found_behind[47] & ~cfg_policy[1];
    assign sel = go_on ? next : lowest;
    assign found_sel = go_on ? found_behind : found;
endmodule

`default_nettype wire
