// spad_atomic_bank: accesses of a word take effect one after the other, each at
// once (microarchitecture/atomic-bank.md). One row is followed; it may be any. The
// words of the memory are named: four rows.
module miter #(parameter L = 4, parameter ROWS = 4, parameter D = 32, parameter W_row = 2) (
    input wire clk,
    input wire rst,
    input wire en,
    input wire amo,
    input wire [3:0] aop,
    input wire we,
    input wire [D/8-1:0] be,
    input wire [W_row-1:0] row,
    input wire [D-1:0] data,
    input wire [D-1:0] cmp,
    input wire [L-1:0] lanes,
    input wire reserved,
    input wire [W_row-1:0] row_seen,
    output wire assume_one_row, // any one row is looked at
    output wire keep_access, // the access in its second cycle is the one that began
    output wire keep_third, // the one in its third does what the definition makes of it
    output wire keep_word, // the word is in the memory, or about to be
    output wire check_answer, // an access answers the word before it; a store-conditional whether it fails
    output wire check_written, // it writes exactly if it is a write, an operation that updates, or a condition that holds
    output wire check_word, // what it writes is what the operation makes of the word before it
    output wire check_row, // it tells its row
    output wire check_kept, // nothing else changes the word
    output wire cover_again, // 4: a sum of the sum of the cycle before
    output wire cover_swap, // 4: a compare-and-swap finds what another access has just written
    output wire cover_fails // 3: a store-conditional fails
);
    wire [D-1:0] dout;
    wire written;
    wire [W_row-1:0] at;
    spad_atomic_bank unit (
        .clk(clk), .rst(rst), .en(en), .amo(amo), .aop(aop), .we(we), .be(be), .row(row), .data(data), .cmp(cmp),
        .lanes(lanes), .reserved(reserved), .dout(dout), .written(written), .at(at)
    );
    (* hierconn *) wire [D-1:0] \unit.ram.mem[0] ;
    (* hierconn *) wire [D-1:0] \unit.ram.mem[1] ;
    (* hierconn *) wire [D-1:0] \unit.ram.mem[2] ;
    (* hierconn *) wire [D-1:0] \unit.ram.mem[3] ;
    (* hierconn *) wire \unit.busy_q , \unit.amo_q , \unit.we_q ;
    (* hierconn *) wire [3:0] \unit.aop_q ;
    (* hierconn *) wire [D/8-1:0] \unit.be_q ;
    (* hierconn *) wire [W_row-1:0] \unit.row_q ;
    (* hierconn *) wire [L-1:0] \unit.lanes_q ;
    (* hierconn *) wire [D-1:0] \unit.data_q , \unit.cmp_q , \unit.old , \unit.new_word ;

    reg [W_row-1:0] place;
    always @(posedge clk) place <= row_seen;
    assign assume_one_row = (place == row_seen) & (place < ROWS);
    wire [D-1:0] stored = place == 0 ? \unit.ram.mem[0] : place == 1 ? \unit.ram.mem[1]
        : place == 2 ? \unit.ram.mem[2] : \unit.ram.mem[3] ;

    // The access that began in the cycle before.
    reg here_busy, here_amo, here_we;
    reg [3:0] here_aop;
    reg [D/8-1:0] here_be;
    reg [W_row-1:0] here_row;
    reg [D-1:0] here_data, here_cmp;
    reg [L-1:0] here_lanes;
    always @(posedge clk) begin
        here_busy <= en & !rst;
        here_amo <= amo;
        here_we <= we;
        here_aop <= aop;
        here_be <= be;
        here_row <= row;
        here_data <= data;
        here_cmp <= cmp;
        here_lanes <= lanes;
    end
    assign keep_access = ( \unit.busy_q == here_busy) & (!here_busy | (( \unit.amo_q == here_amo) & ( \unit.we_q == here_we)
        & ( \unit.aop_q == here_aop) & ( \unit.be_q == here_be) & ( \unit.row_q == here_row) & ( \unit.data_q == here_data)
        & ( \unit.cmp_q == here_cmp) & ( \unit.lanes_q == here_lanes)));

    // What the definition makes of the word.
    reg [D-1:0] value, after;
    reg updates;
    reg [D-1:0] count;
    integer k;
    always @* begin
        count = 0;
        for (k = 0; k < L; k = k + 1) count = count + here_lanes[k];
        updates = 0;
        after = value;
        if (here_busy & (here_row == place)) begin
            if (here_amo) begin
                updates = (here_aop < 9) | (here_aop == 12) | ((here_aop == 9) & (value == here_cmp)) | ((here_aop == 11) & reserved);
                case (here_aop)
                    0: after = value + here_data;
                    1: after = value & here_data;
                    2: after = value | here_data;
                    3: after = value ^ here_data;
                    5: after = value < here_data ? value : here_data;
                    6: after = value > here_data ? value : here_data;
                    7: after = $signed(value) < $signed(here_data) ? value : here_data;
                    8: after = $signed(value) > $signed(here_data) ? value : here_data;
                    12: after = value + count;
                    default: after = here_data;
                endcase
                if (!updates) after = value;
            end else begin
                updates = here_we;
                for (k = 0; k < D/8; k = k + 1)
                    if (here_we & here_be[k]) after[8*k +: 8] = here_data[8*k +: 8];
            end
        end
    end

    // The access that has been in its second cycle. A reset there ends it.
    wire mine = here_busy & (here_row == place);
    reg third_busy, third_mine, third_updates;
    reg [W_row-1:0] third_row;
    reg [D-1:0] third_after;
    always @(posedge clk) begin
        third_busy <= here_busy & !rst;
        third_mine <= mine & !rst;
        third_updates <= updates;
        third_row <= here_row;
        third_after <= after;
    end
    wire writes_mine = written & (at == place);
    assign keep_third = (third_busy | !written) & (!third_busy | (at == third_row)) & (third_mine == (third_busy & (third_row == place)))
        & (!third_mine | ((written == third_updates) & (!written | ( \unit.new_word == third_after))));

    // The word by the definition, before the access in its second cycle; in a reset,
    // where anything may be in its third, what the memory will have.
    wire [D-1:0] due = writes_mine ? \unit.new_word : stored;
    always @(posedge clk)
        if (rst) value <= due;
        else value <= after;
    assign keep_word = (due == value) & (!mine | ( \unit.old == value));
    assign check_answer = !mine | (dout == (here_amo & (here_aop == 11) ? { {D-1{1'b0}}, !reserved} : value));
    assign check_written = third_mine ? written == third_updates : third_busy | !written;
    assign check_word = !(third_mine & written) | ( \unit.new_word == third_after);
    assign check_row = !third_busy | (at == third_row);
    reg was_mine, was_rst;
    reg [D-1:0] was_stored;
    always @(posedge clk) begin
        was_rst <= rst;
        was_mine <= third_mine & third_updates;
        was_stored <= stored;
    end
    assign check_kept = was_rst | was_mine | (stored == was_stored);

    reg was_add, was_here;
    always @(posedge clk) begin
        was_add <= mine & here_amo & (here_aop == 0) & !rst;
        was_here <= mine & updates & !rst;
    end
    assign cover_again = was_add & mine & here_amo & (here_aop == 0) & (dout == 5) & (after == 12) & !rst;
    assign cover_swap = was_here & mine & here_amo & (here_aop == 9) & updates & (dout == 32'hA5) & !rst;
    assign cover_fails = mine & here_amo & (here_aop == 11) & (dout == 1) & !rst;
endmodule
