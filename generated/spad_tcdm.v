// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_tcdm: the scratchpad behind a request/grant/valid port per lane. The
// lanes that ask in one cycle are granted together; their reads are one
// access, their writes another one after it. Answers come in the order of a
// lane's requests. No input has a combinational path to an output.
//
// Parameters: n = 14, m = 5, L = 32, D = 32, ROWS = 384, MS = 4
// Timing:     granted in cycle t, lanes of one kind and degree d are answered
//             in t+1+MS+max(1, d) if nothing is in the way; one access per
//             cycle at d <= 1
// Reference:  microarchitecture/bus.md
//
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
// in  tcdm_req        32  the lane asks
// out tcdm_gnt        32  a lane that asks is taken at the end of this cycle;
//                         the same for all lanes
// in  tcdm_add       448  word address, n bits per lane
// in  tcdm_wen        32  1 read, 0 write
// in  tcdm_wdata    1024  data, D bits per lane
// in  tcdm_be        128  byte enables of a write, BE bits per lane
// out tcdm_r_valid    32  the lane's oldest request is answered; there is no
//                         ready
// out tcdm_r_rdata  1024  the word read; else 0
// out tcdm_r_opc      32  the address is beyond the capacity: nothing was
//                         accessed
// out idle             1  nothing is inside

`default_nettype none

module spad_tcdm (
    input wire clk,
    input wire rst,
    input wire hash_wr_en,
    input wire [2:0] hash_wr_index,
    input wire [13:0] hash_wr_data,
    input wire row_wr_en,
    input wire [3:0] row_wr_index,
    input wire [2:0] row_wr_data,
    input wire [31:0] tcdm_req,
    output wire [31:0] tcdm_gnt,
    input wire [447:0] tcdm_add,
    input wire [31:0] tcdm_wen,
    input wire [1023:0] tcdm_wdata,
    input wire [127:0] tcdm_be,
    output wire [31:0] tcdm_r_valid,
    output wire [1023:0] tcdm_r_rdata,
    output wire [31:0] tcdm_r_opc,
    output wire idle
);
    localparam [2:0] OP_LOAD = 3'd1;
    localparam [2:0] OP_STORE = 3'd2;
    localparam [2:0] OP_UNSUPPORTED = 3'd7;
    localparam [1:0] LOCK_HASH_NONE = 2'd0;
    localparam n = 14;
    localparam m = 5;
    localparam R = 9;
    localparam L = 32;
    localparam D = 32;
    localparam BE = 4;
    localparam LK = 10;
    localparam BATCH = L*BE + L*D + L*n + L + L;

    // Outputs from registers.
    reg [L-1:0] tcdm_r_valid_q;
    reg [L*D-1:0] tcdm_r_rdata_q;
    reg [L-1:0] tcdm_r_opc_q;
    assign tcdm_r_valid = tcdm_r_valid_q;
    assign tcdm_r_rdata = tcdm_r_rdata_q;
    assign tcdm_r_opc = tcdm_r_opc_q;

    // The lanes that ask in one cycle are a batch.
    wire batch_ready;
    wire head_valid;
    wire head_done;
    wire [L-1:0] head_req;
    wire [L-1:0] head_wen;
    wire [L*n-1:0] head_addr;
    wire [L*D-1:0] head_data;
    wire [L*BE-1:0] head_be;
    spad_skid #(.WIDTH(BATCH), .CLEAR(0)) batches (
        .clk(clk),
        .rst(rst),
        .in_valid(|tcdm_req),
        .in_data({tcdm_be, tcdm_wdata, tcdm_add, tcdm_wen, tcdm_req}),
        .in_ready(batch_ready),
        .out_valid(head_valid),
        .out_data({head_be, head_data, head_addr, head_wen, head_req}),
        .out_ready(head_done)
    );
    assign tcdm_gnt = {L{batch_ready}};

    wire [L*m-1:0] head_bank;
    wire [L*R-1:0] head_row;
    /* verilator lint_off UNUSEDSIGNAL */ // this bus has no operation with locks
    wire [L*LK-1:0] head_lock;
    /* verilator lint_on UNUSEDSIGNAL */

    // Bank, row and lock of each lane.
    wire [69:0] cfg_rows;
    spad_hash_config_matrix hash_config (
        .clk(clk),
        .rst(rst),
        .wr_en(hash_wr_en),
        .wr_index(hash_wr_index),
        .wr_data(hash_wr_data),
        .cfg_rows(cfg_rows)
    );
    wire [53:0] cfg_row_sel;
    spad_hash_config_row_map row_config (
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
                .cfg_lock_hash(LOCK_HASH_NONE),
                .addr(head_addr[i*n +: n]),
                .bank(head_bank[i*m +: m]),
                .row(head_row[i*R +: R]),
                .lock(head_lock[i*LK +: LK])
            );
        end
    endgenerate

    // Its reads are one access, its writes the next; lanes beyond the capacity
    // are answered after both. A part without lanes takes no cycle.
    reg did_loads_q;
    reg did_stores_q;
    wire [L-1:0] beyond;
    generate
        for (i = 0; i < L; i = i + 1) begin : range
            assign beyond[i] = head_req[i] & (head_row[i*R +: R] >= 9'd384);
        end
    endgenerate
    wire [L-1:0] loads = head_req & ~beyond & head_wen;
    wire [L-1:0] stores = head_req & ~beyond & ~head_wen;
    wire loads_left = (|loads) & ~did_loads_q;
    wire stores_left = (|stores) & ~did_stores_q;
    wire errors_left = |beyond;
    wire [L-1:0] part = loads_left ? loads
        : stores_left ? stores
        : beyond;
    wire [2:0] part_op = loads_left ? OP_LOAD
        : stores_left ? OP_STORE
        : OP_UNSUPPORTED;
    wire last = loads_left ? ~stores_left & ~errors_left : ~(stores_left & errors_left);

    wire sp_req_ready;
    wire goes = head_valid & sp_req_ready;
    assign head_done = last & sp_req_ready;
    always @(posedge clk) begin
        if (rst) begin
            did_loads_q <= 1'b0;
            did_stores_q <= 1'b0;
        end else if (goes) begin
            did_loads_q <= ~last & (did_loads_q | loads_left);
            did_stores_q <= ~last & (did_stores_q | (stores_left & ~loads_left));
        end
    end

    /* verilator lint_off UNUSEDSIGNAL */ // this unit has no port for it
    wire [2:0] sp_resp_op;
    wire [42:0] sp_resp_tag;
    wire [31:0] sp_resp_success;
    wire [5:0] sp_resp_degree;
    wire [2:0] sp_stages;
    wire sp_busy_more;
    wire sp_blocked;
    /* verilator lint_on UNUSEDSIGNAL */
    wire sp_resp_valid;
    wire [L-1:0] sp_resp_mask;
    wire [L*D-1:0] sp_resp_data;
    wire sp_resp_error;
    spad_scratchpad scratchpad (
        .clk(clk),
        .rst(rst),
        .req_valid(head_valid),
        .req_ready(sp_req_ready),
        .req_op(part_op),
        .req_mask(part),
        .req_bank(head_bank),
        .req_row(head_row),
        .req_lock(320'd0),
        .req_data(head_data),
        .req_be(head_be),
        .req_tag(43'd0),
        .resp_valid(sp_resp_valid),
        .resp_ready(1'b1),
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

    // The answers, and the accesses inside the scratchpad.
    always @(posedge clk) begin
        if (rst) begin
            tcdm_r_valid_q <= {L{1'b0}};
            tcdm_r_rdata_q <= {(L*D){1'b0}};
            tcdm_r_opc_q <= {L{1'b0}};
        end else begin
            tcdm_r_valid_q <= sp_resp_mask;
            tcdm_r_rdata_q <= sp_resp_data;
            tcdm_r_opc_q <= sp_resp_mask & {L{sp_resp_error}};
        end
    end
    reg [3:0] count_q;
    always @(posedge clk) begin
        if (rst) count_q <= 4'd0;
        else if (goes & ~sp_resp_valid) count_q <= count_q + 4'd1;
        else if (sp_resp_valid & ~goes) count_q <= count_q - 4'd1;
    end
    assign idle = ~head_valid & (count_q == 4'd0) & ~(|tcdm_r_valid_q);
endmodule

`default_nettype wire
