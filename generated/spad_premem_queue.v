// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_premem_queue: first-in first-out queue of PQ entries in front of MEM0.
// An entry that finds it empty and MEM0 ready passes in the same cycle; a full
// queue takes an entry in the cycle in which it gives one. Depth 0 is wires.
//
// Parameters: L = 32, WS = 32, PQ = 0, PREW = 1991
// Timing:     0 cycles when empty and out_ready, else in order
// Reference:  elastic paper, section 4.3 and Fig. 4;
//             microarchitecture/elastic-queues.md
//
// in  clk          1  clock
// in  rst          1  synchronous reset
// in  cfg_on       1  0: behaves as depth 0; static while not empty
// in  in_valid     1  an entry is offered
// in  in_data   PREW  the entry
// out in_ready     1  an input would be accepted
// out out_valid    1  the oldest entry is offered
// out out_data  PREW  the entry; 0 if none
// in  out_ready    1  an output would be accepted
// out count        1  entries held

`default_nettype none

module spad_premem_queue #(
    parameter integer PREW = 1991 // 1 to 32768
) (
    /* verilator lint_off UNUSEDSIGNAL */ // depth 0 has no state
    input wire clk,
    /* verilator lint_on UNUSEDSIGNAL */
    /* verilator lint_off UNUSEDSIGNAL */ // depth 0 has no state
    input wire rst,
    /* verilator lint_on UNUSEDSIGNAL */
    /* verilator lint_off UNUSEDSIGNAL */ // depth 0 has no state
    input wire cfg_on,
    /* verilator lint_on UNUSEDSIGNAL */
    input wire in_valid,
    input wire [PREW-1:0] in_data,
    output wire in_ready,
    output wire out_valid,
    output wire [PREW-1:0] out_data,
    input wire out_ready,
    output wire count
);
    // Depth 0: wires.
    assign in_ready = out_ready;
    assign out_valid = in_valid;
    assign out_data = in_data & {PREW{out_valid}};
    assign count = 1'd0;
endmodule

`default_nettype wire
