// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_memory_exit: turns the scratchpad's responses into results for the
// writeback port, after the memory stages that are not in the scratchpad, and
// tells the conflict prediction what a pass cost.
//
// Parameters: L = 32, D = 32, DG = 6, OCW = 7, LKG = 2, M = 4, TGW = 43,
//             WBW = 1116
// Timing:     combinational
// Reference:  elastic paper, section 4; microarchitecture/memory-exit.md
//
// in  clk               1  clock
// in  rst               1  synchronous reset
// in  resp_valid        1  a response is offered
// out resp_ready        1  a response would be accepted
// in  resp_mask        32  active lanes of the request
// in  resp_tag         43  its tag: control, degree, error, source
// in  resp_data      1024  words read, or the data of a pass; else 0
// in  resp_success     32  lanes that took their lock
// in  resp_error        1  error
// in  resp_degree       6  conflict degree
// out sr_valid          1  it is one that the sequencer waits for: taken at
//                          once
// out resolved_valid    1  a predicted pass leaves the scratchpad
// out resolved_occ      7  cycles that it took in MEM0
// out resolved_last     1  the pass is the last of its instruction
// out resolved_pc      14  the instruction's program counter
// out out_valid         1  a result is offered
// in  out_ready         1  an output would be accepted
// out out_data       1116  degree, error, success, data, mask, last, pass,
//                          kind, tag, warp, from the top

`default_nettype none

module spad_memory_exit (
    /* verilator lint_off UNUSEDSIGNAL */ // no stages after the scratchpad
    input wire clk,
    /* verilator lint_on UNUSEDSIGNAL */
    /* verilator lint_off UNUSEDSIGNAL */ // no stages after the scratchpad
    input wire rst,
    /* verilator lint_on UNUSEDSIGNAL */
    input wire resp_valid,
    output wire resp_ready,
    input wire [31:0] resp_mask,
    input wire [42:0] resp_tag,
    input wire [1023:0] resp_data,
    input wire [31:0] resp_success,
    input wire resp_error,
    input wire [5:0] resp_degree,
    output wire sr_valid,
    output wire resolved_valid,
    output wire [6:0] resolved_occ,
    output wire resolved_last,
    output wire [13:0] resolved_pc,
    output wire out_valid,
    input wire out_ready,
    output wire [1115:0] out_data
);
    localparam [3:0] KIND_LOAD = 4'd1;
    localparam [3:0] KIND_LDLK = 4'd3;
    localparam [3:0] KIND_STUL = 4'd4;
    localparam [3:0] KIND_ATOMIC = 4'd5;
    localparam WW = 6;
    localparam PCW = 14;
    localparam TG = 8;
    localparam PW = 2;
    localparam DG = 6;
    localparam CTL = 35;
    localparam WBW = 1116;

    // The tag: the sequencer waits for the answer; error and degree of an
    // atomic; the control of the pass.
    wire tag_own;
    wire tag_error;
    wire [DG-1:0] tag_degree;
    wire [CTL-1:0] tag_ctl;
    assign {tag_ctl, tag_degree, tag_error, tag_own} = resp_tag;
    wire [WW-1:0] warp;
    wire [3:0] kind;
    wire [TG-1:0] tag;
    wire [PCW-1:0] pc;
    wire [PW-1:0] pass;
    wire last;
    assign {last, pass, pc, tag, kind, warp} = tag_ctl;

    // A result for the writeback port. What an atomic reports is in its tag.
    wire valid = resp_valid & ~tag_own;
    wire error = resp_error | tag_error;
    wire [DG-1:0] degree = (kind == KIND_ATOMIC) ? tag_degree : resp_degree;
    wire [WBW-1:0] result = {degree, error, resp_success, resp_data, resp_mask, last, pass,
        kind, tag, warp};

    assign out_valid = valid;
    assign out_data = result;

    // What the sequencer waits for leaves at once.
    assign sr_valid = resp_valid & tag_own;
    assign resp_ready = tag_own | out_ready;

    // What the pass cost in MEM0, for the conflict history: of one that locks,
    // each group for all windows of the lock unit.
    assign resolved_valid = valid & out_ready & (kind >= KIND_LOAD) & (kind <= KIND_STUL);
    assign resolved_last = last;
    assign resolved_pc = pc;
    wire [DG-1:0] groups = (|resp_degree) ? resp_degree : 6'd1;
    assign resolved_occ = (kind >= KIND_LDLK) ? {1'd0, groups} << 1 : {1'd0, groups};
endmodule

`default_nettype wire
