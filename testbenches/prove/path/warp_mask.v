// spad_warp_mask: memory warps are masked for exactly the safe distance behind
// an issue (section 14, Eq. 7).
module miter #(parameter PW = 3, parameter EX = 3) (
    input wire clk,
    input wire rst,
    input wire clear,
    input wire set_valid,
    input wire [PW-1:0] set_base,
    input wire lk_hit,
    input wire [EX-1:0] lk_excess,
    output wire keep_phase, // the history's answer is due in the cycle behind an issue
    output wire keep_left, // the counter is the distance less the cycles since the issue
    output wire check_distance, // masked in the cycles 1 .. passes - 1 + excess behind an issue, then not
    output wire check_remaining, // `remaining` is the number of cycles for which the mask stays
    output wire check_clear, // nothing is masked behind a reset or a clear
    output wire cover_end, // 8: the mask ends behind an issue with an excess
    output wire cover_again, // 5: another issue while masked
    output wire cover_miss // 5: masked for the passes alone
);
    localparam CW = (PW > EX ? PW : EX) + 1;
    wire mask;
    wire [CW-1:0] remaining;
    spad_warp_mask unit (
        .clk(clk), .rst(rst), .clear(clear), .set_valid(set_valid), .set_base(set_base),
        .lk_hit(lk_hit), .lk_excess(lk_excess), .mask(mask), .remaining(remaining)
    );
    (* hierconn *) wire \unit.pend ;
    (* hierconn *) wire [PW-1:0] \unit.base ;
    (* hierconn *) wire [CW-1:0] \unit.cnt ;

    // Cycles since the last issue (saturating), and its distance: the passes
    // less one, and from the cycle behind it on the excess.
    reg issued;
    reg [CW+1:0] since;
    reg [CW+1:0] passes;
    reg [CW+1:0] distance;
    wire [CW+1:0] distance_now = since == 1 ? passes + (lk_hit ? lk_excess : 0) : distance;
    wire masked = issued & (since <= distance_now);
    reg was_cleared;
    always @(posedge clk) begin
        was_cleared <= rst | clear;
        if (rst | clear) issued <= 0;
        else if (set_valid) begin
            issued <= 1;
            since <= 1;
            passes <= set_base;
        end else begin
            if (!(&since)) since <= since + 1;
            distance <= distance_now;
        end
    end
    assign keep_phase = (\unit.pend == (issued & (since == 1))) & (!\unit.pend | (\unit.base == passes))
        & (!issued | ((since != 0) & (passes < (1 << PW))));
    assign keep_left = \unit.pend | (((!issued | (distance < (1 << PW) + (1 << EX)))) & (\unit.cnt == (masked ? distance - since + 1 : 0)));
    assign check_distance = mask == masked;
    assign check_remaining = remaining == (masked ? distance_now - since + 1 : 0);
    assign check_clear = !was_cleared | (!mask & (remaining == 0));
    assign cover_end = issued & !mask & (since == distance + 1) & (distance > passes) & (passes == 2) & !rst;
    assign cover_again = mask & set_valid & (since > 1) & !rst & !clear;
    assign cover_miss = mask & (since == passes) & (since == 2) & !rst;
endmodule
