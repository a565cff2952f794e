// spad_crossbar: equal to its definition for all inputs
// (microarchitecture/crossbar.md).
module miter #(parameter L = 4, parameter m = 3, parameter B = 8, parameter R = 6,
               parameter D = 32) (
    input wire [L-1:0] leader,
    input wire [L*m-1:0] lane_bank,
    input wire [L*R-1:0] lane_row,
    input wire [L*D-1:0] lane_data,
    input wire [L*D/8-1:0] lane_writes,
    input wire [L-1:0] sel_valid,
    input wire [L*m-1:0] sel_bank,
    input wire [B*D-1:0] bank_rdata,
    output wire assume_one_leader, // no bank has two leaders
    output wire assume_one_writer, // no byte of a bank has two lanes that write it
    output wire check_row, // a used bank gets its leader's row, another one 0
    output wire check_enables, // a byte is written if a lane of the bank writes it
    output wire check_data, // it is that lane's; a byte that is not written is 0
    output wire check_response, // a lane gets its bank's word, one that asks for none 0
    output wire cover_merged // 1: two lanes write into one word
);
    localparam DB = D / 8;
    wire [B*R-1:0] bank_row;
    wire [B*D-1:0] bank_wdata;
    wire [B*DB-1:0] bank_wbe;
    wire [L*D-1:0] lane_rdata;
    spad_crossbar unit (
        .leader(leader), .lane_bank(lane_bank),
        .lane_row(lane_row), .lane_data(lane_data), .lane_writes(lane_writes), .bank_row(bank_row), .bank_wdata(bank_wdata),
        .bank_wbe(bank_wbe), .sel_valid(sel_valid), .sel_bank(sel_bank), .bank_rdata(bank_rdata), .lane_rdata(lane_rdata)
    );
    reg [B*R-1:0] row;
    reg [B*D-1:0] data;
    reg [B*DB-1:0] enables;
    reg [L*D-1:0] read;
    integer b, i, j, k;
    reg two, two_write;
    always @* begin
        row = 0;
        data = 0;
        enables = 0;
        read = 0;
        for (b = 0; b < B; b = b + 1) begin
            for (i = 0; i < L; i = i + 1) begin
                if (leader[i] & (lane_bank[i*m +: m] == b)) row[b*R +: R] = lane_row[i*R +: R];
                for (k = 0; k < DB; k = k + 1)
                    if (lane_writes[i*DB + k] & (lane_bank[i*m +: m] == b)) begin
                        enables[b*DB + k] = 1;
                        data[b*D + k*8 +: 8] = lane_data[i*D + k*8 +: 8];
                    end
            end
        end
        for (i = 0; i < L; i = i + 1)
            for (b = 0; b < B; b = b + 1)
                if (sel_valid[i] & (sel_bank[i*m +: m] == b)) read[i*D +: D] = bank_rdata[b*D +: D];
    end
    always @* begin
        two = 0;
        two_write = 0;
        for (i = 0; i < L; i = i + 1)
            for (j = 0; j < i; j = j + 1)
                if (lane_bank[i*m +: m] == lane_bank[j*m +: m]) begin
                    if (leader[i] & leader[j]) two = 1;
                    if (lane_writes[i*DB +: DB] & lane_writes[j*DB +: DB]) two_write = 1;
                end
    end
    assign assume_one_leader = !two;
    assign assume_one_writer = !two_write;
    assign check_row = bank_row == row;
    assign check_enables = bank_wbe == enables;
    assign check_data = bank_wdata == data;
    assign check_response = lane_rdata == read;
    assign cover_merged = (bank_wbe[DB-1:0] == 3) & (bank_wdata[15:0] == 16'h1234) & lane_writes[0] & !lane_writes[1]
        & (lane_bank[m-1:0] == 0);
endmodule
