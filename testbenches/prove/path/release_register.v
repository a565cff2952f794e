// spad_release_register: what relssp says, one cycle later, but that a block
// that starts is alive and has released nothing (microarchitecture/relssp.md).
// One slot is followed; it may be any.
module miter #(parameter T = 4, parameter TW = 2) (
    input wire clk,
    input wire rst,
    input wire launch_valid,
    input wire [TW-1:0] launch_block,
    input wire [T-1:0] now_done,
    input wire [T-1:0] now_live,
    input wire [T-1:0] now_unlock,
    input wire [TW-1:0] slot_seen,
    output wire assume_one_slot, // any one slot is looked at
    output wire check_starts, // a block is alive and has not released in its first cycle, whatever its slot had
    output wire check_later, // any other cycle shows what relssp said in the one before
    output wire check_unlock, // an unlock is told once, one cycle later
    output wire check_reset, // behind a reset all slots are empty
    output wire cover_starts, // 3: a block starts in a slot that had released
    output wire cover_unlock // 3: an unlock
);
    wire [T-1:0] rel_done, live, unlock;
    spad_release_register unit (
        .clk(clk), .rst(rst), .launch_valid(launch_valid), .launch_block(launch_block), .now_done(now_done),
        .now_live(now_live), .now_unlock(now_unlock), .rel_done(rel_done), .live(live), .unlock(unlock)
    );
    reg [TW-1:0] slot;
    reg was_rst, was_start, was_done, was_live, was_unlock;
    always @(posedge clk) begin
        slot <= slot_seen;
        was_rst <= rst;
        was_start <= launch_valid & (launch_block == slot_seen);
        was_done <= now_done[slot_seen];
        was_live <= now_live[slot_seen];
        was_unlock <= now_unlock[slot_seen];
    end
    assign assume_one_slot = (slot == slot_seen) & (slot_seen < T);
    assign check_starts = was_rst | !was_start | (live[slot] & !rel_done[slot]);
    assign check_later = was_rst | was_start | ((rel_done[slot] == was_done) & (live[slot] == was_live));
    assign check_unlock = was_rst | (unlock[slot] == was_unlock);
    assign check_reset = !was_rst | (rel_done[slot] & !live[slot] & !unlock[slot]);
    assign cover_starts = was_start & was_done & !was_live & !was_rst & live[slot];
    assign cover_unlock = unlock[slot] & rel_done[slot] & !rst;
endmodule
