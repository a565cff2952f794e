// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_memory_entry: queues passes in front of the scratchpad and makes
// requests of them; atomics go to a queue of their own and its sequencer,
// which goes first.
//
// Parameters: L = 32, D = 32, R = 9, LK = 10, PQ = 0, LOCKS = 1024, TGW = 43
// Timing:     a pass is requested in the cycle in which it comes if the queue
//             is empty and the sequencer does not ask
// Reference:  elastic paper, section 4.1; atomics paper, section II;
//             microarchitecture/memory-entry.md
//
// in  clk            1  clock
// in  rst            1  synchronous reset
// in  cfg_elastic    1  the PREMEM queue is in use
// in  take_atomic    1  an ATOMIC is taken in this cycle
// in  in_valid       1  a pass is offered
// out in_ready       1  an input would be accepted at the end of this cycle
// in  in_ctl        35  its control: last, pass, pc, tag, kind, warp, from the
//                       top
// in  in_mask       32  active lanes
// in  in_bank      160  bank, m bits per lane
// in  in_row       288  row, R bits per lane
// in  in_lock      320  lock, LK bits per lane
// in  in_data     1024  data, D bits per lane
// in  in_be        128  byte enables, DB bits per lane
// in  in_aop         4  operation of an atomic
// out req_valid      1  a scratchpad request is offered
// in  req_ready      1  a request would be accepted
// out req_op         3  operation
// out req_mask      32  active lanes
// out req_bank     160  bank, m bits per lane
// out req_row      288  row, R bits per lane
// out req_lock     320  lock, LK bits per lane
// out req_data    1024  data, D bits per lane
// out req_be       128  byte enables, DB bits per lane
// out req_tag       43  control, degree, error, source: 1 for what the
//                       sequencer waits for
// out atom_infl      1  an ATOMIC is in flight
// in  sr_valid       1  response to a request of the sequencer
// in  sr_mask       32  lanes of the response
// in  sr_data     1024  words read
// in  sr_success    32  lanes that took their lock
// in  sr_error       1  error
// in  sr_degree      6  conflict degree
// out seq_busy       1  the sequencer has the request port
// out seq_state      3  state of the retry sequencer
// out pre_count      1  entries of the PREMEM queue

`default_nettype none

module spad_memory_entry (
    input wire clk,
    input wire rst,
    input wire cfg_elastic,
    input wire take_atomic,
    input wire in_valid,
    output wire in_ready,
    input wire [34:0] in_ctl,
    input wire [31:0] in_mask,
    input wire [159:0] in_bank,
    input wire [287:0] in_row,
    input wire [319:0] in_lock,
    input wire [1023:0] in_data,
    input wire [127:0] in_be,
    input wire [3:0] in_aop,
    output wire req_valid,
    input wire req_ready,
    output wire [2:0] req_op,
    output wire [31:0] req_mask,
    output wire [159:0] req_bank,
    output wire [287:0] req_row,
    output wire [319:0] req_lock,
    output wire [1023:0] req_data,
    output wire [127:0] req_be,
    output wire [42:0] req_tag,
    output wire atom_infl,
    input wire sr_valid,
    input wire [31:0] sr_mask,
    input wire [1023:0] sr_data,
    input wire [31:0] sr_success,
    input wire sr_error,
    input wire [5:0] sr_degree,
    output wire seq_busy,
    output wire [2:0] seq_state,
    output wire pre_count
);
    localparam [3:0] KIND_ATOMIC = 4'd5;
    localparam [2:0] SEQ_DONE = 3'd5;
    localparam m = 5;
    localparam R = 9;
    localparam L = 32;
    localparam D = 32;
    localparam DB = 4;
    localparam WW = 6;
    localparam LK = 10;
    localparam PQW = 1;
    localparam DG = 6;
    localparam CTL = 35;
    localparam TGW = 43;

    // Outputs from registers.
    reg atom_infl_q;
    assign atom_infl = atom_infl_q;

    // The PREMEM queue.
    wire head_valid;
    wire head_ready;
    wire [CTL-1:0] head_ctl;
    wire [L-1:0] head_mask;
    wire [L*m-1:0] head_bank;
    wire [L*R-1:0] head_row;
    wire [L*LK-1:0] head_lock;
    wire [L*D-1:0] head_data;
    wire [L*DB-1:0] head_be;
    wire [3:0] head_aop;
    spad_premem_queue premem (
        .clk(clk),
        .rst(rst),
        .cfg_on(cfg_elastic),
        .in_valid(in_valid),
        .in_data({in_aop, in_be, {in_data, in_lock, in_row, in_bank, in_mask}, in_ctl}),
        .in_ready(in_ready),
        .out_valid(head_valid),
        .out_data({head_aop, head_be, {head_data, head_lock, head_row, head_bank, head_mask},
            head_ctl}),
        .out_ready(head_ready),
        .count(pre_count)
    );
    wire [3:0] head_kind = head_ctl[WW +: 4];
    wire [2:0] head_op;
    spad_kind_operation operation (.kind(head_kind), .op(head_op));
    wire [TGW-1:0] head_tag = {head_ctl, 6'd0, 1'b0, 1'b0};

    // ATOMIC leaves the path here, for a queue of its own: after it may come
    // the store-and-unlock that it waits for.
    wire head_atomic = head_valid & (head_kind == KIND_ATOMIC);
    wire seq_valid;
    wire aq_ready;
    wire at_valid;
    wire at_ready;
    wire [CTL-1:0] at_ctl;
    wire [L-1:0] at_mask;
    wire [L*m-1:0] at_bank;
    wire [L*R-1:0] at_row;
    wire [L*LK-1:0] at_lock;
    wire [L*D-1:0] at_data;
    /* verilator lint_off UNUSEDSIGNAL */ // atomics write whole words
    wire [L*DB-1:0] at_be;
    /* verilator lint_on UNUSEDSIGNAL */
    wire [3:0] at_aop;
    /* verilator lint_off UNUSEDSIGNAL */ // for debugging
    wire [PQW-1:0] aq_count;
    /* verilator lint_on UNUSEDSIGNAL */
    spad_premem_queue atomics (
        .clk(clk),
        .rst(rst),
        .cfg_on(1'b1),
        .in_valid(head_atomic & ~seq_valid),
        .in_data({head_aop, head_be, {head_data, head_lock, head_row, head_bank, head_mask},
            head_ctl}),
        .in_ready(aq_ready),
        .out_valid(at_valid),
        .out_data({at_aop, at_be, {at_data, at_lock, at_row, at_bank, at_mask}, at_ctl}),
        .out_ready(at_ready),
        .count(aq_count)
    );
    wire [2:0] seq_op;
    wire [L-1:0] seq_mask;
    wire [L*m-1:0] seq_bank;
    wire [L*R-1:0] seq_row;
    wire [L*LK-1:0] seq_lock;
    wire [L*D-1:0] seq_data;
    wire [TGW-1:0] seq_tag;
    wire seq_error;
    wire [DG-1:0] seq_degree;
    /* verilator lint_off UNUSEDSIGNAL */ // for debugging
    wire [15:0] rounds;
    /* verilator lint_on UNUSEDSIGNAL */
    spad_retry_sequencer sequencer (
        .clk(clk),
        .rst(rst),
        .at_valid(at_valid),
        .at_ready(at_ready),
        .at_aop(at_aop),
        .at_mask(at_mask),
        .at_bank(at_bank),
        .at_row(at_row),
        .at_lock(at_lock),
        .at_data(at_data),
        .at_tag({at_ctl, 6'd0, 1'b0, 1'b0}),
        .sp_valid(seq_valid),
        .sp_ready(req_ready),
        .sp_op(seq_op),
        .sp_mask(seq_mask),
        .sp_bank(seq_bank),
        .sp_row(seq_row),
        .sp_lock(seq_lock),
        .sp_data(seq_data),
        .sp_tag(seq_tag),
        .sp_error(seq_error),
        .sp_degree(seq_degree),
        .sr_valid(sr_valid),
        .sr_mask(sr_mask),
        .sr_data(sr_data),
        .sr_success(sr_success),
        .sr_error(sr_error),
        .sr_degree(sr_degree),
        .state(seq_state),
        .rounds(rounds)
    );

    // One ATOMIC at a time, until the last answer of its last pass has gone.
    wire seq_ends = seq_state == SEQ_DONE;
    wire seq_last = seq_tag[TGW-1];
    wire atomic_ends = seq_ends & req_ready & seq_last;
    always @(posedge clk) begin
        if (rst) atom_infl_q <= 1'b0;
        else if (take_atomic) atom_infl_q <= 1'b1;
        else if (atomic_ends) atom_infl_q <= 1'b0;
    end

    // The entry to MEM0. The sequencer goes first. Its answers are its own, but
    // for the last.
    wire [TGW-1:0] seq_req_tag = seq_tag | {35'd0, seq_degree, seq_error, ~seq_ends};
    assign seq_busy = seq_valid;
    wire head_leaves = head_atomic ? aq_ready : req_ready;
    assign head_ready = ~seq_valid & head_leaves;
    assign req_valid = seq_valid | (head_valid & ~head_atomic);
    assign req_op = seq_valid ? seq_op : head_op;
    assign req_mask = seq_valid ? seq_mask : head_mask;
    assign req_bank = seq_valid ? seq_bank : head_bank;
    assign req_row = seq_valid ? seq_row : head_row;
    assign req_lock = seq_valid ? seq_lock : head_lock;
    assign req_data = seq_valid ? seq_data : head_data;
    assign req_tag = seq_valid ? seq_req_tag : head_tag;
    // An atomic writes whole words.
    assign req_be = head_be | {(L*DB){seq_valid}};
endmodule

`default_nettype wire
