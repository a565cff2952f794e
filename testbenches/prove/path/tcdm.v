{% if TREQ %}{% set t = 1 %}{% else %}{% set t = 0 %}{% endif -%}
{% if TRSP %}{% set r = 1 %}{% else %}{% set r = 0 %}{% endif -%}
{% set merges = BCAST and MERGE -%}
// spad_tcdm{% if TREQ %} with registered requests{% endif %}{% if TRSP %} with registered answers{% endif %}: each request of a lane is answered once, in order, to that lane;
// a bank serves the lane whose turn it is and those on its word; a read returns the
// last write before it (microarchitecture/bus.md). One word, byte and lane are followed;
// they may be any. Any mapping from addresses to places that is one to one: the hash
// may answer anything else. The words of the banks are named.
module miter #(parameter L = 4, parameter LW = 2, parameter n = 9, parameter m = 3, parameter B = 8, parameter R = 6,
               parameter ROWS = 4, parameter D = 32, parameter BCAST = 1, parameter MERGE = 1{% if TID > 0 %}, parameter TID = 2{% endif %}) (
    input wire clk,
    input wire rst,
    input wire [L-1:0] tcdm_req,
    input wire [L*n-1:0] tcdm_add,
    input wire [L-1:0] tcdm_wen,
    input wire [L*D-1:0] tcdm_wdata,
    input wire [L*D/8-1:0] tcdm_be,
{%- if TID > 0 %}
    input wire [L*TID-1:0] tcdm_id,
{%- endif %}
    input wire [n-1:0] addr_seen,
    input wire [m-1:0] bank_seen,
    input wire [R-1:0] row_seen,
    input wire [$clog2(D/8)-1:0] byte_seen,
    input wire [LW-1:0] lane_seen,
    input wire mark,
    output wire assume_one_byte, // any one byte of any one word is looked at
    output wire assume_one_lane, // any one lane is looked at
    output wire assume_mapping, // two addresses have one place exactly if they are equal
    output wire assume_static, // a request that waits keeps its place
{%- if not TREQ %}
    output wire assume_held, // a request stays until it is granted
{%- endif %}
    output wire keep_inside, // each lane has as many requests inside as it is owed answers
    output wire keep_last, // the bank knows the lane that it was chosen for last
    output wire keep_turn, // a lane that waits has fewer lanes before it in each cycle
    output wire keep_marked, // the marked request stands where it should
    output wire keep_word, // the word is as the writes left it
{%- if TRSP %}
    output wire keep_read, // the word of a lane that has read is on its way
{%- endif %}
    output wire check_grant, // {% if TREQ %}a lane is granted exactly if fewer than two of its requests wait{% else %}the lanes that are granted are those that are served{% endif %}
    output wire check_answered, // a lane is answered exactly {{ 1 + r }} cycle{% if TRSP %}s{% endif %} after it is served
    output wire check_source, // no answer without a request
    output wire check_order, // an answer is that of the lane's oldest request
    output wire check_serve, // the lanes that are served are the one whose turn it is, and those with it
    output wire check_alone, // no other lane of the bank is served beside them
    output wire check_beyond, // a request beyond the capacity is refused at once
    output wire check_progress, // a lane is served in the L-th cycle at the latest
    output wire check_read, // a read returns the last write before it
    output wire check_silent, // without a read the data are 0
    output wire check_memory, // only writes that are served change the word
    output wire check_idle, // idle tells whether a request is inside or is answered
{%- if merges %}
    output wire cover_merged, // {{ 4 + t + r }}: a read of a byte that a higher lane wrote beside a lower one
{%- endif %}
{%- if BCAST %}
    output wire cover_together, // {{ 2 + t }}: all lanes are served by one bank
{%- endif %}
{%- if TREQ %}
    output wire cover_full, // 4: the marked request waits behind another
{%- endif %}
    output wire cover_read, // {{ 4 + t + r }}: a read is answered with what was written
    output wire cover_waits, // {{ L + 1 + t }}: a lane is served after all others of its bank
    output wire cover_beyond // {{ 3 + t + r }}: the marked request is refused
);
    wire [L-1:0] tcdm_gnt, tcdm_r_valid, tcdm_r_opc;
    wire [L*D-1:0] tcdm_r_rdata;
{%- if TID > 0 %}
    wire [L*TID-1:0] tcdm_r_id;
{%- endif %}
    wire idle;
    spad_tcdm unit (
        .clk(clk), .rst(rst), .tcdm_req(tcdm_req), .tcdm_gnt(tcdm_gnt), .tcdm_add(tcdm_add), .tcdm_wen(tcdm_wen),
        .tcdm_wdata(tcdm_wdata), .tcdm_be(tcdm_be),{% if TID > 0 %} .tcdm_id(tcdm_id), .tcdm_r_id(tcdm_r_id),{% endif %}
        .tcdm_r_valid(tcdm_r_valid), .tcdm_r_rdata(tcdm_r_rdata), .tcdm_r_opc(tcdm_r_opc), .idle(idle)
    );

    // What is looked at.
    reg [n-1:0] addr;
    reg [m-1:0] bank;
    reg [R-1:0] row;
    reg [$clog2(D/8)-1:0] byte_no;
    reg [LW-1:0] lane;
    always @(posedge clk) begin
        addr <= addr_seen;
        bank <= bank_seen;
        row <= row_seen;
        byte_no <= byte_seen;
        lane <= lane_seen;
    end
    assign assume_one_byte = (addr == addr_seen) & (bank == bank_seen) & (row == row_seen) & (byte_no == byte_seen);
    assign assume_one_lane = lane == lane_seen;

    // The oldest request of each lane that is not served, its place, and the
    // lanes that are served.
    localparam REQUEST = {% if TID > 0 %}TID + {% endif %}D/8 + D + n + 1;
{%- if TREQ %}
    (* hierconn *) wire [L-1:0] \unit.head , \unit.head_wen ;
    (* hierconn *) wire [L*n-1:0] \unit.head_addr ;
    (* hierconn *) wire [L*D-1:0] \unit.head_data ;
    (* hierconn *) wire [L*D/8-1:0] \unit.head_be ;
    wire [L-1:0] head = \unit.head , wen = \unit.head_wen ;
    wire [L*n-1:0] add = \unit.head_addr ;
    wire [L*D-1:0] wdata = \unit.head_data ;
    wire [L*D/8-1:0] be = \unit.head_be ;
{%- if TID > 0 %}
    (* hierconn *) wire [L*TID-1:0] \unit.head_id ;
    wire [L*TID-1:0] ident = \unit.head_id ;
{%- endif %}
    wire [L-1:0] second;
    wire [L*REQUEST-1:0] seconds;
{%- for i in range(end=L) %}
    (* hierconn *) wire \unit.buffer[{{ i }}].skid.second_valid_q ;
    (* hierconn *) wire [REQUEST-1:0] \unit.buffer[{{ i }}].skid.second_q ;
    assign second[{{ i }}] = \unit.buffer[{{ i }}].skid.second_valid_q ;
    assign seconds[{{ i }}*REQUEST +: REQUEST] = \unit.buffer[{{ i }}].skid.second_q ;
{%- endfor %}
{%- else %}
    wire [L-1:0] head = tcdm_req, wen = tcdm_wen;
    wire [L*n-1:0] add = tcdm_add;
    wire [L*D-1:0] wdata = tcdm_wdata;
    wire [L*D/8-1:0] be = tcdm_be;
    wire [L-1:0] second = 0;
{%- endif %}
    (* hierconn *) wire [L*m-1:0] \unit.bank ;
    (* hierconn *) wire [L*R-1:0] \unit.row ;
    (* hierconn *) wire [L-1:0] \unit.takes ;
    wire [L*m-1:0] banks = \unit.bank ;
    wire [L*R-1:0] rows = \unit.row ;
    wire [L-1:0] takes = \unit.takes ;
{%- if TRSP %}
    (* hierconn *) wire [L-1:0] \unit.answered_q , \unit.failed_q ;
    (* hierconn *) wire [L*D-1:0] \unit.rdata ;
    wire [L-1:0] answered = \unit.answered_q ;
{%- if TID > 0 %}
    (* hierconn *) wire [L*TID-1:0] \unit.ident_q ;
{%- endif %}
{%- else %}
    wire [L-1:0] answered = 0;
{%- endif %}

    // The lanes by the definition: those that want the bank, the first of them
    // after the one that it was chosen for last, those with it; the lanes on the
    // word, and the byte that they leave there.
    integer i, j;
    reg one_to_one, found;
    reg [L-1:0] want, with_turn, writing;
    reg [LW-1:0] last, turn, next;
    reg joins, written, merged_now;
    reg [7:0] left;
    always @* begin
        one_to_one = 1;
        for (i = 0; i < L; i = i + 1) begin
            if (head[i] & ((add[i*n +: n] == addr) != ((banks[i*m +: m] == bank) & (rows[i*R +: R] == row)))) one_to_one = 0;
            for (j = 0; j < i; j = j + 1)
                if (head[i] & head[j] & ((add[i*n +: n] == add[j*n +: n])
                    != ((banks[i*m +: m] == banks[j*m +: m]) & (rows[i*R +: R] == rows[j*R +: R])))) one_to_one = 0;
        end
        found = 0;
        turn = 0;
        for (i = 0; i < L; i = i + 1) want[i] = head[i] & (banks[i*m +: m] == bank) & (rows[i*R +: R] < ROWS);
        for (i = 1; i <= L; i = i + 1) begin
            next = (last + i) % L;
            if (!found & want[next]) begin
                found = 1;
                turn = next;
            end
        end
        joins = (BCAST != 0) & (wen[turn] | (MERGE != 0));
        for (i = 0; i < L; i = i + 1)
            with_turn[i] = want[i] & ((i == turn) | (joins & (add[i*n +: n] == add[turn*n +: n]) & (wen[i] == wen[turn])));
        written = 0;
        left = 0;
        for (i = L - 1; i >= 0; i = i - 1) begin
            writing[i] = takes[i] & !wen[i] & (add[i*n +: n] == addr) & (row < ROWS);
            if (writing[i] & be[i*(D/8) + byte_no]) begin
                written = 1;
                left = wdata[i*D + 8*byte_no +: 8];
            end
        end
        merged_now = written & writing[0] & !be[byte_no];
    end
    assign assume_mapping = one_to_one;

    wire fire = tcdm_req[lane] & tcdm_gnt[lane];
    wire inside = rows[lane*R +: R] < ROWS;
    wire hit = add[lane*n +: n] == addr;

    // The cycle before.
    reg [L-1:0] was_waiting, was_wen;
    reg [L*m-1:0] was_banks;
    reg [L*R-1:0] was_rows;
    reg static, held;
{%- if not TREQ %}
    reg [L*n-1:0] was_add;
    reg [L*D-1:0] was_wdata;
    reg [L*D/8-1:0] was_be;
{%- if TID > 0 %}
    reg [L*TID-1:0] was_id;
{%- endif %}
{%- endif %}
    always @(posedge clk) begin
        was_waiting <= rst ? 0 : head & ~takes;
        was_wen <= wen;
        was_banks <= banks;
        was_rows <= rows;
{%- if not TREQ %}
        was_add <= add;
        was_wdata <= wdata;
        was_be <= be;
{%- if TID > 0 %}
        was_id <= tcdm_id;
{%- endif %}
{%- endif %}
    end
    always @* begin
        static = 1;
        held = 1;
        for (i = 0; i < L; i = i + 1)
            if (was_waiting[i]) begin
                if ((banks[i*m +: m] != was_banks[i*m +: m]) | (rows[i*R +: R] != was_rows[i*R +: R])) static = 0;
{%- if not TREQ %}
                if (!head[i] | (wen[i] != was_wen[i]) | (add[i*n +: n] != was_add[i*n +: n])
                    | (wdata[i*D +: D] != was_wdata[i*D +: D]) | (be[i*(D/8) +: D/8] != was_be[i*(D/8) +: D/8])
{%- if TID > 0 %}
                    | (tcdm_id[i*TID +: TID] != was_id[i*TID +: TID])
{%- endif %}) held = 0;
{%- endif %}
            end
    end
    assign assume_static = static;
{%- if not TREQ %}
    assign assume_held = held;
{%- endif %}

    // The bank's last lane, and the cycles that a lane has waited.
    (* hierconn *) wire [B*LW-1:0] \unit.last_q ;
    reg [LW:0] waited;
    always @(posedge clk) begin
        if (rst) last <= {LW{1'b1}};
        else if (want != 0) last <= turn;
        if (rst | !head[lane] | takes[lane]) waited <= 0;
        else waited <= waited + 1;
    end
    wire [LW-1:0] before = lane - last - 1;
    assign keep_last = \unit.last_q [bank*LW +: LW] == last;
    assign keep_turn = (!want[lane] | (waited + before < L)) & ((waited == 0) | was_waiting[lane]);

    // The requests that each lane is owed answers for.
    reg [L*3-1:0] owed;
    reg same;
    always @(posedge clk)
        for (i = 0; i < L; i = i + 1)
            if (rst) owed[i*3 +: 3] <= 0;
            else owed[i*3 +: 3] <= owed[i*3 +: 3] + (tcdm_req[i] & tcdm_gnt[i]) - tcdm_r_valid[i];
    always @* begin
        same = 1;
        for (i = 0; i < L; i = i + 1)
            if (owed[i*3 +: 3] != {% if TREQ %}head[i] + second[i] + {% endif %}answered[i] + tcdm_r_valid[i]) same = 0;
    end
    assign keep_inside = same{% if TREQ %} & ((second & ~head) == 0){% endif %};
    wire [2:0] lane_owed = owed[lane*3 +: 3];
    assign check_source = !tcdm_r_valid[lane] | (lane_owed != 0);
    assign check_idle = idle == (owed == 0);
{%- if TREQ %}
    assign check_grant = tcdm_gnt[lane] == (lane_owed - answered[lane] - tcdm_r_valid[lane] < 2);
{%- else %}
    assign check_grant = (tcdm_gnt[lane] == takes[lane]) & (tcdm_req[lane] | !tcdm_gnt[lane]);
{%- endif %}

    // A request that is marked as it is granted, and those of its lane before it.
    reg marked;
    reg [2:0] ahead;
    reg [REQUEST-1:0] marked_request;
    wire marked_wen = marked_request[0];
    wire marked_hit = marked_request[1 +: n] == addr;
{%- if TID > 0 %}
    wire [TID-1:0] marked_id = marked_request[REQUEST-1 -: TID];
{%- endif %}
    wire answer = tcdm_r_valid[lane];
    always @(posedge clk) begin
        if (rst) marked <= 0;
        else if (marked) begin
            if (answer & (ahead == 0)) marked <= 0;
            else if (answer) ahead <= ahead - 1;
        end else if (fire & mark) begin
            marked <= 1;
            ahead <= lane_owed - answer;
            marked_request <= { {%- if TID > 0 %}tcdm_id[lane*TID +: TID], {% endif %}tcdm_be[lane*(D/8) +: D/8], tcdm_wdata[lane*D +: D],
                tcdm_add[lane*n +: n], tcdm_wen[lane]};
        end
    end
    wire refused = row >= ROWS;
    wire is_answer = {% if TID > 0 %}(tcdm_r_id[lane*TID +: TID] == marked_id) & {% endif %}(!marked_hit | (tcdm_r_opc[lane] == refused));
    wire here_is_marked = answer & (ahead == 0) ? is_answer
{%- if TRSP %}
        : answered[lane] & (ahead == answer) ? {% if TID > 0 %}( \unit.ident_q [lane*TID +: TID] == marked_id) & {% endif %}(!marked_hit | ( \unit.failed_q [lane] == refused))
{%- endif %}
{%- if TREQ %}
        : ahead == answered[lane] + answer ? { {%- if TID > 0 %}ident[lane*TID +: TID], {% endif %}be[lane*(D/8) +: D/8], wdata[lane*D +: D],
            add[lane*n +: n], wen[lane]} == marked_request
        : seconds[lane*REQUEST +: REQUEST] == marked_request
{%- else %}
        : 1'b0
{%- endif %};
    assign keep_marked = !marked | ((ahead < lane_owed) & here_is_marked);
    assign check_order = !(marked & answer & (ahead == 0)) | is_answer;

    // The lanes that are served.
    assign check_serve = !(head[lane] & inside & (banks[lane*m +: m] == bank)) | (takes[lane] == with_turn[lane]);
    assign check_alone = (takes & want & ~with_turn) == 0;
    assign check_beyond = (!(head[lane] & !inside) | takes[lane]) & (head[lane] | !takes[lane]);
    assign check_progress = !want[lane] | (waited < L - 1) | ((waited == L - 1) & takes[lane]);

    // The words of the banks, and the byte as the writes leave it. A reset does
    // not change it.
    wire [B*ROWS*D-1:0] words;
{%- for b in range(end=B) %}
{%- for k in range(end=ROWS) %}
    (* hierconn *) wire [D-1:0] \unit.bank_of[{{ b }}].ram.mem[{{ k }}] ;
    assign words[{{ b * ROWS + k }}*D +: D] = \unit.bank_of[{{ b }}].ram.mem[{{ k }}] ;
{%- endfor %}
{%- endfor %}
    wire [D-1:0] word = words[(bank*ROWS + row)*D +: D];
    wire [7:0] memory = word[8*byte_no +: 8];
    reg [7:0] value;
    reg merged;
    always @(posedge clk) begin
        if (rst) value <= memory;
        else if (written) value <= left;
        if (rst) merged <= 0;
        else if (written) merged <= merged_now;
    end
    assign keep_word = refused | (memory == value);
    assign check_memory = keep_word;

    // What the lane is answered with, one cycle after it is served.
    reg served_y, reads_y, known_y, merged_y;
    reg [7:0] value_y;
    always @(posedge clk) begin
        served_y <= !rst & takes[lane];
        reads_y <= !rst & takes[lane] & inside & wen[lane];
        known_y <= !rst & takes[lane] & inside & wen[lane] & hit;
        merged_y <= merged;
        value_y <= value;
    end
{%- if TRSP %}
    wire [D-1:0] rdata_y = \unit.rdata [lane*D +: D];
    assign keep_read = (answered[lane] == served_y) & (!known_y | (rdata_y[8*byte_no +: 8] == value_y))
        & (reads_y | (rdata_y == 0));
    reg served, reads, known, is_merged;
    reg [7:0] expected;
    always @(posedge clk) begin
        served <= !rst & served_y;
        reads <= !rst & reads_y;
        known <= !rst & known_y;
        is_merged <= merged_y;
        expected <= value_y;
    end
{%- else %}
    wire served = served_y, reads = reads_y, known = known_y, is_merged = merged_y;
    wire [7:0] expected = value_y;
{%- endif %}
    wire [D-1:0] rdata = tcdm_r_rdata[lane*D +: D];
    wire [7:0] shown = rdata[8*byte_no +: 8];
    assign check_answered = answer == served;
    assign check_read = !known | (shown == expected);
    assign check_silent = reads | (rdata == 0);
{%- if merges %}
    assign cover_merged = known & is_merged & (shown == 8'hA5) & !rst;
{%- endif %}
{%- if BCAST %}
    assign cover_together = (takes == {L{1'b1}}) & (want == {L{1'b1}}) & !rst;
{%- endif %}
{%- if TREQ %}
    assign cover_full = marked & (ahead == 1) & !tcdm_gnt[lane] & !rst;
{%- endif %}
    assign cover_read = known & marked & marked_hit & marked_wen & (ahead == 0) & (expected == 8'hA5) & !rst;
    assign cover_waits = takes[lane] & want[lane] & (waited == L - 1) & !rst;
    assign cover_beyond = answer & marked & marked_hit & (ahead == 0) & tcdm_r_opc[lane] & !rst;
endmodule
