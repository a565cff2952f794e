// The registers of spad_row_map for a set of pivots
// (microarchitecture/hash-units.md): row bit j is address bit m+j unless that
// bit is a pivot; the displaced row bits take the low bits that are not pivots,
// both in ascending order.
module row_rule #(
    parameter N = 14,
    parameter M = 5,
    parameter W = 3
) (
    input wire [N-1:0] pivots,
    output wire [(N-M)*W-1:0] regs
);
    // Which low bits are free before row bit j takes its source.
    wire [M*(N-M+1)-1:0] free;
    assign free[0 +: M] = ~pivots[0 +: M];

    genvar j, i;
    generate
        for (j = 0; j < N - M; j = j + 1) begin : row
            wire [M-1:0] now = free[j*M +: M];
            wire [M-1:0] lowest = now & (~now + 1'b1);
            wire [W*(M+1)-1:0] source;
            assign source[0 +: W] = 0;
            for (i = 0; i < M; i = i + 1) begin : low
                assign source[(i+1)*W +: W] = lowest[i] ? i + 1 : source[i*W +: W];
            end
            assign regs[j*W +: W] = pivots[M+j] ? source[M*W +: W] : 0;
            assign free[(j+1)*M +: M] = pivots[M+j] ? now & ~lowest : now;
        end
    endgenerate
endmodule
