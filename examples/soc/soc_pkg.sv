// SPDX-License-Identifier: MIT OR Apache-2.0
// soc_pkg: what the parts of the example tell each other.

package soc_pkg;
    // Lanes of the AXI port (machine.toml), the lowest ones; the engine has the others.
    localparam int unsigned AXI_LANES = 4;
    localparam int unsigned ENGINE_LANES = spad_pkg::LANES - AXI_LANES;
    localparam int unsigned BEAT_BITS = AXI_LANES * spad_pkg::WORD_BITS;
    localparam int unsigned BEAT_BYTES = BEAT_BITS / 8;

    // The matrix has 2^SIDE_BITS rows and columns, the histogram 2^BIN_BITS bins.
    localparam int unsigned SIDE_BITS = 4;
    localparam int unsigned MATRIX = 1 << (2 * SIDE_BITS);
    localparam int unsigned BIN_BITS = 5;
    localparam int unsigned BINS = 1 << BIN_BITS;

    typedef logic [spad_pkg::ADDR_BITS-1:0] word_addr_t;

    // Moves `beats` beats between a stream and the scratchpad, from word `word` on.
    typedef struct packed {
        logic fill;  // 1: into the scratchpad; 0: out of it
        word_addr_t word;
        logic [7:0] beats;
    } dma_cmd_t;

    // Reads the MATRIX words from `from` on. The results are at `to`.
    typedef struct packed {
        logic histogram;  // 1: counts the words by their low bits; 0: transposes the matrix
        word_addr_t from;
        word_addr_t to;
    } job_t;
endpackage
