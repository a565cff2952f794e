// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_stream: the scratchpad behind one warp-wide valid/ready port in and one
// out: word addresses are hashed here, every access is answered once, in
// order. No input has a combinational path to an output. Operations: 0 pass, 1
// load, 2 store, 3 load and lock, 4 store and unlock; others are answered with
// an error.
//
// Parameters: n = 14, m = 5, L = 32, D = 32, ROWS = 384, LOCKS = 1024,
//             LKG = 2, SMS = 2, SWIN = 0, STG = 14
// Timing:     taken in cycle t, an access of degree d is answered in
//             t+1+SMS+max(1, d) (with locks LKG * max(1, d)) if nothing is in
//             the way; one access per cycle at d <= 1
// Reference:  microarchitecture/bus.md; hash paper, section 4
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
// in  cfg_lock_hash    2  0 none, 1 XOR, 2 ADD; it and the hash change only
//                         while idle
// in  req_valid        1  an access is offered
// out req_ready        1  a request would be accepted at the end of this cycle
// in  req_op           3  operation
// in  req_mask        32  active lanes
// in  req_addr       448  word address, n bits per lane
// in  req_data      1024  data, D bits per lane
// in  req_be         128  byte enables of a store, DB bits per lane
// in  req_tag        STG  comes back with the answer
// out rsp_valid        1  an answer is offered; the rest is 0 if not
// in  rsp_ready        1  a response would be accepted
// out rsp_op           3  operation of the access
// out rsp_mask        32  active lanes of the response
// out rsp_tag        STG  tag of the response
// out rsp_data      1024  words read, or the data of a pass, D bits per lane;
//                         else 0
// out rsp_success     32  lanes that took their lock
// out rsp_error        1  unsupported operation, or a row beyond the capacity:
//                         nothing was accessed
// out rsp_degree       6  conflict degree; with a window, the cycles in which
//                         it was served
// out idle             1  no access is inside

`default_nettype none

module spad_stream #(
    parameter integer STG = 14, // 1 to 128
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
    input wire req_valid,
    output wire req_ready,
    input wire [2:0] req_op,
    input wire [31:0] req_mask,
    input wire [447:0] req_addr,
    input wire [1023:0] req_data,
    input wire [127:0] req_be,
    input wire [STG-1:0] req_tag,
    output wire rsp_valid,
    input wire rsp_ready,
    output wire [2:0] rsp_op,
    output wire [31:0] rsp_mask,
    output wire [STG-1:0] rsp_tag,
    output wire [1023:0] rsp_data,
    output wire [31:0] rsp_success,
    output wire rsp_error,
    output wire [5:0] rsp_degree,
    output wire idle
);
    localparam n = 14;
    localparam m = 5;
    localparam R = 9;
    localparam L = 32;
    localparam D = 32;
    localparam DB = 4;
    localparam LK = 10;
    localparam DG = 6;
    localparam REQUEST = STG + L*DB + L*D + L*n + L + 3;
    localparam ANSWER = STG+DG+1+L + L*D + L + 3;

    wire head_valid;
    wire head_ready;
    wire [2:0] head_op;
    wire [L-1:0] head_mask;
    wire [L*n-1:0] head_addr;
    wire [L*D-1:0] head_data;
    wire [L*DB-1:0] head_be;
    wire [STG-1:0] head_tag;
    spad_skid #(.WIDTH(REQUEST), .CLEAR(0)) requests (
        .clk(clk),
        .rst(rst),
        .in_valid(req_valid),
        .in_data({req_tag, req_be, req_data, req_addr, req_mask, req_op}),
        .in_ready(req_ready),
        .out_valid(head_valid),
        .out_data({head_tag, head_be, head_data, head_addr, head_mask, head_op}),
        .out_ready(head_ready)
    );

    wire [L*m-1:0] head_bank;
    wire [L*R-1:0] head_row;
    wire [L*LK-1:0] head_lock;

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
                .addr(head_addr[i*n +: n]),
                .bank(head_bank[i*m +: m]),
                .row(head_row[i*R +: R]),
                .lock(head_lock[i*LK +: LK])
            );
        end
    endgenerate

    /* verilator lint_off UNUSEDSIGNAL */ // this unit has no port for it
    wire sp_stages;
    wire sp_busy_more;
    wire sp_blocked;
    /* verilator lint_on UNUSEDSIGNAL */
    wire [STG-1:0] sp_resp_tag;
    wire sp_resp_valid;
    wire sp_resp_ready;
    wire [2:0] sp_resp_op;
    wire [L-1:0] sp_resp_mask;
    wire [L*D-1:0] sp_resp_data;
    wire [L-1:0] sp_resp_success;
    wire sp_resp_error;
    wire [DG-1:0] sp_resp_degree;
    spad_stream_scratchpad #(.STG(STG)) scratchpad (
        .clk(clk),
        .rst(rst),
        .req_valid(head_valid),
        .req_ready(head_ready),
        .req_op(head_op),
        .req_mask(head_mask),
        .req_bank(head_bank),
        .req_row(head_row),
        .req_lock(head_lock),
        .req_data(head_data),
        .req_be(head_be),
        .req_tag(head_tag),
        .resp_valid(sp_resp_valid),
        .resp_ready(sp_resp_ready),
        .resp_op(sp_resp_op),
        .resp_mask(sp_resp_mask),
        .resp_tag(sp_resp_tag),
        .resp_data(sp_resp_data),
        .resp_success(sp_resp_success),
        .resp_error(sp_resp_error),
        .resp_degree(sp_resp_degree),
        .stages(sp_stages),
        .busy_more(sp_busy_more),
        .blocked(sp_blocked)
    );

    spad_skid #(.WIDTH(ANSWER), .CLEAR(1)) answers (
        .clk(clk),
        .rst(rst),
        .in_valid(sp_resp_valid),
        .in_data({sp_resp_tag, sp_resp_degree, sp_resp_error, sp_resp_success, sp_resp_data,
            sp_resp_mask, sp_resp_op}),
        .in_ready(sp_resp_ready),
        .out_valid(rsp_valid),
        .out_data({rsp_tag, rsp_degree, rsp_error, rsp_success, rsp_data, rsp_mask, rsp_op}),
        .out_ready(rsp_ready)
    );

    // Accesses inside.
    wire enters = req_valid & req_ready;
    wire leaves = rsp_valid & rsp_ready;
    reg [3:0] count_q;
    always @(posedge clk) begin
        if (rst) count_q <= 4'd0;
        else if (enters & ~leaves) count_q <= count_q + 4'd1;
        else if (leaves & ~enters) count_q <= count_q - 4'd1;
    end
    assign idle = count_q == 4'd0;
endmodule

`default_nettype wire
