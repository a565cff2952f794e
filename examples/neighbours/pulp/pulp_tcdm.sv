// SPDX-License-Identifier: MIT OR Apache-2.0
// pulp_tcdm: spad_tcdm behind the narrow ports of a PULP cluster's interconnect to its
// tightly coupled data memory: cores, DMA and outside, in the order of `ports`. It has
// interconnect and banks. A load with address bit TS_BIT is a test-and-set.

module pulp_tcdm
    import spad_pkg::*;
#(
    parameter int unsigned TS_BIT = 20
) (
    input logic clk_i,
    input logic rst_ni,
    hci_core_intf.target ports[0:LANES-1],
    output logic idle_o
);
    tcdm_req_t [LANES-1:0] req;
    tcdm_rsp_t [LANES-1:0] rsp;
    for (genvar i = 0; i < LANES; i++) begin : lane
`ifndef SYNTHESIS
        initial
            if ($bits(ports[i].id) != TCDM_ID_BITS || $bits(ports[i].data) != WORD_BITS)
                $fatal(1, "port %0d: emit spad_tcdm with IW = %0d and DW = %0d", i,
                       $bits(ports[i].id), $bits(ports[i].data));
`endif
        wire test_and_set = ports[i].wen & ports[i].add[TS_BIT];
        always_comb begin
            req[i] = '0;
            req[i].req = ports[i].req;
            req[i].add = ports[i].add[2+:ADDR_BITS];
            req[i].wen = ports[i].wen;
            req[i].wdata = test_and_set ? '1 : ports[i].data;
            req[i].be = ports[i].be;
            req[i].amo = test_and_set;
            req[i].aop = AMO_SWAP;
            req[i].id = ports[i].id;
        end
        assign ports[i].gnt = rsp[i].gnt;
        assign ports[i].r_valid = rsp[i].r_valid;
        assign ports[i].r_data = rsp[i].r_rdata;
        assign ports[i].r_opc = rsp[i].r_opc;
        assign ports[i].r_user = '0;
        assign ports[i].r_id = rsp[i].r_id;
        assign ports[i].r_ecc = '0;  // there is no ECC
        assign ports[i].egnt = '0;
        assign ports[i].r_evalid = '0;
    end

    spad_tcdm_sv memory (
        .clk(clk_i),
        .rst_n(rst_ni),
        .hash_wr_en(1'b0),
        .hash_wr_index('0),
        .hash_wr_data('0),
        .row_wr_en(1'b0),
        .row_wr_index('0),
        .row_wr_data('0),
        .req(req),
        .rsp(rsp),
        .idle(idle_o)
    );
endmodule
