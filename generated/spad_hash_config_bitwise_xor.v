// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_config_bitwise_xor: configuration registers of
// spad_hash_bitwise_xor, one block per SM, shared by all lanes. Write before
// the kernel starts; a value without meaning selects nothing.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     a write shows on cfg_* in the next cycle
// Reference:  hash paper, section 4.4
//
// in  clk        1  clock
// in  rst        1  synchronous reset: bank = addr mod 2^m
// in  wr_en      1  write a register
// in  wr_index   3  register to write; an index without a register writes
//                   nothing
// in  wr_data    8  index i: address bits of bank bit i, the lower one in
//                   [3:0], the upper one or 0 for none in [7:4]
// out cfg_sel  120  to spad_hash_bitwise_xor

module spad_hash_config_bitwise_xor (
    input wire clk,
    input wire rst,
    input wire wr_en,
    input wire [2:0] wr_index,
    input wire [7:0] wr_data,
    output wire [119:0] cfg_sel
);
    reg [7:0] r0;
    reg [7:0] r1;
    reg [7:0] r2;
    reg [7:0] r3;
    reg [7:0] r4;
    always @(posedge clk) begin
        if (rst) r0 <= 8'd0;
        else if (wr_en & (wr_index == 3'd0)) r0 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r1 <= 8'd1;
        else if (wr_en & (wr_index == 3'd1)) r1 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r2 <= 8'd2;
        else if (wr_en & (wr_index == 3'd2)) r2 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r3 <= 8'd3;
        else if (wr_en & (wr_index == 3'd3)) r3 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r4 <= 8'd4;
        else if (wr_en & (wr_index == 3'd4)) r4 <= wr_data;
    end

    spad_hash_decode_pair decode0 (
        .first(r0[3:0]),
        .second(r0[7:4]),
        .sel(cfg_sel[23:0])
    );
    spad_hash_decode_pair decode1 (
        .first(r1[3:0]),
        .second(r1[7:4]),
        .sel(cfg_sel[47:24])
    );
    spad_hash_decode_pair decode2 (
        .first(r2[3:0]),
        .second(r2[7:4]),
        .sel(cfg_sel[71:48])
    );
    spad_hash_decode_pair decode3 (
        .first(r3[3:0]),
        .second(r3[7:4]),
        .sel(cfg_sel[95:72])
    );
    spad_hash_decode_pair decode4 (
        .first(r4[3:0]),
        .second(r4[7:4]),
        .sel(cfg_sel[119:96])
    );
endmodule
