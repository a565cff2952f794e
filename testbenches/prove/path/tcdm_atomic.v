// spad_tcdm with atomic operations: an access is performed alone by the bank that it
// wants, and a store-conditional finds its reservation exactly if its lane has
// reserved the word, and nobody has written it since (microarchitecture/atomic-bank.md).
// One word and one lane are followed; they may be any. The hash may answer anything,
// and so may the banks: which words they write is looked at, not what.
module miter #(parameter L = 4, parameter LW = 2, parameter n = 9, parameter m = 3, parameter B = 8, parameter R = 6,
               parameter RW = 2, parameter ROWS = 4, parameter D = 32) (
    input wire clk,
    input wire rst,
    input wire [L-1:0] tcdm_req,
    input wire [L*n-1:0] tcdm_add,
    input wire [L-1:0] tcdm_wen,
    input wire [L*D-1:0] tcdm_wdata,
    input wire [L*D/8-1:0] tcdm_be,
    input wire [L-1:0] tcdm_amo,
    input wire [L*4-1:0] tcdm_aop,
    input wire [L*D-1:0] tcdm_cmp,
    input wire [m-1:0] bank_seen,
    input wire [R-1:0] row_seen,
    input wire [LW-1:0] lane_seen,
    output wire assume_one_word, // any one word and lane are looked at
    output wire assume_mapping, // one address has one place
    output wire keep_second, // the lane's access in its second cycle is the one that began
    output wire keep_alone, // no store-conditional of another lane is beside it in its bank
    output wire keep_one, // the lane has one access in its second cycle
    output wire keep_reserved, // the lane has the reservation of the word exactly as defined
    output wire check_alone, // an atomic operation but a count is served without another access of its bank
    output wire check_counted, // the lanes that are counted are those that count in the word, all and no other
    output wire check_operation, // the bank of the lane's operation gets it, with its operand
    output wire check_unknown, // an operation that there is not is refused at once
    output wire check_found, // a store-conditional finds its reservation exactly if it is there
    output wire cover_found, // 5: it does
    output wire cover_ended // 6: it does not, because of a write between
);
    wire [L-1:0] tcdm_gnt, tcdm_r_valid, tcdm_r_opc;
    wire [L*D-1:0] tcdm_r_rdata;
    wire idle;
    spad_tcdm unit (
        .clk(clk), .rst(rst), .tcdm_req(tcdm_req), .tcdm_gnt(tcdm_gnt), .tcdm_add(tcdm_add), .tcdm_wen(tcdm_wen),
        .tcdm_wdata(tcdm_wdata), .tcdm_be(tcdm_be), .tcdm_amo(tcdm_amo), .tcdm_aop(tcdm_aop), .tcdm_cmp(tcdm_cmp),
        .tcdm_r_valid(tcdm_r_valid), .tcdm_r_rdata(tcdm_r_rdata), .tcdm_r_opc(tcdm_r_opc), .idle(idle)
    );
    (* hierconn *) wire [L*m-1:0] \unit.bank , \unit.from_q , \unit.reserved_bank_q ;
    (* hierconn *) wire [L*R-1:0] \unit.row ;
    (* hierconn *) wire [L*RW-1:0] \unit.reserved_row_q ;
    (* hierconn *) wire [L-1:0] \unit.takes , \unit.reserved_q , \unit.load_reserved_q , \unit.conditional_q , \unit.meets_q ;
    (* hierconn *) wire [B-1:0] \unit.written , \unit.conditional_reserved ;
    (* hierconn *) wire [B*RW-1:0] \unit.written_row ;
    wire [B-1:0] used, amo;
    wire [B*4-1:0] aop;
    wire [B*D-1:0] operand;
    wire [B*L-1:0] counted;
{%- for b in range(end=B) %}
    (* hierconn *) wire \unit.bank_of[{{ b }}].used , \unit.bank_of[{{ b }}].amo ;
    (* hierconn *) wire [3:0] \unit.bank_of[{{ b }}].aop ;
    (* hierconn *) wire [D-1:0] \unit.bank_of[{{ b }}].wdata ;
    (* hierconn *) wire [L-1:0] \unit.bank_of[{{ b }}].counted ;
    assign counted[{{ b }}*L +: L] = \unit.bank_of[{{ b }}].counted ;
    assign used[{{ b }}] = \unit.bank_of[{{ b }}].used ;
    assign amo[{{ b }}] = \unit.bank_of[{{ b }}].amo ;
    assign aop[{{ b }}*4 +: 4] = \unit.bank_of[{{ b }}].aop ;
    assign operand[{{ b }}*D +: D] = \unit.bank_of[{{ b }}].wdata ;
{%- endfor %}
    wire [L*m-1:0] banks = \unit.bank ;
    wire [L*R-1:0] rows = \unit.row ;
    wire [L-1:0] takes = \unit.takes ;

    // What is looked at.
    reg [m-1:0] bank;
    reg [R-1:0] row;
    reg [LW-1:0] lane;
    always @(posedge clk) begin
        bank <= bank_seen;
        row <= row_seen;
        lane <= lane_seen;
    end
    assign assume_one_word = (bank == bank_seen) & (row == row_seen) & (row < ROWS) & (lane == lane_seen);

    // Lanes whose accesses begin, and those of the word.
    integer i;
    reg [L-1:0] begins, here;
    always @*
        for (i = 0; i < L; i = i + 1) begin
            begins[i] = takes[i] & tcdm_req[i] & (rows[i*R +: R] < ROWS) & !(tcdm_amo[i] & (tcdm_aop[i*4 +: 4] > 12));
            here[i] = begins[i] & (banks[i*m +: m] == bank);
        end

    // One address has one place.
    reg one_place;
    integer j;
    always @* begin
        one_place = 1;
        for (i = 0; i < L; i = i + 1)
            for (j = 0; j < i; j = j + 1)
                if (tcdm_req[i] & tcdm_req[j] & (tcdm_add[i*n +: n] == tcdm_add[j*n +: n])
                    & ((banks[i*m +: m] != banks[j*m +: m]) | (rows[i*R +: R] != rows[j*R +: R]))) one_place = 0;
    end
    assign assume_mapping = one_place;

    // The bank writes the word, in the third cycle of an access.
    wire written = \unit.written [bank] & ( \unit.written_row [bank*RW +: RW] == row[RW-1:0]);

    // The lane's access in its second cycle.
    wire [3:0] lane_aop = tcdm_aop[lane*4 +: 4];
    wire lane_begins = begins[lane] & tcdm_amo[lane];
    reg conditional, load_here, load_elsewhere, reserved;
    reg [m-1:0] its_bank;
    reg [R-1:0] its_row;
    always @(posedge clk) begin
        conditional <= lane_begins & (lane_aop == 11) & !rst;
        its_bank <= banks[lane*m +: m];
        its_row <= rows[lane*R +: R];
    end
    wire [m-1:0] own_bank = \unit.reserved_bank_q [lane*m +: m];
    wire [RW-1:0] own_row = \unit.reserved_row_q [lane*RW +: RW];
    assign keep_second = ( \unit.conditional_q [lane] == conditional) & ( \unit.from_q [lane*m +: m] == its_bank)
        & ( \unit.load_reserved_q [lane] == (load_here | load_elsewhere))
        & ( \unit.meets_q [lane] == (conditional & (own_bank == its_bank) & (own_row == its_row[RW-1:0])))
        & (!conditional | (its_row < ROWS));
    reg beside;
    always @* begin
        beside = 0;
        for (i = 0; i < L; i = i + 1)
            if ((i != lane) & \unit.conditional_q [i] & ( \unit.from_q [i*m +: m] == bank)) beside = 1;
    end
    assign keep_alone = !(conditional & (its_bank == bank)) | !beside;

    // The reservation of the word by the lane, by the definition: before the access
    // in its second cycle, and without the write of the one in its third.
    always @(posedge clk) begin
        load_here <= !rst & lane_begins & (lane_aop == 10) & (banks[lane*m +: m] == bank) & (rows[lane*R +: R] == row);
        load_elsewhere <= !rst & lane_begins & (lane_aop == 10)
            & ((banks[lane*m +: m] != bank) | (rows[lane*R +: R] != row));
        if (rst) reserved <= 0;
        else if (load_here) reserved <= 1;
        else if (load_elsewhere | conditional | written) reserved <= 0;
    end
    assign keep_one = !(load_here & (load_elsewhere | conditional)) & !(load_elsewhere & conditional);
    // While a load-reserved is in its second cycle, the unit has its place already.
    wire here_reserved = (own_bank == bank) & (own_row == row[RW-1:0]);
    assign keep_reserved = load_here ? here_reserved : load_elsewhere ? !here_reserved
        : ( \unit.reserved_q [lane] & here_reserved) == reserved;

    wire [m-1:0] lane_bank = banks[lane*m +: m];
    assign check_alone = !(here[lane] & tcdm_amo[lane] & (lane_aop != 12)) | (here == (1 << lane));
    reg [L-1:0] counting;
    always @*
        for (i = 0; i < L; i = i + 1)
            counting[i] = tcdm_req[i] & tcdm_amo[i] & (tcdm_aop[i*4 +: 4] == 12) & (tcdm_add[i*n +: n] == tcdm_add[lane*n +: n]);
    assign check_counted = !(here[lane] & tcdm_amo[lane] & (lane_aop == 12)) | ((here == counting) & (counted[bank*L +: L] == here));
    assign check_operation = !lane_begins | (used[lane_bank] & amo[lane_bank] & (aop[lane_bank*4 +: 4] == lane_aop)
        & ((lane_aop == 12) | (operand[lane_bank*D +: D] == tcdm_wdata[lane*D +: D])));
    assign check_unknown = !(tcdm_req[lane] & tcdm_amo[lane] & (lane_aop > 12)) | (takes[lane] & !begins[lane]);
    wire stores = conditional & (its_bank == bank) & (its_row == row);
    assign check_found = !stores | ( \unit.conditional_reserved [bank] == (reserved & !written));
    reg was_reserved;
    always @(posedge clk) was_reserved <= !rst & reserved & written & !conditional;
    assign cover_found = stores & \unit.conditional_reserved [bank] & !rst;
    assign cover_ended = stores & was_reserved & ! \unit.conditional_reserved [bank] & !rst;
endmodule
