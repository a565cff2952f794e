// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_decode_bit: an address bit's index as one-hot select lines.
//
// Parameters: addr_bits n = 14, bank_bits m = 5
// Timing:     combinational, behind the registers of spad_hash_config
// Reference:  hash paper, section 4
//
// in  index   4  address bit, 0 to n-1
// out sel    14  select lines, bit a for addr[a]

module spad_hash_decode_bit(index,sel);
    input wire [3:0] index;
    output reg [13:0] sel;
    always @(*) begin
        sel[0] = (index == 4'd0);
        sel[1] = (index == 4'd1);
        sel[2] = (index == 4'd2);
        sel[3] = (index == 4'd3);
        sel[4] = (index == 4'd4);
        sel[5] = (index == 4'd5);
        sel[6] = (index == 4'd6);
        sel[7] = (index == 4'd7);
        sel[8] = (index == 4'd8);
        sel[9] = (index == 4'd9);
        sel[10] = (index == 4'd10);
        sel[11] = (index == 4'd11);
        sel[12] = (index == 4'd12);
        sel[13] = (index == 4'd13);
    end
endmodule
