// spad_warp_mask: behind an issue memory warps are masked for exactly the safe
// distance, counted in cycles without hold (section 14, Eq. 7).
module miter #(parameter PW = 3, parameter EX = 3) (
    input wire clk,
    input wire rst,
    input wire clear,
    input wire set_valid,
    input wire [PW-1:0] set_base,
    input wire lk_hit,
    input wire [EX-1:0] lk_excess,
    input wire hold,
    output wire keep_phase, // the history's answer is due in the cycle behind an issue
    output wire keep_left, // the counter is the distance less the cycles without hold since the issue
    output wire check_distance, // masked until passes - 1 + excess cycles without hold have passed, then not
    output wire check_remaining, // `remaining` is the number of cycles without hold for which the mask stays
    output wire check_hold, // what is masked stays masked while hold, and nothing passes
    output wire check_clear, // nothing is masked behind a reset or a clear
    output wire cover_end, // 8: the mask ends behind an issue with an excess
    output wire cover_again, // 5: another issue while masked
    output wire cover_miss, // 5: masked for the passes alone
    output wire cover_held // 8: the mask ends later by two held cycles, the first among them
);
    localparam CW = (PW > EX ? PW : EX) + 1;
    wire mask;
    wire [CW-1:0] remaining;
    spad_warp_mask unit (
        .clk(clk), .rst(rst), .clear(clear), .set_valid(set_valid), .set_base(set_base),
        .lk_hit(lk_hit), .lk_excess(lk_excess), .hold(hold), .mask(mask), .remaining(remaining)
    );
    (* hierconn *) wire \unit.pend ;
    (* hierconn *) wire [CW-1:0] \unit.cnt ;

    // Cycles since the last issue that were not held (saturating), the present
    // one included, and its distance: the passes less one, and from the cycle
    // behind it, in which the history answers, on the excess.
    reg issued;
    reg fresh;
    reg [CW+1:0] since;
    reg [CW+1:0] passes;
    reg [CW+1:0] distance;
    wire [CW+1:0] distance_now = fresh ? passes + (lk_hit ? lk_excess : 0) : distance;
    wire masked = issued & (since <= distance_now);
    reg was_cleared;
    reg was_held;
    reg [CW-1:0] was_remaining;
    reg held_first;
    reg [1:0] held;
    always @(posedge clk) begin
        was_cleared <= rst | clear;
        was_held <= hold & !rst & !clear & !set_valid;
        was_remaining <= remaining;
        if (rst | clear) begin
            issued <= 0;
            fresh <= 0;
        end else if (set_valid) begin
            issued <= 1;
            fresh <= 1;
            since <= 1;
            passes <= set_base;
            held <= 0;
            held_first <= 0;
        end else begin
            fresh <= 0;
            if (!hold & !(&since)) since <= since + 1;
            distance <= distance_now;
            if (hold & !(&held)) held <= held + 1;
            if (hold & fresh) held_first <= 1;
        end
    end
    assign keep_phase = (\unit.pend == (issued & fresh)) & (!fresh | (since == 1)) & (!\unit.pend | (\unit.cnt == passes))
        & (!issued | ((since != 0) & (passes < (1 << PW))));
    assign keep_left = \unit.pend | (((!issued | (distance < (1 << PW) + (1 << EX)))) & (\unit.cnt == (masked ? distance - since + 1 : 0)));
    assign check_distance = mask == masked;
    assign check_remaining = remaining == (masked ? distance_now - since + 1 : 0);
    assign check_hold = !was_held | (remaining == was_remaining);
    assign check_clear = !was_cleared | (!mask & (remaining == 0));
    assign cover_end = issued & !mask & (since == distance + 1) & (distance > passes) & (passes == 2) & !rst;
    assign cover_again = mask & set_valid & (since > 1) & !rst & !clear;
    assign cover_miss = mask & (since == passes) & (since == 2) & !rst;
    assign cover_held = issued & !mask & (since == distance + 1) & (distance == 2) & (held == 2) & held_first & !rst;
endmodule
