// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_issue_select: selects the warp whose instruction is taken. AHEAD = 0
// and 1: of those that are ready in this cycle. AHEAD = 2: qualified in one
// cycle, picked and taken in the next. AHEAD = 3: qualified, picked, looked at
// again and taken in the third.
//
// Parameters: W = 48, T = 8, AHEAD = 3
// Timing:     ready in cycle t, picked in t+1, taken in t+2 or later
// Reference:  elastic paper, section 5; sharing paper, section 4;
//             microarchitecture/issue.md
//
// in  clk            1  clock
// in  rst            1  synchronous reset
// in  cfg_policy     2  scheduler: 0 round-robin, 1 and 2 owner first, 3
//                       lowest slot
// in  cfg_aware      1  bank-conflict-aware scheduling
// in  cfg_violate    1  masked warps go when nothing else can
// in  ready         48  the warp may issue
// in  is_mem        48  the warp's offer is of the memory path
// in  is_atomic     48  the warp's offer is an ATOMIC
// in  shares        48  the warp's offer may touch the shared part
// in  cls           96  its class: 0 owner, 1 unshared, 2 non-owner
// in  allowed_wait  48  it is refused: the partner holds the shared part
// in  allowed_viol  48  it is refused: its block has released the shared part
// in  locked         4  per pair: the shared part is held
// in  owner          4  per pair: the owner
// in  changes        1  a block starts, threads exit, or a RELSSP leaves EX in
//                       this cycle
// in  mask           1  memory warps are masked
// in  mask_lasts     1  AHEAD = 3: they will be in the next cycle, too
// in  mask_likely    1  AHEAD = 3: the kernel has shown conflicts: what is
//                       taken now may mask those after it
// in  atom_infl      1  an ATOMIC is in flight
// in  room           1  an instruction may be taken
// out take           1  the selected warp's instruction is taken
// out take_sel      48  the selected warp, taken or not; one-hot
// out take_warp      6  number of the warp taken
// out picked        48  the warp between pick and take; none but with AHEAD =
//                       3
// out masked         1  some ready warp is held back by the mask; AHEAD = 1:
//                       one cycle later
// out wait_sh       48  allowed_wait; AHEAD > 0: one cycle later
// out viol          48  allowed_viol; AHEAD > 0: one cycle later

`default_nettype none

module spad_issue_select (
    input wire clk,
    input wire rst,
    input wire [1:0] cfg_policy,
    input wire cfg_aware,
    input wire cfg_violate,
    input wire [47:0] ready,
    input wire [47:0] is_mem,
    input wire [47:0] is_atomic,
    input wire [47:0] shares,
    input wire [95:0] cls,
    input wire [47:0] allowed_wait,
    input wire [47:0] allowed_viol,
    input wire [3:0] locked,
    input wire [3:0] owner,
    input wire changes,
    input wire mask,
    input wire mask_lasts,
    input wire mask_likely,
    input wire atom_infl,
    input wire room,
    output wire take,
    output wire [47:0] take_sel,
    output wire [5:0] take_warp,
    output wire [47:0] picked,
    output wire masked,
    output wire [47:0] wait_sh,
    output wire [47:0] viol
);
    localparam W = 48;
    localparam T = 8;
    localparam PAIRS = T / 2;

    // Q: what each warp was qualified with, and the shared parts as they were
    // then: held or not, by whom, and whether that changed in that cycle.
    reg [W-1:0] qualified_ready_q;
    reg [W-1:0] qualified_mem_q;
    reg [W-1:0] qualified_atomic_q;
    reg [W-1:0] qualified_shared_q;
    reg [2*W-1:0] qualified_cls_q;
    reg [W-1:0] qualified_wait_q;
    reg [W-1:0] qualified_viol_q;
    reg [PAIRS-1:0] was_locked_q;
    reg [PAIRS-1:0] was_owner_q;
    reg was_changed_q;
    // Warps put off in favour of memory warps: the mask will probably need them
    // later.
    reg [W-1:0] qualified_put_off_q;
    always @(posedge clk) begin
        if (rst) begin
            qualified_ready_q <= {W{1'b0}};
            qualified_mem_q <= {W{1'b0}};
            qualified_atomic_q <= {W{1'b0}};
            qualified_shared_q <= {W{1'b0}};
            qualified_cls_q <= {(2*W){1'b0}};
            qualified_wait_q <= {W{1'b0}};
            qualified_viol_q <= {W{1'b0}};
            was_locked_q <= {PAIRS{1'b0}};
            was_owner_q <= {PAIRS{1'b0}};
            was_changed_q <= 1'b0;
        end else begin
            qualified_ready_q <= ready;
            qualified_mem_q <= is_mem;
            qualified_atomic_q <= is_atomic;
            qualified_shared_q <= shares;
            qualified_cls_q <= cls;
            qualified_wait_q <= allowed_wait;
            qualified_viol_q <= allowed_viol;
            was_locked_q <= locked;
            was_owner_q <= owner;
            was_changed_q <= changes;
        end
    end
    assign wait_sh = qualified_wait_q;
    assign viol = qualified_viol_q;
    always @(posedge clk) begin
        if (rst) qualified_put_off_q <= {W{1'b0}};
        else qualified_put_off_q <= ~is_mem & {W{cfg_aware & mask_likely}};
    end

    // P: the warp that is picked, one bit per warp.
    reg pk_valid_q;
    reg [W-1:0] pk_q;
    wire pk_leaves;
    wire pk_free = ~pk_valid_q | pk_leaves;

    // What the mask means for the warp in S and for the next pick. That is
    // taken in the next cycle at the earliest: where the mask will, or may, be
    // on then, other warps are picked first; else memory warps are, once there
    // were conflicts.
    wire [W-1:0] behind = qualified_ready_q & ~pk_q;
    wire others = |(behind & ~qualified_mem_q);
    wire pk_mem = |(pk_q & qualified_mem_q);
    wire others_first = mask_lasts | (mask_likely & pk_mem);
    wire masks = cfg_aware & mask & (others | ~cfg_violate);
    wire held = masks & pk_mem;
    wire overtaken = others & mask_lasts;
    assign masked = masks & (|((qualified_ready_q | pk_q) & qualified_mem_q));

    wire sel_valid;
    wire [W-1:0] sel;
    /* verilator lint_off UNUSEDSIGNAL */ // the pick goes on as one bit per warp
    wire [5:0] sel_warp;
    /* verilator lint_on UNUSEDSIGNAL */
    /* verilator lint_off UNUSEDSIGNAL */ // held picks are handled above
    wire overlooked;
    /* verilator lint_on UNUSEDSIGNAL */
    spad_warp_scheduler scheduler (
        .clk(clk),
        .rst(rst),
        .cfg_policy(cfg_policy),
        .cfg_aware(cfg_aware),
        .cfg_violate(1'b1),
        .ready(behind),
        .is_mem(qualified_mem_q),
        .mask(others_first),
        .put_off(qualified_put_off_q),
        .cls(qualified_cls_q),
        .take(pk_free),
        .sel_valid(sel_valid),
        .sel(sel),
        .sel_warp(sel_warp),
        .masked(overlooked)
    );
    always @(posedge clk) begin
        if (rst) begin
            pk_valid_q <= 1'b0;
            pk_q <= {W{1'b0}};
        end else if (pk_free) begin
            pk_valid_q <= sel_valid;
            pk_q <= sel;
        end
    end

    // S: the pick is rechecked.
    spad_pick_check check (
        .picked(pk_valid_q),
        .shared(|(pk_q & qualified_shared_q)),
        .refused(|(pk_q & (qualified_wait_q | qualified_viol_q))),
        .atomic(|(pk_q & qualified_atomic_q)),
        .held(held),
        .overtaken(overtaken),
        .changed(was_changed_q),
        .moved((locked != was_locked_q) | (owner != was_owner_q)),
        .atom_infl(atom_infl),
        .room(room),
        .take(take),
        .leaves(pk_leaves)
    );
    assign picked = pk_q;
    assign take_sel = pk_q;
    spad_warp_number encode_pick (.above(pk_q[W-1:1]), .number(take_warp));
endmodule

`default_nettype wire
