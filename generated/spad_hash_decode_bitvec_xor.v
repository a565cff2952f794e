// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_decode_bitvec_xor: k1, k2 and mask as select lines of
// spad_hash_bitvec_xor.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational, after the registers of spad_hash_config
// Reference:  hash paper, section 4
//
// in  k1            4  first address bit of the first window, 0 to n-m
// in  k2            4  first address bit of the second window, 0 to n-1
// in  mask          5  which bank bits the second window enters
// out cfg_coarse1   8  see spad_hash_bitvec_xor
// out cfg_fine1_n   3  see spad_hash_bitvec_xor
// out cfg_coarse2  14  see spad_hash_bitvec_xor
// out cfg_fine2    10  see spad_hash_bitvec_xor

`default_nettype none

module spad_hash_decode_bitvec_xor (
    input wire [3:0] k1,
    input wire [3:0] k2,
    input wire [4:0] mask,
    output wire [7:0] cfg_coarse1,
    output wire [2:0] cfg_fine1_n,
    output wire [13:0] cfg_coarse2,
    output wire [9:0] cfg_fine2
);
    assign cfg_coarse1[0] = (k1 == 4'd0) | (k1 == 4'd1) | (k1 == 4'd2);
    assign cfg_coarse1[1] = (k1 == 4'd3) | (k1 == 4'd4) | (k1 == 4'd5);
    assign cfg_coarse1[2] = (k1 == 4'd6) | (k1 == 4'd7) | (k1 == 4'd8);
    assign cfg_coarse1[3] = k1 == 4'd9;
    assign cfg_coarse1[4] = (k1 == 4'd0) | (k1 == 4'd1) | (k1 == 4'd2);
    assign cfg_coarse1[5] = (k1 == 4'd3) | (k1 == 4'd4) | (k1 == 4'd5);
    assign cfg_coarse1[6] = (k1 == 4'd6) | (k1 == 4'd7) | (k1 == 4'd8);
    assign cfg_coarse1[7] = k1 == 4'd9;
    assign cfg_fine1_n[0] = ~((k1 == 4'd0) | (k1 == 4'd3) | (k1 == 4'd6) | (k1 == 4'd9));
    assign cfg_fine1_n[1] = ~((k1 == 4'd1) | (k1 == 4'd4) | (k1 == 4'd7));
    assign cfg_fine1_n[2] = ~((k1 == 4'd2) | (k1 == 4'd5) | (k1 == 4'd8));
    assign cfg_coarse2[0] = (k2 == 4'd0) | (k2 == 4'd1);
    assign cfg_coarse2[1] = (k2 == 4'd2) | (k2 == 4'd3);
    assign cfg_coarse2[2] = (k2 == 4'd4) | (k2 == 4'd5);
    assign cfg_coarse2[3] = (k2 == 4'd6) | (k2 == 4'd7);
    assign cfg_coarse2[4] = (k2 == 4'd8) | (k2 == 4'd9);
    assign cfg_coarse2[5] = (k2 == 4'd10) | (k2 == 4'd11);
    assign cfg_coarse2[6] = (k2 == 4'd12) | (k2 == 4'd13);
    assign cfg_coarse2[7] = (k2 == 4'd0) | (k2 == 4'd1);
    assign cfg_coarse2[8] = (k2 == 4'd2) | (k2 == 4'd3);
    assign cfg_coarse2[9] = (k2 == 4'd4) | (k2 == 4'd5);
    assign cfg_coarse2[10] = (k2 == 4'd6) | (k2 == 4'd7);
    assign cfg_coarse2[11] = (k2 == 4'd8) | (k2 == 4'd9);
    assign cfg_coarse2[12] = (k2 == 4'd10) | (k2 == 4'd11);
    assign cfg_coarse2[13] = (k2 == 4'd12) | (k2 == 4'd13);
    assign cfg_fine2[0] = mask[0] & ((k2 == 4'd0) | (k2 == 4'd2) | (k2 == 4'd4) | (k2 == 4'd6)
            | (k2 == 4'd8) | (k2 == 4'd10) | (k2 == 4'd12));
    assign cfg_fine2[1] = mask[0] & ((k2 == 4'd1) | (k2 == 4'd3) | (k2 == 4'd5) | (k2 == 4'd7)
            | (k2 == 4'd9) | (k2 == 4'd11) | (k2 == 4'd13));
    assign cfg_fine2[2] = mask[1] & ((k2 == 4'd0) | (k2 == 4'd2) | (k2 == 4'd4) | (k2 == 4'd6)
            | (k2 == 4'd8) | (k2 == 4'd10) | (k2 == 4'd12));
    assign cfg_fine2[3] = mask[1] & ((k2 == 4'd1) | (k2 == 4'd3) | (k2 == 4'd5) | (k2 == 4'd7)
            | (k2 == 4'd9) | (k2 == 4'd11));
    assign cfg_fine2[4] = mask[2] & ((k2 == 4'd0) | (k2 == 4'd2) | (k2 == 4'd4) | (k2 == 4'd6)
            | (k2 == 4'd8) | (k2 == 4'd10));
    assign cfg_fine2[5] = mask[2] & ((k2 == 4'd1) | (k2 == 4'd3) | (k2 == 4'd5) | (k2 == 4'd7)
            | (k2 == 4'd9) | (k2 == 4'd11));
    assign cfg_fine2[6] = mask[3] & ((k2 == 4'd0) | (k2 == 4'd2) | (k2 == 4'd4) | (k2 == 4'd6)
            | (k2 == 4'd8) | (k2 == 4'd10));
    assign cfg_fine2[7] = mask[3]
        & ((k2 == 4'd1) | (k2 == 4'd3) | (k2 == 4'd5) | (k2 == 4'd7) | (k2 == 4'd9));
    assign cfg_fine2[8] = mask[4]
        & ((k2 == 4'd0) | (k2 == 4'd2) | (k2 == 4'd4) | (k2 == 4'd6) | (k2 == 4'd8));
    assign cfg_fine2[9] = mask[4]
        & ((k2 == 4'd1) | (k2 == 4'd3) | (k2 == 4'd5) | (k2 == 4'd7) | (k2 == 4'd9));
endmodule

`default_nettype wire
