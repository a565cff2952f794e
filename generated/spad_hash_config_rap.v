// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_config_rap: configuration registers of spad_rap, one block per SM,
// shared by all lanes. Write before the kernel starts; a value without meaning
// selects nothing.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     a write shows on cfg_* in the next cycle
// Reference:  RAP paper, section IV
//
// par RESET     160  the registers after a reset, 0 in the low bits
// in  clk         1  clock
// in  rst         1  synchronous reset: RESET
// in  wr_en       1  write a register
// in  wr_index    5  register to write; an index without a register writes
//                    nothing
// in  wr_data     5  index i: shift r_i
// out cfg_shift 160  to spad_rap

`default_nettype none

module spad_hash_config_rap #(
    parameter [159:0] RESET = 160'h0000000000000000000000000000000000000000
) (
    input wire clk,
    input wire rst,
    input wire wr_en,
    input wire [4:0] wr_index,
    input wire [4:0] wr_data,
    output wire [159:0] cfg_shift
);
    reg [4:0] r0_q;
    reg [4:0] r1_q;
    reg [4:0] r2_q;
    reg [4:0] r3_q;
    reg [4:0] r4_q;
    reg [4:0] r5_q;
    reg [4:0] r6_q;
    reg [4:0] r7_q;
    reg [4:0] r8_q;
    reg [4:0] r9_q;
    reg [4:0] r10_q;
    reg [4:0] r11_q;
    reg [4:0] r12_q;
    reg [4:0] r13_q;
    reg [4:0] r14_q;
    reg [4:0] r15_q;
    reg [4:0] r16_q;
    reg [4:0] r17_q;
    reg [4:0] r18_q;
    reg [4:0] r19_q;
    reg [4:0] r20_q;
    reg [4:0] r21_q;
    reg [4:0] r22_q;
    reg [4:0] r23_q;
    reg [4:0] r24_q;
    reg [4:0] r25_q;
    reg [4:0] r26_q;
    reg [4:0] r27_q;
    reg [4:0] r28_q;
    reg [4:0] r29_q;
    reg [4:0] r30_q;
    reg [4:0] r31_q;
    always @(posedge clk) begin
        if (rst) r0_q <= RESET[4:0];
        else if (wr_en & (wr_index == 5'd0)) r0_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r1_q <= RESET[9:5];
        else if (wr_en & (wr_index == 5'd1)) r1_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r2_q <= RESET[14:10];
        else if (wr_en & (wr_index == 5'd2)) r2_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r3_q <= RESET[19:15];
        else if (wr_en & (wr_index == 5'd3)) r3_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r4_q <= RESET[24:20];
        else if (wr_en & (wr_index == 5'd4)) r4_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r5_q <= RESET[29:25];
        else if (wr_en & (wr_index == 5'd5)) r5_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r6_q <= RESET[34:30];
        else if (wr_en & (wr_index == 5'd6)) r6_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r7_q <= RESET[39:35];
        else if (wr_en & (wr_index == 5'd7)) r7_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r8_q <= RESET[44:40];
        else if (wr_en & (wr_index == 5'd8)) r8_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r9_q <= RESET[49:45];
        else if (wr_en & (wr_index == 5'd9)) r9_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r10_q <= RESET[54:50];
        else if (wr_en & (wr_index == 5'd10)) r10_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r11_q <= RESET[59:55];
        else if (wr_en & (wr_index == 5'd11)) r11_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r12_q <= RESET[64:60];
        else if (wr_en & (wr_index == 5'd12)) r12_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r13_q <= RESET[69:65];
        else if (wr_en & (wr_index == 5'd13)) r13_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r14_q <= RESET[74:70];
        else if (wr_en & (wr_index == 5'd14)) r14_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r15_q <= RESET[79:75];
        else if (wr_en & (wr_index == 5'd15)) r15_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r16_q <= RESET[84:80];
        else if (wr_en & (wr_index == 5'd16)) r16_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r17_q <= RESET[89:85];
        else if (wr_en & (wr_index == 5'd17)) r17_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r18_q <= RESET[94:90];
        else if (wr_en & (wr_index == 5'd18)) r18_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r19_q <= RESET[99:95];
        else if (wr_en & (wr_index == 5'd19)) r19_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r20_q <= RESET[104:100];
        else if (wr_en & (wr_index == 5'd20)) r20_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r21_q <= RESET[109:105];
        else if (wr_en & (wr_index == 5'd21)) r21_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r22_q <= RESET[114:110];
        else if (wr_en & (wr_index == 5'd22)) r22_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r23_q <= RESET[119:115];
        else if (wr_en & (wr_index == 5'd23)) r23_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r24_q <= RESET[124:120];
        else if (wr_en & (wr_index == 5'd24)) r24_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r25_q <= RESET[129:125];
        else if (wr_en & (wr_index == 5'd25)) r25_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r26_q <= RESET[134:130];
        else if (wr_en & (wr_index == 5'd26)) r26_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r27_q <= RESET[139:135];
        else if (wr_en & (wr_index == 5'd27)) r27_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r28_q <= RESET[144:140];
        else if (wr_en & (wr_index == 5'd28)) r28_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r29_q <= RESET[149:145];
        else if (wr_en & (wr_index == 5'd29)) r29_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r30_q <= RESET[154:150];
        else if (wr_en & (wr_index == 5'd30)) r30_q <= wr_data;
    end
    always @(posedge clk) begin
        if (rst) r31_q <= RESET[159:155];
        else if (wr_en & (wr_index == 5'd31)) r31_q <= wr_data;
    end

    assign cfg_shift = {r31_q, r30_q, r29_q, r28_q, r27_q, r26_q, r25_q, r24_q, r23_q, r22_q,
        r21_q, r20_q, r19_q, r18_q, r17_q, r16_q, r15_q, r14_q, r13_q, r12_q, r11_q, r10_q,
        r9_q, r8_q, r7_q, r6_q, r5_q, r4_q, r3_q, r2_q, r1_q, r0_q};
endmodule

`default_nettype wire
