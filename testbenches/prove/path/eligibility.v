// spad_eligibility: who may issue, and that so many, in such an order, are in
// flight (microarchitecture/issue.md). One warp is followed; it may be any.
module miter #(parameter W = 4, parameter WW = 2) (
    input wire clk,
    input wire rst,
    input wire [1:0] cfg_barrel,
    input wire [W-1:0] off_valid,
    input wire [W*4-1:0] off_kind,
    input wire [W-1:0] allow,
    input wire [W-1:0] busy,
    input wire atom_infl,
    input wire ex_relssp,
    input wire [WW-1:0] ex_warp,
    input wire take,
    input wire [W-1:0] take_sel,
    input wire [3:0] take_kind,
    input wire retire,
    input wire [WW-1:0] retire_warp,
    input wire [3:0] retire_kind,
    input wire [WW-1:0] warp_seen,
    output wire assume_one_warp, // any one warp is looked at
    output wire assume_static, // the barrel does not change
    output wire assume_stands, // an offer that was ready stands until it is taken
    output wire assume_take, // a warp is taken when it is, or was, ready behind its last take, with what it offers
    output wire assume_retire, // only what is in flight retires
    output wire keep_counts, // the counters are what was taken less what has retired
    output wire keep_granted, // while an offer that was ready stands, what made it ready holds
    output wire keep_limits, // so many are in flight
    output wire check_ready, // a warp is ready by the definition
    output wire check_counts, // 15 at most are in flight on a path
    output wire check_strict, // strict barrel: one instruction at a time
    output wire check_in_order, // barrel 2: in flight on one path at a time
    output wire check_fence, // a RELSSP is taken only behind the warp's memory instructions
    output wire check_behind_release, // nothing of a warp is ready while its RELSSP is in EX
    output wire check_class, // memory class, atomics, and what may touch the shared part
    output wire cover_full, // 18: an offer waits, since 15 are in flight
    output wire cover_fence, // 4: a RELSSP waits for a memory instruction
    output wire cover_both // 5: in flight on both paths
);
    wire [W-1:0] ready, is_mem, is_atomic, shares;
    spad_eligibility unit (
        .clk(clk), .rst(rst), .cfg_barrel(cfg_barrel), .off_valid(off_valid), .off_kind(off_kind), .allow(allow),
        .busy(busy), .atom_infl(atom_infl), .ex_relssp(ex_relssp), .ex_warp(ex_warp), .take(take), .take_sel(take_sel),
        .take_kind(take_kind), .retire(retire), .retire_warp(retire_warp), .retire_kind(retire_kind),
        .ready(ready), .is_mem(is_mem), .is_atomic(is_atomic), .shares(shares)
    );
    wire [W*4-1:0] infl_m, infl_n;
{%- for w in range(end=W) %}
    (* hierconn *) wire [3:0] \unit.warp[{{ w }}].infl_m_q , \unit.warp[{{ w }}].infl_n_q ;
    assign infl_m[{{ w }}*4 +: 4] = \unit.warp[{{ w }}].infl_m_q ;
    assign infl_n[{{ w }}*4 +: 4] = \unit.warp[{{ w }}].infl_n_q ;
{%- endfor %}

    reg [WW-1:0] warp;
    reg [1:0] barrel;
    always @(posedge clk) begin
        warp <= warp_seen;
        barrel <= cfg_barrel;
    end
    assign assume_one_warp = (warp == warp_seen) & (warp_seen < W);
    assign assume_static = barrel == cfg_barrel;

    wire offers = off_valid[warp];
    wire [3:0] kind = off_kind[warp*4 +: 4];
    wire mem = (kind != 0) & (kind != 7);
    wire takes = take & take_sel[warp];
    wire takes_mem = (take_kind != 0) & (take_kind != 7);
    wire ends = retire & (retire_warp == warp);
    wire ends_mem = (retire_kind != 0) & (retire_kind != 7);

    // Taken and not retired, per path; and an offer that was ready since the
    // last take.
    reg [5:0] on_m, on_n;
    reg granted;
    reg [3:0] granted_kind;
    always @(posedge clk) begin
        if (rst) begin
            on_m <= 0;
            on_n <= 0;
            granted <= 0;
        end else begin
            on_m <= on_m + (takes & takes_mem) - (ends & ends_mem);
            on_n <= on_n + (takes & !takes_mem) - (ends & !ends_mem);
            granted <= !takes & (granted | ready[warp]);
        end
        granted_kind <= kind;
    end
    assign assume_stands = !granted | (offers & (kind == granted_kind));
    assign assume_take = !takes | ((granted | ready[warp]) & (take_kind == kind));
    assign assume_retire = !ends | (ends_mem ? on_m != 0 : on_n != 0);

    wire strict_ok = (on_m == 0) & (on_n == 0);
    wire in_order_ok = mem ? on_n == 0 : on_m == 0;
    wire barrel_ok = cfg_barrel == 0 ? strict_ok : (cfg_barrel == 1) | in_order_ok;
    wire fence_ok = (kind != 7) | (on_m == 0);
    wire may = barrel_ok & (on_m < 15) & (on_n < 15) & fence_ok;
    assign keep_counts = (infl_m[warp*4 +: 4] == on_m) & (infl_n[warp*4 +: 4] == on_n);
    assign keep_granted = !(granted & offers & (kind == granted_kind)) | may;
    assign keep_limits = (on_m <= 15) & (on_n <= 15) & ((cfg_barrel != barrel) | (
        ((cfg_barrel != 0) | (on_m + on_n <= 1)) & ((cfg_barrel < 2) | (on_m == 0) | (on_n == 0))));

    assign check_ready = ready[warp] == (offers & allow[warp] & may & !((kind == 5) & atom_infl) & !busy[warp]
        & !(ex_relssp & (ex_warp == warp)));
    assign check_counts = (on_m <= 15) & (on_n <= 15);
    assign check_strict = (cfg_barrel != 0) | (on_m + on_n <= 1);
    assign check_in_order = (cfg_barrel < 2) | (on_m == 0) | (on_n == 0);
    assign check_fence = !(takes & (take_kind == 7)) | (on_m == 0);
    assign check_behind_release = !(ex_relssp & (ex_warp == warp)) | !ready[warp];
    assign check_class = (is_mem[warp] == mem) & (is_atomic[warp] == (kind == 5))
        & (shares[warp] == (offers & (kind >= 1) & (kind <= 5)));
    assign cover_full = (on_m == 15) & offers & mem & !ready[warp] & allow[warp] & !busy[warp] & (cfg_barrel == 1)
        & (kind == 1) & !ex_relssp & !rst;
    assign cover_fence = (on_m != 0) & offers & (kind == 7) & !ready[warp] & (cfg_barrel == 1) & !rst;
    assign cover_both = (on_m != 0) & (on_n != 0) & !rst;
endmodule
