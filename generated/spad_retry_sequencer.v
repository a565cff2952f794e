// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_retry_sequencer: executes one pass of an atomic operation as rounds of
// load-and-lock, update, store-and-unlock, branch, until every lane has had
// its lock. Operations: 0 add, 1 and, 2 or, 3 xor, 4 exchange, 5 umin, 6 umax,
// 7 smin, 8 smax. ALUS lanes are updated in a cycle.
//
// Parameters: L = 32, m = 5, R = 9, LK = 10, D = 32, DG = 6, LR = 0, LU = 1,
//             LWR = 0, LB = 1, TGW = 43
// Timing:     a round takes at least LR * r + LU + LWR * w + LB cycles for
//             degrees r of the read and w of the write, and its read lasts
//             until the scratchpad answers. With LR, LU, LWR, LB = 0, 1, 0, 1
//             and an answer S cycles after the cycle in which the read fires,
//             a round takes S + 4 cycles
// Reference:  atomics paper, sections II and III;
//             microarchitecture/retry-sequencer.md
//
// in  clk           1  clock
// in  rst           1  synchronous reset
// in  at_valid      1  a pass is offered
// out at_ready      1  a pass would be accepted: the sequencer is idle
// in  at_aop        4  operation
// in  at_mask      32  active lanes
// in  at_bank     160  bank, m bits per lane
// in  at_row      288  row, R bits per lane
// in  at_lock     320  lock, LK bits per lane
// in  at_data    1024  operand, D bits per lane
// in  at_tag       43  comes back with the result
// out sp_valid      1  a scratchpad request is offered
// in  sp_ready      1  a request would be accepted
// out sp_op         3  3 load and lock, 4 store and unlock, 0 the final pass
// out sp_mask      32  lanes of the request
// out sp_bank     160  their banks; else 0
// out sp_row      288  their rows; else 0
// out sp_lock     320  their locks; else 0
// out sp_data    1024  data of a store, or the old words at the end; else 0
// out sp_tag       43  tag of the pass
// out sp_error      1  at the end: error
// out sp_degree     6  at the end: degree of the first read
// in  sr_valid      1  response to one of its requests
// in  sr_mask      32  lanes of the response
// in  sr_data    1024  words read
// in  sr_success   32  lanes that took their lock
// in  sr_error      1  error
// in  sr_degree     6  conflict degree
// out state         3  0 idle, 1 read, 2 update, 3 write, 4 branch, 5 done
// out rounds       16  rounds begun in this pass

`default_nettype none

module spad_retry_sequencer (
    input wire clk,
    input wire rst,
    input wire at_valid,
    output wire at_ready,
    input wire [3:0] at_aop,
    input wire [31:0] at_mask,
    input wire [159:0] at_bank,
    input wire [287:0] at_row,
    input wire [319:0] at_lock,
    input wire [1023:0] at_data,
    input wire [42:0] at_tag,
    output wire sp_valid,
    input wire sp_ready,
    output wire [2:0] sp_op,
    output wire [31:0] sp_mask,
    output wire [159:0] sp_bank,
    output wire [287:0] sp_row,
    output wire [319:0] sp_lock,
    output wire [1023:0] sp_data,
    output wire [42:0] sp_tag,
    output wire sp_error,
    output wire [5:0] sp_degree,
    input wire sr_valid,
    /* verilator lint_off UNUSEDSIGNAL */ // the mask of the request is known
    input wire [31:0] sr_mask,
    /* verilator lint_on UNUSEDSIGNAL */
    input wire [1023:0] sr_data,
    input wire [31:0] sr_success,
    input wire sr_error,
    input wire [5:0] sr_degree,
    output wire [2:0] state,
    output wire [15:0] rounds
);
    localparam [2:0] OP_PASS = 3'd0;
    localparam [2:0] OP_LDLK = 3'd3;
    localparam [2:0] OP_STUL = 3'd4;
    localparam [3:0] AOP_SMAX = 4'd8;
    localparam [2:0] SEQ_IDLE = 3'd0;
    localparam [2:0] SEQ_READ = 3'd1;
    localparam [2:0] SEQ_UPDATE = 3'd2;
    localparam [2:0] SEQ_WRITE = 3'd3;
    localparam [2:0] SEQ_BRANCH = 3'd4;
    localparam [2:0] SEQ_DONE = 3'd5;
    localparam m = 5;
    localparam R = 9;
    localparam L = 32;
    localparam D = 32;
    localparam LK = 10;
    localparam DG = 6;
    localparam TGW = 43;
    localparam TURNS = 1;
    localparam ALUS = 32;

    // The state.
    reg [2:0] state_q;
    // The state's request has been taken.
    reg sent_q;
    // A store-and-unlock has been taken; its response has not come.
    reg owed_q;
    // The pass, from `accept` until IDLE.
    reg [3:0] aop_q; // no reset: `accept` sets it
    reg [L-1:0] mask0_q; // no reset: `accept` sets it
    reg [L*m-1:0] bank_q; // no reset: `accept` sets it
    reg [L*R-1:0] row_q; // no reset: `accept` sets it
    reg [L*LK-1:0] lock_q; // no reset: `accept` sets it
    reg [L*D-1:0] opnd_q; // no reset: `accept` sets it
    reg [L*D-1:0] old_q; // no reset: `accept` sets it
    reg [TGW-1:0] tag_q; // no reset: `accept` sets it
    // Progress: lanes that wait, lanes that have their lock, the degree of the
    // first read, errors, rounds.
    reg [L-1:0] waiting_q; // no reset: `accept` sets it
    reg [L-1:0] winners_q; // no reset: a read sets it
    reg first_q; // no reset: `accept` sets it
    reg [DG-1:0] deg1_q; // no reset: `accept` sets it
    reg err_q; // no reset: `accept` sets it
    reg [15:0] begun_q; // no reset: `accept` sets it
    // The request of this cycle: whether there is one, and the lanes that it
    // locks or unlocks.
    reg asking_q;
    reg [L-1:0] asks_q;

    // What happens in this cycle.
    wire idle = state_q == SEQ_IDLE;
    wire reading = state_q == SEQ_READ;
    wire writing = state_q == SEQ_WRITE;
    wire done = state_q == SEQ_DONE;
    wire accept = at_valid & at_ready;
    wire fire = sp_valid & sp_ready;
    wire answer = sr_valid & ~owed_q;
    wire read = reading & answer;
    wire unsupported = at_aop > AOP_SMAX;
    wire failed = err_q | (answer & sr_error);

    // The next state. A round goes from READ through BRANCH, and again while
    // lanes wait for their lock.
    wire [2:0] after_idle = ~at_valid ? SEQ_IDLE
        : (unsupported | ~(|at_mask)) ? SEQ_DONE
        : SEQ_READ;
    wire [2:0] after_read = ~answer ? SEQ_READ
        : failed ? SEQ_DONE
        : SEQ_UPDATE;
    wire [2:0] after_update = (|winners_q) ? SEQ_WRITE : SEQ_BRANCH;
    wire [2:0] after_write = fire ? SEQ_BRANCH : SEQ_WRITE;
    wire [2:0] after_branch = (|waiting_q) ? SEQ_READ : SEQ_DONE;
    wire [2:0] after_done = sp_ready ? SEQ_IDLE : SEQ_DONE;
    reg [2:0] state_d;
    always @* begin
        case (state_q)
            SEQ_IDLE: state_d = after_idle;
            SEQ_READ: state_d = after_read;
            SEQ_UPDATE: state_d = after_update;
            SEQ_WRITE: state_d = after_write;
            SEQ_BRANCH: state_d = after_branch;
            SEQ_DONE: state_d = after_done;
            default: state_d = SEQ_IDLE;
        endcase
    end

    // Within a state: its cycles, its request, its answer.
    wire leaves = state_d != state_q;
    wire sent_d = ~leaves & (sent_q | fire);
    always @(posedge clk) begin
        if (rst) begin
            state_q <= SEQ_IDLE;
            sent_q <= 1'b0;
        end else begin
            state_q <= state_d;
            sent_q <= sent_d;
        end
    end
    always @(posedge clk) begin
        if (rst) owed_q <= 1'b0;
        else owed_q <= (writing & fire) | (owed_q & ~sr_valid);
    end

    // The pass.
    always @(posedge clk) begin
        if (accept) begin
            aop_q <= at_aop;
            mask0_q <= at_mask;
            bank_q <= at_bank;
            row_q <= at_row;
            lock_q <= at_lock;
            tag_q <= at_tag;
        end
    end
    always @(posedge clk) begin
        if (accept) waiting_q <= at_mask;
        else if (writing & fire) waiting_q <= waiting_q & ~winners_q;
    end
    always @(posedge clk) begin
        if (read) winners_q <= sr_success;
    end
    always @(posedge clk) begin
        first_q <= accept | (first_q & ~read);
    end
    always @(posedge clk) begin
        if (accept) deg1_q <= 6'd0;
        else if (read & first_q) deg1_q <= sr_degree;
    end
    always @(posedge clk) begin
        if (accept) err_q <= unsupported;
        else if (read) err_q <= failed;
    end
    always @(posedge clk) begin
        if (accept) begun_q <= 16'd0;
        else if (reading & fire & ~(&begun_q)) begun_q <= begun_q + 16'd1;
    end

    // Whether the next cycle makes a request, and for which lanes: both from
    // registers, because the whole request depends on them.
    wire begins_read = state_d == SEQ_READ;
    wire locks_next = (begins_read | (state_d == SEQ_WRITE)) & ~sent_d;
    wire [L-1:0] lanes_next = accept ? at_mask
        : begins_read ? waiting_q
        : winners_q;
    always @(posedge clk) begin
        if (rst) begin
            asking_q <= 1'b0;
            asks_q <= {L{1'b0}};
        end else begin
            asking_q <= locks_next | (state_d == SEQ_DONE);
            asks_q <= lanes_next & {L{locks_next}};
        end
    end

    // What is asked of the scratchpad, and what is handed over at the end.
    assign sp_valid = asking_q;
    assign sp_op = (done | ~asking_q) ? OP_PASS
        : reading ? OP_LDLK
        : OP_STUL;
    // Lanes outside the mask are zero.
    assign sp_mask = asks_q | (mask0_q & {L{done}});
    wire [L-1:0] stores = asks_q & {L{writing}};
    assign sp_tag = tag_q & {TGW{sp_valid}};
    wire shows = done & ~err_q;
    assign sp_error = done & err_q;
    assign sp_degree = deg1_q & {DG{done}};
    assign at_ready = idle;
    assign state = state_q;
    assign rounds = begun_q & {16{~idle}};

    genvar i, t;
    generate
        for (i = 0; i < L; i = i + 1) begin : lane
            assign sp_bank[i*m +: m] = bank_q[i*m +: m] & {m{asks_q[i]}};
            assign sp_row[i*R +: R] = row_q[i*R +: R] & {R{asks_q[i]}};
            assign sp_lock[i*LK +: LK] = lock_q[i*LK +: LK] & {LK{asks_q[i]}};
            assign sp_data[i*D +: D] = (opnd_q[i*D +: D] & {D{stores[i]}})
                | (old_q[i*D +: D] & {D{shows}});
            always @(posedge clk) begin
                if (accept) old_q[i*D +: D] <= 32'd0;
                else if (read & sr_success[i]) old_q[i*D +: D] <= sr_data[i*D +: D];
            end
        end
    endgenerate

    // In the first cycles of UPDATE, the operands of the winners become the
    // words to store, ALUS lanes in a turn, lowest lanes first.
    reg [TURNS-1:0] turn_q;
    always @(posedge clk) begin
        if (rst) turn_q <= {TURNS{1'b0}};
        else if (reading & (state_d == SEQ_UPDATE)) turn_q <= 1'b1;
        else turn_q <= turn_q << 1;
    end
    wire [ALUS*D-1:0] result;
    generate
        for (i = 0; i < ALUS; i = i + 1) begin : alu
            spad_atomic_alu slice (
                .aop(aop_q),
                .word(old_q[i*D +: D]),
                .operand(opnd_q[i*D +: D]),
                .result(result[i*D +: D])
            );
        end
        for (t = 0; t < TURNS; t = t + 1) begin : each_turn
            for (i = 0; i < ALUS; i = i + 1) begin : winner
                wire updates = turn_q[t] & winners_q[t*ALUS + i];
                always @(posedge clk) begin
                    if (accept) opnd_q[(t*ALUS + i)*D +: D] <= at_data[(t*ALUS + i)*D +: D];
                    else if (updates) opnd_q[(t*ALUS + i)*D +: D] <= result[i*D +: D];
                end
            end
        end
    endgenerate
endmodule

`default_nettype wire
