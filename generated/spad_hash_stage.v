// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_hash_stage: bank, row and lock of every lane's address, with the
// registers that configure the hash; with H = 1 in a pipeline stage of its
// own.
//
// Parameters: n = 14, m = 5, L = 32, D = 32, R = 9, LK = 10, H = 1
// Timing:     one cycle; cfg_* and the configuration are static while a kernel
//             runs
// Reference:  hash paper, section 4; microarchitecture/hash-stage.md
//
// par HASH_RESET      70  after a reset, the registers that hash_wr_* writes,
//                         0 in the low bits
// par ROW_RESET       27  after a reset, the registers that row_wr_* writes, 0
//                         in the low bits
// in  clk              1  clock
// in  rst              1  synchronous reset
// in  hash_wr_en       1  write a register
// in  hash_wr_index    3  register to write; an index without a register
//                         writes nothing
// in  hash_wr_data    14  index i: row mask of bank bit i
// in  row_wr_en        1  write a register
// in  row_wr_index     4  register to write; an index without a register
//                         writes nothing
// in  row_wr_data      3  index j: source of row bit j, 0 keeps addr[m+j], i+1
//                         takes addr[i]
// in  cfg_lock_hash    2  0 none, 1 XOR, 2 ADD
// in  in_valid         1  a pass is offered
// out in_ready         1  an input would be accepted at the end of this cycle
// in  in_ctl          35  its control: last, pass, pc, tag, kind, warp, from
//                         the top
// in  in_mask         32  active lanes
// in  in_addr        448  word address, n bits per lane
// in  in_data       1024  data, D bits per lane
// in  in_be          128  byte enables, DB bits per lane
// in  in_aop           4  operation of an atomic
// out out_valid        1  a pass is offered
// in  out_ready        1  an output would be accepted
// out out_ctl         35  control of the pass shown
// out out_mask        32  active lanes
// out out_bank       160  bank, m bits per lane
// out out_row        288  row, R bits per lane
// out out_lock       320  lock, LK bits per lane
// out out_data      1024  data, D bits per lane
// out out_be         128  byte enables, DB bits per lane
// out out_aop          4  operation of an atomic
// out hx_valid         1  a pass is in the hash stage

`default_nettype none

module spad_hash_stage #(
    parameter [69:0] HASH_RESET = 70'h001000200040008001,
    parameter [26:0] ROW_RESET = 27'h0000000
) (
    input wire clk,
    input wire rst,
    input wire hash_wr_en,
    input wire [2:0] hash_wr_index,
    input wire [13:0] hash_wr_data,
    input wire row_wr_en,
    input wire [3:0] row_wr_index,
    input wire [2:0] row_wr_data,
    input wire [1:0] cfg_lock_hash,
    input wire in_valid,
    output wire in_ready,
    input wire [34:0] in_ctl,
    input wire [31:0] in_mask,
    input wire [447:0] in_addr,
    input wire [1023:0] in_data,
    input wire [127:0] in_be,
    input wire [3:0] in_aop,
    output wire out_valid,
    input wire out_ready,
    output wire [34:0] out_ctl,
    output wire [31:0] out_mask,
    output wire [159:0] out_bank,
    output wire [287:0] out_row,
    output wire [319:0] out_lock,
    output wire [1023:0] out_data,
    output wire [127:0] out_be,
    output wire [3:0] out_aop,
    output wire hx_valid
);
    localparam L = 32;
    localparam n = 14;
    localparam m = 5;
    localparam R = 9;
    localparam LK = 10;
    localparam D = 32;
    localparam CTL = 35;
    localparam DB = 4;

    // Outputs from registers.
    reg hx_valid_q;
    assign hx_valid = hx_valid_q;

    // The hash has a stage of its own, after this register.
    reg [CTL-1:0] hx_ctl_q; // no reset: `hx_valid_q` covers it
    reg [L-1:0] hx_mask_q; // no reset: `hx_valid_q` covers it
    reg [L*n-1:0] hx_addr_q; // no reset: `hx_valid_q` covers it
    reg [L*D-1:0] hx_data_q; // no reset: `hx_valid_q` covers it
    reg [L*DB-1:0] hx_be_q; // no reset: `hx_valid_q` covers it
    reg [3:0] hx_aop_q; // no reset: `hx_valid_q` covers it
    assign in_ready = ~hx_valid_q | out_ready;
    always @(posedge clk) begin
        if (rst) hx_valid_q <= 1'b0;
        else if (in_ready) hx_valid_q <= in_valid;
    end
    always @(posedge clk) begin
        if (in_ready) begin
            hx_ctl_q <= in_ctl;
            hx_mask_q <= in_mask;
            hx_addr_q <= in_addr;
            hx_data_q <= in_data;
            hx_be_q <= in_be;
            hx_aop_q <= in_aop;
        end
    end
    assign out_valid = hx_valid_q;
    assign out_ctl = hx_ctl_q;
    assign out_mask = hx_mask_q;
    assign out_data = hx_data_q;
    assign out_be = hx_be_q;
    assign out_aop = hx_aop_q;

    // Bank, row and lock of each lane.
    wire [69:0] cfg_rows;
    spad_hash_config_matrix #(.RESET(HASH_RESET)) hash_config (
        .clk(clk),
        .rst(rst),
        .wr_en(hash_wr_en),
        .wr_index(hash_wr_index),
        .wr_data(hash_wr_data),
        .cfg_rows(cfg_rows)
    );
    wire [53:0] cfg_row_sel;
    spad_hash_config_row_map #(.RESET(ROW_RESET)) row_config (
        .clk(clk),
        .rst(rst),
        .wr_en(row_wr_en),
        .wr_index(row_wr_index),
        .wr_data(row_wr_data),
        .cfg_row_sel(cfg_row_sel)
    );
    genvar i;
    generate
        for (i = 0; i < L; i = i + 1) begin : lane
            spad_lane_hash hash (
                .cfg_rows(cfg_rows),
                .cfg_row_sel(cfg_row_sel),
                .cfg_lock_hash(cfg_lock_hash),
                .addr(hx_addr_q[i*n +: n]),
                .bank(out_bank[i*m +: m]),
                .row(out_row[i*R +: R]),
                .lock(out_lock[i*LK +: LK])
            );
        end
    endgenerate
endmodule

`default_nettype wire
