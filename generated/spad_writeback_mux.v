// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_writeback_mux: selects one result per cycle for the writeback register:
// data from off-chip, then the last memory stage, then the NONMEM queue.
//
// Parameters: WBW = 1116
// Timing:     one cycle
// Reference:  elastic paper, section 4 and Fig. 4; docs/microarchitecture.md,
//             section 11
//
// in  clk         1  clock
// in  rst         1  synchronous reset
// in  icn_valid   1  data from off-chip is offered
// in  icn_data  1116  its payload
// out icn_ready   1  it is taken
// in  mem_valid   1  the result of the last memory stage is offered
// in  mem_data  1116  its payload
// out mem_ready   1  it is taken
// in  nm_valid    1  the result of the NONMEM queue is offered
// in  nm_data   1116  its payload
// out nm_ready    1  it is taken
// out wb_valid    1  a result is written back
// out wb_src      2  0 icn, 1 mem, 2 nonmem; 0 if none
// out wb_data   1116  its payload; 0 if none
// in  wb_ready    1  the port takes it

module spad_writeback_mux (
    input wire clk,
    input wire rst,
    input wire icn_valid,
    input wire [1115:0] icn_data,
    output wire icn_ready,
    input wire mem_valid,
    input wire [1115:0] mem_data,
    output wire mem_ready,
    input wire nm_valid,
    input wire [1115:0] nm_data,
    output wire nm_ready,
    output wire wb_valid,
    output wire [1:0] wb_src,
    output wire [1115:0] wb_data,
    input wire wb_ready
);
    localparam [1:0] SOURCE_ICN = 2'd0;
    localparam [1:0] SOURCE_MEM = 2'd1;
    localparam [1:0] SOURCE_NONMEM = 2'd2;
    localparam PWID = 1116;

    reg valid;
    reg [1:0] src;
    reg [PWID-1:0] data;

    wire free = ~valid | wb_ready;
    wire any = icn_valid | mem_valid | nm_valid;

    assign icn_ready = free;
    assign mem_ready = free & ~icn_valid;
    assign nm_ready = free & ~icn_valid & ~mem_valid;
    assign wb_valid = valid;
    assign wb_src = src;
    assign wb_data = data;

    always @(posedge clk) begin
        if (rst) begin
            valid <= 1'b0;
            src <= SOURCE_ICN;
            data <= {PWID{1'b0}};
        end else if (free) begin
            valid <= any;
            src <= icn_valid ? SOURCE_ICN
                : mem_valid ? SOURCE_MEM
                : nm_valid ? SOURCE_NONMEM
                : SOURCE_ICN;
            data <= (icn_valid ? icn_data : mem_valid ? mem_data : nm_data) & {PWID{any}};
        end
    end
endmodule
