// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_bitvec_perm: bit-vector permutation hash: bank = addr[k+m-1:k], k
// from 0 to n-m, in a coarse and a fine step whose selects are decoded once
// per SM.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational; cfg_* is static while a kernel runs
// Reference:  hash paper, section 4.1
//
// in  addr        14  word address
// in  cfg_coarse   8  one-hot k >> 1 in 4 bits, twice; all zero for k >= 8
// in  cfg_fine     4  one-hot: bit 0 for even and bit 1 for odd k below 8, bit
//                     2+t for k = 8+t
// out bank         5  bank index

`default_nettype none

module spad_hash_bitvec_perm (
    input wire [13:0] addr,
    input wire [7:0] cfg_coarse,
    input wire [3:0] cfg_fine,
    output wire [4:0] bank
);
    wire [5:0] window;
    assign window[0] = (cfg_coarse[0] & addr[0]) | (cfg_coarse[1] & addr[2])
        | (cfg_coarse[2] & addr[4]) | (cfg_coarse[3] & addr[6]);
    assign window[1] = (cfg_coarse[4] & addr[1]) | (cfg_coarse[5] & addr[3])
        | (cfg_coarse[6] & addr[5]) | (cfg_coarse[7] & addr[7]);
    assign window[2] = (cfg_coarse[0] & addr[2]) | (cfg_coarse[1] & addr[4])
        | (cfg_coarse[2] & addr[6]) | (cfg_coarse[3] & addr[8]);
    assign window[3] = (cfg_coarse[4] & addr[3]) | (cfg_coarse[5] & addr[5])
        | (cfg_coarse[6] & addr[7]) | (cfg_coarse[7] & addr[9]);
    assign window[4] = (cfg_coarse[0] & addr[4]) | (cfg_coarse[1] & addr[6])
        | (cfg_coarse[2] & addr[8]) | (cfg_coarse[3] & addr[10]);
    assign window[5] = (cfg_coarse[4] & addr[5]) | (cfg_coarse[5] & addr[7])
        | (cfg_coarse[6] & addr[9]) | (cfg_coarse[7] & addr[11]);
    assign bank[0] = (cfg_fine[0] & window[0]) | (cfg_fine[1] & window[1])
        | (cfg_fine[2] & addr[8]) | (cfg_fine[3] & addr[9]);
    assign bank[1] = (cfg_fine[0] & window[1]) | (cfg_fine[1] & window[2])
        | (cfg_fine[2] & addr[9]) | (cfg_fine[3] & addr[10]);
    assign bank[2] = (cfg_fine[0] & window[2]) | (cfg_fine[1] & window[3])
        | (cfg_fine[2] & addr[10]) | (cfg_fine[3] & addr[11]);
    assign bank[3] = (cfg_fine[0] & window[3]) | (cfg_fine[1] & window[4])
        | (cfg_fine[2] & addr[11]) | (cfg_fine[3] & addr[12]);
    assign bank[4] = (cfg_fine[0] & window[4]) | (cfg_fine[1] & window[5])
        | (cfg_fine[2] & addr[12]) | (cfg_fine[3] & addr[13]);
endmodule

`default_nettype wire
