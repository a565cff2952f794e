// spad_pass_issue: the passes of an instruction go in order, each once, none of
// another between them, and EX has them as they went
// (microarchitecture/issue.md). One warp is followed; it may be any.
module miter #(parameter W = 4, parameter WW = 2, parameter S = 2, parameter PW = 3, parameter PCW = 14,
               parameter W_ex_tag = 8) (
    input wire clk,
    input wire rst,
    input wire [W*4-1:0] off_kind,
    input wire [W*2-1:0] off_words,
    input wire [W*W_ex_tag-1:0] off_tag,
    input wire [W*PCW-1:0] off_pc,
    input wire take,
    input wire [W-1:0] take_sel,
    input wire [WW-1:0] take_warp,
    input wire [W-1:0] picked,
    input wire ex_fire,
    input wire [WW-1:0] warp_seen,
    output wire assume_one_warp, // any one warp is looked at
    output wire assume_take, // one warp at most is selected, and taken only where there is room
    output wire assume_fire, // only a pass that is in EX leaves it
    output wire keep_current, // the unit has the instruction that was taken, and the pass that is due
    output wire keep_ex, // EX has the pass that was issued last
    output wire keep_owed, // what the warp followed is owed is what is due
    output wire check_due, // a pass goes exactly if one is due and EX is free: no deadlock
    output wire check_order, // the passes of a warp go in order, each once, the last is told, and none behind it
    output wire check_whole, // no other instruction comes in before the last pass has gone
    output wire check_ex, // EX has each pass as it went, until it leaves
    output wire check_offer, // kind, counter and passes are those of the selected offer
    output wire check_room, // there is room exactly if nothing is due, or the last pass goes
    output wire check_busy, // a warp is busy while its offer is under way, or its release
    output wire check_quiet, // outputs without a pass are 0
    output wire cover_wide, // {% if AHEAD > 0 %}10{% else %}9{% endif %}: the last pass of an access of four words
    output wire cover_held, // {% if AHEAD > 0 %}5{% else %}4{% endif %}: a second pass waits for one in EX
    output wire cover_next // {% if AHEAD > 0 %}4{% else %}4{% endif %}: another warp is taken behind the last pass
);
    wire [PW-1:0] take_np, iss_pass, ex_pass;
    wire [3:0] take_kind, ex_kind;
    wire [PCW-1:0] take_pc, ex_pc;
    wire [WW-1:0] iss_warp, ex_warp;
    wire [W_ex_tag-1:0] ex_tag;
    wire [W-1:0] busy;
    wire room, iss_valid, iss_last, ex_valid, ex_last;
    spad_pass_issue unit (
        .clk(clk), .rst(rst), .off_kind(off_kind), .off_words(off_words), .off_tag(off_tag), .off_pc(off_pc),
        .take(take), .take_sel(take_sel), .take_warp(take_warp), .picked(picked), .ex_fire(ex_fire),
        .room(room), .busy(busy), .take_kind(take_kind), .take_pc(take_pc), .take_np(take_np),
        .iss_valid(iss_valid), .iss_warp(iss_warp), .iss_pass(iss_pass), .iss_last(iss_last),
        .ex_valid(ex_valid), .ex_warp(ex_warp), .ex_kind(ex_kind), .ex_tag(ex_tag), .ex_pc(ex_pc),
        .ex_pass(ex_pass), .ex_last(ex_last)
    );

    reg [WW-1:0] warp;
    always @(posedge clk) warp <= warp_seen;
    assign assume_one_warp = (warp == warp_seen) & (warp_seen < W);
    assign assume_take = ((take_sel & (take_sel - 1)) == 0) & ((take_sel == 0) | (take_sel[take_warp] & (take_warp < W)))
        & (!take | (room & (take_sel != 0)));
    assign assume_fire = !ex_fire | ex_valid;

    // The offer that is selected, and its passes by their definition.
    wire [3:0] kind = off_kind[take_warp*4 +: 4];
    wire [1:0] words = off_words[take_warp*2 +: 2];
    wire [W_ex_tag-1:0] tag = off_tag[take_warp*W_ex_tag +: W_ex_tag];
    wire [PCW-1:0] pc = off_pc[take_warp*PCW +: PCW];
    wire wide = (kind == 1) | (kind == 2);
    wire [PW:0] passes = wide & (words == 1) ? 2*S : wide & (words == 2) ? 4*S : S;

    // The instruction of which passes are due, the next of them, and EX.
    reg due, held;
    reg [WW-1:0] due_warp;
    reg [3:0] due_kind;
    reg [W_ex_tag-1:0] due_tag;
    reg [PCW-1:0] due_pc;
    reg [PW:0] due_passes, next;
    localparam PASS = WW + 4 + W_ex_tag + PCW + PW + 1;
    reg [PASS-1:0] in_ex;
    wire free = !held | ex_fire;
{%- if AHEAD > 0 %}
    wire first_now = 0;
{%- else %}
    wire first_now = take;
{%- endif %}
    wire goes = first_now | (due & free);
    wire [WW-1:0] going_warp = first_now ? take_warp : due_warp;
    wire [PW:0] going = first_now ? 0 : next;
    wire going_last = going + 1 == (first_now ? passes : due_passes);
    always @(posedge clk) begin
        if (rst) begin
            due <= 0;
            held <= 0;
        end else begin
            due <= (take & !(first_now & going_last)) | (due & !(goes & going_last));
            held <= goes | (held & !ex_fire);
        end
        if (take) begin
            due_warp <= take_warp;
            due_kind <= kind;
            due_tag <= tag;
            due_pc <= pc;
            due_passes <= passes;
            next <= first_now;
        end else if (goes) next <= next + 1;
        if (goes) in_ex <= first_now ? {take_warp, kind, tag, pc, {PW{1'b0}}, going_last}
            : {due_warp, due_kind, due_tag, due_pc, next[PW-1:0], going_last};
    end

    // What the warp followed is owed: passes of its last instruction, and how
    // many of them have gone.
    reg [PW:0] owed, gone;
    wire mine_taken = take & (take_warp == warp);
    wire mine_goes = iss_valid & (iss_warp == warp);
    wire [PW:0] owed_now = {% if AHEAD > 0 %}owed{% else %}mine_taken ? passes : owed{% endif %};
    wire [PW:0] gone_now = {% if AHEAD > 0 %}gone{% else %}mine_taken ? 0 : gone{% endif %};
    always @(posedge clk) begin
        if (rst) begin
            owed <= 0;
            gone <= 0;
        end else begin
            owed <= mine_taken ? passes : owed;
            gone <= {% if AHEAD > 0 %}mine_taken ? 0 : {% endif %}gone_now + mine_goes;
        end
    end

    (* hierconn *) wire \unit.cur_valid_q ;
    (* hierconn *) wire [WW-1:0] \unit.cur_warp_q ;
    (* hierconn *) wire [3:0] \unit.cur_kind_q ;
    (* hierconn *) wire [W_ex_tag-1:0] \unit.cur_tag_q ;
    (* hierconn *) wire [PCW-1:0] \unit.cur_pc_q ;
    (* hierconn *) wire [PW-1:0] \unit.cur_np_q , \unit.cur_next_q ;
    assign keep_current = (\unit.cur_valid_q == due) & (!due | ((\unit.cur_warp_q == due_warp) & (\unit.cur_kind_q == due_kind)
        & (\unit.cur_tag_q == due_tag) & (\unit.cur_pc_q == due_pc) & (\unit.cur_np_q + 1 == due_passes)
        & (\unit.cur_next_q == next) & (next < due_passes) & (due_warp < W)));
    assign keep_ex = (ex_valid == held) & (!held | ({ex_warp, ex_kind, ex_tag, ex_pc, ex_pass, ex_last} == in_ex));
    assign keep_owed = due & (due_warp == warp) ? (owed == due_passes) & (gone == next) : owed == gone;

    reg busy_right;
    integer w;
    always @* begin
        busy_right = 1;
        for (w = 0; w < W; w = w + 1)
{%- if AHEAD > 0 %}
            if (busy[w] != (picked[w] | (due & (due_warp == w) & ((next == 0) | (due_kind == 7))))) busy_right = 0;
{%- else %}
            if (busy[w]) busy_right = 0;
{%- endif %}
    end
    assign check_due = iss_valid == goes;
    assign check_order = !mine_goes | ((gone_now < owed_now) & (iss_pass == gone_now) & (iss_last == (gone_now + 1 == owed_now)));
    assign check_whole = !mine_taken | (owed == gone){% if AHEAD > 0 %} | (mine_goes & iss_last){% endif %};
    assign check_ex = (ex_valid == held) & (!held | ({ex_warp, ex_kind, ex_tag, ex_pc, ex_pass, ex_last} == in_ex));
    assign check_offer = (take_sel == 0) | ((take_kind == kind) & (take_pc == pc) & (take_np + 1 == passes));
    assign check_room = room == {% if AHEAD > 0 %}(!due | (goes & going_last)){% else %}(!due & free){% endif %};
    assign check_busy = busy_right;
    assign check_quiet = iss_valid ? iss_warp == going_warp : (iss_warp == 0) & (iss_pass == 0) & !iss_last;
    assign cover_wide = mine_goes & iss_last & (iss_pass == 4*S - 1) & !rst;
    assign cover_held = held & !ex_fire & due & (next == 1) & (due_warp == warp) & !rst;
    assign cover_next = take & (take_warp != warp) & (owed == S) & (gone_now + mine_goes == owed) & !rst;
endmodule
