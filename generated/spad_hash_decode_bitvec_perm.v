// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_decode_bitvec_perm: offset k as select lines of
// spad_hash_bitvec_perm.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational, after the registers of spad_hash_config
// Reference:  hash paper, section 4
//
// in  k            4  first address bit, 0 to n-m
// out cfg_coarse   8  see spad_hash_bitvec_perm
// out cfg_fine     4  see spad_hash_bitvec_perm

`default_nettype none

module spad_hash_decode_bitvec_perm (
    input wire [3:0] k,
    output wire [7:0] cfg_coarse,
    output wire [3:0] cfg_fine
);
    assign cfg_coarse[0] = (k == 4'd0) | (k == 4'd1);
    assign cfg_coarse[1] = (k == 4'd2) | (k == 4'd3);
    assign cfg_coarse[2] = (k == 4'd4) | (k == 4'd5);
    assign cfg_coarse[3] = (k == 4'd6) | (k == 4'd7);
    assign cfg_coarse[4] = (k == 4'd0) | (k == 4'd1);
    assign cfg_coarse[5] = (k == 4'd2) | (k == 4'd3);
    assign cfg_coarse[6] = (k == 4'd4) | (k == 4'd5);
    assign cfg_coarse[7] = (k == 4'd6) | (k == 4'd7);
    assign cfg_fine[0] = (k == 4'd0) | (k == 4'd2) | (k == 4'd4) | (k == 4'd6);
    assign cfg_fine[1] = (k == 4'd1) | (k == 4'd3) | (k == 4'd5) | (k == 4'd7);
    assign cfg_fine[2] = k == 4'd8;
    assign cfg_fine[3] = k == 4'd9;
endmodule

`default_nettype wire
