// spad_writeback_mux: each result that is taken is the next one in the
// writeback port, and the priorities are kept
// (microarchitecture/writeback-mux.md). The buffer holds two; the older one is
// shown. AHEAD > 0: data from off-chip have every second of the cycles with
// room.
module miter #(parameter W_wb_data = 8, parameter AHEAD = 0) (
    input wire clk,
    input wire rst,
    input wire icn_valid,
    input wire mem_valid,
    input wire nm_valid,
    input wire [W_wb_data-1:0] icn_data,
    input wire [W_wb_data-1:0] mem_data,
    input wire [W_wb_data-1:0] nm_data,
    input wire wb_ready,
    output wire keep_second, // two results at most; the one behind the one that is shown
    output wire keep_first, // the one that is shown
    output wire keep_turn, // whose turn it is; who waited in a cycle with room is next
    output wire check_one, // at most one source is granted
    output wire check_grant, // a source is granted whenever there is room and one asks whose turn it is, whatever wb_ready is
    output wire check_icn, // data from off-chip never waits for another source; with turns for one result at most
    output wire check_fair, // nor does another source wait, with turns, for more than one of the data from off-chip
    output wire check_priority, // a source that waits where there is room waits for an older one
    output wire check_next, // what is granted is shown behind what was granted before it, as it came
    output wire check_empty, // nothing is shown but what was granted
    output wire cover_icn, // 4: all ask, the data from off-chip is written
    output wire cover_mem, // 3: the memory's result is written, another behind it
    output wire cover_nm, // 3: the other path's result is written
    output wire cover_stall, // 4: a result waits
    output wire cover_full // 5: two results wait, and another asks
);
    wire icn_ready, mem_ready, nm_ready, wb_valid;
    wire [1:0] wb_src;
    wire [W_wb_data-1:0] wb_data;
    spad_writeback_mux unit (
        .clk(clk), .rst(rst),
        .icn_valid(icn_valid), .icn_data(icn_data), .icn_ready(icn_ready),
        .mem_valid(mem_valid), .mem_data(mem_data), .mem_ready(mem_ready),
        .nm_valid(nm_valid), .nm_data(nm_data), .nm_ready(nm_ready),
        .wb_valid(wb_valid), .wb_src(wb_src), .wb_data(wb_data), .wb_ready(wb_ready)
    );
    wire icn = icn_valid & icn_ready;
    wire mem = mem_valid & mem_ready;
    wire nm = nm_valid & nm_ready;
    wire granted = icn | mem | nm;
    wire [1:0] src = icn ? 0 : mem ? 1 : 2;
    wire [W_wb_data-1:0] data = icn ? icn_data : mem ? mem_data : nm_data;
    wire out = wb_valid & wb_ready;

    // What was granted and has not left, in its order.
    reg [1:0] count;
    reg [1:0] src0, src1;
    reg [W_wb_data-1:0] data0, data1;
    wire room = count != 2;
    wire [1:0] stay = count - out;
    reg was_rst, was_icn, was_mem, was_nm;
    always @(posedge clk) begin
        was_rst <= rst;
        {was_icn, was_mem, was_nm} <= {icn, mem, nm};
        if (rst) count <= 0;
        else begin
            count <= stay + granted;
            if (out) {src0, data0} <= {src1, data1};
            if (granted & (stay == 0)) {src0, data0} <= {src, data};
            if (granted & (stay == 1)) {src1, data1} <= {src, data};
        end
    end
    (* hierconn *) wire \unit.second_valid_q ;
    (* hierconn *) wire [1:0] \unit.second_src_q ;
    (* hierconn *) wire [W_wb_data-1:0] \unit.second_q ;
    assign keep_second = (count <= 2) & (\unit.second_valid_q == (count == 2))
        & (! \unit.second_valid_q | ((\unit.second_src_q == src1) & (\unit.second_q == data1)));

    assign keep_first = (wb_valid == (count != 0)) & (wb_valid ? (wb_src == src0) & (wb_data == data0)
        : (wb_src == 0) & (wb_data == 0));

    // Whose turn a cycle is. Without turns data from off-chip go first. `passed`
    // counts the cycles with room in which they waited, `yielded` those in
    // which nothing else was granted though it asked.
    reg turn;
    reg [1:0] passed, yielded;
    wire far = AHEAD > 0 ? turn : icn_valid;
    always @(posedge clk) begin
        if (rst) begin
            turn <= 0;
            passed <= 0;
            yielded <= 0;
        end else begin
            if (room) turn <= icn_valid & !turn;
            if (!icn_valid | icn) passed <= 0;
            else if (room & (passed != 3)) passed <= passed + 1;
            if (!(mem_valid | nm_valid) | mem | nm) yielded <= 0;
            else if (room & (yielded != 3)) yielded <= yielded + 1;
        end
    end
{%- if AHEAD > 0 %}
    (* hierconn *) wire \unit.turn_q ;
    assign keep_turn = (\unit.turn_q == turn) & (passed <= turn) & (yielded <= !turn);
{%- else %}
    assign keep_turn = 1;
{%- endif %}

    assign check_one = !(icn & mem) & !(icn & nm) & !(mem & nm);
    assign check_grant = granted == (room & (far ? icn_valid : mem_valid | nm_valid));
    assign check_icn = AHEAD > 0 ? (icn_ready == (room & turn)) & (passed <= 1) : icn_ready == room;
    assign check_fair = (AHEAD == 0) | (yielded <= 1);
    assign check_priority = !room | (
        (!mem_valid | mem | far) & (!nm_valid | nm | far | mem_valid));
    assign check_next = (count == 0) | (wb_valid & (wb_src == src0) & (wb_data == data0));
    assign check_empty = (wb_valid == (count != 0)) & (wb_valid | ((wb_src == 0) & (wb_data == 0)))
        & (!was_rst | !wb_valid);
    assign cover_icn = was_icn & mem_valid & nm_valid & wb_valid & (wb_src == 0) & !rst;
    assign cover_mem = was_mem & icn & !rst;
    assign cover_nm = was_nm & wb_valid & mem_valid & !rst;
    assign cover_stall = wb_valid & !wb_ready & (count == 1) & icn_valid & !rst;
    assign cover_full = (count == 2) & mem_valid & !wb_ready & !rst;
endmodule
