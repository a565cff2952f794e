// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_conflict_arbiter: holds one access and serves one conflict-free group
// per cycle: in every bank the lowest waiting lane (the leader) and all
// waiting lanes on its row; a byte of their word is written by the lowest of
// them that enables it (MERGE = 1), or by the leader if it enables it (MERGE =
// 0).
//
// Parameters: n = 14, m = 5, L = 32, B = 32, R = 9, DB = 4, DG = 6, BCAST = 1,
//             MERGE = 1
// Timing:     an access accepted in cycle t is served from t+1 on, one group
//             in each cycle with adv; the next can be accepted together with
//             the last group
// Reference:  microarchitecture/conflict-arbiter.md; bank conflict degree as
//             in all five papers
//
// in  clk              1  clock
// in  rst              1  synchronous reset
// in  req_valid        1  an access is offered
// out req_ready        1  a request would be accepted at the end of this cycle
// in  req_mask        32  active lanes
// in  req_access       1  0: no lane is served, one empty group
// in  req_bank       160  bank, m bits per lane
// in  req_row        288  row, R bits per lane
// in  req_be         128  bytes to write, DB bits per lane
// in  adv              1  the current group is served in this cycle
// out grp_valid        1  there is a group
// out grp_last         1  the group is the access's last
// out grp_served      32  lanes that the group serves
// out grp_leader      32  leaders of the group, at most one per bank
// out grp_writes     128  bytes each lane writes if the access is a store; at
//                         most one lane writes each byte of a bank
// out grp_bank_valid  32  banks that it uses
// out grp_bank       160  bank of each lane of the access
// out grp_row        288  row of each lane of the access
// out grp_degree       6  groups of the access up to this one; 0 if it has no
//                         lane to serve

`default_nettype none

module spad_conflict_arbiter (
    input wire clk,
    input wire rst,
    input wire req_valid,
    output wire req_ready,
    input wire [31:0] req_mask,
    input wire req_access,
    input wire [159:0] req_bank,
    input wire [287:0] req_row,
    input wire [127:0] req_be,
    input wire adv,
    output wire grp_valid,
    output wire grp_last,
    output wire [31:0] grp_served,
    output wire [31:0] grp_leader,
    output wire [127:0] grp_writes,
    output wire [31:0] grp_bank_valid,
    output wire [159:0] grp_bank,
    output wire [287:0] grp_row,
    output wire [5:0] grp_degree
);
    localparam m = 5;
    localparam B = 32;
    localparam R = 9;
    localparam L = 32;
    localparam DB = 4;
    localparam DG = 6;

    reg busy_q;
    reg last_q;
    reg [L-1:0] pend_q;
    reg [L*m-1:0] bank_q; // no reset: `pend_q` covers it
    reg [L*R-1:0] row_q; // no reset: `pend_q` covers it
    reg [DG-1:0] cnt_q;
    reg acc_q;

    // An access is compared when it comes: per lane, which earlier lanes want
    // its bank (`same_bank_q`), and which of these are in its way (`clash_q`):
    // those on another row.
    // What a group serves follows from these bits and from who waits: a lane
    // `follows` if an earlier one waits for its bank; the first of these, the
    // leader, keeps it off if they clash.
    wire [L-1:0] follows;
    wire [L-1:0] kept_off;
    // Per lane: it clashes with an earlier lane that comes, or that remains.
    wire [L-1:0] clash_coming;
    wire [L-1:0] clash_remaining;
    assign follows[0] = 1'b0;
    assign kept_off[0] = 1'b0;
    assign clash_coming[0] = 1'b0;
    assign clash_remaining[0] = 1'b0;

    // Each byte position by itself: `wants` has the lanes that wait to write
    // byte k, `first` those of them with no earlier one on their word. All
    // lanes that wait on the word of a served lane are served with it, so this
    // is independent of the group.
    wire [DB*L-1:0] wants;
    wire [DB*L-1:0] first;
    reg [L*DB-1:0] be_q; // no reset: `pend_q` covers it

    assign req_ready = ~busy_q | (adv & last_q);
    wire fire = req_valid & req_ready;
    wire step = busy_q & adv;
    wire [L-1:0] coming = req_mask & {L{req_access}};
    wire [L-1:0] remain = pend_q & kept_off;

    genvar i, j, k;
    generate
        for (i = 1; i < L; i = i + 1) begin : lane
            reg [i-1:0] same_bank_q; // no reset: `pend_q` covers it
            reg [i-1:0] clash_q; // no reset: `pend_q` covers it
            wire [i-1:0] same_bank_d;
            wire [i-1:0] clash_d;
            for (j = 0; j < i; j = j + 1) begin : earlier
                assign same_bank_d[j] = req_bank[i*m +: m] == req_bank[j*m +: m];
                assign clash_d[j] = same_bank_d[j] & (req_row[i*R +: R] != req_row[j*R +: R]);
            end
            always @(posedge clk) begin
                if (fire) begin
                    same_bank_q <= same_bank_d;
                    clash_q <= clash_d;
                end
            end
            assign follows[i] = |(same_bank_q & pend_q[i-1:0]);
            assign kept_off[i] = |(clash_q & pend_q[i-1:0] & ~follows[i-1:0]);
            assign clash_coming[i] = coming[i] & (|(clash_d & coming[i-1:0]));
            assign clash_remaining[i] = remain[i] & (|(clash_q & remain[i-1:0]));
            wire [i-1:0] same_word = same_bank_q & ~clash_q;
            for (k = 0; k < DB; k = k + 1) begin : lane_byte
                assign first[k*L + i] = wants[k*L + i] & ~(|(same_word & wants[k*L +: i]));
            end
        end
        for (k = 0; k < DB; k = k + 1) begin : of_byte
            assign first[k*L] = wants[k*L];
            for (i = 0; i < L; i = i + 1) begin : of_lane
                assign wants[k*L + i] = pend_q[i] & be_q[i*DB + k];
                assign grp_writes[i*DB + k] = first[k*L + i] & ~kept_off[i];
            end
        end
        for (j = 0; j < B; j = j + 1) begin : bank_used
            wire [L-1:0] want;
            for (i = 0; i < L; i = i + 1) begin : lane_wants
                assign want[i] = pend_q[i] & (bank_q[i*m +: m] == j);
            end
            assign grp_bank_valid[j] = |want;
        end
    endgenerate

    assign grp_valid = busy_q;
    assign grp_last = busy_q & last_q;
    assign grp_served = pend_q & ~kept_off;
    assign grp_leader = pend_q & ~follows;
    assign grp_bank = bank_q;
    assign grp_row = row_q;
    assign grp_degree = (cnt_q + 6'd1) & {DG{busy_q & acc_q}};

    wire busy_d = fire | ~last_q;
    wire [L-1:0] pend_d = fire ? coming : remain;
    wire last_d = fire ? ~(|clash_coming) : ~(|clash_remaining);
    wire [DG-1:0] cnt_d = fire ? 6'd0
        : last_q ? cnt_q
        : cnt_q + 6'd1;

    always @(posedge clk) begin
        if (rst) begin
            busy_q <= 1'b0;
            last_q <= 1'b0;
            pend_q <= {L{1'b0}};
            cnt_q <= {DG{1'b0}};
        end else if (fire | step) begin
            busy_q <= busy_d;
            last_q <= last_d;
            pend_q <= pend_d;
            cnt_q <= cnt_d;
        end
    end
    always @(posedge clk) begin
        if (rst) acc_q <= 1'b0;
        else if (fire) acc_q <= |coming;
    end
    always @(posedge clk) begin
        if (fire) begin
            bank_q <= req_bank;
            row_q <= req_row;
            be_q <= req_be;
        end
    end
endmodule

`default_nettype wire
