// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_scratchpad: the scratchpad of L lanes and B banks in MS stages: loads,
// stores, load-and-lock, store-and-unlock, one conflict-free group a cycle;
// lanes on one word are served together. Operations: 0 pass, 1 load, 2 store,
// 3 load and lock, 4 store and unlock; others are answered with an error.
//
// Parameters: n = 14, m = 5, L = 32, B = 32, R = 9, ROWS = 384, D = 32, LOCKS
//             = 1024, LKG = 2, MERGE = 1, MS = 4, TGW = 43
// Timing:     an access of degree d answers MS - 1 + max(1, d) cycles after
//             the cycle in which it fires (with locks LKG * max(1, d)); one
//             access per cycle at d <= 1
// Reference:  microarchitecture/scratchpad.md; atomics paper, section II
//
// in  clk            1  clock
// in  rst            1  synchronous reset
// in  req_valid      1  a request is offered
// out req_ready      1  the request is accepted at the end of this cycle
// in  req_op         3  operation
// in  req_mask      32  active lanes
// in  req_bank     160  bank, m bits per lane
// in  req_row      288  row, R bits per lane
// in  req_lock     320  lock, LK bits per lane
// in  req_data     1024  data, D bits per lane
// in  req_be       128  byte enables of a store, BE bits per lane
// in  req_tag       43  comes back with the response
// out resp_valid     1  a response is offered
// in  resp_ready     1  the response is accepted
// out resp_op        3  operation of the request
// out resp_mask     32  active lanes of the request
// out resp_tag      43  tag of the request
// out resp_data    1024  words read, or the data of a pass; else 0
// out resp_success  32  lanes that took their lock
// out resp_error     1  unsupported operation, or a row beyond the capacity
// out resp_degree    6  conflict degree
// out stages         3  MEM1 and on, from bit 0: the stage holds the last
//                       group of an access
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
    output wire [2:0] stages,
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
    localparam BE = 4;
    localparam LK = 10;
    localparam DG = 6;
    localparam TGW = 43;
    genvar i, b;

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
    // The byte enables of a bank do not toggle with those of a load.
    wire storing = (req_op == OP_STORE) | (req_op == OP_STUL);
    wire [L*BE-1:0] stored = req_be & {(L*BE){storing}};

    // MEM0: the request in the arbiter. It has no reset: `mem0_valid` covers
    // it.
    wire mem0_valid;
    reg [2:0] mem0_op;
    reg [L-1:0] mem0_mask;
    reg [L*D-1:0] mem0_data;
    reg [TGW-1:0] mem0_tag;
    reg mem0_error;
    reg mem0_locking;
    reg [L*LK-1:0] mem0_lock;
    always @(posedge clk) begin
        if (fire) begin
            mem0_op <= req_op;
            mem0_mask <= req_mask;
            mem0_data <= req_data;
            mem0_tag <= req_tag;
            mem0_error <= refused;
            mem0_locking <= accessing & ((req_op == OP_LDLK) | (req_op == OP_STUL));
            mem0_lock <= req_lock;
        end
    end
    reg mem0_window;
    wire grp_last;
    always @(posedge clk) begin
        if (rst) mem0_window <= 1'b0;
        else if (mem0_valid & adv & mem0_locking) mem0_window <= mem0_window + 1'b1;
    end
    wire last_window = ~mem0_locking | (mem0_window == 1'b1);
    wire mem0_last = grp_last & last_window;
    assign busy_more = mem0_valid & ~mem0_last;
    assign blocked = ~adv;

    wire [L-1:0] mem0_served;
    wire [L-1:0] mem0_leader;
    wire [L*BE-1:0] mem0_writes;
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
    wire mem0_stores = (mem0_op == OP_STORE) | (mem0_op == OP_STUL);
    wire [B-1:0] mem0_bank_write = mem0_bank_valid & {32{mem0_stores}};

    // MEM1: a group on its way to the banks.
    reg mem1_valid;
    always @(posedge clk) begin
        if (rst) mem1_valid <= 1'b0;
        else if (adv) mem1_valid <= mem0_valid;
    end
    reg mem1_last;
    reg [L-1:0] mem1_served;
    reg [L*m-1:0] mem1_bank;
    reg [DG-1:0] mem1_degree;
    reg [2:0] mem1_op;
    reg [L-1:0] mem1_mask;
    reg [TGW-1:0] mem1_tag;
    reg mem1_error;
    reg [L-1:0] mem1_leader;
    reg [B-1:0] mem1_bank_valid;
    reg [B-1:0] mem1_bank_write;
    reg [L*R-1:0] mem1_row;
    reg [L*D-1:0] mem1_data;
    reg [L*BE-1:0] mem1_writes;
    reg mem1_locking;
    reg [L*LK-1:0] mem1_lock;
    reg mem1_window;
    always @(posedge clk) begin
        if (mem0_valid & adv) begin
            mem1_last <= mem0_last;
            mem1_served <= mem0_served;
            mem1_bank <= mem0_bank;
            mem1_degree <= mem0_degree;
            mem1_op <= mem0_op;
            mem1_mask <= mem0_mask;
            mem1_tag <= mem0_tag;
            mem1_error <= mem0_error;
            mem1_leader <= mem0_leader;
            mem1_bank_valid <= mem0_bank_valid;
            mem1_bank_write <= mem0_bank_write;
            mem1_row <= mem0_row;
            mem1_data <= mem0_data;
            mem1_writes <= mem0_writes;
            mem1_locking <= mem0_locking;
            mem1_lock <= mem0_lock;
            mem1_window <= mem0_window;
        end
    end

    // The banks.
    wire [B*R-1:0] bank_row;
    wire [B*D-1:0] bank_wdata;
    wire [B*BE-1:0] bank_wbe;
    wire [B*D-1:0] bank_rdata;
    wire access = mem1_valid & adv;
    wire read = (mem1_op == OP_LOAD) | (mem1_op == OP_LDLK);
    generate
        for (b = 0; b < B; b = b + 1) begin : bank
            spad_bank_ram ram (
                .clk(clk),
                .rst(rst),
                .en(access & mem1_bank_valid[b]),
                .we(mem1_bank_write[b]),
                .be(bank_wbe[b*BE +: BE]),
                .row(bank_row[b*R +: RW]),
                .wdata(bank_wdata[b*D +: D]),
                .dout(bank_rdata[b*D +: D])
            );
        end
    endgenerate

    // The lock bits are read and written in the cycle of the data. `success`
    // has the lanes of the access's earlier groups and windows.
    reg [L-1:0] success;
    wire [L-1:0] lk_success;
    /* verilator lint_off UNUSEDSIGNAL */ // for formal; refused operations never get here
    wire lk_error;
    wire [1023:0] lk_held;
    /* verilator lint_on UNUSEDSIGNAL */
    spad_lock_unit locks (
        .clk(clk),
        .rst(rst),
        .lk_valid(access & mem1_locking),
        .lk_win(mem1_window),
        .lk_op(mem1_op),
        .lk_req(mem1_leader),
        .lk_addr(mem1_lock),
        .lk_success(lk_success),
        .lk_error(lk_error),
        .lk_held(lk_held)
    );
    wire [L-1:0] succeeded = success | lk_success;
    always @(posedge clk) begin
        if (rst) success <= {L{1'b0}};
        else if (access) success <= succeeded & {32{~mem1_last}};
    end

    // MEM2: the banks show the group's words. No reset: `mem2_valid` covers it.
    reg mem2_valid;
    always @(posedge clk) begin
        if (rst) mem2_valid <= 1'b0;
        else if (adv) mem2_valid <= mem1_valid;
    end
    reg mem2_last;
    reg [L-1:0] mem2_served;
    reg [L*m-1:0] mem2_bank;
    reg [DG-1:0] mem2_degree;
    reg [2:0] mem2_op;
    reg [L-1:0] mem2_mask;
    reg [TGW-1:0] mem2_tag;
    reg mem2_error;
    reg [L-1:0] mem2_success;
    always @(posedge clk) begin
        if (access) begin
            mem2_last <= mem1_last;
            mem2_served <= mem1_served & {L{read}};
            mem2_bank <= mem1_bank;
            mem2_degree <= mem1_degree;
            mem2_op <= mem1_op;
            mem2_mask <= mem1_mask;
            mem2_tag <= mem1_tag;
            mem2_error <= mem1_error;
            mem2_success <= succeeded;
        end
    end

    // What a PASS brings goes along.
    reg [L*D-1:0] mem2_data;
    always @(posedge clk) begin
        if (access & (mem1_op == OP_PASS)) mem2_data <= mem1_data;
    end

    // MEM3: the words on their way to the lanes.
    reg mem3_valid;
    always @(posedge clk) begin
        if (rst) mem3_valid <= 1'b0;
        else if (adv) mem3_valid <= mem2_valid;
    end
    reg mem3_last;
    reg [L-1:0] mem3_served;
    reg [L*m-1:0] mem3_bank;
    reg [DG-1:0] mem3_degree;
    reg [2:0] mem3_op;
    reg [L-1:0] mem3_mask;
    reg [TGW-1:0] mem3_tag;
    reg mem3_error;
    reg [B*D-1:0] mem3_words;
    reg [L-1:0] mem3_success;
    always @(posedge clk) begin
        if (mem2_valid & adv) begin
            mem3_last <= mem2_last;
            mem3_served <= mem2_served;
            mem3_bank <= mem2_bank;
            mem3_degree <= mem2_degree;
            mem3_op <= mem2_op;
            mem3_mask <= mem2_mask;
            mem3_tag <= mem2_tag;
            mem3_error <= mem2_error;
            mem3_words <= bank_rdata;
            mem3_success <= mem2_success;
        end
    end

    // To the banks, and back to the lanes.
    wire [L*D-1:0] lane_rdata;
    spad_crossbar crossbar (
        .leader(mem1_leader),
        .lane_bank(mem1_bank),
        .lane_row(mem1_row),
        .lane_data(mem1_data),
        .lane_writes(mem1_writes),
        .bank_row(bank_row),
        .bank_wdata(bank_wdata),
        .bank_wbe(bank_wbe),
        .sel_valid(mem3_served),
        .sel_bank(mem3_bank),
        .bank_rdata(mem3_words),
        .lane_rdata(lane_rdata)
    );

    // Response: the last group of an access. Data of what does not answer with
    // any is zero.
    assign resp_valid = mem3_valid & mem3_last;
    wire pass = mem2_valid & adv & (mem2_op == OP_PASS);
    wire gathers = mem3_valid & ~mem3_last;
    wire answers = (mem3_op == OP_PASS) | (mem3_op == OP_LOAD) | (mem3_op == OP_LDLK);
    wire show = resp_valid & answers & ~mem3_error;
    assign resp_op = mem3_op & {3{resp_valid}};
    assign resp_mask = mem3_mask & {32{resp_valid}};
    assign resp_tag = mem3_tag & {43{resp_valid}};
    assign resp_success = mem3_success & {32{resp_valid}};
    assign resp_error = mem3_error & resp_valid;
    assign resp_degree = mem3_degree & {6{resp_valid}};
    assign stages = {resp_valid, mem2_valid & mem2_last, mem1_valid & mem1_last};

    // Words of earlier groups, or the data of a PASS.
    reg [L*D-1:0] acc;
    wire [L*D-1:0] word;
    wire [L*D-1:0] passed;
    generate
        for (i = 0; i < L; i = i + 1) begin : lane
            assign word[i*D +: D] = mem3_served[i] ? lane_rdata[i*D +: D] : acc[i*D +: D];
            assign passed[i*D +: D] = mem2_data[i*D +: D] & {D{mem2_mask[i]}};
            assign resp_data[i*D +: D] = word[i*D +: D] & {D{show & mem3_mask[i]}};
        end
    endgenerate
    always @(posedge clk) begin
        if (pass) acc <= passed;
        else if (gathers) acc <= word;
    end
endmodule
