// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_stream_scratchpad: the scratchpad of L lanes and B banks in MS stages:
// loads, stores, load-and-lock, store-and-unlock, one conflict-free group a
// cycle; lanes on one word are served together. Operations: 0 pass, 1 load, 2
// store, 3 load and lock, 4 store and unlock; others are answered with an
// error. Inside spad_stream: MS = [stream] mem_stages.
//
// Parameters: n = 14, m = 5, L = 32, B = 32, R = 9, ROWS = 384, D = 32,
//             LOCKS = 1024, LKG = 2, MERGE = 1, MS = 2, STG = 14
// Timing:     an access of degree d answers MS - 1 + max(1, d) cycles after
//             the cycle in which it fires (with locks LKG * max(1, d)); one
//             access per cycle at d <= 1
// Reference:  microarchitecture/scratchpad.md; atomics paper, section II
//
// in  clk             1  clock
// in  rst             1  synchronous reset
// in  req_valid       1  a request is offered
// out req_ready       1  a request would be accepted at the end of this cycle
// in  req_op          3  operation
// in  req_mask       32  active lanes
// in  req_bank      160  bank, m bits per lane
// in  req_row       288  row, R bits per lane
// in  req_lock      320  lock, LK bits per lane
// in  req_data     1024  data, D bits per lane
// in  req_be        128  byte enables of a store, DB bits per lane
// in  req_tag       STG  comes back with the response
// out resp_valid      1  a response is offered
// in  resp_ready      1  a response would be accepted
// out resp_op         3  operation of the request
// out resp_mask      32  active lanes of the request
// out resp_tag      STG  tag of the request
// out resp_data    1024  words read, or the data of a pass; else 0
// out resp_success   32  lanes that took their lock
// out resp_error      1  unsupported operation, or a row beyond the capacity
// out resp_degree     6  conflict degree
// out stages          1  MEM1 and on, from bit 0: the stage holds the last
//                        group of an access
// out busy_more       1  bank conflict: the access in MEM0 stays for another
//                        cycle
// out blocked         1  the response stage cannot take a group

`default_nettype none

module spad_stream_scratchpad #(
    parameter integer STG = 14 // 1 to 128
) (
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
    input wire [STG-1:0] req_tag,
    output wire resp_valid,
    input wire resp_ready,
    output wire [2:0] resp_op,
    output wire [31:0] resp_mask,
    output wire [STG-1:0] resp_tag,
    output wire [1023:0] resp_data,
    output wire [31:0] resp_success,
    output wire resp_error,
    output wire [5:0] resp_degree,
    output wire stages,
    output wire busy_more,
    output wire blocked
);
    localparam [2:0] OP_PASS = 3'd0;
    localparam [2:0] OP_LOAD = 3'd1;
    localparam [2:0] OP_STORE = 3'd2;
    localparam [2:0] OP_LDLK = 3'd3;
    localparam [2:0] OP_STUL = 3'd4;
    localparam L = 32;
    localparam m = 5;
    localparam B = 32;
    localparam R = 9;
    localparam RW = 9;
    localparam D = 32;
    localparam DB = 4;
    localparam LK = 10;
    localparam DG = 6;
    genvar i, j;

    // Request: what is answered with an error takes no part in arbitration.
    wire [L-1:0] beyond;
    generate
        for (i = 0; i < L; i = i + 1) begin : range
            assign beyond[i] = req_mask[i] & (req_row[i*R +: R] >= 9'd384);
        end
    endgenerate
    wire refused = (req_op > OP_STUL) | ((req_op != OP_PASS) & (|beyond));
    wire accessing = (req_op != OP_PASS) & ~refused;
    wire fire = req_valid & req_ready;
    // All stages move together, unless the response cannot leave.
    wire adv = resp_ready | ~resp_valid;
    // Gate the byte enables, so that a load does not toggle those of the banks.
    wire storing = (req_op == OP_STORE) | (req_op == OP_STUL);
    wire [L*DB-1:0] stored = req_be & {(L*DB){storing}};

    // MEM0: the request in the arbiter.
    wire mem0_valid;
    reg [2:0] mem0_op_q; // no reset: `mem0_valid` covers it
    reg [L-1:0] mem0_mask_q; // no reset: `mem0_valid` covers it
    reg [L*D-1:0] mem0_data_q; // no reset: `mem0_valid` covers it
    reg [STG-1:0] mem0_tag_q; // no reset: `mem0_valid` covers it
    reg mem0_error_q; // no reset: `mem0_valid` covers it
    reg mem0_locking_q; // no reset: `mem0_valid` covers it
    reg [L*LK-1:0] mem0_lock_q; // no reset: `mem0_valid` covers it
    always @(posedge clk) begin
        if (fire) begin
            mem0_op_q <= req_op;
            mem0_mask_q <= req_mask;
            mem0_data_q <= req_data;
            mem0_tag_q <= req_tag;
            mem0_error_q <= refused;
            mem0_locking_q <= accessing & ((req_op == OP_LDLK) | (req_op == OP_STUL));
            mem0_lock_q <= req_lock;
        end
    end
    reg mem0_window_q;
    wire grp_last;
    always @(posedge clk) begin
        if (rst) mem0_window_q <= 1'b0;
        else if (mem0_valid & adv & mem0_locking_q) mem0_window_q <= mem0_window_q + 1'b1;
    end
    wire last_window = ~mem0_locking_q | (mem0_window_q == 1'b1);
    wire mem0_last = grp_last & last_window;
    assign busy_more = mem0_valid & ~mem0_last;
    assign blocked = ~adv;

    wire [L-1:0] mem0_served;
    wire [L-1:0] mem0_leader;
    wire [L*DB-1:0] mem0_writes;
    wire [B-1:0] mem0_bank_valid;
    wire [L*m-1:0] mem0_bank;
    wire [L*R-1:0] mem0_row;
    wire [DG-1:0] mem0_degree;
    spad_conflict_arbiter arbiter (
        .clk(clk),
        .rst(rst),
        .req_valid(req_valid),
        .req_ready(req_ready),
        .req_mask(req_mask),
        .req_access(accessing),
        .req_bank(req_bank),
        .req_row(req_row),
        .req_be(stored),
        .adv(adv & last_window),
        .grp_valid(mem0_valid),
        .grp_last(grp_last),
        .grp_served(mem0_served),
        .grp_leader(mem0_leader),
        .grp_writes(mem0_writes),
        .grp_bank_valid(mem0_bank_valid),
        .grp_bank(mem0_bank),
        .grp_row(mem0_row),
        .grp_degree(mem0_degree)
    );
    // The banks that a group writes: one bit for all would have to drive every
    // memory.
    wire mem0_stores = (mem0_op_q == OP_STORE) | (mem0_op_q == OP_STUL);
    wire [B-1:0] mem0_bank_write = mem0_bank_valid & {B{mem0_stores}};

    // The banks.
    wire [B*R-1:0] bank_row;
    wire [B*D-1:0] bank_wdata;
    wire [B*DB-1:0] bank_wbe;
    wire [B*D-1:0] bank_rdata;
    wire access = mem0_valid & adv;
    wire read = (mem0_op_q == OP_LOAD) | (mem0_op_q == OP_LDLK);
    generate
        for (j = 0; j < B; j = j + 1) begin : bank
            spad_bank_ram ram (
                .clk(clk),
                .rst(rst),
                .en(access & mem0_bank_valid[j]),
                .we(mem0_bank_write[j]),
                .be(bank_wbe[j*DB +: DB]),
                .row(bank_row[j*R +: RW]),
                .wdata(bank_wdata[j*D +: D]),
                .dout(bank_rdata[j*D +: D])
            );
        end
    endgenerate

    // The lock bits are read and written in the cycle of the data. `success_q`
    // has the lanes of the access's earlier groups and windows.
    reg [L-1:0] success_q;
    wire [L-1:0] lk_success;
    /* verilator lint_off UNUSEDSIGNAL */ // for formal; refused operations never get here
    wire lk_error;
    wire [1023:0] lk_held;
    /* verilator lint_on UNUSEDSIGNAL */
    spad_lock_unit locks (
        .clk(clk),
        .rst(rst),
        .lk_valid(access & mem0_locking_q),
        .lk_win(mem0_window_q),
        .lk_op(mem0_op_q),
        .lk_req(mem0_leader),
        .lk_addr(mem0_lock_q),
        .lk_success(lk_success),
        .lk_error(lk_error),
        .lk_held(lk_held)
    );
    wire [L-1:0] succeeded = success_q | lk_success;
    always @(posedge clk) begin
        if (rst) success_q <= {L{1'b0}};
        else if (access) success_q <= succeeded & {L{~mem0_last}};
    end

    // MEM1: the banks show the group's words.
    reg mem1_valid_q;
    always @(posedge clk) begin
        if (rst) mem1_valid_q <= 1'b0;
        else if (adv) mem1_valid_q <= mem0_valid;
    end
    reg mem1_last_q; // no reset: `mem1_valid_q` covers it
    reg [L-1:0] mem1_served_q; // no reset: `mem1_valid_q` covers it
    reg [L*m-1:0] mem1_bank_q; // no reset: `mem1_valid_q` covers it
    reg [DG-1:0] mem1_degree_q; // no reset: `mem1_valid_q` covers it
    reg [2:0] mem1_op_q; // no reset: `mem1_valid_q` covers it
    reg [L-1:0] mem1_mask_q; // no reset: `mem1_valid_q` covers it
    reg [STG-1:0] mem1_tag_q; // no reset: `mem1_valid_q` covers it
    reg mem1_error_q; // no reset: `mem1_valid_q` covers it
    reg [L-1:0] mem1_success_q; // no reset: `mem1_valid_q` covers it
    always @(posedge clk) begin
        if (access) begin
            mem1_last_q <= mem0_last;
            mem1_served_q <= mem0_served & {L{read}};
            mem1_bank_q <= mem0_bank;
            mem1_degree_q <= mem0_degree;
            mem1_op_q <= mem0_op_q;
            mem1_mask_q <= mem0_mask_q;
            mem1_tag_q <= mem0_tag_q;
            mem1_error_q <= mem0_error_q;
            mem1_success_q <= succeeded;
        end
    end

    // To the banks, and back to the lanes.
    wire [L*D-1:0] lane_rdata;
    spad_crossbar crossbar (
        .leader(mem0_leader),
        .lane_bank(mem0_bank),
        .lane_row(mem0_row),
        .lane_data(mem0_data_q),
        .lane_writes(mem0_writes),
        .bank_row(bank_row),
        .bank_wdata(bank_wdata),
        .bank_wbe(bank_wbe),
        .sel_valid(mem1_served_q),
        .sel_bank(mem1_bank_q),
        .bank_rdata(bank_rdata),
        .lane_rdata(lane_rdata)
    );

    // Response: the last group of an access. Data of what does not answer with
    // any is zero.
    assign resp_valid = mem1_valid_q & mem1_last_q;
    wire pass = mem0_valid & adv & (mem0_op_q == OP_PASS);
    wire gathers = mem1_valid_q & ~mem1_last_q;
    wire answers = (mem1_op_q == OP_PASS) | (mem1_op_q == OP_LOAD) | (mem1_op_q == OP_LDLK);
    wire show = resp_valid & answers & ~mem1_error_q;
    assign resp_op = mem1_op_q & {3{resp_valid}};
    assign resp_mask = mem1_mask_q & {L{resp_valid}};
    assign resp_tag = mem1_tag_q & {STG{resp_valid}};
    assign resp_success = mem1_success_q & {L{resp_valid}};
    assign resp_error = mem1_error_q & resp_valid;
    assign resp_degree = mem1_degree_q & {DG{resp_valid}};
    assign stages = {resp_valid};

    // Words of earlier groups, or the data of a PASS.
    reg [L*D-1:0] acc_q; // no reset: an access writes it before it reads it
    wire [L*D-1:0] word;
    wire [L*D-1:0] passed;
    generate
        for (i = 0; i < L; i = i + 1) begin : lane
            assign word[i*D +: D] = mem1_served_q[i] ? lane_rdata[i*D +: D] : acc_q[i*D +: D];
            assign passed[i*D +: D] = mem0_data_q[i*D +: D] & {D{mem0_mask_q[i]}};
            assign resp_data[i*D +: D] = word[i*D +: D] & {D{show & mem1_mask_q[i]}};
        end
    endgenerate
    always @(posedge clk) begin
        if (pass) acc_q <= passed;
        else if (gathers) acc_q <= word;
    end
endmodule

`default_nettype wire
