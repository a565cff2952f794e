// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_degree_accumulator: sums the extra cycles in MEM0 of the passes of one
// warp instruction, for the conflict history. Saturates.
//
// Parameters: OCW = 7, EX = 5, PCW = 14
// Timing:     the update is offered for one cycle, the one after the last pass
// Reference:  elastic paper, section 5.2 and Eq. 6;
//             microarchitecture/conflict-history.md
//
// in  clk              1  clock
// in  rst              1  synchronous reset
// in  clear            1  kernel launch: the sum starts again
// in  resolved_valid   1  a pass is resolved
// in  resolved_occ     7  cycles that it took in MEM0, at least 1
// in  resolved_last    1  the pass is the last of its instruction
// in  resolved_pc     14  program counter
// out up_valid         1  an instruction is complete
// out up_pc           14  program counter of the update; else 0
// out up_excess        5  sum of (cycles - 1) over its passes; else 0

`default_nettype none

module spad_degree_accumulator (
    input wire clk,
    input wire rst,
    input wire clear,
    input wire resolved_valid,
    input wire [6:0] resolved_occ,
    input wire resolved_last,
    input wire [13:0] resolved_pc,
    output wire up_valid,
    output wire [13:0] up_pc,
    output wire [4:0] up_excess
);
    localparam PCW = 14;
    localparam EX = 5;
    reg [EX-1:0] sum_q;
    reg valid_q;
    reg [PCW-1:0] pc_q;
    reg [EX-1:0] excess_q;

    // Wide enough for both terms; everything above the field saturates.
    wire [7:0] wide = ({3'd0, sum_q} + {1'd0, resolved_occ}) - 8'd1;
    wire [4:0] total = (wide > 8'd31) ? 5'd31 : wide[4:0];

    wire [EX-1:0] sum_d = (clear | (resolved_valid & resolved_last)) ? 5'd0
        : resolved_valid ? total
        : sum_q;
    wire done = resolved_valid & resolved_last & ~clear;
    wire [PCW-1:0] pc_d = resolved_pc & {PCW{done}};
    wire [EX-1:0] excess_d = total & {5{done}};

    assign up_valid = valid_q;
    assign up_pc = pc_q;
    assign up_excess = excess_q;

    always @(posedge clk) begin
        if (rst) begin
            sum_q <= {EX{1'b0}};
            valid_q <= 1'b0;
            pc_q <= {PCW{1'b0}};
            excess_q <= {EX{1'b0}};
        end else begin
            sum_q <= sum_d;
            valid_q <= done;
            pc_q <= pc_d;
            excess_q <= excess_d;
        end
    end
endmodule

`default_nettype wire
