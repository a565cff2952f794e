// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_rap: random address permute-shift (RAP) or random address shift (RAS):
// row i of a matrix with 2^m columns is rotated by r_i; the row index is addr
// >> m.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational; cfg_* is static while a kernel runs
// Reference:  RAP paper, section IV
//
// in  addr       14  word address: column in bits [m-1:0], row i in the next m
//                    bits
// in  cfg_shift 160  shifts: r_i in bits [i*m +: m]; a permutation for RAP,
//                    any values for RAS
// out bank        5  bank index

`default_nettype none

module spad_rap (
    /* verilator lint_off UNUSEDSIGNAL */ // addr[13:10] does not enter the hash
    input wire [13:0] addr,
    /* verilator lint_on UNUSEDSIGNAL */
    input wire [159:0] cfg_shift,
    output wire [4:0] bank
);
    wire [4:0] column = addr[4:0];
    wire [4:0] row = addr[9:5];
    wire [4:0] shift = (cfg_shift[4:0] & {5{row == 5'd0}}) | (cfg_shift[9:5] & {5{row == 5'd1}})
        | (cfg_shift[14:10] & {5{row == 5'd2}}) | (cfg_shift[19:15] & {5{row == 5'd3}})
        | (cfg_shift[24:20] & {5{row == 5'd4}}) | (cfg_shift[29:25] & {5{row == 5'd5}})
        | (cfg_shift[34:30] & {5{row == 5'd6}}) | (cfg_shift[39:35] & {5{row == 5'd7}})
        | (cfg_shift[44:40] & {5{row == 5'd8}}) | (cfg_shift[49:45] & {5{row == 5'd9}})
        | (cfg_shift[54:50] & {5{row == 5'd10}}) | (cfg_shift[59:55] & {5{row == 5'd11}})
        | (cfg_shift[64:60] & {5{row == 5'd12}}) | (cfg_shift[69:65] & {5{row == 5'd13}})
        | (cfg_shift[74:70] & {5{row == 5'd14}}) | (cfg_shift[79:75] & {5{row == 5'd15}})
        | (cfg_shift[84:80] & {5{row == 5'd16}}) | (cfg_shift[89:85] & {5{row == 5'd17}})
        | (cfg_shift[94:90] & {5{row == 5'd18}}) | (cfg_shift[99:95] & {5{row == 5'd19}})
        | (cfg_shift[104:100] & {5{row == 5'd20}}) | (cfg_shift[109:105] & {5{row == 5'd21}})
        | (cfg_shift[114:110] & {5{row == 5'd22}}) | (cfg_shift[119:115] & {5{row == 5'd23}})
        | (cfg_shift[124:120] & {5{row == 5'd24}}) | (cfg_shift[129:125] & {5{row == 5'd25}})
        | (cfg_shift[134:130] & {5{row == 5'd26}}) | (cfg_shift[139:135] & {5{row == 5'd27}})
        | (cfg_shift[144:140] & {5{row == 5'd28}}) | (cfg_shift[149:145] & {5{row == 5'd29}})
        | (cfg_shift[154:150] & {5{row == 5'd30}}) | (cfg_shift[159:155] & {5{row == 5'd31}});
    assign bank = column + shift;
endmodule

`default_nettype wire
