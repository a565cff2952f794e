// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_config_rap: configuration registers of spad_rap, one block per SM,
// shared by all lanes. Write before the kernel starts; a value without meaning
// selects nothing.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     a write shows on cfg_* in the next cycle
// Reference:  RAP paper, section IV
//
// in  clk         1  clock
// in  rst         1  synchronous reset: bank = addr mod 2^m
// in  wr_en       1  write a register
// in  wr_index    5  register to write; an index without a register writes
//                    nothing
// in  wr_data     5  index i: shift r_i
// out cfg_shift 160  to spad_rap

module spad_hash_config_rap (
    input wire clk,
    input wire rst,
    input wire wr_en,
    input wire [4:0] wr_index,
    input wire [4:0] wr_data,
    output wire [159:0] cfg_shift
);
    reg [4:0] r0;
    reg [4:0] r1;
    reg [4:0] r2;
    reg [4:0] r3;
    reg [4:0] r4;
    reg [4:0] r5;
    reg [4:0] r6;
    reg [4:0] r7;
    reg [4:0] r8;
    reg [4:0] r9;
    reg [4:0] r10;
    reg [4:0] r11;
    reg [4:0] r12;
    reg [4:0] r13;
    reg [4:0] r14;
    reg [4:0] r15;
    reg [4:0] r16;
    reg [4:0] r17;
    reg [4:0] r18;
    reg [4:0] r19;
    reg [4:0] r20;
    reg [4:0] r21;
    reg [4:0] r22;
    reg [4:0] r23;
    reg [4:0] r24;
    reg [4:0] r25;
    reg [4:0] r26;
    reg [4:0] r27;
    reg [4:0] r28;
    reg [4:0] r29;
    reg [4:0] r30;
    reg [4:0] r31;
    always @(posedge clk) begin
        if (rst) r0 <= 5'd0;
        else if (wr_en & (wr_index == 5'd0)) r0 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r1 <= 5'd0;
        else if (wr_en & (wr_index == 5'd1)) r1 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r2 <= 5'd0;
        else if (wr_en & (wr_index == 5'd2)) r2 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r3 <= 5'd0;
        else if (wr_en & (wr_index == 5'd3)) r3 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r4 <= 5'd0;
        else if (wr_en & (wr_index == 5'd4)) r4 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r5 <= 5'd0;
        else if (wr_en & (wr_index == 5'd5)) r5 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r6 <= 5'd0;
        else if (wr_en & (wr_index == 5'd6)) r6 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r7 <= 5'd0;
        else if (wr_en & (wr_index == 5'd7)) r7 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r8 <= 5'd0;
        else if (wr_en & (wr_index == 5'd8)) r8 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r9 <= 5'd0;
        else if (wr_en & (wr_index == 5'd9)) r9 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r10 <= 5'd0;
        else if (wr_en & (wr_index == 5'd10)) r10 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r11 <= 5'd0;
        else if (wr_en & (wr_index == 5'd11)) r11 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r12 <= 5'd0;
        else if (wr_en & (wr_index == 5'd12)) r12 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r13 <= 5'd0;
        else if (wr_en & (wr_index == 5'd13)) r13 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r14 <= 5'd0;
        else if (wr_en & (wr_index == 5'd14)) r14 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r15 <= 5'd0;
        else if (wr_en & (wr_index == 5'd15)) r15 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r16 <= 5'd0;
        else if (wr_en & (wr_index == 5'd16)) r16 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r17 <= 5'd0;
        else if (wr_en & (wr_index == 5'd17)) r17 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r18 <= 5'd0;
        else if (wr_en & (wr_index == 5'd18)) r18 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r19 <= 5'd0;
        else if (wr_en & (wr_index == 5'd19)) r19 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r20 <= 5'd0;
        else if (wr_en & (wr_index == 5'd20)) r20 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r21 <= 5'd0;
        else if (wr_en & (wr_index == 5'd21)) r21 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r22 <= 5'd0;
        else if (wr_en & (wr_index == 5'd22)) r22 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r23 <= 5'd0;
        else if (wr_en & (wr_index == 5'd23)) r23 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r24 <= 5'd0;
        else if (wr_en & (wr_index == 5'd24)) r24 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r25 <= 5'd0;
        else if (wr_en & (wr_index == 5'd25)) r25 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r26 <= 5'd0;
        else if (wr_en & (wr_index == 5'd26)) r26 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r27 <= 5'd0;
        else if (wr_en & (wr_index == 5'd27)) r27 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r28 <= 5'd0;
        else if (wr_en & (wr_index == 5'd28)) r28 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r29 <= 5'd0;
        else if (wr_en & (wr_index == 5'd29)) r29 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r30 <= 5'd0;
        else if (wr_en & (wr_index == 5'd30)) r30 <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r31 <= 5'd0;
        else if (wr_en & (wr_index == 5'd31)) r31 <= wr_data;
    end

    assign cfg_shift = {r31, r30, r29, r28, r27, r26, r25, r24, r23, r22, r21, r20, r19, r18,
        r17, r16, r15, r14, r13, r12, r11, r10, r9, r8, r7, r6, r5, r4, r3, r2, r1, r0};
endmodule
