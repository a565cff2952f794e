// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_config_bitwise_perm: configuration registers of
// spad_hash_bitwise_perm, one block per SM, shared by all lanes. Write before
// the kernel starts; a value without meaning selects nothing.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     a write shows on cfg_* in the next cycle
// Reference:  hash paper, section 4.3
//
// par RESET     20  the registers after a reset, 0 in the low bits
// in  clk        1  clock
// in  rst        1  synchronous reset: RESET
// in  wr_en      1  write a register
// in  wr_index   3  register to write; an index without a register writes
//                   nothing
// in  wr_data    4  index i: address bit of bank bit i
// out cfg_sel   70  to spad_hash_bitwise_perm

`default_nettype none

module spad_hash_config_bitwise_perm #(
    parameter [19:0] RESET = 20'h43210
) (
    input wire clk,
    input wire rst,
    input wire wr_en,
    input wire [2:0] wr_index,
    input wire [3:0] wr_data,
    output wire [69:0] cfg_sel
);
    reg [3:0] r0_q;
    reg [3:0] r1_q;
    reg [3:0] r2_q;
    reg [3:0] r3_q;
    reg [3:0] r4_q;
    always @(posedge clk) begin
        if (rst) r0_q <= RESET[3:0];
        else if (wr_en & (wr_index == 3'd0)) r0_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r1_q <= RESET[7:4];
        else if (wr_en & (wr_index == 3'd1)) r1_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r2_q <= RESET[11:8];
        else if (wr_en & (wr_index == 3'd2)) r2_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r3_q <= RESET[15:12];
        else if (wr_en & (wr_index == 3'd3)) r3_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r4_q <= RESET[19:16];
        else if (wr_en & (wr_index == 3'd4)) r4_q <= wr_data;
    end

    spad_hash_decode_bit decode0 (.index(r0_q), .sel(cfg_sel[13:0]));
    spad_hash_decode_bit decode1 (.index(r1_q), .sel(cfg_sel[27:14]));
    spad_hash_decode_bit decode2 (.index(r2_q), .sel(cfg_sel[41:28]));
    spad_hash_decode_bit decode3 (.index(r3_q), .sel(cfg_sel[55:42]));
    spad_hash_decode_bit decode4 (.index(r4_q), .sel(cfg_sel[69:56]));
endmodule

`default_nettype wire
