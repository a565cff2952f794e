// spad_tilelink_lane of the machine of tests/kit/wrappers (9 address bits, words of 32
// bits): each message becomes one request, and is answered once, in its turn, by what
// the memory has answered. What is inside is kept a second time, the oldest first.
// tests/kit/wrappers/tilelink.rs proves the assertions by induction in Yosys.
module circuit #(parameter S = 2) (
    input clk, rst,
    input a_valid, a_corrupt, d_ready, tcdm_gnt, tcdm_r_valid, tcdm_r_opc,
    input [2:0] a_opcode,
    input [1:0] a_size,
    input [S-1:0] a_source,
    input [31:0] a_address, a_data, tcdm_r_rdata,
    input [3:0] a_mask
);
    localparam DEPTH = 4, EW = 6 + S;
    wire a_ready, d_valid, d_denied, d_corrupt, tcdm_req, tcdm_wen, idle;
    wire [2:0] d_opcode;
    wire [1:0] d_size;
    wire [S-1:0] d_source;
    wire [31:0] d_data, tcdm_wdata;
    wire [8:0] tcdm_add;
    wire [3:0] tcdm_be;
    spad_tilelink_lane #(.SOURCE_BITS(S), .DEPTH(DEPTH)) unit (
        .clk(clk), .rst(rst), .a_valid(a_valid), .a_ready(a_ready), .a_opcode(a_opcode), .a_size(a_size),
        .a_source(a_source), .a_address(a_address), .a_mask(a_mask), .a_data(a_data), .a_corrupt(a_corrupt),
        .d_valid(d_valid), .d_ready(d_ready), .d_opcode(d_opcode), .d_size(d_size), .d_source(d_source),
        .d_denied(d_denied), .d_data(d_data), .d_corrupt(d_corrupt), .tcdm_req(tcdm_req), .tcdm_gnt(tcdm_gnt),
        .tcdm_add(tcdm_add), .tcdm_wen(tcdm_wen), .tcdm_wdata(tcdm_wdata), .tcdm_be(tcdm_be),
        .tcdm_r_valid(tcdm_r_valid), .tcdm_r_rdata(tcdm_r_rdata), .tcdm_r_opc(tcdm_r_opc), .idle(idle)
    );
    // What is inside of it.
    (* hierconn *) wire [1:0] \unit.first_q ;
    (* hierconn *) wire [2:0] \unit.inside_q , \unit.answered_q ;
    (* hierconn *) wire [EW-1:0] \unit.entry_q[0] , \unit.entry_q[1] , \unit.entry_q[2] , \unit.entry_q[3] ;
    (* hierconn *) wire [32:0] \unit.answer_q[0] , \unit.answer_q[1] , \unit.answer_q[2] , \unit.answer_q[3] ;
    wire [4*EW-1:0] entries = { \unit.entry_q[3] , \unit.entry_q[2] , \unit.entry_q[1] , \unit.entry_q[0] };
    wire [4*33-1:0] answers = { \unit.answer_q[3] , \unit.answer_q[2] , \unit.answer_q[1] , \unit.answer_q[0] };

    // The message as the specification has it: byte k is active from the address on,
    // for 2^size bytes, which begin at a multiple of their number and are in a word.
    wire [3:0] active;
    genvar k;
    generate
        for (k = 0; k < 4; k = k + 1) begin : byte_lane
            assign active[k] = k >= a_address[1:0] & k < a_address[1:0] + (4'd1 << a_size);
        end
    endgenerate
    wire fits = a_size == 0 | (a_size == 1 & ~a_address[0]) | (a_size == 2 & a_address[1:0] == 0);
    wire legal = fits & (a_opcode == 4 ? a_mask == active : ~a_corrupt
        & (a_opcode == 0 ? a_mask == active : a_opcode == 1 & (a_mask | active) == active));
    wire [2:0] answer_opcode = a_opcode == 5 ? 2 : a_opcode == 2 | a_opcode == 3 | a_opcode == 4 ? 1 : 0;

    // A second time: messages, answers of the memory, and where each message is.
    reg [4*EW-1:0] message;
    reg [4*33-1:0] answer;
    reg [2:0] held, done;
    reg asked; // the youngest one is not granted
    reg [45:0] request;
    wire in = a_valid & a_ready, out = d_valid & d_ready;
    wire [2:0] in_memory = held - done - asked;
    integer i;
    reg [2:0] left, ready;
    always @(posedge clk) begin
        left = held - out;
        ready = done - out;
        if (out) begin
            message = message >> EW;
            answer = answer >> 33;
        end
        if (in) begin
            message[left[1:0]*EW +: EW] = {answer_opcode, a_size, a_source, ~legal};
            request <= {a_address[10:2], legal & a_opcode == 4, legal ? a_mask : 4'd0, a_data};
        end
        if (tcdm_r_valid) answer[ready[1:0]*33 +: 33] = {tcdm_r_rdata, tcdm_r_opc};
        held <= left + in;
        done <= ready + tcdm_r_valid;
        asked <= in | (asked & ~tcdm_gnt);
        if (rst) {held, done, asked} <= 0;
    end

    reg begun = 0;
    always @(posedge clk) begun <= 1;
    always @* begin
        if (!begun) assume (rst);
        // The memory answers what it has granted.
        if (tcdm_r_valid) assume (in_memory != 0);
    end
    reg [1:0] at;
    always @* if (begun) begin
        assert (held <= DEPTH & {1'b0, done} + asked <= held);
        assert (\unit.inside_q == held & \unit.answered_q == done);
        for (i = 0; i < 4; i = i + 1) begin
            at = \unit.first_q + i;
            if (i < held) assert (entries[at*EW +: EW] == message[i*EW +: EW]);
            if (i < done) assert (answers[at*33 +: 33] == answer[i*33 +: 33]);
        end
        // The request is that of the youngest message, and stays.
        assert (tcdm_req == asked);
        if (asked) assert ({tcdm_add, tcdm_wen, tcdm_be, tcdm_wdata} == request);
        // The answer is that of the oldest one, once the memory has answered it.
        assert (d_valid == (done != 0) & idle == (held == 0));
        if (d_valid) begin
            assert ({d_opcode, d_size, d_source} == message[EW-1:1]);
            assert (d_denied == (message[0] | answer[0]) & d_data == answer[32:1]);
            assert (d_corrupt == (d_denied & d_opcode == 1));
        end
        // A message is taken whenever there is room and the one before it is granted.
        assert (a_ready == (held != DEPTH & (~asked | tcdm_gnt)));
    end
endmodule
