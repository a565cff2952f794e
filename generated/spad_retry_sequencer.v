// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_retry_sequencer: executes one pass of an atomic operation as rounds of
// load-and-lock, update, store-and-unlock, branch, until every lane has had
// its lock. Operations: 0 add, 1 and, 2 or, 3 xor, 4 exchange, 5 umin, 6 umax,
// 7 smin, 8 smax. ALUS lanes are updated in a cycle.
//
// Parameters: L = 32, m = 5, R = 9, LK = 10, D = 32, DG = 6, LR = 32, LU = 18,
//             LWR = 36, LB = 32, TGW = 43
// Timing:     a round takes LR * r + LU + LWR * w + LB cycles for degrees r of
//             the read and w of the write
// Reference:  atomics paper, sections II and III; docs/microarchitecture.md,
//             section 8
//
// in  clk          1  clock
// in  rst          1  synchronous reset
// in  at_valid     1  a pass is offered
// out at_ready     1  it is taken: the sequencer is idle
// in  at_aop       4  operation
// in  at_mask     32  active lanes
// in  at_bank    160  bank, m bits per lane
// in  at_row     288  row, R bits per lane
// in  at_lock    320  lock, LK bits per lane
// in  at_data    1024  operand, D bits per lane
// in  at_tag      43  comes back with the result
// out sp_valid     1  a scratchpad request is offered
// in  sp_ready     1  it is taken
// out sp_op        3  3 load and lock, 4 store and unlock, 0 the final pass
// out sp_mask     32  its lanes
// out sp_bank    160  their banks; else 0
// out sp_row     288  their rows; else 0
// out sp_lock    320  their locks; else 0
// out sp_data    1024  data of a store, or the old words at the end; else 0
// out sp_tag      43  tag of the pass
// out sp_error     1  at the end: error
// out sp_degree    6  at the end: degree of the first read
// in  sr_valid     1  response to one of its requests
// in  sr_mask     32  its lanes
// in  sr_data    1024  words read
// in  sr_success  32  lanes that took their lock
// in  sr_error     1  error
// in  sr_degree    6  conflict degree
// out state        3  0 idle, 1 read, 2 update, 3 write, 4 branch, 5 done
// out rounds      16  rounds begun in this pass

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
    localparam [3:0] AOP_ADD = 4'd0;
    localparam [3:0] AOP_AND = 4'd1;
    localparam [3:0] AOP_OR = 4'd2;
    localparam [3:0] AOP_XOR = 4'd3;
    localparam [3:0] AOP_EXCH = 4'd4;
    localparam [3:0] AOP_UMIN = 4'd5;
    localparam [3:0] AOP_UMAX = 4'd6;
    localparam [3:0] AOP_SMIN = 4'd7;
    localparam [3:0] AOP_SMAX = 4'd8;
    localparam [2:0] SEQ_IDLE = 3'd0;
    localparam [2:0] SEQ_READ = 3'd1;
    localparam [2:0] SEQ_UPDATE = 3'd2;
    localparam [2:0] SEQ_WRITE = 3'd3;
    localparam [2:0] SEQ_BRANCH = 3'd4;
    localparam [2:0] SEQ_DONE = 3'd5;
    localparam L = 32;
    localparam M = 5;
    localparam R = 9;
    localparam LK = 10;
    localparam D = 32;
    localparam DG = 6;

    localparam ALUS = 2;
    localparam TURNS = 16;

    reg [2:0] now;
    // Number of the present cycle within the state, and the cycle to leave in.
    reg [10:0] cnt;
    reg [10:0] tgt;
    // The state's request has been taken; its response has come.
    reg sent;
    reg got;
    reg [3:0] aop;
    reg [L-1:0] mask0;
    reg [L-1:0] waiting;
    reg [L-1:0] winners;
    reg [L*M-1:0] bank;
    reg [L*R-1:0] row;
    reg [L*LK-1:0] lock;
    reg [L*D-1:0] opnd;
    reg [L*D-1:0] old;
    reg [DG-1:0] deg1;
    reg first;
    reg err;
    reg [42:0] tag;
    reg [15:0] begun;

    wire reading = now == SEQ_READ;
    wire writing = now == SEQ_WRITE;
    wire fire = sp_valid & sp_ready;
    wire accept = at_valid & at_ready;
    wire unsupported = at_aop > AOP_SMAX;

    wire [10:0] degree = {5'd0, sr_degree};
    wire [10:0] due = sr_valid ? degree * (writing ? 11'd36 : 11'd32) : tgt;
    wire answered = (got | sr_valid) & (cnt >= due);
    wire failed = err | (sr_valid & sr_error);

    reg [2:0] next;
    always @* begin
        next = now;
        case (now)
            SEQ_IDLE: if (at_valid) next = (unsupported | ~(|at_mask)) ? SEQ_DONE : SEQ_READ;
            SEQ_READ: if (answered) next = failed ? SEQ_DONE : SEQ_UPDATE;
            SEQ_UPDATE: if (cnt == 11'd18) next = (|winners) ? SEQ_WRITE : SEQ_BRANCH;
            SEQ_WRITE: if (answered) next = SEQ_BRANCH;
            SEQ_BRANCH: if (cnt == 11'd32) next = (|waiting) ? SEQ_READ : SEQ_DONE;
            SEQ_DONE: if (sp_ready) next = SEQ_IDLE;
            default: next = SEQ_IDLE;
        endcase
    end

    always @(posedge clk) begin
        if (rst) begin
            now <= SEQ_IDLE;
            cnt <= 11'd0;
            tgt <= 11'd0;
            sent <= 1'b0;
            got <= 1'b0;
        end else begin
            now <= next;
            if (next != now) begin
                cnt <= 11'd1;
                sent <= 1'b0;
                got <= 1'b0;
            end else begin
                if (~(&cnt)) cnt <= cnt + 11'd1;
                sent <= sent | fire;
                got <= got | sr_valid;
            end
            if (sr_valid) tgt <= due;
        end
    end

    // Not reset: used between `accept` and IDLE only.
    always @(posedge clk) begin
        if (accept) begin
            aop <= at_aop;
            mask0 <= at_mask;
            bank <= at_bank;
            row <= at_row;
            lock <= at_lock;
            tag <= at_tag;
        end
    end

    // In the first TURNS cycles of UPDATE, the operands of the winners become
    // the words to store, ALUS lanes in a turn, lowest lanes first.
    reg [TURNS-1:0] turn;
    always @(posedge clk) begin
        if (rst) turn <= {TURNS{1'b0}};
        else if (reading & (next == SEQ_UPDATE)) turn <= 16'd1;
        else turn <= turn << 1;
    end

    always @(posedge clk) begin
        if (rst) begin
            waiting <= {L{1'b0}};
            winners <= {L{1'b0}};
            deg1 <= {DG{1'b0}};
            first <= 1'b0;
            err <= 1'b0;
            begun <= 16'd0;
        end else if (accept) begin
            waiting <= at_mask;
            deg1 <= {DG{1'b0}};
            first <= 1'b1;
            err <= unsupported;
            begun <= 16'd0;
        end else begin
            if (reading & sr_valid) begin
                winners <= sr_success;
                if (first) deg1 <= sr_degree;
                first <= 1'b0;
                err <= failed;
            end
            if (reading & fire & ~(&begun)) begun <= begun + 16'd1;
            if (writing & answered) waiting <= waiting & ~winners;
        end
    end

    // What is asked of the scratchpad; lanes outside the mask are zero.
    wire locking = sp_valid & (reading | writing);
    wire [L-1:0] lanes = reading ? waiting : winners;
    assign sp_valid = (reading & ~sent) | (writing & ~sent) | (now == SEQ_DONE);
    assign sp_op = ~locking ? OP_PASS : reading ? OP_LDLK : OP_STUL;
    assign sp_mask = (locking ? lanes : mask0) & {L{sp_valid}};
    assign sp_tag = tag & {43{sp_valid}};
    assign sp_error = err & (now == SEQ_DONE);
    assign sp_degree = deg1 & {DG{now == SEQ_DONE}};
    assign at_ready = now == SEQ_IDLE;
    assign state = now;
    assign rounds = begun & {16{now != SEQ_IDLE}};

    wire [ALUS*D-1:0] result;
    genvar i, t;
    generate
        for (i = 0; i < L; i = i + 1) begin : lane
            wire asks = locking & lanes[i];
            assign sp_bank[i*M +: M] = bank[i*M +: M] & {M{asks}};
            assign sp_row[i*R +: R] = row[i*R +: R] & {R{asks}};
            assign sp_lock[i*LK +: LK] = lock[i*LK +: LK] & {LK{asks}};

            assign sp_data[i*D +: D] = (opnd[i*D +: D] & {D{asks & writing}})
                | (old[i*D +: D] & {D{(now == SEQ_DONE) & ~err}});

            always @(posedge clk) begin
                if (accept) old[i*D +: D] <= {D{1'b0}};
                else if (reading & sr_valid & sr_success[i]) old[i*D +: D] <= sr_data[i*D +: D];
            end

            wire updates = turn[i/ALUS] & winners[i];
            always @(posedge clk) begin
                if (accept) opnd[i*D +: D] <= at_data[i*D +: D];
                else if (updates) opnd[i*D +: D] <= result[(i%ALUS)*D +: D];
            end
        end

        for (i = 0; i < ALUS; i = i + 1) begin : alu
            wire [TURNS*D-1:0] olds;
            wire [TURNS*D-1:0] opnds;
            for (t = 0; t < TURNS; t = t + 1) begin : of_turn
                assign olds[t*D +: D] = old[(t*ALUS + i)*D +: D];
                assign opnds[t*D +: D] = opnd[(t*ALUS + i)*D +: D];
            end
            wire [D-1:0] a;
            wire [D-1:0] b;
            spad_pick_16x32 old_of (.pick(turn), .words(olds), .word(a));
            spad_pick_16x32 opnd_of (.pick(turn), .words(opnds), .word(b));
            wire below = a < b;
            wire signed_below = (a[D-1] ^ b[D-1]) ? a[D-1] : below;
            reg [D-1:0] f;
            always @* begin
                case (aop)
                    AOP_ADD: f = a + b;
                    AOP_AND: f = a & b;
                    AOP_OR: f = a | b;
                    AOP_XOR: f = a ^ b;
                    AOP_EXCH: f = b;
                    AOP_UMIN: f = below ? a : b;
                    AOP_UMAX: f = below ? b : a;
                    AOP_SMIN: f = signed_below ? a : b;
                    default: f = signed_below ? b : a;
                endcase
            end
            assign result[i*D +: D] = f;
        end
    endgenerate
endmodule
