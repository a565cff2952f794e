// The row index (microarchitecture/hash-units.md): row bit j is address bit m+j
// where register j is 0, else address bit r_j - 1, one of the m low ones.
module definition #(
    parameter N = 14,
    parameter M = 5,
    parameter R = 9,
    parameter W = 3
) (
    input wire [R*W-1:0] regs,
    input wire [N-1:0] addr,
    output wire [N-M-1:0] value,
    output wire legal
);
    wire [N-M-1:0] in_range;

    assign legal = &in_range;

    genvar j;
    generate
        for (j = 0; j < N - M; j = j + 1) begin : row
            wire [31:0] source = regs[j*W +: W];
            assign in_range[j] = source <= M;
            assign value[j] = source == 0 ? addr[M+j] : addr >> (source - 1);
        end
    endgenerate
endmodule
