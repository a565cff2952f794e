// spad_retry_sequencer: every lock taken is released by exactly one later
// store-and-unlock, nobody else's lock is, and every pass comes to its end
// (microarchitecture/retry-sequencer.md). Of addresses and data one lane is
// followed; it may be any.
module miter #(parameter L = 4, parameter m = 3, parameter R = 6, parameter LK = 5, parameter D = 32,
               parameter DG = 3, parameter LW = 2, parameter LR = 2, parameter LU = 2, parameter LWR = 2,
               parameter LB = 1, parameter W_at_tag = 8) (
    input wire clk,
    input wire rst,
    input wire at_valid,
    input wire [3:0] at_aop,
    input wire [L-1:0] at_mask,
    input wire [L*m-1:0] at_bank,
    input wire [L*R-1:0] at_row,
    input wire [L*LK-1:0] at_lock,
    input wire [L*D-1:0] at_data,
    input wire [W_at_tag-1:0] at_tag,
    input wire sp_ready,
    input wire sr_valid,
    input wire [L-1:0] sr_mask,
    input wire [L*D-1:0] sr_data,
    input wire [L-1:0] sr_success,
    input wire sr_error,
    input wire [DG-1:0] sr_degree,
    input wire [LW-1:0] lane_seen,
    output wire assume_one_lane, // any one lane is looked at
    output wire assume_asked, // a response comes for a request that was taken and not yet answered
    output wire assume_winners, // only lanes that ask for their lock take it, none with an error
    output wire assume_degree, // the degree is at most the number of lanes
    output wire keep_place, // the unit knows its state's cycle, what was asked and answered
    output wire keep_pass, // it has the pass that it took
    output wire keep_turn, // the lanes are updated in the first cycles of UPDATE, one turn each
    output wire keep_asks, // it asks for what its state has not asked for yet, for the lanes of that state
    output wire keep_lanes, // it knows who waits and who has won in this round
    output wire keep_locks, // locks are held from the answer of a read to the request of the write
    output wire check_released, // a store-and-unlock is for exactly the lanes that have taken their lock since the last one
    output wire check_none_held, // no lock is held in BRANCH, DONE and IDLE: every one that was taken has been released
    output wire check_waiting, // a load-and-lock is for exactly the lanes that have never won: less by each round's winners
    output wire check_all, // the pass ends only when every lane has won, or with an error
    output wire check_moves, // each state is left for the right one in exactly the cycle in which it is due
    output wire check_nearer, // each change of state in a round with a winner brings the end nearer: at most 8L+4 of them
    output wire check_requests, // a state's one request is offered until it is taken, and no other
    output wire check_hold, // an offered request stays as it is until it is taken
    output wire check_where, // locks, banks and rows are those of the lane's offer
    output wire check_update, // what is stored is the operation's result on the word that was read with the lock
    output wire check_result, // at the end each lane gets the word that it read with the lock, and the pass its tag
    output wire check_rounds, // `rounds` counts the load-and-locks
    output wire cover_write, // 9: winners unlock
    output wire cover_second, // 11: a second round
    output wire cover_done, // 11: all lanes have been served
    output wire cover_lost, // 9: a round without a winner
    output wire cover_error // 6: the scratchpad refuses
);
    localparam IDLE = 0, READ = 1, UPDATE = 2, WRITE = 3, BRANCH = 4, DONE = 5;
    wire at_ready, sp_valid, sp_error;
    wire [2:0] sp_op, state;
    wire [L-1:0] sp_mask;
    wire [L*m-1:0] sp_bank;
    wire [L*R-1:0] sp_row;
    wire [L*LK-1:0] sp_lock;
    wire [L*D-1:0] sp_data;
    wire [W_at_tag-1:0] sp_tag;
    wire [DG-1:0] sp_degree;
    wire [15:0] rounds;
    spad_retry_sequencer unit (
        .clk(clk), .rst(rst), .at_valid(at_valid), .at_ready(at_ready), .at_aop(at_aop), .at_mask(at_mask),
        .at_bank(at_bank), .at_row(at_row), .at_lock(at_lock), .at_data(at_data), .at_tag(at_tag),
        .sp_valid(sp_valid), .sp_ready(sp_ready), .sp_op(sp_op), .sp_mask(sp_mask), .sp_bank(sp_bank),
        .sp_row(sp_row), .sp_lock(sp_lock), .sp_data(sp_data), .sp_tag(sp_tag), .sp_error(sp_error),
        .sp_degree(sp_degree), .sr_valid(sr_valid), .sr_mask(sr_mask), .sr_data(sr_data),
        .sr_success(sr_success), .sr_error(sr_error), .sr_degree(sr_degree), .state(state), .rounds(rounds)
    );
    localparam LONGEST = L * LR > L * LWR ? L * LR : L * LWR;
    localparam CEILING = LONGEST > LU ? (LONGEST > LB ? LONGEST : LB) : (LU > LB ? LU : LB);
    localparam CTW = $clog2(CEILING + 1);
    // Lanes that are updated in a cycle, and the cycles in which all are.
    localparam SLOTS = LU > 2 ? LU - 1 : 1;
    localparam ALUS = 1 << $clog2((L + SLOTS - 1) / SLOTS);
    localparam TURNS = L / ALUS;
{%- if LR + LWR > 0 or LU > 1 or LB > 1 %}
    (* hierconn *) wire [CTW-1:0] \unit.cnt_q ;
    wire [CTW-1:0] counted = \unit.cnt_q ;
{%- endif %}
{%- if LR + LWR > 0 %}
    (* hierconn *) wire [CTW-1:0] \unit.tgt_q ;
    (* hierconn *) wire \unit.got_q ;
    wire [CTW-1:0] target = \unit.tgt_q ;
    wire got_there = \unit.got_q ;
{%- endif %}
{%- if LWR == 0 %}
    (* hierconn *) wire \unit.owed_q ;
    wire owed_there = \unit.owed_q ;
{%- endif %}
    (* hierconn *) wire \unit.sent_q ;
    (* hierconn *) wire [3:0] \unit.aop_q ;
    (* hierconn *) wire [L-1:0] \unit.mask0_q ;
    (* hierconn *) wire [L-1:0] \unit.waiting_q ;
    (* hierconn *) wire [L-1:0] \unit.winners_q ;
    (* hierconn *) wire [L*m-1:0] \unit.bank_q ;
    (* hierconn *) wire [L*R-1:0] \unit.row_q ;
    (* hierconn *) wire [L*LK-1:0] \unit.lock_q ;
    (* hierconn *) wire [L*D-1:0] \unit.opnd_q ;
    (* hierconn *) wire \unit.asking_q ;
    (* hierconn *) wire [L-1:0] \unit.asks_q ;
    (* hierconn *) wire [TURNS-1:0] \unit.turn_q ;
    (* hierconn *) wire [L*D-1:0] \unit.old_q ;
{%- if LU > 2 and L > 1 %}
    (* hierconn *) wire [TURNS-1:0] \unit.late_q ;
    (* hierconn *) wire [ALUS*D-1:0] \unit.word_q , \unit.operand_q ;
    wire [TURNS-1:0] computing = \unit.late_q ;
    wire [ALUS*D-1:0] words = \unit.word_q , operands = \unit.operand_q ;
{%- else %}
    wire [TURNS-1:0] computing = \unit.turn_q ;
    wire [ALUS*D-1:0] words = \unit.old_q , operands = \unit.opnd_q ;
{%- endif %}
    (* hierconn *) wire [DG-1:0] \unit.deg1_q ;
    (* hierconn *) wire \unit.first_q ;
    (* hierconn *) wire \unit.err_q ;
    (* hierconn *) wire [W_at_tag-1:0] \unit.tag_q ;
    (* hierconn *) wire [15:0] \unit.begun_q ;

    reg [LW-1:0] lane;
    always @(posedge clk) lane <= lane_seen;
    assign assume_one_lane = lane == lane_seen;

    // The present cycle within the state (from 1; the count stops far above
    // what any state may last), the state's request and its answer.
    reg [2:0] was_state;
    reg [15:0] was_age;
    // With a latency of 0, WRITE ends with its request; the answer comes later.
    reg owed;
    reg was_rst, asked_before, answered_before;
    reg [DG-1:0] degree_before;
    wire fresh = was_rst | (state != was_state);
    wire [15:0] age = fresh ? 1 : (&was_age) ? was_age : was_age + 1;
    wire asked = !fresh & asked_before;
    wire answered = !fresh & answered_before;
    wire locking = (state == READ) | (state == WRITE);
    wire fire = sp_valid & sp_ready;
    always @(posedge clk) begin
        was_rst <= rst;
        was_state <= state;
        was_age <= age;
        asked_before <= asked | (fire & locking);
        answered_before <= answered | (sr_valid & !owed);
        degree_before <= sr_valid & !owed ? sr_degree : degree_before;
    end
    always @(posedge clk) owed <= !rst & (LWR == 0) & ((fire & (state == WRITE)) | (owed & !sr_valid));
    wire response = sr_valid & asked & !owed;
    assign assume_asked = !sr_valid | owed | (asked & !answered);
    assign assume_degree = sr_degree <= L;

    // The pass, and the lanes that have won: ever, in this round, and since
    // the last store-and-unlock.
    reg [3:0] aop;
    reg [L-1:0] mask, served, won, taken;
    reg [m-1:0] bank;
    reg [R-1:0] row;
    reg [LK-1:0] lock;
    reg [D-1:0] operand, found;
    reg [W_at_tag-1:0] tag;
    reg error, begun;
    reg [DG-1:0] degree;
    reg [15:0] reads;
    wire [L-1:0] waiting = mask & ~served;
    wire accept = at_valid & at_ready;
    wire read = response & (state == READ);
    assign assume_winners = !read | (((sr_success & ~waiting) == 0) & (!sr_error | (sr_success == 0)));
    always @(posedge clk) begin
        if (rst) begin
            taken <= 0;
        end else if (accept) begin
            aop <= at_aop;
            mask <= at_mask;
            served <= 0;
            bank <= at_bank[lane*m +: m];
            row <= at_row[lane*R +: R];
            lock <= at_lock[lane*LK +: LK];
            operand <= at_data[lane*D +: D];
            found <= 0;
            tag <= at_tag;
            error <= at_aop > 8;
            degree <= 0;
            begun <= 0;
            reads <= 0;
        end else begin
            if (fire & (state == READ) & (reads != 16'hFFFF)) reads <= reads + 1;
            if (fire & (state == WRITE)) taken <= taken & ~sp_mask;
            if (read) begin
                served <= served | sr_success;
                won <= sr_success;
                taken <= taken | sr_success;
                error <= error | sr_error;
                begun <= 1;
                if (!begun) degree <= sr_degree;
                if (sr_success[lane]) found <= sr_data[lane*D +: D];
            end
        end
    end

    // When the state is left, and for which.
    wire [DG-1:0] degree_now = sr_valid & !owed ? sr_degree : degree_before;
    wire [15:0] due = degree_now * (state == READ ? LR : LWR);
    reg leaves;
    reg [2:0] follower;
    always @* begin
        leaves = 0;
        follower = IDLE;
        case (state)
            IDLE: begin
                leaves = at_valid;
                follower = (at_aop > 8) | (at_mask == 0) ? DONE : READ;
            end
            READ: begin
                leaves = (answered | response) & (age >= due);
                follower = error | (response & sr_error) ? DONE : UPDATE;
            end
            UPDATE: begin
                leaves = age == LU;
                follower = won != 0 ? WRITE : BRANCH;
            end
            WRITE: begin
                leaves = LWR == 0 ? fire : (answered | response) & (age >= due);
                follower = BRANCH;
            end
            BRANCH: begin
                leaves = age == LB;
                follower = waiting != 0 ? READ : DONE;
            end
            DONE: leaves = sp_ready;
        endcase
    end
    reg [2:0] was_next;
    always @(posedge clk) was_next <= rst ? IDLE : leaves ? follower : state;

    // How far the end is: eight for each lane that waits for its turn (until
    // its round's branch), and the states up to there.
    integer i;
    reg [LW+4:0] distance, was_distance;
    // The winners of a round that is not yet at its branch.
    wire [L-1:0] open = ((state == READ) & answered) | (state == UPDATE) | (state == WRITE) ? won : 0;
    reg was_empty;
    always @* begin
        distance = state == READ ? 4 : state == UPDATE ? 3 : state == WRITE ? 2 : state == BRANCH ? 5 : state == DONE;
        for (i = 0; i < L; i = i + 1) distance = distance + 8 * ((waiting[i] | open[i]) & (state != DONE) & (state != IDLE));
    end
    always @(posedge clk) begin
        was_distance <= distance;
        // The round has no winner.
        was_empty <= (state == UPDATE) & (won == 0);
    end

    // The request that was offered and not taken.
    reg was_offered;
    reg [2:0] was_op;
    reg [L-1:0] was_mask;
    reg [m-1:0] was_bank;
    reg [R-1:0] was_row;
    reg [LK-1:0] was_lock;
    reg [D-1:0] was_data;
    reg [W_at_tag-1:0] was_tag;
    wire [m-1:0] bank_here = sp_bank[lane*m +: m];
    wire [R-1:0] row_here = sp_row[lane*R +: R];
    wire [LK-1:0] lock_here = sp_lock[lane*LK +: LK];
    wire [D-1:0] data_here = sp_data[lane*D +: D];
    always @(posedge clk) begin
        was_offered <= sp_valid & !sp_ready;
        was_op <= sp_op;
        was_mask <= sp_mask;
        was_bank <= bank_here;
        was_row <= row_here;
        was_lock <= lock_here;
        was_data <= data_here;
        was_tag <= sp_tag;
    end

    // The operations.
    reg [D-1:0] result;
    wire below = found < operand;
    wire signed_below = $signed(found) < $signed(operand);
    always @* case (aop)
        0: result = found + operand;
        1: result = found & operand;
        2: result = found | operand;
        3: result = found ^ operand;
        4: result = operand;
        5: result = below ? found : operand;
        6: result = below ? operand : found;
        7: result = signed_below ? found : operand;
        default: result = signed_below ? operand : found;
    endcase

    localparam TOP = (1 << CTW) - 1;
    wire busy = state != IDLE;
    // The age that the unit's counter may have reached.
    wire [15:0] shown = age > TOP ? TOP : age;
    // Registers that a machine without waiting does not have.
{%- if LR + LWR == 0 and LU == 1 and LB == 1 %}
    wire [CTW-1:0] counted = shown;
{%- endif %}
{%- if LR + LWR == 0 %}
    wire [CTW-1:0] target = degree_before * (state == READ ? LR : LWR);
    wire got_there = answered;
{%- endif %}
{%- if LWR > 0 %}
    wire owed_there = 1'b0;
{%- endif %}
    assign keep_place = (state <= DONE) & (!busy | (counted == shown)) & (!locking | ((\unit.sent_q == asked) & (got_there == answered)))
        & (!locking | !answered | ((target == degree_before * (state == READ ? LR : LWR)) & (degree_before <= L)))
        & (owed_there == owed) & (!owed | ((state != UPDATE) & (state != WRITE) & !((state == READ) & answered)))
        & (!locking | !answered | asked) & (locking | !asked | fresh) & (was_rst | (state == was_next)) & (!was_rst | (state == IDLE));
    // The unit overwrites a winner's operand with the result, in its turn. Where
    // lanes take turns, the operands of one are in registers in the cycle behind it.
    localparam LATE = TURNS > 1;
    wire [15:0] my_turn = lane / ALUS;
    wire updated = served[lane] & !(won[lane] & (((state == READ) & answered)
        | ((state == UPDATE) & (age <= my_turn + LATE + 1))));
    wire is_late = (state == UPDATE) & (age > LATE) & (age <= TURNS + LATE);
    wire computes = is_late & (age == my_turn + LATE + 1) & won[lane];
    assign keep_turn = (\unit.turn_q == ((state == UPDATE) & (age <= TURNS) ? 1 << (age - 1) : 0))
        & (computing == (is_late ? 1 << (age - LATE - 1) : 0))
        & (!computes | ((words[(lane%ALUS)*D +: D] == found) & (operands[(lane%ALUS)*D +: D] == operand)));
    assign keep_asks = (\unit.asking_q == ((locking & !asked) | (state == DONE)))
        & (\unit.asks_q == (!locking | asked ? 0 : state == READ ? waiting : won));
    assign keep_pass = !busy | ((\unit.aop_q == aop) & (\unit.mask0_q == mask) & (\unit.bank_q [lane*m +: m] == bank)
        & (\unit.row_q [lane*R +: R] == row) & (\unit.lock_q [lane*LK +: LK] == lock) & (\unit.opnd_q [lane*D +: D] == (updated ? result : operand))
        & (\unit.old_q [lane*D +: D] == found) & (\unit.tag_q == tag) & (\unit.err_q == error) & (\unit.deg1_q == degree)
        & (\unit.first_q == !begun) & (\unit.begun_q == reads) & ((aop <= 8) | (state == DONE)) & (mask[lane] | (found == 0)));
    assign keep_lanes = !busy | ((\unit.waiting_q == (waiting | open)) & ((served & ~mask) == 0)
        & ((!((state == READ) & answered) & (state != UPDATE) & (state != WRITE)) | (\unit.winners_q == won))
        & ((won & ~served) == 0 | (state == READ) & !answered | (state == DONE))
        & ((state != WRITE) | (won != 0)) & ((state != READ) | answered | (waiting != 0))
        & ((state != UPDATE) & (state != WRITE) & (state != BRANCH) | !error)
        & ((state != READ) | answered | !error) & ((state != DONE) | error | (waiting == 0)) & (!error | (open == 0)));
    assign keep_locks = taken == ((state == WRITE) & asked ? 0 : open);

    assign check_released = !sp_valid | (sp_op != 4) | ((sp_mask == taken) & (taken != 0));
    assign check_none_held = ((state != BRANCH) & (state != DONE) & (state != IDLE)) | (taken == 0);
    assign check_waiting = !sp_valid | (sp_op != 3) | ((sp_mask == waiting) & (waiting != 0));
    assign check_all = (state != DONE) | error | (served == mask);
    assign check_moves = state == (was_rst ? IDLE : was_next);
    assign check_nearer = was_rst | (state == was_state) | (was_state == IDLE) | was_empty | (distance < was_distance);
    assign check_requests = (sp_valid == ((locking & !asked) | (state == DONE))) & (at_ready == (state == IDLE))
        & (sp_op == (!sp_valid | (state == DONE) ? 0 : state == READ ? 3 : 4));
    assign check_hold = was_rst | !was_offered | (sp_valid & (sp_op == was_op) & (sp_mask == was_mask) & (bank_here == was_bank)
        & (row_here == was_row) & (lock_here == was_lock) & (data_here == was_data) & (sp_tag == was_tag));
    wire here = sp_valid & (sp_op != 0) & sp_mask[lane];
    assign check_where = (bank_here == (here ? bank : 0)) & (row_here == (here ? row : 0)) & (lock_here == (here ? lock : 0));
    assign check_update = !sp_valid | (sp_op == 0) | (data_here == (here & (sp_op == 4) ? result : 0));
    assign check_result = !sp_valid | (sp_tag == tag) & ((sp_op != 0) | ((sp_mask == mask) & (sp_error == error)
        & (sp_degree == degree) & (data_here == (error ? 0 : found))));
    assign check_rounds = rounds == (busy ? reads : 0);
    assign cover_write = sp_valid & (sp_op == 4) & (sp_mask != mask) & !rst;
    assign cover_second = sp_valid & (sp_op == 3) & (sp_mask != mask) & !rst;
    assign cover_done = (state == DONE) & !error & (mask[0] & mask[1]) & !rst;
    assign cover_lost = (state == BRANCH) & (won == 0) & !rst;
    assign cover_error = (state == DONE) & error & (aop == 0) & !rst;
endmodule
