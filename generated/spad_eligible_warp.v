// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_eligible_warp: one warp: whether it may issue, what its offer is, and
// what it has in flight after this cycle.
//
// Parameters: none
// Timing:     combinational
// Reference:  microarchitecture/issue.md
//
// in  cfg_barrel   2  0 strict, 1 relaxed, 2 and 3 relaxed with in-order
//                     commit
// in  offers       1  the warp offers an instruction
// in  kind         4  kind of the offer
// in  allowed      1  the access unit allows it
// in  busy         1  an instruction of it is on its way to EX
// in  atom_infl    1  an ATOMIC is in flight
// in  releasing    1  a RELSSP of it is in EX
// in  infl_m       4  instructions of it in flight on the memory path
// in  infl_n       4  on the other path
// in  starts       1  an instruction of it is taken
// in  starts_mem   1  the instruction taken is of the memory path
// in  ends         1  an instruction of it retires
// in  ends_mem     1  the completed instruction is of the memory path
// out ready        1  the warp may issue
// out is_mem       1  the warp's offer is of the memory path
// out is_atomic    1  the warp's offer is an ATOMIC
// out shares       1  the warp's offer may touch the shared part
// out next_m       4  instructions in flight on the memory path in the next
//                     cycle
// out next_n       4  on the other path

`default_nettype none

module spad_eligible_warp (
    input wire [1:0] cfg_barrel,
    input wire offers,
    input wire [3:0] kind,
    input wire allowed,
    input wire busy,
    input wire atom_infl,
    input wire releasing,
    input wire [3:0] infl_m,
    input wire [3:0] infl_n,
    input wire starts,
    input wire starts_mem,
    input wire ends,
    input wire ends_mem,
    output wire ready,
    output wire is_mem,
    output wire is_atomic,
    output wire shares,
    output wire [3:0] next_m,
    output wire [3:0] next_n
);
    localparam [3:0] KIND_ALU = 4'd0;
    localparam [3:0] KIND_LOAD = 4'd1;
    localparam [3:0] KIND_ATOMIC = 4'd5;
    localparam [3:0] KIND_RELSSP = 4'd7;
    localparam [1:0] BARREL_STRICT = 2'd0;
    localparam [1:0] BARREL_RELAXED = 2'd1;
    assign is_mem = ~((kind == KIND_ALU) | (kind == KIND_RELSSP));
    assign is_atomic = kind == KIND_ATOMIC;
    assign shares = offers & (kind >= KIND_LOAD) & (kind <= KIND_ATOMIC);
    wire barrel_ok = (cfg_barrel == BARREL_RELAXED)
        | ((cfg_barrel == BARREL_STRICT) & ~(|infl_m) & ~(|infl_n))
        | (cfg_barrel[1] & ((is_mem & ~(|infl_n)) | (~is_mem & ~(|infl_m))));
    wire room = ~(&infl_m) & ~(&infl_n);
    wire second_atomic = is_atomic & atom_infl;
    wire fenced = (kind == KIND_RELSSP) & (|infl_m);
    assign ready = offers & allowed & barrel_ok & room
        & ~(second_atomic | fenced | releasing | busy);
    wire up_m = starts & starts_mem;
    wire down_m = ends & ends_mem;
    assign next_m = (up_m & ~down_m) ? infl_m + 4'd1
        : (down_m & ~up_m) ? infl_m - 4'd1
        : infl_m;
    wire up_n = starts & ~starts_mem;
    wire down_n = ends & ~ends_mem;
    assign next_n = (up_n & ~down_n) ? infl_n + 4'd1
        : (down_n & ~up_n) ? infl_n - 4'd1
        : infl_n;
endmodule

`default_nettype wire
