// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_crossbar: rows and store data from lanes to banks, read data from banks
// to lanes. All served lanes of a bank are on one word; their stores are
// merged per byte (MERGE = 1) or the leader's word is stored (MERGE = 0).
//
// Parameters: n = 14, m = 5, L = 32, B = 32, R = 9, LW = 5, D = 32, BE = 4,
//             MERGE = true
// Timing:     combinational
// Reference:  docs/microarchitecture.md, section 4
//
// in  served      32  lanes of the group
// in  leader      32  its leaders
// in  lane_bank  160  bank of each served lane, m bits
// in  bank_valid  32  banks in use
// in  bank_lane  160  leader of each of them, LW bits
// in  lane_row   288  row, R bits per lane
// in  lane_data  1024  store data, D bits per lane
// in  lane_be    128  byte enables, BE bits per lane
// out bank_row   288  row of the bank's leader; 0 if unused
// out bank_wdata 1024  store data, merged; 0 where nothing is written
// out bank_wbe   128  bytes that are written
// in  sel_valid   32  response: lanes to route to
// in  sel_bank   160  response: bank of each, m bits
// in  bank_rdata 1024  read data, D bits per bank
// out lane_rdata 1024  read data, D bits per lane; else 0

module spad_crossbar (
    input wire [31:0] served,
    /* verilator lint_off UNUSEDSIGNAL */ // bank_lane names the leaders; kept for formal properties
    input wire [31:0] leader,
    /* verilator lint_on UNUSEDSIGNAL */
    input wire [159:0] lane_bank,
    input wire [31:0] bank_valid,
    input wire [159:0] bank_lane,
    input wire [287:0] lane_row,
    input wire [1023:0] lane_data,
    input wire [127:0] lane_be,
    output wire [287:0] bank_row,
    output wire [1023:0] bank_wdata,
    output wire [127:0] bank_wbe,
    input wire [31:0] sel_valid,
    input wire [159:0] sel_bank,
    input wire [1023:0] bank_rdata,
    output wire [1023:0] lane_rdata
);
    localparam L = 32;
    localparam LW = 5;
    localparam M = 5;
    localparam B = 32;
    localparam R = 9;
    localparam D = 32;
    localparam BE = 4;

    genvar b, i, k;
    generate
        for (b = 0; b < B; b = b + 1) begin : to_bank
            wire [R-1:0] leader_row;
            spad_select_32x9 row_of (.index(bank_lane[b*LW +: LW]), .words(lane_row), .word(leader_row));
            assign bank_row[b*R +: R] = leader_row & {R{bank_valid[b]}};
            wire [L-1:0] here;
            for (i = 0; i < L; i = i + 1) begin : lane_here
                assign here[i] = lane_bank[i*M +: M] == b;
            end
            for (k = 0; k < BE; k = k + 1) begin : lane_byte
                wire [L-1:0] want;
                wire [L*8-1:0] bytes;
                for (i = 0; i < L; i = i + 1) begin : slice
                    assign want[i] = served[i] & (here[i] & lane_be[i*BE + k]);
                    assign bytes[i*8 +: 8] = lane_data[i*D + k*8 +: 8];
                end
                spad_merge_byte_32 merge (
                    .want(want),
                    .bytes(bytes),
                    .any(bank_wbe[b*BE + k]),
                    .merged(bank_wdata[b*D + k*8 +: 8])
                );
            end
        end
        for (i = 0; i < L; i = i + 1) begin : to_lane
            wire [D-1:0] read;
            spad_select_32x32 read_of (.index(sel_bank[i*M +: M]), .words(bank_rdata), .word(read));
            assign lane_rdata[i*D +: D] = read & {D{sel_valid[i]}};
        end
    endgenerate
endmodule
