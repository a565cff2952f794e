{% set last_stage = M - 1 -%}
{% set has_stages = M > 4 -%}
// spad_memory_exit{% if has_stages %} with {{ M - 4 }} stages{% endif %}: answers leave as they came, in order, each once,
// however long the exit is closed (microarchitecture/memory-exit.md).
module miter #(parameter L = 2, parameter WW = 2, parameter D = 32, parameter DG = 2, parameter PW = 3, parameter PCW = 14,
               parameter LKG = 2, parameter W_resp_tag = 40, parameter W_out_data = 80, parameter W_resolved_occ = 3) (
    input wire clk,
    input wire rst,
    input wire resp_valid,
    input wire [L-1:0] resp_mask,
    input wire [W_resp_tag-1:0] resp_tag,
    input wire [L*D-1:0] resp_data,
    input wire [L-1:0] resp_success,
    input wire resp_error,
    input wire [DG-1:0] resp_degree,
    input wire out_ready,
    input wire mark,
{%- if has_stages %}
    output wire keep_stages, // as many stages are full as answers came in and did not leave
    output wire keep_marked, // the marked answer stands where it should
{%- endif %}
    output wire check_order, // every answer leaves in its turn and as it came
    output wire check_source, // something leaves exactly if it is there
    output wire check_ready, // an answer is taken if it is the sequencer's, or a stage or the exit is free
    output wire check_sequencer, // the sequencer's answers go to it, and nowhere else
    output wire check_cost, // the history hears of each pass of kinds 1 to 4 once, with its cost
    output wire check_hold, // what is offered and not taken stays
{%- if has_stages %}
    output wire check_stages, // the stages tell what they hold
    output wire cover_full, // {{ M - 1 }}: the marked answer leaves full stages
    output wire cover_bubble, // 6: an answer is taken while the exit is closed
{%- endif %}
    output wire cover_cost // 2: a lock operation of degree 2
);
    localparam TG = W_resp_tag - 2 - DG - WW - 4 - PCW - PW - 1;
    wire resp_ready, sr_valid, resolved_valid, resolved_last, out_valid;
    wire [W_resolved_occ-1:0] resolved_occ;
    wire [PCW-1:0] resolved_pc;
    wire [W_out_data-1:0] out_data;
{%- if has_stages %}
    wire [{{ M - 5 }}:0] mem_valid;
{%- endif %}
    spad_memory_exit unit (
        .clk(clk), .rst(rst), .resp_valid(resp_valid), .resp_ready(resp_ready), .resp_mask(resp_mask),
        .resp_tag(resp_tag), .resp_data(resp_data), .resp_success(resp_success), .resp_error(resp_error),
        .resp_degree(resp_degree), .sr_valid(sr_valid), .resolved_valid(resolved_valid), .resolved_occ(resolved_occ), .resolved_last(resolved_last), .resolved_pc(resolved_pc),
{%- if has_stages %}
        .mem_valid(mem_valid),
{%- endif %}
        .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
    );

    // The answer, by the layout of its tag: control, degree, error, source.
    wire source, tag_error, last;
    wire [DG-1:0] tag_degree;
    wire [WW-1:0] warp;
    wire [3:0] kind;
    wire [TG-1:0] tag;
    wire [PCW-1:0] pc;
    wire [PW-1:0] pass;
    assign {last, pass, pc, tag, kind, warp, tag_degree, tag_error, source} = resp_tag;
    wire [DG-1:0] degree = kind == 5 ? tag_degree : resp_degree;
    wire [W_out_data-1:0] payload = {degree, resp_error | tag_error, resp_success, resp_data, resp_mask, last, pass,
        kind, tag, warp};
    wire fire = resp_valid & resp_ready;
    wire take = fire & !source;
    wire give = out_valid & out_ready;
    wire locking = (kind == 3) | (kind == 4);
    wire [W_resolved_occ-1:0] cost = (resp_degree == 0 ? 1 : resp_degree) * (locking ? LKG : 1);

    reg was_rst, was_offered;
    reg [W_out_data-1:0] was_out;
    always @(posedge clk) begin
        was_rst <= rst;
        was_offered <= out_valid & !out_ready;
        was_out <= out_data;
    end
{%- if has_stages %}

    // Which stages are full, from the youngest; a stage moves on if one behind
    // it is free, or the exit.
    reg [{{ M - 5 }}:0] full;
    reg [{{ M - 4 }}:0] moves;
    integer k;
    always @* begin
        moves = 0;
        moves[{{ M - 4 }}] = out_ready;
        for (k = {{ M - 5 }}; k >= 0; k = k - 1) moves[k] = !full[k] | moves[k+1];
    end
    always @(posedge clk) begin
        if (rst) full <= 0;
        else for (k = 0; k < {{ M - 4 }}; k = k + 1)
            if (moves[k]) full[k] <= k == 0 ? take : full[k-1];
    end
    reg [3:0] inside;
    always @* begin
        inside = 0;
        for (k = 0; k < {{ M - 4 }}; k = k + 1) inside = inside + full[k];
    end

    // The marked answer, and how many are before it.
    reg marked;
    reg [3:0] ahead;
    reg [W_out_data-1:0] what;
    wire turn = marked & (ahead == 0);
    always @(posedge clk) begin
        if (rst) marked <= 0;
        else if (marked) begin
            if (give) ahead <= ahead - 1;
            if (give & turn) marked <= 0;
        end else if (take & mark) begin
            marked <= 1;
            ahead <= inside - give;
            what <= payload;
        end
    end
{%- for k in range(start=4, end=M) %}
    (* hierconn *) wire \unit.mem{{ k }}_valid_q ;
    (* hierconn *) wire [W_out_data-1:0] \unit.mem{{ k }}_q ;
{%- endfor %}
    reg in_place;
    reg [3:0] older;
    always @* begin
        in_place = 0;
        older = 0;
{%- for i in range(end=M - 4) %}{% set k = M - 1 - i %}
        if (full[{{ k - 4 }}] & (older == ahead) & ( \unit.mem{{ k }}_q == what)) in_place = 1;
        older = older + full[{{ k - 4 }}];
{%- endfor %}
    end
    assign keep_stages = 1
{%- for k in range(start=4, end=M) %}
        & ( \unit.mem{{ k }}_valid_q == full[{{ k - 4 }}])
{%- endfor %};
    assign keep_marked = !marked | in_place;
    assign check_order = !give | !turn | (out_data == what);
    assign check_source = out_valid == full[{{ M - 5 }}];
    assign check_ready = resp_ready == (source | moves[0]);
    assign check_hold = was_rst | !was_offered | (out_valid & (out_data == was_out));
    assign check_stages = mem_valid == full;
    assign cover_full = turn & give & (&full) & !rst;
    assign cover_bubble = take & !out_ready & out_valid & !rst;
{%- else %}
    // No stage: it passes in its cycle.
    assign check_order = !give | (take & (out_data == payload));
    assign check_source = out_valid == (resp_valid & !source);
    assign check_ready = resp_ready == (source | out_ready);
    assign check_hold = was_rst | !was_offered | !out_valid | (out_data == payload);
{%- endif %}
    assign check_sequencer = sr_valid == (resp_valid & source);
    assign check_cost = (resolved_valid == (take & (kind >= 1) & (kind <= 4)))
        & (!resolved_valid | ((resolved_occ == cost) & (resolved_last == last) & (resolved_pc == pc)));
    assign cover_cost = resolved_valid & (kind == 4) & (resp_degree == 2) & !rst;
endmodule
