// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_lane_hash: bank, row and lock of one lane's address. cfg_lock_hash: 0
// the low address bits; 1 the low 5 of them XORed with the bits above the
// index; 2 added to them, modulo 32.
//
// Parameters: n = 14, m = 5, R = 9, LK = 10
// Timing:     combinational; cfg_* is static while a kernel runs
// Reference:  hash paper, section 4; atomics paper, section IV;
//             microarchitecture/hash-units.md
//
// in  cfg_rows       70  row masks: bits [i*n +: n] are the mask of bank bit i
// in  cfg_row_sel    54  one-hot select of row bit j in bits [j*(m+1) +: m+1]:
//                        bit i < m takes addr[i], bit m takes addr[m+j]
// in  cfg_lock_hash   2  lock hash
// in  addr           14  word address
// out bank            5  bank
// out row             9  row inside the bank
// out lock           10  lock index

`default_nettype none

module spad_lane_hash (
    input wire [69:0] cfg_rows,
    input wire [53:0] cfg_row_sel,
    input wire [1:0] cfg_lock_hash,
    input wire [13:0] addr,
    output wire [4:0] bank,
    output wire [8:0] row,
    output wire [9:0] lock
);
    localparam [1:0] LOCK_HASH_XOR = 2'd1;
    localparam [1:0] LOCK_HASH_ADD = 2'd2;
    spad_hash_matrix hash (.addr(addr), .cfg_rows(cfg_rows), .bank(bank));
    spad_row_map row_map (.addr(addr), .cfg_row_sel(cfg_row_sel), .row(row));

    // The low lock bits, unchanged or combined with the address bits above the
    // lock index.
    wire [4:0] low = addr[4:0];
    wire [4:0] up = {1'd0, addr[13:10]};
    wire [4:0] hashed = (cfg_lock_hash == LOCK_HASH_XOR) ? low ^ up
        : (cfg_lock_hash == LOCK_HASH_ADD) ? low + up
        : low;
    assign lock = {addr[9:5], hashed};
endmodule

`default_nettype wire
