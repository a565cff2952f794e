// Random address permute-shift (RAP paper, section IV): element (i, j) of a
// matrix with 2^m columns is in bank (j + r_i) mod 2^m; i counts modulo 2^m.
// Every table of shifts is legal (RAS draws them independently).
module definition #(
    parameter N = 14,
    parameter M = 5,
    parameter R = 32,
    parameter W = 5
) (
    input wire [R*W-1:0] regs,
    input wire [N-1:0] addr,
    output wire [M-1:0] value,
    output wire legal
);
    wire [31:0] row = (addr >> M) % (1 << M);
    wire [M-1:0] shift = regs >> row * W;

    assign legal = 1;
    assign value = addr + shift;
endmodule
