// Vortex' VX_local_mem with a port of wires for each lane: what vortex.sv simulates, and what
// Yosys measures. With VORTEX_ADAPTER, Vortex' VX_lsu_adapter is between, which takes an access
// of all lanes at once; lane 0's valid, store, tag and rsp_ready are the access's. Registers as
// in Vortex' VX_mem_unit. VORTEX_LSU_BUS: later commits, whose ports for lanes have another
// name and which have a port for a DMA.
`include "VX_define.vh"

module vortex_ports #(
    parameter LANES = 8,
    parameter BANKS = 8,
    parameter ADDR_BITS = 14,
    parameter TAG_BITS = 16
) (
    input logic clk,
    input logic reset,
    input logic [LANES-1:0] req_valid,
    output logic [LANES-1:0] req_ready,
    input logic [LANES-1:0] req_store,
    input logic [LANES-1:0][ADDR_BITS-1:0] req_addr,
    input logic [LANES-1:0][31:0] req_data,
    input logic [LANES-1:0][3:0] req_be,
    input logic [LANES-1:0][TAG_BITS-1:0] req_tag,
    output logic [LANES-1:0] rsp_valid,
    input logic [LANES-1:0] rsp_ready,
    output logic [LANES-1:0][31:0] rsp_data,
    output logic [LANES-1:0][TAG_BITS-1:0] rsp_tag
);
    VX_mem_bus_if #(.DATA_SIZE(4), .TAG_WIDTH(TAG_BITS)) bus[LANES]();
`ifdef VORTEX_ADAPTER
    VX_lsu_mem_if #(.NUM_LANES(LANES), .DATA_SIZE(4), .TAG_WIDTH(TAG_BITS)) lsu();
    always_comb begin
        lsu.req_data = '0;
        lsu.req_data.mask = '1;
        lsu.req_data.rw = req_store[0];
        for (int i = 0; i < LANES; i++) lsu.req_data.addr[i][ADDR_BITS-1:0] = req_addr[i];
        lsu.req_data.data = req_data;
        lsu.req_data.byteen = req_be;
        lsu.req_data.tag = req_tag[0];
    end
    assign lsu.req_valid = req_valid[0];
    assign lsu.rsp_ready = rsp_ready[0];
    assign req_ready = {LANES{lsu.req_ready}};
    assign rsp_valid = {LANES{lsu.rsp_valid}} & lsu.rsp_data.mask;
    assign rsp_data = lsu.rsp_data.data;
    assign rsp_tag = {LANES{lsu.rsp_data.tag}};
    VX_lsu_adapter #(
        .NUM_LANES(LANES), .DATA_SIZE(4), .TAG_WIDTH(TAG_BITS), .TAG_SEL_BITS(TAG_BITS),
        .ARBITER("P"), .REQ_OUT_BUF(3), .RSP_OUT_BUF(0)
    ) adapter (.clk(clk), .reset(reset), .lsu_mem_if(lsu), .mem_bus_if(bus));
`else
    for (genvar i = 0; i < LANES; i++) begin : lane
        always_comb begin
            bus[i].req_data = '0;
            bus[i].req_data.rw = req_store[i];
            bus[i].req_data.addr[ADDR_BITS-1:0] = req_addr[i];
            bus[i].req_data.data = req_data[i];
            bus[i].req_data.byteen = req_be[i];
            bus[i].req_data.tag = req_tag[i];
        end
        assign bus[i].req_valid = req_valid[i];
        assign bus[i].rsp_ready = rsp_ready[i];
        assign req_ready[i] = bus[i].req_ready;
        assign rsp_valid[i] = bus[i].rsp_valid;
        assign rsp_data[i] = bus[i].rsp_data.data;
        assign rsp_tag[i] = bus[i].rsp_data.tag;
    end
`endif

`ifdef VORTEX_LSU_BUS
    localparam LINE_BITS = ADDR_BITS - $clog2(BANKS);
    VX_mem_bus_if #(.DATA_SIZE(4 * BANKS), .ADDR_WIDTH(LINE_BITS), .TAG_WIDTH(1)) dma();
    assign dma.req_valid = 1'b0;
    assign dma.req_data = '0;
    assign dma.rsp_ready = 1'b1;
    VX_local_mem #(
        .SIZE(4 << ADDR_BITS), .NUM_REQS(LANES), .NUM_BANKS(BANKS), .ADDR_WIDTH(ADDR_BITS),
        .WORD_SIZE(4), .TAG_WIDTH(TAG_BITS), .OUT_BUF(3), .DMA_ENABLE(0), .AMO_ENABLE(0)
    ) memory (.clk(clk), .reset(reset), .lsu_bus_if(bus), .dma_bus_if(dma));
`else
    VX_local_mem #(
        .SIZE(4 << ADDR_BITS), .NUM_REQS(LANES), .NUM_BANKS(BANKS), .ADDR_WIDTH(ADDR_BITS),
        .WORD_SIZE(4), .TAG_WIDTH(TAG_BITS), .OUT_BUF(3)
    ) memory (.clk(clk), .reset(reset), .mem_bus_if(bus));
`endif
endmodule
