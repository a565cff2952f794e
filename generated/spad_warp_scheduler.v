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
//             microarchitecture/warp-scheduler.md
//
// in  clk           1  clock
// in  rst           1  synchronous reset
// in  cfg_policy    2  policy
// in  cfg_aware     1  apply the mask
// in  cfg_violate   1  masked warps go when nothing else can
// in  ready        48  warps that may issue
// in  is_mem       48  the warp offers a memory instruction
// in  mask          1  memory warps are masked
// in  put_off      48  warps, none of is_mem, that wait for the others while
//                      nothing is masked
// in  cls          96  class per warp: 0 owner, 1 unshared, 2 non-owner
// in  take          1  the selection is issued in this cycle
// out sel_valid     1  a warp is selected
// out sel          48  the warp, one-hot; 0 if none
// out sel_warp      6  number of the selected warp; 0 if none
// out masked        1  some ready warp is held back by the mask

`default_nettype none

module spad_warp_scheduler (
    input wire clk,
    input wire rst,
    input wire [1:0] cfg_policy,
    input wire cfg_aware,
    input wire cfg_violate,
    input wire [47:0] ready,
    input wire [47:0] is_mem,
    input wire mask,
    input wire [47:0] put_off,
    input wire [95:0] cls,
    input wire take,
    output wire sel_valid,
    output wire [47:0] sel,
    output wire [5:0] sel_warp,
    output wire masked
);
    localparam W = 48;

    // The warps after the one that was taken last.
    reg [W-1:0] behind_q;

    wire [4*W-1:0] of_class;
    genvar i, c;
    generate
        for (c = 0; c < 4; c = c + 1) begin : each_class
            for (i = 0; i < W; i = i + 1) begin : warp
                assign of_class[c*W + i] = cls[2*i +: 2] == c;
            end
        end
    endgenerate

    // Who would go with and without masked warps is found side by side, because
    // the mask comes late.
    wire [W-1:0] of_all;
    wire [W-1:0] of_all_found;
    wire [W-1:0] of_others;
    wire [W-1:0] of_others_found;
    wire [W-1:0] others = ready & ~is_mem;
    // Masked warps go where violating is allowed and nothing else can.
    wire keeps = ~cfg_violate | (|others);
    wire held = cfg_aware & mask & keeps;
    wire some_mem = |(ready & is_mem);
    assign masked = held & some_mem;
    wire [W-1:0] unmasked = ready & ~put_off;
    // If every candidate is put off, none of them is a memory warp.
    wire only_others = held | ~(|unmasked);
    spad_first_warp first_of_all (
        .cfg_policy(cfg_policy),
        .cand(unmasked),
        .of_class(of_class),
        .behind(behind_q),
        .sel(of_all),
        .found_sel(of_all_found)
    );
    spad_first_warp first_of_others (
        .cfg_policy(cfg_policy),
        .cand(others),
        .of_class(of_class),
        .behind(behind_q),
        .sel(of_others),
        .found_sel(of_others_found)
    );
    assign sel = only_others ? of_others : of_all;
    // found_sel has a bit for each warp at or after the selected one; shifted up
    // by one, it is the set of warps after it.
    wire [W-1:0] found_sel = only_others ? of_others_found : of_all_found;
    assign sel_valid = found_sel[47];
    wire [W-1:0] behind_d = found_sel << 1;
    spad_warp_number encode (.above(sel[W-1:1]), .number(sel_warp));

    always @(posedge clk) begin
        if (rst) behind_q <= {W{1'b0}};
        else if (take & sel_valid) behind_q <= behind_d;
    end
endmodule

`default_nettype wire
