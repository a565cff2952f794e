// Vortex' VX_local_mem (vortex_ports.sv) between lanes that access it. First all words are
// stored, then the accesses of a file are made and counted, those of lane 0 first; then all
// words are loaded. Every loaded word is compared. Prints the cycles from the first request
// to the last answer, both included; a store has none, so it ends when it is taken.
//
// A lane begins its access n when n - FLIGHT accesses are complete.
module vortex_compare;
    parameter LANES = 8;
    parameter BANKS = 8;
    parameter ACCESSES = 256;
`ifdef VORTEX_ADAPTER
    localparam ADAPTER = 1;  // the lanes make their accesses together
`else
    localparam ADAPTER = 0;
`endif
    localparam WORDS = 16384;
    localparam MOST = WORDS / LANES > ACCESSES ? WORDS / LANES : ACCESSES;
    localparam CYCLES = 1000000;

    logic clk = 0, reset = 1;
    logic [LANES-1:0] req_valid, req_ready, rsp_valid, taken;
    logic [LANES-1:0][13:0] req_addr;
    logic [LANES-1:0][31:0] req_data, rsp_data;
    logic [LANES-1:0][15:0] req_tag, rsp_tag;
    logic store;

    vortex_ports #(
        .LANES(LANES), .BANKS(BANKS)
    ) memory (
        .req_store({LANES{store}}), .req_be('1), .rsp_ready('1), .*
    );

    logic [31:0] words[0:LANES*ACCESSES-1];
    logic [31:0] expected[0:WORDS-1];
    int unsigned next[0:LANES-1];  // access that a lane begins next
    int unsigned left[0:MOST-1];  // lanes of an access that are not complete
    bit answered[0:LANES*MOST-1];
    int unsigned count, complete, cycles, flight, phase;
    bit stores;
    string file;

    function automatic void fail(string what);
        $display("wrong: %s", what);
        $finish;
    endfunction

    // The word of a lane's access.
    function automatic logic [13:0] word(int unsigned i, int unsigned access);
        return phase == 1 ? words[i*ACCESSES + access][13:0] : 14'(access * LANES + i);
    endfunction

    // What is stored depends on word and phase, so that the order of the lanes does not count.
    function automatic logic [31:0] value(logic [13:0] at);
        return 32'(at) * 32'h9e3779b9 + (phase == 0 ? 32'h5a5a5a5a : 32'h0badcafe);
    endfunction

    function automatic void lane_done(int unsigned access);
        left[access]--;
        if (left[access] == 0) complete++;
    endfunction

    // 0: store all words; 1: the accesses of the file; 2: load all words.
    function automatic void begin_phase(int unsigned number);
        phase = number;
        store = number == 0 | number == 1 & stores;
        count = number == 1 ? ACCESSES : WORDS / LANES;
        complete = 0;
        for (int k = 0; k < MOST; k++) left[k] = LANES;
        for (int i = 0; i < LANES; i++) next[i] = 0;
        for (int i = 0; i < LANES * MOST; i++) answered[i] = 0;
    endfunction

    function automatic void answers();
        for (int i = 0; i < LANES; i++) begin
            if (taken[i]) begin
                if (store) begin
                    expected[req_addr[i]] = req_data[i];
                    lane_done(next[i]);
                end
                next[i]++;
            end
            if (rsp_valid[i]) begin
                automatic int unsigned access = 32'(rsp_tag[i]);
                // The adapter passes lanes on before it has taken the whole access.
                automatic int unsigned asked = next[i] + 32'(ADAPTER != 0 & req_valid[i]);
                if (store | access >= asked)
                    fail($sformatf("an answer that lane %0d did not ask for", i));
                else if (answered[i*MOST+access]) fail($sformatf("a second answer to lane %0d", i));
                else if (rsp_data[i] !== expected[word(i, access)])
                    fail($sformatf("lane %0d, access %0d: word %0d has %h, not %h", i, access,
                        word(i, access), rsp_data[i], expected[word(i, access)]));
                answered[i*MOST+access] = 1;
                lane_done(access);
            end
        end
    endfunction

    function automatic void requests();
        for (int i = 0; i < LANES; i++) begin
            req_valid[i] = next[i] < count & (phase != 1
                | flight == 0 | next[i] < complete + flight);
            req_addr[i] = next[i] < count ? word(i, next[i]) : '0;
            req_data[i] = value(req_addr[i]);
            req_tag[i] = 16'(next[i]);
        end
    endfunction

    always #5 clk = !clk;
    always @(posedge clk) taken <= reset ? '0 : req_valid & req_ready;
    // The lanes look at a cycle's answers, and then decide about its requests.
    int unsigned pause = 0, total = 0;
    always @(negedge clk) if (!reset) begin
        answers();
        if (complete == count) begin
            // Nothing of one phase is left when the next one begins.
            req_valid = '0;
            pause++;
            if (phase == 1 & pause == 1) $display("cycles %0d", store ? cycles : cycles + 1);
            if (pause == 64) begin
                pause = 0;
                if (phase == 2) begin
                    $display("%0d words compared", WORDS + (stores ? 0 : LANES * ACCESSES));
                    $finish;
                end else begin_phase(phase + 1);
            end
        end else begin
            requests();
            cycles += 32'(phase == 1);
        end
        total++;
        if (total == CYCLES) fail("no end");
    end
    initial begin
        if (!$value$plusargs("words=%s", file)) $fatal(1, "+words=FILE is missing");
        if (!$value$plusargs("flight=%d", flight)) flight = 0;
        stores = $test$plusargs("stores") != 0;
        $readmemh(file, words);
        cycles = 0;
        req_valid = '0;
        begin_phase(0);
        repeat (4) @(negedge clk);
        #1 reset = 0;
    end
endmodule
