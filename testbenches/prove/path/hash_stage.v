{% set staged = H == 1 -%}
// spad_hash_stage with the XOR hash{% if staged %}, in a stage of its own{% else %}, without a stage of its own{% endif %}: a pass leaves as it
// came, in order, once, with the places of its addresses (microarchitecture/hash-stage.md).
module miter #(parameter n = 9, parameter m = 3, parameter R = 6, parameter LK = 5, parameter L = 2,
               parameter W_in_ctl = 33, parameter W_in_data = 64, parameter W_in_be = 8) (
    input wire clk,
    input wire rst,
    input wire [1:0] cfg_lock_hash,
    input wire in_valid,
    input wire [W_in_ctl-1:0] in_ctl,
    input wire [L-1:0] in_mask,
    input wire [L*n-1:0] in_addr,
    input wire [W_in_data-1:0] in_data,
    input wire [W_in_be-1:0] in_be,
    input wire [3:0] in_aop,
    input wire out_ready,
{%- if staged %}
    output wire keep_held, // HX has the pass that came and did not leave
{%- endif %}
    output wire check_order, // what is offered is the pass whose turn it is, as it came
    output wire check_source, // a pass is offered exactly if there is one, and HX tells whether it has it
    output wire check_ready, // a pass is taken exactly if {% if staged %}HX is free or is left{% else %}the exit is free{% endif %}, whatever is offered
    output wire check_place, // bank and row are those of the lane's address
    output wire check_lock, // the lock is that of the lane's address, by the lock hash of this cycle
{%- if staged %}
    output wire check_hold, // what is offered and not taken stays
{%- endif %}
    output wire cover_through, // {% if staged %}4: a pass leaves in the cycle in which another comes{% else %}2: a pass goes through{% endif %}
    output wire cover_waits // {% if staged %}4: a pass waits, and another behind it{% else %}2: a pass waits{% endif %}
);
    wire in_ready, out_valid, hx_valid;
    wire [W_in_ctl-1:0] out_ctl;
    wire [L-1:0] out_mask;
    wire [L*m-1:0] out_bank;
    wire [L*R-1:0] out_row;
    wire [L*LK-1:0] out_lock;
    wire [W_in_data-1:0] out_data;
    wire [W_in_be-1:0] out_be;
    wire [3:0] out_aop;
    spad_hash_stage unit (
        .clk(clk), .rst(rst), .cfg_lock_hash(cfg_lock_hash), .in_valid(in_valid), .in_ready(in_ready), .in_ctl(in_ctl),
        .in_mask(in_mask), .in_addr(in_addr), .in_data(in_data), .in_be(in_be), .in_aop(in_aop), .out_valid(out_valid),
        .out_ready(out_ready), .out_ctl(out_ctl), .out_mask(out_mask), .out_bank(out_bank), .out_row(out_row),
        .out_lock(out_lock), .out_data(out_data), .out_be(out_be), .out_aop(out_aop), .hx_valid(hx_valid)
    );
    localparam PASS = 4 + W_in_be + W_in_data + L + W_in_ctl;
    wire [PASS-1:0] in_pass = {in_aop, in_be, in_data, in_mask, in_ctl};
    wire [PASS-1:0] out_pass = {out_aop, out_be, out_data, out_mask, out_ctl};
    wire take = in_valid & in_ready;
    wire give = out_valid & out_ready;

    // The pass that is there, and its addresses.
    wire there;
    wire [PASS-1:0] what;
    wire [L*n-1:0] addr;
{%- if staged %}
    reg held;
    reg [PASS-1:0] held_pass;
    reg [L*n-1:0] held_addr;
    always @(posedge clk) begin
        held <= !rst & (take | (held & !give));
        if (take) begin
            held_pass <= in_pass;
            held_addr <= in_addr;
        end
    end
    assign there = held;
    assign what = held_pass;
    assign addr = held_addr;
    (* hierconn *) wire [L*n-1:0] \unit.hx_addr_q ;
    assign keep_held = (hx_valid == held) & (!held | ((out_pass == what) & ( \unit.hx_addr_q == addr)));
    assign check_source = (out_valid == there) & (hx_valid == there);
    assign check_ready = in_ready == (!there | out_ready);
    assign cover_through = give & take & !rst;
    assign cover_waits = there & in_valid & !in_ready & !rst;
{%- else %}
    assign there = in_valid;
    assign what = in_pass;
    assign addr = in_addr;
    assign check_source = (out_valid == there) & !hx_valid;
    assign check_ready = in_ready == out_ready;
    assign cover_through = give & take;
    assign cover_waits = out_valid & !out_ready;
{%- endif %}

    // The places by their definitions: a bank is the low bits XORed with those
    // above, a row the upper bits, a lock the low bits, of which the lowest may
    // be hashed with those above the index.
    localparam LO = LK < 5 ? LK : 5;
    localparam LOW = (1 << LO) - 1;
    reg places, locks;
    reg [n-1:0] word, index, above, low;
    integer i;
    always @* begin
        places = 1;
        locks = 1;
        for (i = 0; i < L; i = i + 1) begin
            word = addr[i*n +: n];
            index = word & ((1 << LK) - 1);
            above = (word >> LK) & LOW;
            case (cfg_lock_hash)
                1: low = (word ^ above) & LOW;
                2: low = (word + above) & LOW;
                default: low = word & LOW;
            endcase
            if (out_bank[i*m +: m] != ((word ^ (word >> m)) & ((1 << m) - 1))) places = 0;
            if (out_row[i*R +: R] != word >> m) places = 0;
            if (out_lock[i*LK +: LK] != ((index & ~LOW) | low)) locks = 0;
        end
    end

    assign check_order = !out_valid | (there & (out_pass == what));
    assign check_place = !out_valid | places;
    assign check_lock = !out_valid | locks;
{%- if staged %}

    reg was_rst, was_offered;
    reg [PASS-1:0] was_pass;
    always @(posedge clk) begin
        was_rst <= rst;
        was_offered <= out_valid & !out_ready;
        was_pass <= out_pass;
    end
    assign check_hold = was_rst | !was_offered | (out_valid & (out_pass == was_pass));
{%- endif %}
endmodule
