// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_decode_pair: one or two address bits as select lines of one bank
// bit of spad_hash_bitwise_xor.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational, behind the registers of spad_hash_config
// Reference:  hash paper, section 4
//
// in  first    4  address bit, 0 to n-1
// in  second   4  address bit above first, or 0 for none
// out sel     24  see spad_hash_bitwise_xor

module spad_hash_decode_pair(first,second,sel);
    input wire [3:0] first;
    input wire [3:0] second;
    output reg [23:0] sel;
    reg [13:0] is_first;
    reg [13:0] is_second;
    always @(*) begin
        is_first[0] = (first == 4'd0);
        is_first[1] = (first == 4'd1);
        is_first[2] = (first == 4'd2);
        is_first[3] = (first == 4'd3);
        is_first[4] = (first == 4'd4);
        is_first[5] = (first == 4'd5);
        is_first[6] = (first == 4'd6);
        is_first[7] = (first == 4'd7);
        is_first[8] = (first == 4'd8);
        is_first[9] = (first == 4'd9);
        is_first[10] = (first == 4'd10);
        is_first[11] = (first == 4'd11);
        is_first[12] = (first == 4'd12);
        is_first[13] = (first == 4'd13);
        is_second[0] = 1'b0;
        is_second[1] = (second == 4'd1);
        is_second[2] = (second == 4'd2);
        is_second[3] = (second == 4'd3);
        is_second[4] = (second == 4'd4);
        is_second[5] = (second == 4'd5);
        is_second[6] = (second == 4'd6);
        is_second[7] = (second == 4'd7);
        is_second[8] = (second == 4'd8);
        is_second[9] = (second == 4'd9);
        is_second[10] = (second == 4'd10);
        is_second[11] = (second == 4'd11);
        is_second[12] = (second == 4'd12);
        is_second[13] = (second == 4'd13);
        sel[0] = (is_first[0] | is_second[0]);
        sel[1] = (is_first[4] | (is_second[4] & ~(is_first[0] | is_first[4]
                | is_first[6] | is_first[8] | is_first[10] | is_first[12])));
        sel[2] = (is_first[6] | (is_second[6] & ~(is_first[0] | is_first[4]
                | is_first[6] | is_first[8] | is_first[10] | is_first[12])));
        sel[3] = (is_first[8] | (is_second[8] & ~(is_first[0] | is_first[4]
                | is_first[6] | is_first[8] | is_first[10] | is_first[12])));
        sel[4] = (is_first[10] | (is_second[10] & ~(is_first[0] | is_first[4]
                | is_first[6] | is_first[8] | is_first[10] | is_first[12])));
        sel[5] = (is_first[12] | (is_second[12] & ~(is_first[0] | is_first[4]
                | is_first[6] | is_first[8] | is_first[10] | is_first[12])));
        sel[6] = (is_first[1] | is_second[1]);
        sel[7] = (is_second[4] & (is_first[0] | is_first[4] | is_first[6]
                | is_first[8] | is_first[10] | is_first[12]));
        sel[8] = (is_first[7] | (is_second[7] & ~(is_first[1] | is_first[7]
                | is_first[9] | is_first[13])));
        sel[9] = (is_first[9] | (is_second[9] & ~(is_first[1] | is_first[7]
                | is_first[9] | is_first[13])));
        sel[10] = (is_second[10] & (is_first[0] | is_first[4] | is_first[6]
                | is_first[8] | is_first[10] | is_first[12]));
        sel[11] = (is_first[13] | (is_second[13] & ~(is_first[1] | is_first[7]
                | is_first[9] | is_first[13])));
        sel[12] = (is_first[2] | is_second[2]);
        sel[13] = (is_first[5] | (is_second[5] & ~(is_first[2] | is_first[5]
                | is_first[11])));
        sel[14] = (is_second[6] & (is_first[0] | is_first[4] | is_first[6]
                | is_first[8] | is_first[10] | is_first[12]));
        sel[15] = (is_second[9] & (is_first[1] | is_first[7] | is_first[9]
                | is_first[13]));
        sel[16] = (is_first[11] | (is_second[11] & ~(is_first[2] | is_first[5]
                | is_first[11])));
        sel[17] = (is_second[12] & (is_first[0] | is_first[4] | is_first[6]
                | is_first[8] | is_first[10] | is_first[12]));
        sel[18] = (is_first[3] | is_second[3]);
        sel[19] = (is_second[5] & (is_first[2] | is_first[5] | is_first[11]));
        sel[20] = (is_second[7] & (is_first[1] | is_first[7] | is_first[9]
                | is_first[13]));
        sel[21] = (is_second[8] & (is_first[0] | is_first[4] | is_first[6]
                | is_first[8] | is_first[10] | is_first[12]));
        sel[22] = (is_second[11] & (is_first[2] | is_first[5] | is_first[11]));
        sel[23] = (is_second[13] & (is_first[1] | is_first[7] | is_first[9]
                | is_first[13]));
    end
endmodule
