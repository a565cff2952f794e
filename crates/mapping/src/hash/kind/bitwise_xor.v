// Bitwise XOR (hash paper, section 4.4): bank[i] = addr[a_i] ^ addr[b_i] with
// a_i < b_i, or addr[a_i] alone, which b_i = 0 stands for. A register holds
// a_i in its low and b_i in its high half.
module definition #(
    parameter N = 14,
    parameter M = 5,
    parameter R = 5,
    parameter W = 8
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
            wire [31:0] first = regs[i*W +: W/2];
            wire [31:0] second = regs[i*W + W/2 +: W/2];
            wire [N-1:0] one = 1;
            assign in_range[i] = first < N && (second == 0 || (first < second && second < N));
            assign value[i] = second == 0 ? addr >> first : (addr >> first) ^ (addr >> second);
            assign rows[i*N +: N] = second == 0 ? one << first : (one << first) ^ (one << second);
        end
    endgenerate
endmodule
