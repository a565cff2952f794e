// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_scratchpad: the scratchpad of L lanes and B banks: loads, stores,
// load-and-lock, store-and-unlock, one conflict-free group a cycle; lanes on
// one word are served together. Operations: 0 pass, 1 load, 2 store, 3 load
// and lock, 4 store and unlock; others are answered with an error.
//
// Parameters: n = 14, m = 5, L = 32, B = 32, R = 9, ROWS = 384, D = 32, LOCKS
//             = 1024, LKG = 2, MERGE = true, TGW = 43
// Timing:     an access of degree d answers 1 + max(1, d) cycles after the
//             cycle in which it fires (with locks LKG * max(1, d)); one access
//             per cycle at d <= 1
// Reference:  docs/microarchitecture.md, section 7; atomics paper, section II
//
// in  clk            1  clock
// in  rst            1  synchronous reset
// in  req_valid      1  a request is offered
// out req_ready      1  it is taken at the end of this cycle
// in  req_op         3  operation
// in  req_mask      32  active lanes
// in  req_bank     160  bank, m bits per lane
// in  req_row      288  row, R bits per lane
// in  req_lock     320  lock, LK bits per lane
// in  req_data     1024  data, D bits per lane
// in  req_be       128  byte enables of a store, BE bits per lane
// in  req_tag       43  comes back with the response
// out resp_valid     1  a response is offered
// in  resp_ready     1  it is taken
// out resp_op        3  operation of the request
// out resp_mask     32  active lanes of the request
// out resp_tag      43  tag of the request
// out resp_data    1024  words read, or the data of a pass; else 0
// out resp_success  32  lanes that took their lock
// out resp_error     1  unsupported operation, or a row beyond the capacity
// out resp_degree    6  conflict degree
// out busy_more      1  bank conflict: the access in MEM0 stays for another
//                       cycle
// out blocked        1  the response stage cannot take a group

module spad_scratchpad (
    input wire clk,
    input wire rst,
    input wire req_valid,
    output wire req_ready,
    input wire [2:0] req_op,
    input wire [31:0] req_mask,
    input wire [159:0] req_bank,
    input wire [287:0] req_row,
    input wire [319:0] req_lock,
    input wire [1023:0] req_data,
    input wire [127:0] req_be,
    input wire [42:0] req_tag,
    output wire resp_valid,
    input wire resp_ready,
    output wire [2:0] resp_op,
    output wire [31:0] resp_mask,
    output wire [42:0] resp_tag,
    output wire [1023:0] resp_data,
    output wire [31:0] resp_success,
    output wire resp_error,
    output wire [5:0] resp_degree,
    output wire busy_more,
    output wire blocked
);
    localparam [2:0] OP_PASS = 3'd0;
    localparam [2:0] OP_LOAD = 3'd1;
    localparam [2:0] OP_STORE = 3'd2;
    localparam [2:0] OP_LDLK = 3'd3;
    localparam [2:0] OP_STUL = 3'd4;
    localparam L = 32;
    localparam M = 5;
    localparam B = 32;
    localparam R = 9;
    localparam RW = 9;
    localparam D = 32;
    localparam BE = 4;
    localparam LK = 10;
    localparam DG = 6;

    // Request: what is answered with an error takes no part in arbitration.
    wire unsupported = req_op > OP_STUL;
    wire [L-1:0] beyond;
    genvar i;
    generate
        for (i = 0; i < L; i = i + 1) begin : range
            assign beyond[i] = req_mask[i] & (req_row[i*R +: R] > 9'd383);
        end
    endgenerate
    wire refused = unsupported | ((req_op != OP_PASS) & (|beyond));
    wire accessing = (req_op != OP_PASS) & ~refused;
    wire fire = req_valid & req_ready;

    // MEM0: the request in the arbiter.
    reg q_access;
    reg [2:0] q_op;
    reg [L-1:0] q_mask;
    reg [L*LK-1:0] q_lock;
    reg [L*D-1:0] q_data;
    reg [L*BE-1:0] q_be;
    reg [42:0] q_tag;
    reg q_err;

    // MEM1: the group whose read data is present.
    reg p_valid;
    reg p_last;
    reg [L-1:0] p_served;
    reg [L*M-1:0] p_bank;
    reg [2:0] p_op;
    reg [L-1:0] p_mask;
    reg [42:0] p_tag;
    reg p_err;
    reg [DG-1:0] p_degree;
    reg [L*D-1:0] acc;

    wire grp_valid;
    wire grp_last;
    wire [L-1:0] grp_served;
    wire [L-1:0] grp_leader;
    wire [B-1:0] grp_bank_valid;
    wire [DG-1:0] grp_degree;
    wire [L*M-1:0] grp_bank;
    wire [L*R-1:0] grp_row;

    wire adv = resp_ready | ~(p_valid & p_last);
    wire step = grp_valid & adv;
    wire locking = q_access & ((q_op == OP_LDLK) | (q_op == OP_STUL));
    reg [0:0] win;
    wire last_window = ~locking | (win == 1'd1);
    wire arb_adv = adv & last_window;
    wire last = grp_last & last_window;

    spad_conflict_arbiter arbiter (
        .clk(clk),
        .rst(rst),
        .req_valid(req_valid),
        .req_ready(req_ready),
        .req_mask(req_mask),
        .req_access(accessing),
        .req_bank(req_bank),
        .req_row(req_row),
        .adv(arb_adv),
        .grp_valid(grp_valid),
        .grp_last(grp_last),
        .grp_served(grp_served),
        .grp_leader(grp_leader),
        .grp_bank_valid(grp_bank_valid),
        .grp_bank(grp_bank),
        .grp_row(grp_row),
        .grp_degree(grp_degree)
    );

    wire [B*R-1:0] bank_row;
    wire [B*D-1:0] bank_wdata;
    wire [B*BE-1:0] bank_wbe;
    wire [B*D-1:0] bank_rdata;
    wire [L*D-1:0] lane_rdata;

    spad_crossbar crossbar (
        .served(grp_served),
        .leader(grp_leader),
        .lane_bank(grp_bank),
        .lane_row(grp_row),
        .lane_data(q_data),
        .lane_be(q_be),
        .bank_row(bank_row),
        .bank_wdata(bank_wdata),
        .bank_wbe(bank_wbe),
        .sel_valid(p_served),
        .sel_bank(p_bank),
        .bank_rdata(bank_rdata),
        .lane_rdata(lane_rdata)
    );

    wire write = (q_op == OP_STORE) | (q_op == OP_STUL);
    wire read = (q_op == OP_LOAD) | (q_op == OP_LDLK);
    genvar b;
    generate
        for (b = 0; b < B; b = b + 1) begin : bank
            spad_bank_ram ram (
                .clk(clk),
                .rst(rst),
                .en(step & grp_bank_valid[b]),
                .we(write),
                .be(bank_wbe[b*BE +: BE]),
                .row(bank_row[b*R +: RW]),
                .wdata(bank_wdata[b*D +: D]),
                .dout(bank_rdata[b*D +: D])
            );
        end
    endgenerate

    // The lock bits are read and written in the cycle of the data.
    reg [L-1:0] q_succ;
    reg [L-1:0] p_succ;
    wire [L-1:0] lk_success;
    /* verilator lint_off UNUSEDSIGNAL */ // for formal; refused operations never get here
    wire lk_error;
    wire [1023:0] lk_held;
    /* verilator lint_on UNUSEDSIGNAL */

    spad_lock_unit locks (
        .clk(clk),
        .rst(rst),
        .lk_valid(step & locking),
        .lk_win(win),
        .lk_op(q_op),
        .lk_req(grp_leader),
        .lk_addr(q_lock),
        .lk_success(lk_success),
        .lk_error(lk_error),
        .lk_held(lk_held)
    );

    always @(posedge clk) begin
        if (fire) q_lock <= req_lock;
        if (fire) q_succ <= {L{1'b0}};
        else if (step) q_succ <= q_succ | lk_success;
        if (step) p_succ <= q_succ | lk_success;
    end

    always @(posedge clk) begin
        if (rst) win <= 1'd0;
        else if (step & locking) win <= win + 1'd1;
    end

    // Neither the request nor the response has a reset: `grp_valid` and
    // `p_valid` cover them.
    always @(posedge clk) begin
        if (fire) begin
            q_access <= accessing;
            q_op <= req_op;
            q_mask <= req_mask;
            q_data <= req_data;
            q_be <= req_be;
            q_tag <= req_tag;
            q_err <= refused;
        end
    end

    always @(posedge clk) begin
        if (rst) p_valid <= 1'b0;
        else if (adv) p_valid <= grp_valid;
    end
    always @(posedge clk) begin
        if (step) begin
            p_last <= last;
            p_served <= grp_served & {L{read}};
            p_bank <= grp_bank;
            p_op <= q_op;
            p_mask <= q_mask;
            p_tag <= q_tag;
            p_err <= q_err;
            p_degree <= grp_degree;
        end
    end

    // Words of earlier groups, or the data of a PASS.
    wire [L*D-1:0] word;
    wire [L*D-1:0] passed;
    wire pass = step & (q_op == OP_PASS);
    wire answers = (p_op == OP_PASS) | (p_op == OP_LOAD) | (p_op == OP_LDLK);
    wire show = resp_valid & answers & ~p_err;
    generate
        for (i = 0; i < L; i = i + 1) begin : lane
            assign word[i*D +: D] = p_served[i] ? lane_rdata[i*D +: D] : acc[i*D +: D];
            assign passed[i*D +: D] = q_data[i*D +: D] & {D{q_mask[i]}};
            assign resp_data[i*D +: D] = word[i*D +: D] & {D{show & p_mask[i]}};
        end
    endgenerate

    always @(posedge clk) begin
        if (pass) acc <= passed;
        else if (p_valid & ~p_last) acc <= word;
    end

    assign resp_valid = p_valid & p_last;
    assign resp_op = p_op & {3{resp_valid}};
    assign resp_mask = p_mask & {L{resp_valid}};
    assign resp_tag = p_tag & {43{resp_valid}};
    assign resp_success = p_succ & {L{resp_valid}};
    assign resp_error = p_err & resp_valid;
    assign resp_degree = p_degree & {DG{resp_valid}};
    assign busy_more = grp_valid & ~last;
    assign blocked = ~adv;
endmodule
