// spad_nonmem_queue: an entry that is marked as it comes in leaves as it came,
// behind exactly the entries that were there before it
// (microarchitecture/elastic-queues.md).
module miter #(parameter W_in_data = 8, parameter NQ = 2) (
    input wire clk,
    input wire rst,
    input wire cfg_elastic,
    input wire in_valid,
    input wire [W_in_data-1:0] in_data,
    input wire out_ready,
    input wire mark,
    output wire keep_count, // the occupied stages hold what came in and has not left
    output wire keep_marked, // the marked entry stands behind those that came before it
    output wire keep_pace, // it has moved a stage in every cycle in which the exit was free
    output wire check_order, // every entry leaves in its turn and as it came
    output wire check_source, // nothing is offered but an entry that is there
    output wire check_count, // the occupied stages are entries in minus entries out, at most NQ
    output wire check_ready, // takes an entry whenever the exit is free or a stage is
    output wire check_latency, // an entry leaves in the NQ-th cycle with a free exit at the latest
    output wire check_bypass, // elastic: what is there is offered in every cycle
    output wire check_hold, // what is offered and not taken stays
    output wire cover_full, // 9: the marked entry leaves a full queue that takes another
    output wire cover_bypass, // 3: an entry passes in one cycle
    output wire cover_split // 8: the marked entry leaves the fixed pipeline
);
    wire in_ready, out_valid;
    wire [W_in_data-1:0] out_data;
    wire [NQ-1:0] stage_valid;
    spad_nonmem_queue unit (
        .clk(clk), .rst(rst), .cfg_elastic(cfg_elastic),
        .in_valid(in_valid), .in_data(in_data), .in_ready(in_ready),
        .out_valid(out_valid), .out_data(out_data), .out_ready(out_ready),
        .stage_valid(stage_valid)
    );
    (* hierconn *) wire [NQ*W_in_data-1:0] \unit.data_q ;
    wire [NQ*W_in_data-1:0] data = \unit.data_q ;

    wire take = in_valid & in_ready;
    wire give = out_valid & out_ready;

    // Entries in minus entries out, and the marked one among them. `free` is
    // the number of cycles with a free exit since it came.
    reg [3:0] inside;
    reg marked;
    reg [3:0] ahead;
    reg [3:0] free;
    reg [W_in_data-1:0] what;
    wire turn = marked & (ahead == 0);
    always @(posedge clk) begin
        if (rst) inside <= 0;
        else inside <= inside + take - give;
        if (rst) marked <= 0;
        else if (marked) begin
            if (give) ahead <= ahead - 1;
            if (out_ready) free <= free + 1;
            if (give & (ahead == 0)) marked <= 0;
        end else if (take & mark & !(give & (inside == 0))) begin
            marked <= 1;
            ahead <= inside - give;
            free <= 0;
            what <= in_data;
        end
    end

    // The marked entry is in the occupied stage with `ahead` occupied ones behind it.
    reg [3:0] occupied;
    reg in_place;
    reg in_pace;
    integer k;
    always @* begin
        occupied = 0;
        in_place = 0;
        in_pace = 0;
        for (k = NQ - 1; k >= 0; k = k - 1) begin
            if (stage_valid[k] & (occupied == ahead)) begin
                in_place = data[k*W_in_data +: W_in_data] == what;
                in_pace = free <= k;
            end
            occupied = occupied + stage_valid[k];
        end
    end
    assign keep_count = occupied == inside;
    assign keep_marked = !marked | ((ahead < inside) & in_place);
    assign keep_pace = !marked | in_pace;

    // The cycle before.
    reg was_rst, was_elastic, was_offered;
    reg [3:0] was_inside;
    reg [W_in_data-1:0] was_in, was_out;
    always @(posedge clk) begin
        was_rst <= rst;
        was_elastic <= cfg_elastic;
        was_offered <= out_valid & !out_ready;
        was_inside <= inside;
        was_in <= in_data;
        was_out <= out_data;
    end
    wire source_held = (was_inside != 0) | (in_valid & (in_data == was_in));

    assign check_order = !give | ((!turn | (out_data == what)) & ((inside != 0) | (take & (out_data == in_data))));
    assign check_source = (!out_valid | (inside != 0) | (cfg_elastic & in_valid)) & (out_valid | (out_data == 0));
    assign check_count = (occupied == inside) & (inside <= NQ);
    assign check_ready = in_ready == (out_ready | (inside < NQ));
    assign check_latency = !marked | !out_ready | (free < NQ - 1) | (turn & give);
    assign check_bypass = !cfg_elastic | (out_valid == ((inside != 0) | in_valid));
    assign check_hold = was_rst | !was_offered | (was_elastic != cfg_elastic) | !source_held
        | (out_valid & (out_data == was_out));
    assign cover_full = turn & give & take & (inside == NQ);
    assign cover_bypass = give & take & (inside == 0);
    assign cover_split = turn & give & !cfg_elastic;
endmodule
