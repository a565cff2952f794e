// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_merge_byte_32: the byte of the lowest lane that wants to write it.
// Search and multiplexer are one tournament, so no lane number is formed.
//
// Parameters: L = 32
// Timing:     combinational
// Reference:  docs/microarchitecture.md, section 4 (MERGE = 1)
//
// in  want    32  lanes that write the byte
// in  bytes  256  their bytes
// out any      1  a lane writes
// out merged   8  the lowest one's byte; 0 if none writes

module spad_merge_byte_32 (
    input wire [31:0] want,
    input wire [255:0] bytes,
    output wire any,
    output wire [7:0] merged
);
    // A tournament: each match passes on the lower lane that writes.
    wire [15:0] any0;
    wire [127:0] byte0;
    wire [7:0] any1;
    wire [63:0] byte1;
    wire [3:0] any2;
    wire [31:0] byte2;
    wire [1:0] any3;
    wire [15:0] byte3;
    wire [0:0] any4;
    wire [7:0] byte4;

    genvar j;
    generate
        for (j = 0; j < 16; j = j + 1) begin : match0
            assign any0[j] = want[2*j] | want[2*j+1];
            assign byte0[j*8 +: 8] = want[2*j]
                ? bytes[2*j*8 +: 8]
                : bytes[(2*j+1)*8 +: 8];
        end
        for (j = 0; j < 8; j = j + 1) begin : match1
            assign any1[j] = any0[2*j] | any0[2*j+1];
            assign byte1[j*8 +: 8] = any0[2*j]
                ? byte0[2*j*8 +: 8]
                : byte0[(2*j+1)*8 +: 8];
        end
        for (j = 0; j < 4; j = j + 1) begin : match2
            assign any2[j] = any1[2*j] | any1[2*j+1];
            assign byte2[j*8 +: 8] = any1[2*j]
                ? byte1[2*j*8 +: 8]
                : byte1[(2*j+1)*8 +: 8];
        end
        for (j = 0; j < 2; j = j + 1) begin : match3
            assign any3[j] = any2[2*j] | any2[2*j+1];
            assign byte3[j*8 +: 8] = any2[2*j]
                ? byte2[2*j*8 +: 8]
                : byte2[(2*j+1)*8 +: 8];
        end
        for (j = 0; j < 1; j = j + 1) begin : match4
            assign any4[j] = any3[2*j] | any3[2*j+1];
            assign byte4[j*8 +: 8] = any3[2*j]
                ? byte3[2*j*8 +: 8]
                : byte3[(2*j+1)*8 +: 8];
        end
    endgenerate

    assign any = any4;
    assign merged = byte4 & {8{any4}};
endmodule
