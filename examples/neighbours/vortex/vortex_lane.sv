// SPDX-License-Identifier: MIT OR Apache-2.0
// vortex_lane: a lane of spad_tcdm with a ready for its answers. A read is requested if
// there is room for its answer; a ring holds tags and data in the lane's order.

module vortex_lane
    import spad_pkg::*;
#(
    parameter int unsigned TAG_WIDTH = 16,
    // Reads inside, a power of 2. With 4 a lane reads a word a cycle.
    parameter int unsigned DEPTH = 4
) (
    input logic clk,
    input logic reset,
    input logic req_valid,
    output logic req_ready,
    input logic req_rw,
    input logic req_add,  // an atomic addition of a word; it is answered
    input logic [ADDR_BITS-1:0] req_addr,
    input logic [WORD_BITS-1:0] req_data,
    input logic [WORD_BYTES-1:0] req_byteen,
    input logic [TAG_WIDTH-1:0] req_tag,
    output logic rsp_valid,
    input logic rsp_ready,
    output logic [WORD_BITS-1:0] rsp_data,
    output logic [TAG_WIDTH-1:0] rsp_tag,
    output tcdm_req_t req,
    /* verilator lint_off UNUSEDSIGNAL */  // Vortex has no error of an address
    input tcdm_rsp_t rsp
    /* verilator lint_on UNUSEDSIGNAL */
);
    localparam int unsigned INDEX = $clog2(DEPTH);
    logic [TAG_WIDTH-1:0] tags[DEPTH];
    logic [WORD_BITS-1:0] words[DEPTH];
    logic [INDEX-1:0] asked, came, left;  // where the next one of each kind goes
    logic [INDEX:0] reads, waiting;  // reads inside, and those of them that have their word

    wire answered = !req_rw | req_add;
    wire comes = rsp.r_valid;  // writes are posted
    wire leaves = rsp_valid & rsp_ready;
    wire asks = req.req & rsp.gnt & answered;

    always_comb begin
        req = '0;
        req.req = req_valid & !(answered & reads == (INDEX + 1)'(DEPTH));
        req.add = req_addr;
        req.wen = !req_rw;
        req.wdata = req_data;
        req.be = req_byteen;
        req.amo = req_add;
        req.aop = AMO_ADD;
    end
    assign req_ready = req.req & rsp.gnt;
    assign rsp_valid = waiting != 0;
    assign {rsp_tag, rsp_data} = {tags[left], words[left]};

    always_ff @(posedge clk) begin
        if (asks) tags[asked] <= req_tag;
        if (comes) words[came] <= rsp.r_rdata;
        if (reset) begin
            {asked, came, left} <= '0;
            {reads, waiting} <= '0;
        end else begin
            asked <= asked + INDEX'(asks);
            came <= came + INDEX'(comes);
            left <= left + INDEX'(leaves);
            reads <= reads + (INDEX + 1)'(asks) - (INDEX + 1)'(leaves);
            waiting <= waiting + (INDEX + 1)'(comes) - (INDEX + 1)'(leaves);
        end
    end
endmodule
