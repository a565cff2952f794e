// spad_conflict_history: what was updated is found, until two other program
// counters of its set have been updated or everything is cleared
// (microarchitecture/conflict-history.md). One program counter is followed; it
// may be any. The words of the memories are named: two sets. The updates under
// way, the one that is being written and the one behind it, are counted as
// written.
module miter #(parameter SETS = 2, parameter PCW = 14, parameter EX = 3) (
    input wire clk,
    input wire rst,
    input wire clear,
    input wire lk_valid,
    input wire [PCW-1:0] lk_pc,
    input wire up_valid,
    input wire [PCW-1:0] up_pc,
    input wire [EX-1:0] up_excess,
    input wire [PCW-1:0] pc_seen,
    output wire assume_one_pc, // any one program counter is looked at
    output wire keep_there, // it is in exactly one way with its value, or in none; the set's last update is known
    output wire keep_order, // way 0 is taken first: the last update chose the free way until both are taken
    output wire keep_copy, // the tags that updates read are those that look-ups read
    output wire keep_tags, // an update knows the tags of its set, and the update before it
    output wire keep_answer, // the answer is that to the look-up before
    output wire check_one_way, // never in both ways
    output wire check_found, // it is found with its last value until two others of its set have been updated
    output wire check_gone, // it is not found before its first update, behind a clear, and once two others have been updated
    output wire check_answer, // an answer behind each look-up, and only then; without a hit it is 0
    output wire cover_found, // 4: an update is found
    output wire cover_kept, // 6: found behind an update of another of its set
    output wire cover_gone // 7: replaced
);
    localparam SETW = $clog2(SETS);
    localparam TAG = PCW - SETW;
    wire lk_done, lk_hit;
    wire [EX-1:0] lk_excess;
    spad_conflict_history unit (
        .clk(clk), .rst(rst), .clear(clear), .lk_valid(lk_valid), .lk_pc(lk_pc), .lk_done(lk_done),
        .lk_hit(lk_hit), .lk_excess(lk_excess), .up_valid(up_valid), .up_pc(up_pc), .up_excess(up_excess)
    );
    (* hierconn *) wire [TAG+EX-1:0] \unit.entries0.mem[0] ;
    (* hierconn *) wire [TAG+EX-1:0] \unit.entries0.mem[1] ;
    (* hierconn *) wire [TAG+EX-1:0] \unit.entries1.mem[0] ;
    (* hierconn *) wire [TAG+EX-1:0] \unit.entries1.mem[1] ;
    (* hierconn *) wire [TAG-1:0] \unit.tags0.mem[0] ;
    (* hierconn *) wire [TAG-1:0] \unit.tags0.mem[1] ;
    (* hierconn *) wire [TAG-1:0] \unit.tags1.mem[0] ;
    (* hierconn *) wire [TAG-1:0] \unit.tags1.mem[1] ;
    (* hierconn *) wire [TAG-1:0] \unit.tag0 ;
    (* hierconn *) wire [TAG-1:0] \unit.tag1 ;
    (* hierconn *) wire \unit.update_valid_q , \unit.write_valid_q ;
    (* hierconn *) wire [PCW-1:0] \unit.update_pc_q ;
    (* hierconn *) wire [PCW-1:0] \unit.write_pc_q ;
    (* hierconn *) wire [EX-1:0] \unit.update_excess_q ;
    (* hierconn *) wire [EX-1:0] \unit.write_excess_q ;
    (* hierconn *) wire \unit.update_beside0_q , \unit.update_beside1_q , \unit.update_twice_q ;
    (* hierconn *) wire \unit.update_behind_q , \unit.update_same_q ;
    (* hierconn *) wire \unit.update_valid1_q , \unit.update_lru_q ;
    (* hierconn *) wire \unit.update_way , \unit.write_way_q ;
    (* hierconn *) wire [SETS-1:0] \unit.valid0_q ;
    (* hierconn *) wire [SETS-1:0] \unit.valid1_q ;
    (* hierconn *) wire [SETS-1:0] \unit.lru_q ;

    reg [PCW-1:0] pc;
    always @(posedge clk) pc <= pc_seen;
    assign assume_one_pc = pc == pc_seen;
    wire set = pc[0];
    wire [TAG-1:0] tag = pc[PCW-1:1];
    // What is in the set, what will be with the update that is being written,
    // and with the one behind it.
    wire [TAG+EX-1:0] entry0 = set ? \unit.entries0.mem[1] : \unit.entries0.mem[0] ;
    wire [TAG+EX-1:0] entry1 = set ? \unit.entries1.mem[1] : \unit.entries1.mem[0] ;
    wire [TAG-1:0] copy0 = set ? \unit.tags0.mem[1] : \unit.tags0.mem[0] ;
    wire [TAG-1:0] copy1 = set ? \unit.tags1.mem[1] : \unit.tags1.mem[0] ;
    wire now = \unit.write_valid_q & (\unit.write_pc_q [0] == set);
    wire now0 = now & !\unit.write_way_q ;
    wire now1 = now & \unit.write_way_q ;
    wire [TAG-1:0] now_tag = \unit.write_pc_q [PCW-1:1];
    wire next = \unit.update_valid_q & (\unit.update_pc_q [0] == set);
    wire next0 = next & !\unit.update_way ;
    wire next1 = next & \unit.update_way ;
    wire [TAG-1:0] next_tag = \unit.update_pc_q [PCW-1:1];
    wire [TAG-1:0] tag0 = next0 ? next_tag : now0 ? now_tag : entry0[TAG+EX-1:EX];
    wire [TAG-1:0] tag1 = next1 ? next_tag : now1 ? now_tag : entry1[TAG+EX-1:EX];
    wire [EX-1:0] excess0 = next0 ? \unit.update_excess_q : now0 ? \unit.write_excess_q : entry0[EX-1:0];
    wire [EX-1:0] excess1 = next1 ? \unit.update_excess_q : now1 ? \unit.write_excess_q : entry1[EX-1:0];
    wire now_valid0 = now0 | \unit.valid0_q [set];
    wire now_valid1 = now1 | \unit.valid1_q [set];
    wire now_lru = now ? !\unit.write_way_q : \unit.lru_q [set];
    wire valid0 = next0 | now_valid0;
    wire valid1 = next1 | now_valid1;
    wire lru = next ? !\unit.update_way : now_lru;
    wire in0 = valid0 & (tag0 == tag);
    wire in1 = valid1 & (tag1 == tag);

    // Known with its value, and the other one that was updated since, if any.
    reg known, passed;
    reg [EX-1:0] value;
    reg [PCW-1:0] other;
    wire update = up_valid & (up_pc == pc);
    wire neighbour = up_valid & (up_pc != pc) & (up_pc[0] == pc[0]);
    always @(posedge clk) begin
        if (rst | clear) begin
            known <= 0;
            passed <= 0;
        end else if (update) begin
            known <= 1;
            passed <= 0;
            value <= up_excess;
        end else if (neighbour & known) begin
            if (passed & (up_pc != other)) known <= 0;
            passed <= 1;
            other <= up_pc;
        end
    end
    reg was_look, was_it, was_known, was_rst, was_any;
    reg [EX-1:0] was_value;
    always @(posedge clk) begin
        was_rst <= rst;
        was_any <= lk_valid;
        was_look <= lk_valid & (lk_pc == pc);
        was_known <= known;
        was_value <= value;
    end
    assign keep_there = !(in0 & in1) & ((in0 | in1) == known) & (!known | ((in0 ? excess0 : excess1) == value))
        & (!known | (lru == (passed ? in1 : in0)))
        & (!known | !passed | ((in0 ? valid1 & ({tag1, set} == other) : valid0 & ({tag0, set} == other)) & (other != pc)));
    assign keep_order = (\unit.valid0_q [set] | !\unit.valid1_q [set])
        & ((\unit.valid0_q [set] & \unit.valid1_q [set]) | (\unit.lru_q [set] == \unit.valid0_q [set]))
        & (now_valid0 | !now_valid1) & ((now_valid0 & now_valid1) | (now_lru == now_valid0));
    assign keep_copy = (!\unit.valid0_q [set] | (copy0 == entry0[TAG+EX-1:EX]))
        & (!\unit.valid1_q [set] | (copy1 == entry1[TAG+EX-1:EX]));
    assign keep_tags = !next
        | ((\unit.update_valid1_q == \unit.valid1_q [set]) & (\unit.update_lru_q == \unit.lru_q [set])
            & (\unit.update_behind_q == now) & (!now | (\unit.update_same_q == (now_tag == next_tag)))
            & (!\unit.update_beside0_q | (\unit.valid0_q [set] & (\unit.update_twice_q == (copy0 == next_tag))))
            & (!\unit.update_beside1_q | (\unit.valid1_q [set] & (\unit.update_twice_q == (copy1 == next_tag))))
            & (\unit.update_beside0_q | !\unit.valid0_q [set] | (\unit.tag0 == copy0))
            & (\unit.update_beside1_q | !\unit.valid1_q [set] | (\unit.tag1 == copy1)));
    assign keep_answer = was_rst | ((lk_done == was_any) & (!was_look | (lk_hit == was_known))
        & (!was_look | !was_known | (lk_excess == was_value)));
    assign check_one_way = !(in0 & in1);
    assign check_found = was_rst | !was_look | !was_known | (lk_hit & (lk_excess == was_value));
    assign check_gone = was_rst | !was_look | was_known | !lk_hit;
    assign check_answer = (lk_done == (was_any & !was_rst)) & (!lk_hit | lk_done) & (lk_hit | (lk_excess == 0));
    assign cover_found = lk_hit & was_look & (lk_excess == 3) & !rst;
    assign cover_kept = lk_hit & was_look & passed & !rst;
    assign cover_gone = (value != 0) & was_look & !lk_hit & passed & !rst & valid0 & valid1;
endmodule
