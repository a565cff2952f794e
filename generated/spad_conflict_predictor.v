// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_conflict_predictor: remembers what the instructions at each program
// counter cost in MEM0 and masks memory warps after the next one for as long.
//
// Parameters: PW = 2, DG = 6, OCW = 7, EX = 5, SETS = 256, AHEAD = 3
// Timing:     taken in cycle s with P passes and excess x: after the passes
//             mask is 1 for x cycles without hold
// Reference:  elastic paper, section 5; microarchitecture/warp-mask.md
//
// in  clk              1  clock
// in  rst              1  synchronous reset
// in  clear            1  kernel launch: as reset
// in  resolved_valid   1  a predicted pass leaves the scratchpad
// in  resolved_occ     7  cycles that it took in MEM0
// in  resolved_last    1  the pass is the last of its instruction
// in  resolved_pc     14  the instruction's program counter
// in  set_valid        1  a predicted instruction is taken in this cycle
// in  set_pc          14  program counter of the instruction taken
// in  set_base         2  number of its passes - 1
// in  hold             1  EX is held in this cycle: it does not count
// out mask             1  memory warps are masked
// out mask_lasts       1  they will be in the next cycle, too, if EX is not
//                         held in this one
// out mask_likely      1  AHEAD = 3: some instruction has had an excess; else
//                         0

`default_nettype none

module spad_conflict_predictor (
    input wire clk,
    input wire rst,
    input wire clear,
    input wire resolved_valid,
    input wire [6:0] resolved_occ,
    input wire resolved_last,
    input wire [13:0] resolved_pc,
    input wire set_valid,
    input wire [13:0] set_pc,
    input wire [1:0] set_base,
    input wire hold,
    output wire mask,
    output wire mask_lasts,
    output wire mask_likely
);
    localparam PCW = 14;
    localparam EX = 5;
    localparam SETS = 256;
    wire up_valid;
    wire [PCW-1:0] up_pc;
    wire [EX-1:0] up_excess;
    spad_degree_accumulator accumulator (
        .clk(clk),
        .rst(rst),
        .clear(clear),
        .resolved_valid(resolved_valid),
        .resolved_occ(resolved_occ),
        .resolved_last(resolved_last),
        .resolved_pc(resolved_pc),
        .up_valid(up_valid),
        .up_pc(up_pc),
        .up_excess(up_excess)
    );

    wire lk_hit;
    wire [EX-1:0] lk_excess;
    /* verilator lint_off UNUSEDSIGNAL */ // for debugging: the mask itself decides
    wire lk_done;
    /* verilator lint_on UNUSEDSIGNAL */
    spad_conflict_history history (
        .clk(clk),
        .rst(rst),
        .clear(clear),
        .lk_valid(set_valid),
        .lk_pc(set_pc),
        .lk_done(lk_done),
        .lk_hit(lk_hit),
        .lk_excess(lk_excess),
        .up_valid(up_valid),
        .up_pc(up_pc),
        .up_excess(up_excess)
    );

    // The answer of the history counts in the second cycle after the question.
    // Until then the set's last update decides: heavy means an excess, heavier
    // one of more than one cycle.
    reg lq_hit_q;
    reg [EX-1:0] lq_excess_q;
    reg [SETS-1:0] heavy_q;
    reg [SETS-1:0] heavier_q;
    reg lq_heavy_q;
    reg lq_heavier_q;
    always @(posedge clk) begin
        if (rst) begin
            lq_hit_q <= 1'b0;
            lq_excess_q <= {EX{1'b0}};
            lq_heavy_q <= 1'b0;
            lq_heavier_q <= 1'b0;
        end else begin
            lq_hit_q <= lk_hit;
            lq_excess_q <= lk_excess;
            lq_heavy_q <= heavy_q[set_pc[7:0]];
            lq_heavier_q <= heavier_q[set_pc[7:0]];
        end
    end
    always @(posedge clk) begin
        if (rst) begin
            heavy_q <= {SETS{1'b0}};
            heavier_q <= {SETS{1'b0}};
        end else if (clear) begin
            heavy_q <= {SETS{1'b0}};
            heavier_q <= {SETS{1'b0}};
        end else if (up_valid) begin
            heavy_q[up_pc[7:0]] <= |up_excess;
            heavier_q[up_pc[7:0]] <= |up_excess[4:1];
        end
    end

    // The first excess since the kernel started.
    reg learned_q;
    always @(posedge clk) begin
        if (rst) learned_q <= 1'b0;
        else if (clear) learned_q <= 1'b0;
        else if (up_valid & (|up_excess)) learned_q <= 1'b1;
    end
    assign mask_likely = learned_q;

    spad_warp_mask warp_mask (
        .clk(clk),
        .rst(rst),
        .clear(clear),
        .set_valid(set_valid),
        .set_base(set_base),
        .lk_hit(lq_hit_q),
        .lk_excess(lq_excess_q),
        .lk_heavy(lq_heavy_q),
        .lk_heavier(lq_heavier_q),
        .hold(hold),
        .mask(mask),
        .lasts(mask_lasts)
    );
endmodule

`default_nettype wire
