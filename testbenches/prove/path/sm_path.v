// spad_sm_path as a whole: what is issued is written back, each pass once and
// as it went, in the order of its way, whatever the neighbours do. Passes are
// looked for in every place where one can stand, from the writeback port back
// to EX (microarchitecture/issue.md, microarchitecture/pipelines.md and
// microarchitecture/memory-entry.md).
module miter #(parameter L = 2, parameter W = 2, parameter WW = 1, parameter WS = 4, parameter T = 2, parameter TW = 1,
               parameter PW = 3, parameter PCW = 14, parameter DG = 2, parameter D = 32, parameter n = 9, parameter LK = 5,
               parameter NQ = 4, parameter PQ = 1, parameter S = 2,
               parameter LKG = 2, parameter W_wb_tag = 8) (
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
    input wire [1:0] way,
    input wire [WW-1:0] warp,
    input wire mark,
    output wire assume_static, // the configuration does not change
    output wire assume_one, // the way and the warp that are followed stay
{%- if AHEAD > 0 %}
    output wire assume_stands, // an offer stands until it is taken
{%- endif %}
    output wire keep_current, // the passes that are to come are those of the instruction that was offered
    output wire keep_ways, // passes stand where their kind goes
    output wire keep_inside, // the places hold as many passes of the way as were issued and not written back
    output wire keep_marked, // the marked pass stands behind those that were before it
    output wire keep_flight, // the counters of instructions in flight are exact
    output wire keep_picked, // what is qualified or picked may go by what is in flight
{%- if LOCKS > 0 %}
    output wire keep_atomic, // the passes of one atomic are on their way to the retry loop, its last one behind the others
    output wire keep_asked, // the sequencer's own request is inside while it waits for the answer, and at no other time
{%- endif %}
    output wire keep_due, // the cycles that were waited for a result, and those that it is away, are few enough
    output wire check_passes, // an instruction that was offered is issued pass by pass, nothing between them
    output wire check_order, // any pass is written back as it went, behind exactly those of its way that were before it
    output wire check_source, // nothing is written back that was not issued
    output wire check_counted, // an access is written back only if its warp has one in flight that was issued
    output wire check_held, // while a pass is held in EX, none is issued
    output wire check_strict, // strict: a warp has one instruction in flight
    output wire check_commit, // with in-order commit, a warp has instructions of one class in flight
    output wire check_fence, // a release takes effect when its warp has no access in flight
{%- if LOCKS > 0 %}
    output wire check_atomic, // one atomic instruction at a time, and its passes find room in their queue
{%- endif %}
    output wire check_moves, // no deadlock: while a pass is inside that is no atomic, a result comes within MOST cycles with an open exit
{%- if LOCKS > 0 %}
    output wire cover_atomic, // 23: a marked atomic is written back
{%- endif %}
    output wire cover_behind // 14: the marked pass is written back, which went behind three others
);
    localparam TG = W_wb_tag;
    localparam CTL = 1 + PW + PCW + TG + 4 + WW;
    localparam ID = L + 1 + PW + 4 + TG + WW;
    wire iss_valid, iss_last, ex_hold, wb_valid;
    wire [WW-1:0] iss_warp;
    wire [PW-1:0] iss_pass;
    wire [1:0] wb_src;
    wire [ID-1:0] wb_id;
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
        .wb_valid(wb_valid), .wb_src(wb_src), .wb_warp(wb_id[0 +: WW]), .wb_tag(wb_id[WW +: TG]),
        .wb_kind(wb_id[WW+TG +: 4]), .wb_pass(wb_id[WW+TG+4 +: PW]), .wb_last(wb_id[WW+TG+4+PW]),
        .wb_mask(wb_id[ID-1 -: L])
    );

    // A pass is told by what is written back with it: mask, last, pass, kind,
    // tag, warp. Its way: 0 memory path, 1 atomics, 2 beside the memory path.
    function [ID-1:0] of_ctl(input [CTL-1:0] ctl, input [L-1:0] mask);
        of_ctl = {mask, ctl[CTL-1 -: 1 + PW], ctl[WW +: 4], ctl[WW+4 +: TG], ctl[0 +: WW]};
    endfunction
    function [3:0] kind_of(input [ID-1:0] id);
        kind_of = id[WW+TG +: 4];
    endfunction
    function is_mem(input [3:0] kind);
        is_mem = (kind != 0) & (kind != 7);
    endfunction
    function [1:0] way_of(input [3:0] kind, input unified);
        way_of = !unified & !is_mem(kind) ? 2{% if LOCKS > 0 %} : kind == 5 ? 1{% endif %} : 0;
    endfunction
    wire unified = cfg_pipeline == 0;

    // ------------------------------------------------ places, oldest lowest
    (* hierconn *) wire \unit.pass_issue.cur_valid_q , \unit.ex_valid , \unit.ex_last ;
    (* hierconn *) wire [WW-1:0] \unit.pass_issue.cur_warp_q , \unit.ex_warp ;
    (* hierconn *) wire [3:0] \unit.pass_issue.cur_kind_q , \unit.ex_kind ;
    (* hierconn *) wire [TG-1:0] \unit.pass_issue.cur_tag_q , \unit.ex_tag ;
    (* hierconn *) wire [PW-1:0] \unit.pass_issue.cur_np_q , \unit.pass_issue.cur_next_q , \unit.ex_pass ;
    localparam NM = L * D + ID;
    (* hierconn *) wire [NQ-1:0] \unit.nonmem.valid_q ;
    (* hierconn *) wire [NQ*NM-1:0] \unit.nonmem.data_q ;
    localparam TGW = CTL + DG + 2;
    (* hierconn *) wire \unit.scratchpad.arbiter.busy_q ;
    (* hierconn *) wire [TGW-1:0] \unit.scratchpad.mem0_tag_q ;
    (* hierconn *) wire [L-1:0] \unit.scratchpad.mem0_mask_q ;
{%- for k in range(start=1, end=MS) %}
    (* hierconn *) wire \unit.scratchpad.mem{{ k }}_valid_q , \unit.scratchpad.mem{{ k }}_last_q ;
    (* hierconn *) wire [TGW-1:0] \unit.scratchpad.mem{{ k }}_tag_q ;
    (* hierconn *) wire [L-1:0] \unit.scratchpad.mem{{ k }}_mask_q ;
{%- endfor %}
    localparam WB = 1 + DG + L + L * D + ID;
    (* hierconn *) wire \unit.writeback.first_valid_q , \unit.writeback.second_valid_q ;
    (* hierconn *) wire [1:0] \unit.writeback.first_src_q , \unit.writeback.second_src_q ;
    (* hierconn *) wire [WB-1:0] \unit.writeback.first_q , \unit.writeback.second_q ;
    localparam HELD = $clog2(PQ + 1);
    localparam PRE = CTL + L + L * n + L * LK + L * D + L * D / 8 + 4;
    (* hierconn *) wire [HELD-1:0] \unit.memory_entry.premem.held_q ;
    (* hierconn *) wire [PQ*PRE-1:0] \unit.memory_entry.premem.entry_q ;
    wire [PQ*PRE-1:0] premem = \unit.memory_entry.premem.entry_q ;
    (* hierconn *) wire \unit.scratchpad.arbiter.last_q , \unit.seq_busy ;
{%- if AHEAD > 0 %}
    (* hierconn *) wire \unit.writeback.turn_q ;
{%- endif %}
{%- if LOCKS > 0 %}
    (* hierconn *) wire \unit.atom_infl , \unit.scratchpad.mem0_locking_q ;
    (* hierconn *) wire \unit.memory_entry.sequencer.sent_q , \unit.memory_entry.sequencer.got_q ;
    (* hierconn *) wire \unit.memory_entry.sequencer.asking_q ;
    (* hierconn *) wire [L-1:0] \unit.memory_entry.sequencer.asks_q ;
{%- if LKG > 1 %}
    (* hierconn *) wire [$clog2(LKG)-1:0] \unit.scratchpad.mem0_window_q ;
{%- endif %}
    (* hierconn *) wire [HELD-1:0] \unit.memory_entry.atomics.held_q ;
    (* hierconn *) wire [PQ*PRE-1:0] \unit.memory_entry.atomics.entry_q ;
    wire [PQ*PRE-1:0] atomics = \unit.memory_entry.atomics.entry_q ;
    (* hierconn *) wire [2:0] \unit.memory_entry.sequencer.state_q ;
    (* hierconn *) wire [TGW-1:0] \unit.memory_entry.sequencer.tag_q ;
    (* hierconn *) wire [L-1:0] \unit.memory_entry.sequencer.mask0_q ;
{%- endif %}
    wire [NQ*NM-1:0] nonmem = \unit.nonmem.data_q ;
    localparam P = 3 + {{ MS }} + NQ + {% if LOCKS > 0 %}2 * PQ + 1{% else %}PQ{% endif %};
    localparam HX = P - 1 - NQ; // the oldest place of NONMEM
    wire [P-1:0] there;
    wire [P*ID-1:0] ids;
    assign there[0] = \unit.writeback.first_valid_q & ( \unit.writeback.first_src_q != 0);
    assign ids[0 +: ID] = \unit.writeback.first_q ;
    assign there[1] = \unit.writeback.second_valid_q & ( \unit.writeback.second_src_q != 0);
    assign ids[ID +: ID] = \unit.writeback.second_q ;
    // Only an access's last group is its answer; answers of the sequencer's own
    // requests (source 1) are no passes.
{%- for k in range(start=1, end=MS) %}
    assign there[{{ 1 + MS - k }}] = \unit.scratchpad.mem{{ k }}_valid_q & \unit.scratchpad.mem{{ k }}_last_q
        & ! \unit.scratchpad.mem{{ k }}_tag_q [0];
    assign ids[{{ 1 + MS - k }}*ID +: ID] = of_ctl( \unit.scratchpad.mem{{ k }}_tag_q [TGW-1 -: CTL],
        \unit.scratchpad.mem{{ k }}_mask_q );
{%- endfor %}
    assign there[{{ 1 + MS }}] = \unit.scratchpad.arbiter.busy_q & ! \unit.scratchpad.mem0_tag_q [0];
    assign ids[{{ 1 + MS }}*ID +: ID] = of_ctl( \unit.scratchpad.mem0_tag_q [TGW-1 -: CTL], \unit.scratchpad.mem0_mask_q );
{%- if LOCKS > 0 %}
    assign there[{{ 2 + MS }}] = \unit.memory_entry.sequencer.state_q != 0;
    assign ids[{{ 2 + MS }}*ID +: ID] = of_ctl( \unit.memory_entry.sequencer.tag_q [TGW-1 -: CTL],
        \unit.memory_entry.sequencer.mask0_q );
    localparam AQ = 3 + {{ MS }};
    localparam PM = AQ + PQ;
{%- else %}
    localparam PM = 2 + {{ MS }};
{%- endif %}
    genvar g;
    generate
        for (g = 0; g < PQ; g = g + 1) begin : queued
            assign there[PM+g] = \unit.memory_entry.premem.held_q > g;
            assign ids[(PM+g)*ID +: ID] = of_ctl(premem[g*PRE +: CTL], premem[g*PRE+CTL +: L]);
{%- if LOCKS > 0 %}
            assign there[AQ+g] = \unit.memory_entry.atomics.held_q > g;
            assign ids[(AQ+g)*ID +: ID] = of_ctl(atomics[g*PRE +: CTL], atomics[g*PRE+CTL +: L]);
{%- endif %}
        end
        for (g = 0; g < NQ; g = g + 1) begin : beside
            assign there[HX+g] = \unit.nonmem.valid_q [NQ-1-g];
            assign ids[(HX+g)*ID +: ID] = nonmem[(NQ-1-g)*NM +: ID];
        end
    endgenerate
    assign there[P-1] = \unit.ex_valid ;
    assign ids[(P-1)*ID +: ID] = {op_mask, \unit.ex_last , \unit.ex_pass , \unit.ex_kind , \unit.ex_tag , \unit.ex_warp };

    // ------------------------- the instruction whose passes are being issued
    reg [3:0] open_kind;
    reg [TG-1:0] open_tag;
    reg [WW-1:0] open_warp;
    reg [PW-1:0] open_np, open_next;
    reg open;
    wire starts = iss_valid & (iss_pass == 0);
    wire [3:0] kind_now = starts ? off_kind[4*iss_warp +: 4] : open_kind;
    wire [TG-1:0] tag_now = starts ? off_tag[TG*iss_warp +: TG] : open_tag;
    function [PW-1:0] np_of(input [3:0] kind, input [1:0] words);
        np_of = S * ((kind == 1) | (kind == 2) ? (words == 1 ? 2 : words == 2 ? 4 : 1) : 1) - 1;
    endfunction
    wire [PW-1:0] np_now = starts ? np_of(kind_now, off_words[2*iss_warp +: 2]) : open_np;
    always @(posedge clk) begin
        if (rst) open <= 0;
        else if (iss_valid) begin
            open <= !iss_last;
            open_warp <= iss_warp;
            open_kind <= kind_now;
            open_tag <= tag_now;
            open_np <= np_now;
            open_next <= iss_pass + 1;
        end
    end
    wire cur_within = \unit.pass_issue.cur_next_q <= \unit.pass_issue.cur_np_q ;
    wire cur_first = \unit.pass_issue.cur_next_q == 0;
    wire cur_as_open = open & (open_warp == \unit.pass_issue.cur_warp_q ) & (open_kind == \unit.pass_issue.cur_kind_q )
        & (open_tag == \unit.pass_issue.cur_tag_q ) & (open_np == \unit.pass_issue.cur_np_q )
        & (open_next == \unit.pass_issue.cur_next_q );
    wire cur_as_offered = !open & off_valid[ \unit.pass_issue.cur_warp_q ]
        & (off_kind[4* \unit.pass_issue.cur_warp_q +: 4] == \unit.pass_issue.cur_kind_q )
        & (off_tag[TG* \unit.pass_issue.cur_warp_q +: TG] == \unit.pass_issue.cur_tag_q )
        & (np_of( \unit.pass_issue.cur_kind_q , off_words[2* \unit.pass_issue.cur_warp_q +: 2]) == \unit.pass_issue.cur_np_q );
{%- if AHEAD == 0 %}
    assign keep_current = \unit.pass_issue.cur_valid_q ? cur_within & !cur_first & cur_as_open : !open;
{%- else %}
    assign keep_current = \unit.pass_issue.cur_valid_q ? cur_within & (cur_first ? cur_as_offered : cur_as_open) : !open;
{%- endif %}
    assign check_passes = !iss_valid | ((starts ? off_valid[iss_warp] & !open
        : open & (iss_warp == open_warp) & (iss_pass == open_next)) & (iss_last == (iss_pass == np_now)));
    assign check_held = !iss_valid | !ex_hold;

    // -------------------------------------------------------- what is inside
    wire given = wb_valid & wb_ready & (wb_src != 0);
    wire way_in = iss_valid & (way_of(kind_now, unified) == way);
    wire way_out = given & (way_of(kind_of(wb_id), unified) == way);
    reg [4:0] inside;
    always @(posedge clk) begin
        if (rst) inside <= 0;
        else inside <= inside + way_in - way_out;
    end
    assign check_source = !way_out | (inside != 0);

    // The marked pass, and how many of its way are before it.
    reg marked, in_ex;
    reg [4:0] ahead;
    reg [ID-1:0] what;
    wire turn = marked & (ahead == 0);
    reg behind;
    always @(posedge clk) begin
        if (rst) marked <= 0;
        else if (marked) begin
            if (way_out) ahead <= ahead - 1;
            if (way_out & turn) marked <= 0;
        end else if (way_in & mark) begin
            marked <= 1;
            ahead <= inside - way_out;
            behind <= inside - way_out >= 3;
            what[ID-L-1:0] <= {iss_last, iss_pass, kind_now, tag_now, iss_warp};
        end
        in_ex <= !rst & (marked ? in_ex & ex_hold : way_in & mark);
        // The mask is that of the last cycle in EX.
        if (marked & in_ex) what[ID-1 -: L] <= op_mask;
    end
    assign check_order = !(way_out & turn) | ((wb_id == what) & !in_ex);
    assign cover_behind = way_out & turn & behind & !rst;
{%- if LOCKS > 0 %}
    assign cover_atomic = way_out & turn & (way == 1) & wb_id[ID-1] & !rst;
{%- endif %}

    reg in_place, in_way;
    reg [4:0] older;
    reg [3:0] mem, other; // instructions of the warp whose last pass is there
    reg [ID-1:0] id;
    integer k;
    always @* begin
        in_place = 0;
        in_way = 1;
        older = 0;
        mem = 0;
        other = 0;
        for (k = 0; k < P; k = k + 1) begin
            id = ids[k*ID +: ID];
            if (there[k] & (way_of(kind_of(id), unified) == way)) begin
                if ((older == ahead) & (in_ex == (k == P-1)) & (id[ID-L-1:0] == what[ID-L-1:0])
                    & (in_ex | (id == what))) in_place = 1;
                older = older + 1;
            end
            if (there[k] & (id[0 +: WW] == warp) & id[WW+TG+4+PW]) begin
                if (is_mem(kind_of(id))) mem = mem + 1;
                else other = other + 1;
            end
            if (there[k]) begin
                if ((k >= HX) & (k < P-1) & (way_of(kind_of(id), unified) != 2)) in_way = 0;
                if ((k >= 2) & (k < HX) & (way_of(kind_of(id), unified) == 2)) in_way = 0;
{%- if LOCKS > 0 %}
                if ((k >= AQ-1) & (k < PM) & (kind_of(id) != 5)) in_way = 0;
{%- endif %}
            end
        end
    end
    // The second result stands behind a first; the sequencer has a state that
    // there is, and a tag without source.
    assign keep_ways = in_way & (! \unit.writeback.second_valid_q | \unit.writeback.first_valid_q ){% if LOCKS > 0 %} & (( \unit.memory_entry.sequencer.state_q == 0)
        | (( \unit.memory_entry.sequencer.state_q <= 5) & ! \unit.memory_entry.sequencer.tag_q [0])){% endif %};
    assign keep_inside = older == inside;
    assign keep_marked = !marked | in_place;

{%- if LOCKS > 0 %}

    // ------------------------------------------------------------- atomics
    reg [4:0] passes;
    reg ended, in_line;
    integer a;
    always @* begin
        passes = 0;
        ended = 0;
        in_line = 1;
        for (a = AQ-1; a < P; a = a + 1) if (there[a] & (kind_of(ids[a*ID +: ID]) == 5)) begin
            passes = passes + 1;
            if (ended) in_line = 0;
            ended = ids[a*ID+WW+TG+4+PW];
        end
    end
    wire cur_atomic = \unit.pass_issue.cur_valid_q & ( \unit.pass_issue.cur_kind_q == 5);
    wire [4:0] to_come = cur_atomic ? \unit.pass_issue.cur_np_q - \unit.pass_issue.cur_next_q + 1 : 0;
    assign check_atomic = passes + to_come <= ( \unit.atom_infl ? S : 0);
    assign keep_atomic = check_atomic & in_line & (!ended | !cur_atomic);
    // The sequencer's own request, by the places where it may be.
    wire [{{ MS - 1 }}:0] own = {
{%- for k in range(start=1, end=MS) %}
        \unit.scratchpad.mem{{ k }}_valid_q & \unit.scratchpad.mem{{ k }}_last_q & \unit.scratchpad.mem{{ k }}_tag_q [0],
{%- endfor %}
        \unit.scratchpad.arbiter.busy_q & \unit.scratchpad.mem0_tag_q [0]};
    wire locking = ( \unit.memory_entry.sequencer.state_q == 1) | ( \unit.memory_entry.sequencer.state_q == 3);
    wire asks_for_own = locking & ! \unit.memory_entry.sequencer.sent_q ;
    wire waits_for_own = locking & \unit.memory_entry.sequencer.sent_q & ! \unit.memory_entry.sequencer.got_q ;
    assign keep_asked = ((own & (own - 1)) == 0) & ((own == 0) | waits_for_own)
        & ( \unit.memory_entry.sequencer.sent_q | ! \unit.memory_entry.sequencer.got_q )
        & ( \unit.memory_entry.sequencer.asking_q == (asks_for_own | ( \unit.memory_entry.sequencer.state_q == 5)))
        & (asks_for_own | ( \unit.memory_entry.sequencer.asks_q == 0));
{%- endif %}

    // --------------------------------------------------------- no deadlock
    // How many cycles that count the next result is away at most: of the passes in
    // the scratchpad and behind it, of the next one for it, and of those beside.
    // `GROUPS`: cycles that an access is in MEM0.
    localparam GROUPS = L * LKG;
    localparam MOST = 2 + {{ MS }} + 3 * GROUPS + 1 + PQ * (GROUPS + 2);
{%- if AHEAD > 0 %}
    wire lost = \unit.writeback.turn_q ; // a cycle may be the off-chip port's
{%- else %}
    wire lost = 0;
{%- endif %}
{%- if LOCKS > 0 %}
    wire [5:0] windows = ! \unit.scratchpad.mem0_locking_q ? 1 : LKG;
{%- if LKG > 1 %}
    wire [5:0] window = ! \unit.scratchpad.mem0_locking_q ? 0 : \unit.scratchpad.mem0_window_q ;
{%- else %}
    wire [5:0] window = 0;
{%- endif %}
{%- else %}
    wire [5:0] windows = 1;
    wire [5:0] window = 0;
{%- endif %}
    wire [5:0] in_mem0 = ! \unit.scratchpad.arbiter.busy_q ? 0
        : ( \unit.scratchpad.arbiter.last_q ? windows : L * windows) - window;
    reg [5:0] due, one;
    reg [2:0] atoms;
    reg found;
    integer r;
    always @* begin
        due = there[0] ? 1 : there[1] ? 2 : 63;
        for (r = {{ MS }}; r >= 2; r = r - 1) if (there[r] & (r + lost < due)) due = r + lost;
        if (there[{{ 1 + MS }}] & ({{ MS }} + lost + in_mem0 < due)) due = {{ MS }} + lost + in_mem0;
        found = 0;
        atoms = 0;
        for (r = PM; r <= PM + PQ; r = r + 1) if (!found & there[r < PM + PQ ? r : P-1]) begin
            one = way_of(kind_of(ids[(r < PM + PQ ? r : P-1)*ID +: ID]), unified);
            if (one == 1) atoms = atoms + 1;
            found = one == 0;
        end
        one = {{ 1 + MS }} + lost + GROUPS + in_mem0 + ( \unit.seq_busy ? 1 + GROUPS : 0) + atoms * (2 + GROUPS);
        if (found & (one < due)) due = one;
        for (r = HX; r < P; r = r + 1)
            if (there[r] & (way_of(kind_of(ids[r*ID +: ID]), unified) == 2) & (2 + lost + r - HX < due))
                due = 2 + lost + r - HX;
    end
    wire waited_for = (inside != 0) & (way != 1);
    reg [5:0] still;
    always @(posedge clk) begin
        if (rst | given | !waited_for) still <= 0;
        else if (wb_ready & !icn_valid & !(wb_valid & (wb_src == 0))) still <= still + 1;
    end
    assign keep_due = waited_for ? still + due <= MOST : still == 0;
    assign check_moves = still < MOST;

    // ------------------------------------- instructions in flight of the warp
{%- for w in range(end=W) %}
    (* hierconn *) wire [3:0] \unit.eligibility.warp[{{ w }}].infl_m_q , \unit.eligibility.warp[{{ w }}].infl_n_q ;
{%- endfor %}
    wire [4*W-1:0] all_m;
    wire [4*W-1:0] all_n;
{%- for w in range(end=W) %}
    assign all_m[{{ 4 * w }} +: 4] = \unit.eligibility.warp[{{ w }}].infl_m_q ;
    assign all_n[{{ 4 * w }} +: 4] = \unit.eligibility.warp[{{ w }}].infl_n_q ;
{%- endfor %}
    wire [3:0] infl_m = all_m[4*warp +: 4];
    wire [3:0] infl_n = all_n[4*warp +: 4];
    wire comes = \unit.pass_issue.cur_valid_q & ( \unit.pass_issue.cur_warp_q == warp);
    assign keep_flight = (infl_m == mem + (comes & is_mem( \unit.pass_issue.cur_kind_q )))
        & (infl_n == other + (comes & !is_mem( \unit.pass_issue.cur_kind_q )));

    assign check_counted = !(given & wb_id[WW+TG+4+PW] & is_mem(kind_of(wb_id)) & (wb_id[0 +: WW] == warp))
        | (infl_m != (comes & cur_first & is_mem( \unit.pass_issue.cur_kind_q )));

    // What is qualified or picked is offered still, and what it was qualified by
    // is so still.
    wire strict = cfg_barrel == 0;
    wire in_order = cfg_barrel[1];
    wire [3:0] offered = off_kind[4*warp +: 4];
    wire may = (!strict | ((infl_m == 0) & (infl_n == 0)))
        & (!in_order | (is_mem(offered) ? infl_n == 0 : infl_m == 0)) & ((offered != 7) | (infl_m == 0));
    wire ex_releases = \unit.ex_valid & ( \unit.ex_kind == 7) & ( \unit.ex_warp == warp);
    wire releases = (comes & ( \unit.pass_issue.cur_kind_q == 7)) | ex_releases;
    wire fenced = !releases | (infl_m == 0);
    wire one_class = !in_order | (infl_m == 0) | (infl_n == 0);
    wire one_strict = !strict | ((infl_m <= 1) & (infl_n <= 1) & !(infl_m[0] & infl_n[0]));
{%- if AHEAD > 1 %}
    (* hierconn *) wire [W-1:0] \unit.issue_select.qualified_ready_q ;
{%- if AHEAD == 3 %}
    (* hierconn *) wire [W-1:0] \unit.issue_select.pk_q ;
    (* hierconn *) wire \unit.issue_select.pk_valid_q ;
    wire [W-1:0] bound = \unit.issue_select.qualified_ready_q | \unit.issue_select.pk_q ;
{%- else %}
    wire [W-1:0] bound = \unit.issue_select.qualified_ready_q ;
{%- endif %}
{%- if LOCKS > 0 %}
    (* hierconn *) wire [W-1:0] \unit.issue_select.qualified_atomic_q ;
    wire [W-1:0] atomic_offers;
{%- for w in range(end=W) %}
    assign atomic_offers[{{ w }}] = off_kind[{{ 4 * w }} +: 4] == 5;
{%- endfor %}
{%- endif %}
    wire [W-1:0] on_its_way = \unit.pass_issue.cur_valid_q & (cur_first | ( \unit.pass_issue.cur_kind_q == 7))
        ? 1 << \unit.pass_issue.cur_warp_q : 0;
    wire [W-1:0] releasing = \unit.ex_valid & ( \unit.ex_kind == 7) ? 1 << \unit.ex_warp : 0;
    assign keep_picked = fenced & one_class & one_strict
{%- if AHEAD == 3 %}
        & ( \unit.issue_select.pk_valid_q == ( \unit.issue_select.pk_q != 0))
        & (( \unit.issue_select.pk_q & ( \unit.issue_select.pk_q - 1)) == 0)
{%- endif %}
{% if LOCKS > 0 %}
        & ((bound & ( \unit.issue_select.qualified_atomic_q ^ atomic_offers)) == 0){% endif %}
        & ((bound & ~(off_valid & ~on_its_way & ~releasing)) == 0) & (!bound[warp] | may);
{%- else %}
    assign keep_picked = fenced & one_class & one_strict;
{%- endif %}
    assign check_strict = one_strict;
    assign check_commit = one_class;
    assign check_fence = fenced;

    // ------------------------------------------------------- the neighbours
    reg was_rst;
    reg [1:0] was_pipeline, was_barrel, was_way;
    reg [WW-1:0] was_warp;
    always @(posedge clk) begin
        was_rst <= rst;
        was_pipeline <= cfg_pipeline;
        was_barrel <= cfg_barrel;
        was_way <= way;
        was_warp <= warp;
    end
    assign assume_static = (cfg_pipeline == was_pipeline) & (cfg_barrel == was_barrel);
    assign assume_one = (way == was_way) & (warp == was_warp) & (way != 3) & (warp < W);
{%- if AHEAD > 0 %}
    reg [W-1:0] waits;
    reg [4*W-1:0] was_kind;
    reg [2*W-1:0] was_words;
    reg [TG*W-1:0] was_tag;
    integer w;
    reg stands;
    always @(posedge clk) begin
        waits <= off_valid & ~(starts << iss_warp) & {W{!rst}};
        was_kind <= off_kind;
        was_words <= off_words;
        was_tag <= off_tag;
    end
    always @* begin
        stands = 1;
        for (w = 0; w < W; w = w + 1)
            if (waits[w] & !(off_valid[w] & (off_kind[4*w +: 4] == was_kind[4*w +: 4])
                & (off_words[2*w +: 2] == was_words[2*w +: 2]) & (off_tag[TG*w +: TG] == was_tag[TG*w +: TG])))
                stands = 0;
    end
    assign assume_stands = stands;
{%- endif %}
endmodule
