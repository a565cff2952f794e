// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_tcdm: the banks behind a request/grant/valid port per lane. Each bank
// serves one of the lanes that request it in turn, together with those that
// read the same word (BCAST = 1) or write it (MERGE = 1). Answers come in the
// order of a lane's requests.
//
// Parameters: n = 14, m = 5, L = 32, D = 32, ROWS = 384, BCAST = 1, MERGE = 1,
//             TREQ = 0, TRSP = 0, TID = 0
// Timing:     the grant depends on the requests in the same cycle; the answer
//             comes 1 + TRSP cycles later
// Reference:  microarchitecture/bus.md
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
// in  tcdm_req        32  the lane requests
// out tcdm_gnt        32  the lane's request is taken at the end of this cycle
// in  tcdm_add       448  word address, n bits per lane
// in  tcdm_wen        32  1 read, 0 write
// in  tcdm_wdata    1024  data, D bits per lane
// in  tcdm_be        128  byte enables of a write, DB bits per lane
// out tcdm_r_valid    32  the lane's oldest request is answered; there is no
//                         ready
// out tcdm_r_rdata  1024  the word read; else 0
// out tcdm_r_opc      32  the address is beyond the capacity: nothing was
//                         accessed
// out idle             1  nothing is inside

`default_nettype none

module spad_tcdm #(
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
    localparam [1:0] LOCK_HASH_NONE = 2'd0;
    localparam n = 14;
    localparam m = 5;
    localparam B = 32;
    localparam R = 9;
    localparam RW = 9;
    localparam L = 32;
    localparam LW = 5;
    localparam D = 32;
    localparam DB = 4;
    localparam LK = 10;

    // Outputs from registers.
    reg [L-1:0] tcdm_r_valid_q;
    reg [L-1:0] tcdm_r_opc_q;
    assign tcdm_r_valid = tcdm_r_valid_q;
    assign tcdm_r_opc = tcdm_r_opc_q;
    wire [L-1:0] takes;
    /* verilator lint_off UNUSEDSIGNAL */ // only the rules ask for it
    wire any;
    /* verilator lint_on UNUSEDSIGNAL */
    assign any = |tcdm_req;
    wire [L*m-1:0] bank;
    wire [L*R-1:0] row;
    /* verilator lint_off UNUSEDSIGNAL */ // this bus has no operation with locks
    wire [L*LK-1:0] lock;
    /* verilator lint_on UNUSEDSIGNAL */

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
                .cfg_lock_hash(LOCK_HASH_NONE),
                .addr(tcdm_add[i*n +: n]),
                .bank(bank[i*m +: m]),
                .row(row[i*R +: R]),
                .lock(lock[i*LK +: LK])
            );
        end
    endgenerate

    wire [L-1:0] beyond;
    generate
        for (i = 0; i < L; i = i + 1) begin : range
            assign beyond[i] = tcdm_req[i] & (row[i*R +: R] >= 9'd384);
        end
    endgenerate
    wire [L-1:0] in_range = tcdm_req & ~beyond;

    // Lanes that do the same with the same word, in row i those alike lane i. A
    // lane owns the bytes that it enables and no lower lane of these does. Both
    // are found beside the choice of the banks, which would be slower if they
    // waited for it.
    genvar j;
    wire [L*L-1:0] alike;
    wire [L*DB-1:0] owned;
    genvar k;
    generate
        for (i = 0; i < L; i = i + 1) begin : alike_of
            for (j = 0; j < L; j = j + 1) begin : with_lane
                assign alike[i*L + j] = tcdm_req[i] & (tcdm_add[i*n +: n] == tcdm_add[j*n +: n])
                    & ~(tcdm_wen[i] ^ tcdm_wen[j]);
            end
        end
        for (i = 0; i < L; i = i + 1) begin : bytes_of
            for (k = 0; k < DB; k = k + 1) begin : enable
                wire [L-1:0] lower;
                for (j = 0; j < L; j = j + 1) begin : below
                    assign lower[j] = (j < i) & alike[j*L + i] & tcdm_be[j*DB + k];
                end
                assign owned[i*DB + k] = tcdm_be[i*DB + k] & ~(|lower);
            end
        end
    endgenerate

    // Each bank chooses one of the lanes that want it: the next in the order
    // after the one that it chose last.
    reg [B*LW-1:0] last_q;
    wire [B*L-1:0] turns;
    wire [L-1:0] served;
    wire [B*D-1:0] words;
    genvar g;
    generate
        for (g = 0; g < B; g = g + 1) begin : bank_of
            wire [L-1:0] want;
            for (i = 0; i < L; i = i + 1) begin : wants
                assign want[i] = in_range[i] & (bank[i*m +: m] == g);
            end
            wire used = |want;
            wire [LW-1:0] number;
            spad_turn round_robin (
                .want(want),
                .last(last_q[g*LW +: LW]),
                .turn(turns[g*L +: L]),
                .number(number)
            );
            always @(posedge clk) begin
                if (rst) last_q[g*LW +: LW] <= {LW{1'b1}};
                else if (used) last_q[g*LW +: LW] <= number;
            end
            wire [R-1:0] turn_row;
            wire writes = |(turns[g*L +: L] & ~tcdm_wen);
            wire [D-1:0] wdata;
            wire [DB-1:0] wbe;
            spad_pick #(.COUNT(L), .WIDTH(R)) row_of (
                .pick(turns[g*L +: L]),
                .words(row),
                .word(turn_row)
            );
            wire [L-1:0] group;
            for (i = 0; i < L; i = i + 1) begin : in_group
                assign group[i] = |(turns[g*L +: L] & alike[i*L +: L]);
            end
            for (k = 0; k < DB; k = k + 1) begin : byte_of
                wire [L-1:0] writer;
                wire [L*8-1:0] bytes;
                for (i = 0; i < L; i = i + 1) begin : of_lane
                    assign writer[i] = group[i] & owned[i*DB + k];
                    assign bytes[i*8 +: 8] = tcdm_wdata[i*D + k*8 +: 8];
                end
                spad_pick #(.COUNT(L), .WIDTH(8)) byte_for (
                    .pick(writer),
                    .words(bytes),
                    .word(wdata[k*8 +: 8])
                );
                assign wbe[k] = |writer;
            end
            spad_bank_ram ram (
                .clk(clk),
                .rst(rst),
                .en(used),
                .we(writes),
                .be(wbe),
                .row(turn_row[RW-1:0]),
                .wdata(wdata),
                .dout(words[g*D +: D])
            );
        end
    endgenerate

    // A lane is served if it is its turn in its bank, or that of a lane that
    // does the same with the same word.
    wire [L-1:0] picked;
    generate
        for (i = 0; i < L; i = i + 1) begin : picked_of
            wire [B-1:0] by;
            for (g = 0; g < B; g = g + 1) begin : by_bank
                assign by[g] = turns[g*L + i];
            end
            assign picked[i] = |by;
        end
        for (i = 0; i < L; i = i + 1) begin : served_of
            assign served[i] = |(picked & alike[i*L +: L]);
        end
    endgenerate
    assign takes = served | beyond;
    assign tcdm_gnt = takes;

    // The answers: a lane that has read is shown the word of its bank.
    reg [L-1:0] reads_q;
    reg [L*m-1:0] from_q; // no reset: `reads_q` covers it
    always @(posedge clk) begin
        if (rst) reads_q <= {L{1'b0}};
        else reads_q <= takes & in_range & tcdm_wen;
    end
    always @(posedge clk) begin
        from_q <= bank;
    end
    generate
        for (i = 0; i < L; i = i + 1) begin : answer_of
            wire [m-1:0] from_bank = from_q[i*m +: m];
            wire [D-1:0] word;
            spad_select #(.BITS(m), .WIDTH(D)) word_of (
                .index(from_bank),
                .words(words),
                .word(word)
            );
            assign tcdm_r_rdata[i*D +: D] = word & {D{reads_q[i]}};
        end
    endgenerate
    always @(posedge clk) begin
        if (rst) begin
            tcdm_r_valid_q <= {L{1'b0}};
            tcdm_r_opc_q <= {L{1'b0}};
        end else begin
            tcdm_r_valid_q <= takes;
            tcdm_r_opc_q <= beyond;
        end
    end
    assign idle = ~(|tcdm_r_valid_q);
endmodule

`default_nettype wire
