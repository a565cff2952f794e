// Bitwise permutation (hash paper, section 4.3): bank[i] = addr[r_i].
module definition #(
    parameter N = 14,
    parameter M = 5,
    parameter R = 5,
    parameter W = 4
) (
    input wire [R*W-1:0] regs,
    input wire [N-1:0] addr,
    output wire [M-1:0] value,
    output wire [N*M-1:0] rows,
    output wire legal
);
    wire [M-1:0] in_range;

    assign legal = &in_range;

    // The same as a matrix: row mask i in [i*N +: N].
    genvar i;
    generate
        for (i = 0; i < M; i = i + 1) begin : row
            wire [31:0] source = regs[i*W +: W];
            wire [N-1:0] one = 1;
            assign in_range[i] = source < N;
            assign value[i] = addr >> source;
            assign rows[i*N +: N] = one << source;
        end
    endgenerate
endmodule
