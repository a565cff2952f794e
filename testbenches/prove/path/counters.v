// spad_counters: any one counter has counted the events of its kind since it
// was last cleared or set, each once: its low four bits
// (microarchitecture/counters.md).
module miter #(parameter DG = 3) (
    input wire clk,
    input wire rst,
    input wire clear,
    input wire iss_valid,
    input wire [1:0] stall,
    input wire masked,
    input wire [2:0] seq_state,
    input wire wb_valid,
    input wire wb_ready,
    input wire [1:0] wb_src,
    input wire [3:0] wb_kind,
    input wire [DG-1:0] wb_degree,
    input wire wr_en,
    input wire [3:0] wr_index,
    input wire [31:0] wr_data,
    input wire [3:0] rd_index,
    input wire [3:0] seen,
    output wire assume_one, // any one counter is looked at
    output wire keep_count, // it has what was counted up to the cycle before the last
    output wire keep_added, // and what the last cycle adds is on its way
    output wire keep_shown, // what is shown is what was asked for
    output wire check_count, // the counter asked for is shown, as it was
    output wire check_none, // an index without a counter shows 0
    output wire cover_degree, // 6: a sum of two degrees
    output wire cover_round, // 7: two rounds
    output wire cover_clear // 6: a clear forgets
);
    wire [31:0] rd_count;
    spad_counters unit (
        .clk(clk), .rst(rst), .clear(clear), .iss_valid(iss_valid), .stall(stall), .masked(masked),
        .seq_state(seq_state), .wb_valid(wb_valid), .wb_ready(wb_ready), .wb_src(wb_src), .wb_kind(wb_kind),
        .wb_degree(wb_degree), .wr_en(wr_en), .wr_index(wr_index), .wr_data(wr_data),
        .rd_index(rd_index), .rd_count(rd_count)
    );
    (* hierconn *) wire [9:0] \unit.seen_q ;
    (* hierconn *) wire [DG-1:0] \unit.degree_q ;
    (* hierconn *) wire \unit.was_read_q ;
    (* hierconn *) wire [31:0] \unit.counter[0].count_q , \unit.counter[1].count_q , \unit.counter[2].count_q ,
        \unit.counter[3].count_q , \unit.counter[4].count_q , \unit.counter[5].count_q , \unit.counter[6].count_q ,
        \unit.counter[7].count_q , \unit.counter[8].count_q , \unit.counter[9].count_q ;
    wire [32*16-1:0] counts = { 192'd0, \unit.counter[9].count_q , \unit.counter[8].count_q , \unit.counter[7].count_q ,
        \unit.counter[6].count_q , \unit.counter[5].count_q , \unit.counter[4].count_q , \unit.counter[3].count_q ,
        \unit.counter[2].count_q , \unit.counter[1].count_q , \unit.counter[0].count_q };

    reg [3:0] which;
    always @(posedge clk) which <= seen;
    assign assume_one = which == seen;

    // What a cycle adds to the counter that is looked at.
    reg was_read;
    wire read = seq_state == 1;
    wire memory = wb_valid & wb_ready & (wb_src == 1);
    wire access = memory & (wb_kind >= 1) & (wb_kind <= 4);
    reg [DG-1:0] adds;
    always @* begin
        case (which)
            0: adds = 1;
            1: adds = iss_valid;
            2: adds = access;
            3: adds = access ? wb_degree : 0;
            4: adds = stall == 1;
            5: adds = stall == 2;
            6: adds = stall == 3;
            7: adds = masked;
            8: adds = read & !was_read;
            9: adds = memory & (wb_kind == 5);
            default: adds = 0;
        endcase
    end
    // Up to the cycle before the last, and what the last one adds.
    reg [3:0] total;
    reg [DG-1:0] added;
    reg was_rst, was_clear, was_asked, was_none;
    reg [3:0] was_total;
    always @(posedge clk) begin
        if (rst) begin
            was_read <= 0;
            total <= 0;
            added <= 0;
        end else begin
            was_read <= read;
            total <= clear ? 0 : wr_en & (wr_index == which) & (which < 10) ? wr_data[3:0] : total + added;
            added <= clear ? 0 : adds;
        end
        was_rst <= rst;
        was_clear <= clear & !rst & (total != 0);
        was_asked <= rd_index == which;
        was_none <= rd_index > 9;
        was_total <= total;
    end
    assign keep_count = (which > 9 ? 0 : counts[32*which +: 4]) == total;
    assign keep_added = (\unit.was_read_q == was_read) & ((which > 9) ? added == 0
        : added == (\unit.seen_q [which] ? (which == 3 ? \unit.degree_q : 1) : 0));
    (* hierconn *) wire [31:0] \unit.shown_q ;
    assign keep_shown = was_rst ? \unit.shown_q == 0
        : (!was_asked | (\unit.shown_q [3:0] == was_total)) & (!was_none | (\unit.shown_q == 0));
    assign check_count = was_rst ? rd_count == 0 : !was_asked | (rd_count[3:0] == was_total);
    assign check_none = was_rst | !was_none | (rd_count == 0);
    assign cover_degree = (which == 3) & was_asked & (rd_count[3:0] == 5) & !rst;
    assign cover_round = (which == 8) & was_asked & (rd_count[3:0] == 2) & !rst;
    assign cover_clear = was_clear & (total == 0) & !rst;
endmodule
