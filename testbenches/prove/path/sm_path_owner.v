// spad_sm_path as a whole: no access to a shared part but by its owner. While
// an access is on its way, from its issue until it is written back, its block
// holds the shared part (microarchitecture/access-unit.md,
// microarchitecture/relssp.md and microarchitecture/issue.md). Threads access
// the shared part before they release it, exits and launches are those of
// microarchitecture/sm-path.md.
module miter #(parameter L = 2, parameter W = 2, parameter WW = 1, parameter WS = 4, parameter S = 2,
               parameter T = 2, parameter TW = 1, parameter PW = 3, parameter PCW = 14, parameter D = 32, parameter n = 9, parameter W_wb_tag = 8) (
    input wire clk,
    input wire rst,
    input wire [1:0] cfg_pipeline,
    input wire [1:0] cfg_barrel,
    input wire [1:0] cfg_policy,
    input wire cfg_aware,
    input wire cfg_violate,
    input wire [1:0] cfg_lock_hash,
    input wire cfg_sharing,
    input wire [n-1:0] cfg_limit,
    input wire kernel_clear,
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
    input wire [W_wb_tag*W-1:0] off_tag,
    input wire [PCW*W-1:0] off_pc,
    input wire [n*W-1:0] off_hi,
    input wire [L-1:0] op_mask,
    input wire [L*n-1:0] op_addr,
    input wire [L*D-1:0] op_data,
    input wire [L*D/8-1:0] op_be,
    input wire [3:0] op_aop,
    input wire icn_valid,
    input wire [WW-1:0] icn_warp,
    input wire [W_wb_tag-1:0] icn_tag,
    input wire [PW-1:0] icn_pass,
    input wire icn_last,
    input wire [L-1:0] icn_mask,
    input wire [L*D-1:0] icn_data,
    input wire wb_ready,
    input wire [WW-1:0] warp,
    input wire [$clog2(WS)-1:0] thread,
    output wire assume_static, // the configuration does not change
    output wire assume_one, // the warp and its thread that are followed stay
{%- if AHEAD > 0 %}
    output wire assume_stands, // an offer stands until it is taken
{%- endif %}
    output wire assume_launch, // a block starts in an empty slot, with a thread, and with no warp that has one
    output wire assume_exit, // threads exit when their warp has no access in flight{% if AHEAD > 0 %} and offers nothing{% endif %}
    output wire assume_counted, // an access is written back only if one was issued: check_counted of sm_path.v
    output wire keep_thread, // the thread is active, and has released, as was said
    output wire keep_live, // what the release unit shows is what has been said to it
    output wire keep_flight, // accesses are counted from the take, one cycle or more before they are issued
{%- if AHEAD > 1 %}
    output wire keep_picked, // what is qualified or picked is offered still, and a pick that is neither stale nor refused is allowed
{%- endif %}
    output wire keep_owner, // with an access of the thread in flight that needs the shared part, the block holds it
    output wire check_owner, // from the issue of an access to the shared part until it is written back, its block owns the part
    output wire cover_shared, // {% if AHEAD > 0 %}8{% else %}4{% endif %}: an access to the shared part is in flight
    output wire cover_passed // {% if AHEAD > 0 %}22{% else %}14{% endif %}: an access to the shared part is in flight, which the partner had
);
    wire iss_valid, iss_last, ex_hold, wb_valid, wb_last;
    wire [WW-1:0] iss_warp, wb_warp;
    wire [PW-1:0] iss_pass;
    wire [1:0] wb_src;
    wire [3:0] wb_kind;
    wire [T-1:0] live;
    wire [T/2-1:0] locked, owner;
    spad_sm_path unit (
        .clk(clk), .rst(rst), .kernel_clear(kernel_clear), .cfg_pipeline(cfg_pipeline), .cfg_barrel(cfg_barrel),
        .cfg_policy(cfg_policy), .cfg_aware(cfg_aware), .cfg_violate(cfg_violate), .cfg_lock_hash(cfg_lock_hash),
        .cfg_sharing(cfg_sharing), .cfg_limit(cfg_limit),
        .launch_valid(launch_valid), .launch_block(launch_block), .launch_shared(launch_shared),
        .launch_wmask(launch_wmask), .launch_last(launch_last),
        .exit_valid(exit_valid), .exit_warp(exit_warp), .exit_mask(exit_mask),
        .off_valid(off_valid), .off_kind(off_kind), .off_words(off_words), .off_tag(off_tag), .off_pc(off_pc),
        .off_hi(off_hi), .iss_valid(iss_valid), .iss_warp(iss_warp), .iss_pass(iss_pass), .iss_last(iss_last),
        .ex_hold(ex_hold), .op_mask(op_mask), .op_addr(op_addr), .op_data(op_data), .op_be(op_be), .op_aop(op_aop),
        .icn_valid(icn_valid), .icn_warp(icn_warp), .icn_tag(icn_tag), .icn_pass(icn_pass), .icn_last(icn_last),
        .icn_mask(icn_mask), .icn_data(icn_data), .wb_ready(wb_ready),
        .wb_valid(wb_valid), .wb_src(wb_src), .wb_warp(wb_warp), .wb_kind(wb_kind), .wb_last(wb_last),
        .live(live), .locked(locked), .owner(owner)
    );
    (* hierconn *) wire \unit.pass_issue.cur_valid_q , \unit.ex_valid , \unit.take ;
    (* hierconn *) wire [WW-1:0] \unit.pass_issue.cur_warp_q , \unit.ex_warp , \unit.take_warp ;
    (* hierconn *) wire [3:0] \unit.pass_issue.cur_kind_q , \unit.ex_kind ;
    (* hierconn *) wire [PW-1:0] \unit.pass_issue.cur_np_q , \unit.pass_issue.cur_next_q , \unit.ex_pass ;
    (* hierconn *) wire [W*WS-1:0] \unit.release_unit.active_q , \unit.release_unit.released_q ;
    (* hierconn *) wire [W*TW-1:0] \unit.warp_blk_q ;
    (* hierconn *) wire [T-1:0] \unit.access.sh_q ;
    (* hierconn *) wire [T/2-1:0] \unit.access.lk_q , \unit.access.own_q ;

    // -------------------------------------------------- the thread, its block
    reg active, released, shared;
    reg [TW-1:0] block;
    wire ex_fires = \unit.ex_valid & !ex_hold;
    wire relssp = ex_fires & ( \unit.ex_kind == 7) & ( \unit.ex_warp == warp) & ( \unit.ex_pass == thread / L)
        & op_mask[thread % L];
    wire highest = (launch_wmask >> warp) == 1;
    always @(posedge clk) begin
        if (rst) active <= 0;
        else if (launch_valid & launch_wmask[warp]) begin
            active <= !highest | launch_last[thread];
            released <= 0;
            shared <= launch_shared;
            block <= launch_block;
        end else begin
            if (exit_valid & (exit_warp == warp) & exit_mask[thread]) active <= 0;
            if (relssp) released <= 1;
        end
    end
    assign keep_thread = (active == \unit.release_unit.active_q [warp*WS+thread])
        & (!active | ((released == \unit.release_unit.released_q [warp*WS+thread])
            & (block == \unit.warp_blk_q [warp*TW +: TW]) & (shared == \unit.access.sh_q [block])));

    // What lives and has released, by what each thread has said.
    reg [T-1:0] alive, done;
    integer w, i;
    always @* begin
        alive = 0;
        done = {T{1'b1}};
        for (w = 0; w < W; w = w + 1)
            for (i = 0; i < WS; i = i + 1)
                if ( \unit.release_unit.active_q [w*WS+i]) begin
                    alive[ \unit.warp_blk_q [w*TW +: TW]] = 1;
                    if (! \unit.release_unit.released_q [w*WS+i]) done[ \unit.warp_blk_q [w*TW +: TW]] = 0;
                end
    end
    reg [T-1:0] was_live;
    always @(posedge clk) was_live <= rst ? 0 : live | (launch_valid << launch_block);
{%- if AHEAD > 0 %}
    (* hierconn *) wire [T-1:0] \unit.release_register.live , \unit.release_register.rel_done ;
    assign keep_live = ( \unit.release_register.live == alive) & ( \unit.release_register.rel_done == done)
        & ((alive & ~was_live) == 0);
{%- else %}
    assign keep_live = (alive & ~was_live) == 0;
{%- endif %}

    // ------------------------------------------------- accesses of the warp
    function is_mem(input [3:0] kind);
        is_mem = (kind != 0) & (kind != 7);
    endfunction
    wire [3:0] kind = off_kind[4*warp +: 4];
    wire starts = iss_valid & (iss_pass == 0) & (iss_warp == warp);
    wire ends = wb_valid & wb_ready & wb_last & (wb_src != 0) & (wb_warp == warp) & is_mem(wb_kind);
    reg [3:0] flight;
    always @(posedge clk) begin
        if (rst) flight <= 0;
        else flight <= flight + (starts & is_mem(kind)) - ends;
    end
{%- for w in range(end=W) %}
    (* hierconn *) wire [3:0] \unit.eligibility.warp[{{ w }}].infl_m_q ;
{%- endfor %}
    wire [4*W-1:0] all_m;
{%- for w in range(end=W) %}
    assign all_m[{{ 4 * w }} +: 4] = \unit.eligibility.warp[{{ w }}].infl_m_q ;
{%- endfor %}
    wire [3:0] infl_m = all_m[4*warp +: 4];
    wire comes = \unit.pass_issue.cur_valid_q & ( \unit.pass_issue.cur_warp_q == warp);
    wire cur_first = \unit.pass_issue.cur_next_q == 0;
    wire cur_release = comes & ( \unit.pass_issue.cur_kind_q == 7);
    wire ex_release = \unit.ex_valid & ( \unit.ex_kind == 7) & ( \unit.ex_warp == warp);
    wire taken = comes & cur_first; // and not issued yet
    // A release waits for the accesses before it, and they for it.
    assign keep_flight = (infl_m == flight + (taken & is_mem(kind)))
        & (!(cur_release | ex_release) | (infl_m == 0)) & (!comes | !cur_first | !ex_release)
        & (! \unit.pass_issue.cur_valid_q | (( \unit.pass_issue.cur_next_q <= \unit.pass_issue.cur_np_q )
            & (( \unit.pass_issue.cur_kind_q != 7) | ( \unit.pass_issue.cur_np_q < S))))
        & (! \unit.ex_valid | ( \unit.ex_kind != 7) | ( \unit.ex_pass < S))
{%- if AHEAD > 0 %}
        & (!taken | (off_valid[warp] & ( \unit.pass_issue.cur_kind_q == kind)));
{%- else %}
        & ! taken;
{%- endif %}

    // --------------------------------------------- an access that needs it
    wire needs = cfg_sharing & shared & off_valid[warp] & (kind >= 1) & (kind <= 5) & (off_hi[n*warp +: n] >= cfg_limit);
    wire exits = exit_valid & (exit_warp == warp);
{%- if AHEAD > 0 %}
    // An access is the thread's if it lived when its warp began to offer it.
    reg waits, was_its;
    wire its = waits ? was_its : active;
    always @(posedge clk) begin
        waits <= off_valid[warp] & !starts & !rst;
        was_its <= its;
    end
    wire may = active & !released & its;
{%- else %}
    wire may = active & !released & !(exits & exit_mask[thread]);
{%- endif %}
    reg taken_needs, issued_needs;
    wire holds = taken_needs & (infl_m != 0);
    wire inside = issued_needs & (flight != 0);
    wire owns = \unit.access.lk_q [block / 2] & ( \unit.access.own_q [block / 2] == block % 2);
    always @(posedge clk) begin
        taken_needs <= !rst & (( \unit.take & ( \unit.take_warp == warp) & needs & may) | holds);
        issued_needs <= !rst & ((starts & needs & may) | inside);
    end
    assign keep_owner = (!holds | (may & owns)) & (!inside | holds){% if AHEAD > 0 %} & (!(taken & needs & may) | holds)
        & (!(waits & was_its) | active){% endif %};
    wire owned = locked[block / 2] & (owner[block / 2] == block % 2);
{%- if AHEAD > 0 %}
    assign check_owner = rst | !(inside | (starts & needs & may)) | owned;
{%- else %}
    // It takes the part at the end of the cycle in which it is issued.
    assign check_owner = rst | !inside | owned;
{%- endif %}
    reg partner_had;
    always @(posedge clk) partner_had <= !rst & active & (partner_had | (locked[block / 2] & !owned));
    assign cover_shared = inside & !rst;
    assign cover_passed = inside & partner_had & !rst;
{%- if AHEAD > 1 %}

    // ------------------------------------- what is qualified, what is picked
    (* hierconn *) wire [W-1:0] \unit.issue_select.qualified_ready_q , \unit.issue_select.qualified_shared_q , \unit.allow ;
{%- if AHEAD == 3 %}
    (* hierconn *) wire [W-1:0] \unit.issue_select.qualified_wait_q , \unit.issue_select.qualified_viol_q ;
{%- endif %}
    (* hierconn *) wire [T/2-1:0] \unit.issue_select.was_locked_q , \unit.issue_select.was_owner_q ;
    (* hierconn *) wire \unit.issue_select.was_changed_q ;
{%- if AHEAD == 3 %}
    (* hierconn *) wire [W-1:0] \unit.issue_select.pk_q ;
    (* hierconn *) wire \unit.issue_select.pk_valid_q ;
    wire [W-1:0] pk = \unit.issue_select.pk_q ;
    wire one_picked = ((pk & (pk - 1)) == 0) & ( \unit.issue_select.pk_valid_q == (pk != 0));
    wire bound = \unit.issue_select.qualified_ready_q [warp] | pk[warp];
    wire goes = pk[warp];
{%- else %}
    wire one_picked = 1;
    wire bound = \unit.issue_select.qualified_ready_q [warp];
    wire goes = bound; // if the scheduler picks it
{%- endif %}
    wire stale = \unit.issue_select.was_changed_q | ( \unit.issue_select.was_locked_q != locked)
        | ( \unit.issue_select.was_owner_q != owner);
{%- if AHEAD == 3 %}
    wire refused = \unit.issue_select.qualified_wait_q [warp] | \unit.issue_select.qualified_viol_q [warp];
{%- endif %}
    assign keep_picked = one_picked
        & (!bound | (off_valid[warp] & !taken & !cur_release & !ex_release & (infl_m != 15) & ((kind != 7) | (infl_m == 0))
            & ( \unit.issue_select.qualified_shared_q [warp] == ((kind >= 1) & (kind <= 5)))))
        & (!(goes & needs & may) | stale | {% if AHEAD == 3 %}refused | {% endif %}\unit.allow [warp]);
{%- endif %}

    // ------------------------------------------------------- the neighbours
    reg was_sharing;
    reg [n-1:0] was_limit;
    reg [WW-1:0] was_warp;
    reg [$clog2(WS)-1:0] was_thread;
    always @(posedge clk) begin
        was_sharing <= cfg_sharing;
        was_limit <= cfg_limit;
        was_warp <= warp;
        was_thread <= thread;
    end
    assign assume_static = (cfg_sharing == was_sharing) & (cfg_limit == was_limit);
    assign assume_one = (warp == was_warp) & (thread == was_thread) & (warp < W);
    assign assume_counted = !ends | (infl_m != (taken & is_mem(kind)));
    wire several = (launch_wmask & (launch_wmask - 1'b1)) != 0;
    reg apart;
    always @* begin
        apart = 1;
        for (w = 0; w < W; w = w + 1)
            if (launch_wmask[w] & ( \unit.release_unit.active_q [w*WS +: WS] != 0)) apart = 0;
    end
    assign assume_launch = !launch_valid | ((launch_block < T) & !was_live[launch_block] & (launch_wmask != 0)
        & (several | (launch_last != 0)) & apart);
    assign assume_exit = !exits | ((flight == 0){% if AHEAD > 0 %} & !off_valid[warp]{% endif %});
{%- if AHEAD > 0 %}
    reg [3:0] was_kind;
    reg [n-1:0] was_hi;
    always @(posedge clk) begin
        was_kind <= kind;
        was_hi <= off_hi[n*warp +: n];
    end
    assign assume_stands = !waits | (off_valid[warp] & (kind == was_kind) & (off_hi[n*warp +: n] == was_hi));
{%- endif %}
endmodule
