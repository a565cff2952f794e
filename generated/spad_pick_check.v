// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_pick_check: the pick waits where what it was qualified with may be out
// of date, and is dropped where it is.
//
// Parameters: none
// Timing:     combinational
// Reference:  docs/microarchitecture.md, section 18.3
//
// in  cfg_aware     1  the scheduler applies the mask
// in  cfg_violate   1  masked warps go when nothing else can
// in  picked        1  a warp is picked
// in  shared        1  it may touch the shared part
// in  refused       1  it was refused when it was qualified
// in  atomic        1  it offers an ATOMIC
// in  mem           1  its offer is of the memory path
// in  changed       1  a block started, threads left, or a release left EX
//                      then
// in  moved         1  lock or owner of a pair is not what it was then
// in  atom_infl     1  an ATOMIC is in flight
// in  mask          1  memory warps are masked
// in  room          1  an instruction may be taken
// out take          1  it is taken
// out leaves        1  it is taken, or dropped

module spad_pick_check (
    input wire cfg_aware,
    input wire cfg_violate,
    input wire picked,
    input wire shared,
    input wire refused,
    input wire atomic,
    input wire mem,
    input wire changed,
    input wire moved,
    input wire atom_infl,
    input wire mask,
    input wire room,
    output wire take,
    output wire leaves
);
    wire stale = shared & (changed | moved);
    wire drops = picked & ~stale
        & (refused | (atomic & atom_infl) | (mem & cfg_aware & mask & ~cfg_violate));
    assign take = picked & ~stale & ~drops & room;
    assign leaves = take | drops;
endmodule
