// PULP's tcdm_interconnect between lanes and banks that answer a cycle later.
// Each lane loads words one after the other; the addresses are in a file, those
// of lane 0 first. Prints the cycles from the first request to the last answer,
// both included.
module pulp_compare;
    parameter LANES = 8;
    parameter BANKS = 16;
    parameter LOADS = 256;

    reg clk = 0;
    reg rst_n = 0;
    reg [31:0] words [0:LANES*LOADS-1];
    reg [1023:0] file;

    integer next [0:LANES-1];
    integer left = LANES * LOADS;
    integer cycles = 0;
    logic [LANES-1:0] req, gnt, vld;
    logic [LANES-1:0][31:0] add, rdata;
    logic [BANKS-1:0] bank_req, bank_wen;
    logic [BANKS-1:0][11:0] bank_add;
    logic [BANKS-1:0][31:0] bank_wdata, bank_rdata;
    logic [BANKS-1:0][3:0] bank_be;

    for (genvar i = 0; i < LANES; i++) begin : lane
        assign req[i] = rst_n & (next[i] < LOADS);
        // Byte addresses.
        assign add[i] = words[i*LOADS + (next[i] < LOADS ? next[i] : 0)] << 2;
    end

    tcdm_interconnect #(
        .NumIn(LANES), .NumOut(BANKS), .AddrWidth(32), .DataWidth(32), .AddrMemWidth(12), .RespLat(1), .WriteRespOn(1)
    ) network (
        .clk_i(clk), .rst_ni(rst_n), .req_i(req), .add_i(add), .wen_i('0), .wdata_i('0), .be_i('0), .gnt_o(gnt),
        .vld_o(vld), .rdata_o(rdata), .req_o(bank_req), .gnt_i({BANKS{1'b1}}), .add_o(bank_add), .wen_o(bank_wen),
        .wdata_o(bank_wdata), .be_o(bank_be), .rdata_i(bank_rdata)
    );

    // A word holds its own address, so that an answer shows whose it is.
    for (genvar b = 0; b < BANKS; b++) begin : bank
        always_ff @(posedge clk) if (bank_req[b]) bank_rdata[b] <= 32'(bank_add[b]) * BANKS + b;
    end

    integer answered [0:LANES-1];
    always_ff @(posedge clk) if (rst_n) begin
        cycles <= cycles + 1;
        left <= left - $countones(vld);
        for (int i = 0; i < LANES; i++) begin
            if (req[i] & gnt[i]) next[i] <= next[i] + 1;
            if (vld[i]) begin
                if (rdata[i] != words[i*LOADS + answered[i]]) begin
                    $display("lane %0d: the answer %0d is wrong", i, answered[i]);
                    $fatal;
                end
                answered[i] <= answered[i] + 1;
            end
        end
        if (left == $countones(vld)) begin
            $display("cycles %0d", cycles + 1);
            $finish;
        end
        if (cycles > 100000) $fatal;
    end

    always #5 clk = ~clk;
    initial begin
        if (!$value$plusargs("words=%s", file)) $fatal;
        $readmemh(file, words);
        for (int i = 0; i < LANES; i++) begin
            next[i] = 0;
            answered[i] = 0;
        end
        #22 rst_n = 1;
    end
endmodule
