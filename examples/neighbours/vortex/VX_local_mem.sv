// SPDX-License-Identifier: MIT OR Apache-2.0
// VX_local_mem: the local memory of a Vortex core, with spad_tcdm inside. A lane's
// requests are answered in its order; writes are not answered. VORTEX_MEM_BUS: older
// commits, whose ports for lanes have another name, and which have neither atomic operations
// nor a port for a DMA.

`include "VX_define.vh"
`ifdef VORTEX_MEM_BUS
`define VORTEX_BUS mem_bus_if
`else
`define VORTEX_BUS lsu_bus_if
`endif

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
`ifndef VORTEX_MEM_BUS
    VX_mem_bus_if.slave dma_bus_if,
`endif
    VX_mem_bus_if.slave `VORTEX_BUS[NUM_REQS]
);
    if (NUM_REQS != spad_pkg::LANES || NUM_BANKS != spad_pkg::BANKS
        || WORD_SIZE != spad_pkg::WORD_BYTES || SIZE != 4 << spad_pkg::ADDR_BITS
        || DMA_ENABLE != 0) begin : other_machine
        $error("%s: emit spad_tcdm for this size; there is no DMA port", INSTANCE_ID);
    end

    spad_pkg::tcdm_req_t [NUM_REQS-1:0] req;
    spad_pkg::tcdm_rsp_t [NUM_REQS-1:0] rsp;
    for (genvar i = 0; i < NUM_REQS; ++i) begin : lane
        wire adds;
`ifdef VORTEX_MEM_BUS
        assign adds = 1'b0;
`else
        /* verilator lint_off UNUSEDSIGNAL */  // additions alone, as in Vortex
        amo_req_t amo;
        /* verilator lint_on UNUSEDSIGNAL */
        assign amo = amo_req_t'(lsu_bus_if[i].req_data.attr[MEM_ATTR_AMO_OFFS+:AMO_REQ_BITS]);
        assign adds = AMO_ENABLE != 0 && amo.amo_valid;
`ifndef SYNTHESIS
        // Vortex' own memory stops here, too, but for an addition to half of a word.
        always @(posedge clk)
            if (!reset && lsu_bus_if[i].req_valid && adds)
                if (amo.amo_op != AMO_OP_ADD || !(&lsu_bus_if[i].req_data.byteen))
                    $fatal(1, "%s: an atomic operation other than the addition of a whole word",
                           INSTANCE_ID);
`endif
`endif
        vortex_lane #(
            .TAG_WIDTH(TAG_WIDTH)
        ) port (
            .clk(clk),
            .reset(reset),
            .req_valid(`VORTEX_BUS[i].req_valid),
            .req_ready(`VORTEX_BUS[i].req_ready),
            .req_rw(`VORTEX_BUS[i].req_data.rw),
            .req_add(adds),
            .req_addr(`VORTEX_BUS[i].req_data.addr[spad_pkg::ADDR_BITS-1:0]),
            .req_data(`VORTEX_BUS[i].req_data.data),
            .req_byteen(`VORTEX_BUS[i].req_data.byteen),
            .req_tag(`VORTEX_BUS[i].req_data.tag),
            .rsp_valid(`VORTEX_BUS[i].rsp_valid),
            .rsp_ready(`VORTEX_BUS[i].rsp_ready),
            .rsp_data(`VORTEX_BUS[i].rsp_data.data),
            .rsp_tag(`VORTEX_BUS[i].rsp_data.tag),
            .req(req[i]),
            .rsp(rsp[i])
        );
    end
`ifndef VORTEX_MEM_BUS
    assign dma_bus_if.req_ready = 1'b0;
    assign dma_bus_if.rsp_valid = 1'b0;
    assign dma_bus_if.rsp_data = '0;
`endif

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
