// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_turn: round-robin arbiter: grants the first requester after the lane
// that was granted last.
//
// Parameters: 32 lanes
// Timing:     combinational
// Reference:  microarchitecture/bus.md
//
// in  want    32  the lanes that request
// in  last     5  number of the lane that was granted last
// out turn    32  the lane that is granted, one-hot; none if none requests
// out number   5  its number; 0 if none

`default_nettype none

module spad_turn (
    input wire [31:0] want,
    input wire [4:0] last,
    output wire [31:0] turn,
    output wire [4:0] number
);
    localparam L = 32;

    // The first lane after the last one, or else the first of all.
    wire [L-1:0] after;
    assign after[0] = 1'b0;
    genvar i;
    generate
        for (i = 1; i < L; i = i + 1) begin : order
            assign after[i] = last < i;
        end
    endgenerate
    wire [L-1:0] later = want & after;
    /* verilator lint_off UNUSEDSIGNAL */ // only whether there is one
    wire [L-1:0] later_found;
    /* verilator lint_on UNUSEDSIGNAL */
    /* verilator lint_off UNUSEDSIGNAL */ // the lowest is enough
    wire [L-1:0] any_found;
    /* verilator lint_on UNUSEDSIGNAL */
    wire [L-1:0] first_later;
    wire [L-1:0] first_any;
    spad_lowest #(.WIDTH(L)) after_last (
        .want(later),
        .found(later_found),
        .lowest(first_later)
    );
    spad_lowest #(.WIDTH(L)) of_all (
        .want(want),
        .found(any_found),
        .lowest(first_any)
    );
    wire [L-1:0] chosen = later_found[L-1] ? first_later : first_any;
    assign turn = chosen;
    spad_lane_number number_of (.above(chosen[L-1:1]), .number(number));
endmodule

`default_nettype wire
