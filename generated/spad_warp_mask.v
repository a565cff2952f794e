// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_warp_mask: counts the cycles in which no memory warp may be scheduled:
// the predicted excess of the last one issued, after its passes.
//
// Parameters: PW = 2, EX = 5, AHEAD = 3
// Timing:     taken in cycle s with P passes, during which nothing is taken,
//             and excess x: with x > 0 mask is 1 until P-1+x cycles without
//             hold have passed
// Reference:  elastic paper, sections 5.1 and 5.3, Eqs 3 and 7;
//             microarchitecture/warp-mask.md
//
// in  clk          1  clock
// in  rst          1  synchronous reset
// in  clear        1  kernel launch: same effect as reset
// in  set_valid    1  a predicted instruction was issued in this cycle
// in  set_base     2  number of its passes - 1
// in  lk_hit       1  the history knows it: in the cycle after set_valid,
//                     AHEAD > 0: in the second
// in  lk_excess    5  excess that the look-up found
// in  lk_heavy     1  AHEAD > 0: it is likely to have an excess, in the cycle
//                     after set_valid
// in  lk_heavier   1  AHEAD > 0: and one of more than one cycle
// in  hold         1  EX is held in this cycle: it does not count
// out mask         1  memory warps are masked
// out lasts        1  they will be in the next cycle, too, if this one counts

`default_nettype none

module spad_warp_mask (
    input wire clk,
    input wire rst,
    input wire clear,
    input wire set_valid,
    input wire [1:0] set_base,
    input wire lk_hit,
    input wire [4:0] lk_excess,
    input wire lk_heavy,
    input wire lk_heavier,
    input wire hold,
    output wire mask,
    output wire lasts
);
    localparam PW = 2;
    localparam EX = 5;
    // A set in the cycle before. The history answers one cycle later.
    reg pend_q;
    reg late_q;
    reg counted_q;
    reg owed_q;
    // Passes to issue, and cycles to mask after them.
    reg [PW-1:0] base_q;
    reg [EX:0] cnt_q;

    wire [EX-1:0] known = lk_excess & {EX{lk_hit}};
    // One cycle of the excess may have passed before the answer.
    wire some = |known;
    wire [5:0] answer = (some & owed_q & ~counted_q) ? {1'd0, known} + 6'd1
        : (some & counted_q & ~owed_q) ? {1'd0, known} - 6'd1
        : {1'd0, known};
    wire [5:0] left = late_q ? answer : cnt_q;
    wire doubt = pend_q & lk_heavy;
    wire issuing = |base_q;
    assign mask = (|left) | doubt;
    wire more = (|left[5:1]) | (doubt & lk_heavier);
    assign lasts = more | (mask & issuing);

    // A cycle counts after the last pass, and if EX is not held.
    wire counts = ~hold & ~issuing;
    // A hold in the next cycle takes this cycle back, because EX comes one cycle
    // later.
    wire takes_back = hold & counted_q & ~(late_q & ~some);
    wire counted_d = counts & ((|left) | pend_q);
    wire owed_d = (takes_back & (set_valid | pend_q)) | (owed_q & pend_q & ~set_valid);
    wire late_d = pend_q & ~set_valid;
    wire [EX:0] cnt_d = set_valid ? 6'd0
        : (counts & (|left)) ? left - 6'd1
        : (takes_back & ~pend_q) ? left + 6'd1
        : left;
    wire [PW-1:0] base_d = set_valid ? set_base
        : (issuing & ~hold) ? base_q - 2'd1
        : base_q;

    always @(posedge clk) begin
        if (rst) begin
            pend_q <= 1'b0;
            late_q <= 1'b0;
            counted_q <= 1'b0;
            owed_q <= 1'b0;
            base_q <= {PW{1'b0}};
            cnt_q <= {(EX+1){1'b0}};
        end else if (clear) begin
            pend_q <= 1'b0;
            late_q <= 1'b0;
            counted_q <= 1'b0;
            owed_q <= 1'b0;
            base_q <= {PW{1'b0}};
            cnt_q <= {(EX+1){1'b0}};
        end else begin
            pend_q <= set_valid;
            late_q <= late_d;
            counted_q <= counted_d;
            owed_q <= owed_d;
            base_q <= base_d;
            cnt_q <= cnt_d;
        end
    end
endmodule

`default_nettype wire
