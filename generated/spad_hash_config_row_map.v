// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_config_row_map: configuration registers of spad_row_map, one block
// per SM, shared by all lanes. Write before the kernel starts; a value without
// meaning selects nothing.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     a write shows on cfg_* in the next cycle
// Reference:  beyond the papers: makes the bank functions of the hash paper
//             bijective
//
// par RESET        27  the registers after a reset, 0 in the low bits
// in  clk           1  clock
// in  rst           1  synchronous reset: RESET
// in  wr_en         1  write a register
// in  wr_index      4  register to write; an index without a register writes
//                      nothing
// in  wr_data       3  index j: source of row bit j, 0 keeps addr[m+j], i+1
//                      takes addr[i]
// out cfg_row_sel  54  to spad_row_map

`default_nettype none

module spad_hash_config_row_map #(
    parameter [26:0] RESET = 27'h0000000
) (
    input wire clk,
    input wire rst,
    input wire wr_en,
    input wire [3:0] wr_index,
    input wire [2:0] wr_data,
    output wire [53:0] cfg_row_sel
);
    reg [2:0] r0_q;
    reg [2:0] r1_q;
    reg [2:0] r2_q;
    reg [2:0] r3_q;
    reg [2:0] r4_q;
    reg [2:0] r5_q;
    reg [2:0] r6_q;
    reg [2:0] r7_q;
    reg [2:0] r8_q;
    always @(posedge clk) begin
        if (rst) r0_q <= RESET[2:0];
        else if (wr_en & (wr_index == 4'd0)) r0_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r1_q <= RESET[5:3];
        else if (wr_en & (wr_index == 4'd1)) r1_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r2_q <= RESET[8:6];
        else if (wr_en & (wr_index == 4'd2)) r2_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r3_q <= RESET[11:9];
        else if (wr_en & (wr_index == 4'd3)) r3_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r4_q <= RESET[14:12];
        else if (wr_en & (wr_index == 4'd4)) r4_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r5_q <= RESET[17:15];
        else if (wr_en & (wr_index == 4'd5)) r5_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r6_q <= RESET[20:18];
        else if (wr_en & (wr_index == 4'd6)) r6_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r7_q <= RESET[23:21];
        else if (wr_en & (wr_index == 4'd7)) r7_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r8_q <= RESET[26:24];
        else if (wr_en & (wr_index == 4'd8)) r8_q <= wr_data;
    end

    spad_hash_decode_row_bit decode0 (.source(r0_q), .sel(cfg_row_sel[5:0]));
    spad_hash_decode_row_bit decode1 (.source(r1_q), .sel(cfg_row_sel[11:6]));
    spad_hash_decode_row_bit decode2 (.source(r2_q), .sel(cfg_row_sel[17:12]));
    spad_hash_decode_row_bit decode3 (.source(r3_q), .sel(cfg_row_sel[23:18]));
    spad_hash_decode_row_bit decode4 (.source(r4_q), .sel(cfg_row_sel[29:24]));
    spad_hash_decode_row_bit decode5 (.source(r5_q), .sel(cfg_row_sel[35:30]));
    spad_hash_decode_row_bit decode6 (.source(r6_q), .sel(cfg_row_sel[41:36]));
    spad_hash_decode_row_bit decode7 (.source(r7_q), .sel(cfg_row_sel[47:42]));
    spad_hash_decode_row_bit decode8 (.source(r8_q), .sel(cfg_row_sel[53:48]));
endmodule

`default_nettype wire
