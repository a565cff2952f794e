// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_eligibility: which warps may issue, by what they offer and have in
// flight; counts the instructions in flight of each warp, per path.
//
// Parameters: W = 48
// Timing:     combinational from the offers; what starts or retires counts in
//             the next cycle
// Reference:  elastic paper, section 4; microarchitecture/issue.md
//
// in  clk           1  clock
// in  rst           1  synchronous reset
// in  cfg_barrel    2  0 strict, 1 relaxed, 2 and 3 relaxed with in-order
//                      commit per warp
// in  off_valid    48  the warp offers an instruction
// in  off_kind    192  kind of each warp's offer, 4 bits per warp
// in  allow        48  the access unit allows it
// in  busy         48  an instruction of the warp is on its way to EX
// in  atom_infl     1  an ATOMIC is in flight
// in  ex_relssp     1  a RELSSP is in EX
// in  ex_warp       6  the warp in EX
// in  take          1  an instruction is taken in this cycle
// in  take_sel     48  of which warp, one-hot
// in  take_kind     4  kind of the instruction taken
// in  retire        1  an instruction's last pass is written back in this
//                      cycle
// in  retire_warp   6  warp of the completed instruction
// in  retire_kind   4  kind of the completed instruction
// out ready        48  the warp may issue
// out is_mem       48  the warp's offer is of the memory path
// out is_atomic    48  the warp's offer is an ATOMIC
// out shares       48  its offer may touch the shared part of the scratchpad

`default_nettype none

module spad_eligibility (
    input wire clk,
    input wire rst,
    input wire [1:0] cfg_barrel,
    input wire [47:0] off_valid,
    input wire [191:0] off_kind,
    input wire [47:0] allow,
    input wire [47:0] busy,
    input wire atom_infl,
    input wire ex_relssp,
    input wire [5:0] ex_warp,
    input wire take,
    input wire [47:0] take_sel,
    input wire [3:0] take_kind,
    input wire retire,
    input wire [5:0] retire_warp,
    input wire [3:0] retire_kind,
    output wire [47:0] ready,
    output wire [47:0] is_mem,
    output wire [47:0] is_atomic,
    output wire [47:0] shares
);
    localparam [3:0] KIND_ALU = 4'd0;
    localparam [3:0] KIND_RELSSP = 4'd7;
    localparam W = 48;

    // What is taken and what retires is on the memory path, or on the other.
    wire take_mem = (take_kind != KIND_ALU) & (take_kind != KIND_RELSSP);
    wire retire_mem = (retire_kind != KIND_ALU) & (retire_kind != KIND_RELSSP);

    genvar i;
    generate
        for (i = 0; i < W; i = i + 1) begin : warp
            // Its instructions in flight on the memory path and on the other.
            reg [3:0] infl_m_q;
            reg [3:0] infl_n_q;
            wire [3:0] next_m;
            wire [3:0] next_n;
            spad_eligible_warp slice (
                .cfg_barrel(cfg_barrel),
                .offers(off_valid[i]),
                .kind(off_kind[4*i +: 4]),
                .allowed(allow[i]),
                .busy(busy[i]),
                .atom_infl(atom_infl),
                .releasing(ex_relssp & (ex_warp == i)),
                .infl_m(infl_m_q),
                .infl_n(infl_n_q),
                .starts(take & take_sel[i]),
                .starts_mem(take_mem),
                .ends(retire & (retire_warp == i)),
                .ends_mem(retire_mem),
                .ready(ready[i]),
                .is_mem(is_mem[i]),
                .is_atomic(is_atomic[i]),
                .shares(shares[i]),
                .next_m(next_m),
                .next_n(next_n)
            );
            always @(posedge clk) begin
                if (rst) begin
                    infl_m_q <= 4'd0;
                    infl_n_q <= 4'd0;
                end else begin
                    infl_m_q <= next_m;
                    infl_n_q <= next_n;
                end
            end
        end
    endgenerate
endmodule

`default_nettype wire
