// SPDX-License-Identifier: MIT OR Apache-2.0
// soc: a scratchpad, the DMA that fills and drains it through spad_axi, and an engine
// that works in it. spad_axi has the lanes 0 to AXI_LANES-1 of spad_tcdm, the engine
// the others.

module soc
    import spad_pkg::*;
    import soc_pkg::*;
(
    input logic clk,
    input logic rst,
    // The mapping of addresses to banks, written while `idle` (`spadkit encode`).
    input logic hash_wr_en,
    input logic [1:0] hash_wr_index,
    input logic [ADDR_BITS-1:0] hash_wr_data,
    output logic idle,
    // The DMA, and the engine: a command each.
    input logic dma_start,
    input dma_cmd_t dma_cmd,
    output logic dma_busy,
    output logic dma_failed,
    input logic in_valid,
    output logic in_ready,
    input logic [BEAT_BITS-1:0] in_data,
    output logic out_valid,
    input logic out_ready,
    output logic [BEAT_BITS-1:0] out_data,
    input logic job_start,
    input job_t job,
    output logic job_busy,
    output logic job_failed
);
    logic awvalid, awready, wvalid, wready, wlast, bvalid, bready;
    logic arvalid, arready, rvalid, rready;
    logic [11:0] awaddr, araddr;
    logic [7:0] awlen, arlen;
    logic [1:0] bresp, rresp;
    logic [BEAT_BITS-1:0] wdata, rdata;

    soc_dma dma (
        .start(dma_start),
        .cmd(dma_cmd),
        .busy(dma_busy),
        .failed(dma_failed),
        .*
    );

    // The ports of the scratchpad, a struct per lane.
    tcdm_req_t [LANES-1:0] req;
    tcdm_rsp_t [LANES-1:0] rsp;

    // spad_axi has each field of its lanes side by side.
    logic [AXI_LANES-1:0] axi_req, axi_wen, axi_gnt, axi_r_valid, axi_r_opc;
    logic [AXI_LANES-1:0][ADDR_BITS-1:0] axi_add;
    logic [AXI_LANES-1:0][WORD_BITS-1:0] axi_wdata, axi_r_rdata;
    logic [AXI_LANES-1:0][WORD_BYTES-1:0] axi_be;
    for (genvar i = 0; i < AXI_LANES; i++) begin : axi_lane
        always_comb begin
            req[i] = '0;
            req[i].req = axi_req[i];
            req[i].add = axi_add[i];
            req[i].wen = axi_wen[i];
            req[i].wdata = axi_wdata[i];
            req[i].be = axi_be[i];
        end
        assign axi_gnt[i] = rsp[i].gnt;
        assign axi_r_valid[i] = rsp[i].r_valid;
        assign axi_r_rdata[i] = rsp[i].r_rdata;
        assign axi_r_opc[i] = rsp[i].r_opc;
    end

    localparam logic [2:0] SIZE = 3'($clog2(BEAT_BYTES));
    localparam logic [1:0] INCR = 2'd1;
    logic axi_idle, memory_idle;
    /* verilator lint_off PINCONNECTEMPTY */  // one identifier; the DMA counts beats
    spad_axi axi (
        .clk(clk),
        .rst(rst),
        .axi_awvalid(awvalid),
        .axi_awready(awready),
        .axi_awid(1'b0),
        .axi_awaddr(awaddr),
        .axi_awlen(awlen),
        .axi_awsize(SIZE),
        .axi_awburst(INCR),
        .axi_wvalid(wvalid),
        .axi_wready(wready),
        .axi_wdata(wdata),
        .axi_wstrb('1),
        .axi_wlast(wlast),
        .axi_bvalid(bvalid),
        .axi_bready(bready),
        .axi_bid(),
        .axi_bresp(bresp),
        .axi_arvalid(arvalid),
        .axi_arready(arready),
        .axi_arid(1'b0),
        .axi_araddr(araddr),
        .axi_arlen(arlen),
        .axi_arsize(SIZE),
        .axi_arburst(INCR),
        .axi_rvalid(rvalid),
        .axi_rready(rready),
        .axi_rid(),
        .axi_rdata(rdata),
        .axi_rresp(rresp),
        .axi_rlast(),
        .tcdm_req(axi_req),
        .tcdm_gnt(axi_gnt),
        .tcdm_add(axi_add),
        .tcdm_wen(axi_wen),
        .tcdm_wdata(axi_wdata),
        .tcdm_be(axi_be),
        .tcdm_r_valid(axi_r_valid),
        .tcdm_r_rdata(axi_r_rdata),
        .tcdm_r_opc(axi_r_opc),
        .idle(axi_idle)
    );
    /* verilator lint_on PINCONNECTEMPTY */

    logic [ENGINE_LANES-1:0] lane_busy, lane_failed;
    for (genvar i = 0; i < ENGINE_LANES; i++) begin : engine
        soc_lane #(
            .LANE(i)
        ) lane (
            .start(job_start),
            .busy(lane_busy[i]),
            .failed(lane_failed[i]),
            .req(req[AXI_LANES+i]),
            .rsp(rsp[AXI_LANES+i]),
            .*
        );
    end
    assign job_busy = |lane_busy;
    assign job_failed = |lane_failed;

    spad_tcdm_sv scratchpad (
        .row_wr_en(1'b0),
        .row_wr_index('0),
        .row_wr_data('0),
        .idle(memory_idle),
        .*
    );
    assign idle = axi_idle & memory_idle & !dma_busy & !job_busy;
endmodule
