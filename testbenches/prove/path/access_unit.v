// spad_access_unit: a block touches the shared part of the scratchpad only
// while it owns it (microarchitecture/access-unit.md). One pair of slots is
// followed; it may be any.
module miter #(parameter W = 4, parameter T = 4, parameter TW = 2, parameter WW = 2, parameter n = 9) (
    input wire clk,
    input wire rst,
    input wire cfg_sharing,
    input wire [n-1:0] cfg_limit,
    input wire launch_valid,
    input wire [TW-1:0] launch_block,
    input wire launch_shared,
    input wire [T-1:0] rel_done,
    input wire [T-1:0] live,
    input wire [W*TW-1:0] warp_blk,
    input wire [W-1:0] off_shmem,
    input wire [W*n-1:0] off_hi,
    input wire acq_valid,
    input wire [WW-1:0] acq_warp,
    input wire [TW-1:0] pair_seen,
    output wire assume_one_pair, // any one pair is looked at
    output wire assume_launch, // a block starts in an empty slot
    output wire assume_empty, // an empty slot has released everything (relssp)
    output wire assume_static, // the configuration does not change
    output wire assume_issue, // only an offer that is allowed is issued, of a block that is there
    output wire keep_holder, // the lock is held exactly while a block has it, the holder is the owner
    output wire keep_shared, // the unit knows which slots share
    output wire check_owner, // who is issued owns the shared part after the clock edge
    output wire check_exclusive, // a block that may touch the shared part has it, or nobody has
    output wire check_not_lost, // a holder that lives and has not released keeps the lock
    output wire check_wait, // who waits, waits for a partner that holds the lock, lives and has not released
    output wire check_handed, // when the holder has released, a partner that needs the part owns it at once
    output wire check_released, // a block that has released everything is never let in again
    output wire check_unshared, // nothing outside the shared part is ever refused
    output wire check_class, // owners, unshared and other warps are told apart
    output wire check_locked, // the outputs tell holder and owner
    output wire cover_taken, // 6: a warp of the second slot takes the lock
    output wire cover_wait, // 8: a warp waits for the partner
    output wire cover_handed, // 9: the lock passes to the partner that waited
    output wire cover_viol // 5: an access after the release
);
    wire [W-1:0] allow, wait_sh, viol;
    wire [2*W-1:0] cls;
    wire [T/2-1:0] locked, owner;
    spad_access_unit unit (
        .clk(clk), .rst(rst), .cfg_sharing(cfg_sharing), .cfg_limit(cfg_limit),
        .launch_valid(launch_valid), .launch_block(launch_block), .launch_shared(launch_shared),
        .rel_done(rel_done), .live(live), .warp_blk(warp_blk), .off_shmem(off_shmem), .off_hi(off_hi),
        .acq_valid(acq_valid), .acq_warp(acq_warp),
        .allow(allow), .wait_sh(wait_sh), .viol(viol), .cls(cls), .locked(locked), .owner(owner)
    );
    (* hierconn *) wire [T-1:0] \unit.sh_q ;
    (* hierconn *) wire [T/2-1:0] \unit.lk_q ;
    (* hierconn *) wire [T/2-1:0] \unit.own_q ;

    reg [TW-1:0] pair;
    reg was_rst, was_sharing;
    reg [n-1:0] was_limit;
    always @(posedge clk) begin
        pair <= pair_seen;
        was_rst <= rst;
        was_sharing <= cfg_sharing;
        was_limit <= cfg_limit;
    end
    assign assume_one_pair = (pair == pair_seen) & (pair_seen < T / 2);
    assign assume_launch = !launch_valid | ((launch_block < T) & !live[launch_block]);
    assign assume_empty = &(live | rel_done);
    assign assume_static = (cfg_sharing == was_sharing) & (cfg_limit == was_limit);
    wire [TW-1:0] acq_block = warp_blk[acq_warp*TW +: TW];
    assign assume_issue = !acq_valid | ((acq_warp < W) & allow[acq_warp] & live[acq_block]);

    // The pair's slots: which of them share, which still need the shared part.
    reg [1:0] sharing;
    wire [1:0] needs = {live[2*pair+1] & !rel_done[2*pair+1], live[2*pair] & !rel_done[2*pair]};
    wire [1:0] starts = launch_valid & (launch_block / 2 == pair) ? (launch_block[0] ? 2'b10 : 2'b01) : 2'b00;

    // Per warp: it is of the pair and asks for an access to the shared part.
    reg [W-1:0] of_pair, asks;
    reg [W-1:0] second;
    integer w;
    always @* for (w = 0; w < W; w = w + 1) begin
        of_pair[w] = warp_blk[w*TW +: TW] / 2 == pair;
        second[w] = warp_blk[w*TW];
        asks[w] = of_pair[w] & off_shmem[w] & cfg_sharing & sharing[second[w]] & (off_hi[w*n +: n] >= cfg_limit);
    end

    // Who holds the lock (bit 0: slot 2p), before and with this cycle's releases.
    reg [1:0] holder;
    wire released = ((holder & ~needs) != 0);
    wire [1:0] partner = {holder[0], holder[1]};
    wire [1:0] holder_now = released ? partner & needs : holder;
    wire takes = acq_valid & asks[acq_warp];
    wire [1:0] taker = takes ? (second[acq_warp] ? 2'b10 : 2'b01) : 2'b00;
    // A block that finds its partner gone starts with a free lock.
    wire fresh = (starts[0] & !live[2*pair+1]) | (starts[1] & !live[2*pair]);
    always @(posedge clk) begin
        if (rst) begin
            holder <= 0;
            sharing <= 0;
        end else begin
            holder <= fresh ? 0 : takes ? taker : holder_now;
            if (starts[0]) sharing[0] <= launch_shared;
            if (starts[1]) sharing[1] <= launch_shared;
        end
    end
    wire own = \unit.own_q [pair];
    assign keep_holder = (\unit.lk_q [pair] == (holder != 0)) & (holder != 3) & ((holder == 0) | (holder[1] == own));
    assign keep_shared = \unit.sh_q [2*pair +: 2] == sharing;

    // The cycle before.
    reg [1:0] was_taker, was_holder;
    reg was_fresh;
    always @(posedge clk) begin
        was_taker <= taker;
        was_holder <= holder_now;
        was_fresh <= fresh;
    end
    wire [1:0] out_owner = owner[pair] ? 2'b10 : 2'b01;
    reg exclusive, waits, handed, after_release, unshared, classes;
    always @* begin
        exclusive = 1;
        waits = 1;
        handed = 1;
        after_release = 1;
        unshared = 1;
        classes = 1;
        for (w = 0; w < W; w = w + 1) if (of_pair[w]) begin
            if (asks[w] & allow[w] & (holder_now != 0) & !holder_now[second[w]]) exclusive = 0;
            if (wait_sh[w] & !(asks[w] & holder_now[!second[w]] & needs[!second[w]])) waits = 0;
            if (asks[w] & needs[second[w]] & released & holder[!second[w]]
                & !(allow[w] & (owner[pair] == second[w]))) handed = 0;
            if (viol[w] != (asks[w] & rel_done[2*pair + second[w]])) after_release = 0;
            if (viol[w] & allow[w]) after_release = 0;
            if (!asks[w] & !allow[w]) unshared = 0;
            if (allow[w] == (wait_sh[w] | viol[w])) unshared = 0;
            if (cls[2*w +: 2] != (!(cfg_sharing & sharing[second[w]]) ? 1 : owner[pair] == second[w] ? 0 : 2)) classes = 0;
        end
    end
    assign check_owner = was_rst | was_fresh | (was_taker == 0)
        | ((\unit.lk_q [pair] == 1) & (own == was_taker[1]));
    assign check_exclusive = exclusive;
    assign check_not_lost = was_rst | ((was_holder & needs) == 0) | (was_fresh)
        | (locked[pair] & ((was_holder & out_owner) != 0));
    assign check_wait = waits;
    assign check_handed = handed;
    assign check_released = after_release;
    assign check_unshared = unshared;
    assign check_class = classes;
    assign check_locked = (locked[pair] == (holder_now != 0)) & ((holder_now == 0) | (holder_now == out_owner));
    assign cover_taken = holder == 2 & live[2*pair+1] & !rst;
    assign cover_wait = (wait_sh & of_pair) != 0 & !rst;
    assign cover_handed = released & (holder_now != 0) & ((allow & asks) != 0) & !rst;
    assign cover_viol = (viol & of_pair) != 0 & !rst;
endmodule
