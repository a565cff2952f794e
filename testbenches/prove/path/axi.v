// spad_axi: each burst becomes the requests that AXI defines, in order, and each
// beat is answered once, in order (microarchitecture/axi.md). What is inside is kept
// a second time: bursts as they were offered, with the number of the next beat.
module miter #(parameter n = 9, parameter D = 32, parameter XA = 12, parameter XID = 1) (
    input wire clk,
    input wire rst,
    input wire axi_awvalid, axi_wvalid, axi_wlast, axi_bready, axi_arvalid, axi_rready,
    input wire [XID-1:0] axi_awid, axi_arid,
    input wire [XA-1:0] axi_awaddr, axi_araddr,
    input wire [7:0] axi_awlen, axi_arlen,
    input wire [2:0] axi_awsize, axi_arsize,
    input wire [1:0] axi_awburst, axi_arburst,
    input wire [D-1:0] axi_wdata,
    input wire [D/8-1:0] axi_wstrb,
    input wire tcdm_gnt, tcdm_r_valid, tcdm_r_opc,
    input wire [D-1:0] tcdm_r_rdata,
    output wire keep_write, // the write bursts inside
    output wire keep_read, // the read bursts inside
    output wire keep_data, // the write data that wait
    output wire keep_order, // the requests that are not answered
    output wire keep_answers, // the answers at R and B, and what the beats of a write have said so far
    output wire keep_counts, // room is kept for the answer of each request
    output wire keep_request, // the request to the memory
    output wire check_address, // a request is for the word of its beat; one that is refused writes no byte
    output wire check_held, // a request stays until it is granted
    output wire check_bytes, // a write writes its bytes, with its data
    output wire check_room, // there is room for the answer of the memory
    output wire check_read, // R has the word, the answer and the last beat of each read in its turn
    output wire check_written, // B has the answers of all beats of each write, once, in its turn
    output wire check_stays, // an answer stays until it is taken
    output wire check_goes, // a beat that can go goes: a read, a write with its data, by turns if both can
    output wire check_idle, // idle exactly if nothing is inside
    output wire cover_wrap, // 5: the second beat of a burst wraps to a lower address
    output wire cover_refused, // 6: a read of an address that there is not is answered
    output wire cover_late, // 7: a write is answered with an error of its first beat
    output wire cover_both // 5: a read and a write can go in one cycle
);
    localparam DB = D/8, BW = XID+XA+13, OW = XID+4, RW = XID+D+3, WW = XID+2;
    wire axi_awready, axi_wready, axi_bvalid, axi_arready, axi_rvalid, axi_rlast, tcdm_req, tcdm_wen, idle;
    wire [XID-1:0] axi_bid, axi_rid;
    wire [1:0] axi_bresp, axi_rresp;
    wire [D-1:0] axi_rdata, tcdm_wdata;
    wire [n-1:0] tcdm_add;
    wire [DB-1:0] tcdm_be;
    spad_axi unit (
        .clk(clk), .rst(rst), .axi_awvalid(axi_awvalid), .axi_awid(axi_awid), .axi_awaddr(axi_awaddr), .axi_awlen(axi_awlen),
        .axi_awsize(axi_awsize), .axi_awburst(axi_awburst), .axi_awready(axi_awready), .axi_wvalid(axi_wvalid),
        .axi_wdata(axi_wdata), .axi_wstrb(axi_wstrb), .axi_wlast(axi_wlast), .axi_wready(axi_wready),
        .axi_bvalid(axi_bvalid), .axi_bready(axi_bready), .axi_bid(axi_bid), .axi_bresp(axi_bresp),
        .axi_arvalid(axi_arvalid), .axi_arid(axi_arid), .axi_araddr(axi_araddr), .axi_arlen(axi_arlen),
        .axi_arsize(axi_arsize), .axi_arburst(axi_arburst), .axi_arready(axi_arready), .axi_rvalid(axi_rvalid),
        .axi_rready(axi_rready), .axi_rid(axi_rid), .axi_rdata(axi_rdata), .axi_rresp(axi_rresp), .axi_rlast(axi_rlast),
        .tcdm_req(tcdm_req), .tcdm_add(tcdm_add), .tcdm_wen(tcdm_wen), .tcdm_wdata(tcdm_wdata), .tcdm_be(tcdm_be),
        .tcdm_gnt(tcdm_gnt), .tcdm_r_valid(tcdm_r_valid), .tcdm_r_rdata(tcdm_r_rdata), .tcdm_r_opc(tcdm_r_opc), .idle(idle)
    );
{%- for c in ["write", "read"] %}
    (* hierconn *) wire \unit.{{ c }}.busy_q , \unit.{{ c }}.bad_q ,
        \unit.{{ c }}.requests.first_valid_q , \unit.{{ c }}.requests.second_valid_q ;
    (* hierconn *) wire [BW-1:0] \unit.{{ c }}.requests.first_q , \unit.{{ c }}.requests.second_q ;
    (* hierconn *) wire [XID-1:0] \unit.{{ c }}.id_q ;
    (* hierconn *) wire [XA-1:0] \unit.{{ c }}.addr_q ;
    (* hierconn *) wire [7:0] \unit.{{ c }}.left_q ;
    (* hierconn *) wire [1:0] \unit.{{ c }}.ones_q ;
    (* hierconn *) wire [6:0] \unit.{{ c }}.mask_q ;
    wire {{ c }}_goes, {{ c }}_some, {{ c }}_last;
    wire [XID-1:0] {{ c }}_id;
    wire [n-1:0] {{ c }}_add;
    wire [1:0] {{ c }}_refused;
    wire [7:0] {{ c }}_beat;
    bursts #(.n(n), .XA(XA), .XID(XID), .BW(BW)) {{ c }} (
        .clk(clk), .rst(rst),
{%- if c == "write" %}
        .enters(axi_awvalid & axi_awready), .entry({axi_awid, axi_awaddr, axi_awlen, axi_awsize, axi_awburst}),
{%- else %}
        .enters(axi_arvalid & axi_arready), .entry({axi_arid, axi_araddr, axi_arlen, axi_arsize, axi_arburst}),
{%- endif %}
        .goes({{ c }}_goes), .busy(\unit.{{ c }}.busy_q ), .bad(\unit.{{ c }}.bad_q ),
        .first_valid(\unit.{{ c }}.requests.first_valid_q ), .second_valid(\unit.{{ c }}.requests.second_valid_q ),
        .first(\unit.{{ c }}.requests.first_q ), .second(\unit.{{ c }}.requests.second_q ),
        .unit_id(\unit.{{ c }}.id_q ), .addr(\unit.{{ c }}.addr_q ), .left(\unit.{{ c }}.left_q ),
        .ones(\unit.{{ c }}.ones_q ), .mask(\unit.{{ c }}.mask_q ),
        .keep(keep_{{ c }}), .some({{ c }}_some), .id({{ c }}_id), .add({{ c }}_add), .last({{ c }}_last),
        .refused({{ c }}_refused), .beat({{ c }}_beat)
    );
{%- endfor %}
    wire write_busy = \unit.write.busy_q , read_busy = \unit.read.busy_q ;

    // The write data that wait.
    (* hierconn *) wire \unit.write_data.first_valid_q , \unit.write_data.second_valid_q ;
    (* hierconn *) wire [D+DB:0] \unit.write_data.first_q , \unit.write_data.second_q ;
    wire [1:0] data_count;
    wire [D+DB:0] data0, data1;
    wire [DB-1:0] strobe;
    wire [D-1:0] word;
    wire wlast;
    assign {strobe, word, wlast} = data0;
    pair #(.W(D+DB+1)) data (
        .clk(clk), .rst(rst), .push(axi_wvalid & axi_wready), .in({axi_wstrb, axi_wdata, axi_wlast}), .pop(write_goes),
        .count(data_count), .first(data0), .second(data1)
    );
    assign keep_data = (data_count <= 2) & ({ \unit.write_data.second_valid_q , \unit.write_data.first_valid_q }
            == (data_count == 0 ? 2'b00 : data_count == 1 ? 2'b01 : 2'b11))
        & ((data_count == 0) | ( \unit.write_data.first_q == data0)) & ((data_count != 2) | ( \unit.write_data.second_q == data1));

    // Three queues: what is not answered, R, B.
    wire [1:0] order_count, r_count, b_count;
    wire [OW-1:0] order0, order1;
    wire [RW-1:0] r0, r1;
    wire [WW-1:0] b0, b1;
    wire [1:0] code_in = (write_goes ? write_refused : read_refused) | {write_goes & (wlast != write_last), 1'b0};
    wire [OW-1:0] order_in = {write_goes ? write_id : read_id, code_in, write_goes ? write_last : read_last, write_goes};
    wire answers = tcdm_r_valid & (order_count != 0);
    wire [XID-1:0] of_id;
    wire [1:0] of_code;
    wire of_last, of_write;
    assign {of_id, of_code, of_last, of_write} = order0;
    wire [1:0] code = of_code | {tcdm_r_opc, 1'b0};
    reg [1:0] failed;
    wire [1:0] all = failed | code;
    wire r_in = answers & !of_write, b_in = answers & of_write & of_last;
    wire r_out = axi_rvalid & axi_rready, b_out = axi_bvalid & axi_bready;
    pair #(.W(OW)) order (.clk(clk), .rst(rst), .push(write_goes | read_goes), .in(order_in), .pop(answers),
        .count(order_count), .first(order0), .second(order1));
    pair #(.W(RW)) r (.clk(clk), .rst(rst), .push(r_in), .in({of_id, code == 0 ? tcdm_r_rdata : {D{1'b0}}, code, of_last}),
        .pop(r_out), .count(r_count), .first(r0), .second(r1));
    pair #(.W(WW)) b (.clk(clk), .rst(rst), .push(b_in), .in({of_id, all}), .pop(b_out), .count(b_count), .first(b0), .second(b1));
    always @(posedge clk)
        if (rst) failed <= 0;
        else if (answers & of_write) failed <= of_last ? 2'd0 : all;
{%- for q in [["order", "order", "OW"], ["read_answers", "r", "RW"], ["write_answers", "b", "WW"]] %}
    (* hierconn *) wire [1:0] \unit.{{ q[0] }}.held_q ;
    (* hierconn *) wire [2*{{ q[2] }}-1:0] \unit.{{ q[0] }}.entry_q ;
    wire same_{{ q[1] }} = ({{ q[1] }}_count <= 2) & ( \unit.{{ q[0] }}.held_q == ({{ q[1] }}_count == 0 ? 2'b00 : {{ q[1] }}_count == 1 ? 2'b01 : 2'b11))
        & (({{ q[1] }}_count == 0) | ( \unit.{{ q[0] }}.entry_q [{{ q[2] }}-1:0] == {{ q[1] }}0))
        & (({{ q[1] }}_count != 2) | ( \unit.{{ q[0] }}.entry_q [2*{{ q[2] }}-1:{{ q[2] }}] == {{ q[1] }}1));
{%- endfor %}
    (* hierconn *) wire [1:0] \unit.failed_q , \unit.reads_q , \unit.writes_q ;
    (* hierconn *) wire \unit.turn_q , \unit.write_next , \unit.read_next ;
    // There is no answer 1.
    assign keep_order = same_order & ((order_count == 0) | (order0[3:2] != 1)) & ((order_count != 2) | (order1[3:2] != 1));
    assign keep_answers = same_r & same_b & ( \unit.failed_q == failed);
    wire is_read0 = (order_count != 0) & !order0[0], is_read1 = (order_count == 2) & !order1[0];
    wire is_last0 = (order_count != 0) & order0[0] & order0[1], is_last1 = (order_count == 2) & order1[0] & order1[1];
    wire [2:0] due_r = r_count + is_read0 + is_read1, due_b = b_count + is_last0 + is_last1;
    assign keep_counts = (due_r <= 2) & (due_b <= 2) & ( \unit.reads_q == due_r) & ( \unit.writes_q == due_b);

    // Which beat goes. By turns: the one that did not go last, if both can.
    reg turn;
    wire free = !tcdm_req | tcdm_gnt;
    wire can_write = free & write_busy & (data_count != 0) & (due_b < 2) & (order_count < 2);
    wire can_read = free & read_busy & (due_r < 2) & (order_count < 2);
    assign write_goes = can_write & !(can_read & turn);
    assign read_goes = can_read & !(can_write & !turn);
    always @(posedge clk)
        if (rst) turn <= 0;
        else if (write_goes | read_goes) turn <= write_goes;

    // The request.
    reg req, wen;
    reg [n-1:0] add;
    reg [DB-1:0] be;
    reg [D-1:0] wdata;
    wire [1:0] refused = write_goes ? write_refused : read_refused;
    always @(posedge clk)
        if (rst) {req, wen, add, be, wdata} <= 0;
        else if (free) begin
            req <= write_goes | read_goes;
            wen <= read_goes & (refused == 0);
            add <= (write_goes | read_goes) & (refused == 0) ? (write_goes ? write_add : read_add) : {n{1'b0}};
            be <= refused != 0 ? {DB{1'b0}} : write_goes ? strobe : {DB{read_goes}};
            wdata <= write_goes ? word : {D{1'b0}};
        end
    wire place = (tcdm_req == req) & (tcdm_wen == wen) & (tcdm_add == add);
    wire bytes = (tcdm_be == be) & (tcdm_wdata == wdata);
    assign keep_request = place & bytes & ( \unit.turn_q == turn);
    assign check_address = place;
    assign check_bytes = bytes;

    reg was_rst, was_waiting, was_r, was_b;
    reg [n+DB+D:0] was_request;
    reg [RW-1:0] was_read;
    reg [WW-1:0] was_written;
    always @(posedge clk) begin
        was_rst <= rst;
        was_waiting <= tcdm_req & !tcdm_gnt;
        was_request <= {tcdm_add, tcdm_wen, tcdm_be, tcdm_wdata};
        was_r <= axi_rvalid & !axi_rready;
        was_b <= axi_bvalid & !axi_bready;
        was_read <= {axi_rid, axi_rdata, axi_rresp, axi_rlast};
        was_written <= {axi_bid, axi_bresp};
    end
    assign check_held = was_rst | !was_waiting | (tcdm_req & ({tcdm_add, tcdm_wen, tcdm_be, tcdm_wdata} == was_request));
    assign check_stays = was_rst | ((!was_r | (axi_rvalid & ({axi_rid, axi_rdata, axi_rresp, axi_rlast} == was_read)))
        & (!was_b | (axi_bvalid & ({axi_bid, axi_bresp} == was_written))));
    (* hierconn *) wire \unit.is_read , \unit.write_ends ;
    assign check_room = !( \unit.is_read & \unit.read_answers.held_q [1]) & !( \unit.write_ends & \unit.write_answers.held_q [1]);
    assign check_read = (axi_rvalid == (r_count != 0)) & ({axi_rid, axi_rdata, axi_rresp, axi_rlast} == (r_count != 0 ? r0 : 0));
    assign check_written = (axi_bvalid == (b_count != 0)) & ({axi_bid, axi_bresp} == (b_count != 0 ? b0 : 0));
    assign check_goes = ( \unit.write_next == write_goes) & ( \unit.read_next == read_goes);
    assign check_idle = idle == !(write_some | read_some | (data_count != 0) | (order_count != 0) | (r_count != 0) | (b_count != 0));

    reg [n-1:0] before;
    always @(posedge clk) before <= read_add;
    assign cover_wrap = !rst & read_goes & (read_beat == 1) & (refused == 0) & (read_add + 4'd8 < before) & tcdm_req & tcdm_wen;
    assign cover_refused = !rst & axi_rvalid & (axi_rresp == 3) & axi_rlast;
    reg was_late;
    always @(posedge clk) was_late <= b_in & (failed == 2) & (code == 0);
    assign cover_late = !rst & was_late & axi_bvalid & (axi_bresp == 2);
    assign cover_both = !rst & can_read & can_write & turn;
endmodule

// The bursts inside, the oldest first, as they were offered.
module bursts #(parameter n = 9, parameter XA = 12, parameter XID = 1, parameter BW = 26) (
    input wire clk, rst, enters, goes, busy, bad, first_valid, second_valid,
    input wire [BW-1:0] entry, first, second,
    input wire [XID-1:0] unit_id,
    input wire [XA-1:0] addr,
    input wire [7:0] left,
    input wire [1:0] ones,
    input wire [6:0] mask,
    output wire keep, some, last,
    output wire [XID-1:0] id,
    output wire [n-1:0] add,
    output wire [1:0] refused,
    output reg [7:0] beat
);
    reg [1:0] count;
    reg [BW-1:0] q0, q1, q2;
    wire [XA-1:0] start;
    wire [7:0] len;
    wire [2:0] size;
    wire [1:0] kind;
    assign {id, start, len, size, kind} = q0;
    assign last = beat == len;
    assign some = count != 0;
    wire leaves = goes & last;
    wire [1:0] stay = count - leaves;
    always @(posedge clk)
        if (rst) begin
            count <= 0;
            beat <= 0;
        end else begin
            count <= stay + enters;
            if (leaves) {q0, q1} <= {q1, q2};
            if (enters & (stay == 0)) q0 <= entry;
            if (enters & (stay == 1)) q1 <= entry;
            if (enters & (stay == 2)) q2 <= entry;
            beat <= leaves ? 8'd0 : beat + goes;
        end

    // As AXI defines it: bytes of a beat and of the burst, and where a beat is.
    wire [11:0] bytes = 12'd1 << size;
    wire [11:0] total = (len + 12'd1) << size;
    wire [11:0] offset = {4'd0, beat} << size;
    wire [11:0] low = start[11:0];
    wire [11:0] at = kind == 0 ? low
        : kind == 2 ? (low & ~(total - 12'd1)) | ((low + offset) & (total - 12'd1))
        : beat == 0 ? low : (low & ~(bytes - 12'd1)) + offset;
    wire power = (len == 1) | (len == 3) | (len == 7) | (len == 15);
    wire legal = (kind != 3) & (size <= 2) & ((kind != 2) | (power & ((low & (bytes - 12'd1)) == 0)));
    wire [XA-1:0] place;
{%- if XA > 12 %}
    assign place = {start[XA-1:12], at};
{%- else %}
    assign place = at;
{%- endif %}
    assign add = place >> 2;
    assign refused = !legal ? 2'd2 : (place >> (n + 2)) != 0 ? 2'd3 : 2'd0;

    wire [11:0] changes = kind == 0 ? 12'd0 : kind == 2 ? total - 12'd1 : 12'hfff;
    wire shape = (bad == !legal) & (bad | ((addr == place) & (ones == bytes - 12'd1)
        & ({ {5{mask[6]}}, mask} == changes)));
    assign keep = (count == busy + first_valid + second_valid) & (!second_valid | first_valid) & (beat <= len | !busy)
        & (!busy | ((unit_id == id) & (left == len - beat) & shape)) & (busy | (beat == 0))
        & (!first_valid | (first == (busy ? q1 : q0))) & (!second_valid | (second == (busy ? q2 : q1)));
endmodule

// Two entries in their order.
module pair #(parameter W = 8) (
    input wire clk, rst, push, pop,
    input wire [W-1:0] in,
    output reg [1:0] count,
    output reg [W-1:0] first, second
);
    wire [1:0] stay = count - pop;
    always @(posedge clk)
        if (rst) count <= 0;
        else begin
            count <= stay + push;
            if (pop) first <= second;
            if (push & (stay == 0)) first <= in;
            if (push & (stay == 1)) second <= in;
        end
endmodule
