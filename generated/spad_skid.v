// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_skid: a buffer of two entries with registered ready: nothing
// combinational leads from one side to the other.
//
// Parameters: WIDTH, bits of an entry; CLEAR = 1,
//             out_data is 0 from the reset on
// Timing:     one cycle; one entry a cycle
// Reference:  microarchitecture/bus.md
//
// in  clk           1  clock
// in  rst           1  synchronous reset
// in  in_valid      1  an entry is offered
// in  in_data   WIDTH  the entry, WIDTH bits
// out in_ready      1  an input would be accepted; from a flip-flop
// out out_valid     1  the oldest entry is offered
// out out_data  WIDTH  the entry, WIDTH bits; without a valid entry, the
//                      previous in_data
// in  out_ready     1  an output would be accepted

`default_nettype none

module spad_skid #(
    parameter integer WIDTH = 8, // 1 to 65536
    parameter integer CLEAR = 0 // 0 to 1
) (
    input wire clk,
    input wire rst,
    input wire in_valid,
    input wire [WIDTH-1:0] in_data,
    output wire in_ready,
    output wire out_valid,
    output wire [WIDTH-1:0] out_data,
    input wire out_ready
);
    reg first_valid_q;
    reg [WIDTH-1:0] first_q; // no reset: `first_valid_q` covers it, but with CLEAR
    reg second_valid_q;
    reg [WIDTH-1:0] second_q; // no reset: `second_valid_q` covers it

    wire move = ~first_valid_q | out_ready;
    wire [WIDTH-1:0] next = second_valid_q ? second_q : in_data;
    wire waits = second_valid_q | in_valid;

    assign in_ready = ~second_valid_q;
    assign out_valid = first_valid_q;
    assign out_data = first_q;

    always @(posedge clk) begin
        if (rst) first_valid_q <= 1'b0;
        else if (move) first_valid_q <= waits;
    end
    always @(posedge clk) begin
        if (rst) second_valid_q <= 1'b0;
        else second_valid_q <= waits & ~move;
    end

    // The second entry follows the input while it is empty.
    always @(posedge clk) begin
        if (~second_valid_q) second_q <= in_data;
    end

    generate
        if (CLEAR != 0) begin : cleared
            always @(posedge clk) begin
                if (rst) first_q <= {WIDTH{1'b0}};
                else if (move) first_q <= next;
            end
        end else begin : plain
            always @(posedge clk) begin
                if (move) first_q <= next;
            end
        end
    endgenerate
endmodule

`default_nettype wire
