// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_sm_path: the scratchpad path of an SM: scheduler, access control, hash,
// PREMEM queue, scratchpad with locks, atomics, NONMEM queue, writeback port,
// conflict prediction. Kinds: 0 ALU, 1 load, 2 store, 3 load and lock, 4 store
// and unlock, 5 atomic, 6 off-chip access, 7 relssp.
//
// Parameters: n = 14, m = 5, L = 32, D = 32, WS = 32, W = 48, T = 8, ROWS =
//             384, LOCKS = 1024, LKG = 2, M = 4, AHEAD = 3, H = 1, NQ = 5, PQ
//             = 0, SETS = 256, LR = 32, LU = 18, LWR = 36, LB = 32
// Timing:     issued in cycle s, a memory pass of degree d is written back in
//             s+1+H+d+M, another one in s+2 (elastic) if nothing is in the way
// Reference:  docs/microarchitecture.md, section 18; all five papers
//
// in  clk             1  clock
// in  rst             1  synchronous reset
// in  kernel_clear    1  kernel launch: forget the conflict history
// in  cfg_pipeline    2  0 unified, 1 split, 2 and 3 elastic; cfg_* are static
//                        while anything is in flight
// in  cfg_barrel      2  0 strict, 1 relaxed, 2 and 3 relaxed with in-order
//                        commit per warp
// in  cfg_policy      2  scheduler: 0 round-robin, 1 and 2 owner first, 3
//                        lowest slot
// in  cfg_aware       1  bank-conflict-aware scheduling
// in  cfg_violate     1  masked warps go when nothing else can
// in  cfg_lock_hash   2  0 none, 1 XOR, 2 ADD
// in  cfg_sharing     1  scratchpad sharing is on
// in  cfg_limit      14  first word of the shared part, block-relative
// in  hash_wr_en      1  write a register
// in  hash_wr_index   3  register to write; an index without a register writes
//                        nothing
// in  hash_wr_data   14  index i: row mask of bank bit i
// in  row_wr_en       1  write a register
// in  row_wr_index    4  register to write; an index without a register writes
//                        nothing
// in  row_wr_data     3  index j: source of row bit j, 0 keeps addr[m+j], i+1
//                        takes addr[i]
// in  launch_valid    1  a block starts
// in  launch_block    3  its slot
// in  launch_shared   1  it runs in sharing mode
// in  launch_wmask   48  its warps
// in  launch_last    32  threads of the highest of them; the others are full
// in  exit_valid      1  threads exit
// in  exit_warp       6  their warp
// in  exit_mask      32  the threads
// in  off_valid      48  the warp offers an instruction
// in  off_kind      192  its kind, 4 bits per warp
// in  off_words      96  words per lane of loads and stores: 0 one, 1 two, 2
//                        four
// in  off_tag       384  destination tag, TG bits per warp
// in  off_pc        672  program counter, PCW bits per warp
// in  off_hi        672  highest block-relative word address, n bits per warp
// out iss_valid       1  a pass enters EXE at the end of this cycle
// out iss_warp        6  its warp
// out iss_pass        2  its number; 0 takes the warp's offer
// out iss_last        1  it is the instruction's last
// out ex_hold         1  the pass in EXE stays there
// in  op_mask        32  active lanes of the pass in EXE
// in  op_addr       448  word address, n bits per lane
// in  op_data       1024  data, D bits per lane
// in  op_be         128  byte enables of a store, BE bits per lane
// in  op_aop          4  operation of an atomic
// in  icn_valid       1  data from off-chip is offered
// in  icn_warp        6  its warp
// in  icn_tag         8  destination tag
// in  icn_pass        2  pass
// in  icn_last        1  last pass
// in  icn_mask       32  lanes
// in  icn_data      1024  data, D bits per lane
// out icn_ready       1  it is taken
// out wb_valid        1  a result is written back
// out wb_src          2  0 off-chip, 1 memory path, 2 other path
// out wb_warp         6  its warp
// out wb_tag          8  destination tag
// out wb_kind         4  kind of the instruction
// out wb_pass         2  pass
// out wb_last         1  last pass
// out wb_mask        32  lanes
// out wb_data       1024  data, D bits per lane
// out wb_success     32  lanes that took their lock
// out wb_error        1  unsupported, or beyond the capacity
// out wb_degree       6  conflict degree; of an atomic, that of its first read
// in  wb_ready        1  the register file takes it
// out wait_sh        48  the warp waits for the shared scratchpad
// out viol           48  the warp's block has released the region that it asks
//                        for
// out locked          4  per pair: the shared part is held
// out owner           4  per pair: 0 slot 2p, 1 slot 2p+1
// out rel_done        8  every active thread of the block has released
// out live            8  the block has an active thread
// out unlock          8  rel_done rises
// out stall           2  EXE held: 1 bank conflict, 2 writeback conflict, 3
//                        lock retry
// out masked          1  some ready warp is held back by the mask
// out seq_state       3  state of the retry sequencer
// out occ             7  occupied stages from bit 0: EXE, hash, MEM0 and on,
//                        WB
// out nm_valid        5  occupied stages of the NONMEM queue
// out pre_count       1  entries of the PREMEM queue

module spad_sm_path (
    input wire clk,
    input wire rst,
    input wire kernel_clear,
    input wire [1:0] cfg_pipeline,
    input wire [1:0] cfg_barrel,
    input wire [1:0] cfg_policy,
    input wire cfg_aware,
    input wire cfg_violate,
    input wire [1:0] cfg_lock_hash,
    input wire cfg_sharing,
    input wire [13:0] cfg_limit,
    input wire hash_wr_en,
    input wire [2:0] hash_wr_index,
    input wire [13:0] hash_wr_data,
    input wire row_wr_en,
    input wire [3:0] row_wr_index,
    input wire [2:0] row_wr_data,
    input wire launch_valid,
    input wire [2:0] launch_block,
    input wire launch_shared,
    input wire [47:0] launch_wmask,
    input wire [31:0] launch_last,
    input wire exit_valid,
    input wire [5:0] exit_warp,
    input wire [31:0] exit_mask,
    input wire [47:0] off_valid,
    input wire [191:0] off_kind,
    input wire [95:0] off_words,
    input wire [383:0] off_tag,
    input wire [671:0] off_pc,
    input wire [671:0] off_hi,
    output wire iss_valid,
    output wire [5:0] iss_warp,
    output wire [1:0] iss_pass,
    output wire iss_last,
    output wire ex_hold,
    input wire [31:0] op_mask,
    input wire [447:0] op_addr,
    input wire [1023:0] op_data,
    input wire [127:0] op_be,
    input wire [3:0] op_aop,
    input wire icn_valid,
    input wire [5:0] icn_warp,
    input wire [7:0] icn_tag,
    input wire [1:0] icn_pass,
    input wire icn_last,
    input wire [31:0] icn_mask,
    input wire [1023:0] icn_data,
    output wire icn_ready,
    output wire wb_valid,
    output wire [1:0] wb_src,
    output wire [5:0] wb_warp,
    output wire [7:0] wb_tag,
    output wire [3:0] wb_kind,
    output wire [1:0] wb_pass,
    output wire wb_last,
    output wire [31:0] wb_mask,
    output wire [1023:0] wb_data,
    output wire [31:0] wb_success,
    output wire wb_error,
    output wire [5:0] wb_degree,
    input wire wb_ready,
    output wire [47:0] wait_sh,
    output wire [47:0] viol,
    output wire [3:0] locked,
    output wire [3:0] owner,
    output wire [7:0] rel_done,
    output wire [7:0] live,
    output wire [7:0] unlock,
    output wire [1:0] stall,
    output wire masked,
    output wire [2:0] seq_state,
    output wire [6:0] occ,
    output wire [4:0] nm_valid,
    output wire pre_count
);
    localparam [3:0] KIND_ALU = 4'd0;
    localparam [3:0] KIND_LOAD = 4'd1;
    localparam [3:0] KIND_STORE = 4'd2;
    localparam [3:0] KIND_LDLK = 4'd3;
    localparam [3:0] KIND_STUL = 4'd4;
    localparam [3:0] KIND_ATOMIC = 4'd5;
    localparam [3:0] KIND_GLOBAL = 4'd6;
    localparam [3:0] KIND_RELSSP = 4'd7;
    localparam [2:0] OP_PASS = 3'd0;
    localparam [2:0] OP_UNSUPPORTED = 3'd7;
    localparam [3:0] AOP_ADD = 4'd0;
    localparam [2:0] SEQ_DONE = 3'd5;
    localparam [1:0] SOURCE_ICN = 2'd0;
    localparam [1:0] PIPELINE_UNIFIED = 2'd0;
    localparam [1:0] BARREL_STRICT = 2'd0;
    localparam [1:0] BARREL_RELAXED = 2'd1;
    localparam [1:0] STALL_NONE = 2'd0;
    localparam [1:0] STALL_BANK_CONFLICT = 2'd1;
    localparam [1:0] STALL_WRITEBACK = 2'd2;
    localparam [1:0] STALL_LOCK_RETRY = 2'd3;
    localparam L = 32;
    localparam W = 48;
    localparam WW = 6;
    localparam T = 8;
    localparam TW = 3;
    localparam TG = 8;
    localparam PCW = 14;
    localparam PW = 2;
    localparam DG = 6;
    localparam N = 14;
    localparam D = 32;
    localparam CTL = 35;

    wire unified = cfg_pipeline == PIPELINE_UNIFIED;
    wire elastic = cfg_pipeline[1];
    genvar i, w;

    // ------------------------------------------------------------------ EX
    // Control of the pass whose operands come in.
    reg ex_valid;
    reg [WW-1:0] ex_warp;
    reg [3:0] ex_kind;
    reg [TG-1:0] ex_tag;
    reg [PCW-1:0] ex_pc;
    reg [PW-1:0] ex_pass;
    reg ex_last;
    wire ex_fire;
    wire ex_free = ~ex_valid | ex_fire;
    wire ex_relssp = ex_valid & (ex_kind == KIND_RELSSP);
    assign ex_hold = ex_valid & ~ex_fire;

    // The instruction whose passes are being issued.
    reg iq_valid;
    reg [WW-1:0] iq_warp;
    reg [3:0] iq_kind;
    reg [TG-1:0] iq_tag;
    reg [PCW-1:0] iq_pc;
    reg [PW-1:0] iq_np;
    reg [PW-1:0] iq_next;

    // An instruction starts: of which warp, and what the warp offers.
    wire start;
    wire [W-1:0] start_sel;
    wire [WW-1:0] start_warp;
    wire [64*28-1:0] offers;
    wire [27:0] offer;
    spad_pick_64x28 select_offer (
        .pick({16'd0, start_sel}),
        .words(offers),
        .word(offer)
    );
    wire [3:0] s_kind = offer[3:0];
    wire [1:0] s_words = offer[5:4];
    wire [TG-1:0] s_tag = offer[6 +: TG];
    wire [PCW-1:0] s_pc = offer[6+TG +: PCW];
    // Loads and stores of 64 and 128 bits take two and four passes per subwarp.
    wire s_wide = (s_kind == KIND_LOAD) | (s_kind == KIND_STORE);
    wire [PW-1:0] s_np = (s_wide & (s_words == 2'd1)) ? 2'd1
        : (s_wide & (s_words == 2'd2)) ? 2'd3
        : 2'd0;
    wire s_predicted = (s_kind >= KIND_LOAD) & (s_kind <= KIND_STUL);

    // The pass that enters EX.
    wire issue = ex_free & iq_valid;
    wire [PW-1:0] pass = iq_next;
    wire [WW-1:0] warp_in = iq_warp;
    wire [3:0] kind_in = iq_kind;
    wire [TG-1:0] tag_in = iq_tag;
    wire [PCW-1:0] pc_in = iq_pc;
    wire last_pass = iq_next == iq_np;
    assign iss_warp = iq_warp & {WW{issue}};
    assign iss_valid = issue;
    assign iss_pass = pass & {PW{issue}};
    assign iss_last = last_pass & issue;

    always @(posedge clk) begin
        if (rst) begin
            ex_valid <= 1'b0;
            ex_warp <= {WW{1'b0}};
            ex_kind <= KIND_ALU;
            ex_tag <= {TG{1'b0}};
            ex_pc <= {PCW{1'b0}};
            ex_pass <= {PW{1'b0}};
            ex_last <= 1'b0;
        end else if (issue) begin
            ex_valid <= 1'b1;
            ex_warp <= warp_in;
            ex_kind <= kind_in;
            ex_tag <= tag_in;
            ex_pc <= pc_in;
            ex_pass <= pass;
            ex_last <= last_pass;
        end else if (ex_fire) begin
            ex_valid <= 1'b0;
        end
    end

    always @(posedge clk) begin
        if (rst) begin
            iq_valid <= 1'b0;
            iq_warp <= {WW{1'b0}};
            iq_kind <= KIND_ALU;
            iq_tag <= {TG{1'b0}};
            iq_pc <= {PCW{1'b0}};
            iq_np <= {PW{1'b0}};
            iq_next <= {PW{1'b0}};
        end else begin
            if (start) begin
                iq_warp <= start_warp;
                iq_kind <= s_kind;
                iq_tag <= s_tag;
                iq_pc <= s_pc;
                iq_np <= s_np;
            end
            if (start) begin
                iq_valid <= 1'b1;
                iq_next <= {PW{1'b0}};
            end else if (issue) begin
                iq_valid <= ~last_pass;
                iq_next <= iq_next + 2'd1;
            end
        end
    end

    // ------------------------------------------------- who may be issued: Q
    wire [W-1:0] allow;
    wire [W-1:0] refused_now;
    wire [W-1:0] released_now;
    wire [2*W-1:0] cls;
    wire mask;
    reg atom_infl;
    wire [W-1:0] ready;
    wire [W-1:0] is_mem;
    wire [W-1:0] is_atomic;
    wire [W-1:0] busy;
    // The warp that is picked, one bit per warp.
    reg pk_valid;
    reg [W-1:0] pk;
    wire [W-1:0] shares;
    wire retire = wb_valid & wb_ready & wb_last & (wb_src != SOURCE_ICN);
    wire wb_mem = (wb_kind != KIND_ALU) & (wb_kind != KIND_RELSSP);
    wire s_mem = (s_kind != KIND_ALU) & (s_kind != KIND_RELSSP);
    reg [W*TW-1:0] warp_blk;
    generate
        for (w = 0; w < W; w = w + 1) begin : warp
            wire [3:0] kind = off_kind[4*w +: 4];
            wire mem = (kind != KIND_ALU) & (kind != KIND_RELSSP);
            assign offers[28*w +: 28] =
                {off_pc[PCW*w +: PCW], off_tag[TG*w +: TG], off_words[2*w +: 2], kind};
            assign is_mem[w] = mem;
            assign shares[w] = off_valid[w] & (kind >= KIND_LOAD) & (kind <= KIND_ATOMIC);

            // Instructions in flight on the memory and on the other path.
            reg [3:0] infl_m;
            reg [3:0] infl_n;
            wire starts = start & start_sel[w];
            wire ends = retire & (wb_warp == w);
            wire up_m = starts & s_mem;
            wire up_n = starts & ~s_mem;
            wire down_m = ends & wb_mem;
            wire down_n = ends & ~wb_mem;
            always @(posedge clk) begin
                if (rst) begin
                    infl_m <= 4'd0;
                    infl_n <= 4'd0;
                end else begin
                    if (up_m & ~down_m) infl_m <= infl_m + 4'd1;
                    else if (down_m & ~up_m) infl_m <= infl_m - 4'd1;
                    if (up_n & ~down_n) infl_n <= infl_n + 4'd1;
                    else if (down_n & ~up_n) infl_n <= infl_n - 4'd1;
                end
            end
            wire any_m = |infl_m;
            wire any_n = |infl_n;
            wire barrel_ok = (cfg_barrel == BARREL_STRICT) ? ~any_m & ~any_n
                : (cfg_barrel == BARREL_RELAXED) ? 1'b1
                : mem ? ~any_n : ~any_m;
            assign ready[w] = off_valid[w] & allow[w] & barrel_ok & ~(&infl_m) & ~(&infl_n)
                & ~((kind == KIND_ATOMIC) & atom_infl)
                & ~((kind == KIND_RELSSP) & any_m)
                & ~(ex_relssp & (ex_warp == w)) & ~busy[w];
            assign is_atomic[w] = kind == KIND_ATOMIC;
            // On its way to EX with what it offers still, or with a release.
            wire first = ~(|iq_next);
            assign busy[w] = pk[w]
                | (iq_valid & (iq_warp == w) & (first | (iq_kind == KIND_RELSSP)));

            always @(posedge clk) begin
                if (rst) warp_blk[TW*w +: TW] <= {TW{1'b0}};
                else if (launch_valid & launch_wmask[w]) warp_blk[TW*w +: TW] <= launch_block;
            end
        end
        for (w = W; w < 64; w = w + 1) begin : no_warp
            assign offers[28*w +: 28] = 28'd0;
        end
    endgenerate

    // What a warp was qualified with, and the shared parts as they were then.
    reg [W-1:0] q_ready;
    reg [2*W-1:0] q_cls;
    reg [W-1:0] q_mem;
    reg [W-1:0] q_atomic;
    reg [W-1:0] q_shared;
    reg [W-1:0] q_wait;
    reg [W-1:0] q_viol;
    reg [T/2-1:0] was_locked;
    reg [T/2-1:0] was_owner;
    reg changes;
    always @(posedge clk) begin
        if (rst) begin
            q_ready <= {W{1'b0}};
            q_cls <= {(2*W){1'b0}};
            q_mem <= {W{1'b0}};
            q_atomic <= {W{1'b0}};
            q_shared <= {W{1'b0}};
            q_wait <= {W{1'b0}};
            q_viol <= {W{1'b0}};
            was_locked <= {(T/2){1'b0}};
            was_owner <= {(T/2){1'b0}};
            changes <= 1'b0;
        end else begin
            q_ready <= ready;
            q_cls <= cls;
            q_mem <= is_mem;
            q_atomic <= is_atomic;
            q_shared <= shares;
            q_wait <= refused_now;
            q_viol <= released_now;
            was_locked <= locked;
            was_owner <= owner;
            changes <= launch_valid | exit_valid | (ex_fire & ex_relssp);
        end
    end
    assign wait_sh = q_wait;
    assign viol = q_viol;

    // -------------------------------------------------------------- pick: P
    wire pk_leaves;
    wire pk_free = ~pk_valid | pk_leaves;
    wire sel_valid;
    wire [W-1:0] sel;
    /* verilator lint_off UNUSEDSIGNAL */ // the pick goes on as one bit per warp
    wire [WW-1:0] sel_warp;
    /* verilator lint_on UNUSEDSIGNAL */
    spad_warp_scheduler scheduler (
        .clk(clk),
        .rst(rst),
        .cfg_policy(cfg_policy),
        .cfg_aware(cfg_aware),
        .cfg_violate(cfg_violate),
        .ready(q_ready & ~pk),
        .is_mem(q_mem),
        .mask(mask),
        .cls(q_cls),
        .take(pk_free),
        .sel_valid(sel_valid),
        .sel(sel),
        .sel_warp(sel_warp),
        .masked(masked)
    );
    always @(posedge clk) begin
        if (rst) begin
            pk_valid <= 1'b0;
            pk <= {W{1'b0}};
        end else if (pk_free) begin
            pk_valid <= sel_valid;
            pk <= sel;
        end
    end

    // ------------------------------------------------------------ select: S
    // Others may have changed what the pick was qualified with: then it waits
    // for a cycle, until that shows, or is dropped.
    wire pk_mem = |(pk & q_mem);
    wire pk_stale = (|(pk & q_shared))
        & (changes | (locked != was_locked) | (owner != was_owner));
    wire pk_void = pk_valid & ~pk_stale & (
        (|(pk & (q_wait | q_viol)))
        | ((|(pk & q_atomic)) & atom_infl)
        | (pk_mem & cfg_aware & mask & ~cfg_violate));
    wire iq_free = ~iq_valid | (ex_free & last_pass);
    assign start = pk_valid & ~pk_stale & ~pk_void & iq_free;
    assign start_sel = pk;
    assign pk_leaves = start | pk_void;
    spad_number_48 encode_pick (.above(pk[W-1:1]), .number(start_warp));

    // -------------------------------------------------------------- sharing
    wire [T-1:0] rel_done_now;
    wire [T-1:0] live_now;
    wire [T-1:0] unlock_now;
    spad_relssp release_unit (
        .clk(clk),
        .rst(rst),
        .launch_valid(launch_valid),
        .launch_block(launch_block),
        .launch_wmask(launch_wmask),
        .launch_last(launch_last),
        .rel_valid(ex_fire & ex_relssp),
        .rel_warp(ex_warp),
        .rel_sub(ex_pass[0:0]),
        .rel_mask(op_mask),
        .exit_valid(exit_valid),
        .exit_warp(exit_warp),
        .exit_mask(exit_mask),
        .warp_blk(warp_blk),
        .rel_done(rel_done_now),
        .live(live_now),
        .unlock(unlock_now)
    );

    // A release shows in the next cycle; a block that starts is not done.
    reg [T-1:0] done_r;
    reg [T-1:0] live_r;
    reg [T-1:0] unlock_r;
    genvar b;
    generate
        for (b = 0; b < T; b = b + 1) begin : slot
            wire starts = launch_valid & (launch_block == b);
            always @(posedge clk) begin
                if (rst) begin
                    done_r[b] <= 1'b1;
                    live_r[b] <= 1'b0;
                    unlock_r[b] <= 1'b0;
                end else begin
                    done_r[b] <= rel_done_now[b] & ~starts;
                    live_r[b] <= live_now[b] | starts;
                    unlock_r[b] <= unlock_now[b];
                end
            end
        end
    endgenerate
    assign rel_done = done_r;
    assign live = live_r;
    assign unlock = unlock_r;

    spad_access_unit access (
        .clk(clk),
        .rst(rst),
        .cfg_sharing(cfg_sharing),
        .cfg_limit(cfg_limit),
        .launch_valid(launch_valid),
        .launch_block(launch_block),
        .launch_shared(launch_shared),
        .rel_done(rel_done),
        .live(live),
        .warp_blk(warp_blk),
        .off_shmem(shares),
        .off_hi(off_hi),
        .acq_valid(start),
        .acq_warp(start_warp),
        .allow(allow),
        .wait_sh(refused_now),
        .viol(released_now),
        .cls(cls),
        .locked(locked),
        .owner(owner)
    );

    // ------------------------------------------- conflict prediction
    wire lk_hit;
    wire [4:0] lk_excess;
    wire up_valid;
    wire [PCW-1:0] up_pc;
    wire [4:0] up_excess;
    wire d_valid;
    wire [6:0] d_occ;
    wire d_last;
    wire [PCW-1:0] d_pc;
    /* verilator lint_off UNUSEDSIGNAL */ // for debugging: the mask itself decides
    wire lk_done;
    wire [5:0] remaining;
    /* verilator lint_on UNUSEDSIGNAL */

    spad_degree_accumulator accumulator (
        .clk(clk),
        .rst(rst),
        .clear(kernel_clear),
        .d_valid(d_valid),
        .d_occ(d_occ),
        .d_last(d_last),
        .d_pc(d_pc),
        .up_valid(up_valid),
        .up_pc(up_pc),
        .up_excess(up_excess)
    );

    spad_conflict_history history (
        .clk(clk),
        .rst(rst),
        .clear(kernel_clear),
        .lk_valid(start & s_predicted),
        .lk_pc(s_pc),
        .lk_done(lk_done),
        .lk_hit(lk_hit),
        .lk_excess(lk_excess),
        .up_valid(up_valid),
        .up_pc(up_pc),
        .up_excess(up_excess)
    );

    // The answer of the history counts in the second cycle after the question.
    reg lq_hit;
    reg [4:0] lq_excess;
    always @(posedge clk) begin
        if (rst) begin
            lq_hit <= 1'b0;
            lq_excess <= 5'd0;
        end else begin
            lq_hit <= lk_hit;
            lq_excess <= lk_excess;
        end
    end

    spad_warp_mask warp_mask (
        .clk(clk),
        .rst(rst),
        .clear(kernel_clear),
        .set_valid(start & s_predicted),
        .set_base(s_np),
        .lk_hit(lq_hit),
        .lk_excess(lq_excess),
        .hold(ex_hold),
        .mask(mask),
        .remaining(remaining)
    );

    // ------------------------------------------------------ EXE and hash
    wire [CTL-1:0] ex_ctl = {ex_last, ex_pass, ex_pc, ex_tag, ex_kind, ex_warp};
    wire ex_mem = unified | ((ex_kind != KIND_ALU) & (ex_kind != KIND_RELSSP));
    wire [L*D-1:0] ex_data;
    wire [L*D-1:0] far_data;
    generate
        for (i = 0; i < L; i = i + 1) begin : operand
            assign ex_data[D*i +: D] = op_data[D*i +: D] & {D{op_mask[i]}};
            assign far_data[D*i +: D] = icn_data[D*i +: D] & {D{icn_mask[i]}};
        end
    endgenerate

    wire pre_in_valid;
    wire pre_in_ready;
    wire [CTL-1:0] h_ctl;
    wire [L-1:0] h_mask;
    wire [L*N-1:0] h_addr;
    wire [L*D-1:0] h_data;
    wire [127:0] h_be;
    wire [3:0] h_aop;
    wire mem_ready;
    // The hash has a stage of its own, behind this register.
    reg hx_valid;
    reg [CTL-1:0] hx_ctl;
    reg [L-1:0] hx_mask;
    reg [L*N-1:0] hx_addr;
    reg [L*D-1:0] hx_data;
    reg [127:0] hx_be;
    reg [3:0] hx_aop;
    assign mem_ready = ~hx_valid | pre_in_ready;
    always @(posedge clk) begin
        if (rst) begin
            hx_valid <= 1'b0;
            hx_ctl <= {CTL{1'b0}};
            hx_mask <= {L{1'b0}};
            hx_addr <= {(L*N){1'b0}};
            hx_data <= {(L*D){1'b0}};
            hx_be <= 128'd0;
            hx_aop <= AOP_ADD;
        end else if (mem_ready) begin
            hx_valid <= ex_valid & ex_mem;
            hx_ctl <= ex_ctl;
            hx_mask <= op_mask;
            hx_addr <= op_addr;
            hx_data <= ex_data;
            hx_be <= op_be;
            hx_aop <= op_aop;
        end
    end
    assign pre_in_valid = hx_valid;
    assign h_ctl = hx_ctl;
    assign h_mask = hx_mask;
    assign h_addr = hx_addr;
    assign h_data = hx_data;
    assign h_be = hx_be;
    assign h_aop = hx_aop;
    wire [69:0] cfg_rows;
    spad_hash_config_matrix hash_config (
        .clk(clk),
        .rst(rst),
        .wr_en(hash_wr_en),
        .wr_index(hash_wr_index),
        .wr_data(hash_wr_data),
        .cfg_rows(cfg_rows)
    );
    wire [53:0] cfg_row_sel;
    spad_hash_config_row_map row_config (
        .clk(clk),
        .rst(rst),
        .wr_en(row_wr_en),
        .wr_index(row_wr_index),
        .wr_data(row_wr_data),
        .cfg_row_sel(cfg_row_sel)
    );
    wire [159:0] h_bank;
    wire [287:0] h_row;
    wire [319:0] h_lock;
    generate
        for (i = 0; i < L; i = i + 1) begin : lane
            spad_lane_hash hash (
                .cfg_rows(cfg_rows),
                .cfg_row_sel(cfg_row_sel),
                .cfg_lock_hash(cfg_lock_hash),
                .addr(h_addr[N*i +: N]),
                .bank(h_bank[5*i +: 5]),
                .row(h_row[9*i +: 9]),
                .lock(h_lock[10*i +: 10])
            );
        end
    endgenerate

    // ------------------------------------------------ PREMEM, entry to MEM0
    wire head_valid;
    wire head_ready;
    wire [3:0] head_aop;
    wire [127:0] head_be;
    wire [L*D-1:0] head_data;
    wire [319:0] head_lock;
    wire [287:0] head_row;
    wire [159:0] head_bank;
    wire [L-1:0] head_mask;
    wire [CTL-1:0] head_ctl;
    spad_premem_queue premem (
        .clk(clk),
        .rst(rst),
        .cfg_on(elastic),
        .in_valid(pre_in_valid),
        .in_data({h_aop, h_be, h_data, h_lock, h_row, h_bank, h_mask, h_ctl}),
        .in_ready(pre_in_ready),
        .out_valid(head_valid),
        .out_data({head_aop, head_be, head_data, head_lock,
            head_row, head_bank, head_mask, head_ctl}),
        .out_ready(head_ready),
        .count(pre_count)
    );
    wire [3:0] head_kind = head_ctl[WW +: 4];

    wire sp_req_ready;
    wire sp_resp_valid;
    wire sp_resp_ready;
    wire [L-1:0] sp_resp_mask;
    wire [42:0] sp_resp_tag;
    wire [L*D-1:0] sp_resp_data;
    wire [L-1:0] sp_resp_success;
    wire sp_resp_error;
    wire [DG-1:0] sp_resp_degree;
    wire [2:0] sp_stages;
    wire busy_more;
    wire blocked;
    // The operation of a kind; what the path does not know becomes operation 7.
    wire [2:0] head_op = ((head_kind > KIND_RELSSP) | (head_kind == KIND_ATOMIC)) ? OP_UNSUPPORTED
        : (head_kind >= KIND_GLOBAL) ? OP_PASS
        : head_kind[2:0];
    wire [42:0] head_tag = {head_ctl, {DG{1'b0}}, 2'b00};

    // ATOMIC leaves the path here, for a queue of its own: behind it may be the
    // store-and-unlock that it waits for.
    wire head_atomic = head_valid & (head_kind == KIND_ATOMIC);
    wire aq_in_ready;
    wire at_valid;
    wire at_ready;
    wire [3:0] at_aop;
    wire [L*D-1:0] at_data;
    wire [319:0] at_lock;
    wire [287:0] at_row;
    wire [159:0] at_bank;
    wire [L-1:0] at_mask;
    wire [CTL-1:0] at_ctl;
    /* verilator lint_off UNUSEDSIGNAL */ // atomics write whole words; the rest is for debugging
    wire [127:0] at_be;
    wire [0:0] aq_count;
    wire [15:0] rounds;
    /* verilator lint_on UNUSEDSIGNAL */
    wire seq_valid;
    wire [2:0] seq_op;
    wire [L-1:0] seq_mask;
    wire [159:0] seq_bank;
    wire [287:0] seq_row;
    wire [319:0] seq_lock;
    wire [L*D-1:0] seq_data;
    wire [42:0] seq_tag;
    wire seq_error;
    wire [DG-1:0] seq_degree;
    spad_premem_queue atomics (
        .clk(clk),
        .rst(rst),
        .cfg_on(1'b1),
        .in_valid(head_atomic & ~seq_valid),
        .in_data({head_aop, head_be, head_data, head_lock,
            head_row, head_bank, head_mask, head_ctl}),
        .in_ready(aq_in_ready),
        .out_valid(at_valid),
        .out_data({at_aop, at_be, at_data, at_lock, at_row, at_bank, at_mask, at_ctl}),
        .out_ready(at_ready),
        .count(aq_count)
    );
    spad_retry_sequencer sequencer (
        .clk(clk),
        .rst(rst),
        .at_valid(at_valid),
        .at_ready(at_ready),
        .at_aop(at_aop),
        .at_mask(at_mask),
        .at_bank(at_bank),
        .at_row(at_row),
        .at_lock(at_lock),
        .at_data(at_data),
        .at_tag({at_ctl, {DG{1'b0}}, 2'b00}),
        .sp_valid(seq_valid),
        .sp_ready(sp_req_ready),
        .sp_op(seq_op),
        .sp_mask(seq_mask),
        .sp_bank(seq_bank),
        .sp_row(seq_row),
        .sp_lock(seq_lock),
        .sp_data(seq_data),
        .sp_tag(seq_tag),
        .sp_error(seq_error),
        .sp_degree(seq_degree),
        .sr_valid(sp_resp_valid & sp_resp_tag[0]),
        .sr_mask(sp_resp_mask),
        .sr_data(sp_resp_data),
        .sr_success(sp_resp_success),
        .sr_error(sp_resp_error),
        .sr_degree(sp_resp_degree),
        .state(seq_state),
        .rounds(rounds)
    );

    wire seq_done = seq_state == SEQ_DONE;
    always @(posedge clk) begin
        if (rst) atom_infl <= 1'b0;
        else if (start & (s_kind == KIND_ATOMIC)) atom_infl <= 1'b1;
        else if (seq_done & sp_req_ready & seq_tag[42]) atom_infl <= 1'b0;
    end

    wire sp_req_valid = seq_valid | (head_valid & ~head_atomic);
    assign head_ready = ~seq_valid & (head_atomic ? aq_in_ready : sp_req_ready);
    wire [2:0] sp_req_op = seq_valid ? seq_op : head_op;
    wire [L-1:0] sp_req_mask = seq_valid ? seq_mask : head_mask;
    wire [159:0] sp_req_bank = seq_valid ? seq_bank : head_bank;
    wire [287:0] sp_req_row = seq_valid ? seq_row : head_row;
    wire [319:0] sp_req_lock = seq_valid ? seq_lock : head_lock;
    wire [L*D-1:0] sp_req_data = seq_valid ? seq_data : head_data;
    wire [127:0] sp_req_be = head_be | {128{seq_valid}};
    wire [42:0] seq_req_tag = seq_tag | {35'd0, seq_degree, seq_error, ~seq_done};
    wire [42:0] sp_req_tag = seq_valid ? seq_req_tag : head_tag;

    // ------------------------------------------------- MEM0 and on
    /* verilator lint_off UNUSEDSIGNAL */ // the kind in the tag says as much
    wire [2:0] sp_resp_op;
    /* verilator lint_on UNUSEDSIGNAL */
    spad_scratchpad scratchpad (
        .clk(clk),
        .rst(rst),
        .req_valid(sp_req_valid),
        .req_ready(sp_req_ready),
        .req_op(sp_req_op),
        .req_mask(sp_req_mask),
        .req_bank(sp_req_bank),
        .req_row(sp_req_row),
        .req_lock(sp_req_lock),
        .req_data(sp_req_data),
        .req_be(sp_req_be),
        .req_tag(sp_req_tag),
        .resp_valid(sp_resp_valid),
        .resp_ready(sp_resp_ready),
        .resp_op(sp_resp_op),
        .resp_mask(sp_resp_mask),
        .resp_tag(sp_resp_tag),
        .resp_data(sp_resp_data),
        .resp_success(sp_resp_success),
        .resp_error(sp_resp_error),
        .resp_degree(sp_resp_degree),
        .stages(sp_stages),
        .busy_more(busy_more),
        .blocked(blocked)
    );
    reg mem0_valid;
    always @(posedge clk) begin
        if (rst) mem0_valid <= 1'b0;
        else mem0_valid <= (sp_req_valid & sp_req_ready) | (mem0_valid & (busy_more | blocked));
    end

    // ------------------------------------------------- response and MEM4..
    wire [CTL-1:0] r_ctl = sp_resp_tag[42:8];
    wire [3:0] r_kind = r_ctl[WW +: 4];
    wire r_valid = sp_resp_valid & ~sp_resp_tag[0];
    wire resp_taken;
    assign sp_resp_ready = sp_resp_tag[0] | resp_taken;
    wire [DG-1:0] r_degree = (r_kind == KIND_ATOMIC) ? sp_resp_tag[2 +: DG] : sp_resp_degree;
    wire r_error = sp_resp_error | sp_resp_tag[1];

    wire [DG-1:0] r_cycles = (|sp_resp_degree) ? sp_resp_degree : 6'd1;
    assign d_valid = r_valid & resp_taken & (r_kind >= KIND_LOAD) & (r_kind <= KIND_STUL);
    assign d_last = r_ctl[CTL-1];
    assign d_pc = r_ctl[WW+4+TG +: PCW];
    assign d_occ = (r_kind >= KIND_LDLK)
        ? {r_cycles, 1'd0}
        : {1'd0, r_cycles};

    // Writeback payload: degree, error, success, data, mask, last, pass, kind, tag, warp.
    wire [1115:0] resp_bits = {r_degree, r_error, sp_resp_success, sp_resp_data, sp_resp_mask,
        r_ctl[CTL-1], r_ctl[WW+4+TG+PCW +: PW], r_kind, r_ctl[WW+4 +: TG], r_ctl[WW-1:0]};
    wire mem_valid;
    wire mem_taken;
    wire [1115:0] mem_data;
    assign mem_valid = r_valid;
    assign mem_data = resp_bits;
    assign resp_taken = mem_taken;

    // ------------------------------------------------ NONMEM, writeback
    wire nm_in_valid = ex_valid & ~ex_mem;
    wire nm_in_ready;
    wire nm_out_valid;
    wire nm_out_ready;
    wire [1076:0] nm_out;
    spad_nonmem_queue nonmem (
        .clk(clk),
        .rst(rst),
        .cfg_elastic(elastic),
        .in_valid(nm_in_valid),
        .in_data({ex_data, op_mask, ex_last, ex_pass, ex_kind, ex_tag, ex_warp}),
        .in_ready(nm_in_ready),
        .out_valid(nm_out_valid),
        .out_data(nm_out),
        .out_ready(nm_out_ready),
        .stage_valid(nm_valid)
    );

    wire [1115:0] wb_bits;
    spad_writeback_mux writeback (
        .clk(clk),
        .rst(rst),
        .icn_valid(icn_valid),
        .icn_data({39'd0, far_data, icn_mask, icn_last, icn_pass, 4'd6, icn_tag, icn_warp}),
        .icn_ready(icn_ready),
        .mem_valid(mem_valid),
        .mem_data(mem_data),
        .mem_ready(mem_taken),
        .nm_valid(nm_out_valid),
        .nm_data({39'd0, nm_out}),
        .nm_ready(nm_out_ready),
        .wb_valid(wb_valid),
        .wb_src(wb_src),
        .wb_data(wb_bits),
        .wb_ready(wb_ready)
    );
    assign {wb_degree, wb_error, wb_success, wb_data, wb_mask,
        wb_last, wb_pass, wb_kind, wb_tag, wb_warp} = wb_bits;

    // ---------------------------------------------------------- EXE leaves
    assign ex_fire = ex_valid & (ex_mem ? mem_ready : nm_in_ready);
    assign stall = ~ex_hold ? STALL_NONE
        : ~ex_mem ? STALL_WRITEBACK
        : seq_valid ? STALL_LOCK_RETRY
        : blocked ? STALL_WRITEBACK
        : STALL_BANK_CONFLICT;

    assign occ = {wb_valid, sp_stages, mem0_valid, hx_valid, ex_valid};
endmodule
