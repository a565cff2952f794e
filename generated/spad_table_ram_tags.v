// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_table_ram_tags: tags of the conflict history alone, which an update
// reads: one port to read, one to write, both synchronous. Replace it by an
// SRAM macro (1R1W); FPGA tools make memory of it. Its contents and rd_data
// are undefined until they are written and read. What is read of the row that
// is written in the same cycle is not relied on.
//
// Parameters: 256 words of 6 bits
// Timing:     read data in the next cycle, held until the next read
// Reference:  microarchitecture/conflict-history.md
//
// in  clk       1  clock
// in  rd_en     1  read in this cycle
// in  rd_row    8  row
// out rd_data   6  word of the last read
// in  wr_en     1  write in this cycle
// in  wr_row    8  row
// in  wr_data   6  word to write

`default_nettype none

module spad_table_ram_tags (
    input wire clk,
    input wire rd_en,
    input wire [7:0] rd_row,
    output wire [5:0] rd_data,
    input wire wr_en,
    input wire [7:0] wr_row,
    input wire [5:0] wr_data
);
    (* no_rw_check, ramstyle = "no_rw_check", rw_addr_collision = "no" *)
    reg [5:0] mem [0:255];
    reg [5:0] out_q; // no reset: it is not relied on before the first read

    always @(posedge clk) begin
        if (wr_en) mem[wr_row] <= wr_data;
    end

    always @(posedge clk) begin
        if (rd_en) out_q <= mem[rd_row];
    end

    assign rd_data = out_q;
endmodule

`default_nettype wire
