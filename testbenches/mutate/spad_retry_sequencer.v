// spad_retry_sequencer: the scratchpad answers what it was asked, once, and no
// earlier than in the cycle behind the request
// (microarchitecture/retry-sequencer.md).
module rules (
    input wire clk,
    input wire rst,
    input wire sp_valid,
    input wire sp_ready,
    input wire [2:0] sp_op,
    input wire sr_valid,
    output wire broken
);
    localparam PASS = 0;
    reg asked;
    always @(posedge clk)
        asked <= !rst & ((sp_valid & sp_ready & (sp_op != PASS)) | (asked & !sr_valid));
    assign broken = sr_valid & !asked;
endmodule
