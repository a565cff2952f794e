// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_relssp_block: a block: whether all of its warps have released, and
// whether the last did just now.
//
// Parameters: W = 48
// Timing:     combinational
// Reference:  microarchitecture/relssp.md
//
// in  mine       W  warps of the block
// in  was_done   W  warps that had released before this cycle
// in  was_live   W  warps with an active thread before this cycle
// in  done       W  warps that have released before
// in  done_if    W  warps that have if relssp is executed
// in  releases   1  it is
// in  live       W  warps with an active thread
// out rel_done   1  every active thread has released
// out rel_live   1  the block has an active thread
// out unlock     1  the last of its active threads released in this cycle

`default_nettype none

module spad_relssp_block #(
    parameter integer W = 48 // 1 to 128
) (
    input wire [W-1:0] mine,
    input wire [W-1:0] was_done,
    input wire [W-1:0] was_live,
    input wire [W-1:0] done,
    input wire [W-1:0] done_if,
    input wire releases,
    input wire [W-1:0] live,
    output wire rel_done,
    output wire rel_live,
    output wire unlock
);
    assign rel_done = (&(~mine | done)) | (releases & (&(~mine | done_if)));
    assign rel_live = |(mine & live);
    assign unlock = rel_done & (|(mine & was_live)) & ~(&(~mine | was_done));
endmodule

`default_nettype wire
