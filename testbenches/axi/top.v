// spad_axi in the place of the lowest X lanes of spad_tcdm. The other lanes read words
// at random, so that the port has to wait for its banks. The machine is machine.toml.
module top #(parameter X = 1) (
    input wire clk, rst,
    input wire axi_awvalid, axi_wvalid, axi_wlast, axi_bready, axi_arvalid, axi_rready,
    input wire [3:0] axi_awid, axi_arid,
    input wire [15:0] axi_awaddr, axi_araddr,
    input wire [7:0] axi_awlen, axi_arlen,
    input wire [2:0] axi_awsize, axi_arsize,
    input wire [1:0] axi_awburst, axi_arburst,
    input wire [X*32-1:0] axi_wdata,
    input wire [X*4-1:0] axi_wstrb,
    output wire axi_awready, axi_wready, axi_bvalid, axi_arready, axi_rvalid, axi_rlast,
    output wire [3:0] axi_bid, axi_rid,
    output wire [1:0] axi_bresp, axi_rresp,
    output wire [X*32-1:0] axi_rdata,
    output wire idle
);
    localparam L = 4, n = 10, D = 32;
    wire [L-1:0] req, gnt, wen, r_valid, r_opc;
    wire [L*n-1:0] add;
    wire [L*D-1:0] wdata, r_rdata;
    wire [L*D/8-1:0] be;
    wire port_idle, memory_idle;
    spad_axi port (
        .clk(clk), .rst(rst),
        .axi_awvalid(axi_awvalid), .axi_awid(axi_awid), .axi_awaddr(axi_awaddr), .axi_awlen(axi_awlen),
        .axi_awsize(axi_awsize), .axi_awburst(axi_awburst), .axi_awready(axi_awready),
        .axi_wvalid(axi_wvalid), .axi_wdata(axi_wdata), .axi_wstrb(axi_wstrb), .axi_wlast(axi_wlast),
        .axi_wready(axi_wready),
        .axi_bvalid(axi_bvalid), .axi_bready(axi_bready), .axi_bid(axi_bid), .axi_bresp(axi_bresp),
        .axi_arvalid(axi_arvalid), .axi_arid(axi_arid), .axi_araddr(axi_araddr), .axi_arlen(axi_arlen),
        .axi_arsize(axi_arsize), .axi_arburst(axi_arburst), .axi_arready(axi_arready),
        .axi_rvalid(axi_rvalid), .axi_rready(axi_rready), .axi_rid(axi_rid), .axi_rdata(axi_rdata),
        .axi_rresp(axi_rresp), .axi_rlast(axi_rlast),
        .tcdm_req(req[X-1:0]), .tcdm_add(add[0 +: X*n]), .tcdm_wen(wen[X-1:0]), .tcdm_wdata(wdata[0 +: X*D]),
        .tcdm_be(be[0 +: X*D/8]), .tcdm_gnt(gnt[X-1:0]), .tcdm_r_valid(r_valid[X-1:0]),
        .tcdm_r_rdata(r_rdata[0 +: X*D]), .tcdm_r_opc(r_opc[X-1:0]), .idle(port_idle)
    );
    spad_tcdm memory (
        .clk(clk), .rst(rst), .tcdm_req(req), .tcdm_gnt(gnt), .tcdm_add(add), .tcdm_wen(wen), .tcdm_wdata(wdata),
        .tcdm_be(be), .tcdm_r_valid(r_valid), .tcdm_r_rdata(r_rdata), .tcdm_r_opc(r_opc), .idle(memory_idle)
    );
    assign idle = port_idle & memory_idle;

    genvar i;
    generate
        for (i = X; i < L; i = i + 1) begin : lane
            reading_lane #(.LANE(i), .n(n), .D(D)) reads (
                .clk(clk), .rst(rst), .gnt(gnt[i]), .req(req[i]), .wen(wen[i]), .add(add[i*n +: n]),
                .wdata(wdata[i*D +: D]), .be(be[i*D/8 +: D/8])
            );
        end
    endgenerate
endmodule
