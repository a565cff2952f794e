// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_counters: performance counters beside spad_sm_path: passes, conflict
// degrees, stalls, rounds of atomics. An option: the path does not need them.
//
// Parameters: DG = 6
// Timing:     an event is counted two cycles later; a counter is shown in the
//             cycle after its index
// Reference:  microarchitecture/counters.md
//
// in  clk         1  clock
// in  rst         1  synchronous reset
// in  clear       1  all counters start again from 0
// in  iss_valid   1  of the path: a pass enters EX
// in  stall       2  of the path: why EX is held
// in  masked      1  of the path: the mask holds a ready warp back
// in  seq_state   3  of the path: state of the retry sequencer
// in  wb_valid    1  of the path: a result is written back
// in  wb_ready    1  the register file takes it
// in  wb_src      2  of the path: where the result comes from
// in  wb_kind     4  of the path: kind of the instruction
// in  wb_degree   6  of the path: its conflict degree
// in  wr_en       1  sets a counter
// in  wr_index    4  which one
// in  wr_data    32  to what
// in  rd_index    4  which counter is shown
// out rd_count   32  the counter; 0 if there is none

`default_nettype none

module spad_counters (
    input wire clk,
    input wire rst,
    input wire clear,
    input wire iss_valid,
    input wire [1:0] stall,
    input wire masked,
    input wire [2:0] seq_state,
    input wire wb_valid,
    input wire wb_ready,
    input wire [1:0] wb_src,
    input wire [3:0] wb_kind,
    input wire [5:0] wb_degree,
    input wire wr_en,
    input wire [3:0] wr_index,
    input wire [31:0] wr_data,
    input wire [3:0] rd_index,
    output wire [31:0] rd_count
);
    localparam [3:0] KIND_LOAD = 4'd1;
    localparam [3:0] KIND_STUL = 4'd4;
    localparam [3:0] KIND_ATOMIC = 4'd5;
    localparam [2:0] SEQ_READ = 3'd1;
    localparam [1:0] SOURCE_MEM = 2'd1;
    localparam [1:0] STALL_BANK_CONFLICT = 2'd1;
    localparam [1:0] STALL_WRITEBACK = 2'd2;
    localparam [1:0] STALL_LOCK_RETRY = 2'd3;
    localparam [3:0] COUNTER_CYCLES = 4'd0;
    localparam [3:0] COUNTER_PASSES = 4'd1;
    localparam [3:0] COUNTER_ACCESSES = 4'd2;
    localparam [3:0] COUNTER_DEGREE = 4'd3;
    localparam [3:0] COUNTER_STALL_BANK = 4'd4;
    localparam [3:0] COUNTER_STALL_WRITEBACK = 4'd5;
    localparam [3:0] COUNTER_STALL_RETRY = 4'd6;
    localparam [3:0] COUNTER_MASKED = 4'd7;
    localparam [3:0] COUNTER_ROUNDS = 4'd8;
    localparam [3:0] COUNTER_ATOMICS = 4'd9;
    localparam COUNTERS = 10;
    localparam DG = 6;

    // What the path shows, one bit per counter.
    wire written = wb_valid & wb_ready & (wb_src == SOURCE_MEM);
    wire access = written & (wb_kind >= KIND_LOAD) & (wb_kind <= KIND_STUL);
    wire reads = seq_state == SEQ_READ;
    reg was_read_q;
    wire [COUNTERS-1:0] happens;
    assign happens[COUNTER_CYCLES] = 1'b1;
    assign happens[COUNTER_PASSES] = iss_valid;
    assign happens[COUNTER_ACCESSES] = access;
    assign happens[COUNTER_DEGREE] = access;
    assign happens[COUNTER_STALL_BANK] = stall == STALL_BANK_CONFLICT;
    assign happens[COUNTER_STALL_WRITEBACK] = stall == STALL_WRITEBACK;
    assign happens[COUNTER_STALL_RETRY] = stall == STALL_LOCK_RETRY;
    assign happens[COUNTER_MASKED] = masked;
    assign happens[COUNTER_ROUNDS] = reads & ~was_read_q;
    assign happens[COUNTER_ATOMICS] = written & (wb_kind == KIND_ATOMIC);

    // A register in front of the counters: they put no load on the path.
    reg [COUNTERS-1:0] seen_q;
    reg [DG-1:0] degree_q;
    always @(posedge clk) begin
        if (rst) begin
            was_read_q <= 1'b0;
            seen_q <= {COUNTERS{1'b0}};
            degree_q <= {DG{1'b0}};
        end else begin
            was_read_q <= reads;
            seen_q <= happens & {COUNTERS{~clear}};
            degree_q <= wb_degree;
        end
    end

    wire [511:0] counts;
    wire [15:0] wanted;
    genvar k;
    generate
        for (k = 0; k < COUNTERS; k = k + 1) begin : counter
            reg [31:0] count_q;
            wire [31:0] amount = (k == COUNTER_DEGREE) ? {26'd0, degree_q} : 32'd1;
            always @(posedge clk) begin
                if (rst) count_q <= 32'd0;
                else if (clear) count_q <= 32'd0;
                else if (wr_en & (wr_index == k)) count_q <= wr_data;
                else if (seen_q[k]) count_q <= count_q + amount;
            end
            assign counts[32*k +: 32] = count_q;
        end
        for (k = COUNTERS; k < 16; k = k + 1) begin : no_counter
            assign counts[32*k +: 32] = 32'd0;
        end
        for (k = 0; k < 16; k = k + 1) begin : place
            assign wanted[k] = rd_index == k;
        end
    endgenerate

    wire [31:0] word;
    spad_pick #(.COUNT(16), .WIDTH(32)) select_counter (
        .pick(wanted),
        .words(counts),
        .word(word)
    );
    reg [31:0] shown_q;
    always @(posedge clk) begin
        if (rst) shown_q <= 32'd0;
        else shown_q <= word;
    end
    assign rd_count = shown_q;
endmodule

`default_nettype wire
