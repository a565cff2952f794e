// Bit-vector XOR (hash paper, section 4.2):
// bank = addr[k1+m-1:k1] ^ (addr[k2+m-1:k2] & mask). Address bits from n
// upward read as zero.
module definition #(
    parameter N = 14,
    parameter M = 5,
    parameter R = 3,
    parameter W = 5
) (
    input wire [R*W-1:0] regs,
    input wire [N-1:0] addr,
    output wire [M-1:0] value,
    output wire [N*M-1:0] rows,
    output wire legal
);
    wire [31:0] k1 = regs[0*W +: W];
    wire [31:0] k2 = regs[1*W +: W];
    wire [M-1:0] mask = regs[2*W +: W];

    assign legal = k1 <= N - M && k2 <= N - 1;
    assign value = (addr >> k1) ^ ((addr >> k2) & mask);

    // The same as a matrix: row mask i in [i*N +: N].
    genvar i;
    generate
        for (i = 0; i < M; i = i + 1) begin : row
            wire [N-1:0] one = 1 << i;
            assign rows[i*N +: N] = (one << k1) ^ (mask[i] ? one << k2 : {N{1'b0}});
        end
    endgenerate
endmodule
