// Any matrix over GF(2): bank[i] = parity of the address bits in mask r_i.
module definition #(
    parameter N = 14,
    parameter M = 5,
    parameter R = 5,
    parameter W = 14
) (
    input wire [R*W-1:0] regs,
    input wire [N-1:0] addr,
    output wire [M-1:0] value,
    output wire [N*M-1:0] rows,
    output wire legal
);
    assign legal = 1;
    assign rows = regs;

    genvar i;
    generate
        for (i = 0; i < M; i = i + 1) begin : row
            assign value[i] = ^(addr & regs[i*W +: W]);
        end
    endgenerate
endmodule
