// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_writeback_mux: selects one result per cycle for the writeback register:
// by turns data from off-chip and the last memory stage, then the NONMEM
// queue.
//
// Parameters: WBW = 1116
// Timing:     one cycle
// Reference:  elastic paper, section 4 and Fig. 4;
//             microarchitecture/writeback-mux.md
//
// in  clk         1  clock
// in  rst         1  synchronous reset
// in  icn_valid   1  data from off-chip is offered
// in  icn_data  WBW  payload of the off-chip data
// out icn_ready   1  off-chip data would be accepted
// in  mem_valid   1  the result of the last memory stage is offered
// in  mem_data  WBW  payload of the last memory stage
// out mem_ready   1  a result of the last memory stage would be accepted
// in  nm_valid    1  the result of the NONMEM queue is offered
// in  nm_data   WBW  payload of the NONMEM queue
// out nm_ready    1  a result of the NONMEM queue would be accepted
// out wb_valid    1  a result is written back
// out wb_src      2  0 icn, 1 mem, 2 nonmem; 0 if none
// out wb_data   WBW  payload written back; 0 if none
// in  wb_ready    1  the port takes it

`default_nettype none

module spad_writeback_mux #(
    parameter integer WBW = 1116 // 1 to 32768
) (
    input wire clk,
    input wire rst,
    input wire icn_valid,
    input wire [WBW-1:0] icn_data,
    output wire icn_ready,
    input wire mem_valid,
    input wire [WBW-1:0] mem_data,
    output wire mem_ready,
    input wire nm_valid,
    input wire [WBW-1:0] nm_data,
    output wire nm_ready,
    output wire wb_valid,
    output wire [1:0] wb_src,
    output wire [WBW-1:0] wb_data,
    input wire wb_ready
);
    localparam [1:0] SOURCE_ICN = 2'd0;
    localparam [1:0] SOURCE_MEM = 2'd1;
    localparam [1:0] SOURCE_NONMEM = 2'd2;
    localparam RESULT = WBW+2;
    // The off-chip port has the turn.
    reg turn_q;
    // The buffer has room for a result.
    wire free;

    // The off-chip port is granted a slot after a request. A slot ends in a cycle
    // with space: without space neither side has used it.
    wire turn_d = icn_valid & ~turn_q;
    assign icn_ready = free & turn_q;
    assign mem_ready = free & ~turn_q;
    assign nm_ready = free & ~turn_q & ~mem_valid;

    wire take_icn = icn_valid & icn_ready;
    wire take_mem = mem_valid & mem_ready;
    wire take_nm = nm_valid & nm_ready;
    wire in_valid = take_icn | take_mem | take_nm;
    wire [1:0] in_src = take_icn ? SOURCE_ICN
        : take_mem ? SOURCE_MEM
        : take_nm ? SOURCE_NONMEM
        : SOURCE_ICN;
    wire [WBW-1:0] in_data = (icn_data & {WBW{take_icn}}) | (mem_data & {WBW{take_mem}})
        | (nm_data & {WBW{take_nm}});

    // Two results: the one that is shown, and one that arrived while the output
    // was stalled. So no ready depends on `wb_ready` of the same cycle. What is
    // taken is zero where nothing is, and so is what is shown.
    spad_skid #(.WIDTH(RESULT), .CLEAR(1)) results (
        .clk(clk),
        .rst(rst),
        .in_valid(in_valid),
        .in_data({in_data, in_src}),
        .in_ready(free),
        .out_valid(wb_valid),
        .out_data({wb_data, wb_src}),
        .out_ready(wb_ready)
    );

    always @(posedge clk) begin
        if (rst) turn_q <= 1'b0;
        else if (free) turn_q <= turn_d;
    end
endmodule

`default_nettype wire
