// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_crossbar: rows and store data from lanes to banks, read data from banks
// to lanes. All served lanes of a bank are on one word, and each byte of it is
// written by one of them at most.
//
// Parameters: n = 14, m = 5, L = 32, B = 32, R = 9, D = 32, DB = 4
// Timing:     combinational
// Reference:  microarchitecture/crossbar.md
//
// in  leader                  L  the group's leaders, at most one per bank
// in  lane_bank             L*m  bank of each lane, m bits
// in  lane_row              L*R  row, R bits per lane
// in  lane_data          L*DB*8  store data, D bits per lane
// in  lane_writes          L*DB  bytes each lane writes, DB bits per lane; a
//                                byte of a bank is of one lane at most
// out bank_row       (1 << m)*R  row of the bank's leader; 0 if unused
// out bank_wdata  (1 << m)*DB*8  store data; 0 where nothing is written
// out bank_wbe      (1 << m)*DB  bytes that are written
// in  sel_valid               L  response: lanes to route to
// in  sel_bank              L*m  response: bank of each, m bits
// in  bank_rdata  (1 << m)*DB*8  read data, D bits per bank
// out lane_rdata         L*DB*8  read data, D bits per lane; else 0

`default_nettype none

module spad_crossbar #(
    parameter integer L = 32, // a power of two from 2 to 64
    parameter integer m = 5, // 1 to 6
    parameter integer R = 9, // 1 to 64
    parameter integer DB = 4 // 1 to 128
) (
    input wire [L-1:0] leader,
    input wire [L*m-1:0] lane_bank,
    input wire [L*R-1:0] lane_row,
    input wire [L*DB*8-1:0] lane_data,
    input wire [L*DB-1:0] lane_writes,
    output wire [(1 << m)*R-1:0] bank_row,
    output wire [(1 << m)*DB*8-1:0] bank_wdata,
    output wire [(1 << m)*DB-1:0] bank_wbe,
    input wire [L-1:0] sel_valid,
    input wire [L*m-1:0] sel_bank,
    input wire [(1 << m)*DB*8-1:0] bank_rdata,
    output wire [L*DB*8-1:0] lane_rdata
);
    localparam B = 1 << m;
    localparam D = DB*8;

    // Each byte position by itself: byte k of all lanes, and the lanes that write
    // it.
    wire [DB*L*8-1:0] bytes;
    wire [DB*L-1:0] writes;
    genvar i, j, k;
    generate
        for (k = 0; k < DB; k = k + 1) begin : of_byte
            for (i = 0; i < L; i = i + 1) begin : of_lane
                assign bytes[(k*L + i)*8 +: 8] = lane_data[i*D + k*8 +: 8];
                assign writes[k*L + i] = lane_writes[i*DB + k];
            end
        end
        for (j = 0; j < B; j = j + 1) begin : to_bank
            wire [L-1:0] here;
            for (i = 0; i < L; i = i + 1) begin : lane_here
                assign here[i] = lane_bank[i*m +: m] == j;
            end
            spad_pick #(.COUNT(L), .WIDTH(R)) row_of (
                .pick(leader & here),
                .words(lane_row),
                .word(bank_row[j*R +: R])
            );
            for (k = 0; k < DB; k = k + 1) begin : bank_byte
                wire [L-1:0] from = writes[k*L +: L] & here;
                assign bank_wbe[j*DB + k] = |from;
                spad_pick #(.COUNT(L), .WIDTH(8)) byte_of (
                    .pick(from),
                    .words(bytes[k*L*8 +: L*8]),
                    .word(bank_wdata[j*D + k*8 +: 8])
                );
            end
        end
        for (i = 0; i < L; i = i + 1) begin : to_lane
            wire [B-1:0] from;
            for (j = 0; j < B; j = j + 1) begin : bank_here
                assign from[j] = sel_valid[i] & (sel_bank[i*m +: m] == j);
            end
            spad_pick #(.COUNT(B), .WIDTH(D)) read_of (
                .pick(from),
                .words(bank_rdata),
                .word(lane_rdata[i*D +: D])
            );
        end
    endgenerate
endmodule

`default_nettype wire
