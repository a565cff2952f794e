// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_bank_ram: one scratchpad bank: one port, synchronous, byte enables.
// Replace it by an SRAM macro; only dout after a read is relied on. A reset
// never clears the array. FPGA tools infer block RAM.
//
// Parameters: ROWS = 384, D = 32, DB = 4
// Timing:     read data in the next cycle, held until the next read
// Reference:  microarchitecture/bank-ram.md
//
// in  clk     1  clock
// in  rst     1  synchronous reset
// in  en      1  access in this cycle
// in  we      1  1 write, 0 read
// in  be      4  bytes to write
// in  row     9  row, must be below ROWS (not checked here)
// in  wdata  32  data to write
// out dout   32  data of the last read

`default_nettype none

module spad_bank_ram (
    input wire clk,
    input wire rst,
    input wire en,
    input wire we,
    input wire [3:0] be,
    input wire [8:0] row,
    input wire [31:0] wdata,
    output wire [31:0] dout
);
    localparam D = 32;
    localparam DB = 4;
    reg [31:0] mem [0:383];
    reg [D-1:0] out_q;

    // Like a macro, the array powers up with unknown words, so that a
    // four-state simulation shows a word that is read before it is written.
    // Only the recorded test benches and spadkit cosim start from zeros.
`ifdef SPADKIT_RAM_ZEROS
    integer r;
    initial for (r = 0; r < 384; r = r + 1) mem[r] = 32'd0;
`endif

    integer k;
    always @(posedge clk) begin
        /* verilator lint_off SYNCASYNCNET */ // no write beside a reset, of any style
        if (en & we & ~rst) begin
        /* verilator lint_on SYNCASYNCNET */
            for (k = 0; k < DB; k = k + 1) begin
                if (be[k]) mem[row][k*8 +: 8] <= wdata[k*8 +: 8];
            end
        end
    end

    always @(posedge clk) begin
        if (rst) out_q <= {D{1'b0}};
        else if (en & ~we) out_q <= mem[row];
    end

    assign dout = out_q;
endmodule

`default_nettype wire
