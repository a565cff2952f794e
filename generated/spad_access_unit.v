// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_access_unit: per pair of thread-block slots (2p, 2p+1): who owns the
// shared part of the scratchpad, and which warps must wait. The first access
// takes it; it passes to the partner when the owner has released.
//
// Parameters: n = 14, W = 48, WW = 6, T = 8, TW = 3
// Timing:     decisions are combinational, ownership changes at the end of the
//             cycle
// Reference:  sharing paper, sections 3 and 7.1, Fig. 3;
//             microarchitecture/access-unit.md
//
// in  clk             1  clock
// in  rst             1  synchronous reset
// in  cfg_sharing     1  scratchpad sharing is on
// in  cfg_limit      14  first word of the shared part, block-relative
// in  launch_valid    1  a block starts
// in  launch_block    3  slot of the block that starts
// in  launch_shared   1  the block that starts runs in sharing mode
// in  rel_done        8  every active thread of the block has released (this
//                        cycle included)
// in  live            8  the block has an active thread (this cycle included)
// in  warp_blk      144  block slot of each warp, TW bits
// in  off_shmem      48  the warp offers a scratchpad instruction
// in  off_hi        672  its highest block-relative word address
// in  acq_valid       1  an instruction is issued
// in  acq_warp        6  warp of the instruction taken
// out allow          48  may be issued
// out wait_sh        48  waits: the partner holds the shared part
// out viol           48  refused: its block has released
// out cls            96  class per warp: 0 owner, 1 unshared, 2 non-owner
// out locked          4  per pair: the shared part is held
// out owner           4  per pair: 0 slot 2p, 1 slot 2p+1

`default_nettype none

module spad_access_unit (
    input wire clk,
    input wire rst,
    input wire cfg_sharing,
    input wire [13:0] cfg_limit,
    input wire launch_valid,
    input wire [2:0] launch_block,
    input wire launch_shared,
    input wire [7:0] rel_done,
    input wire [7:0] live,
    input wire [143:0] warp_blk,
    input wire [47:0] off_shmem,
    input wire [671:0] off_hi,
    input wire acq_valid,
    input wire [5:0] acq_warp,
    output wire [47:0] allow,
    output wire [47:0] wait_sh,
    output wire [47:0] viol,
    output wire [95:0] cls,
    output wire [3:0] locked,
    output wire [3:0] owner
);
    localparam n = 14;
    localparam W = 48;
    localparam T = 8;
    localparam TW = 3;

    // Per slot: its block runs in sharing mode.
    reg [T-1:0] sh_q;
    // Per pair: the shared part is held.
    reg [T/2-1:0] lk_q;
    // Per pair: the slot that holds it, 0 or 1.
    reg [T/2-1:0] own_q;
    wire [T/2-1:0] lk_d;
    wire [T/2-1:0] own_d;

    // Releases of this cycle count: the lock and owner of a pair, and who needs
    // the shared part.
    wire [T/2-1:0] lock_now;
    wire [T/2-1:0] owner_now;
    wire [T-1:0] needs = live & ~rel_done;
    wire [T-1:0] slot_locked;
    wire [T-1:0] slot_owner;
    // Per slot: a warp of it takes the lock, a block starts in it.
    wire [T-1:0] acquires;
    wire [T-1:0] launches;

    // Per warp, of its block: it runs in sharing mode, it owns the shared part,
    // the lock of its pair is held, it has released.
    wire [W-1:0] in_sharing;
    wire [W-1:0] owns;
    wire [W-1:0] pair_locked;
    wire [W-1:0] released;
    // Per warp: it offers an address in the shared part; it issues.
    wire [W-1:0] beyond;
    wire [W-1:0] issues;

    // Only what lies in the shared part needs it. After its release a block is
    // refused; before, it waits for the partner's.
    wire [W-1:0] shared = in_sharing & {W{cfg_sharing}};
    wire [W-1:0] need = off_shmem & shared & beyond;
    assign viol = need & released;
    assign wait_sh = need & ~viol & pair_locked & ~owns;
    assign allow = ~wait_sh & ~viol;
    wire [W-1:0] takes = issues & need & allow;
    wire [W-1:0] non_owner = shared & ~owns;
    wire [W-1:0] unshared = ~shared;

    genvar q, b, i;
    generate
        for (q = 0; q < T / 2; q = q + 1) begin : pair
            spad_access_pair slice (
                .lock(lk_q[q]),
                .owner(own_q[q]),
                .needs(needs[2*q +: 2]),
                .live(live[2*q +: 2]),
                .acquires(acquires[2*q +: 2]),
                .starts(launches[2*q +: 2]),
                .locked(lock_now[q]),
                .owned_by(owner_now[q]),
                .lock_next(lk_d[q]),
                .owner_next(own_d[q])
            );
            assign slot_locked[2*q +: 2] = {2{lock_now[q]}};
            assign slot_owner[2*q +: 2] = {owner_now[q], ~owner_now[q]};
            always @(posedge clk) begin
                if (rst) begin
                    lk_q[q] <= 1'b0;
                    own_q[q] <= 1'b0;
                end else begin
                    lk_q[q] <= lk_d[q];
                    own_q[q] <= own_d[q];
                end
            end
        end
        for (b = 0; b < T; b = b + 1) begin : slot
            wire [W-1:0] mine;
            for (i = 0; i < W; i = i + 1) begin : of_warp
                assign mine[i] = warp_blk[i*TW +: TW] == b;
            end
            assign acquires[b] = acq_valid & (|(takes & mine));
            assign launches[b] = launch_valid & (launch_block == b);
            always @(posedge clk) begin
                if (rst) sh_q[b] <= 1'b0;
                else if (launches[b]) sh_q[b] <= launch_shared;
            end
        end
        for (i = 0; i < W; i = i + 1) begin : warp
            wire [T-1:0] mine;
            for (b = 0; b < T; b = b + 1) begin : of_slot
                assign mine[b] = warp_blk[i*TW +: TW] == b;
            end
            assign in_sharing[i] = |(sh_q & mine);
            assign owns[i] = |(slot_owner & mine);
            assign pair_locked[i] = |(slot_locked & mine);
            assign released[i] = |(rel_done & mine);
            assign beyond[i] = off_hi[i*n +: n] >= cfg_limit;
            assign issues[i] = acq_warp == i;
            assign cls[2*i +: 2] = {non_owner[i], unshared[i]};
        end
    endgenerate
    assign locked = lock_now;
    assign owner = owner_now;
endmodule

`default_nettype wire
