// spad_writeback_mux: each result that is taken is the next one in the
// writeback register, and the priorities are kept (section 11). The register
// is the only place that holds anything, so nothing can overtake in it.
module miter #(parameter W_wb_data = 8) (
    input wire clk,
    input wire rst,
    input wire icn_valid,
    input wire mem_valid,
    input wire nm_valid,
    input wire [W_wb_data-1:0] icn_data,
    input wire [W_wb_data-1:0] mem_data,
    input wire [W_wb_data-1:0] nm_data,
    input wire wb_ready,
    output wire check_one, // at most one source is granted
    output wire check_grant, // a source is granted whenever the register is free and one asks
    output wire check_icn, // data from off-chip never waits for another source
    output wire check_priority, // a source that waits at a free register waits for an older one
    output wire check_next, // what is granted is in the register in the next cycle, as it came
    output wire check_empty, // nothing is in the register but what was granted
    output wire check_hold, // what is not taken stays
    output wire cover_icn, // 3: all ask, the data from off-chip is written
    output wire cover_mem, // 3: the memory's result is written, another behind it
    output wire cover_nm, // 3: the other path's result is written
    output wire cover_stall // 4: a result waits
);
    wire icn_ready, mem_ready, nm_ready, wb_valid;
    wire [1:0] wb_src;
    wire [W_wb_data-1:0] wb_data;
    spad_writeback_mux unit (
        .clk(clk), .rst(rst),
        .icn_valid(icn_valid), .icn_data(icn_data), .icn_ready(icn_ready),
        .mem_valid(mem_valid), .mem_data(mem_data), .mem_ready(mem_ready),
        .nm_valid(nm_valid), .nm_data(nm_data), .nm_ready(nm_ready),
        .wb_valid(wb_valid), .wb_src(wb_src), .wb_data(wb_data), .wb_ready(wb_ready)
    );
    wire free = !wb_valid | wb_ready;
    wire icn = icn_valid & icn_ready;
    wire mem = mem_valid & mem_ready;
    wire nm = nm_valid & nm_ready;

    // The cycle before.
    reg was_rst, was_icn, was_mem, was_nm, was_held;
    reg [1:0] was_src;
    reg [W_wb_data-1:0] was_icn_data, was_mem_data, was_nm_data, was_data;
    always @(posedge clk) begin
        was_rst <= rst;
        {was_icn, was_mem, was_nm} <= {icn, mem, nm};
        was_held <= wb_valid & !wb_ready;
        was_src <= wb_src;
        was_icn_data <= icn_data;
        was_mem_data <= mem_data;
        was_nm_data <= nm_data;
        was_data <= wb_data;
    end
    wire was_granted = was_icn | was_mem | was_nm;

    assign check_one = !(icn & mem) & !(icn & nm) & !(mem & nm);
    assign check_grant = (icn | mem | nm) == (free & (icn_valid | mem_valid | nm_valid));
    assign check_icn = icn_ready == free;
    assign check_priority = !free | (
        (!mem_valid | mem | icn_valid) & (!nm_valid | nm | icn_valid | mem_valid));
    assign check_next = was_rst | (
        (!was_icn | (wb_valid & (wb_src == 0) & (wb_data == was_icn_data))) &
        (!was_mem | (wb_valid & (wb_src == 1) & (wb_data == was_mem_data))) &
        (!was_nm | (wb_valid & (wb_src == 2) & (wb_data == was_nm_data))));
    assign check_empty = (was_rst ? !wb_valid : wb_valid == (was_granted | was_held))
        & (wb_valid | ((wb_src == 0) & (wb_data == 0)));
    assign check_hold = was_rst | !was_held | ((wb_src == was_src) & (wb_data == was_data));
    assign cover_icn = was_icn & was_mem_data[0] & mem_valid & nm_valid & wb_valid & !rst;
    assign cover_mem = was_mem & icn & !rst;
    assign cover_nm = was_nm & wb_valid & mem_valid & !rst;
    assign cover_stall = was_held & wb_valid & icn_valid & !rst;
endmodule
