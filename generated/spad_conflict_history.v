// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_conflict_history: remembers the excess conflict degree of memory
// instructions by program counter: 2 ways, SETS sets, the way not updated last
// is replaced; a miss predicts 0.
//
// Parameters: SETS = 256, PCW = 14, EX = 5
// Timing:     look-up: one cycle; an update is seen from the next cycle on
// Reference:  elastic paper, section 5.2; docs/microarchitecture.md, section
//             13
//
// in  clk         1  clock
// in  rst         1  synchronous reset
// in  clear       1  kernel launch: forget everything; goes before an update
// in  lk_valid    1  look-up
// in  lk_pc      14  its program counter
// out lk_done     1  the look-up of the previous cycle is answered
// out lk_hit      1  it hits
// out lk_excess   5  the value; 0 on a miss
// in  up_valid    1  update
// in  up_pc      14  its program counter
// in  up_excess   5  the value

module spad_conflict_history (
    input wire clk,
    input wire rst,
    input wire clear,
    input wire lk_valid,
    input wire [13:0] lk_pc,
    output wire lk_done,
    output wire lk_hit,
    output wire [4:0] lk_excess,
    input wire up_valid,
    input wire [13:0] up_pc,
    input wire [4:0] up_excess
);
    localparam SETS = 256;
    localparam TAG = 6;
    localparam EX = 5;

    // Tags and values have no reset: `valid` qualifies them.
    reg [TAG-1:0] tag0 [0:SETS-1];
    reg [TAG-1:0] tag1 [0:SETS-1];
    reg [EX-1:0] excess0 [0:SETS-1];
    reg [EX-1:0] excess1 [0:SETS-1];
    reg [SETS-1:0] valid0;
    reg [SETS-1:0] valid1;
    reg [SETS-1:0] lru;

    wire [7:0] lk_set = lk_pc[7:0];
    wire [TAG-1:0] lk_tag = lk_pc[13:8];
    wire lk_hit0 = valid0[lk_set] & (tag0[lk_set] == lk_tag);
    wire lk_hit1 = valid1[lk_set] & (tag1[lk_set] == lk_tag);

    wire [7:0] up_set = up_pc[7:0];
    wire [TAG-1:0] up_tag = up_pc[13:8];
    wire up_hit0 = valid0[up_set] & (tag0[up_set] == up_tag);
    wire up_hit1 = valid1[up_set] & (tag1[up_set] == up_tag);
    // The matching way, else the one not used last: `lru` starts at way 0 and
    // points to the free way until both are taken.
    wire way = up_hit0 ? 1'b0 : up_hit1 ? 1'b1 : lru[up_set];

    reg done;
    reg hit;
    reg [EX-1:0] excess;
    assign lk_done = done;
    assign lk_hit = hit;
    assign lk_excess = excess;

    always @(posedge clk) begin
        if (up_valid & ~way) begin
            tag0[up_set] <= up_tag;
            excess0[up_set] <= up_excess;
        end
        if (up_valid & way) begin
            tag1[up_set] <= up_tag;
            excess1[up_set] <= up_excess;
        end
    end

    always @(posedge clk) begin
        if (rst | clear) begin
            valid0 <= {SETS{1'b0}};
            valid1 <= {SETS{1'b0}};
            lru <= {SETS{1'b0}};
        end else if (up_valid) begin
            lru[up_set] <= ~way;
            if (way) valid1[up_set] <= 1'b1;
            else valid0[up_set] <= 1'b1;
        end
    end

    always @(posedge clk) begin
        if (rst) begin
            done <= 1'b0;
            hit <= 1'b0;
            excess <= {EX{1'b0}};
        end else begin
            done <= lk_valid;
            hit <= lk_valid & (lk_hit0 | lk_hit1);
            excess <= ~lk_valid ? {EX{1'b0}}
                    : lk_hit0 ? excess0[lk_set]
                    : lk_hit1 ? excess1[lk_set]
                    : {EX{1'b0}};
        end
    end
endmodule
