// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_config_bitvec_perm: configuration registers of
// spad_hash_bitvec_perm, one block per SM, shared by all lanes. Write before
// the kernel starts; a value without meaning selects nothing.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     a write shows on cfg_* in the next cycle
// Reference:  hash paper, section 4.1
//
// par RESET        4  the registers after a reset, 0 in the low bits
// in  clk          1  clock
// in  rst          1  synchronous reset: RESET
// in  wr_en        1  write a register
// in  wr_data      4  k
// out cfg_coarse   8  to spad_hash_bitvec_perm
// out cfg_fine     4  to spad_hash_bitvec_perm

`default_nettype none

module spad_hash_config_bitvec_perm #(
    parameter [3:0] RESET = 4'h0
) (
    input wire clk,
    input wire rst,
    input wire wr_en,
    input wire [3:0] wr_data,
    output wire [7:0] cfg_coarse,
    output wire [3:0] cfg_fine
);
    reg [3:0] k_q;
    always @(posedge clk) begin
        if (rst) k_q <= RESET;
        else if (wr_en) k_q <= wr_data;
    end

    spad_hash_decode_bitvec_perm decode (
        .k(k_q),
        .cfg_coarse(cfg_coarse),
        .cfg_fine(cfg_fine)
    );
endmodule

`default_nettype wire
