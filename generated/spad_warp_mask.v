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
    // A set in the cycle before. The history answers one cycle later.
    reg pend;
    reg late;
    reg [5:0] cnt;

    wire answered = late;
    wire [5:0] excess = {1'd0, lk_excess & {5{lk_hit}}} & {6{answered}};
    // The sum has a bit to spare, so it is 0 only if both parts are.
    wire [5:0] left = cnt + excess;
    assign mask = (|cnt) | (|excess);
    assign remaining = left;

    wire [5:0] cnt_next = set_valid ? {4'd0, set_base}
        : (mask & ~hold) ? left - 6'd1
        : left;
    wire late_next = pend & ~set_valid;

    always @(posedge clk) begin
        if (rst) begin
            pend <= 1'b0;
            late <= 1'b0;
            cnt <= 6'd0;
        end else if (clear) begin
            pend <= 1'b0;
            late <= 1'b0;
            cnt <= 6'd0;
        end else begin
            pend <= set_valid;
            late <= late_next;
            cnt <= cnt_next;
        end
    end
endmodule
