// spad_sm_path, how the issue is decided three stages ahead of EX (AHEAD = 3;
// section 18.3): what is issued is an offer, once, pass by pass; nobody takes
// an access to a shared part that its block may not touch; one atomic at a
// time; fences and order hold. Everything behind EX, and the conflict history,
// is free: it may hold EX, end passes and predict as it likes.
module miter #(parameter W = 4, parameter WW = 2, parameter T = 4, parameter TW = 2, parameter WS = 8,
               parameter S = 2, parameter L = 4, parameter D = 32, parameter n = 9, parameter TG = 8,
               parameter PCW = 14, parameter PW = 3) (
    input wire clk,
    input wire rst,
    input wire kernel_clear,
    input wire [1:0] cfg_pipeline,
    input wire [1:0] cfg_barrel,
    input wire [1:0] cfg_policy,
    input wire cfg_aware,
    input wire cfg_violate,
    input wire cfg_sharing,
    input wire [n-1:0] cfg_limit,
    input wire launch_valid,
    input wire [TW-1:0] launch_block,
    input wire launch_shared,
    input wire [W-1:0] launch_wmask,
    input wire [WS-1:0] launch_last,
    input wire exit_valid,
    input wire [WW-1:0] exit_warp,
    input wire [WS-1:0] exit_mask,
    input wire [W-1:0] off_valid,
    input wire [4*W-1:0] off_kind,
    input wire [2*W-1:0] off_words,
    input wire [TG*W-1:0] off_tag,
    input wire [PCW*W-1:0] off_pc,
    input wire [n*W-1:0] off_hi,
    input wire [L-1:0] op_mask,
    input wire [L*n-1:0] op_addr,
    input wire [L*D-1:0] op_data,
    input wire [L*D/8-1:0] op_be,
    input wire [3:0] op_aop,
    input wire icn_valid,
    input wire [WW-1:0] icn_warp,
    input wire [TG-1:0] icn_tag,
    input wire [PW-1:0] icn_pass,
    input wire icn_last,
    input wire [L-1:0] icn_mask,
    input wire [L*D-1:0] icn_data,
    input wire wb_ready,
    input wire [WW-1:0] warp_seen,
    output wire assume_static, // the configuration stays
    output wire assume_offers, // an offer stands until it is taken
    output wire assume_launch, // a block of at least one thread starts in an empty slot, with warps that have ended and offer nothing
    output wire assume_retire, // only what was issued ends
    output wire assume_one_warp, // any one warp is looked at
    output wire keep_blocks, // which warp is of which block, and which blocks share
    output wire keep_pick, // one warp at most is picked
    output wire keep_qualified, // who is qualified or picked offers what it was qualified with, and may still be issued
    output wire keep_way, // what stands in front of EX is the offer that was taken, or an instruction with passes left
    output wire keep_release, // the release register has what the threads' registers say
    output wire keep_flight, // instructions in flight are counted
    output wire keep_atomic, // the atomic in flight is known
    output wire keep_quiet, // without events nothing changes in who may touch what
    output wire check_once, // an offer is taken once, and issued as it stands at the port
    output wire check_passes, // the passes of an instruction follow each other, all of them, nothing between
    output wire check_ex, // EX has what was issued
    output wire check_shared, // no access to a shared part is taken that is another's, or that the block has released
    output wire check_atomic, // no atomic is taken while one is in flight
    output wire check_mask, // no memory warp is taken while they are masked
    output wire check_fence, // relssp waits for the warp's accesses, and the warp behind relssp for it
    output wire check_barrel, // the order that is asked for: nothing in flight, or nothing of the other class
    output wire check_bound, // no more than 15 instructions of a class in flight
    output wire check_leaves, // a pick waits for a place, or for a cycle behind an event
    output wire check_idle, // what is taken is issued as soon as EX is free
    output wire cover_issue, // 6: a memory instruction is issued in the fourth cycle of its offer
    output wire cover_passes, // 9: the last of four passes
    output wire cover_void, // 7: an atomic was picked while another went
    output wire cover_shared, // 9: an access of the owner to the shared part is taken
    output wire cover_refused, // 10: a pick is dropped since its block may not touch the shared part any more
    output wire cover_both // 7: two warps are issued in consecutive cycles
);
    wire iss_valid, iss_last, ex_hold, wb_valid, wb_last;
    wire [WW-1:0] iss_warp, wb_warp;
    wire [PW-1:0] iss_pass;
    wire [1:0] wb_src;
    wire [3:0] wb_kind;
    wire [T-1:0] rel_done, live;
    wire [T/2-1:0] locked, owner;
    spad_sm_path unit (
        .clk(clk), .rst(rst), .kernel_clear(kernel_clear), .cfg_pipeline(cfg_pipeline), .cfg_barrel(cfg_barrel),
        .cfg_policy(cfg_policy), .cfg_aware(cfg_aware), .cfg_violate(cfg_violate), .cfg_lock_hash(2'd0),
        .cfg_sharing(cfg_sharing), .cfg_limit(cfg_limit), .launch_valid(launch_valid),
        .launch_block(launch_block), .launch_shared(launch_shared), .launch_wmask(launch_wmask),
        .launch_last(launch_last), .exit_valid(exit_valid), .exit_warp(exit_warp), .exit_mask(exit_mask),
        .off_valid(off_valid), .off_kind(off_kind), .off_words(off_words), .off_tag(off_tag), .off_pc(off_pc),
        .off_hi(off_hi), .iss_valid(iss_valid), .iss_warp(iss_warp), .iss_pass(iss_pass), .iss_last(iss_last),
        .ex_hold(ex_hold), .op_mask(op_mask), .op_addr(op_addr), .op_data(op_data), .op_be(op_be),
        .op_aop(op_aop), .icn_valid(icn_valid), .icn_warp(icn_warp), .icn_tag(icn_tag), .icn_pass(icn_pass),
        .icn_last(icn_last), .icn_mask(icn_mask), .icn_data(icn_data), .wb_valid(wb_valid), .wb_src(wb_src),
        .wb_warp(wb_warp), .wb_kind(wb_kind), .wb_last(wb_last), .wb_ready(wb_ready), .locked(locked),
        .owner(owner), .rel_done(rel_done), .live(live)
    );
    // The moment of S in which an offer is taken, the mask, and what ends an atomic.
    (* hierconn *) wire \unit.start ;
    (* hierconn *) wire [WW-1:0] \unit.start_warp ;
    (* hierconn *) wire \unit.mask ;
    (* hierconn *) wire \unit.seq_done , \unit.sp_req_ready ;
    (* hierconn *) wire \unit.ex_fire ;
    (* hierconn *) wire [W-1:0] \unit.q_ready , \unit.q_mem , \unit.q_atomic , \unit.q_shared , \unit.pk ;
    (* hierconn *) wire \unit.pk_valid , \unit.pk_leaves , \unit.pk_void , \unit.changes , \unit.atom_infl ;
    (* hierconn *) wire \unit.iq_valid , \unit.ex_valid , \unit.ex_last ;
    (* hierconn *) wire [WW-1:0] \unit.iq_warp , \unit.ex_warp ;
    (* hierconn *) wire [3:0] \unit.iq_kind , \unit.ex_kind ;
    (* hierconn *) wire [TG-1:0] \unit.iq_tag , \unit.ex_tag ;
    (* hierconn *) wire [PCW-1:0] \unit.iq_pc , \unit.ex_pc ;
    (* hierconn *) wire [PW-1:0] \unit.iq_np , \unit.iq_next , \unit.ex_pass ;
    (* hierconn *) wire [3:0] \unit.warp[0].infl_m , \unit.warp[1].infl_m , \unit.warp[2].infl_m , \unit.warp[3].infl_m ;
    (* hierconn *) wire [3:0] \unit.warp[0].infl_n , \unit.warp[1].infl_n , \unit.warp[2].infl_n , \unit.warp[3].infl_n ;
    (* hierconn *) wire [W*TW-1:0] \unit.warp_blk ;
    (* hierconn *) wire [T-1:0] \unit.access.sh ;
    (* hierconn *) wire [W-1:0] \unit.release_unit.done_r , \unit.release_unit.live_r ;
    wire take = \unit.start ;
    wire [WW-1:0] taken = \unit.start_warp ;

    reg [WW-1:0] seen;
    always @(posedge clk) seen <= warp_seen;
    assign assume_one_warp = seen == warp_seen;

    // The cycle before.
    reg was_rst;
    reg [W-1:0] was_valid;
    reg [4*W-1:0] was_kind;
    reg [2*W-1:0] was_words;
    reg [TG*W-1:0] was_tag;
    reg [PCW*W-1:0] was_pc;
    reg [n*W-1:0] was_hi;
    reg [9+n-1:0] was_cfg;
    wire [9+n-1:0] cfg = {cfg_pipeline, cfg_barrel, cfg_policy, cfg_aware, cfg_violate, cfg_sharing, cfg_limit};
    wire first = iss_valid & (iss_pass == 0);
    integer w;
    always @(posedge clk) begin
        was_rst <= rst;
        was_cfg <= cfg;
        for (w = 0; w < W; w = w + 1) was_valid[w] <= off_valid[w] & !rst & !(first & (iss_warp == w));
        {was_kind, was_words, was_tag, was_pc, was_hi} <= {off_kind, off_words, off_tag, off_pc, off_hi};
    end
    reg stands;
    always @* begin
        stands = 1;
        for (w = 0; w < W; w = w + 1)
            if (was_valid[w] & !(off_valid[w] & (off_kind[4*w +: 4] == was_kind[4*w +: 4])
                & (off_words[2*w +: 2] == was_words[2*w +: 2]) & (off_tag[TG*w +: TG] == was_tag[TG*w +: TG])
                & (off_pc[PCW*w +: PCW] == was_pc[PCW*w +: PCW]) & (off_hi[n*w +: n] == was_hi[n*w +: n])))
                stands = 0;
    end
    assign assume_static = cfg == was_cfg;
    assign assume_offers = stands;

    // What the kinds are.
    reg [W-1:0] mem, atomic, fence, shares;
    reg [PW*W-1:0] passes;
    always @* for (w = 0; w < W; w = w + 1) begin
        mem[w] = (off_kind[4*w +: 4] != 0) & (off_kind[4*w +: 4] != 7);
        atomic[w] = off_kind[4*w +: 4] == 5;
        fence[w] = off_kind[4*w +: 4] == 7;
        shares[w] = (off_kind[4*w +: 4] >= 1) & (off_kind[4*w +: 4] <= 5);
        passes[PW*w +: PW] = ((off_kind[4*w +: 4] == 1) | (off_kind[4*w +: 4] == 2)) & (off_words[2*w +: 2] != 3)
            ? (S << off_words[2*w +: 2]) - 1 : S - 1;
    end

    // Taken, and not issued yet; the instruction that has passes left.
    reg [W-1:0] way;
    reg open;
    reg [WW-1:0] open_warp;
    reg [3:0] open_kind;
    reg [TG-1:0] open_tag;
    reg [PCW-1:0] open_pc;
    reg [PW-1:0] open_np, open_next;
    wire [3:0] now_kind = open ? open_kind : off_kind[4*iss_warp +: 4];
    wire [TG-1:0] now_tag = open ? open_tag : off_tag[TG*iss_warp +: TG];
    wire [PCW-1:0] now_pc = open ? open_pc : off_pc[PCW*iss_warp +: PCW];
    wire [PW-1:0] now_np = open ? open_np : passes[PW*iss_warp +: PW];
    reg was_issue, was_last;
    reg [WW-1:0] was_warp;
    reg [3:0] was_now_kind;
    reg [TG-1:0] was_now_tag;
    reg [PCW-1:0] was_now_pc;
    reg [PW-1:0] was_pass;
    always @(posedge clk) begin
        was_issue <= iss_valid & !rst;
        {was_warp, was_now_kind, was_now_tag, was_now_pc, was_pass, was_last}
            <= {iss_warp, now_kind, now_tag, now_pc, iss_pass, iss_last};
        if (rst) begin
            way <= 0;
            open <= 0;
        end else begin
            for (w = 0; w < W; w = w + 1)
                way[w] <= (way[w] & !(first & (iss_warp == w))) | (take & (taken == w));
            if (iss_valid) begin
                open <= !iss_last;
                open_warp <= iss_warp;
                open_kind <= now_kind;
                open_tag <= now_tag;
                open_pc <= now_pc;
                open_np <= now_np;
                open_next <= iss_pass + 1;
            end
        end
    end

    // In flight: of the warp that is looked at, from the moment it is taken.
    reg [4:0] flight_m, flight_n;
    wire ends = wb_valid & wb_ready & wb_last & (wb_src != 0);
    wire ends_mem = (wb_kind != 0) & (wb_kind != 7);
    wire ends_seen = ends & (wb_warp == seen);
    wire takes_seen = take & (taken == seen);
    always @(posedge clk) begin
        if (rst) {flight_m, flight_n} <= 0;
        else begin
            flight_m <= flight_m + (takes_seen & mem[seen]) - (ends_seen & ends_mem);
            flight_n <= flight_n + (takes_seen & !mem[seen]) - (ends_seen & !ends_mem);
        end
    end
    wire [15:0] unit_m = { \unit.warp[3].infl_m , \unit.warp[2].infl_m , \unit.warp[1].infl_m , \unit.warp[0].infl_m };
    wire [15:0] unit_n = { \unit.warp[3].infl_n , \unit.warp[2].infl_n , \unit.warp[1].infl_n , \unit.warp[0].infl_n };
    wire [3:0] ends_of = ends_mem ? unit_m[4*wb_warp +: 4] : unit_n[4*wb_warp +: 4];
    wire not_yet = way[wb_warp] & (mem[wb_warp] == ends_mem);
    assign assume_retire = !ends | (ends_of > not_yet);
    assign keep_flight = (flight_m == unit_m[4*seen +: 4]) & (flight_n == unit_n[4*seen +: 4])
        & (flight_m >= (way[seen] & mem[seen])) & (flight_n >= (way[seen] & !mem[seen]));

    // Blocks.
    reg [W*TW-1:0] block;
    reg [T-1:0] sharing;
    always @(posedge clk) begin
        if (rst) begin
            block <= 0;
            sharing <= 0;
        end else if (launch_valid) begin
            for (w = 0; w < W; w = w + 1) if (launch_wmask[w]) block[TW*w +: TW] <= launch_block;
            sharing[launch_block] <= launch_shared;
        end
    end
    assign keep_blocks = (\unit.warp_blk == block) & (\unit.access.sh == sharing);
    wire [TW-1:0] block_taken = block[TW*taken +: TW];
    wire needs = cfg_sharing & sharing[block_taken] & shares[taken] & (off_hi[n*taken +: n] >= cfg_limit);
    wire foreign = locked[block_taken >> 1] & (owner[block_taken >> 1] != block_taken[0]);

    // Per block, from the threads: all have released, one is active.
    reg [T-1:0] all_done, some_live;
    integer b;
    always @* for (b = 0; b < T; b = b + 1) begin
        all_done[b] = 1;
        some_live[b] = 0;
        for (w = 0; w < W; w = w + 1) if (block[TW*w +: TW] == b) begin
            if (! \unit.release_unit.done_r [w]) all_done[b] = 0;
            if (\unit.release_unit.live_r [w]) some_live[b] = 1;
        end
    end
    assign keep_release = (rel_done == all_done) & (live == some_live);
    assign assume_launch = !launch_valid | (((launch_wmask & (off_valid | \unit.release_unit.live_r )) == 0)
        & (launch_wmask != 0) & (launch_last != 0) & !some_live[launch_block]);

    // A relssp between its take and the cycle in which it leaves EX.
    wire [W-1:0] releases;
    genvar g;
    generate
        for (g = 0; g < W; g = g + 1) begin : of_warp
            assign releases[g] = (\unit.iq_valid & (\unit.iq_warp == g) & (\unit.iq_kind == 7))
                | (\unit.ex_valid & (\unit.ex_warp == g) & (\unit.ex_kind == 7));
        end
    endgenerate
    reg qualified;
    reg [3:0] m, k;
    always @* begin
        qualified = 1;
        for (w = 0; w < W; w = w + 1) begin
            m = unit_m[4*w +: 4];
            k = unit_n[4*w +: 4];
            if (\unit.q_ready [w] | \unit.pk [w])
                if (!off_valid[w] | (\unit.q_mem [w] != mem[w]) | (\unit.q_atomic [w] != atomic[w])
                    | (\unit.q_shared [w] != shares[w])) qualified = 0;
            if ((\unit.q_ready [w] & ! \unit.pk [w]) | \unit.pk [w])
                if (way[w] | releases[w] | (m == 15) | (k == 15) | (fence[w] & (m != 0))
                    | ((cfg_barrel == 0) & ((m != 0) | (k != 0)))
                    | (cfg_barrel[1] & (mem[w] ? k != 0 : m != 0))) qualified = 0;
        end
    end
    assign keep_qualified = qualified;
    assign keep_pick = (\unit.pk_valid == (\unit.pk != 0)) & ((\unit.pk & (\unit.pk - 1)) == 0);
    wire [WW-1:0] at = \unit.iq_warp ;
    wire fresh = \unit.iq_valid & (\unit.iq_next == 0);
    assign keep_way = (way == (fresh ? 1 << at : 0)) & (!fresh | (off_valid[at] & !open
            & (\unit.iq_kind == off_kind[4*at +: 4]) & (\unit.iq_tag == off_tag[TG*at +: TG])
            & (\unit.iq_pc == off_pc[PCW*at +: PCW]) & (\unit.iq_np == passes[PW*at +: PW])))
        & (open == (\unit.iq_valid & !fresh)) & (!open | ((\unit.iq_warp == open_warp) & (\unit.iq_kind == open_kind)
            & (\unit.iq_tag == open_tag) & (\unit.iq_pc == open_pc) & (\unit.iq_np == open_np)
            & (\unit.iq_next == open_next) & (open_next <= open_np)));

    // The atomic in flight, from its take to the edge in which the last pass of
    // its result goes to the scratchpad.
    reg going;
    (* hierconn *) wire \unit.atomic_ends ;
    always @(posedge clk) begin
        if (rst) going <= 0;
        else if (take & atomic[taken]) going <= 1;
        else if (\unit.atomic_ends ) going <= 0;
    end
    assign keep_atomic = going == \unit.atom_infl ;

    // Cycles since something happened that may change who may touch what.
    reg [1:0] quiet;
    wire event_now = launch_valid | exit_valid | (\unit.ex_fire & \unit.ex_valid & (\unit.ex_kind == 7)) | take;
    always @(posedge clk) begin
        if (rst | event_now) quiet <= 0;
        else if (quiet != 3) quiet <= quiet + 1;
    end
    (* hierconn *) wire [T/2-1:0] \unit.was_locked , \unit.was_owner ;
    assign keep_quiet = ((quiet == 0) | ! \unit.changes )
        & ((quiet < 2) | ((locked == \unit.was_locked ) & (owner == \unit.was_owner )));
    wire place = ! \unit.iq_valid | (iss_valid & iss_last);

    assign check_once = (!take | (off_valid[taken] & !way[taken])) & (!first | (off_valid[iss_warp] & way[iss_warp]));
    assign check_passes = !iss_valid | ((open ? (iss_warp == open_warp) & (iss_pass == open_next) : iss_pass == 0)
        & (iss_last == (iss_pass == now_np)));
    assign check_ex = !was_issue | (\unit.ex_valid & (\unit.ex_warp == was_warp) & (\unit.ex_kind == was_now_kind)
        & (\unit.ex_tag == was_now_tag) & (\unit.ex_pc == was_now_pc) & (\unit.ex_pass == was_pass)
        & (\unit.ex_last == was_last));
    assign check_shared = !take | !needs | (!rel_done[block_taken] & !foreign);
    assign check_atomic = !take | !atomic[taken] | !going;
    assign check_mask = !take | !mem[taken] | !cfg_aware | cfg_violate | ! \unit.mask ;
    assign check_fence = !takes_seen | (!releases[seen] & (!fence[seen] | (flight_m == 0)));
    assign check_barrel = !takes_seen | (cfg_barrel == 1) | (cfg_barrel == 0 ? (flight_m == 0) & (flight_n == 0)
        : mem[seen] ? flight_n == 0 : flight_m == 0);
    assign check_bound = (flight_m <= 15) & (flight_n <= 15);
    assign check_leaves = was_rst | ! \unit.pk_valid | !place | (quiet < 2) | \unit.pk_leaves ;
    assign check_idle = iss_valid == (\unit.iq_valid & !ex_hold);

    reg [2:0] offered;

    always @(posedge clk) begin
        if (rst) offered <= 0;
        else if (off_valid[0] & !(&offered)) offered <= offered + 1;
    end
    assign cover_issue = first & (iss_warp == 0) & mem[0] & (offered == 3) & !rst;
    assign cover_passes = iss_valid & iss_last & (iss_pass == 3) & !rst;
    assign cover_void = \unit.pk_void & ((\unit.pk & atomic) != 0) & going & !rst;
    assign cover_shared = take & needs & !rst;
    assign cover_refused = \unit.pk_void & ((\unit.pk & shares) != 0) & !going & !cfg_aware & !rst;
    assign cover_both = iss_valid & iss_last & was_issue & was_last & (was_warp != iss_warp) & !rst;
endmodule
