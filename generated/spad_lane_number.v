// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_lane_number: one-hot to binary encoder of 32 bits. Bit 0 is no input:
// without it the number is 0, as it is for bit 0.
//
// Parameters: 32 bits
// Timing:     combinational
// Reference:  microarchitecture/warp-scheduler.md
//
// in  above   31  the vector but for its lowest bit: at most one bit is set
// out number   5  its number in the whole vector; 0 if none is

`default_nettype none

module spad_lane_number (
    input wire [30:0] above,
    output wire [4:0] number
);
    assign number[0] = above[0] | above[2] | above[4] | above[6] | above[8] | above[10]
        | above[12] | above[14] | above[16] | above[18] | above[20] | above[22] | above[24]
        | above[26] | above[28] | above[30];
    assign number[1] = above[1] | above[2] | above[5] | above[6] | above[9] | above[10]
        | above[13] | above[14] | above[17] | above[18] | above[21] | above[22] | above[25]
        | above[26] | above[29] | above[30];
    assign number[2] = above[3] | above[4] | above[5] | above[6] | above[11] | above[12]
        | above[13] | above[14] | above[19] | above[20] | above[21] | above[22] | above[27]
        | above[28] | above[29] | above[30];
    assign number[3] = above[7] | above[8] | above[9] | above[10] | above[11] | above[12]
        | above[13] | above[14] | above[23] | above[24] | above[25] | above[26] | above[27]
        | above[28] | above[29] | above[30];
    assign number[4] = above[15] | above[16] | above[17] | above[18] | above[19] | above[20]
        | above[21] | above[22] | above[23] | above[24] | above[25] | above[26] | above[27]
        | above[28] | above[29] | above[30];
endmodule

`default_nettype wire
