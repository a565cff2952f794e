// spad_sm_path: a block is launched with a thread, into a slot in which the
// cycle before has shown none (microarchitecture/sm-path.md).
module rules #(parameter W_launch_block = 1, parameter W_launch_wmask = 4, parameter W_launch_last = 4,
               parameter W_live = 2) (
    input wire clk,
    input wire rst,
    input wire launch_valid,
    input wire [W_launch_block-1:0] launch_block,
    input wire [W_launch_wmask-1:0] launch_wmask,
    input wire [W_launch_last-1:0] launch_last,
    input wire [W_live-1:0] live,
    output wire broken
);
    reg [W_live-1:0] occupied;
    always @(posedge clk) occupied <= rst ? 0 : live | (launch_valid << launch_block);
    wire [W_launch_wmask-1:0] below_highest = launch_wmask & (launch_wmask - 1);
    wire threads = (launch_last != 0) ? (launch_wmask != 0) : (below_highest != 0);
    assign broken = launch_valid & !rst & (!threads | occupied[launch_block]);
endmodule
