// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_atomic_alu: the arithmetic of an atomic operation. Operations: 0 add, 1
// and, 2 or, 3 xor, 4 exchange, 5 umin, 6 umax, 7 smin, 8 smax.
//
// Parameters: D = 32
// Timing:     combinational
// Reference:  microarchitecture/parameters.md
//
// in  aop       4  operation
// in  word     32  the word in the scratchpad
// in  operand  32  the lane's operand
// out result   32  what the word becomes

`default_nettype none

module spad_atomic_alu (
    input wire [3:0] aop,
    input wire [31:0] word,
    input wire [31:0] operand,
    output wire [31:0] result
);
    localparam [3:0] AOP_ADD = 4'd0;
    localparam [3:0] AOP_AND = 4'd1;
    localparam [3:0] AOP_OR = 4'd2;
    localparam [3:0] AOP_XOR = 4'd3;
    localparam [3:0] AOP_SWAP = 4'd4;
    localparam [3:0] AOP_UMIN = 4'd5;
    localparam [3:0] AOP_UMAX = 4'd6;
    localparam [3:0] AOP_SMIN = 4'd7;
    localparam D = 32;
    wire below = word < operand;
    wire signed_below = (word[31] ^ operand[31]) ? word[31] : below;
    wire [D-1:0] umin = below ? word : operand;
    wire [D-1:0] umax = below ? operand : word;
    wire [D-1:0] smin = signed_below ? word : operand;
    wire [D-1:0] smax = signed_below ? operand : word;
    reg [D-1:0] chosen;
    always @* begin
        case (aop)
            AOP_ADD: chosen = word + operand;
            AOP_AND: chosen = word & operand;
            AOP_OR: chosen = word | operand;
            AOP_XOR: chosen = word ^ operand;
            AOP_SWAP: chosen = operand;
            AOP_UMIN: chosen = umin;
            AOP_UMAX: chosen = umax;
            AOP_SMIN: chosen = smin;
            default: chosen = smax;
        endcase
    end
    assign result = chosen;
endmodule

`default_nettype wire
