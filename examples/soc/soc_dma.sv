// SPDX-License-Identifier: MIT OR Apache-2.0
// soc_dma: an AXI4 manager. It moves beats from a stream into the scratchpad by
// write bursts, or out of it into a stream by read bursts.

module soc_dma
    import soc_pkg::*;
#(
    // Beats of a burst, a power of 2. With BURST * BEAT_BYTES = 128 and commands that
    // begin at a multiple of that, no burst crosses 4 KB.
    parameter int unsigned BURST = 8
) (
    input logic clk,
    input logic rst,
    // A command is taken if the DMA is not busy. `failed` is of the last one.
    input logic start,
    input dma_cmd_t cmd,
    output logic busy,
    output logic failed,
    // What goes into the scratchpad, and what comes out of it.
    input logic in_valid,
    output logic in_ready,
    input logic [BEAT_BITS-1:0] in_data,
    output logic out_valid,
    input logic out_ready,
    output logic [BEAT_BITS-1:0] out_data,
    // AXI4; sizes, kinds and identifiers are constant.
    output logic awvalid,
    input logic awready,
    output logic [11:0] awaddr,
    output logic [7:0] awlen,
    output logic wvalid,
    input logic wready,
    output logic [BEAT_BITS-1:0] wdata,
    output logic wlast,
    input logic bvalid,
    output logic bready,
    input logic [1:0] bresp,
    output logic arvalid,
    input logic arready,
    output logic [11:0] araddr,
    output logic [7:0] arlen,
    input logic rvalid,
    output logic rready,
    input logic [BEAT_BITS-1:0] rdata,
    input logic [1:0] rresp
);
    logic fill;
    logic [11:0] addr;  // of the next burst
    logic [7:0] asks;  // beats whose burst has not begun
    logic [7:0] moves;  // beats whose data have not moved
    logic [7:0] open;  // write bursts that are not answered
    logic [$clog2(BURST)-1:0] beat;  // of the burst whose data move

    wire [7:0] burst = asks < 8'(BURST) ? asks : 8'(BURST);
    wire begun = awvalid & awready;
    wire asked = begun | arvalid & arready;
    wire moved = wvalid & wready | rvalid & rready;
    wire answered = bvalid & bready;

    assign busy = asks != 0 | moves != 0 | open != 0;

    assign awvalid = fill & asks != 0;
    assign arvalid = !fill & asks != 0;
    assign {awaddr, araddr} = {2{addr}};
    assign {awlen, arlen} = {2{burst - 8'd1}};

    assign wvalid = fill & moves != 0 & in_valid;
    assign in_ready = fill & moves != 0 & wready;
    assign wdata = in_data;
    assign wlast = &beat | moves == 1;
    assign bready = 1'b1;

    assign out_valid = rvalid;
    assign rready = out_ready;
    assign out_data = rdata;

    always_ff @(posedge clk) begin
        if (rst) begin
            {fill, failed} <= '0;
            {asks, moves, open} <= '0;
        end else if (start & !busy) begin
            fill <= cmd.fill;
            failed <= 1'b0;
            addr <= {cmd.word, 2'b00};
            {asks, moves} <= {2{cmd.beats}};
            beat <= '0;
        end else begin
            if (asked) begin
                addr <= addr + 12'(burst * BEAT_BYTES);
                asks <= asks - burst;
            end
            if (moved) begin
                moves <= moves - 8'd1;
                beat <= beat + 1'b1;
            end
            open <= open + 8'(begun) - 8'(answered);
            if (answered & bresp != 0 | rvalid & rready & rresp != 0) failed <= 1'b1;
        end
    end
endmodule
