// SPDX-License-Identifier: MIT OR Apache-2.0
// A stub of PULP's HCI, as far as pulp_tcdm names it: the interface of a narrow port.
/* verilator lint_off DECLFILENAME */
/* verilator lint_off UNDRIVEN */
/* verilator lint_off UNUSEDSIGNAL */

interface hci_core_intf #(
    parameter int unsigned DW = 32,
    parameter int unsigned AW = 32,
    parameter int unsigned BW = 8,
    parameter int unsigned UW = 1,
    parameter int unsigned IW = 25,
    parameter int unsigned EW = 1,
    parameter int unsigned EHW = 1
) (
    input logic clk
);
    logic req, gnt, wen, r_valid, r_ready, r_opc;
    logic [AW-1:0] add;
    logic [DW-1:0] data, r_data;
    logic [DW/BW-1:0] be;
    logic [UW-1:0] user, r_user;
    logic [IW-1:0] id, r_id;
    logic [EW-1:0] ecc, r_ecc;
    logic [EHW-1:0] ereq, egnt, r_evalid, r_eready;
    modport target(
        input req, add, wen, data, be, r_ready, user, id, ecc, ereq, r_eready,
        output gnt, r_data, r_valid, r_user, r_id, r_opc, r_ecc, egnt, r_evalid
    );
endinterface

// What a cluster has around it.
module stub (
    input logic clk_i,
    input logic rst_ni,
    output logic idle_o
);
`ifndef IW
`define IW 25
`endif
    hci_core_intf #(.IW(`IW)) ports[0:15] (.clk(clk_i));
    pulp_tcdm memory (.*);
endmodule
