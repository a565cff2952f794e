// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_pick_check: the pick waits where what it was qualified with may be out
// of date, and is dropped where it is. It waits for the mask, too, but lets
// others go ahead.
//
// Parameters: none
// Timing:     combinational
// Reference:  microarchitecture/issue.md
//
// in  picked      1  a warp is picked
// in  shared      1  the pick may touch the shared part
// in  refused     1  the pick was refused when it was qualified
// in  atomic      1  the pick is an ATOMIC
// in  held        1  the mask holds it
// in  overtaken   1  it will for longer, and another warp can go
// in  changed     1  a block started, threads left, or a release left EX then
// in  moved       1  lock or owner of a pair is not what it was then
// in  atom_infl   1  an ATOMIC is in flight
// in  room        1  an instruction may be taken
// out take        1  the pick is taken
// out leaves      1  the pick is taken or dropped

`default_nettype none

module spad_pick_check (
    input wire picked,
    input wire shared,
    input wire refused,
    input wire atomic,
    input wire held,
    input wire overtaken,
    input wire changed,
    input wire moved,
    input wire atom_infl,
    input wire room,
    output wire take,
    output wire leaves
);
    wire stale = shared & (changed | moved);
    wire drops = picked & ~stale & (refused | (atomic & atom_infl) | (held & overtaken));
    assign take = picked & ~stale & ~drops & ~held & room;
    assign leaves = take | drops;
endmodule

`default_nettype wire
