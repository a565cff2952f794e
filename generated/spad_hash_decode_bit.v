// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_decode_bit: an address bit's index as one-hot select lines.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational, after the registers of spad_hash_config
// Reference:  hash paper, section 4
//
// in  index   4  address bit, 0 to n-1
// out sel    14  select lines, bit a for addr[a]

`default_nettype none

module spad_hash_decode_bit (
    input wire [3:0] index,
    output wire [13:0] sel
);
    assign sel[0] = index == 4'd0;
    assign sel[1] = index == 4'd1;
    assign sel[2] = index == 4'd2;
    assign sel[3] = index == 4'd3;
    assign sel[4] = index == 4'd4;
    assign sel[5] = index == 4'd5;
    assign sel[6] = index == 4'd6;
    assign sel[7] = index == 4'd7;
    assign sel[8] = index == 4'd8;
    assign sel[9] = index == 4'd9;
    assign sel[10] = index == 4'd10;
    assign sel[11] = index == 4'd11;
    assign sel[12] = index == 4'd12;
    assign sel[13] = index == 4'd13;
endmodule

`default_nettype wire
