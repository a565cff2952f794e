// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_warp_mask: counts the cycles in which no memory warp may be scheduled:
// the passes of the one issued last plus its predicted excess.
//
// Parameters: PW = 2, EX = 5, CW = 6
// Timing:     issued in cycle s with P passes and excess x: mask is 1 from s+1
//             on, until P-1+x cycles without hold have passed
// Reference:  elastic paper, sections 5.1 and 5.3, Eqs 3 and 7;
//             docs/microarchitecture.md, section 14
//
// in  clk         1  clock
// in  rst         1  synchronous reset
// in  clear       1  kernel launch: as reset
// in  set_valid   1  a predicted instruction was issued in this cycle
// in  set_base    2  number of its passes - 1
// in  lk_hit      1  the history knows it (one cycle after set_valid)
// in  lk_excess   5  its excess
// in  hold        1  EX is held in this cycle: it does not count
// out mask        1  memory warps are masked
// out remaining   6  cycles without hold that remain, this one included

module spad_warp_mask (
    input wire clk,
    input wire rst,
    input wire clear,
    input wire set_valid,
    input wire [1:0] set_base,
    input wire lk_hit,
    input wire [4:0] lk_excess,
    input wire hold,
    output wire mask,
    output wire [5:0] remaining
);
    localparam CW = 6;

    wire [CW-1:0] passes = {4'd0, set_base};
    wire [CW-1:0] excess = {1'd0, lk_excess & {5{lk_hit}}};
    reg pend;
    reg [CW-1:0] cnt;
    // The history answers in the second cycle after the set.
    reg late;
    wire answered = late;

    // The sum has a bit to spare, so it is 0 only if both parts are.
    wire [CW-1:0] left = cnt + (excess & {CW{answered}});
    assign mask = (|cnt) | (answered & (|excess));
    assign remaining = left;

    always @(posedge clk) begin
        if (rst | clear) begin
            pend <= 1'b0;
            late <= 1'b0;
            cnt <= {CW{1'b0}};
        end else begin
            pend <= set_valid;
            late <= pend & ~set_valid;
            cnt <= set_valid ? passes
                : (mask & ~hold) ? left - 6'd1
                : left;
        end
    end
endmodule
