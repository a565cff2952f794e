// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_kind_operation: the scratchpad's operation for an instruction's kind.
// ATOMIC and unknown kinds become OP_UNSUPPORTED.
//
// Parameters: none
// Timing:     combinational
// Reference:  microarchitecture/parameters.md
//
// in  kind   4  the kind
// out op     3  the operation

`default_nettype none

module spad_kind_operation (
    input wire [3:0] kind,
    output wire [2:0] op
);
    localparam [3:0] KIND_ATOMIC = 4'd5;
    localparam [3:0] KIND_GLOBAL = 4'd6;
    localparam [3:0] KIND_RELSSP = 4'd7;
    localparam [2:0] OP_PASS = 3'd0;
    localparam [2:0] OP_UNSUPPORTED = 3'd7;
    assign op = ((kind == KIND_ATOMIC) | (kind > KIND_RELSSP)) ? OP_UNSUPPORTED
        : (kind >= KIND_GLOBAL) ? OP_PASS
        : kind[2:0];
endmodule

`default_nettype wire
