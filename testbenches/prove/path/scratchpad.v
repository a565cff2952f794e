// spad_scratchpad: every request is answered once, in order and on time; a load
// reads what the accesses before it stored; of the lanes that ask for a free
// lock exactly one takes it (section 7). One word, byte, lane, and lock are
// followed; they may be any. The words of the banks are named: four rows.
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
    output wire keep_answer, // MEM1 has the answer, or a group of the access in MEM0
    output wire keep_marked, // the marked request stands where it should
    output wire keep_together, // lanes on the word wait together
    output wire keep_store, // the byte that the access in MEM0 leaves is that of its data
    output wire keep_word, // the word is as the stores leave it, up to the one in MEM0
    output wire keep_read, // what a load has read so far is in MEM1 or set aside
    output wire keep_passed, // the data of a pass are set aside
    output wire keep_lock, // the lock is as the accesses leave it, up to the one in MEM0
    output wire keep_winner, // a free lock that was asked for has its winner
    output wire check_answered, // each request is answered once, when all its groups have been served
    output wire check_order, // a response is that of the oldest request without one
    output wire check_fields, // operation, mask, tag, error, degree are those of the request
    output wire check_ready, // a request is taken when MEM0 is free or gives its last group
    output wire check_busy, // a conflict and a block are told
    output wire check_stall, // a response that is not taken stays as it is
    output wire check_load, // a load reads what the stores before it left, merged byte by byte
    output wire check_pass, // the data of a pass come back
    output wire check_silent, // other data are 0
    output wire check_memory, // nothing but a store that is not refused changes memory
    output wire check_winner, // a free lock that is asked for has one winner, a held one none
    output wire check_losers, // nobody else succeeds
    output wire check_lock, // nothing but lock operations that are not refused changes a lock
    output wire cover_merged, // 5: a load of a byte that a higher lane stored beside a lower one
    output wire cover_conflict, // 6: a load of degree 2 read the word in its first group
    output wire cover_held, // 7: a lock that an earlier access took is refused
    output wire cover_error, // 5: a store beyond the capacity while a response is held
    output wire cover_pass // 4: the data of a pass come back
);
    wire req_ready, resp_valid, resp_error, busy_more, blocked;
    wire [2:0] resp_op;
    wire [L-1:0] resp_mask, resp_success;
    wire [W_req_tag-1:0] resp_tag;
    wire [L*D-1:0] resp_data;
    wire [DG-1:0] resp_degree;
    spad_scratchpad unit (
        .clk(clk), .rst(rst),
        .req_valid(req_valid), .req_ready(req_ready), .req_op(req_op), .req_mask(req_mask), .req_bank(req_bank),
        .req_row(req_row), .req_lock(req_lock), .req_data(req_data), .req_be(req_be), .req_tag(req_tag),
        .resp_valid(resp_valid), .resp_ready(resp_ready), .resp_op(resp_op), .resp_mask(resp_mask),
        .resp_tag(resp_tag), .resp_data(resp_data), .resp_success(resp_success), .resp_error(resp_error),
        .resp_degree(resp_degree), .busy_more(busy_more), .blocked(blocked)
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
    integer i, j;
    reg beyond;
    wire words_agree;
    reg [L-1:0] req_here, req_asks;
    always @* begin
        beyond = 0;
        for (i = 0; i < L; i = i + 1) begin
            if (req_mask[i] & (req_row[i*R +: R] >= ROWS)) beyond = 1;
            req_here[i] = req_mask[i] & (req_bank[i*m +: m] == bank) & (req_row[i*R +: R] == row);
            req_asks[i] = req_mask[i] & (req_lock[i*LK +: LK] == lock);
        end
    end
    one_lock_per_word #(.L(L), .m(m), .R(R), .LK(LK)) of_request (
        .mask(req_mask), .bank(req_bank), .row(req_row), .lock(req_lock), .holds(words_agree));
    assign assume_word_lock = words_agree;
    wire refused = (req_op >= 5) | ((req_op != 0) & beyond);
    wire accessing = (req_op != 0) & !refused;
    wire storing = accessing & ((req_op == 2) | (req_op == 4));
    wire fire = req_valid & req_ready;

    // The byte that a store leaves.
    wire stored;
    wire [7:0] store_value;
    wire [LW-1:0] store_lane;
    merged_byte #(.L(L), .LW(LW), .D(D), .MERGE(MERGE)) of_store (
        .here(storing ? req_here : {L{1'b0}}), .data(req_data), .be(req_be), .byte_no(byte_no),
        .any(stored), .value(store_value), .from(store_lane));

    // MEM0: the request that was taken, and the lanes that wait in it.
    reg in0, access0, error0;
    reg [2:0] op0;
    reg [L-1:0] mask0, waiting;
    reg [L*m-1:0] bank0;
    reg [L*R-1:0] row0;
    reg [L*LK-1:0] lock0;
    reg [L*D-1:0] data0;
    reg [L*D/8-1:0] be0;
    reg [W_req_tag-1:0] tag0;
    reg [DG:0] steps0;
    reg [2:0] window;
    // MEM1: the answer.
    reg in1, error1;
    reg [2:0] op1;
    reg [L-1:0] mask1;
    reg [W_req_tag-1:0] tag1;
    reg [DG-1:0] degree1;

    // The group: the waiting lanes on the row of the lowest one of their bank.
    reg [L-1:0] leader, served;
    always @* begin
        leader = waiting;
        served = 0;
        for (i = 0; i < L; i = i + 1)
            for (j = 0; j < i; j = j + 1)
                if (waiting[j] & (bank0[j*m +: m] == bank0[i*m +: m])) leader[i] = 0;
        for (i = 0; i < L; i = i + 1)
            for (j = 0; j < L; j = j + 1)
                if (waiting[i] & leader[j] & (bank0[j*m +: m] == bank0[i*m +: m]) & (row0[j*R +: R] == row0[i*R +: R]))
                    served[i] = 1;
    end
    wire [L-1:0] left = waiting & ~served;
    wire locking0 = access0 & ((op0 == 3) | (op0 == 4));
    wire last_window = !locking0 | (window == LKG - 1);
    wire adv = resp_ready | !in1;
    wire last0 = (left == 0) & last_window;
    wire end0 = in0 & adv & last0;
    always @(posedge clk) begin
        if (rst) begin
            in0 <= 0;
            in1 <= 0;
            waiting <= 0;
            window <= 0;
        end else begin
            in0 <= fire | (in0 & !end0);
            in1 <= end0 | (in1 & !resp_ready);
            if (fire) waiting <= accessing ? req_mask : 0;
            else if (in0 & adv & last_window) waiting <= left;
            if (in0 & adv & locking0) window <= window == LKG - 1 ? 0 : window + 1;
        end
        if (fire) begin
            access0 <= accessing;
            error0 <= refused;
            op0 <= req_op;
            mask0 <= req_mask;
            bank0 <= req_bank;
            row0 <= req_row;
            lock0 <= req_lock;
            data0 <= req_data;
            be0 <= req_be;
            tag0 <= req_tag;
            steps0 <= 0;
        end else if (in0 & adv & last_window) steps0 <= steps0 + 1;
        if (end0) begin
            error1 <= error0;
            op1 <= op0;
            mask1 <= mask0;
            tag1 <= tag0;
            degree1 <= access0 & (mask0 != 0) ? steps0 + 1 : 0;
        end
    end

    // The unit has it so.
    (* hierconn *) wire \unit.arbiter.busy ;
    (* hierconn *) wire \unit.arbiter.acc ;
    (* hierconn *) wire [L-1:0] \unit.arbiter.pend ;
    (* hierconn *) wire [L*m-1:0] \unit.arbiter.bank ;
    (* hierconn *) wire [L*R-1:0] \unit.arbiter.row ;
    (* hierconn *) wire [DG-1:0] \unit.arbiter.cnt ;
    (* hierconn *) wire \unit.arbiter.last ;
    (* hierconn *) wire [0:0] \unit.arbiter.lane[1].same_bank , \unit.arbiter.lane[1].clash ;
    (* hierconn *) wire [1:0] \unit.arbiter.lane[2].same_bank , \unit.arbiter.lane[2].clash ;
    (* hierconn *) wire [2:0] \unit.arbiter.lane[3].same_bank , \unit.arbiter.lane[3].clash ;
    wire [L*L-1:0] same_bank = { 1'b0, \unit.arbiter.lane[3].same_bank , 2'b0,
        \unit.arbiter.lane[2].same_bank , 3'b0, \unit.arbiter.lane[1].same_bank , 4'b0 };
    wire [L*L-1:0] clash = { 1'b0, \unit.arbiter.lane[3].clash , 2'b0,
        \unit.arbiter.lane[2].clash , 3'b0, \unit.arbiter.lane[1].clash , 4'b0 };
    reg pairs;
    always @* begin
        pairs = 1;
        for (i = 0; i < L; i = i + 1)
            for (j = 0; j < i; j = j + 1) begin
                if (same_bank[i*L + j] != (bank0[i*m +: m] == bank0[j*m +: m])) pairs = 0;
                if (clash[i*L + j] != ((bank0[i*m +: m] == bank0[j*m +: m]) & (row0[i*R +: R] != row0[j*R +: R])))
                    pairs = 0;
            end
    end
    (* hierconn *) wire [$clog2(LKG)-1:0] \unit.mem0_window ;
    (* hierconn *) wire \unit.mem0_locking ;
    (* hierconn *) wire \unit.mem0_error ;
    (* hierconn *) wire [2:0] \unit.mem0_op ;
    (* hierconn *) wire [L-1:0] \unit.mem0_mask ;
    (* hierconn *) wire [L*LK-1:0] \unit.mem0_lock ;
    (* hierconn *) wire [L*D-1:0] \unit.mem0_data ;
    (* hierconn *) wire [L*D/8-1:0] \unit.mem0_be ;
    (* hierconn *) wire [W_req_tag-1:0] \unit.mem0_tag ;
    (* hierconn *) wire [L-1:0] \unit.success ;
    (* hierconn *) wire \unit.mem1_valid ;
    (* hierconn *) wire \unit.mem1_last ;
    (* hierconn *) wire \unit.mem1_error ;
    (* hierconn *) wire [2:0] \unit.mem1_op ;
    (* hierconn *) wire [L-1:0] \unit.mem1_mask ;
    (* hierconn *) wire [L-1:0] \unit.mem1_served ;
    (* hierconn *) wire [L*m-1:0] \unit.mem1_bank ;
    (* hierconn *) wire [W_req_tag-1:0] \unit.mem1_tag ;
    (* hierconn *) wire [L-1:0] \unit.mem1_success ;
    (* hierconn *) wire [DG-1:0] \unit.mem1_degree ;
    (* hierconn *) wire [L*D-1:0] \unit.acc ;
    (* hierconn *) wire [LOCKS-1:0] \unit.locks.lock ;
    wire agreed0;
    one_lock_per_word #(.L(L), .m(m), .R(R), .LK(LK)) of_held (
        .mask(mask0), .bank(bank0), .row(row0), .lock(lock0), .holds(agreed0));
    wire between = \unit.mem1_valid & ! \unit.mem1_last ;
    reg [DG:0] served_before;
    reg within0;
    always @* begin
        served_before = 0;
        within0 = 1;
        for (i = 0; i < L; i = i + 1) begin
            served_before = served_before + (access0 & mask0[i] & !waiting[i]);
            if (access0 & mask0[i] & (row0[i*R +: R] >= ROWS)) within0 = 0;
        end
    end
    assign keep_request = (\unit.arbiter.busy == in0) & (!in0 | ((\unit.mem0_locking == locking0) & (\unit.mem0_error == error0)
        & (\unit.mem0_op == op0) & (\unit.mem0_mask == mask0)
        & (\unit.mem0_lock == lock0) & (\unit.mem0_data == data0) & (\unit.mem0_be == be0) & (\unit.mem0_tag == tag0)
        & (access0 == ((op0 >= 1) & (op0 <= 4) & !error0)) & (!error0 | (op0 != 0)) & within0 & agreed0));
    assign keep_waiting = (\unit.arbiter.pend == waiting) & (in0 | (waiting == 0)) & (!in0 | (
        (\unit.arbiter.acc == (access0 & (mask0 != 0))) & (\unit.arbiter.bank == bank0) & (\unit.arbiter.row == row0)
        & (\unit.arbiter.cnt == steps0) & (steps0 <= served_before) & ((waiting & ~mask0) == 0)
        & (access0 ? (waiting != 0) | (mask0 == 0) : waiting == 0)));
    assign keep_pairs = !in0 | (pairs & (\unit.arbiter.last == (left == 0)));
    assign keep_window = (\unit.mem0_window == window) & (window < LKG) & ((window == 0) | (in0 & locking0));
    assign keep_answer = (in1 == (\unit.mem1_valid & \unit.mem1_last )) & (!between | (in0 & access0 & ((steps0 != 0) | (window != 0))))
        & (!in1 | ((\unit.mem1_op == op1) & (\unit.mem1_mask == mask1) & (\unit.mem1_tag == tag1) & (\unit.mem1_error == error1)
        & (\unit.mem1_degree == degree1)));

    // A request that is marked as it is taken, and those before it.
    reg marked;
    reg [1:0] ahead;
    reg [2:0] marked_op;
    reg [L-1:0] marked_mask;
    reg [W_req_tag-1:0] marked_tag;
    wire give = resp_valid & resp_ready;
    wire turn = marked & (ahead == 0);
    always @(posedge clk) begin
        if (rst) marked <= 0;
        else if (marked) begin
            if (give & turn) marked <= 0;
            else if (give) ahead <= ahead - 1;
        end else if (fire & mark) begin
            marked <= 1;
            ahead <= in0 + in1 - give;
            marked_op <= req_op;
            marked_mask <= req_mask;
            marked_tag <= req_tag;
        end
    end
    wire marked_is1 = (marked_op == op1) & (marked_mask == mask1) & (marked_tag == tag1);
    wire marked_is0 = (marked_op == op0) & (marked_mask == mask0) & (marked_tag == tag0);
    assign keep_marked = !marked | ((ahead < in0 + in1) & (in1 & (ahead == 0) ? marked_is1 : marked_is0));

    // The words of the banks, and what they last read.
    (* hierconn *) wire [D-1:0] \unit.bank[0].ram.mem[0] , \unit.bank[0].ram.mem[1] ,
        \unit.bank[0].ram.mem[2] , \unit.bank[0].ram.mem[3] ;
    (* hierconn *) wire [D-1:0] \unit.bank[1].ram.mem[0] , \unit.bank[1].ram.mem[1] ,
        \unit.bank[1].ram.mem[2] , \unit.bank[1].ram.mem[3] ;
    (* hierconn *) wire [D-1:0] \unit.bank[2].ram.mem[0] , \unit.bank[2].ram.mem[1] ,
        \unit.bank[2].ram.mem[2] , \unit.bank[2].ram.mem[3] ;
    (* hierconn *) wire [D-1:0] \unit.bank[3].ram.mem[0] , \unit.bank[3].ram.mem[1] ,
        \unit.bank[3].ram.mem[2] , \unit.bank[3].ram.mem[3] ;
    (* hierconn *) wire [D-1:0] \unit.bank[4].ram.mem[0] , \unit.bank[4].ram.mem[1] ,
        \unit.bank[4].ram.mem[2] , \unit.bank[4].ram.mem[3] ;
    (* hierconn *) wire [D-1:0] \unit.bank[5].ram.mem[0] , \unit.bank[5].ram.mem[1] ,
        \unit.bank[5].ram.mem[2] , \unit.bank[5].ram.mem[3] ;
    (* hierconn *) wire [D-1:0] \unit.bank[6].ram.mem[0] , \unit.bank[6].ram.mem[1] ,
        \unit.bank[6].ram.mem[2] , \unit.bank[6].ram.mem[3] ;
    (* hierconn *) wire [D-1:0] \unit.bank[7].ram.mem[0] , \unit.bank[7].ram.mem[1] ,
        \unit.bank[7].ram.mem[2] , \unit.bank[7].ram.mem[3] ;
    (* hierconn *) wire [B*D-1:0] \unit.bank_rdata ;
    wire [B*ROWS*D-1:0] words = {
        \unit.bank[7].ram.mem[3] , \unit.bank[7].ram.mem[2] ,
        \unit.bank[7].ram.mem[1] , \unit.bank[7].ram.mem[0] ,
        \unit.bank[6].ram.mem[3] , \unit.bank[6].ram.mem[2] ,
        \unit.bank[6].ram.mem[1] , \unit.bank[6].ram.mem[0] ,
        \unit.bank[5].ram.mem[3] , \unit.bank[5].ram.mem[2] ,
        \unit.bank[5].ram.mem[1] , \unit.bank[5].ram.mem[0] ,
        \unit.bank[4].ram.mem[3] , \unit.bank[4].ram.mem[2] ,
        \unit.bank[4].ram.mem[1] , \unit.bank[4].ram.mem[0] ,
        \unit.bank[3].ram.mem[3] , \unit.bank[3].ram.mem[2] ,
        \unit.bank[3].ram.mem[1] , \unit.bank[3].ram.mem[0] ,
        \unit.bank[2].ram.mem[3] , \unit.bank[2].ram.mem[2] ,
        \unit.bank[2].ram.mem[1] , \unit.bank[2].ram.mem[0] ,
        \unit.bank[1].ram.mem[3] , \unit.bank[1].ram.mem[2] ,
        \unit.bank[1].ram.mem[1] , \unit.bank[1].ram.mem[0] ,
        \unit.bank[0].ram.mem[3] , \unit.bank[0].ram.mem[2] ,
        \unit.bank[0].ram.mem[1] , \unit.bank[0].ram.mem[0] 
    };
    wire [D-1:0] word = words[(bank*ROWS + row)*D +: D];
    wire [7:0] memory = word[8*byte_no +: 8];
    wire [D-1:0] bank_read = \unit.bank_rdata [bank*D +: D];
    wire [7:0] read_byte = bank_read[8*byte_no +: 8];
    wire [D-1:0] aside = \unit.acc [lane*D +: D];

    // The byte as the accesses up to the last that was taken leave it, and as
    // it was before that one; known once it has been written behind a reset.
    reg known, known_before, known0, known1, merged, merged1;
    reg [7:0] value, value_before, want0, want1;
    reg load0, load1;
    reg [D-1:0] sent1;
    wire loading = accessing & ((req_op == 1) | (req_op == 3));
    always @(posedge clk) begin
        if (rst) begin
            known <= 0;
            merged <= 0;
        end else if (fire) begin
            known <= known | stored;
            if (stored) merged <= store_lane > 1;
        end
        if (fire) begin
            if (stored) value <= store_value;
            known_before <= known;
            value_before <= value;
            load0 <= loading & req_here[lane];
            known0 <= known;
            want0 <= value;
        end
        if (end0) begin
            load1 <= load0;
            known1 <= known0;
            want1 <= want0;
            merged1 <= merged;
            sent1 <= mask0[lane] ? data0[lane*D +: D] : 0;
        end
    end

    // Lanes of MEM0 on the word, and whether their store is still to come: a
    // group writes in its first window.
    reg here_waits, here_in_group;
    reg [L-1:0] here0;
    always @* begin
        here_waits = 0;
        here_in_group = 0;
        for (i = 0; i < L; i = i + 1) begin
            here0[i] = mask0[i] & (bank0[i*m +: m] == bank) & (row0[i*R +: R] == row);
            if (here0[i] & waiting[i]) here_waits = 1;
            if (here0[i] & leader[i]) here_in_group = 1;
        end
    end
    wire storing0 = access0 & ((op0 == 2) | (op0 == 4));
    wire stored0;
    wire [7:0] store_value0;
    merged_byte #(.L(L), .LW(LW), .D(D), .MERGE(MERGE)) of_mem0 (
        .here(storing0 ? here0 : {L{1'b0}}), .data(data0), .be(be0), .byte_no(byte_no),
        .any(stored0), .value(store_value0), .from());
    // Lanes on one word wait together.
    assign keep_together = !in0 | !access0 | ((here0 & waiting) == 0) | ((here0 & waiting) == here0);
    assign keep_store = !in0 | (stored0 ? known & (value == store_value0) : (known == known_before)
        & (!known | (value == value_before)));
    wire pending = in0 & storing0 & here_waits & !(here_in_group & (window != 0));
    assign keep_word = pending ? !known_before | (memory == value_before) : !known | (memory == value);
    wire in_bank = \unit.mem1_bank [lane*m +: m] == bank;
    wire [7:0] so_far = \unit.mem1_served [lane] ? read_byte : aside[8*byte_no +: 8];
    wire so_far_right = in_bank | ! \unit.mem1_served [lane];
    assign keep_read = (!(in0 & load0 & known0) | (known & (want0 == value) & access0 & mask0[lane]
            & ((op0 == 1) | (op0 == 3)) & (bank0[lane*m +: m] == bank) & (row0[lane*R +: R] == row)))
        & (!(in0 & load0 & known0 & !waiting[lane]) | (between ? so_far_right & (so_far == want0)
            : aside[8*byte_no +: 8] == want0))
        & (!(in1 & load1 & known1) | (mask1[lane] & ((op1 == 1) | (op1 == 3)) & !error1 & so_far_right & (so_far == want1)));
    assign keep_passed = !(in1 & (op1 == 0)) | (!error1 & ! \unit.mem1_served [lane] & (aside == sent1)
        & (mask1[lane] | (sent1 == 0)));

    // The lock as the accesses up to the last that was taken leave it.
    reg owned, owned_before, asked1, free1;
    reg [L-1:0] asks0, asks1;
    always @* for (i = 0; i < L; i = i + 1) asks0[i] = locking0 & mask0[i] & (lock0[i*LK +: LK] == lock);
    wire locking = accessing & ((req_op == 3) | (req_op == 4));
    always @(posedge clk) begin
        if (rst) owned <= 0;
        else if (fire & locking & (req_asks != 0)) owned <= req_op == 3;
        if (fire) owned_before <= owned;
        if (end0) begin
            asks1 <= (op0 == 3) ? asks0 : 0;
            free1 <= !owned_before;
        end
    end
    // Whether the access in MEM0 has come to the lock: the words of the lanes
    // that wait no more, and the leaders of the windows that are over.
    reg reached;
    always @* begin
        reached = 0;
        for (i = 0; i < L; i = i + 1)
            if (asks0[i] & (!waiting[i] | (leader[i] & (i / (L / LKG) < window)))) reached = 1;
    end
    wire locked = \unit.locks.lock [lock];
    wire [L-1:0] won0 = \unit.success & asks0;
    wire [L-1:0] won1 = \unit.mem1_success & asks1;
    assign keep_lock = locked == (in0 & locking0 & !reached & (asks0 != 0) ? owned_before : owned)
        & (!(in0 & locking0 & (asks0 != 0)) | (owned == (op0 == 3)));
    wire one_won0 = (won0 != 0) & ((won0 & (won0 - 1)) == 0);
    wire one_won1 = (won1 != 0) & ((won1 & (won1 - 1)) == 0);
    assign keep_winner = (in0 | (\unit.success == 0)) & (!in0 | (((\unit.success & ~mask0) == 0) & (access0 & (op0 == 3) | (\unit.success == 0))
            & (reached & (op0 == 3) & !owned_before ? one_won0 : won0 == 0)))
        & (!in1 | (((\unit.mem1_success & ~mask1) == 0) & ((op1 == 3) & !error1 | (\unit.mem1_success == 0))
            & ((asks1 != 0) & free1 ? one_won1 : won1 == 0)));

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
    wire [L-1:0] winners = resp_success & asks1;
    assign check_answered = resp_valid == in1;
    assign check_order = !give | !turn | ((resp_op == marked_op) & (resp_mask == marked_mask) & (resp_tag == marked_tag));
    assign check_fields = in1 ? (resp_op == op1) & (resp_mask == mask1) & (resp_tag == tag1) & (resp_error == error1)
            & (resp_degree == degree1)
        : (resp_op == 0) & (resp_mask == 0) & (resp_tag == 0) & !resp_error & (resp_degree == 0);
    assign check_ready = req_ready == (!in0 | end0);
    assign check_busy = (busy_more == (in0 & !last0)) & (blocked == (in1 & !resp_ready));
    assign check_stall = was_rst | !was_stalled | (resp_valid & (lane_data == was_data) & (resp_success == was_success));
    assign check_load = !(in1 & load1 & known1) | (lane_data[8*byte_no +: 8] == want1);
    assign check_pass = !(in1 & (op1 == 0)) | (lane_data == sent1);
    assign check_silent = (in1 & mask1[lane] & !error1 & ((op1 == 0) | (op1 == 1) | (op1 == 3))) | (lane_data == 0);
    assign check_memory = in0 | !known | (memory == value);
    assign check_winner = !in1 | (op1 != 3) | ((asks1 != 0) & free1 ? (winners != 0) & ((winners & (winners - 1)) == 0)
        : winners == 0);
    assign check_losers = ((resp_success & ~mask1) == 0) & ((in1 & (op1 == 3) & !error1) | (resp_success == 0));
    assign check_lock = in0 | (locked == owned);
    assign cover_merged = in1 & load1 & known1 & merged1 & (want1 == 8'hA5) & !rst;
    assign cover_conflict = in1 & load1 & known1 & (degree1 == 2) & ! \unit.mem1_served [lane] & !rst;
    assign cover_held = in1 & (op1 == 3) & (asks1 != 0) & !free1 & !rst;
    assign cover_error = in1 & was_stalled & in0 & error0 & (op0 == 2) & !rst;
    assign cover_pass = in1 & (op1 == 0) & (lane_data == 32'hA5) & !rst;
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
