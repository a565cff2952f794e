// Devices of spad_tilelink_lane at lanes 0 and 1 of spad_tcdm. The other lanes read words
// at random, so that the devices have to wait for their banks. The names of the ports are
// those that cocotb-TileLink looks for; it calls d_denied d_error. The machine is machine.toml.
module top (
    input logic clk, rst,
    input logic one_a_valid, two_a_valid, one_d_ready, two_d_ready,
    input logic [2:0] one_a_opcode, two_a_opcode, one_a_param, two_a_param,
    input logic [1:0] one_a_size, two_a_size,
    input logic [3:0] one_a_source, two_a_source, one_a_mask, two_a_mask,
    input logic [31:0] one_a_address, two_a_address, one_a_data, two_a_data,
    output logic one_a_ready, two_a_ready, one_d_valid, two_d_valid, one_d_error, two_d_error,
    output logic [2:0] one_d_opcode, two_d_opcode,
    output logic [1:0] one_d_param, two_d_param, one_d_size, two_d_size,
    output logic [3:0] one_d_source, two_d_source,
    output logic one_d_sink, two_d_sink,
    output logic [31:0] one_d_data, two_d_data
);
    localparam L = 4, n = 10, D = 32;
    wire [L-1:0] req, gnt, wen, r_valid, r_opc;
    wire [L*n-1:0] add;
    wire [L*D-1:0] wdata, r_rdata;
    wire [L*D/8-1:0] be;
    // cocotb-TileLink looks at an answer that is not there: it has to be known, too.
    wire [2:0] one_opcode, two_opcode;
    wire [1:0] one_size, two_size;
    wire [3:0] one_source, two_source;
    wire [D-1:0] one_data, two_data;
    wire one_error, two_error;
    assign {one_d_opcode, one_d_size, one_d_source, one_d_error, one_d_data}
        = one_d_valid ? {one_opcode, one_size, one_source, one_error, one_data} : '0;
    assign {two_d_opcode, two_d_size, two_d_source, two_d_error, two_d_data}
        = two_d_valid ? {two_opcode, two_size, two_source, two_error, two_data} : '0;
    assign {one_d_param, two_d_param, one_d_sink, two_d_sink} = '0;

    spad_tilelink_lane #(.SOURCE_BITS(4)) one (
        .clk(clk), .rst(rst), .a_valid(one_a_valid), .a_ready(one_a_ready), .a_opcode(one_a_opcode),
        .a_size(one_a_size), .a_source(one_a_source), .a_address(one_a_address), .a_mask(one_a_mask),
        .a_data(one_a_data), .a_corrupt(1'b0), .d_valid(one_d_valid), .d_ready(one_d_ready),
        .d_opcode(one_opcode), .d_size(one_size), .d_source(one_source), .d_denied(one_error),
        .d_data(one_data), .d_corrupt(), .tcdm_req(req[0]), .tcdm_gnt(gnt[0]), .tcdm_add(add[0 +: n]),
        .tcdm_wen(wen[0]), .tcdm_wdata(wdata[0 +: D]), .tcdm_be(be[0 +: D/8]), .tcdm_r_valid(r_valid[0]),
        .tcdm_r_rdata(r_rdata[0 +: D]), .tcdm_r_opc(r_opc[0]), .idle()
    );
    spad_tilelink_lane #(.SOURCE_BITS(4)) two (
        .clk(clk), .rst(rst), .a_valid(two_a_valid), .a_ready(two_a_ready), .a_opcode(two_a_opcode),
        .a_size(two_a_size), .a_source(two_a_source), .a_address(two_a_address), .a_mask(two_a_mask),
        .a_data(two_a_data), .a_corrupt(1'b0), .d_valid(two_d_valid), .d_ready(two_d_ready),
        .d_opcode(two_opcode), .d_size(two_size), .d_source(two_source), .d_denied(two_error),
        .d_data(two_data), .d_corrupt(), .tcdm_req(req[1]), .tcdm_gnt(gnt[1]), .tcdm_add(add[n +: n]),
        .tcdm_wen(wen[1]), .tcdm_wdata(wdata[D +: D]), .tcdm_be(be[D/8 +: D/8]), .tcdm_r_valid(r_valid[1]),
        .tcdm_r_rdata(r_rdata[D +: D]), .tcdm_r_opc(r_opc[1]), .idle()
    );
    spad_tcdm memory (
        .clk(clk), .rst(rst), .tcdm_req(req), .tcdm_gnt(gnt), .tcdm_add(add), .tcdm_wen(wen), .tcdm_wdata(wdata),
        .tcdm_be(be), .tcdm_r_valid(r_valid), .tcdm_r_rdata(r_rdata), .tcdm_r_opc(r_opc), .idle()
    );

    genvar i;
    generate
        for (i = 2; i < L; i = i + 1) begin : lane
            reading_lane #(.LANE(i), .n(n), .D(D)) reads (
                .clk(clk), .rst(rst), .gnt(gnt[i]), .req(req[i]), .wen(wen[i]), .add(add[i*n +: n]),
                .wdata(wdata[i*D +: D]), .be(be[i*D/8 +: D/8])
            );
        end
    endgenerate
endmodule
