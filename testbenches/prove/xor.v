// The fixed XOR hash (atomics paper, section 4): bank = addr[m-1:0] ^
// addr[2m-1:m]. Address bits from n upward read as zero.
module definition #(
    parameter N = 14,
    parameter M = 5,
    parameter R = 1,
    parameter W = 1
) (
    input wire [R*W-1:0] regs,
    input wire [N-1:0] addr,
    output wire [M-1:0] value,
    output wire [N*M-1:0] rows,
    output wire legal
);
    assign legal = 1;
    assign value = addr ^ (addr >> M);

    // The same as a matrix: row mask i in [i*N +: N].
    genvar i;
    generate
        for (i = 0; i < M; i = i + 1) begin : row
            wire [N-1:0] one = 1 << i;
            assign rows[i*N +: N] = one ^ (one << M);
        end
    endgenerate
endmodule
