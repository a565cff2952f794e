// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_decode_pair: one or two address bits as select lines of one bank
// bit of spad_hash_bitwise_xor.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational, after the registers of spad_hash_config
// Reference:  hash paper, section 4
//
// in  first    4  address bit, 0 to n-1
// in  second   4  address bit above first, or 0 for none
// out sel     24  see spad_hash_bitwise_xor

`default_nettype none

module spad_hash_decode_pair (
    input wire [3:0] first,
    input wire [3:0] second,
    output wire [23:0] sel
);
    wire [13:0] is_first;
    wire [13:0] is_second;
    assign is_first[0] = first == 4'd0;
    assign is_first[1] = first == 4'd1;
    assign is_first[2] = first == 4'd2;
    assign is_first[3] = first == 4'd3;
    assign is_first[4] = first == 4'd4;
    assign is_first[5] = first == 4'd5;
    assign is_first[6] = first == 4'd6;
    assign is_first[7] = first == 4'd7;
    assign is_first[8] = first == 4'd8;
    assign is_first[9] = first == 4'd9;
    assign is_first[10] = first == 4'd10;
    assign is_first[11] = first == 4'd11;
    assign is_first[12] = first == 4'd12;
    assign is_first[13] = first == 4'd13;
    assign is_second[0] = 1'b0;
    assign is_second[1] = second == 4'd1;
    assign is_second[2] = second == 4'd2;
    assign is_second[3] = second == 4'd3;
    assign is_second[4] = second == 4'd4;
    assign is_second[5] = second == 4'd5;
    assign is_second[6] = second == 4'd6;
    assign is_second[7] = second == 4'd7;
    assign is_second[8] = second == 4'd8;
    assign is_second[9] = second == 4'd9;
    assign is_second[10] = second == 4'd10;
    assign is_second[11] = second == 4'd11;
    assign is_second[12] = second == 4'd12;
    assign is_second[13] = second == 4'd13;
    assign sel[0] = is_first[0] | is_second[0];
    assign sel[1] = is_first[4] | (is_second[4] & ~(is_first[0] | is_first[4] | is_first[6]
            | is_first[8] | is_first[10] | is_first[12]));
    assign sel[2] = is_first[6] | (is_second[6] & ~(is_first[0] | is_first[4] | is_first[6]
            | is_first[8] | is_first[10] | is_first[12]));
    assign sel[3] = is_first[8] | (is_second[8] & ~(is_first[0] | is_first[4] | is_first[6]
            | is_first[8] | is_first[10] | is_first[12]));
    assign sel[4] = is_first[10] | (is_second[10] & ~(is_first[0] | is_first[4] | is_first[6]
            | is_first[8] | is_first[10] | is_first[12]));
    assign sel[5] = is_first[12] | (is_second[12] & ~(is_first[0] | is_first[4] | is_first[6]
            | is_first[8] | is_first[10] | is_first[12]));
    assign sel[6] = is_first[1] | is_second[1];
    assign sel[7] = is_second[4] & (is_first[0] | is_first[4] | is_first[6] | is_first[8]
            | is_first[10] | is_first[12]);
    assign sel[8] = is_first[7]
        | (is_second[7] & ~(is_first[1] | is_first[7] | is_first[9] | is_first[13]));
    assign sel[9] = is_first[9]
        | (is_second[9] & ~(is_first[1] | is_first[7] | is_first[9] | is_first[13]));
    assign sel[10] = is_second[10] & (is_first[0] | is_first[4] | is_first[6] | is_first[8]
            | is_first[10] | is_first[12]);
    assign sel[11] = is_first[13]
        | (is_second[13] & ~(is_first[1] | is_first[7] | is_first[9] | is_first[13]));
    assign sel[12] = is_first[2] | is_second[2];
    assign sel[13] = is_first[5] | (is_second[5] & ~(is_first[2] | is_first[5] | is_first[11]));
    assign sel[14] = is_second[6] & (is_first[0] | is_first[4] | is_first[6] | is_first[8]
            | is_first[10] | is_first[12]);
    assign sel[15] = is_second[9] & (is_first[1] | is_first[7] | is_first[9] | is_first[13]);
    assign sel[16] = is_first[11]
        | (is_second[11] & ~(is_first[2] | is_first[5] | is_first[11]));
    assign sel[17] = is_second[12] & (is_first[0] | is_first[4] | is_first[6] | is_first[8]
            | is_first[10] | is_first[12]);
    assign sel[18] = is_first[3] | is_second[3];
    assign sel[19] = is_second[5] & (is_first[2] | is_first[5] | is_first[11]);
    assign sel[20] = is_second[7] & (is_first[1] | is_first[7] | is_first[9] | is_first[13]);
    assign sel[21] = is_second[8] & (is_first[0] | is_first[4] | is_first[6] | is_first[8]
            | is_first[10] | is_first[12]);
    assign sel[22] = is_second[11] & (is_first[2] | is_first[5] | is_first[11]);
    assign sel[23] = is_second[13] & (is_first[1] | is_first[7] | is_first[9] | is_first[13]);
endmodule

`default_nettype wire
