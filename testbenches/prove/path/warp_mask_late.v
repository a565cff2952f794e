// spad_warp_mask where the history answers in the second cycle behind the
// issue (AHEAD > 0): the passes count at once, the excess from then on
// (section 14).
module miter #(parameter PW = 3, parameter EX = 3) (
    input wire clk,
    input wire rst,
    input wire clear,
    input wire set_valid,
    input wire [PW-1:0] set_base,
    input wire lk_hit,
    input wire [EX-1:0] lk_excess,
    input wire hold,
    output wire keep_phase, // the history's answer is due in the second cycle behind an issue
    output wire keep_left, // the counter is the distance less the cycles without hold since the issue
    output wire check_distance, // masked for passes - 1 cycles without hold; from the answer on for the excess more, then not
    output wire check_remaining, // `remaining` is the number of cycles without hold for which the mask stays
    output wire check_hold, // what is masked stays masked while hold, and nothing passes but that the answer is added
    output wire check_clear, // nothing is masked behind a reset or a clear
    output wire cover_end, // 8: the mask ends behind an issue with an excess
    output wire cover_again, // 5: another issue while masked
    output wire cover_slip, // 4: one pass, an excess: not masked in the first cycle, but in the second
    output wire cover_dropped, // 5: an issue in the cycle behind another, whose answer does not count
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
    (* hierconn *) wire \unit.late ;
    (* hierconn *) wire [CW-1:0] \unit.cnt ;

    // Cycles since the last issue (up to 3), those that were not held, the
    // present one included, and the distance: the passes less one; with the
    // answer, what has not passed of them and the excess.
    reg issued;
    reg [1:0] age;
    reg [CW+1:0] since;
    reg [CW+1:0] distance;
    wire answers = issued & (age == 2);
    wire [CW+1:0] excess = lk_hit ? lk_excess : 0;
    wire [CW+1:0] gone = since - 1;
    wire [CW+1:0] distance_now = !answers ? distance : (distance > gone ? distance : gone) + excess;
    wire masked = issued & (since <= distance_now);
    reg was_cleared, was_held, was_short, was_issued_twice;
    reg [CW-1:0] was_remaining;
    reg held_first;
    reg [1:0] held;
    always @(posedge clk) begin
        was_cleared <= rst | clear;
        was_held <= hold & !rst & !clear & !set_valid;
        was_remaining <= remaining;
        was_short <= issued & (age == 1) & !mask;
        was_issued_twice <= issued & (age == 1) & set_valid;
        if (rst | clear) begin
            issued <= 0;
            age <= 0;
        end else if (set_valid) begin
            issued <= 1;
            age <= 1;
            since <= 1;
            distance <= set_base;
            held <= 0;
            held_first <= 0;
        end else begin
            if (issued & (age != 3)) age <= age + 1;
            if (!hold & !(&since)) since <= since + 1;
            distance <= distance_now;
            if (hold & !(&held)) held <= held + 1;
            if (hold & (age == 1)) held_first <= 1;
        end
    end
    wire left_now = issued & (since <= distance);
    assign keep_phase = (\unit.pend == (issued & (age == 1))) & (\unit.late == answers)
        & (!issued | ((age != 0) & (since != 0) & ((age != 1) | (since == 1)) & ((age != 2) | (since <= 2))
        & (distance < (1 << PW) + (1 << EX)) & ((age == 3) | (distance < (1 << PW)))));
    assign keep_left = \unit.cnt == (left_now ? distance - since + 1 : 0);
    assign check_distance = mask == masked;
    assign check_remaining = remaining == (masked ? distance_now - since + 1 : 0);
    assign check_hold = !was_held | (remaining == was_remaining + (answers ? excess : 0));
    assign check_clear = !was_cleared | (!mask & (remaining == 0));
    assign cover_end = issued & !mask & (since == distance + 1) & (distance == 4) & (age == 3) & !rst;
    assign cover_again = mask & set_valid & (since > 1) & !rst & !clear;
    assign cover_slip = mask & answers & was_short & !rst;
    assign cover_dropped = was_issued_twice & mask & (age == 1) & !rst;
    assign cover_held = issued & !mask & (since == distance + 1) & (distance == 2) & (held == 2) & held_first & !rst;
endmodule
