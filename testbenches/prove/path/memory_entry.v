// spad_memory_entry: a pass that is marked as it comes in leaves PREMEM as it
// came, behind exactly those before it: as a request, or as an atomic to the
// sequencer, which works for one atomic after the other, in the order in which
// they came (microarchitecture/memory-entry.md).
module miter #(parameter L = 2, parameter m = 3, parameter R = 6, parameter LK = 5, parameter WW = 2, parameter DG = 2,
               parameter PQ = 3, parameter S = 4, parameter W_in_ctl = 33, parameter W_in_data = 64, parameter W_in_be = 8,
               parameter W_req_tag = 37, parameter W_pre_count = 2) (
    input wire clk,
    input wire rst,
    input wire cfg_elastic,
    input wire take_atomic,
    input wire in_valid,
    input wire [W_in_ctl-1:0] in_ctl,
    input wire [L-1:0] in_mask,
    input wire [L*m-1:0] in_bank,
    input wire [L*R-1:0] in_row,
    input wire [L*LK-1:0] in_lock,
    input wire [W_in_data-1:0] in_data,
    input wire [W_in_be-1:0] in_be,
    input wire [3:0] in_aop,
    input wire req_ready,
    input wire sr_valid,
    input wire [L-1:0] sr_mask,
    input wire [W_in_data-1:0] sr_data,
    input wire [L-1:0] sr_success,
    input wire sr_error,
    input wire [DG-1:0] sr_degree,
    input wire mark,
    output wire assume_static, // elastic or not, that changes only while PREMEM is empty
    output wire assume_taken, // an ATOMIC is taken only while none is in flight
    output wire assume_passes, // passes of kind ATOMIC come from the one that was taken: S of them, the last one says so
    output wire keep_queue, // PREMEM holds what came in and did not leave, and does so only where it is elastic
    output wire keep_atomics, // the atomics in PREMEM, behind it and still to come are at most one instruction's
    output wire keep_last, // the last of these, and no other, says that it is the last
    output wire keep_sequencer, // the sequencer is at an atomic that came, and its tag has room for its answer
    output wire keep_marked, // the marked pass stands where it should
    output wire check_order, // every pass is requested in its turn and as it came, with its kind's operation, for itself
    output wire check_atomic, // an ATOMIC is not requested; it leaves in its turn, and as soon as it is at the head
    output wire check_handed, // the sequencer gets every ATOMIC in its turn and as it came
    output wire check_context, // what the sequencer requests is for the ATOMIC whose turn it is: its control and places
    output wire check_source, // answers that the sequencer waits for say so, no others; it asks with all bytes
    output wire check_there, // who asks is there: the sequencer has an ATOMIC, PREMEM or the input a pass
    output wire check_ready, // a pass is taken if one leaves, or none need wait, or PREMEM is elastic and has room
    output wire check_elastic, // PREMEM holds nothing where it is not elastic
    output wire check_count, // `pre_count` is passes in minus passes out, at most PQ
    output wire check_in_flight, // `atom_infl` is 1 from the cycle behind the take to the end of the last pass, no longer
    output wire cover_queue, // 7: the marked pass leaves a full PREMEM, another comes
    output wire cover_between, // 8: a pass is requested while the sequencer is at an ATOMIC
    output wire cover_behind, // 6: an ATOMIC waits for the one before it, outside of PREMEM
    output wire cover_end // 14: the last pass of an ATOMIC ends
);
    localparam IDLE = 0, ATOMIC = 5;
    wire in_ready, req_valid, seq_busy, atom_infl;
    wire [2:0] req_op, seq_state;
    wire [L-1:0] req_mask;
    wire [L*m-1:0] req_bank;
    wire [L*R-1:0] req_row;
    wire [L*LK-1:0] req_lock;
    wire [W_in_data-1:0] req_data;
    wire [W_in_be-1:0] req_be;
    wire [W_req_tag-1:0] req_tag;
    wire [W_pre_count-1:0] pre_count;
    spad_memory_entry unit (
        .clk(clk), .rst(rst), .cfg_elastic(cfg_elastic), .take_atomic(take_atomic), .in_valid(in_valid), .in_ready(in_ready),
        .in_ctl(in_ctl), .in_mask(in_mask), .in_bank(in_bank), .in_row(in_row), .in_lock(in_lock), .in_data(in_data),
        .in_be(in_be), .in_aop(in_aop), .req_valid(req_valid), .req_ready(req_ready), .req_op(req_op), .req_mask(req_mask),
        .req_bank(req_bank), .req_row(req_row), .req_lock(req_lock), .req_data(req_data), .req_be(req_be), .req_tag(req_tag),
        .atom_infl(atom_infl), .sr_valid(sr_valid), .sr_mask(sr_mask), .sr_data(sr_data), .sr_success(sr_success),
        .sr_error(sr_error), .sr_degree(sr_degree), .seq_busy(seq_busy), .seq_state(seq_state), .pre_count(pre_count)
    );

    // A pass, its control in the low bits, and what the sequencer keeps of it
    // all the time: everything but data and byte enables.
    localparam PLACES = L*LK + L*R + L*m;
    localparam PASS = 4 + W_in_be + W_in_data + PLACES + L + W_in_ctl;
    localparam KEPT = 4 + PLACES + L + W_in_ctl;
    wire [PASS-1:0] in_pass = {in_aop, in_be, in_data, in_lock, in_row, in_bank, in_mask, in_ctl};
    wire [3:0] in_kind = in_ctl[WW +: 4];
    wire in_last = in_ctl[W_in_ctl-1];

    // Who comes and who goes, as the ports tell: where the sequencer does not
    // ask, a head that is not requested is an ATOMIC, and goes.
    wire take = in_valid & in_ready;
    wire there;
    wire requested = !seq_busy & req_valid & req_ready;
    wire moved = !seq_busy & !req_valid & there;
    wire leaves = requested | moved;
    wire source = req_tag[0];
    wire ends = seq_busy & req_ready & !source;

    // Passes in PREMEM, ATOMICs among them, ATOMICs behind it, and those that
    // are still to come of the instruction that was taken.
    reg [W_pre_count:0] inside, inside_atomic;
    reg [3:0] behind, due;
    assign there = (inside != 0) | in_valid;
    wire [4:0] in_flight = inside_atomic + behind + due;
    wire take_one = take & (in_kind == ATOMIC);
    always @(posedge clk) begin
        if (rst) begin
            inside <= 0;
            inside_atomic <= 0;
            behind <= 0;
            due <= 0;
        end else begin
            inside <= inside + take - leaves;
            inside_atomic <= inside_atomic + take_one - moved;
            behind <= behind + moved - ends;
            due <= (take_atomic ? S : due) - take_one;
        end
    end
    reg was_elastic;
    always @(posedge clk) was_elastic <= cfg_elastic;
    assign assume_static = (inside == 0) | (cfg_elastic == was_elastic);
    assign assume_taken = !take_atomic | !atom_infl;
    assign assume_passes = !in_valid | (in_kind != ATOMIC) | ((due != 0) & (in_last == (due == 1)));

    // The marked pass, where it is, and how many are before it there.
    reg marked, is_behind;
    reg [3:0] ahead;
    reg [PASS-1:0] what;
    wire [3:0] kind = what[WW +: 4];
    wire through = take & (inside == 0) & leaves;
    wire at_head = marked & !is_behind & (ahead == 0);
    wire at_work = marked & is_behind & (ahead == 0);
    always @(posedge clk) begin
        if (rst) marked <= 0;
        else if (marked) begin
            if (at_head & leaves) begin
                marked <= moved;
                is_behind <= 1;
                ahead <= behind - ends;
            end else if (is_behind ? ends : leaves) begin
                ahead <= ahead - 1;
                marked <= !at_work;
            end
        end else if (take & mark & !(through & requested)) begin
            marked <= 1;
            is_behind <= through;
            ahead <= through ? behind - ends : inside - leaves;
            what <= in_pass;
        end
    end

    // Where the unit has them.
    (* hierconn *) wire [PQ*PASS-1:0] \unit.premem.entry_q ;
    (* hierconn *) wire [PQ*PASS-1:0] \unit.atomics.entry_q ;
    (* hierconn *) wire [W_pre_count-1:0] \unit.atomics.held_q ;
    (* hierconn *) wire [3:0] \unit.sequencer.aop_q ;
    (* hierconn *) wire [L-1:0] \unit.sequencer.mask0_q , \unit.sequencer.asks_q ;
    (* hierconn *) wire \unit.sequencer.asking_q , \unit.sequencer.sent_q ;
    (* hierconn *) wire [L*m-1:0] \unit.sequencer.bank_q ;
    (* hierconn *) wire [L*R-1:0] \unit.sequencer.row_q ;
    (* hierconn *) wire [L*LK-1:0] \unit.sequencer.lock_q ;
    (* hierconn *) wire [W_req_tag-1:0] \unit.sequencer.tag_q ;
    wire [PQ*PASS-1:0] first_queue = \unit.premem.entry_q ;
    wire [PQ*PASS-1:0] second_queue = \unit.atomics.entry_q ;
    wire [W_pre_count-1:0] waiting = \unit.atomics.held_q ;
    wire [W_req_tag-1:0] tag = \unit.sequencer.tag_q ;
    wire busy = seq_state != IDLE;
    wire [KEPT-1:0] at_sequencer = { \unit.sequencer.aop_q , \unit.sequencer.lock_q , \unit.sequencer.row_q , \unit.sequencer.bank_q ,
        \unit.sequencer.mask0_q , tag[W_req_tag-1 -: W_in_ctl]};
    wire [KEPT-1:0] kept = {what[PASS-1 -: 4], what[0 +: PLACES + L + W_in_ctl]};
    integer k;
    reg in_place, last_right;
    reg [3:0] counted, younger;
    always @* begin
        in_place = is_behind & busy & (ahead == 0) & (at_sequencer == kept);
        counted = 0;
        // From the youngest: how many of the instruction come behind each.
        last_right = 1;
        younger = due;
        for (k = PQ - 1; k >= 0; k = k - 1) if (k < inside) begin
            if (!is_behind & (ahead == k) & (first_queue[k*PASS +: PASS] == what)) in_place = 1;
            if (first_queue[k*PASS + WW +: 4] == ATOMIC) begin
                if (first_queue[k*PASS + W_in_ctl - 1] != (younger == 0)) last_right = 0;
                counted = counted + 1;
                younger = younger + 1;
            end
        end
        for (k = PQ - 1; k >= 0; k = k - 1) if (k < waiting) begin
            if (is_behind & (ahead == k + busy) & (second_queue[k*PASS +: PASS] == what)) in_place = 1;
            if (second_queue[k*PASS + W_in_ctl - 1] != (younger == 0)) last_right = 0;
            if (second_queue[k*PASS + WW +: 4] != ATOMIC) last_right = 0;
            younger = younger + 1;
        end
        if (busy & (tag[W_req_tag-1] != (younger == 0))) last_right = 0;
    end
    assign keep_queue = (pre_count == inside) & (inside <= PQ) & ((inside == 0) | was_elastic);
    assign keep_atomics = (counted == inside_atomic) & (behind == waiting + busy) & (waiting <= PQ) & (in_flight <= S)
        & (atom_infl == (in_flight != 0));
    assign keep_last = last_right;
    wire locks = ((seq_state == 1) | (seq_state == 3)) & ! \unit.sequencer.sent_q ;
    assign keep_sequencer = (seq_state <= 5) & (!busy | (tag[DG+1:0] == 0))
        & ( \unit.sequencer.asking_q == (locks | (seq_state == 5))) & (locks | ( \unit.sequencer.asks_q == 0));
    assign keep_marked = !marked | (in_place & (ahead < (is_behind ? behind : inside)) & (!is_behind | (kind == ATOMIC)));

    // The head: the marked pass, or the one at the input that meets an empty PREMEM.
    wire known = at_head | ((inside == 0) & in_valid);
    wire [PASS-1:0] head = at_head ? what : in_pass;
    wire [3:0] head_kind = head[WW +: 4];
    wire [2:0] head_op = (head_kind == 0) | (head_kind == 6) | (head_kind == 7) ? 0 : head_kind <= 4 ? head_kind[2:0] : 7;
    wire [W_in_be+W_in_data+PLACES+L-1:0] req = {req_be, req_data, req_lock, req_row, req_bank, req_mask};
    assign check_order = seq_busy | !known | (head_kind == ATOMIC) | (req_valid & (req_op == head_op)
        & (req == head[PASS-5 : W_in_ctl]) & (req_tag == {head[W_in_ctl-1:0], {(DG+2){1'b0}}}));
    assign check_atomic = seq_busy | !known | (head_kind != ATOMIC) | (!req_valid & in_ready);

    // The sequencer takes the oldest ATOMIC behind PREMEM: the marked one, or
    // one that has just come by.
    (* hierconn *) wire \unit.at_valid ;
    (* hierconn *) wire [PASS-1:0] \unit.atomics.out_data ;
    wire handed = \unit.at_valid & !busy;
    wire passes_by = moved & (behind == 0);
    assign check_handed = (!handed | !at_work | ( \unit.atomics.out_data == what))
        & (!passes_by | !known | busy | (handed & ( \unit.atomics.out_data == head)));

    // What it asks for: the places of the lanes that take part, and no others.
    reg places;
    integer i;
    always @* begin
        places = 1;
        for (i = 0; i < L; i = i + 1) if (source & req_mask[i] & ((req_bank[i*m +: m] != what[W_in_ctl + L + i*m +: m])
            | (req_row[i*R +: R] != what[W_in_ctl + L + L*m + i*R +: R])
            | (req_lock[i*LK +: LK] != what[W_in_ctl + L + L*m + L*R + i*LK +: LK]))) places = 0;
    end
    wire [L-1:0] mask = what[W_in_ctl +: L];
    assign check_context = !seq_busy | !at_work | ((req_tag[W_req_tag-1 -: W_in_ctl] == what[W_in_ctl-1:0]) & places
        & (source | (req_mask == mask)));
    assign check_source = !req_valid | (seq_busy ? (source == ((req_op == 3) | (req_op == 4))) & (source | (req_op == 0)) & (&req_be)
        : !source);
    assign check_there = seq_busy ? req_valid & (behind != 0) : !req_valid | there;
    assign check_ready = in_ready == ((cfg_elastic & (inside < PQ)) | (!seq_busy & (req_ready | moved)));
    assign check_elastic = cfg_elastic | (inside == 0);
    assign check_count = (pre_count == inside) & (inside <= PQ);
    assign check_in_flight = atom_infl == (in_flight != 0);
    assign cover_queue = at_head & leaves & take & (inside == PQ) & !rst;
    assign cover_between = requested & busy & !rst;
    assign cover_behind = busy & (waiting != 0) & !rst;
    assign cover_end = ends & req_tag[W_req_tag-1] & !rst;
endmodule
