// spad_memory_entry: the scratchpad answers what the sequencer asked, once, and
// no earlier than in the cycle behind the request
// (microarchitecture/retry-sequencer.md and microarchitecture/memory-entry.md).
// Bit 0 of the tag says that the answer is the sequencer's.
module rules #(parameter W_req_tag = 37) (
    input wire clk,
    input wire rst,
    input wire req_valid,
    input wire req_ready,
    input wire [W_req_tag-1:0] req_tag,
    input wire sr_valid,
    output wire broken
);
    reg asked;
    always @(posedge clk)
        asked <= !rst & ((req_valid & req_ready & req_tag[0]) | (asked & !sr_valid));
    assign broken = sr_valid & !asked;
endmodule
