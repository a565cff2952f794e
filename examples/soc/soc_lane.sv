// SPDX-License-Identifier: MIT OR Apache-2.0
// soc_lane: a lane of the engine. It reads every ENGINE_LANES-th word of the matrix,
// from word LANE on, and writes it to its transposed place or counts it in its bin.
// The lanes know nothing of each other: each waits for its own grants only.

module soc_lane
    import spad_pkg::*;
    import soc_pkg::*;
#(
    parameter int unsigned LANE = 0
) (
    input logic clk,
    input logic rst,
    input logic start,
    input job_t job,
    output logic busy,
    output logic failed,  // the last job has left the scratchpad
    output tcdm_req_t req,
    input tcdm_rsp_t rsp
);
    // The identifier tells the answers of reads from those of writes.
    localparam logic [TCDM_ID_BITS-1:0] READ = 1, RESULT = 0;

    job_t doing;
    logic [2*SIDE_BITS:0] next;  // the next word to read; its top bit: there is none
    logic reading;  // a read was granted, its answer is not here
    logic held;  // its answer was here, the result is not granted
    logic [WORD_BITS-1:0] word;  // the answer, if held
    logic [2*SIDE_BITS-1:0] index;  // the word of the matrix that was read
    logic [2:0] writing;  // results that are not answered

    wire arrives = rsp.r_valid & rsp.r_id == READ;
    wire wrote = rsp.r_valid & rsp.r_id == RESULT;
    wire [WORD_BITS-1:0] data = held ? word : rsp.r_rdata;
    wire more = !next[2*SIDE_BITS];
    wire [2*SIDE_BITS-1:0] transposed = {index[SIDE_BITS-1:0], index[SIDE_BITS+:SIDE_BITS]};
    wire result = arrives | held;
    wire granted = req.req & rsp.gnt;
    wire writes = granted & result;

    assign busy = more | reading | held | writing != 0;

    // A word goes on in the cycle in which it comes; meanwhile nothing is read.
    always_comb begin
        req = '0;
        req.be = '1;
        if (result) begin
            req.req = 1'b1;
            req.id = RESULT;
            if (doing.histogram) begin
                // Lanes on one bin are counted together.
                req.amo = 1'b1;
                req.aop = AMO_COUNT;
                req.add = doing.to + word_addr_t'(data[BIN_BITS-1:0]);
            end else begin
                req.add = doing.to + word_addr_t'(transposed);
                req.wdata = data;
            end
        end else if (more & !reading) begin
            req.req = 1'b1;
            req.id = READ;
            req.wen = 1'b1;
            req.add = doing.from + word_addr_t'(next[2*SIDE_BITS-1:0]);
        end
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            next <= '1;
            {reading, held, writing, failed} <= '0;
        end else if (start & !busy) begin
            doing <= job;
            failed <= 1'b0;
            next <= (2 * SIDE_BITS + 1)'(LANE);
        end else begin
            reading <= granted & req.id == READ | reading & !arrives;
            held <= result & !granted;
            writing <= writing + 3'(writes) - 3'(wrote);
            if (rsp.r_valid & rsp.r_opc) failed <= 1'b1;
            if (arrives) word <= rsp.r_rdata;
            if (granted & !result) begin
                index <= next[2*SIDE_BITS-1:0];
                next <= next + (2 * SIDE_BITS + 1)'(ENGINE_LANES);
            end
        end
    end
endmodule
