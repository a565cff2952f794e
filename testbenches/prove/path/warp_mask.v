// spad_warp_mask: behind an issue memory warps are masked until the safe
// distance has passed, counted in cycles without hold
// (microarchitecture/warp-mask.md, Eq. 7). The history answers in the first
// cycle behind the issue; AHEAD > 0: in the second, and until then a likely
// excess masks.
module miter #(parameter PW = 3, parameter EX = 3) (
    input wire clk,
    input wire rst,
    input wire clear,
    input wire set_valid,
    input wire [PW-1:0] set_base,
    input wire lk_hit,
    input wire [EX-1:0] lk_excess,
    input wire lk_heavy,
    input wire lk_heavier,
    input wire hold,
    output wire keep_phase, // the answer of the history is due in its cycle behind an issue
    output wire keep_left, // the counters are passes and distance less the cycles without hold since the issue
    output wire check_distance, // with an excess masked until passes - 1 + excess cycles without hold have passed, then not; without one never, but for a guess
    output wire check_lasts, // `lasts` is the mask of the next cycle, if this one counts and nothing is issued; of a guess what is likely
    output wire check_hold, // what is masked for an excess stays masked while hold, and nothing passes
    output wire check_clear, // nothing is masked behind a reset or a clear
    output wire cover_end, // 9: the mask ends behind an issue with two passes and an excess
    output wire cover_again, // 6: another issue while masked
    output wire cover_free, // 6: several passes without an excess
    output wire cover_held // 9: the mask ends later by two held cycles, the first among them
);
    localparam CW = (PW > EX ? PW : EX) + 3;
    wire mask, lasts;
    spad_warp_mask unit (
        .clk(clk), .rst(rst), .clear(clear), .set_valid(set_valid), .set_base(set_base),
        .lk_hit(lk_hit), .lk_excess(lk_excess), .lk_heavy(lk_heavy),
        .lk_heavier(lk_heavier), .hold(hold), .mask(mask), .lasts(lasts)
    );
    (* hierconn *) wire \unit.pend_q {% if AHEAD > 0 %}, \unit.late_q , \unit.counted_q , \unit.owed_q {% endif %};
    (* hierconn *) wire [PW-1:0] \unit.base_q ;
    (* hierconn *) wire [EX:0] \unit.cnt_q ;

    // Cycles since the last issue (up to 3), those that were not held, the
    // present one included, the passes less one, and the excess once known.
    // AHEAD > 0: a hold shows a cycle late, so it takes back the cycle before;
    // where another was issued by then, it waits one cycle more.
    localparam ANSWER = {% if AHEAD > 0 %}2{% else %}1{% endif %};
    reg issued;
    reg [1:0] age;
    reg [CW-1:0] since, passes, excess;
    wire answers = issued & (age == ANSWER);
    wire [CW-1:0] excess_now = answers ? (lk_hit ? lk_excess : 0) : excess;
    wire guess = {% if AHEAD > 0 %}issued & (age == 1) & lk_heavy{% else %}1'b0{% endif %};
{%- if AHEAD > 0 %}
    reg back;
    reg counted;
    wire issuing = issued & (since <= passes);
    wire takes_back = hold & counted & !(answers & (excess_now == 0));
{%- else %}
    wire back = 0;
    wire takes_back = 0;
    wire issuing = issued & (since <= passes);
{%- endif %}
    wire [CW-1:0] last = passes + excess_now + back;
    wire masked = issued & (excess_now != 0) & (since <= last);
    reg was_cleared, was_held;
    reg [1:0] held;
    reg held_first;
    always @(posedge clk) begin
        was_cleared <= rst | clear;
        was_held <= masked & hold & !rst & !clear & !set_valid;
        if (rst | clear) begin
            issued <= 0;
            age <= 0;
        end else if (set_valid) begin
            issued <= 1;
            age <= 1;
            since <= 1;
            passes <= set_base;
            excess <= 0;
            held <= 0;
            held_first <= 0;
{%- if AHEAD > 0 %}
            back <= takes_back;
{%- endif %}
        end else begin
            if (issued & (age != 3)) age <= age + 1;
            if (takes_back & (age != 1)) since <= since - 1;
            if (!hold & !(&since)) since <= since + 1;
            excess <= excess_now;
            if (hold & !(&held)) held <= held + 1;
            if (hold & (age == 1)) held_first <= 1;
{%- if AHEAD > 0 %}
            if (takes_back & (age == 1)) back <= 1;
{%- endif %}
        end
{%- if AHEAD > 0 %}
        counted <= !rst & !clear & !hold & !issuing & (masked | (issued & (age == 1)));
{%- endif %}
    end
    wire known = issued & (age > ANSWER) & (excess != 0) & (since <= passes + excess + back);
    assign keep_phase = (\unit.pend_q == (issued & (age == 1))){% if AHEAD > 0 %} & (\unit.late_q == answers)
        & (\unit.counted_q == counted) & (!issued | (age > 2) | (back == \unit.owed_q )) & (!issued | (age != 1) | !counted | !back)
        & (!counted | (issued & ((age == 1) | (since > passes + 1))))
        & (!answers | (counted == ((since == 2) & (passes == 0))))
        & (!counted | (age != 3) | ((excess != 0) & (since <= passes + excess + back + 1))){% endif %}
        & (!issued | ((age != 0) & (since != 0) & ((age != 1) | (since == 1)) & ((age != 2) | (since <= 2))
        & (passes < (1 << PW)) & (excess < (1 << EX)) & ((age > ANSWER) | (excess == 0))));
    assign keep_left = (\unit.base_q == (issuing ? passes - since + 1 : 0))
        & (\unit.cnt_q == (!known ? 0 : issuing ? excess + back : passes + excess + back - since + 1));
    assign check_distance = mask == (masked | guess);
    assign check_lasts = lasts == ((guess & (lk_heavier | issuing)) | (masked & (since + 1 <= last)));
    assign check_hold = !was_held | mask;
    assign check_clear = !was_cleared | (!mask & !lasts);
    wire over = issued & !mask & (age == 3) & (excess != 0) & (since == passes + excess + back + 1) & !rst;
    assign cover_end = over & (excess == 2) & (passes == 1);
    assign cover_again = mask & set_valid & (since > 1) & !rst & !clear;
    assign cover_free = issued & !mask & (age == 3) & (excess == 0) & (passes == 2) & !rst;
    assign cover_held = over & (excess == 2) & (passes == 0) & (held == 2) & held_first;
endmodule
