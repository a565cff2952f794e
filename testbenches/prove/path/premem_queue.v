// spad_premem_queue: an entry that is marked as it comes in leaves as it came,
// behind exactly the entries that were there before it
// (microarchitecture/elastic-queues.md).
module miter #(parameter W_in_data = 8, parameter PQ = 3, parameter W_count = 2) (
    input wire clk,
    input wire rst,
    input wire cfg_on,
    input wire in_valid,
    input wire [W_in_data-1:0] in_data,
    input wire out_ready,
    input wire mark,
    output wire keep_count, // `count` is entries in minus entries out, at most PQ
    output wire keep_marked, // the marked entry stands where it should
    output wire check_order, // every entry leaves in its turn and as it came
    output wire check_source, // an entry is offered exactly if there is one
    output wire check_count, // `count` is entries in minus entries out, at most PQ
    output wire check_ready, // takes an entry if the exit is free, or switched on and with room
    output wire check_hold, // what is offered and not taken stays
    output wire cover_full, // 8: marked entry leaves a full queue that takes another
    output wire cover_bypass // 3: an entry passes in one cycle
);
    wire in_ready, out_valid;
    wire [W_in_data-1:0] out_data;
    wire [W_count-1:0] count;
    spad_premem_queue unit (.clk(clk), .rst(rst), .cfg_on(cfg_on), .in_valid(in_valid), .in_data(in_data),
        .in_ready(in_ready), .out_valid(out_valid), .out_data(out_data), .out_ready(out_ready), .count(count));
    (* hierconn *) wire [PQ*W_in_data-1:0] \unit.entry_q ;
    wire [PQ*W_in_data-1:0] entry = \unit.entry_q ;

    wire take = in_valid & in_ready;
    wire give = out_valid & out_ready;

    // Entries in minus entries out, and the marked one among them.
    reg [W_count:0] inside;
    reg marked;
    reg [W_count:0] ahead;
    reg [W_in_data-1:0] what;
    wire turn = marked & (ahead == 0);
    always @(posedge clk) begin
        if (rst) inside <= 0;
        else inside <= inside + take - give;
        if (rst) marked <= 0;
        else if (marked) begin
            if (give) ahead <= ahead - 1;
            if (give & (ahead == 0)) marked <= 0;
        end else if (take & mark & !(give & (inside == 0))) begin
            marked <= 1;
            ahead <= inside - give;
            what <= in_data;
        end
    end
    reg in_place;
    integer k;
    always @* begin
        in_place = 0;
        for (k = 0; k < PQ; k = k + 1)
            if (ahead == k) in_place = entry[k*W_in_data +: W_in_data] == what;
    end
    assign keep_count = (count == inside) & (inside <= PQ);
    assign keep_marked = !marked | ((ahead < inside) & in_place);

    // The cycle before.
    reg was_rst, was_offered;
    reg [W_in_data-1:0] was_in, was_out;
    reg [W_count:0] was_inside;
    always @(posedge clk) begin
        was_rst <= rst;
        was_offered <= out_valid & !out_ready;
        was_inside <= inside;
        was_in <= in_data;
        was_out <= out_data;
    end

    assign check_order = !give | ((!turn | (out_data == what)) & ((inside != 0) | (take & (out_data == in_data))));
    assign check_source = (out_valid == ((inside != 0) | in_valid)) & (out_valid | (out_data == 0));
    assign check_count = (count == inside) & (count <= PQ);
    assign check_ready = in_ready == (out_ready | (cfg_on & (inside < PQ)));
    assign check_hold = was_rst | !was_offered | ((was_inside == 0) & !(in_valid & (in_data == was_in)))
        | (out_valid & (out_data == was_out));
    assign cover_full = turn & give & take & (inside == PQ);
    assign cover_bypass = give & take & (inside == 0);
endmodule
