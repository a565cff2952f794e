// SPDX-License-Identifier: MIT OR Apache-2.0
// soc_tb: fills a matrix into the scratchpad, lets the engine transpose it and count its
// words, reads both results back and compares them with its own. It does so under plain
// interleaving and under a hash, and prints the cycles of each step.

module soc_tb
    import spad_pkg::*;
    import soc_pkg::*;
;
    // Where things are in the scratchpad.
    localparam word_addr_t PLACE = 0;
    localparam word_addr_t TRANSPOSED = word_addr_t'(MATRIX);
    localparam word_addr_t COUNTS = word_addr_t'(2 * MATRIX);
    // spadkit encode bitwise-xor:0^4,1^5,2^6 --config machine.toml
    // spad_hash_config_matrix: 0x11 0x22 0x44; spad_hash_config_row_map: all 0
    localparam word_addr_t HASH[BANK_BITS] = '{'h11, 'h22, 'h44};

    logic clk = 1'b0;
    logic rst = 1'b1;
    initial forever #5 clk = !clk;

    logic hash_wr_en = 1'b0;
    logic [1:0] hash_wr_index;
    word_addr_t hash_wr_data;
    logic idle;
    logic dma_start = 1'b0;
    dma_cmd_t dma_cmd;
    logic dma_busy, dma_failed;
    logic in_valid, in_ready, out_valid, out_ready;
    logic [BEAT_BITS-1:0] in_data, out_data;
    logic job_start = 1'b0;
    job_t job;
    logic job_busy, job_failed;
    soc dut (.*);

    // The other ends of the streams: words of the host, and a pause now and then.
    logic [WORD_BITS-1:0] source[MATRIX], sink[MATRIX];
    int unsigned taken, given, cycle;
    always_ff @(posedge clk) begin
        cycle <= cycle + 1;
        if (dma_start) {taken, given} <= '0;
        if (in_valid & in_ready) taken <= taken + AXI_LANES;
        if (out_valid & out_ready) begin
            for (int i = 0; i < AXI_LANES; i++) sink[given+i] <= out_data[i*WORD_BITS+:WORD_BITS];
            given <= given + AXI_LANES;
        end
    end
    assign in_valid = 1'b1;
    assign out_ready = cycle % 16 != 0;
    always_comb
        for (int i = 0; i < AXI_LANES; i++)
            in_data[i*WORD_BITS+:WORD_BITS] = taken + i < MATRIX ? source[taken+i] : '0;

    // Inputs change between two rising edges.
    task automatic move(input logic fill, input word_addr_t word, input int unsigned words);
        dma_cmd = '{fill: fill, word: word, beats: 8'(words / AXI_LANES)};
        dma_start = 1'b1;
        @(negedge clk) dma_start = 1'b0;
        while (dma_busy) @(negedge clk);
        if (dma_failed) $fatal(1, "FAIL: AXI answers with an error");
    endtask

    task automatic work(input logic histogram, input word_addr_t to);
        job = '{histogram: histogram, from: PLACE, to: to};
        job_start = 1'b1;
        @(negedge clk) job_start = 1'b0;
        while (job_busy) @(negedge clk);
        if (job_failed) $fatal(1, "FAIL: the engine has left the scratchpad");
    endtask

    // Loads the hash into the registers of the scratchpad, while nothing is inside.
    task automatic load_hash;
        while (!idle) @(negedge clk);
        hash_wr_en = 1'b1;
        for (int i = 0; i < BANK_BITS; i++) begin
            hash_wr_index = 2'(i);
            hash_wr_data = HASH[i];
            @(negedge clk);
        end
        hash_wr_en = 1'b0;
    endtask

    logic [WORD_BITS-1:0] matrix[MATRIX];
    int unsigned counts[BINS];
    int unsigned seed = 1, compared = 0;

    // New words. Half of them are in the first bin, as the background of a picture is.
    task automatic draw;
        counts = '{default: 0};
        for (int i = 0; i < MATRIX; i++) begin
            seed = seed * 1664525 + 1013904223;
            matrix[i] = {seed[30:4], seed[31] ? 5'd0 : seed[30:26]};
            counts[matrix[i]%BINS]++;
        end
    endtask

    task automatic compare(input string what, input int unsigned index,
                           input logic [WORD_BITS-1:0] expected);
        compared++;
        if (sink[index] !== expected)
            $fatal(1, "FAIL: %s %0d is %0d, expected %0d", what, index, sink[index], expected);
    endtask

    task automatic round(input string mapping);
        int unsigned t[5];
        draw();
        source = matrix;
        t[0] = cycle;
        move(1'b1, PLACE, MATRIX);
        t[1] = cycle;
        source = '{default: '0};
        move(1'b1, COUNTS, BINS);
        t[2] = cycle;
        work(1'b0, TRANSPOSED);
        t[3] = cycle;
        // The engine counts while the DMA reads the other result.
        fork
            begin
                work(1'b1, COUNTS);
                t[4] = cycle;
            end
            move(1'b0, TRANSPOSED, MATRIX);
        join
        for (int i = 0; i < MATRIX; i++)
            compare("word", i, matrix[{i[0+:SIDE_BITS], i[SIDE_BITS+:SIDE_BITS]}]);
        move(1'b0, COUNTS, BINS);
        for (int i = 0; i < BINS; i++) compare("bin", i, counts[i]);
        $display("%s: fill %0d, transpose %0d, histogram %0d cycles",
                 mapping, t[1] - t[0], t[3] - t[2], t[4] - t[3]);
    endtask

    initial begin
        repeat (3) @(negedge clk);
        rst = 1'b0;
        round("interleaved");
        load_hash();
        round("hashed");
        $display("PASS soc: %0d words compared", compared);
        $finish;
    end

    initial begin
        #200000;
        $fatal(1, "FAIL: no end after %0d cycles", cycle);
    end
endmodule
