// spad_bank_ram: what was written is read, and only reads change `dout`
// (microarchitecture/bank-ram.md). One row and byte is followed; it may be any.
// The words of the memory are named: four rows.
module miter #(parameter ROWS = 4, parameter D = 32, parameter W_row = 2) (
    input wire clk,
    input wire rst,
    input wire en,
    input wire we,
    input wire [D/8-1:0] be,
    input wire [W_row-1:0] row,
    input wire [D-1:0] wdata,
    input wire [W_row-1:0] row_seen,
    input wire [$clog2(D/8)-1:0] byte_seen,
    output wire assume_one_byte, // any one byte of one row is looked at
    output wire keep_word, // it is in its place
    output wire check_read, // a read gives the byte that was last written
    output wire check_kept, // nothing but a write of this byte changes it, and a reset does not
    output wire check_stable, // without a read `dout` stays
    output wire check_reset, // a reset clears `dout`
    output wire cover_read // 4: a byte is written, another is kept, and read
);
    wire [D-1:0] dout;
    spad_bank_ram unit (
        .clk(clk), .rst(rst), .en(en), .we(we), .be(be), .row(row), .wdata(wdata), .dout(dout)
    );
    (* hierconn *) wire [D-1:0] \unit.mem[0] ;
    (* hierconn *) wire [D-1:0] \unit.mem[1] ;
    (* hierconn *) wire [D-1:0] \unit.mem[2] ;
    (* hierconn *) wire [D-1:0] \unit.mem[3] ;

    reg [W_row-1:0] place;
    reg [$clog2(D/8)-1:0] lane;
    always @(posedge clk) begin
        place <= row_seen;
        lane <= byte_seen;
    end
    assign assume_one_byte = (place == row_seen) & (place < ROWS) & (lane == byte_seen);
    wire [D-1:0] word = place == 0 ? \unit.mem[0] : place == 1 ? \unit.mem[1] : place == 2 ? \unit.mem[2] : \unit.mem[3] ;

    // The byte that was last written, if any was.
    reg written;
    reg [7:0] value;
    wire write = en & we & (row == place) & be[lane] & !rst;
    reg was_rst, was_read, was_here, was_written;
    reg [7:0] was_value, was_byte;
    reg was_write;
    reg [D-1:0] was_dout;
    always @(posedge clk) begin
        if (write) value <= wdata[lane*8 +: 8];
        // Only what is written behind the last reset counts.
        if (rst) written <= 0;
        else if (write) written <= 1;
        was_rst <= rst;
        was_read <= en & !we;
        was_here <= en & !we & (row == place);
        was_written <= written;
        was_value <= value;
        was_byte <= word[lane*8 +: 8];
        was_write <= write;
        was_dout <= dout;
    end
    assign keep_word = !written | (word[lane*8 +: 8] == value);
    assign check_read = was_rst | !was_here | !was_written | (dout[lane*8 +: 8] == was_value);
    assign check_kept = was_write | (word[lane*8 +: 8] == was_byte);
    assign check_stable = was_rst | was_read | (dout == was_dout);
    assign check_reset = !was_rst | (dout == 0);
    assign cover_read = was_here & was_written & (dout[lane*8 +: 8] == 8'hA5) & !rst;
endmodule
