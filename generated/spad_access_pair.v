// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_access_pair: a pair of block slots: whether the shared part of their
// scratchpad is held, and by which of them, before and after the events of
// this cycle.
//
// Parameters: none
// Timing:     combinational
// Reference:  microarchitecture/access-unit.md
//
// in  lock         1  the shared part was held
// in  owner        1  the slot that held it, 0 or 1
// in  needs        2  per slot: a thread has not released
// in  live         2  per slot: it has an active thread
// in  acquires     2  per slot: a warp of it takes the shared part
// in  starts       2  per slot: a block starts
// out locked       1  the shared part is held
// out owned_by     1  the slot that holds it
// out lock_next    1  the shared part is held in the next cycle
// out owner_next   1  the slot that then holds it

`default_nettype none

module spad_access_pair (
    input wire lock,
    input wire owner,
    input wire [1:0] needs,
    input wire [1:0] live,
    input wire [1:0] acquires,
    input wire [1:0] starts,
    output wire locked,
    output wire owned_by,
    output wire lock_next,
    output wire owner_next
);
    wire owner_needs = owner ? needs[1] : needs[0];
    wire other_needs = owner ? needs[0] : needs[1];
    assign locked = lock & (owner_needs | other_needs);
    assign owned_by = owner ^ (~owner_needs & other_needs);
    // A block that finds its partner gone starts with a free lock.
    wire fresh = (starts[0] & ~live[1]) | (starts[1] & ~live[0]);
    wire acquired = |acquires;
    assign lock_next = ~fresh & (acquired | locked);
    assign owner_next = fresh ? starts[1]
        : acquired ? acquires[1]
        : owned_by;
endmodule

`default_nettype wire
