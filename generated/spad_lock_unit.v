// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_lock_unit: the lock bits of the scratchpad. A group's leaders are
// looked at in LKG windows, one per cycle; for each lock asked for and free,
// the lowest lane of the window takes it.
//
// Parameters: LOCKS = 1024, LK = 10, L = 32, LKG = 2, P = 16
// Timing:     success in the cycle of the request; the bit changes at its end
// Reference:  atomics paper, section II.A; microarchitecture/lock-unit.md
//
// in  clk           1  clock
// in  rst           1  synchronous reset
// in  lk_valid      1  a window is served in this cycle
// in  lk_win        1  its number; lanes lk_win*P to lk_win*P+P-1
// in  lk_op         3  3 load-and-lock, 4 store-and-unlock; others do nothing
// in  lk_req       32  lanes that ask: the group's leaders
// in  lk_addr     320  lock, LK bits per lane
// out lk_success   32  lanes that take their lock now; of an unlock, those
//                      that own their lock (LKO = 1)
// out lk_error      1  the operation is not supported (5 to 7)
// out lk_held    1024  the lock bits

`default_nettype none

module spad_lock_unit (
    input wire clk,
    input wire rst,
    input wire lk_valid,
    input wire lk_win,
    input wire [2:0] lk_op,
    input wire [31:0] lk_req,
    input wire [319:0] lk_addr,
    output wire [31:0] lk_success,
    output wire lk_error,
    output wire [1023:0] lk_held
);
    localparam [2:0] OP_LDLK = 3'd3;
    localparam [2:0] OP_STUL = 3'd4;
    localparam LOCKS = 1024;
    localparam LK = 10;
    localparam P = 16;
    localparam LOCK_ROWS = 32;
    localparam LOCK_ROW_BITS = 5;
    localparam LOCK_COLS = 32;
    localparam LOCK_COL_BITS = 5;

    wire take = lk_valid & (lk_op == OP_LDLK);
    wire give = lk_valid & (lk_op == OP_STUL);
    assign lk_error = lk_valid & (lk_op > OP_STUL);
    reg [LOCKS-1:0] lock_q;

    // The lanes of this window.
    wire [P-1:0] req;
    wire [P*LK-1:0] addr;
    spad_select #(.BITS(1), .WIDTH(P)) window_req (
        .index(lk_win),
        .words(lk_req),
        .word(req)
    );
    spad_select #(.BITS(1), .WIDTH(P*LK)) window_addr (
        .index(lk_win),
        .words(lk_addr),
        .word(addr)
    );

    // Each lock is a crossing of a row and a column: two small decoders per
    // lane and one AND per lock are less than a full decoder.
    wire [LOCK_ROWS*P-1:0] at_row;
    wire [LOCK_COLS*P-1:0] at_col;
    wire [LOCKS-1:0] asked;
    // Per lane: its lock is taken; an earlier lane asks for it.
    wire [P-1:0] held;
    wire [P-1:0] beaten;
    assign beaten[0] = 1'b0;
    genvar i, j, r, c;
    generate
        for (i = 0; i < P; i = i + 1) begin : lane
            for (r = 0; r < LOCK_ROWS; r = r + 1) begin : row
                assign at_row[r*P + i] = req[i]
                    & (addr[i*LK + LOCK_COL_BITS +: LOCK_ROW_BITS] == r);
            end
            for (c = 0; c < LOCK_COLS; c = c + 1) begin : col
                assign at_col[c*P + i] = addr[i*LK +: LOCK_COL_BITS] == c;
            end
            assign held[i] = lock_q[addr[i*LK +: LK]];
        end
        for (r = 0; r < LOCK_ROWS; r = r + 1) begin : lock_row
            for (c = 0; c < LOCK_COLS; c = c + 1) begin : lock_col
                assign asked[r*LOCK_COLS + c] = |(at_row[r*P +: P] & at_col[c*P +: P]);
            end
        end
        for (i = 1; i < P; i = i + 1) begin : later
            wire [i-1:0] same;
            for (j = 0; j < i; j = j + 1) begin : earlier
                assign same[j] = req[j] & (addr[j*LK +: LK] == addr[i*LK +: LK]);
            end
            assign beaten[i] = |same;
        end
    endgenerate

    // The lowest lane that asks for a free lock takes it.
    wire [P-1:0] win = req & {P{take}} & ~beaten & ~held;

    wire [LOCKS-1:0] lock_d = (lock_q & ~asked) | (asked & {LOCKS{take}});
    always @(posedge clk) begin
        if (rst) lock_q <= {LOCKS{1'b0}};
        else if (take | give) lock_q <= lock_d;
    end

    generate
        for (i = 0; i < 2; i = i + 1) begin : window
            assign lk_success[i*P +: P] = win & {P{lk_win == i}};
        end
    endgenerate
    assign lk_held = lock_q;
endmodule

`default_nettype wire
