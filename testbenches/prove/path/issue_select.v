// spad_issue_select with AHEAD > 1, beside the access unit: between qualifying
// and taking others may change what a warp was qualified with; what is taken
// may still go (microarchitecture/issue.md).
module miter #(parameter W = 4, parameter WW = 2, parameter T = 4, parameter TW = 2, parameter n = 9) (
    input wire clk,
    input wire rst,
    input wire [1:0] cfg_policy,
    input wire cfg_aware,
    input wire cfg_violate,
    input wire cfg_sharing,
    input wire [n-1:0] cfg_limit,
    input wire [W-1:0] off_valid,
    input wire [W*4-1:0] off_kind,
    input wire [W*n-1:0] off_hi,
    input wire [W*TW-1:0] warp_blk,
    input wire [W-1:0] ready,
    input wire launch_valid,
    input wire [TW-1:0] launch_block,
    input wire launch_shared,
    input wire [T-1:0] rel_done,
    input wire [T-1:0] live,
    input wire changes,
    input wire mask,
    input wire mask_lasts,
    input wire mask_likely,
    input wire atom_infl,
    input wire room,
    output wire assume_static, // the configuration does not change
    output wire assume_launch, // a block starts in an empty slot, which is a change
    output wire assume_release, // what has been released, and who is alive, is another only in the cycle behind a change
    output wire assume_ready, // a warp is ready only if it offers what it may issue, and is not picked
    output wire assume_stands, // an offer that was ready stands until it is taken
{%- if AHEAD == 3 %}
    output wire keep_pick, // one warp at most is picked, and it was ready since it was taken last
{%- else %}
    output wire keep_pick, // what is qualified was ready in the cycle before, and not taken in it
{%- endif %}
    output wire keep_qualified, // what the unit knows of an offer that was ready is so
    output wire keep_seen, // it has the shared parts as they were in the cycle before
    output wire check_allowed, // no access of a block that may not touch the shared part is taken
    output wire check_atomics, // no atomic is taken while one is in flight
    output wire check_masked, // no memory instruction is taken while masked, unless masked ones may go
    output wire check_ready, // what is taken is an offer that was ready, and each but once
    output wire check_room, // nothing is taken without room
    output wire check_number, // the picked warp is one, and told by bit and number
{%- if AHEAD == 3 %}
    output wire check_decides, // a pick stays only without room, while masked, or where the shared part has just changed: no deadlock
    output wire check_dropped, // a pick is dropped only if it may no longer go, or is masked for longer while others are ready
    output wire check_picks, // where nothing is picked and a warp was ready, one is picked next
    output wire check_overtakes, // the one that is picked instead of a masked one is not of the memory class
{%- else %}
    output wire check_decides, // with room and a warp that was ready and is not masked, one is taken, or the pick may no longer go, or the shared part has just changed: no deadlock
{%- endif %}
    output wire check_told, // who waits for the shared part, or has released it, is told one cycle later
    output wire cover_taken, // 7: an access is taken that locks the shared part
    output wire cover_refused, // 10: a pick is dropped, since the partner took the shared part
    output wire cover_atomic, // 5: an atomic is dropped, since one is in flight
    output wire cover_stale // 5: a pick waits for one cycle, since the shared part has changed
);
    reg [W-1:0] is_mem, is_atomic, shares;
    integer w;
    always @* for (w = 0; w < W; w = w + 1) begin
        is_mem[w] = (off_kind[w*4 +: 4] != 0) & (off_kind[w*4 +: 4] != 7);
        is_atomic[w] = off_kind[w*4 +: 4] == 5;
        shares[w] = off_valid[w] & (off_kind[w*4 +: 4] >= 1) & (off_kind[w*4 +: 4] <= 5);
    end
    wire [W-1:0] allow, wait_now, viol_now, take_sel, picked, wait_sh, viol;
    wire [2*W-1:0] cls;
    wire [T/2-1:0] locked, owner;
    wire [WW-1:0] take_warp;
    wire take, masked;
    spad_access_unit access (
        .clk(clk), .rst(rst), .cfg_sharing(cfg_sharing), .cfg_limit(cfg_limit),
        .launch_valid(launch_valid), .launch_block(launch_block), .launch_shared(launch_shared),
        .rel_done(rel_done), .live(live), .warp_blk(warp_blk), .off_shmem(shares), .off_hi(off_hi),
        .acq_valid(take), .acq_warp(take_warp),
        .allow(allow), .wait_sh(wait_now), .viol(viol_now), .cls(cls), .locked(locked), .owner(owner)
    );
    spad_issue_select unit (
        .clk(clk), .rst(rst), .cfg_policy(cfg_policy), .cfg_aware(cfg_aware), .cfg_violate(cfg_violate),
        .ready(ready), .is_mem(is_mem), .is_atomic(is_atomic), .shares(shares), .cls(cls),
        .allowed_wait(wait_now), .allowed_viol(viol_now), .locked(locked), .owner(owner), .changes(changes),
        .mask(mask), .mask_lasts(mask_lasts), .mask_likely(mask_likely), .atom_infl(atom_infl), .room(room),
        .take(take), .take_sel(take_sel), .take_warp(take_warp), .picked(picked), .masked(masked),
        .wait_sh(wait_sh), .viol(viol)
    );
    (* hierconn *) wire {% if AHEAD == 3 %}\unit.pk_valid_q , {% endif %}\unit.was_changed_q ;
    (* hierconn *) wire [T/2-1:0] \unit.was_locked_q , \unit.was_owner_q ;
    (* hierconn *) wire [W-1:0] {% if AHEAD == 3 %}\unit.pk_q , \unit.qualified_put_off_q , {% endif %}\unit.qualified_ready_q , \unit.qualified_mem_q , \unit.qualified_atomic_q , \unit.qualified_shared_q ,
        \unit.qualified_wait_q , \unit.qualified_viol_q ;

    // The cycle before, and offers that were ready since their warp was taken.
    reg was_rst, was_sharing, was_changed, seen_changed, was_mask, was_atom, was_room, was_take, was_aware, was_violate;
    reg [n-1:0] was_limit;
    reg [T-1:0] was_done, was_live;
    reg [W-1:0] was_valid, was_wait, was_viol, was_mem, was_atomic, was_shares, was_ready, was_picked, was_taken;
    reg [W*4-1:0] was_kind;
    reg [W*n-1:0] was_hi;
    reg [W*TW-1:0] was_blk;
    reg [T/2-1:0] was_locked, was_owner;
    reg [W-1:0] bound;
    wire [W-1:0] taken = take_sel & {W{take}};
    always @(posedge clk) begin
        was_rst <= rst;
        was_sharing <= cfg_sharing;
        was_limit <= cfg_limit;
        was_aware <= cfg_aware;
        was_violate <= cfg_violate;
        was_changed <= changes;
        seen_changed <= !rst & changes;
        was_mask <= mask;
        was_atom <= atom_infl;
        was_room <= room;
        was_take <= take;
        was_done <= rel_done;
        was_live <= live;
        was_valid <= off_valid;
        was_kind <= off_kind;
        was_hi <= off_hi;
        was_blk <= warp_blk;
        was_wait <= rst ? 0 : wait_now;
        was_viol <= rst ? 0 : viol_now;
        was_mem <= rst ? 0 : is_mem;
        was_atomic <= is_atomic;
        was_shares <= shares;
        was_ready <= rst ? 0 : ready;
        was_picked <= rst ? 0 : take_sel;
        was_taken <= rst ? 0 : taken;
        was_locked <= rst ? 0 : locked;
        was_owner <= rst ? 0 : owner;
        bound <= rst ? 0 : (bound | ready) & ~taken;
    end
    reg stands, may;
    always @* begin
        stands = 1;
        may = 1;
        for (w = 0; w < W; w = w + 1) begin
            if (bound[w] & !(off_valid[w] & was_valid[w] & (off_kind[w*4 +: 4] == was_kind[w*4 +: 4])
                & (off_hi[w*n +: n] == was_hi[w*n +: n]) & (warp_blk[w*TW +: TW] == was_blk[w*TW +: TW]))) stands = 0;
            if (ready[w] & !(off_valid[w] & allow[w] & !picked[w])) may = 0;
        end
    end
    assign assume_static = (cfg_sharing == was_sharing) & (cfg_limit == was_limit) & (cfg_aware == was_aware)
        & (cfg_violate == was_violate);
    assign assume_launch = !launch_valid | (changes & (launch_block < T) & !live[launch_block]);
    assign assume_release = was_changed | ((rel_done == was_done) & (live == was_live));
    assign assume_ready = may;
    assign assume_stands = stands;

{%- if AHEAD == 3 %}
    assign keep_pick = (\unit.pk_valid_q == ( \unit.pk_q != 0)) & (( \unit.pk_q & ( \unit.pk_q - 1)) == 0)
        & (( \unit.qualified_put_off_q & \unit.qualified_mem_q ) == 0)
        & (( \unit.pk_q & ~bound) == 0) & ( \unit.qualified_ready_q == was_ready) & ((was_ready & ~bound) == 0);
{%- else %}
    assign keep_pick = ( \unit.qualified_ready_q == (was_ready & ~was_taken)) & (( \unit.qualified_ready_q & ~bound) == 0);
{%- endif %}
    assign keep_qualified = ((( \unit.qualified_mem_q ^ is_mem) & bound) == 0) & ((( \unit.qualified_atomic_q ^ is_atomic) & bound) == 0)
        & ((( \unit.qualified_shared_q ^ shares) & bound) == 0);
    assign keep_seen = ( \unit.qualified_mem_q == was_mem) & ( \unit.qualified_wait_q == was_wait) & ( \unit.qualified_viol_q == was_viol)
        & ( \unit.was_changed_q == seen_changed)
        & ( \unit.was_locked_q == was_locked) & ( \unit.was_owner_q == was_owner);

    // What may make a pick go away, and what may make it stay.
    wire moved = seen_changed | (locked != was_locked) | (owner != was_owner);
    wire unsettled = ((take_sel & shares) != 0) & moved;
    wire second_atomic = ((take_sel & is_atomic) != 0) & atom_infl;
{%- if AHEAD == 3 %}
    wire others = (was_ready & ~picked & ~was_mem) != 0;
    wire held = cfg_aware & mask & (others | !cfg_violate) & ((picked & is_mem) != 0);
    wire may_go = !second_atomic & ((picked & ~(was_wait | was_viol)) != 0);
    reg was_due, was_kept_back, was_idle, was_overtaken;
    always @(posedge clk) begin
        was_due <= !rst & (picked != 0) & room & !unsettled & (!held | (others & mask_lasts));
        was_kept_back <= !rst & (picked != 0) & may_go & !(held & others & mask_lasts) & !take;
        was_idle <= !rst & (picked == 0) & (was_ready != 0);
        was_overtaken <= !rst & held & others & mask_lasts & may_go & !unsettled;
    end
    assign check_decides = !was_due | ((picked & was_picked) == 0);
    assign check_dropped = !was_kept_back | (picked == was_picked);
    assign check_picks = !was_idle | (picked != 0);
    assign check_overtakes = !was_overtaken | ((picked != 0) & ((picked & is_mem) == 0));
    wire goes_masked = cfg_violate & !others;
{%- else %}
    wire [W-1:0] candidates = was_ready & ~was_taken & ~(cfg_aware & mask ? was_mem : 0);
    assign check_decides = rst | !room | (candidates == 0) | take | unsettled | second_atomic;
    wire goes_masked = cfg_violate;
{%- endif %}
    assign check_allowed = (taken & ~allow) == 0;
    assign check_atomics = !atom_infl | ((taken & is_atomic) == 0);
    assign check_masked = !(cfg_aware & mask) | goes_masked | ((taken & is_mem) == 0);
    assign check_ready = (taken & ~(bound & off_valid)) == 0;
    assign check_room = room | !take;
    assign check_number = ((take_sel & (take_sel - 1)) == 0)
        & (take_sel == 0 ? !take & (take_warp == 0) : take_sel[take_warp])
        & (picked == {% if AHEAD == 3 %}take_sel{% else %}0{% endif %});
    assign check_told = (wait_sh == was_wait) & (viol == was_viol);
    wire dropped = (was_picked & ~{% if AHEAD == 3 %}picked{% else %} \unit.qualified_ready_q {% endif %}) != 0 & !was_take & !rst;
    assign cover_taken = was_take & ((locked & ~was_locked) != 0) & !rst;
    assign cover_refused = dropped & ((was_picked & was_wait) != 0);
    assign cover_atomic = dropped & ((was_picked & was_atomic) != 0) & was_atom & !was_mask;
    assign cover_stale = (take_sel & was_picked) != 0 & !was_take & was_room & !rst;
endmodule
