// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_sm_path: the scratchpad path of an SM: scheduler, access control, hash,
// PREMEM queue, scratchpad with locks, atomics, NONMEM queue, writeback port,
// conflict prediction. Kinds: 0 ALU, 1 load, 2 store, 3 load and lock, 4 store
// and unlock, 5 atomic, 6 off-chip access, 7 relssp.
//
// Parameters: n = 14, m = 5, L = 32, D = 32, WS = 32, W = 48, T = 8,
//             ROWS = 384, LOCKS = 1024, LKG = 2, M = 4, AHEAD = 3, H = 1,
//             NQ = 5, PQ = 0, SETS = 256, LR = 0, LU = 1, LWR = 0, LB = 1
// Timing:     issued in cycle s, a memory pass of degree d is written back in
//             s+1+H+d+M, another one in s+2 (elastic) if nothing is in the way
// Reference:  microarchitecture/sm-path.md; all five papers
//
// par HASH_RESET      70  after a reset, the registers that hash_wr_* writes,
//                         0 in the low bits
// par ROW_RESET       27  after a reset, the registers that row_wr_* writes, 0
//                         in the low bits
// in  clk              1  clock
// in  rst              1  synchronous reset
// in  kernel_clear     1  kernel launch: forget the conflict history
// in  cfg_pipeline     2  0 unified, 1 split, 2 and 3 elastic; cfg_* are
//                         static while anything is in flight
// in  cfg_barrel       2  0 strict, 1 relaxed, 2 and 3 relaxed with in-order
//                         commit per warp, but for atomics
// in  cfg_policy       2  scheduler: 0 round-robin, 1 and 2 owner first, 3
//                         lowest slot
// in  cfg_aware        1  bank-conflict-aware scheduling
// in  cfg_violate      1  masked warps go when nothing else can
// in  cfg_lock_hash    2  0 none, 1 XOR, 2 ADD
// in  cfg_sharing      1  scratchpad sharing is on
// in  cfg_limit       14  first word of the shared part, block-relative
// in  hash_wr_en       1  write a register
// in  hash_wr_index    3  register to write; an index without a register
//                         writes nothing
// in  hash_wr_data    14  index i: row mask of bank bit i
// in  row_wr_en        1  write a register
// in  row_wr_index     4  register to write; an index without a register
//                         writes nothing
// in  row_wr_data      3  index j: source of row bit j, 0 keeps addr[m+j], i+1
//                         takes addr[i]
// in  launch_valid     1  a block starts
// in  launch_block     3  its slot
// in  launch_shared    1  it runs in sharing mode
// in  launch_wmask    48  its warps
// in  launch_last     32  threads of the highest of them; the others are full
// in  exit_valid       1  threads exit
// in  exit_warp        6  their warp
// in  exit_mask       32  the threads
// in  off_valid       48  the warp offers an instruction; one after its atomic
//                         does not wait for it
// in  off_kind       192  its kind, 4 bits per warp
// in  off_words       96  words per lane of loads and stores: 0 one, 1 two, 2
//                         four
// in  off_tag        384  destination tag, TG bits per warp
// in  off_pc         672  program counter, PCW bits per warp
// in  off_hi         672  highest block-relative word address, n bits per warp
// out iss_valid        1  a pass enters EX at the end of this cycle
// out iss_warp         6  its warp
// out iss_pass         2  its number; 0 takes the warp's offer
// out iss_last         1  it is the instruction's last
// out ex_hold          1  the pass in EX stays there
// in  op_mask         32  active lanes of the pass in EX
// in  op_addr        448  word address, n bits per lane
// in  op_data       1024  data, D bits per lane
// in  op_be          128  byte enables of a store, DB bits per lane
// in  op_aop           4  operation of an atomic
// in  icn_valid        1  data from off-chip is offered
// in  icn_warp         6  its warp
// in  icn_tag          8  destination tag
// in  icn_pass         2  pass
// in  icn_last         1  last pass
// in  icn_mask        32  lanes
// in  icn_data      1024  data, D bits per lane
// out icn_ready        1  it is taken
// out wb_valid         1  a result is written back
// out wb_src           2  0 off-chip, 1 memory path, 2 other path
// out wb_warp          6  its warp
// out wb_tag           8  destination tag
// out wb_kind          4  kind of the instruction
// out wb_pass          2  pass
// out wb_last          1  last pass
// out wb_mask         32  lanes
// out wb_data       1024  data, D bits per lane
// out wb_success      32  lanes that took their lock
// out wb_error         1  unsupported, or beyond the capacity
// out wb_degree        6  conflict degree; of an atomic, that of its first
//                         read
// in  wb_ready         1  the register file takes it
// out wait_sh         48  the warp waits for the shared scratchpad
// out viol            48  the warp's block has released the region that it
//                         asks for
// out locked           4  per pair: the shared part is held
// out owner            4  per pair: 0 slot 2p, 1 slot 2p+1
// out rel_done         8  every active thread of the block has released
// out live             8  the block has an active thread
// out unlock           8  rel_done rises
// out stall            2  EX held: 1 bank conflict, 2 writeback conflict, 3
//                         lock retry
// out masked           1  some ready warp is held back by the mask
// out seq_state        3  state of the retry sequencer
// out occ              7  occupied stages from bit 0: EX, hash, MEM0 and on,
//                         WB
// out nm_valid         5  occupied stages of the NONMEM queue
// out pre_count        1  entries of the PREMEM queue

`default_nettype none

module spad_sm_path #(
    parameter [69:0] HASH_RESET = 70'h001000200040008001,
    parameter [26:0] ROW_RESET = 27'h0000000
) (
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
    localparam [3:0] KIND_STUL = 4'd4;
    localparam [3:0] KIND_ATOMIC = 4'd5;
    localparam [3:0] KIND_GLOBAL = 4'd6;
    localparam [3:0] KIND_RELSSP = 4'd7;
    localparam [1:0] SOURCE_ICN = 2'd0;
    localparam [1:0] PIPELINE_UNIFIED = 2'd0;
    localparam [1:0] STALL_NONE = 2'd0;
    localparam [1:0] STALL_BANK_CONFLICT = 2'd1;
    localparam [1:0] STALL_WRITEBACK = 2'd2;
    localparam [1:0] STALL_LOCK_RETRY = 2'd3;
    localparam m = 5;
    localparam R = 9;
    localparam L = 32;
    localparam D = 32;
    localparam DB = 4;
    localparam W = 48;
    localparam WW = 6;
    localparam T = 8;
    localparam TW = 3;
    localparam LK = 10;
    localparam PCW = 14;
    localparam TG = 8;
    localparam PW = 2;
    localparam DG = 6;
    localparam OCW = 7;
    localparam CTL = 35;
    localparam TGW = 43;
    localparam NMW = 1077;
    localparam WBW = 1116;

    // The wires between the parts.
    wire ex_valid;
    wire ex_fire;
    wire ex_mem;
    wire [L*D-1:0] ex_data;
    wire mem_ready;
    wire nm_ready;
    wire take;
    wire [W-1:0] take_sel;
    wire [WW-1:0] take_warp;
    wire [3:0] take_kind;
    wire [PCW-1:0] take_pc;
    wire [PW-1:0] take_np;
    wire [W-1:0] shares;
    wire [W-1:0] allow;
    wire [W-1:0] allowed_wait;
    wire [W-1:0] allowed_viol;
    wire [2*W-1:0] cls;
    wire mask;
    wire mask_lasts;
    wire mask_likely;
    wire atom_infl;
    wire resolved_valid;
    wire [OCW-1:0] resolved_occ;
    wire resolved_last;
    wire [PCW-1:0] resolved_pc;
    wire hx_valid;
    wire seq_busy;
    wire [2:0] stages;
    wire blocked;
    wire last_valid;
    wire last_ready;
    wire [WBW-1:0] last_data;
    wire [WW-1:0] ex_warp;
    wire [3:0] ex_kind;
    wire [TG-1:0] ex_tag;
    wire [PCW-1:0] ex_pc;
    wire [PW-1:0] ex_pass;
    wire ex_last;
    genvar i;
    wire ex_relssp = ex_valid & (ex_kind == KIND_RELSSP);
    reg [W*TW-1:0] warp_blk_q;
    reg mem0_valid_q;
    wire pre_valid;
    wire pre_ready;
    wire [CTL-1:0] pre_ctl;
    wire [L-1:0] pre_mask;
    wire [L*m-1:0] pre_bank;
    wire [L*R-1:0] pre_row;
    wire [L*LK-1:0] pre_lock;
    wire [L*D-1:0] pre_data;
    wire [L*DB-1:0] pre_be;
    wire [3:0] pre_aop;

    // Q: who may go.
    wire [W-1:0] ready;
    wire [W-1:0] is_mem;
    wire [W-1:0] is_atomic;
    wire [W-1:0] busy;
    wire [W-1:0] picked;
    wire room;
    spad_eligibility eligibility (
        .clk(clk),
        .rst(rst),
        .cfg_barrel(cfg_barrel),
        .off_valid(off_valid),
        .off_kind(off_kind),
        .allow(allow),
        .busy(busy),
        .atom_infl(atom_infl),
        .ex_relssp(ex_relssp),
        .ex_warp(ex_warp),
        .take(take),
        .take_sel(take_sel),
        .take_kind(take_kind),
        .retire(wb_valid & wb_ready & wb_last & (wb_src != SOURCE_ICN)),
        .retire_warp(wb_warp),
        .retire_kind(wb_kind),
        .ready(ready),
        .is_mem(is_mem),
        .is_atomic(is_atomic),
        .shares(shares)
    );

    // P and S: who goes.
    spad_issue_select issue_select (
        .clk(clk),
        .rst(rst),
        .cfg_policy(cfg_policy),
        .cfg_aware(cfg_aware),
        .cfg_violate(cfg_violate),
        .ready(ready),
        .is_mem(is_mem),
        .is_atomic(is_atomic),
        .shares(shares),
        .cls(cls),
        .allowed_wait(allowed_wait),
        .allowed_viol(allowed_viol),
        .locked(locked),
        .owner(owner),
        .changes(launch_valid | exit_valid | (ex_fire & ex_relssp)),
        .mask(mask),
        .mask_lasts(mask_lasts),
        .mask_likely(mask_likely),
        .atom_infl(atom_infl),
        .room(room),
        .take(take),
        .take_sel(take_sel),
        .take_warp(take_warp),
        .picked(picked),
        .masked(masked),
        .wait_sh(wait_sh),
        .viol(viol)
    );

    // I and EX: its passes.
    spad_pass_issue pass_issue (
        .clk(clk),
        .rst(rst),
        .off_kind(off_kind),
        .off_words(off_words),
        .off_tag(off_tag),
        .off_pc(off_pc),
        .take(take),
        .take_sel(take_sel),
        .take_warp(take_warp),
        .picked(picked),
        .ex_fire(ex_fire),
        .room(room),
        .busy(busy),
        .take_kind(take_kind),
        .take_pc(take_pc),
        .take_np(take_np),
        .iss_valid(iss_valid),
        .iss_warp(iss_warp),
        .iss_pass(iss_pass),
        .iss_last(iss_last),
        .ex_valid(ex_valid),
        .ex_warp(ex_warp),
        .ex_kind(ex_kind),
        .ex_tag(ex_tag),
        .ex_pc(ex_pc),
        .ex_pass(ex_pass),
        .ex_last(ex_last)
    );

    // The block slot of each warp.
    generate
        for (i = 0; i < W; i = i + 1) begin : warp
            always @(posedge clk) begin
                if (rst) warp_blk_q[TW*i +: TW] <= {TW{1'b0}};
                else if (launch_valid & launch_wmask[i]) warp_blk_q[TW*i +: TW] <= launch_block;
            end
        end
    endgenerate

    // Who has released, and who may touch the shared part.
    wire [T-1:0] now_done;
    wire [T-1:0] now_live;
    wire [T-1:0] now_unlock;
    spad_relssp release_unit (
        .clk(clk),
        .rst(rst),
        .launch_valid(launch_valid),
        .launch_block(launch_block),
        .launch_wmask(launch_wmask),
        .launch_last(launch_last),
        .rel_valid(ex_fire & ex_relssp),
        .rel_warp(ex_warp),
        .rel_sub(ex_pass[0]),
        .rel_mask(op_mask),
        .exit_valid(exit_valid),
        .exit_warp(exit_warp),
        .exit_mask(exit_mask),
        .warp_blk(warp_blk_q),
        .rel_done(now_done),
        .live(now_live),
        .unlock(now_unlock)
    );
    spad_release_register release_register (
        .clk(clk),
        .rst(rst),
        .launch_valid(launch_valid),
        .launch_block(launch_block),
        .now_done(now_done),
        .now_live(now_live),
        .now_unlock(now_unlock),
        .rel_done(rel_done),
        .live(live),
        .unlock(unlock)
    );
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
        .warp_blk(warp_blk_q),
        .off_shmem(shares),
        .off_hi(off_hi),
        .acq_valid(take),
        .acq_warp(take_warp),
        .allow(allow),
        .wait_sh(allowed_wait),
        .viol(allowed_viol),
        .cls(cls),
        .locked(locked),
        .owner(owner)
    );

    // Conflict prediction.
    spad_conflict_predictor predictor (
        .clk(clk),
        .rst(rst),
        .clear(kernel_clear),
        .resolved_valid(resolved_valid),
        .resolved_occ(resolved_occ),
        .resolved_last(resolved_last),
        .resolved_pc(resolved_pc),
        .set_valid(take & (take_kind >= KIND_LOAD) & (take_kind <= KIND_STUL)),
        .set_pc(take_pc),
        .set_base(take_np),
        .hold(ex_hold),
        .mask(mask),
        .mask_lasts(mask_lasts),
        .mask_likely(mask_likely)
    );

    // EX: the path that the pass takes; data of idle lanes is 0.
    generate
        for (i = 0; i < L; i = i + 1) begin : lane
            assign ex_data[D*i +: D] = op_data[D*i +: D] & {D{op_mask[i]}};
        end
    endgenerate
    assign ex_mem = (cfg_pipeline == PIPELINE_UNIFIED)
        | ~((ex_kind == KIND_ALU) | (ex_kind == KIND_RELSSP));
    wire ex_ready = ex_mem ? mem_ready : nm_ready;
    assign ex_fire = ex_valid & ex_ready;
    assign ex_hold = ex_valid & ~ex_ready;

    // HX: banks, rows and locks.
    spad_hash_stage #(.HASH_RESET(HASH_RESET), .ROW_RESET(ROW_RESET)) hash_stage (
        .clk(clk),
        .rst(rst),
        .hash_wr_en(hash_wr_en),
        .hash_wr_index(hash_wr_index),
        .hash_wr_data(hash_wr_data),
        .row_wr_en(row_wr_en),
        .row_wr_index(row_wr_index),
        .row_wr_data(row_wr_data),
        .cfg_lock_hash(cfg_lock_hash),
        .in_valid(ex_valid & ex_mem),
        .in_ready(mem_ready),
        .in_ctl({ex_last, ex_pass, ex_pc, ex_tag, ex_kind, ex_warp}),
        .in_mask(op_mask),
        .in_addr(op_addr),
        .in_data(ex_data),
        .in_be(op_be),
        .in_aop(op_aop),
        .out_valid(pre_valid),
        .out_ready(pre_ready),
        .out_ctl(pre_ctl),
        .out_mask(pre_mask),
        .out_bank(pre_bank),
        .out_row(pre_row),
        .out_lock(pre_lock),
        .out_data(pre_data),
        .out_be(pre_be),
        .out_aop(pre_aop),
        .hx_valid(hx_valid)
    );

    // PREMEM: passes and atomics become requests.
    wire req_valid;
    wire req_ready;
    wire [2:0] req_op;
    wire [L-1:0] req_mask;
    wire [L*m-1:0] req_bank;
    wire [L*R-1:0] req_row;
    wire [L*LK-1:0] req_lock;
    wire [L*D-1:0] req_data;
    wire [L*DB-1:0] req_be;
    wire [TGW-1:0] req_tag;
    wire resp_valid;
    wire resp_ready;
    /* verilator lint_off UNUSEDSIGNAL */ // the kind in the tag implies it
    wire [2:0] resp_op;
    /* verilator lint_on UNUSEDSIGNAL */
    wire [L-1:0] resp_mask;
    wire [TGW-1:0] resp_tag;
    wire [L*D-1:0] resp_data;
    wire [L-1:0] resp_success;
    wire resp_error;
    wire [DG-1:0] resp_degree;
    wire sr_valid;
    spad_memory_entry memory_entry (
        .clk(clk),
        .rst(rst),
        .cfg_elastic(cfg_pipeline[1]),
        .take_atomic(take & (take_kind == KIND_ATOMIC)),
        .in_valid(pre_valid),
        .in_ready(pre_ready),
        .in_ctl(pre_ctl),
        .in_mask(pre_mask),
        .in_bank(pre_bank),
        .in_row(pre_row),
        .in_lock(pre_lock),
        .in_data(pre_data),
        .in_be(pre_be),
        .in_aop(pre_aop),
        .req_valid(req_valid),
        .req_ready(req_ready),
        .req_op(req_op),
        .req_mask(req_mask),
        .req_bank(req_bank),
        .req_row(req_row),
        .req_lock(req_lock),
        .req_data(req_data),
        .req_be(req_be),
        .req_tag(req_tag),
        .atom_infl(atom_infl),
        .sr_valid(sr_valid),
        .sr_mask(resp_mask),
        .sr_data(resp_data),
        .sr_success(resp_success),
        .sr_error(resp_error),
        .sr_degree(resp_degree),
        .seq_busy(seq_busy),
        .seq_state(seq_state),
        .pre_count(pre_count)
    );

    // MEM0 and on.
    wire busy_more;
    spad_scratchpad scratchpad (
        .clk(clk),
        .rst(rst),
        .req_valid(req_valid),
        .req_ready(req_ready),
        .req_op(req_op),
        .req_mask(req_mask),
        .req_bank(req_bank),
        .req_row(req_row),
        .req_lock(req_lock),
        .req_data(req_data),
        .req_be(req_be),
        .req_tag(req_tag),
        .resp_valid(resp_valid),
        .resp_ready(resp_ready),
        .resp_op(resp_op),
        .resp_mask(resp_mask),
        .resp_tag(resp_tag),
        .resp_data(resp_data),
        .resp_success(resp_success),
        .resp_error(resp_error),
        .resp_degree(resp_degree),
        .stages(stages),
        .busy_more(busy_more),
        .blocked(blocked)
    );
    always @(posedge clk) begin
        if (rst) mem0_valid_q <= 1'b0;
        else mem0_valid_q <= (req_valid & req_ready) | (mem0_valid_q & (busy_more | blocked));
    end

    // What answers.
    spad_memory_exit memory_exit (
        .clk(clk),
        .rst(rst),
        .resp_valid(resp_valid),
        .resp_ready(resp_ready),
        .resp_mask(resp_mask),
        .resp_tag(resp_tag),
        .resp_data(resp_data),
        .resp_success(resp_success),
        .resp_error(resp_error),
        .resp_degree(resp_degree),
        .sr_valid(sr_valid),
        .resolved_valid(resolved_valid),
        .resolved_occ(resolved_occ),
        .resolved_last(resolved_last),
        .resolved_pc(resolved_pc),
        .out_valid(last_valid),
        .out_ready(last_ready),
        .out_data(last_data)
    );

    // NONMEM: what goes past the memory stages.
    wire nm_out_valid;
    wire nm_out_ready;
    wire [NMW-1:0] nm_out;
    spad_nonmem_queue nonmem (
        .clk(clk),
        .rst(rst),
        .cfg_elastic(cfg_pipeline[1]),
        .in_valid(ex_valid & ~ex_mem),
        .in_data({ex_data, op_mask, ex_last, ex_pass, ex_kind, ex_tag, ex_warp}),
        .in_ready(nm_ready),
        .out_valid(nm_out_valid),
        .out_data(nm_out),
        .out_ready(nm_out_ready),
        .stage_valid(nm_valid)
    );

    // Data from off-chip, zero in idle lanes.
    wire [L*D-1:0] far_data;
    generate
        for (i = 0; i < L; i = i + 1) begin : far
            assign far_data[D*i +: D] = icn_data[D*i +: D] & {D{icn_mask[i]}};
        end
    endgenerate

    // The writeback port. Only accesses have a degree, an error and a success
    // mask.
    wire [WBW-NMW-1:0] no_access = 39'd0;
    spad_writeback_mux writeback (
        .clk(clk),
        .rst(rst),
        .icn_valid(icn_valid),
        .icn_data({no_access,
            {far_data, icn_mask, icn_last, icn_pass, KIND_GLOBAL, icn_tag, icn_warp}}),
        .icn_ready(icn_ready),
        .mem_valid(last_valid),
        .mem_data(last_data),
        .mem_ready(last_ready),
        .nm_valid(nm_out_valid),
        .nm_data({no_access, nm_out}),
        .nm_ready(nm_out_ready),
        .wb_valid(wb_valid),
        .wb_src(wb_src),
        .wb_data({wb_degree, wb_error, wb_success, wb_data, wb_mask, wb_last, wb_pass, wb_kind,
            wb_tag, wb_warp}),
        .wb_ready(wb_ready)
    );

    // Status.
    assign stall = ~ex_hold ? STALL_NONE
        : ~ex_mem ? STALL_WRITEBACK
        : seq_busy ? STALL_LOCK_RETRY
        : blocked ? STALL_WRITEBACK
        : STALL_BANK_CONFLICT;
    assign occ = {wb_valid, stages, mem0_valid_q, hx_valid, ex_valid};
endmodule

`default_nettype wire
