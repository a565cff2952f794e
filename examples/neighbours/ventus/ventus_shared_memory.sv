// SPDX-License-Identifier: MIT OR Apache-2.0
// ventus_shared_memory: spad_stream behind the ports of Ventus' SharedMemory. A vector of
// Chisel is a port with element 0 in the low bits (asUInt). Reads and writes are answered.

module ventus_shared_memory
    import spad_pkg::*;
#(
    parameter int unsigned INSTR_ID_BITS = 3,
    // Bits of the word in a block; the set has the others of the address.
    parameter int unsigned BLOCK_BITS = 3
) (
    input logic clock,
    input logic reset,
    input logic coreReq_valid,
    output logic coreReq_ready,
    input logic [INSTR_ID_BITS-1:0] coreReq_instrId,
    input logic coreReq_isWrite,
    input logic [ADDR_BITS-BLOCK_BITS-1:0] coreReq_setIdx,
    input logic [LANES-1:0] coreReq_activeMask,
    input logic [LANES-1:0][BLOCK_BITS-1:0] coreReq_blockOffset,
    input logic [LANES-1:0][WORD_BYTES-1:0] coreReq_wordOffset1H,
    input logic [LANES-1:0][WORD_BITS-1:0] coreReq_data,
    output logic coreRsp_valid,
    input logic coreRsp_ready,
    output logic [INSTR_ID_BITS-1:0] coreRsp_instrId,
    output logic coreRsp_isWrite,
    output logic [LANES-1:0][WORD_BITS-1:0] coreRsp_data,
    output logic [LANES-1:0] coreRsp_activeMask
);
    typedef logic [INSTR_ID_BITS-1:0] tag_t;
    stream_req_t req;
    /* verilator lint_off UNUSEDSIGNAL */  // success of locks, error, degree
    stream_rsp_t rsp;
    /* verilator lint_on UNUSEDSIGNAL */
    assign req.op = coreReq_isWrite ? OP_STORE : OP_LOAD;
    assign req.mask = coreReq_activeMask;
    assign req.data = coreReq_data;
    assign req.be = coreReq_wordOffset1H;
    for (genvar i = 0; i < LANES; i++) begin : lane
        assign req.addr[i] = {coreReq_setIdx, coreReq_blockOffset[i]};
    end
    assign coreRsp_isWrite = rsp.op == OP_STORE;
    assign coreRsp_data = rsp.data;
    assign coreRsp_activeMask = rsp.mask;

    /* verilator lint_off PINCONNECTEMPTY */  // the mapping stays as it is after a reset
    spad_stream_sv #(
        .tag_t(tag_t)
    ) memory (
        .clk(clock),
        .rst(reset),
        .hash_wr_en(1'b0),
        .hash_wr_index('0),
        .hash_wr_data('0),
        .row_wr_en(1'b0),
        .row_wr_index('0),
        .row_wr_data('0),
        .cfg_lock_hash(LOCK_HASH_NONE),
        .req_valid(coreReq_valid),
        .req_ready(coreReq_ready),
        .req(req),
        .req_tag(coreReq_instrId),
        .rsp_valid(coreRsp_valid),
        .rsp_ready(coreRsp_ready),
        .rsp(rsp),
        .rsp_tag(coreRsp_instrId),
        .idle()
    );
    /* verilator lint_on PINCONNECTEMPTY */
endmodule
