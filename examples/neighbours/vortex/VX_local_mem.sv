// SPDX-License-Identifier: MIT OR Apache-2.0
// VX_local_mem: the local memory of a Vortex core, with spad_tcdm inside. A lane's
// requests are answered in its order; writes are not answered.

`include "VX_define.vh"

module VX_local_mem
    import VX_gpu_pkg::*;
#(
    /* verilator lint_off UNUSEDPARAM */  // what Vortex sets for its own memory
    parameter `STRING INSTANCE_ID = "",
    parameter SIZE = 16384,
    parameter NUM_REQS = 4,
    parameter NUM_BANKS = 4,
    parameter ADDR_WIDTH = $clog2(SIZE / 4),
    parameter WORD_SIZE = 4,
    parameter TAG_WIDTH = 16,
    parameter DMA_ENABLE = 0,
    parameter DMA_TAG_WIDTH = 1,
    parameter AMO_ENABLE = 1,
    parameter OUT_BUF = 0
    /* verilator lint_on UNUSEDPARAM */
) (
    input wire clk,
    input wire reset,
    VX_mem_bus_if.slave lsu_bus_if[NUM_REQS],
    VX_mem_bus_if.slave dma_bus_if
);
    if (NUM_REQS != spad_pkg::LANES || NUM_BANKS != spad_pkg::BANKS
        || WORD_SIZE != spad_pkg::WORD_BYTES || SIZE != 4 << spad_pkg::ADDR_BITS
        || DMA_ENABLE != 0) begin : other_machine
        $error("%s: emit spad_tcdm for this size; there is no DMA port", INSTANCE_ID);
    end

    spad_pkg::tcdm_req_t [NUM_REQS-1:0] req;
    spad_pkg::tcdm_rsp_t [NUM_REQS-1:0] rsp;
    for (genvar i = 0; i < NUM_REQS; ++i) begin : lane
        /* verilator lint_off UNUSEDSIGNAL */  // additions alone, as in Vortex
        amo_req_t amo;
        /* verilator lint_on UNUSEDSIGNAL */
        assign amo = amo_req_t'(lsu_bus_if[i].req_data.attr[MEM_ATTR_AMO_OFFS+:AMO_REQ_BITS]);
        vortex_lane #(
            .TAG_WIDTH(TAG_WIDTH)
        ) port (
            .clk(clk),
            .reset(reset),
            .req_valid(lsu_bus_if[i].req_valid),
            .req_ready(lsu_bus_if[i].req_ready),
            .req_rw(lsu_bus_if[i].req_data.rw),
            .req_add(AMO_ENABLE != 0 && amo.amo_valid),
            .req_addr(lsu_bus_if[i].req_data.addr[spad_pkg::ADDR_BITS-1:0]),
            .req_data(lsu_bus_if[i].req_data.data),
            .req_byteen(lsu_bus_if[i].req_data.byteen),
            .req_tag(lsu_bus_if[i].req_data.tag),
            .rsp_valid(lsu_bus_if[i].rsp_valid),
            .rsp_ready(lsu_bus_if[i].rsp_ready),
            .rsp_data(lsu_bus_if[i].rsp_data.data),
            .rsp_tag(lsu_bus_if[i].rsp_data.tag),
            .req(req[i]),
            .rsp(rsp[i])
        );
    end
    assign dma_bus_if.req_ready = 1'b0;
    assign dma_bus_if.rsp_valid = 1'b0;
    assign dma_bus_if.rsp_data = '0;

    /* verilator lint_off PINCONNECTEMPTY */  // the mapping stays as it is after a reset
    spad_tcdm_sv memory (
        .clk(clk),
        .rst(reset),
        .hash_wr_en(1'b0),
        .hash_wr_index('0),
        .hash_wr_data('0),
        .row_wr_en(1'b0),
        .row_wr_index('0),
        .row_wr_data('0),
        .req(req),
        .rsp(rsp),
        .idle()
    );
    /* verilator lint_on PINCONNECTEMPTY */
endmodule
