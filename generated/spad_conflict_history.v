// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_conflict_history: remembers the excess conflict degree of memory
// instructions by program counter: 2 ways, SETS sets, the way not updated last
// is replaced; a miss predicts 0. Tags and values are in synchronous memories.
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
    localparam PCW = 14;
    localparam TAG = 6;
    localparam EX = 5;

    // Per way and set: valid; per set: the way to be replaced next.
    reg [SETS-1:0] valid0;
    reg [SETS-1:0] valid1;
    reg [SETS-1:0] lru;

    // The update of the previous cycle: it reads what its set has while it is
    // offered, and is written one cycle later. Not reset: `update_valid` covers
    // it.
    reg update_valid;
    reg [PCW-1:0] update_pc;
    reg [EX-1:0] update_excess;
    reg update_beside0;
    reg update_beside1;
    reg update_again;
    reg update_valid1;
    reg update_lru;
    wire update_way;

    wire up_valid1;
    wire up_lru;
    wire [7:0] update_set = update_pc[7:0];
    wire [5:0] update_tag = update_pc[13:8];
    wire [7:0] up_set = up_pc[7:0];
    wire [5:0] up_tag = up_pc[13:8];
    wire write0 = update_valid & ~update_way;
    wire write1 = update_valid & update_way;
    // Behind an update of the same set: the way that it wrote, and whether it was
    // for the same program counter.
    wire same_set = update_set == up_set;
    wire beside0_next = write0 & same_set;
    wire beside1_next = write1 & same_set;
    wire again_next = update_tag == up_tag;
    wire update_valid1_next = up_valid1 | beside1_next;
    wire update_lru_next = (update_valid & same_set) ? ~update_way : up_lru;
    wire update_valid_next = up_valid & ~clear;
    assign up_valid1 = valid1[up_set];
    assign up_lru = lru[up_set];

    always @(posedge clk) begin
        if (rst) update_valid <= 1'b0;
        else update_valid <= update_valid_next;
    end
    always @(posedge clk) begin
        if (up_valid) begin
            update_pc <= up_pc;
            update_excess <= up_excess;
            update_beside0 <= beside0_next;
            update_beside1 <= beside1_next;
            update_again <= again_next;
            update_valid1 <= update_valid1_next;
            update_lru <= update_lru_next;
        end
    end

    // A look-up beside the writing of its set: the way that is written answers
    // with what is written.
    wire lk_valid0;
    wire lk_valid1;
    wire [7:0] lk_set = lk_pc[7:0];
    wire [5:0] lk_tag = lk_pc[13:8];
    wire lk_beside = update_valid & (update_set == lk_set);
    wire there0_next = lk_valid0 & ~(lk_beside & ~update_way);
    wire there1_next = lk_valid1 & ~(lk_beside & update_way);
    wire written_next = lk_beside & (update_tag == lk_tag);
    assign lk_valid0 = valid0[lk_set];
    assign lk_valid1 = valid1[lk_set];

    wire [TAG+EX-1:0] found0;
    wire [TAG+EX-1:0] found1;
    spad_table_ram_256x11 entries0 (
        .clk(clk),
        .rd_en(lk_valid),
        .rd_row(lk_set),
        .rd_data(found0),
        .wr_en(write0),
        .wr_row(update_set),
        .wr_data({update_tag, update_excess})
    );
    spad_table_ram_256x11 entries1 (
        .clk(clk),
        .rd_en(lk_valid),
        .rd_row(lk_set),
        .rd_data(found1),
        .wr_en(write1),
        .wr_row(update_set),
        .wr_data({update_tag, update_excess})
    );

    reg done;
    reg there0;
    reg there1;
    reg written;
    reg [TAG-1:0] tag;
    reg [EX-1:0] excess;
    always @(posedge clk) begin
        if (rst) done <= 1'b0;
        else done <= lk_valid;
    end
    // Of whatever stands at `lk_pc`: `done` covers it.
    always @(posedge clk) begin
        there0 <= there0_next;
        there1 <= there1_next;
        written <= written_next;
        tag <= lk_tag;
        excess <= update_excess;
    end

    wire hit0 = done & there0 & (found0[10:5] == tag);
    wire hit1 = done & there1 & (found1[10:5] == tag);
    wire hit_written = done & written;
    assign lk_done = done;
    assign lk_hit = hit_written | hit0 | hit1;
    assign lk_excess = (excess & {5{hit_written}}) | (found0[4:0] & {5{hit0}})
        | (found1[4:0] & {5{hit1}});

    // Update: a copy of the tags, with a port of its own.
    wire [TAG-1:0] tag0;
    wire [TAG-1:0] tag1;
    spad_table_ram_256x6 tags0 (
        .clk(clk),
        .rd_en(up_valid),
        .rd_row(up_set),
        .rd_data(tag0),
        .wr_en(write0),
        .wr_row(update_set),
        .wr_data(update_tag)
    );
    spad_table_ram_256x6 tags1 (
        .clk(clk),
        .rd_en(up_valid),
        .rd_row(up_set),
        .rd_data(tag1),
        .wr_en(write1),
        .wr_row(update_set),
        .wr_data(update_tag)
    );

    wire update_match0 = update_beside0 ? update_again : (tag0 == update_tag);
    wire update_match1 = update_beside1 ? update_again : (tag1 == update_tag);
    wire update_hit1 = update_valid1 & update_match1;
    // `lru` starts at way 0 and points to the free way until both are taken: so
    // way 0 needs no valid bit here. While it is free, way 1 is free too, and both
    // its match and `lru` choose way 0.
    assign update_way = update_match0 ? 1'b0
        : update_hit1 ? 1'b1
        : update_lru;

    always @(posedge clk) begin
        if (rst) begin
            valid0 <= {SETS{1'b0}};
            valid1 <= {SETS{1'b0}};
            lru <= {SETS{1'b0}};
        end else if (clear) begin
            valid0 <= {SETS{1'b0}};
            valid1 <= {SETS{1'b0}};
            lru <= {SETS{1'b0}};
        end else if (update_valid) begin
            lru[update_set] <= ~update_way;
            if (update_way) valid1[update_set] <= 1'b1;
            else valid0[update_set] <= 1'b1;
        end
    end
endmodule
