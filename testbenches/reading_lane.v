// A lane of spad_tcdm that reads words at random: its number, which no other lane
// has, is the address, and tells whether it requests.
module reading_lane #(parameter LANE = 0, parameter n = 10, parameter D = 32) (
    input wire clk, rst, gnt,
    output wire req, wen,
    output wire [n-1:0] add,
    output wire [D-1:0] wdata,
    output wire [D/8-1:0] be
);
    reg [15:0] number;
    always @(posedge clk)
        if (rst) number <= 16'h1234 + 16'h0dab * LANE;
        else if (!req | gnt) number <= {number[14:0], number[15] ^ number[13] ^ number[12] ^ number[10]};
    assign req = number[15];
    assign wen = 1'b1;
    assign add = number[n-1:0];
    assign wdata = {D{1'b0}};
    assign be = {D/8{1'b1}};
endmodule
