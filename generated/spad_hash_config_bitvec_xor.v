// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_config_bitvec_xor: configuration registers of
// spad_hash_bitvec_xor, one block per SM, shared by all lanes. Write before
// the kernel starts; a value without meaning selects nothing.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     a write shows on cfg_* in the next cycle
// Reference:  hash paper, section 4.2
//
// par RESET        13  the registers after a reset, 0 in the low bits
// in  clk           1  clock
// in  rst           1  synchronous reset: RESET
// in  wr_en         1  write a register
// in  wr_index      2  register to write; an index without a register writes
//                      nothing
// in  wr_data       5  index 0: k1, 1: k2, 2: mask
// out cfg_coarse1   8  to spad_hash_bitvec_xor
// out cfg_fine1_n   3  to spad_hash_bitvec_xor
// out cfg_coarse2  14  to spad_hash_bitvec_xor
// out cfg_fine2    10  to spad_hash_bitvec_xor

`default_nettype none

module spad_hash_config_bitvec_xor #(
    parameter [12:0] RESET = 13'h0000
) (
    input wire clk,
    input wire rst,
    input wire wr_en,
    input wire [1:0] wr_index,
    input wire [4:0] wr_data,
    output wire [7:0] cfg_coarse1,
    output wire [2:0] cfg_fine1_n,
    output wire [13:0] cfg_coarse2,
    output wire [9:0] cfg_fine2
);
    reg [3:0] k1_q;
    reg [3:0] k2_q;
    reg [4:0] mask_q;
    always @(posedge clk) begin
        if (rst) k1_q <= RESET[3:0];
        else if (wr_en & (wr_index == 2'd0)) k1_q <= wr_data[3:0];
    end
    always @(posedge clk) begin
        if (rst) k2_q <= RESET[7:4];
        else if (wr_en & (wr_index == 2'd1)) k2_q <= wr_data[3:0];
    end
    always @(posedge clk) begin
        if (rst) mask_q <= RESET[12:8];
        else if (wr_en & (wr_index == 2'd2)) mask_q <= wr_data;
    end

    spad_hash_decode_bitvec_xor decode (
        .k1(k1_q),
        .k2(k2_q),
        .mask(mask_q),
        .cfg_coarse1(cfg_coarse1),
        .cfg_fine1_n(cfg_fine1_n),
        .cfg_coarse2(cfg_coarse2),
        .cfg_fine2(cfg_fine2)
    );
endmodule

`default_nettype wire
