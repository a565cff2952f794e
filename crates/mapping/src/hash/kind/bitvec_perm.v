// Bit-vector permutation (hash paper, section 4.1): bank = addr[k+m-1:k].
module definition #(
    parameter N = 14,
    parameter M = 5,
    parameter R = 1,
    parameter W = 4
) (
    input wire [R*W-1:0] regs,
    input wire [N-1:0] addr,
    output wire [M-1:0] value,
    output wire [N*M-1:0] rows,
    output wire legal
);
    wire [31:0] k = regs;

    assign legal = k <= N - M;
    assign value = addr >> k;

    // The same as a matrix: row mask i in [i*N +: N].
    genvar i;
    generate
        for (i = 0; i < M; i = i + 1) begin : row
            wire [N-1:0] one = 1 << i;
            assign rows[i*N +: N] = one << k;
        end
    endgenerate
endmodule
