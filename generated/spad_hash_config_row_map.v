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
// in  clk           1  clock
// in  rst           1  synchronous reset: bank = addr mod 2^m
// in  wr_en         1  write a register
// in  wr_index      4  register to write; an index without a register writes
//                      nothing
// in  wr_data       3  index j: source of row bit j, 0 keeps addr[m+j], i+1
//                      takes addr[i]
// out cfg_row_sel  54  to spad_row_map

module spad_hash_config_row_map (
    input wire clk,
    input wire rst,
    input wire wr_en,
    input wire [3:0] wr_index,
    input wire [2:0] wr_data,
    output wire [53:0] cfg_row_sel
);
    reg [2:0] r0;
    reg [2:0] r1;
    reg [2:0] r2;
    reg [2:0] r3;
    reg [2:0] r4;
    reg [2:0] r5;
    reg [2:0] r6;
    reg [2:0] r7;
    reg [2:0] r8;
    always @(posedge clk) begin
        if (rst) r0 <= 3'd0;
        else if (wr_en & (wr_index == 4'd0)) r0 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r1 <= 3'd0;
        else if (wr_en & (wr_index == 4'd1)) r1 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r2 <= 3'd0;
        else if (wr_en & (wr_index == 4'd2)) r2 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r3 <= 3'd0;
        else if (wr_en & (wr_index == 4'd3)) r3 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r4 <= 3'd0;
        else if (wr_en & (wr_index == 4'd4)) r4 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r5 <= 3'd0;
        else if (wr_en & (wr_index == 4'd5)) r5 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r6 <= 3'd0;
        else if (wr_en & (wr_index == 4'd6)) r6 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r7 <= 3'd0;
        else if (wr_en & (wr_index == 4'd7)) r7 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r8 <= 3'd0;
        else if (wr_en & (wr_index == 4'd8)) r8 <= wr_data;
    end

    spad_hash_decode_row_bit decode0 (.source(r0), .sel(cfg_row_sel[5:0]));
    spad_hash_decode_row_bit decode1 (.source(r1), .sel(cfg_row_sel[11:6]));
    spad_hash_decode_row_bit decode2 (.source(r2), .sel(cfg_row_sel[17:12]));
    spad_hash_decode_row_bit decode3 (.source(r3), .sel(cfg_row_sel[23:18]));
    spad_hash_decode_row_bit decode4 (.source(r4), .sel(cfg_row_sel[29:24]));
    spad_hash_decode_row_bit decode5 (.source(r5), .sel(cfg_row_sel[35:30]));
    spad_hash_decode_row_bit decode6 (.source(r6), .sel(cfg_row_sel[41:36]));
    spad_hash_decode_row_bit decode7 (.source(r7), .sel(cfg_row_sel[47:42]));
    spad_hash_decode_row_bit decode8 (.source(r8), .sel(cfg_row_sel[53:48]));
endmodule
