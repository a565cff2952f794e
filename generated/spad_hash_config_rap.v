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
        if (rst) begin
            r0 <= 5'd0;
            r1 <= 5'd0;
            r2 <= 5'd0;
            r3 <= 5'd0;
            r4 <= 5'd0;
            r5 <= 5'd0;
            r6 <= 5'd0;
            r7 <= 5'd0;
            r8 <= 5'd0;
            r9 <= 5'd0;
            r10 <= 5'd0;
            r11 <= 5'd0;
            r12 <= 5'd0;
            r13 <= 5'd0;
            r14 <= 5'd0;
            r15 <= 5'd0;
            r16 <= 5'd0;
            r17 <= 5'd0;
            r18 <= 5'd0;
            r19 <= 5'd0;
            r20 <= 5'd0;
            r21 <= 5'd0;
            r22 <= 5'd0;
            r23 <= 5'd0;
            r24 <= 5'd0;
            r25 <= 5'd0;
            r26 <= 5'd0;
            r27 <= 5'd0;
            r28 <= 5'd0;
            r29 <= 5'd0;
            r30 <= 5'd0;
            r31 <= 5'd0;
        end else if (wr_en) begin
            case (wr_index)
                5'd0: r0 <= wr_data;
                5'd1: r1 <= wr_data;
                5'd2: r2 <= wr_data;
                5'd3: r3 <= wr_data;
                5'd4: r4 <= wr_data;
                5'd5: r5 <= wr_data;
                5'd6: r6 <= wr_data;
                5'd7: r7 <= wr_data;
                5'd8: r8 <= wr_data;
                5'd9: r9 <= wr_data;
                5'd10: r10 <= wr_data;
                5'd11: r11 <= wr_data;
                5'd12: r12 <= wr_data;
                5'd13: r13 <= wr_data;
                5'd14: r14 <= wr_data;
                5'd15: r15 <= wr_data;
                5'd16: r16 <= wr_data;
                5'd17: r17 <= wr_data;
                5'd18: r18 <= wr_data;
                5'd19: r19 <= wr_data;
                5'd20: r20 <= wr_data;
                5'd21: r21 <= wr_data;
                5'd22: r22 <= wr_data;
                5'd23: r23 <= wr_data;
                5'd24: r24 <= wr_data;
                5'd25: r25 <= wr_data;
                5'd26: r26 <= wr_data;
                5'd27: r27 <= wr_data;
                5'd28: r28 <= wr_data;
                5'd29: r29 <= wr_data;
                5'd30: r30 <= wr_data;
                5'd31: r31 <= wr_data;
                default: ;
            endcase
        end
    end

    assign cfg_shift[0 +: 5] = r0;
    assign cfg_shift[5 +: 5] = r1;
    assign cfg_shift[10 +: 5] = r2;
    assign cfg_shift[15 +: 5] = r3;
    assign cfg_shift[20 +: 5] = r4;
    assign cfg_shift[25 +: 5] = r5;
    assign cfg_shift[30 +: 5] = r6;
    assign cfg_shift[35 +: 5] = r7;
    assign cfg_shift[40 +: 5] = r8;
    assign cfg_shift[45 +: 5] = r9;
    assign cfg_shift[50 +: 5] = r10;
    assign cfg_shift[55 +: 5] = r11;
    assign cfg_shift[60 +: 5] = r12;
    assign cfg_shift[65 +: 5] = r13;
    assign cfg_shift[70 +: 5] = r14;
    assign cfg_shift[75 +: 5] = r15;
    assign cfg_shift[80 +: 5] = r16;
    assign cfg_shift[85 +: 5] = r17;
    assign cfg_shift[90 +: 5] = r18;
    assign cfg_shift[95 +: 5] = r19;
    assign cfg_shift[100 +: 5] = r20;
    assign cfg_shift[105 +: 5] = r21;
    assign cfg_shift[110 +: 5] = r22;
    assign cfg_shift[115 +: 5] = r23;
    assign cfg_shift[120 +: 5] = r24;
    assign cfg_shift[125 +: 5] = r25;
    assign cfg_shift[130 +: 5] = r26;
    assign cfg_shift[135 +: 5] = r27;
    assign cfg_shift[140 +: 5] = r28;
    assign cfg_shift[145 +: 5] = r29;
    assign cfg_shift[150 +: 5] = r30;
    assign cfg_shift[155 +: 5] = r31;
endmodule
