// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_config_bitwise_xor: configuration registers of
// spad_hash_bitwise_xor, one block per SM, shared by all lanes. Write before
// the kernel starts; a value without meaning selects nothing.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     a write shows on cfg_* in the next cycle
// Reference:  hash paper, section 4.4
//
// par RESET     40  the registers after a reset, 0 in the low bits
// in  clk        1  clock
// in  rst        1  synchronous reset: RESET
// in  wr_en      1  write a register
// in  wr_index   3  register to write; an index without a register writes
//                   nothing
// in  wr_data    8  index i: address bits of bank bit i, the lower one in
//                   [3:0], the upper one or 0 for none in [7:4]
// out cfg_sel  120  to spad_hash_bitwise_xor

`default_nettype none

module spad_hash_config_bitwise_xor #(
    parameter [39:0] RESET = 40'h0403020100
) (
    input wire clk,
    input wire rst,
    input wire wr_en,
    input wire [2:0] wr_index,
    input wire [7:0] wr_data,
    output wire [119:0] cfg_sel
);
    reg [7:0] r0_q;
    reg [7:0] r1_q;
    reg [7:0] r2_q;
    reg [7:0] r3_q;
    reg [7:0] r4_q;
    always @(posedge clk) begin
        if (rst) r0_q <= RESET[7:0];
        else if (wr_en & (wr_index == 3'd0)) r0_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r1_q <= RESET[15:8];
        else if (wr_en & (wr_index == 3'd1)) r1_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r2_q <= RESET[23:16];
        else if (wr_en & (wr_index == 3'd2)) r2_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r3_q <= RESET[31:24];
        else if (wr_en & (wr_index == 3'd3)) r3_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r4_q <= RESET[39:32];
        else if (wr_en & (wr_index == 3'd4)) r4_q <= wr_data;
    end

    spad_hash_decode_pair decode0 (
        .first(r0_q[3:0]),
        .second(r0_q[7:4]),
        .sel(cfg_sel[23:0])
    );
    spad_hash_decode_pair decode1 (
        .first(r1_q[3:0]),
        .second(r1_q[7:4]),
        .sel(cfg_sel[47:24])
    );
    spad_hash_decode_pair decode2 (
        .first(r2_q[3:0]),
        .second(r2_q[7:4]),
        .sel(cfg_sel[71:48])
    );
    spad_hash_decode_pair decode3 (
        .first(r3_q[3:0]),
        .second(r3_q[7:4]),
        .sel(cfg_sel[95:72])
    );
    spad_hash_decode_pair decode4 (
        .first(r4_q[3:0]),
        .second(r4_q[7:4]),
        .sel(cfg_sel[119:96])
    );
endmodule

`default_nettype wire
