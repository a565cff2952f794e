// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_pass_issue: issues the passes of the instruction that is taken, one a
// cycle, into EX, and holds the control of the pass that is there.
//
// Parameters: W = 48, S = 1, PW = 2, PCW = 14, TG = 8, AHEAD = 3
// Timing:     taken in cycle t, the first pass issues in t+1 and is in EX in
//             t+2
// Reference:  microarchitecture/issue.md
//
// in  clk         1  clock
// in  rst         1  synchronous reset
// in  off_kind  192  kind that the warp offers, 4 bits per warp
// in  off_words  96  words per lane of loads and stores: 0 one, 1 two, 2 four
// in  off_tag   384  destination tag, TG bits per warp
// in  off_pc    672  program counter, PCW bits per warp
// in  take        1  an instruction is taken in this cycle; only with room
// in  take_sel   48  whose offer, one-hot
// in  take_warp   6  number of the warp taken
// in  picked     48  the warp between pick and take
// in  ex_fire     1  the pass in EX leaves it
// out room        1  an instruction may be taken
// out busy       48  an instruction of the warp is on its way to EX; AHEAD =
//                    0: none
// out take_kind   4  kind of the offer of take_sel
// out take_pc    14  program counter of the instruction taken
// out take_np     2  passes of the instruction taken, less one
// out iss_valid   1  a pass enters EX at the end of this cycle
// out iss_warp    6  warp of the pass issued; 0 if none
// out iss_pass    2  number of the pass issued; 0 if none
// out iss_last    1  the pass issued is its instruction's last
// out ex_valid    1  a pass is in EX
// out ex_warp     6  its warp; this and the next ones stay when it leaves
// out ex_kind     4  its kind
// out ex_tag      8  tag of the pass in EX
// out ex_pc      14  its program counter
// out ex_pass     2  number of the pass in EX
// out ex_last     1  it is the instruction's last

`default_nettype none

module spad_pass_issue (
    input wire clk,
    input wire rst,
    input wire [191:0] off_kind,
    input wire [95:0] off_words,
    input wire [383:0] off_tag,
    input wire [671:0] off_pc,
    input wire take,
    input wire [47:0] take_sel,
    input wire [5:0] take_warp,
    input wire [47:0] picked,
    input wire ex_fire,
    output wire room,
    output wire [47:0] busy,
    output wire [3:0] take_kind,
    output wire [13:0] take_pc,
    output wire [1:0] take_np,
    output wire iss_valid,
    output wire [5:0] iss_warp,
    output wire [1:0] iss_pass,
    output wire iss_last,
    output wire ex_valid,
    output wire [5:0] ex_warp,
    output wire [3:0] ex_kind,
    output wire [7:0] ex_tag,
    output wire [13:0] ex_pc,
    output wire [1:0] ex_pass,
    output wire ex_last
);
    localparam [3:0] KIND_ALU = 4'd0;
    localparam [3:0] KIND_RELSSP = 4'd7;
    localparam W = 48;
    localparam WW = 6;
    localparam PCW = 14;
    localparam TG = 8;
    localparam PW = 2;
    localparam OFFER = 28;

    // Outputs from registers.
    reg ex_valid_q;
    reg [WW-1:0] ex_warp_q;
    reg [3:0] ex_kind_q;
    reg [TG-1:0] ex_tag_q;
    reg [PCW-1:0] ex_pc_q;
    reg [PW-1:0] ex_pass_q;
    reg ex_last_q;
    assign ex_valid = ex_valid_q;
    assign ex_warp = ex_warp_q;
    assign ex_kind = ex_kind_q;
    assign ex_tag = ex_tag_q;
    assign ex_pc = ex_pc_q;
    assign ex_pass = ex_pass_q;
    assign ex_last = ex_last_q;

    // What the warp that is taken offers, out of all offers.
    wire [64*OFFER-1:0] offers;
    wire [1:0] words;
    wire [TG-1:0] tag;
    genvar i;
    generate
        for (i = 0; i < W; i = i + 1) begin : warp
            assign offers[OFFER*i +: OFFER] = {off_pc[PCW*i +: PCW], off_tag[TG*i +: TG],
                off_words[2*i +: 2], off_kind[4*i +: 4]};
        end
        for (i = W; i < 64; i = i + 1) begin : no_warp
            assign offers[OFFER*i +: OFFER] = 28'd0;
        end
    endgenerate
    spad_pick #(.COUNT(64), .WIDTH(OFFER)) select_offer (
        .pick({16'd0, take_sel}),
        .words(offers),
        .word({take_pc, tag, words, take_kind})
    );
    spad_pass_count count (.kind(take_kind), .words(words), .more(take_np));

    // I: the instruction whose passes are being issued, how many follow the
    // first, and which is next.
    reg cur_valid_q;
    reg [WW-1:0] cur_warp_q;
    reg [3:0] cur_kind_q;
    reg [TG-1:0] cur_tag_q;
    reg [PCW-1:0] cur_pc_q;
    reg [PW-1:0] cur_np_q;
    reg [PW-1:0] cur_next_q;
    always @(posedge clk) begin
        if (rst) begin
            cur_warp_q <= {WW{1'b0}};
            cur_kind_q <= KIND_ALU;
            cur_tag_q <= {TG{1'b0}};
            cur_pc_q <= {PCW{1'b0}};
            cur_np_q <= {PW{1'b0}};
        end else if (take) begin
            cur_warp_q <= take_warp;
            cur_kind_q <= take_kind;
            cur_tag_q <= tag;
            cur_pc_q <= take_pc;
            cur_np_q <= take_np;
        end
    end

    // The pass that enters EX.
    wire ex_free = ~ex_valid_q | ex_fire;
    wire issue = ex_free & cur_valid_q;
    wire last_pass = cur_next_q == cur_np_q;
    assign room = ~cur_valid_q | (ex_free & last_pass);
    assign iss_valid = issue;
    assign iss_warp = cur_warp_q & {WW{issue}};
    assign iss_pass = cur_next_q & {PW{issue}};
    assign iss_last = last_pass & issue;

    // Whether passes follow in the next cycle, and which.
    always @(posedge clk) begin
        if (rst) cur_valid_q <= 1'b0;
        else if (take) cur_valid_q <= 1'b1;
        else if (issue) cur_valid_q <= ~last_pass;
    end
    always @(posedge clk) begin
        if (rst) cur_next_q <= {PW{1'b0}};
        else if (take) cur_next_q <= 2'd0;
        else if (issue) cur_next_q <= cur_next_q + 2'd1;
    end

    // The instruction on its way to EX is still offered by its warp, or is a
    // RELSSP.
    wire holds = cur_valid_q & ((cur_next_q == 2'd0) | (cur_kind_q == KIND_RELSSP));
    generate
        for (i = 0; i < W; i = i + 1) begin : on_its_way
            assign busy[i] = picked[i] | (holds & (cur_warp_q == i));
        end
    endgenerate

    // EX: control of the pass whose operands come in.
    always @(posedge clk) begin
        if (rst) ex_valid_q <= 1'b0;
        else if (issue) ex_valid_q <= 1'b1;
        else if (ex_fire) ex_valid_q <= 1'b0;
    end
    always @(posedge clk) begin
        if (rst) begin
            ex_warp_q <= {WW{1'b0}};
            ex_kind_q <= KIND_ALU;
            ex_tag_q <= {TG{1'b0}};
            ex_pc_q <= {PCW{1'b0}};
            ex_pass_q <= {PW{1'b0}};
            ex_last_q <= 1'b0;
        end else if (issue) begin
            ex_warp_q <= cur_warp_q;
            ex_kind_q <= cur_kind_q;
            ex_tag_q <= cur_tag_q;
            ex_pc_q <= cur_pc_q;
            ex_pass_q <= cur_next_q;
            ex_last_q <= last_pass;
        end
    end
endmodule

`default_nettype wire
