// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_bitvec_xor: bit-vector XOR hash: bank = addr[k1+m-1:k1] ^
// (addr[k2+m-1:k2] & mask), k1 from 0 to n-m, k2 from 0 to n-1; address bits
// from n upward read as zero. The mask is part of the fine selects, so it
// costs nothing here.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational; cfg_* is static while a kernel runs
// Reference:  hash paper, section 4.2
//
// in  addr         14  word address
// in  cfg_coarse1   8  one-hot k1 / 3 in 4 bits, twice
// in  cfg_fine1_n   3  one-cold k1 mod 3 (active low)
// in  cfg_coarse2  14  one-hot k2 >> 1 in 7 bits, then its low bits again in 7
// in  cfg_fine2    10  bits [2*i +: 2] for bank bit i: one-hot k2 mod 2 where
//                      mask[i] is set and k2+i < n, else 0
// out bank          5  bank index

`default_nettype none

module spad_hash_bitvec_xor (
    input wire [13:0] addr,
    input wire [7:0] cfg_coarse1,
    input wire [2:0] cfg_fine1_n,
    input wire [13:0] cfg_coarse2,
    input wire [9:0] cfg_fine2,
    output wire [4:0] bank
);
    wire [6:0] window1;
    wire [5:0] window2;
    assign window1[0] = (cfg_coarse1[0] & addr[0]) | (cfg_coarse1[1] & addr[3])
        | (cfg_coarse1[2] & addr[6]) | (cfg_coarse1[3] & addr[9]);
    assign window1[1] = (cfg_coarse1[4] & addr[1]) | (cfg_coarse1[5] & addr[4])
        | (cfg_coarse1[6] & addr[7]) | (cfg_coarse1[7] & addr[10]);
    assign window1[2] = (cfg_coarse1[0] & addr[2]) | (cfg_coarse1[1] & addr[5])
        | (cfg_coarse1[2] & addr[8]) | (cfg_coarse1[3] & addr[11]);
    assign window1[3] = (cfg_coarse1[4] & addr[3]) | (cfg_coarse1[5] & addr[6])
        | (cfg_coarse1[6] & addr[9]) | (cfg_coarse1[7] & addr[12]);
    assign window1[4] = (cfg_coarse1[0] & addr[4]) | (cfg_coarse1[1] & addr[7])
        | (cfg_coarse1[2] & addr[10]) | (cfg_coarse1[3] & addr[13]);
    assign window1[5] = (cfg_coarse1[4] & addr[5]) | (cfg_coarse1[5] & addr[8])
        | (cfg_coarse1[6] & addr[11]);
    assign window1[6] = (cfg_coarse1[0] & addr[6]) | (cfg_coarse1[1] & addr[9])
        | (cfg_coarse1[2] & addr[12]);
    assign window2[0] = (cfg_coarse2[0] & addr[0]) | (cfg_coarse2[1] & addr[2])
        | (cfg_coarse2[2] & addr[4]) | (cfg_coarse2[3] & addr[6]) | (cfg_coarse2[4] & addr[8])
        | (cfg_coarse2[5] & addr[10]) | (cfg_coarse2[6] & addr[12]);
    assign window2[1] = (cfg_coarse2[7] & addr[1]) | (cfg_coarse2[8] & addr[3])
        | (cfg_coarse2[9] & addr[5]) | (cfg_coarse2[10] & addr[7]) | (cfg_coarse2[11] & addr[9])
        | (cfg_coarse2[12] & addr[11]) | (cfg_coarse2[13] & addr[13]);
    assign window2[2] = (cfg_coarse2[0] & addr[2]) | (cfg_coarse2[1] & addr[4])
        | (cfg_coarse2[2] & addr[6]) | (cfg_coarse2[3] & addr[8]) | (cfg_coarse2[4] & addr[10])
        | (cfg_coarse2[5] & addr[12]);
    assign window2[3] = (cfg_coarse2[7] & addr[3]) | (cfg_coarse2[8] & addr[5])
        | (cfg_coarse2[9] & addr[7]) | (cfg_coarse2[10] & addr[9])
        | (cfg_coarse2[11] & addr[11]) | (cfg_coarse2[12] & addr[13]);
    assign window2[4] = (cfg_coarse2[0] & addr[4]) | (cfg_coarse2[1] & addr[6])
        | (cfg_coarse2[2] & addr[8]) | (cfg_coarse2[3] & addr[10]) | (cfg_coarse2[4] & addr[12]);
    assign window2[5] = (cfg_coarse2[7] & addr[5]) | (cfg_coarse2[8] & addr[7])
        | (cfg_coarse2[9] & addr[9]) | (cfg_coarse2[10] & addr[11])
        | (cfg_coarse2[11] & addr[13]);
    assign bank[0] = ((~cfg_fine1_n[0] & window1[0]) | (~cfg_fine1_n[1] & window1[1])
            | (~cfg_fine1_n[2] & window1[2]))
        ^ ((cfg_fine2[0] & window2[0]) | (cfg_fine2[1] & window2[1]));
    assign bank[1] = ((~cfg_fine1_n[0] & window1[1]) | (~cfg_fine1_n[1] & window1[2])
            | (~cfg_fine1_n[2] & window1[3]))
        ^ ((cfg_fine2[2] & window2[1]) | (cfg_fine2[3] & window2[2]));
    assign bank[2] = ((~cfg_fine1_n[0] & window1[2]) | (~cfg_fine1_n[1] & window1[3])
            | (~cfg_fine1_n[2] & window1[4]))
        ^ ((cfg_fine2[4] & window2[2]) | (cfg_fine2[5] & window2[3]));
    assign bank[3] = ((~cfg_fine1_n[0] & window1[3]) | (~cfg_fine1_n[1] & window1[4])
            | (~cfg_fine1_n[2] & window1[5]))
        ^ ((cfg_fine2[6] & window2[3]) | (cfg_fine2[7] & window2[4]));
    assign bank[4] = ((~cfg_fine1_n[0] & window1[4]) | (~cfg_fine1_n[1] & window1[5])
            | (~cfg_fine1_n[2] & window1[6]))
        ^ ((cfg_fine2[8] & window2[4]) | (cfg_fine2[9] & window2[5]));
endmodule

`default_nettype wire
