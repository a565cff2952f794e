// bank_front_end: where each lane's word is: the hash unit and the row map for
// every lane of an SM, behind one set of configuration registers. The outputs
// are registered, so that the hash has a stage of its own. They have no reset:
// rst is for the configuration registers.
//
// For 14 address bits, 32 banks and 32 lanes, the preset `fermi`:
//
//     emit: spadkit emit spad_hash_bitwise_xor spad_hash_config_bitwise_xor \
//           spad_row_map spad_hash_config_row_map -o rtl
//     lint: verilator --lint-only -Wall -Irtl examples/bank_front_end.v
//
// Before a kernel starts, write the values that `spadkit encode SPEC` prints
// for spad_hash_config_bitwise_xor (cfg_row_map low) and for
// spad_hash_config_row_map (cfg_row_map high), index 0 first. Hash and row map
// belong together: with the row map of another spec, words would collide.

module bank_front_end #(
    parameter LANES = 32
) (
    input wire clk,
    input wire rst,
    // Configuration.
    input wire cfg_wr,
    input wire cfg_row_map,
    input wire [3:0] cfg_index,
    input wire [7:0] cfg_data,
    // Word addresses, lane 0 in the low bits.
    input wire [LANES*14-1:0] addr,
    output reg [LANES*5-1:0] bank,
    output reg [LANES*9-1:0] row
);
    wire [119:0] hash_sel;
    wire [53:0] row_sel;

    // The hash has five registers: a higher index must not wrap around.
    spad_hash_config_bitwise_xor hash_registers (
        .clk(clk), .rst(rst),
        .wr_en(cfg_wr & ~cfg_row_map & ~cfg_index[3]), .wr_index(cfg_index[2:0]),
        .wr_data(cfg_data), .cfg_sel(hash_sel)
    );
    spad_hash_config_row_map row_registers (
        .clk(clk), .rst(rst),
        .wr_en(cfg_wr & cfg_row_map), .wr_index(cfg_index),
        .wr_data(cfg_data[2:0]), .cfg_row_sel(row_sel)
    );

    genvar i;
    generate
        for (i = 0; i < LANES; i = i + 1) begin : lane
            wire [4:0] lane_bank;
            wire [8:0] lane_row;
            spad_hash_bitwise_xor hash (
                .addr(addr[i*14 +: 14]), .cfg_sel(hash_sel), .bank(lane_bank)
            );
            spad_row_map map (
                .addr(addr[i*14 +: 14]), .cfg_row_sel(row_sel), .row(lane_row)
            );
            always @(posedge clk) begin
                bank[i*5 +: 5] <= lane_bank;
                row[i*9 +: 9] <= lane_row;
            end
        end
    endgenerate
endmodule
