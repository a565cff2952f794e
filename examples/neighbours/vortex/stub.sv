// SPDX-License-Identifier: MIT OR Apache-2.0
// A stub of Vortex, as far as VX_local_mem names it, with lanes that send random requests.
/* verilator lint_off DECLFILENAME */
/* verilator lint_off UNDRIVEN */
/* verilator lint_off UNUSEDSIGNAL */

package VX_gpu_pkg;
    localparam MEM_ATTR_AMO_OFFS = 3;
`ifdef VORTEX_MEM_BUS
    localparam MEM_ATTR_WIDTH = 17;
`else
    localparam logic [3:0] AMO_OP_ADD = 4'd2;
    typedef struct packed {
        logic [7:0] hart_id;
        logic amo_unsigned;
        logic [3:0] amo_op;
        logic amo_valid;
    } amo_req_t;
    localparam AMO_REQ_BITS = $bits(amo_req_t);
    localparam MEM_ATTR_WIDTH = MEM_ATTR_AMO_OFFS + AMO_REQ_BITS;
`endif
endpackage

interface VX_mem_bus_if #(
    parameter DATA_SIZE = 4,
    parameter ADDR_WIDTH = 12,
    parameter ATTR_WIDTH = VX_gpu_pkg::MEM_ATTR_WIDTH,
    parameter TAG_WIDTH = 16
) ();
    typedef struct packed {
        logic rw;
        logic [ADDR_WIDTH-1:0] addr;
        logic [DATA_SIZE*8-1:0] data;
        logic [DATA_SIZE-1:0] byteen;
        logic [ATTR_WIDTH-1:0] attr;
        logic [TAG_WIDTH-1:0] tag;
    } req_data_t;
    typedef struct packed {
        logic [DATA_SIZE*8-1:0] data;
        logic [TAG_WIDTH-1:0] tag;
    } rsp_data_t;
    logic req_valid, req_ready, rsp_valid, rsp_ready;
    req_data_t req_data;
    rsp_data_t rsp_data;
    modport slave(input req_valid, req_data, rsp_ready, output req_ready, rsp_valid, rsp_data);
endinterface

// A lane of the load/store unit: random stores, loads and additions. It loads from and
// stores to words of its own, whose banks all lanes share, and all lanes add to one word:
// with the operation `op`, to the bytes `adds`.
module stub_lane #(
    parameter int unsigned LANE = 0,
    parameter int unsigned COUNT = 4000
) (
    input logic clk,
    input logic reset,
    input logic [3:0] op,
    input logic [3:0] adds,
    output logic done,
    output int unsigned added,
    output int unsigned last,
    VX_mem_bus_if bus
);
    localparam logic [11:0] COUNTER = 12'hfff;
    logic [31:0] words[64];
    logic [48:0] expected[$];  // {exact, tag, word}
    int unsigned asked;
    logic [31:0] number;
    wire taken = bus.req_valid & bus.req_ready;
    wire comes = bus.rsp_valid & bus.rsp_ready;
    assign done = asked == COUNT & expected.size() == 0;
    always_ff @(posedge clk) begin
        number <= reset ? 32'h1234567 * (LANE + 1) : number * 32'd1664525 + 32'd1013904223;
        bus.rsp_ready <= number[30:29] != 0;
        if (reset) begin
            bus.req_valid <= 1'b0;
            {asked, added} <= '0;
        end else begin
            if (taken) begin
                asked <= asked + 1;
                if (bus.req_data.attr != 0) begin
                    added <= added + bus.req_data.data;
                    expected.push_back({1'b0, bus.req_data.tag, 32'd0});
                end else if (bus.req_data.rw) begin
                    for (int b = 0; b < 4; b++)
                        if (bus.req_data.byteen[b])
                            words[bus.req_data.addr[5:0]][8*b+:8] <= bus.req_data.data[8*b+:8];
                end else
                    expected.push_back({1'b1, bus.req_data.tag, words[bus.req_data.addr[5:0]]});
            end
            if (taken | !bus.req_valid) begin
                bus.req_valid <= number[31] & asked + 32'(taken) < COUNT;
                bus.req_data <= '{
                    rw: number[28] & number[27:26] != 0,
                    addr: number[27:26] == 0 ? COUNTER : {6'(LANE), number[25:20]},
                    data: number[27:26] == 0 ? 32'd1 : number ^ 32'h5a5a5a5a,
                    byteen: number[27:26] == 0 ? adds : number[28] ? number[19:16] : '1,
                    attr: number[27:26] == 0 ?
                        17'({op, 1'b1}) << VX_gpu_pkg::MEM_ATTR_AMO_OFFS : '0,
                    tag: 16'(asked)
                };
            end
            if (comes) begin
                if (expected.size() == 0) $fatal(1, "FAIL: an answer to nobody");
                if (expected[0][47:32] != bus.rsp_data.tag) $fatal(1, "FAIL: another tag");
                if (expected[0][48] & expected[0][31:0] != bus.rsp_data.data)
                    $fatal(1, "FAIL: another word");
                if (!expected[0][48]) last <= bus.rsp_data.data;
                void'(expected.pop_front());
            end
        end
    end
    initial begin
        words = '{default: 0};
        last = 0;
    end
endmodule

module stub;
    logic clk = 1'b0, reset = 1'b1;
    initial forever #5 clk = !clk;
    VX_mem_bus_if lsu_bus_if[4] ();
    VX_mem_bus_if dma_bus_if ();
`ifdef VORTEX_MEM_BUS
    VX_local_mem memory (.clk, .reset, .mem_bus_if(lsu_bus_if));
`else
    VX_local_mem memory (.*);
`endif
    logic [3:0] done;
    // What no memory for Vortex performs: another operation, half of a word.
    logic [3:0] op, adds;
    initial begin
        op = $test$plusargs("exchange") ? 4'd3 : 4'd2;
        adds = $test$plusargs("half") ? 4'b0011 : 4'b1111;
    end
    int unsigned added[4], last[4];
    for (genvar i = 0; i < 4; i++) begin : lane
        stub_lane #(.LANE(i)) agent (
            .clk, .reset, .op, .adds, .done(done[i]), .added(added[i]), .last(last[i]), .bus(lsu_bus_if[i])
        );
    end
    initial begin
        repeat (3) @(negedge clk);
        reset = 1'b0;
        while (done != '1) @(negedge clk);
        // The youngest addition of all has found all the others.
        begin
            int unsigned sum, most;
            for (int i = 0; i < 4; i++) begin
                sum += added[i];
                most = last[i] > most ? last[i] : most;
            end
            if (most != sum - 1) $fatal(1, "FAIL: %0d additions, the last found %0d", sum, most);
            $display("PASS vortex: %0d additions", sum);
        end
        $finish;
    end
    initial #1000000 $fatal(1, "FAIL: no end");
endmodule
