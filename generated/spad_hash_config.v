// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_config: configuration registers of spad_hash_matrix, one block per
// SM, shared by all lanes. Write before the kernel starts; a value without
// meaning selects nothing. The same as spad_hash_config_matrix, under a name
// that does not depend on the hash unit; the other units instantiate
// spad_hash_config_matrix.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     a write shows on cfg_* in the next cycle
// Reference:  hash paper, section 4 (XOR-based functions)
//
// par RESET     70  the registers after a reset, 0 in the low bits
// in  clk        1  clock
// in  rst        1  synchronous reset: RESET
// in  wr_en      1  write a register
// in  wr_index   3  register to write; an index without a register writes
//                   nothing
// in  wr_data   14  index i: row mask of bank bit i
// out cfg_rows  70  to spad_hash_matrix

`default_nettype none

module spad_hash_config #(
    parameter [69:0] RESET = 70'h001000200040008001
) (
    input wire clk,
    input wire rst,
    input wire wr_en,
    input wire [2:0] wr_index,
    input wire [13:0] wr_data,
    output wire [69:0] cfg_rows
);
    reg [13:0] r0_q;
    reg [13:0] r1_q;
    reg [13:0] r2_q;
    reg [13:0] r3_q;
    reg [13:0] r4_q;
    always @(posedge clk) begin
        if (rst) r0_q <= RESET[13:0];
        else if (wr_en & (wr_index == 3'd0)) r0_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r1_q <= RESET[27:14];
        else if (wr_en & (wr_index == 3'd1)) r1_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r2_q <= RESET[41:28];
        else if (wr_en & (wr_index == 3'd2)) r2_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r3_q <= RESET[55:42];
        else if (wr_en & (wr_index == 3'd3)) r3_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r4_q <= RESET[69:56];
        else if (wr_en & (wr_index == 3'd4)) r4_q <= wr_data;
    end

    assign cfg_rows = {r4_q, r3_q, r2_q, r1_q, r0_q};
endmodule

`default_nettype wire
