// spad_conflict_arbiter: every active lane of an access is served exactly once,
// in exactly `degree` cycles in which the response side is ready
// (microarchitecture/conflict-arbiter.md).
module miter #(parameter L = 4, parameter m = 3, parameter R = 2, parameter B = 8,
               parameter DB = 4, parameter DG = 3, parameter MERGE = 1) (
    input wire clk,
    input wire rst,
    input wire req_valid,
    input wire [L-1:0] req_mask,
    input wire req_access,
    input wire [L*m-1:0] req_bank,
    input wire [L*R-1:0] req_row,
    input wire [L*DB-1:0] req_be,
    input wire adv,
    input wire [m-1:0] bank_seen,
    output wire assume_one_bank, // any one bank is looked at
    output wire keep_request, // the arbiter has the request that it took
    output wire keep_waiting, // it waits for the lanes that have not been served
    output wire keep_pairs, // it knows which lanes share a bank, and which of these clash
    output wire keep_last, // it knows that the present group is the last
    output wire keep_steps, // it counts the groups; each has served a lane
    output wire keep_rows, // a bank has as many rows open as it had, less one for each group
    output wire check_once, // a lane is served only if it is active and was not served before
    output wire check_all, // the last group serves all that wait, and an earlier one does not
    output wire check_progress, // a group of an access with active lanes serves a lane
    output wire check_leader, // the leaders are the lowest waiting lanes of their banks
    output wire check_served, // served are the waiting lanes on the row of their bank's leader
    output wire check_writes, // of the served lanes of a bank the lowest that enables a byte writes it, and no other; MERGE = 0: the leader writes all
    output wire check_banks, // the banks of the leaders are used, and no other; banks and rows are those of the access
    output wire check_ready, // a request is taken when nothing is held or the last group goes
    output wire check_degree, // the degree is the largest number of distinct rows in a bank
    output wire check_cycles, // the degree counts the groups, one for each cycle with adv
    output wire check_stall, // nothing changes in a cycle without adv
    output wire check_pass, // a request without access is one group that serves nobody
    output wire cover_degree, // 6: the last of three groups
    output wire cover_broadcast, // 4: two lanes on one row, another bank at the same time
    output wire cover_merged, // 4: two lanes write into one word, of which both enable byte 0
    output wire cover_next // 5: an access is taken with the last group of one of degree 2
);
    wire req_ready, grp_valid, grp_last;
    wire [L-1:0] grp_served, grp_leader;
    wire [L*DB-1:0] grp_writes;
    wire [B-1:0] grp_bank_valid;
    wire [L*m-1:0] grp_bank;
    wire [L*R-1:0] grp_row;
    wire [DG-1:0] grp_degree;
    spad_conflict_arbiter unit (
        .clk(clk), .rst(rst),
        .req_valid(req_valid), .req_ready(req_ready), .req_mask(req_mask), .req_access(req_access),
        .req_bank(req_bank), .req_row(req_row), .req_be(req_be), .adv(adv),
        .grp_valid(grp_valid), .grp_last(grp_last), .grp_served(grp_served), .grp_leader(grp_leader), .grp_writes(grp_writes),
        .grp_bank_valid(grp_bank_valid), .grp_bank(grp_bank), .grp_row(grp_row),
        .grp_degree(grp_degree)
    );
    (* hierconn *) wire [L-1:0] \unit.pend_q ;
    (* hierconn *) wire [L*m-1:0] \unit.bank_q ;
    (* hierconn *) wire [L*R-1:0] \unit.row_q ;
{%- if MERGE %}
    (* hierconn *) wire [L*DB-1:0] \unit.be_q ;
{%- endif %}
    (* hierconn *) wire [DG-1:0] \unit.cnt_q ;
    (* hierconn *) wire \unit.acc_q ;
    (* hierconn *) wire \unit.last_q ;
{% set arbiter = "unit" %}{% include "path/arbiter_pairs.v.tera" %}
    wire fire = req_valid & req_ready;

    // The access that was taken, and how far it is.
    reg held;
    reg access;
    reg [L-1:0] mask;
    reg [L-1:0] waiting;
    reg [L*m-1:0] bank;
    reg [L*R-1:0] row;
    reg [L*DB-1:0] be;
    reg [DG:0] steps;
    // Distinct rows in one bank of the whole access, as large as any bank may be.
    reg [DG-1:0] whole;
    reg [m-1:0] seen;
    always @(posedge clk) seen <= bank_seen;
    assign assume_one_bank = seen == bank_seen;
    wire [L-1:0] left = waiting & ~grp_served;
    wire [DG-1:0] requested;
    wire [DG-1:0] open;
    always @(posedge clk) begin
        if (rst) begin
            held <= 0;
            waiting <= 0;
        end else if (fire) begin
            held <= 1;
            access <= req_access;
            mask <= req_mask;
            waiting <= req_access ? req_mask : 0;
            bank <= req_bank;
            row <= req_row;
            be <= req_be;
            steps <= 0;
            whole <= requested;
        end else if (held & adv) begin
            held <= left != 0;
            waiting <= left;
            steps <= steps + 1;
        end
    end
    distinct_rows #(.L(L), .m(m), .R(R), .DG(DG)) of_request (
        .mask(req_access ? req_mask : {L{1'b0}}), .bank(req_bank), .row(req_row), .of(seen), .rows(requested));
    distinct_rows #(.L(L), .m(m), .R(R), .DG(DG)) of_rest (
        .mask(waiting), .bank(bank), .row(row), .of(seen), .rows(open));

    // What the contract says of each lane and bank.
    wire [L-1:0] leader, served;
    wire [B-1:0] used;
    group #(.L(L), .m(m), .R(R)) expected (
        .waiting(waiting), .bank(bank), .row(row), .leader(leader), .served(served), .used(used));

    wire [L*DB-1:0] writes;
    writers #(.L(L), .m(m), .DB(DB), .MERGE(MERGE)) of_group (
        .served(served), .leader(leader), .bank(bank), .be(be), .writes(writes));

    integer i;
    reg [DG:0] served_before;
    always @* begin
        served_before = 0;
        for (i = 0; i < L; i = i + 1)
            served_before = served_before + (access & mask[i] & !waiting[i]);
    end
    wire active = access & (mask != 0);
    assign keep_request = (grp_valid == held) & (!held | (
        (\unit.acc_q == active) & (\unit.bank_q == bank) & (\unit.row_q == row)
{%- if MERGE %} & (\unit.be_q == be){% endif %}));
    assign keep_waiting = (\unit.pend_q == waiting) & (held | (waiting == 0))
        & (!held | (access ? ((waiting & ~mask) == 0) & ((waiting != 0) | (mask == 0)) : waiting == 0));
    assign keep_steps = !held | ((\unit.cnt_q == steps) & (steps <= served_before));
    wire pairs;
    pairs_known #(.L(L), .m(m), .R(R)) of_held (
        .bank(bank), .row(row), .same_bank(same_bank), .clash(clash), .holds(pairs));
    assign keep_pairs = !held | pairs;
    assign keep_last = !held | (\unit.last_q == ((waiting & ~served) == 0));
    assign keep_rows = !held | (open == (whole > steps ? whole - steps : 0));

    // The cycle before.
    reg was_rst, was_stalled;
    reg [L-1:0] was_served;
    reg [DG-1:0] was_degree;
    always @(posedge clk) begin
        was_rst <= rst;
        was_stalled <= grp_valid & !adv;
        was_served <= grp_served;
        was_degree <= grp_degree;
    end

    assign check_once = (grp_served & ~waiting) == 0;
    assign check_all = grp_last == (held & (left == 0));
    assign check_progress = !held | (waiting == 0) | (grp_served != 0);
    assign check_leader = grp_leader == leader;
    assign check_served = grp_served == served;
    assign check_writes = grp_writes == writes;
    assign check_banks = (grp_bank_valid == used) & (!held | ((grp_bank == bank) & (grp_row == row)));
    assign check_ready = req_ready == (!held | (adv & (left == 0)));
    // The last group's degree is no less than the rows of any bank, and those
    // of a bank that it still uses.
    assign check_degree = (!grp_last | ((grp_degree >= whole) & (!used[seen] | (grp_degree == whole))))
        & (!grp_last | !active | (used != 0));
    assign check_cycles = grp_degree == (held & active ? steps + 1 : 0);
    assign check_stall = was_rst | !was_stalled | (grp_valid & (grp_served == was_served) & (grp_degree == was_degree));
    assign check_pass = !held | active | (grp_last & (grp_served == 0) & (grp_degree == 0));
    assign cover_degree = held & grp_last & (grp_degree == 3);
    assign cover_broadcast = held & ((grp_served & ~grp_leader) != 0) & ((grp_leader & (grp_leader - 1)) != 0);
    assign cover_merged = held & (bank[m-1:0] == bank[2*m-1:m]) & be[0] & be[DB]
        & (grp_writes[DB-1:0] != 0) & ((grp_writes[2*DB-1:DB] != 0) | (MERGE == 0));
    assign cover_next = fire & held & (grp_degree == 2);
endmodule

// The number of distinct rows in one bank
// (microarchitecture/conflict-arbiter.md).
module distinct_rows #(parameter L = 4, parameter m = 3, parameter R = 2, parameter DG = 3) (
    input wire [L-1:0] mask,
    input wire [L*m-1:0] bank,
    input wire [L*R-1:0] row,
    input wire [m-1:0] of,
    output reg [DG-1:0] rows
);
    reg [L-1:0] distinct;
    integer i, j;
    always @* begin
        for (i = 0; i < L; i = i + 1) begin
            distinct[i] = mask[i] & (bank[i*m +: m] == of);
            for (j = 0; j < i; j = j + 1)
                if (mask[j] & (bank[j*m +: m] == of) & (row[j*R +: R] == row[i*R +: R])) distinct[i] = 0;
        end
        rows = 0;
        for (i = 0; i < L; i = i + 1) rows = rows + distinct[i];
    end
endmodule

{% include "path/arbitration.v" %}