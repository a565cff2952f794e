// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_decode_row_bit: the source of one row bit as select lines of
// spad_row_map.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational, after the registers of spad_hash_config
// Reference:  hash paper, section 4
//
// in  source   3  0 keeps addr[m+j], i+1 takes addr[i]
// out sel      6  see spad_row_map

`default_nettype none

module spad_hash_decode_row_bit (
    input wire [2:0] source,
    output wire [5:0] sel
);
    assign sel[0] = source == 3'd1;
    assign sel[1] = source == 3'd2;
    assign sel[2] = source == 3'd3;
    assign sel[3] = source == 3'd4;
    assign sel[4] = source == 3'd5;
    assign sel[5] = source == 3'd0;
endmodule

`default_nettype wire
