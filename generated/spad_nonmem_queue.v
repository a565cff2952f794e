// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_nonmem_queue: NQ stages beside the memory stages. Elastic: a first-in
// first-out queue with taps on every stage and on EX; fixed: a pipeline.
// Bubbles close up in both.
//
// Parameters: M = 4, H = 1, NQ = 5, NMW = 1077
// Timing:     elastic: 0 cycles when empty and out_ready; fixed: at least NQ
//             cycles
// Reference:  elastic paper, section 4 and Eq. 4;
//             microarchitecture/elastic-queues.md
//
// in  clk           1  clock
// in  rst           1  synchronous reset
// in  cfg_elastic   1  1 elastic queue, 0 fixed pipeline; static while not
//                      empty
// in  in_valid      1  an entry is offered
// in  in_data     NMW  the entry
// out in_ready      1  an input would be accepted
// out out_valid     1  the oldest entry is offered
// out out_data    NMW  the entry; 0 if none
// in  out_ready     1  an output would be accepted
// out stage_valid   5  occupied stages, stage 0 is the youngest

`default_nettype none

module spad_nonmem_queue #(
    parameter integer NMW = 1077 // 1 to 32768
) (
    input wire clk,
    input wire rst,
    input wire cfg_elastic,
    input wire in_valid,
    input wire [NMW-1:0] in_data,
    output wire in_ready,
    output wire out_valid,
    output wire [NMW-1:0] out_data,
    input wire out_ready,
    output wire [4:0] stage_valid
);
    localparam NQ = 5;

    // Stage 0 is the youngest.
    reg [NQ-1:0] valid_q;
    reg [NQ*NMW-1:0] data_q; // no reset: `valid_q` covers it

    // Per stage: a later one holds an entry; it or a later one has room.
    wire [NQ-1:0] older;
    wire [NQ-1:0] free;

    wire bypass = cfg_elastic & ~(|valid_q);
    // The oldest entry is offered; the fixed pipeline offers that of its last
    // stage.
    wire [NQ-1:0] offer = valid_q & ~older & ({NQ{cfg_elastic}} | 5'b10000);
    wire [NQ-1:0] give = offer & {NQ{out_ready}};
    wire [NQ-1:0] room = ~valid_q | give;

    assign in_ready = free[0];
    wire push = in_valid & in_ready & ~(bypass & out_ready);
    wire [NQ-1:0] stay = valid_q & ~give;
    wire [NQ-1:0] move = stay & (free >> 1);
    wire [NQ-1:0] enter = (move << 1) | {4'd0, push};
    wire [NQ-1:0] valid_d = enter | (stay & ~move);

    assign out_valid = (|offer) | (bypass & in_valid);
    assign out_data = (in_data & {NMW{bypass & in_valid}})
        | (data_q[0 +: NMW] & {NMW{offer[0]}}) | (data_q[NMW +: NMW] & {NMW{offer[1]}})
        | (data_q[2*NMW +: NMW] & {NMW{offer[2]}}) | (data_q[3*NMW +: NMW] & {NMW{offer[3]}})
        | (data_q[4*NMW +: NMW] & {NMW{offer[4]}});
    assign stage_valid = valid_q;

    always @(posedge clk) begin
        if (rst) valid_q <= {NQ{1'b0}};
        else valid_q <= valid_d;
    end

    genvar k;
    generate
        for (k = 0; k < NQ; k = k + 1) begin : stage
            assign free[k] = |room[NQ-1:k];
            if (k + 1 < NQ) begin : inner
                assign older[k] = |valid_q[NQ-1:k+1];
            end else begin : last
                assign older[k] = 1'b0;
            end
            if (k == 0) begin : entrance
                always @(posedge clk) begin
                    if (enter[k]) data_q[k*NMW +: NMW] <= in_data;
                end
            end else begin : behind
                always @(posedge clk) begin
                    if (enter[k]) data_q[k*NMW +: NMW] <= data_q[(k-1)*NMW +: NMW];
                end
            end
        end
    endgenerate
endmodule

`default_nettype wire
