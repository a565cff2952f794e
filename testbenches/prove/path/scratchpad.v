{#- MS stages. A request waits in MEM0, the arbiter (0 in names here); from x
its groups reach banks and locks, in y the banks show their words, in z the
response goes. All of them move together, so each of x, y, z holds what the
stage before it held when they last moved. -#}
{% if MS == 2 %}{% set x = 0 %}{% else %}{% set x = 1 %}{% endif -%}
{% set y = x + 1 %}{% set z = MS - 1 -%}
{% set is_cut = MS > 2 %}{% set has_y = MS > 3 -%}
// spad_scratchpad in {{ MS }} stages: every request is answered once, in order and on
// time; a load reads what the accesses before it stored; of the lanes that ask
// for a free lock exactly one takes it (microarchitecture/scratchpad.md). One word, byte, lane, and
// lock are followed; they may be any. The words of the banks are named.
module miter #(parameter L = 4, parameter LW = 2, parameter m = 3, parameter B = 8, parameter R = 6,
               parameter ROWS = 4, parameter D = 32, parameter LK = 5, parameter LOCKS = 32, parameter LKG = 2,
               parameter MERGE = 1, parameter DG = 3, parameter W_req_tag = 8) (
    input wire clk,
    input wire rst,
    input wire req_valid,
    input wire [2:0] req_op,
    input wire [L-1:0] req_mask,
    input wire [L*m-1:0] req_bank,
    input wire [L*R-1:0] req_row,
    input wire [L*LK-1:0] req_lock,
    input wire [L*D-1:0] req_data,
    input wire [L*D/8-1:0] req_be,
    input wire [W_req_tag-1:0] req_tag,
    input wire resp_ready,
    input wire [m-1:0] bank_seen,
    input wire [R-1:0] row_seen,
    input wire [$clog2(D/8)-1:0] byte_seen,
    input wire [LW-1:0] lane_seen,
    input wire [LK-1:0] lock_seen,
    input wire mark,
    output wire assume_one_byte, // any one byte of the capacity is looked at
    output wire assume_one_lane, // any one lane is looked at
    output wire assume_one_lock, // any one lock is looked at
    output wire assume_word_lock, // lanes on one word have one lock, as the hash stage gives it
    output wire keep_request, // MEM0 has the request that was taken
    output wire keep_waiting, // its arbiter waits for the lanes that have not been served
    output wire keep_pairs, // the arbiter knows which lanes share a bank, which clash, and its last group
    output wire keep_window, // and stands at the window of the locks
{%- if is_cut %}
    output wire keep_group, // the stage in front of the banks has a group with all that belongs to it
    output wire keep_from_first, // behind a group that is not its access's last comes the next one of it, else a first one
{%- endif %}
    output wire keep_behind, // the stages behind the banks have what passed these
    output wire keep_next, // and stand in the order of the groups
    output wire keep_marked, // the marked request stands where it should
    output wire keep_together, // lanes on the word wait together
    output wire keep_store, // the byte that the access at the banks leaves is that of its data
    output wire keep_word, // the word is as the stores leave it, up to the one at the banks
    output wire keep_read, // what a load has read so far is on its way, or set aside
    output wire keep_passed, // the data of a pass are on their way, or set aside
    output wire keep_lock, // the lock is as the accesses leave it, up to the one at the banks
    output wire keep_winner, // a free lock that was asked for has its winner
    output wire check_answered, // each request is answered once, when all its groups have been served
    output wire check_order, // a response is that of the oldest request without one
    output wire check_fields, // operation, mask, tag, error, degree are those of the request
    output wire check_ready, // a request is taken when MEM0 is free or gives its last group
    output wire check_busy, // a conflict and a block are told
    output wire check_stages, // it is told where accesses end
    output wire check_stall, // a response that is not taken stays as it is
    output wire check_load, // a load reads what the stores before it left, merged byte by byte
    output wire check_pass, // the data of a pass come back
    output wire check_silent, // other data are 0
    output wire check_memory, // nothing but a store that is not refused changes memory
    output wire check_winner, // a free lock that is asked for has one winner, a held one none
    output wire check_losers, // nobody else succeeds
    output wire check_lock, // nothing but lock operations that are not refused changes a lock
    output wire cover_merged, // {{ MS + 3 }}: a load of a byte that a higher lane stored beside a lower one
    output wire cover_conflict, // {{ MS + 4 }}: a load of degree 2 read the word in its first group
    output wire cover_held, // {{ MS + 5 }}: a lock that an earlier access took is refused
    output wire cover_error, // {{ MS + 3 }}: a store beyond the capacity while a response is held
    output wire cover_pass, // {{ MS + 2 }}: the data of a pass come back
    output wire cover_full // {{ MS + 2 }}: a request in each stage, the last of them marked
);
    wire req_ready, resp_valid, resp_error, busy_more, blocked;
    wire [2:0] resp_op;
    wire [L-1:0] resp_mask, resp_success;
    wire [W_req_tag-1:0] resp_tag;
    wire [L*D-1:0] resp_data;
    wire [DG-1:0] resp_degree;
    wire [{{ MS - 2 }}:0] stages;
    spad_scratchpad unit (
        .clk(clk), .rst(rst),
        .req_valid(req_valid), .req_ready(req_ready), .req_op(req_op), .req_mask(req_mask), .req_bank(req_bank),
        .req_row(req_row), .req_lock(req_lock), .req_data(req_data), .req_be(req_be), .req_tag(req_tag),
        .resp_valid(resp_valid), .resp_ready(resp_ready), .resp_op(resp_op), .resp_mask(resp_mask),
        .resp_tag(resp_tag), .resp_data(resp_data), .resp_success(resp_success), .resp_error(resp_error),
        .resp_degree(resp_degree), .stages(stages), .busy_more(busy_more), .blocked(blocked)
    );

    // What is looked at.
    reg [m-1:0] bank;
    reg [R-1:0] row;
    reg [$clog2(D/8)-1:0] byte_no;
    reg [LW-1:0] lane;
    reg [LK-1:0] lock;
    always @(posedge clk) begin
        bank <= bank_seen;
        row <= row_seen;
        byte_no <= byte_seen;
        lane <= lane_seen;
        lock <= lock_seen;
    end
    assign assume_one_byte = (bank == bank_seen) & (row == row_seen) & (row < ROWS) & (byte_no == byte_seen);
    assign assume_one_lane = lane == lane_seen;
    assign assume_one_lock = lock == lock_seen;

    // The request that is offered, by the definition of the operations.
    integer i;
    reg beyond;
    always @* begin
        beyond = 0;
        for (i = 0; i < L; i = i + 1)
            if (req_mask[i] & (req_row[i*R +: R] >= ROWS)) beyond = 1;
    end
    wire words_agree;
    one_lock_per_word #(.L(L), .m(m), .R(R), .LK(LK)) of_request (
        .mask(req_mask), .bank(req_bank), .row(req_row), .lock(req_lock), .holds(words_agree));
    assign assume_word_lock = words_agree;
    wire refused = (req_op >= 5) | ((req_op != 0) & beyond);
    wire accessing = (req_op != 0) & !refused;
    wire fire = req_valid & req_ready;

    // All stages move, unless a response is not taken.
    wire in_z, last_z;
    wire adv = resp_ready | !(in_z & last_z);

    // MEM0: the request that was taken, and the lanes that wait in it.
    reg in_0, access_0, error_0;
    reg [2:0] op_0;
    reg [L-1:0] mask_0, waiting_0;
    reg [L*m-1:0] bank_0;
    reg [L*R-1:0] row_0;
    reg [L*LK-1:0] lock_0;
    reg [L*D-1:0] data_0;
    reg [L*D/8-1:0] be_0;
    reg [W_req_tag-1:0] tag_0;
    reg [DG:0] steps_0;
    reg [2:0] window_0;
    wire [L-1:0] leader_0, served_0;
    wire [B-1:0] used_0;
    group #(.L(L), .m(m), .R(R)) group_0 (
        .waiting(waiting_0), .bank(bank_0), .row(row_0), .leader(leader_0), .served(served_0), .used(used_0));
    wire [L*D/8-1:0] writes_0;
    writers #(.L(L), .m(m), .DB(D/8), .MERGE(MERGE)) writers_0 (
        .served(served_0), .leader(leader_0), .bank(bank_0), .be(be_0), .writes(writes_0));
    wire [L-1:0] left_0 = waiting_0 & ~served_0;
    wire locking_0 = access_0 & ((op_0 == 3) | (op_0 == 4));
    wire served_up_0 = !locking_0 | (window_0 == LKG - 1);
    wire last_0 = (left_0 == 0) & served_up_0;
    wire [DG-1:0] degree_0 = access_0 & (mask_0 != 0) ? steps_0 + 1 : 0;
    wire end_0 = in_0 & adv & last_0;
    always @(posedge clk) begin
        if (rst) begin
            in_0 <= 0;
            waiting_0 <= 0;
            window_0 <= 0;
        end else begin
            in_0 <= fire | (in_0 & !end_0);
            if (fire) waiting_0 <= accessing ? req_mask : 0;
            else if (in_0 & adv & served_up_0) waiting_0 <= left_0;
            if (in_0 & adv & locking_0) window_0 <= window_0 == LKG - 1 ? 0 : window_0 + 1;
        end
        if (fire) begin
            access_0 <= accessing;
            error_0 <= refused;
            op_0 <= req_op;
            mask_0 <= req_mask;
            bank_0 <= req_bank;
            row_0 <= req_row;
            lock_0 <= req_lock;
            data_0 <= req_data;
            be_0 <= req_be;
            tag_0 <= req_tag;
            steps_0 <= 0;
        end else if (in_0 & adv & served_up_0) steps_0 <= steps_0 + 1;
    end

    // The stage from which a group reaches banks and locks, MEM{{ x }}, and the
    // request that comes there with its first group.
    wire in_x, last_x, access_x, error_x, locking_x, served_up_x;
    wire [2:0] op_x, window_x;
    wire [L-1:0] mask_x, waiting_x, leader_x, served_x;
    wire [B-1:0] used_x;
    wire [L*m-1:0] bank_x;
    wire [L*R-1:0] row_x;
    wire [L*LK-1:0] lock_x;
    wire [L*D-1:0] data_x;
    wire [L*D/8-1:0] be_x, writes_x;
    wire [W_req_tag-1:0] tag_x;
    wire [DG-1:0] degree_x;
    localparam GROUP = 5 + 6 + 4*L + B + L*m + L*R + L*LK + L*D + 2*(L*D/8) + W_req_tag + DG;
    wire [GROUP-1:0] group_in_0 = {last_0, access_0, error_0, locking_0, served_up_0, op_0, window_0, mask_0, waiting_0,
        leader_0, served_0, used_0, bank_0, row_0, lock_0, data_0, be_0, writes_0, tag_0, degree_0};
{%- if is_cut %}
    reg came_x;
    reg [GROUP-1:0] group_in_x;
    always @(posedge clk) begin
        if (rst) came_x <= 0;
        else if (adv) came_x <= in_0;
        if (adv) group_in_x <= group_in_0;
    end
    assign in_x = came_x;
    wire within_access_x = in_x & !last_x;
    wire comes = in_0 & adv & !within_access_x;
    wire come_access = access_0;
    wire [2:0] come_op = op_0;
    wire [L-1:0] come_mask = mask_0;
    wire [L*m-1:0] come_bank = bank_0;
    wire [L*R-1:0] come_row = row_0;
    wire [L*LK-1:0] come_lock = lock_0;
    wire [L*D-1:0] come_data = data_0;
    wire [L*D/8-1:0] come_be = be_0;
{%- else %}
    wire [GROUP-1:0] group_in_x = group_in_0;
    assign in_x = in_0;
    wire comes = fire;
    wire come_access = accessing;
    wire [2:0] come_op = req_op;
    wire [L-1:0] come_mask = req_mask;
    wire [L*m-1:0] come_bank = req_bank;
    wire [L*R-1:0] come_row = req_row;
    wire [L*LK-1:0] come_lock = req_lock;
    wire [L*D-1:0] come_data = req_data;
    wire [L*D/8-1:0] come_be = req_be;
{%- endif %}
    assign {last_x, access_x, error_x, locking_x, served_up_x, op_x, window_x, mask_x, waiting_x,
        leader_x, served_x, used_x, bank_x, row_x, lock_x, data_x, be_x, writes_x, tag_x, degree_x} = group_in_x;
    wire reading_x = (op_x == 1) | (op_x == 3);

    // Its lanes on the word, and those that ask for the lock.
    reg [L-1:0] come_here, come_asks, here_0, here_x, asks_x;
    always @* for (i = 0; i < L; i = i + 1) begin
        come_here[i] = come_mask[i] & (come_bank[i*m +: m] == bank) & (come_row[i*R +: R] == row);
        come_asks[i] = come_mask[i] & (come_lock[i*LK +: LK] == lock);
        here_0[i] = mask_0[i] & (bank_0[i*m +: m] == bank) & (row_0[i*R +: R] == row);
        here_x[i] = mask_x[i] & (bank_x[i*m +: m] == bank) & (row_x[i*R +: R] == row);
        asks_x[i] = locking_x & mask_x[i] & (lock_x[i*LK +: LK] == lock);
    end
    wire come_loading = come_access & ((come_op == 1) | (come_op == 3));
    wire come_storing = come_access & ((come_op == 2) | (come_op == 4));
    wire come_locking = come_access & ((come_op == 3) | (come_op == 4));
    wire stored;
    wire [7:0] store_value;
    wire [LW-1:0] store_lane;
    merged_byte #(.L(L), .LW(LW), .D(D), .MERGE(MERGE)) of_store (
        .here(come_storing ? come_here : {L{1'b0}}), .data(come_data), .be(come_be), .byte_no(byte_no),
        .any(stored), .value(store_value), .from(store_lane));

    // The byte as the accesses that have come leave it, and as it was before
    // the last of them; known once it has been written behind a reset. Then
    // what the last of them, a load, is to read.
    reg known, known_before, known_x, merged;
    reg [7:0] value, value_before, want_x;
    reg load_x;
    // The lock likewise.
    reg owned, owned_before;
    always @(posedge clk) begin
        if (rst) begin
            known <= 0;
            merged <= 0;
            owned <= 0;
        end else if (comes) begin
            known <= known | stored;
            if (stored) merged <= store_lane > 1;
            if (come_locking & (come_asks != 0)) owned <= come_op == 3;
        end
        if (comes) begin
            if (stored) value <= store_value;
            known_before <= known;
            value_before <= value;
            owned_before <= owned;
            load_x <= come_loading & come_here[lane];
            known_x <= known;
            want_x <= value;
        end
    end

    // What follows of a group behind the banks: whose answer it is a part of;
    // the lanes for which words are read; whether the lane followed is a load's
    // of the byte, has been served in an earlier group, and what it is to read;
    // who asks for the lock, and whether it was free; the data of a pass.
    localparam BEHIND = 5 + L + W_req_tag + DG + L + 4 + 8 + L + 1 + D;
    wire done_x = load_x & !waiting_x[lane];
    wire [L-1:0] read_x = served_x & {L{reading_x}};
    wire [L-1:0] asked_x = op_x == 3 ? asks_x : 0;
    wire free_x = !owned_before;
    wire [D-1:0] sent_x = mask_x[lane] ? data_x[lane*D +: D] : 0;
    wire [BEHIND-1:0] behind_x = {last_x, error_x, op_x, mask_x, tag_x, degree_x, read_x, load_x, known_x, done_x,
        merged, want_x, asked_x, free_x, sent_x};
{%- if has_y %}
    reg in_y;
    reg [BEHIND-1:0] behind_y;
    always @(posedge clk) begin
        if (rst) in_y <= 0;
        else if (adv) in_y <= in_x;
        if (adv) behind_y <= behind_x;
    end
    wire last_y, error_y, load_y, known_y, done_y, merged_y, free_y;
    wire [2:0] op_y;
    wire [L-1:0] mask_y, read_y, asked_y;
    wire [W_req_tag-1:0] tag_y;
    wire [DG-1:0] degree_y;
    wire [7:0] want_y;
    wire [D-1:0] sent_y;
    assign {last_y, error_y, op_y, mask_y, tag_y, degree_y, read_y, load_y, known_y, done_y,
        merged_y, want_y, asked_y, free_y, sent_y} = behind_y;
{%- endif %}
{%- if has_y %}{% set before_z = "y" %}{% else %}{% set before_z = "x" %}{% endif %}
    reg came_z;
    reg [BEHIND-1:0] behind_z;
    always @(posedge clk) begin
        if (rst) came_z <= 0;
        else if (adv) came_z <= in_{{ before_z }};
        if (adv) behind_z <= behind_{{ before_z }};
    end
    assign in_z = came_z;
    wire error_z, load_z, known_z, done_z, merged_z, free_z;
    wire [2:0] op_z;
    wire [L-1:0] mask_z, read_z, asked_z;
    wire [W_req_tag-1:0] tag_z;
    wire [DG-1:0] degree_z;
    wire [7:0] want_z;
    wire [D-1:0] sent_z;
    assign {last_z, error_z, op_z, mask_z, tag_z, degree_z, read_z, load_z, known_z, done_z,
        merged_z, want_z, asked_z, free_z, sent_z} = behind_z;
    wire answer = in_z & last_z;

    // The unit has it so: the arbiter.
    (* hierconn *) wire \unit.arbiter.busy_q ;
    (* hierconn *) wire \unit.arbiter.acc_q ;
    (* hierconn *) wire [L-1:0] \unit.arbiter.pend_q ;
    (* hierconn *) wire [L*m-1:0] \unit.arbiter.bank_q ;
    (* hierconn *) wire [L*R-1:0] \unit.arbiter.row_q ;
    (* hierconn *) wire [DG-1:0] \unit.arbiter.cnt_q ;
    (* hierconn *) wire \unit.arbiter.last_q ;
{% set arbiter = "unit.arbiter" %}{% include "path/arbiter_pairs.v.tera" %}
    wire pairs;
    pairs_known #(.L(L), .m(m), .R(R)) of_pairs (
        .bank(bank_0), .row(row_0), .same_bank(same_bank), .clash(clash), .holds(pairs));
    (* hierconn *) wire [$clog2(LKG)-1:0] \unit.mem0_window_q ;
    (* hierconn *) wire \unit.mem0_locking_q ;
    (* hierconn *) wire \unit.mem0_error_q ;
    (* hierconn *) wire [2:0] \unit.mem0_op_q ;
    (* hierconn *) wire [L-1:0] \unit.mem0_mask_q ;
    (* hierconn *) wire [L*LK-1:0] \unit.mem0_lock_q ;
    (* hierconn *) wire [L*D-1:0] \unit.mem0_data_q ;
{%- if MERGE %}
    (* hierconn *) wire [L*D/8-1:0] \unit.arbiter.be_q ;
{%- endif %}
    (* hierconn *) wire [W_req_tag-1:0] \unit.mem0_tag_q ;
    wire agreed;
    one_lock_per_word #(.L(L), .m(m), .R(R), .LK(LK)) of_held (
        .mask(mask_0), .bank(bank_0), .row(row_0), .lock(lock_0), .holds(agreed));
    reg [DG:0] served_before;
    reg within;
    always @* begin
        served_before = 0;
        within = 1;
        for (i = 0; i < L; i = i + 1) begin
            served_before = served_before + (access_0 & mask_0[i] & !waiting_0[i]);
            if (access_0 & mask_0[i] & (row_0[i*R +: R] >= ROWS)) within = 0;
        end
    end
    assign keep_request = (\unit.arbiter.busy_q == in_0) & (!in_0 | ((\unit.mem0_locking_q == locking_0)
        & (\unit.mem0_error_q == error_0) & (\unit.mem0_op_q == op_0) & (\unit.mem0_mask_q == mask_0)
        & (\unit.mem0_lock_q == lock_0) & (\unit.mem0_data_q == data_0) & (\unit.mem0_tag_q == tag_0)
{%- if MERGE %}
        & (\unit.arbiter.be_q == be_0)
{%- endif %}
        & (access_0 == ((op_0 >= 1) & (op_0 <= 4) & !error_0)) & (!error_0 | (op_0 != 0)) & within & agreed));
    assign keep_waiting = (\unit.arbiter.pend_q == waiting_0) & (in_0 | (waiting_0 == 0)) & (!in_0 | (
        (\unit.arbiter.acc_q == (access_0 & (mask_0 != 0))) & (\unit.arbiter.bank_q == bank_0) & (\unit.arbiter.row_q == row_0)
        & (\unit.arbiter.cnt_q == steps_0) & (steps_0 <= served_before) & ((waiting_0 & ~mask_0) == 0)
        & (access_0 ? (waiting_0 != 0) | (mask_0 == 0) : waiting_0 == 0)));
    assign keep_pairs = !in_0 | (pairs & (\unit.arbiter.last_q == (left_0 == 0)));
    assign keep_window = (\unit.mem0_window_q == window_0) & (window_0 < LKG) & ((window_0 == 0) | (in_0 & locking_0));
{%- if is_cut %}

    // The group in front of the banks.
    (* hierconn *) wire \unit.mem1_valid_q ;
    (* hierconn *) wire \unit.mem1_last_q ;
    (* hierconn *) wire \unit.mem1_error_q ;
    (* hierconn *) wire \unit.mem1_locking_q ;
    (* hierconn *) wire [$clog2(LKG)-1:0] \unit.mem1_window_q ;
    (* hierconn *) wire [2:0] \unit.mem1_op_q ;
    (* hierconn *) wire [L-1:0] \unit.mem1_mask_q , \unit.mem1_served_q , \unit.mem1_leader_q ;
    (* hierconn *) wire [B-1:0] \unit.mem1_bank_valid_q , \unit.mem1_bank_write_q ;
    (* hierconn *) wire [L*m-1:0] \unit.mem1_bank_q ;
    (* hierconn *) wire [L*R-1:0] \unit.mem1_row_q ;
    (* hierconn *) wire [L*LK-1:0] \unit.mem1_lock_q ;
    (* hierconn *) wire [L*D-1:0] \unit.mem1_data_q ;
    (* hierconn *) wire [L*D/8-1:0] \unit.mem1_writes_q ;
    (* hierconn *) wire [W_req_tag-1:0] \unit.mem1_tag_q ;
    (* hierconn *) wire [DG-1:0] \unit.mem1_degree_q ;
    // What it was in MEM0 it is here.
    wire [L-1:0] lead, serve;
    wire [B-1:0] use_bank;
    group #(.L(L), .m(m), .R(R)) group_x (
        .waiting(waiting_x), .bank(bank_x), .row(row_x), .leader(lead), .served(serve), .used(use_bank));
    wire [L*D/8-1:0] write;
    writers #(.L(L), .m(m), .DB(D/8), .MERGE(MERGE)) writers_x (
        .served(served_x), .leader(leader_x), .bank(bank_x), .be(be_x), .writes(write));
    wire agreed_x;
    one_lock_per_word #(.L(L), .m(m), .R(R), .LK(LK)) of_group (
        .mask(mask_x), .bank(bank_x), .row(row_x), .lock(lock_x), .holds(agreed_x));
    reg within_x;
    always @* begin
        within_x = 1;
        for (i = 0; i < L; i = i + 1)
            if (access_x & mask_x[i] & (row_x[i*R +: R] >= ROWS)) within_x = 0;
    end
    wire [L-1:0] left_x = waiting_x & ~served_x;
    wire sound_x = (locking_x == (access_x & ((op_x == 3) | (op_x == 4))))
        & (access_x == ((op_x >= 1) & (op_x <= 4) & !error_x)) & (!error_x | (op_x != 0)) & within_x & agreed_x
        & (served_up_x == (!locking_x | (window_x == LKG - 1))) & (window_x < LKG) & (locking_x | (window_x == 0))
        & (lead == leader_x) & (serve == served_x) & (use_bank == used_x) & (write == writes_x) & (last_x == ((left_x == 0) & served_up_x))
        & ((waiting_x & ~mask_x) == 0) & (access_x ? (waiting_x != 0) | (mask_x == 0) : waiting_x == 0);
    assign keep_group = (\unit.mem1_valid_q == in_x) & (!in_x | (sound_x & (\unit.mem1_last_q == last_x)
        & (\unit.mem1_error_q == error_x) & (\unit.mem1_locking_q == locking_x) & (\unit.mem1_window_q == window_x)
        & (\unit.mem1_op_q == op_x) & (\unit.mem1_mask_q == mask_x) & (\unit.mem1_served_q == served_x)
        & (\unit.mem1_leader_q == leader_x) & (\unit.mem1_bank_valid_q == used_x)
        & (\unit.mem1_bank_write_q == ((op_x == 2) | (op_x == 4) ? used_x : 0)) & (\unit.mem1_bank_q == bank_x)
        & (\unit.mem1_row_q == row_x) & (\unit.mem1_lock_q == lock_x) & (\unit.mem1_data_q == data_x)
        & (\unit.mem1_writes_q == writes_x) & (\unit.mem1_tag_q == tag_x) & (\unit.mem1_degree_q == degree_x)));
    wire same_request = (access_0 == access_x) & (error_0 == error_x) & (op_0 == op_x) & (mask_0 == mask_x)
        & (bank_0 == bank_x) & (row_0 == row_x) & (lock_0 == lock_x) & (data_0 == data_x) & (be_0 == be_x) & (tag_0 == tag_x);
    assign keep_from_first = within_access_x
        ? in_0 & same_request & (waiting_0 == (served_up_x ? left_x : waiting_x)) & (window_0 == (served_up_x ? 0 : window_x + 1))
        : !in_0 | ((waiting_0 == (access_0 ? mask_0 : 0)) & (window_0 == 0));
{%- endif %}

    // The stages behind the banks.
    wire [L-1:0] won_z;
{%- if has_y %}
    wire [L-1:0] won_y;
    wire kept_y, next_y;
{%- endif %}
    wire kept_z, next_z;
{%- if has_y %}{% set behind = ["y", "z"] %}{% else %}{% set behind = ["z"] %}{% endif %}
{%- for s in behind %}
{%- if s == "z" %}{% set mem = "unit.mem" ~ z %}{% set before = before_z %}{% else %}{% set mem = "unit.mem" ~ y %}{% set before = "x" %}{% endif %}
    (* hierconn *) wire \{{ mem }}_valid_q ;
    (* hierconn *) wire \{{ mem }}_last_q ;
    (* hierconn *) wire \{{ mem }}_error_q ;
    (* hierconn *) wire [2:0] \{{ mem }}_op_q ;
    (* hierconn *) wire [L-1:0] \{{ mem }}_mask_q , \{{ mem }}_served_q , \{{ mem }}_success_q ;
    (* hierconn *) wire [L*m-1:0] \{{ mem }}_bank_q ;
    (* hierconn *) wire [W_req_tag-1:0] \{{ mem }}_tag_q ;
    (* hierconn *) wire [DG-1:0] \{{ mem }}_degree_q ;
    assign won_{{ s }} = \{{ mem }}_success_q & asked_{{ s }};
    // A load of the byte has its lane served with its last group at the latest.
    wire load_is_sound_{{ s }} = mask_{{ s }}[lane] & ((op_{{ s }} == 1) | (op_{{ s }} == 3)) & !error_{{ s }}
        & (!read_{{ s }}[lane] | (\{{ mem }}_bank_q [lane*m +: m] == bank)) & (!last_{{ s }} | done_{{ s }} | read_{{ s }}[lane]);
    assign kept_{{ s }} = (\{{ mem }}_valid_q == in_{{ s }}) & (!in_{{ s }} | ((\{{ mem }}_last_q == last_{{ s }}) & (\{{ mem }}_error_q == error_{{ s }})
        & (\{{ mem }}_op_q == op_{{ s }}) & (\{{ mem }}_mask_q == mask_{{ s }}) & (\{{ mem }}_served_q == read_{{ s }})
        & (\{{ mem }}_tag_q == tag_{{ s }}) & (\{{ mem }}_degree_q == degree_{{ s }})
        & ((op_{{ s }} != 0) | (!error_{{ s }} & (read_{{ s }} == 0))) & (!load_{{ s }} | load_is_sound_{{ s }})));
    // Behind a group that is not its access's last comes the next one of it.
    assign next_{{ s }} = in_{{ s }} & !last_{{ s }}
        ? in_{{ before }} & (op_{{ before }} == op_{{ s }}) & (load_{{ before }} == load_{{ s }}) & (known_{{ before }} == known_{{ s }})
            & (want_{{ before }} == want_{{ s }}) & (!done_{{ before }} | done_{{ s }} | read_{{ s }}[lane])
        : !in_{{ before }} | !done_{{ before }};
{%- endfor %}
{%- if has_y %}
    assign keep_behind = kept_y & kept_z;
    assign keep_next = next_y & next_z;
{%- else %}
    assign keep_behind = kept_z;
    assign keep_next = next_z;
{%- endif %}

    // A request that is marked as it is taken, and those before it.
    reg marked;
    reg [2:0] ahead;
    reg [2:0] marked_op;
    reg [L-1:0] marked_mask;
    reg [W_req_tag-1:0] marked_tag;
    wire give = resp_valid & resp_ready;
    wire turn = marked & (ahead == 0);
{%- if is_cut %}
    wire end_x = in_x & last_x;
{%- endif %}
{%- if has_y %}
    wire end_y = in_y & last_y;
{%- endif %}
    wire [2:0] inside = in_0{% if is_cut %} + end_x{% endif %}{% if has_y %} + end_y{% endif %} + answer;
    always @(posedge clk) begin
        if (rst) marked <= 0;
        else if (marked) begin
            if (give & turn) marked <= 0;
            else if (give) ahead <= ahead - 1;
        end else if (fire & mark) begin
            marked <= 1;
            ahead <= inside - give;
            marked_op <= req_op;
            marked_mask <= req_mask;
            marked_tag <= req_tag;
        end
    end
    // Those in front of each stage, and whether it has the marked one.
    wire here_is_marked = (ahead == 0) & answer ? (marked_op == op_z) & (marked_mask == mask_z) & (marked_tag == tag_z)
{%- if has_y %}
        : end_y & (ahead == answer) ? (marked_op == op_y) & (marked_mask == mask_y) & (marked_tag == tag_y)
{%- endif %}
{%- if is_cut %}
        : end_x & (ahead == {% if has_y %}end_y + {% endif %}answer) ? (marked_op == op_x) & (marked_mask == mask_x) & (marked_tag == tag_x)
{%- endif %}
        : (marked_op == op_0) & (marked_mask == mask_0) & (marked_tag == tag_0);
    assign keep_marked = !marked | ((ahead < inside) & here_is_marked);

    // The words of the banks, and what they last read.
    wire [B*ROWS*D-1:0] words;
{%- for b in range(end=B) %}
{%- for r in range(end=ROWS) %}
    (* hierconn *) wire [D-1:0] \unit.bank[{{ b }}].ram.mem[{{ r }}] ;
    assign words[{{ b * ROWS + r }}*D +: D] = \unit.bank[{{ b }}].ram.mem[{{ r }}] ;
{%- endfor %}
{%- endfor %}
    (* hierconn *) wire [B*D-1:0] \unit.bank_rdata ;
    wire [D-1:0] word = words[(bank*ROWS + row)*D +: D];
    wire [7:0] memory = word[8*byte_no +: 8];
    wire [D-1:0] bank_read = \unit.bank_rdata [bank*D +: D];
{%- if has_y %}
    wire [7:0] shown_y = bank_read[8*byte_no +: 8];
    (* hierconn *) wire [B*D-1:0] \unit.mem3_words_q ;
    wire [D-1:0] bank_kept = \unit.mem3_words_q [bank*D +: D];
    wire [7:0] shown_z = bank_kept[8*byte_no +: 8];
{%- else %}
    wire [7:0] shown_z = bank_read[8*byte_no +: 8];
{%- endif %}
    (* hierconn *) wire [L*D-1:0] \unit.acc_q ;
    wire [D-1:0] aside = \unit.acc_q [lane*D +: D];

    // Lanes on the word, and whether their store is still to come: a group
    // writes in its first window.
    wire here_waits = (here_x & waiting_x) != 0;
    wire here_in_group = (here_x & leader_x) != 0;
    wire storing_x = access_x & ((op_x == 2) | (op_x == 4));
    wire stored_x;
    wire [7:0] store_value_x;
    merged_byte #(.L(L), .LW(LW), .D(D), .MERGE(MERGE)) of_group_data (
        .here(storing_x ? here_x : {L{1'b0}}), .data(data_x), .be(be_x), .byte_no(byte_no),
        .any(stored_x), .value(store_value_x), .from());
    // Lanes on one word wait together.
    assign keep_together = (!in_0 | !access_0 | ((here_0 & waiting_0) == 0) | ((here_0 & waiting_0) == here_0))
        & (!in_x | !access_x | ((here_x & waiting_x) == 0) | ((here_x & waiting_x) == here_x));
    assign keep_store = !in_x | (stored_x ? known & (value == store_value_x) : (known == known_before)
        & (!known | (value == value_before)));
    wire pending = in_x & storing_x & here_waits & !(here_in_group & (window_x != 0));
    assign keep_word = pending ? !known_before | (memory == value_before) : !known | (memory == value);
    wire loading_x = in_x & load_x & known_x;
    assign keep_read = (!(in_x & load_x) | (access_x & mask_x[lane] & reading_x & (bank_x[lane*m +: m] == bank)
            & (row_x[lane*R +: R] == row)))
        & (!loading_x | (known & (want_x == value)))
{%- if has_y %}
        & (!(in_y & load_y & known_y & read_y[lane]) | (shown_y == want_y))
{%- endif %}
        & (!(in_z & load_z & known_z & read_z[lane]) | (shown_z == want_z))
        & (!(in_z & load_z & known_z & done_z) | (aside[8*byte_no +: 8] == want_z));
{%- if has_y %}
    (* hierconn *) wire [L*D-1:0] \unit.mem2_data_q ;
    wire [D-1:0] carried = \unit.mem2_data_q [lane*D +: D];
{%- endif %}
    assign keep_passed = (!(in_z & (op_z == 0)) | ((aside == sent_z) & (mask_z[lane] | (sent_z == 0))))
{%- if has_y %}
        & (!(in_y & (op_y == 0)) | (sent_y == (mask_y[lane] ? carried : 0)))
{%- endif %};

    // Whether the access at the banks has come to the lock: the words of the
    // lanes that wait no more, and the leaders of the windows that are over.
    reg reached;
    always @* begin
        reached = 0;
        for (i = 0; i < L; i = i + 1)
            if (asks_x[i] & (!waiting_x[i] | (leader_x[i] & (i / (L / LKG) < window_x)))) reached = 1;
    end
    (* hierconn *) wire [LOCKS-1:0] \unit.locks.lock_q ;
    (* hierconn *) wire [L-1:0] \unit.success_q ;
    wire locked = \unit.locks.lock_q [lock];
    wire [L-1:0] won_x = \unit.success_q & asks_x;
    wire asking_x = in_x & locking_x & (asks_x != 0);
    assign keep_lock = locked == (asking_x & !reached ? owned_before : owned)
        & (!asking_x | (owned == (op_x == 3)));
    wire one_won_x = (won_x != 0) & ((won_x & (won_x - 1)) == 0);
    assign keep_winner = (in_x | (\unit.success_q == 0))
        & (!in_x | (((\unit.success_q & ~mask_x) == 0) & (access_x & (op_x == 3) | (\unit.success_q == 0))
            & (reached & (op_x == 3) & !owned_before ? one_won_x : won_x == 0)))
{%- for s in behind %}
{%- if s == "z" %}{% set mem = "unit.mem" ~ z %}{% else %}{% set mem = "unit.mem" ~ y %}{% endif %}
        & (!(in_{{ s }} & last_{{ s }}) | (((\{{ mem }}_success_q & ~mask_{{ s }}) == 0) & ((op_{{ s }} == 3) & !error_{{ s }} | (\{{ mem }}_success_q == 0))
            & ((asked_{{ s }} != 0) & free_{{ s }} ? (won_{{ s }} != 0) & ((won_{{ s }} & (won_{{ s }} - 1)) == 0) : won_{{ s }} == 0)))
{%- endfor %};

    // The cycle before.
    reg was_rst, was_stalled;
    reg [D-1:0] was_data;
    reg [L-1:0] was_success;
    always @(posedge clk) begin
        was_rst <= rst;
        was_stalled <= resp_valid & !resp_ready;
        was_data <= resp_data[lane*D +: D];
        was_success <= resp_success;
    end
    wire [D-1:0] lane_data = resp_data[lane*D +: D];
    wire [L-1:0] winners = resp_success & asked_z;
    assign check_answered = resp_valid == answer;
    assign check_order = !give | !turn | ((resp_op == marked_op) & (resp_mask == marked_mask) & (resp_tag == marked_tag));
    assign check_fields = answer ? (resp_op == op_z) & (resp_mask == mask_z) & (resp_tag == tag_z) & (resp_error == error_z)
            & (resp_degree == degree_z)
        : (resp_op == 0) & (resp_mask == 0) & (resp_tag == 0) & !resp_error & (resp_degree == 0);
    assign check_ready = req_ready == (!in_0 | end_0);
    assign check_busy = (busy_more == (in_0 & !last_0)) & (blocked == (answer & !resp_ready));
    assign check_stages = stages == {answer{% if has_y %}, end_y{% endif %}{% if is_cut %}, end_x{% endif %}};
    assign check_stall = was_rst | !was_stalled | (resp_valid & (lane_data == was_data) & (resp_success == was_success));
    assign check_load = !(answer & load_z & known_z) | (lane_data[8*byte_no +: 8] == want_z);
    assign check_pass = !(answer & (op_z == 0)) | (lane_data == sent_z);
    assign check_silent = (answer & mask_z[lane] & !error_z & ((op_z == 0) | (op_z == 1) | (op_z == 3))) | (lane_data == 0);
    assign check_memory = in_x | !known | (memory == value);
    assign check_winner = !answer | (op_z != 3) | ((asked_z != 0) & free_z ? (winners != 0) & ((winners & (winners - 1)) == 0)
        : winners == 0);
    assign check_losers = ((resp_success & ~mask_z) == 0) & ((answer & (op_z == 3) & !error_z) | (resp_success == 0));
    assign check_lock = in_x | (locked == owned);
    assign cover_merged = answer & load_z & known_z & merged_z & (want_z == 8'hA5) & !rst;
    assign cover_conflict = answer & load_z & known_z & (degree_z == 2) & done_z & !rst;
    assign cover_held = answer & (op_z == 3) & (asked_z != 0) & !free_z & !rst;
    assign cover_error = answer & was_stalled & in_0 & error_0 & (op_0 == 2) & !rst;
    assign cover_pass = answer & (op_z == 0) & (lane_data == 32'hA5) & !rst;
    assign cover_full = answer & in_0{% if is_cut %} & end_x{% endif %}{% if has_y %} & end_y{% endif %} & marked & (ahead == {{ MS - 1 }}) & !rst;
endmodule

// Whether active lanes on one word have one lock.
module one_lock_per_word #(parameter L = 4, parameter m = 3, parameter R = 6, parameter LK = 5) (
    input wire [L-1:0] mask,
    input wire [L*m-1:0] bank,
    input wire [L*R-1:0] row,
    input wire [L*LK-1:0] lock,
    output reg holds
);
    integer i, j;
    always @* begin
        holds = 1;
        for (i = 0; i < L; i = i + 1)
            for (j = 0; j < i; j = j + 1)
                if (mask[i] & mask[j] & (bank[i*m +: m] == bank[j*m +: m]) & (row[i*R +: R] == row[j*R +: R])
                    & (lock[i*LK +: LK] != lock[j*LK +: LK]))
                    holds = 0;
    end
endmodule

// The byte that lanes on one word leave there: that of the lowest one with its
// enable; MERGE = 0: that of the lowest lane, if it is enabled.
module merged_byte #(parameter L = 4, parameter LW = 2, parameter D = 32, parameter MERGE = 1) (
    input wire [L-1:0] here,
    input wire [L*D-1:0] data,
    input wire [L*D/8-1:0] be,
    input wire [$clog2(D/8)-1:0] byte_no,
    output reg any,
    output reg [7:0] value,
    output reg [LW-1:0] from
);
    integer i;
    reg enabled;
    always @* begin
        any = 0;
        value = 0;
        from = 0;
        for (i = L - 1; i >= 0; i = i - 1) begin
            enabled = be[i*(D/8) + byte_no];
            if (here[i] & ((MERGE == 0) | enabled)) begin
                any = enabled;
                value = data[i*D + 8*byte_no +: 8];
                from = i;
            end
        end
    end
endmodule

{% include "path/arbitration.v" %}
