// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_conflict_history: remembers the excess conflict degree of memory
// instructions by program counter: 2 ways, SETS sets, the way not updated last
// is replaced; a miss predicts 0. Tags and values are in synchronous memories.
//
// Parameters: SETS = 256, PCW = 14, EX = 5
// Timing:     look-up: one cycle; an update is seen from the next cycle on
// Reference:  elastic paper, section 5.2;
//             microarchitecture/conflict-history.md
//
// in  clk         1  clock
// in  rst         1  synchronous reset
// in  clear       1  kernel launch: clears all entries; has priority over an
//                    update
// in  lk_valid    1  look-up
// in  lk_pc      14  program counter of the look-up
// out lk_done     1  the look-up of the previous cycle is answered
// out lk_hit      1  the look-up hits
// out lk_excess   5  the value; 0 on a miss
// in  up_valid    1  update
// in  up_pc      14  program counter of the update
// in  up_excess   5  the value

`default_nettype none

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
    localparam PCW = 14;
    localparam EX = 5;
    localparam SETS = 256;
    localparam TAG = 6;

    // Per way and set: valid; per set: the way to be replaced next.
    reg [SETS-1:0] valid0_q;
    reg [SETS-1:0] valid1_q;
    reg [SETS-1:0] lru_q;

    // The update that was offered in the previous cycle: its set was read in
    // that cycle; its way is chosen in this one.
    reg update_valid_q;
    reg [PCW-1:0] update_pc_q; // no reset: `update_valid_q` covers it
    reg [EX-1:0] update_excess_q; // no reset: `update_valid_q` covers it
    reg update_beside0_q; // no reset: `update_valid_q` covers it
    reg update_beside1_q; // no reset: `update_valid_q` covers it
    reg update_twice_q; // no reset: `update_valid_q` covers it
    reg update_behind_q; // no reset: `update_valid_q` covers it
    reg update_same_q; // no reset: `update_valid_q` covers it
    reg update_valid1_q; // no reset: `update_valid_q` covers it
    reg update_lru_q; // no reset: `update_valid_q` covers it

    // The one before it: it is being written.
    reg write_valid_q;
    reg [PCW-1:0] write_pc_q; // no reset: `write_valid_q` covers it
    reg [EX-1:0] write_excess_q; // no reset: `write_valid_q` covers it
    reg write_way_q; // no reset: `write_valid_q` covers it

    wire [7:0] write_set = write_pc_q[7:0];
    wire [5:0] write_tag = write_pc_q[13:8];
    wire [7:0] update_set = update_pc_q[7:0];
    wire [5:0] update_tag = update_pc_q[13:8];
    wire [7:0] up_set = up_pc[7:0];
    wire [5:0] up_tag = up_pc[13:8];
    wire [7:0] lk_set = lk_pc[7:0];
    wire [5:0] lk_tag = lk_pc[13:8];
    wire write0 = write_valid_q & ~write_way_q;
    wire write1 = write_valid_q & write_way_q;

    // After an update of the same set: whether it was for the same program
    // counter, and of the one that is being written the way.
    wire up_beside = write_set == up_set;
    wire update_lru_d = (write_valid_q & up_beside) ? ~write_way_q : lru_q[up_set];
    always @(posedge clk) begin
        if (rst) begin
            update_valid_q <= 1'b0;
            write_valid_q <= 1'b0;
        end else begin
            update_valid_q <= up_valid & ~clear;
            write_valid_q <= update_valid_q & ~clear;
        end
    end
    always @(posedge clk) begin
        if (up_valid) begin
            update_pc_q <= up_pc;
            update_excess_q <= up_excess;
            update_beside0_q <= write0 & up_beside;
            update_beside1_q <= write1 & up_beside;
            update_twice_q <= write_tag == up_tag;
            update_behind_q <= update_valid_q & (update_set == up_set);
            update_same_q <= update_tag == up_tag;
            update_valid1_q <= valid1_q[up_set] | (write1 & up_beside);
            update_lru_q <= update_lru_d;
        end
    end

    // The tags for updates: a copy, with a port of its own.
    wire [TAG-1:0] tag0;
    wire [TAG-1:0] tag1;
    spad_table_ram_tags tags0 (
        .clk(clk),
        .rd_en(up_valid),
        .rd_row(up_set),
        .rd_data(tag0),
        .wr_en(write0),
        .wr_row(write_set),
        .wr_data(write_tag)
    );
    spad_table_ram_tags tags1 (
        .clk(clk),
        .rd_en(up_valid),
        .rd_row(up_set),
        .rd_data(tag1),
        .wr_en(write1),
        .wr_row(write_set),
        .wr_data(write_tag)
    );

    // The way of the update: the one that matches, else the one not used last.
    wire behind0 = update_behind_q & ~write_way_q;
    wire behind1 = update_behind_q & write_way_q;
    wire update_match0 = behind0 ? update_same_q
        : update_beside0_q ? update_twice_q
        : (tag0 == update_tag);
    wire update_match1 = behind1 ? update_same_q
        : update_beside1_q ? update_twice_q
        : (tag1 == update_tag);
    wire update_hit1 = (update_valid1_q | behind1) & update_match1;
    // `lru_q` starts at way 0 and points to the free way until both are taken: so
    // way 0 needs no valid bit here. While it is free, way 1 is free too, and both
    // its match and `lru_q` choose way 0.
    wire update_way = update_match0 ? 1'b0
        : update_hit1 ? 1'b1
        : update_behind_q ? ~write_way_q
        : update_lru_q;
    always @(posedge clk) begin
        if (update_valid_q) begin
            write_pc_q <= update_pc_q;
            write_excess_q <= update_excess_q;
            write_way_q <= update_way;
        end
    end
    always @(posedge clk) begin
        if (rst) valid0_q <= {SETS{1'b0}};
        else if (clear) valid0_q <= {SETS{1'b0}};
        else if (write0) valid0_q[write_set] <= 1'b1;
    end
    always @(posedge clk) begin
        if (rst) valid1_q <= {SETS{1'b0}};
        else if (clear) valid1_q <= {SETS{1'b0}};
        else if (write1) valid1_q[write_set] <= 1'b1;
    end
    always @(posedge clk) begin
        if (rst) lru_q <= {SETS{1'b0}};
        else if (clear) lru_q <= {SETS{1'b0}};
        else if (write_valid_q) lru_q[write_set] <= ~write_way_q;
    end

    // Look-up: tags and values of both ways.
    wire [TAG+EX-1:0] found0;
    wire [TAG+EX-1:0] found1;
    spad_table_ram_entries entries0 (
        .clk(clk),
        .rd_en(lk_valid),
        .rd_row(lk_set),
        .rd_data(found0),
        .wr_en(write0),
        .wr_row(write_set),
        .wr_data({write_tag, write_excess_q})
    );
    spad_table_ram_entries entries1 (
        .clk(clk),
        .rd_en(lk_valid),
        .rd_row(lk_set),
        .rd_data(found1),
        .wr_en(write1),
        .wr_row(write_set),
        .wr_data({write_tag, write_excess_q})
    );

    // It sees the update that is being written and the one after it: these
    // answer in place of the ways that they go to, which hold something else
    // now.
    reg done_q;
    reg there0_q; // no reset: `done_q` covers it
    reg there1_q; // no reset: `done_q` covers it
    reg written_q; // no reset: `done_q` covers it
    reg after_q; // no reset: `done_q` covers it
    reg again_q; // no reset: `done_q` covers it
    reg [TAG-1:0] tag_q; // no reset: `done_q` covers it
    reg [EX-1:0] excess_q; // no reset: `done_q` covers it
    wire lk_beside = write_set == lk_set;
    always @(posedge clk) begin
        if (rst) done_q <= 1'b0;
        else done_q <= lk_valid;
    end
    always @(posedge clk) begin
        there0_q <= valid0_q[lk_set] & ~(lk_beside & write0);
        there1_q <= valid1_q[lk_set] & ~(lk_beside & write1);
        written_q <= write_valid_q & lk_beside & (write_tag == lk_tag);
        after_q <= update_valid_q & (update_set == lk_set);
        again_q <= update_tag == lk_tag;
        tag_q <= lk_tag;
        excess_q <= write_excess_q;
    end

    // The answer: the newest update of the program counter, or what a way has.
    // An update replaces what the one before it wrote only if both are for one
    // program counter.
    wire hit_update = done_q & after_q & again_q;
    wire hit_written = done_q & written_q & ~hit_update;
    wire hit0 = done_q & there0_q & ~(after_q & ~write_way_q) & (found0[EX +: TAG] == tag_q);
    wire hit1 = done_q & there1_q & ~(after_q & write_way_q) & (found1[EX +: TAG] == tag_q);
    assign lk_done = done_q;
    assign lk_hit = hit_update | hit_written | hit0 | hit1;
    assign lk_excess = (write_excess_q & {EX{hit_update}}) | (excess_q & {EX{hit_written}})
        | (found0[EX-1:0] & {EX{hit0}}) | (found1[EX-1:0] & {EX{hit1}});
endmodule

`default_nettype wire
