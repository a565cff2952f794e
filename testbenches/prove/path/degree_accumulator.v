// spad_degree_accumulator: the occupancies of an instruction's passes less the
// number of passes, saturated (microarchitecture/conflict-history.md).
module miter #(parameter EX = 3, parameter PCW = 14, parameter W_resolved_occ = 5) (
    input wire clk,
    input wire rst,
    input wire clear,
    input wire resolved_valid,
    input wire [W_resolved_occ-1:0] resolved_occ,
    input wire resolved_last,
    input wire [PCW-1:0] resolved_pc,
    output wire assume_occupied, // a pass occupies MEM0 for at least one cycle
    output wire assume_passes, // the exact sum fits the observer's counter
    output wire keep_sum, // the unit has the exact sum, as far as its field goes
    output wire check_sum, // behind the last pass: the sum, or the largest value if it does not fit
    output wire check_pulse, // an update behind the last pass, at no other time
    output wire check_clear, // a clear starts again and sends nothing
    output wire cover_sum, // 5: a sum of three passes that fits
    output wire cover_full, // 5: a sum that does not fit
    output wire cover_clear // 5: a clear between passes
);
    wire up_valid;
    wire [PCW-1:0] up_pc;
    wire [EX-1:0] up_excess;
    spad_degree_accumulator unit (
        .clk(clk), .rst(rst), .clear(clear), .resolved_valid(resolved_valid), .resolved_occ(resolved_occ), .resolved_last(resolved_last), .resolved_pc(resolved_pc),
        .up_valid(up_valid), .up_pc(up_pc), .up_excess(up_excess)
    );
    (* hierconn *) wire [EX-1:0] \unit.sum_q ;
    localparam MOST = (1 << EX) - 1;

    // The sum without a limit, and the number of passes.
    reg [15:0] exact;
    reg [3:0] passes;
    wire [15:0] with_this = exact + resolved_occ - 1;
    assign assume_occupied = !resolved_valid | (resolved_occ != 0);
    assign assume_passes = exact < 16'h8000;
    assign keep_sum = \unit.sum_q == (exact > MOST ? MOST : exact);

    reg was_rst, was_done, was_clear;
    reg [15:0] was_exact;
    reg [PCW-1:0] was_pc;
    always @(posedge clk) begin
        was_rst <= rst;
        was_clear <= clear;
        was_done <= resolved_valid & resolved_last & !clear;
        was_exact <= with_this;
        was_pc <= resolved_pc;
        if (rst | clear | (resolved_valid & resolved_last)) begin
            exact <= 0;
            passes <= 0;
        end else if (resolved_valid) begin
            exact <= with_this;
            passes <= passes + 1;
        end
    end
    assign check_sum = was_rst | !was_done
        | ((up_excess == (was_exact > MOST ? MOST : was_exact)) & (up_pc == was_pc));
    assign check_pulse = (up_valid == (!was_rst & was_done)) & (up_valid | ((up_pc == 0) & (up_excess == 0)));
    assign check_clear = was_rst | !was_clear | (!up_valid & (exact == 0));
    assign cover_sum = up_valid & (was_exact > 2) & (was_exact < MOST) & (was_exact == up_excess) & !rst;
    assign cover_full = up_valid & (was_exact > MOST) & !rst;
    assign cover_clear = was_clear & resolved_valid & !rst;
endmodule
