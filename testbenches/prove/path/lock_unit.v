// spad_lock_unit: a lock is never taken twice without an unlock in between, and
// every unlock frees it (microarchitecture/lock-unit.md). One lock is followed;
// it may be any.
module miter #(parameter L = 4, parameter LK = 5, parameter LKG = 2, parameter LOCKS = 32, parameter W_lk_win = 1) (
    input wire clk,
    input wire rst,
    input wire lk_valid,
    input wire [W_lk_win-1:0] lk_win,
    input wire [2:0] lk_op,
    input wire [L-1:0] lk_req,
    input wire [L*LK-1:0] lk_addr,
    input wire [LK-1:0] lock_seen,
    output wire assume_one_lock, // any one lock is looked at
    output wire keep_owned, // its bit is set exactly while it has an owner
    output wire check_one_owner, // nobody takes a lock that has an owner
    output wire check_lowest, // of the lanes that ask for a free lock, the lowest takes it
    output wire check_progress, // a free lock that is asked for is taken by exactly one lane
    output wire check_success, // nobody takes a lock without asking for it in this window
    output wire check_held, // the bit is set exactly while the lock has an owner
    output wire check_released, // a lock is free in the cycle after its unlock
    output wire check_error, // unsupported operations are told
    output wire cover_taken, // 4: two lanes ask for the lock after an unlock, one gets it
    output wire cover_refused, // 4: a lane asks for a lock that has an owner
    output wire cover_released // 4: the owner unlocks
);
    wire [L-1:0] lk_success;
    wire lk_error;
    wire [LOCKS-1:0] lk_held;
    spad_lock_unit unit (
        .clk(clk), .rst(rst),
        .lk_valid(lk_valid), .lk_win(lk_win), .lk_op(lk_op), .lk_req(lk_req), .lk_addr(lk_addr),
        .lk_success(lk_success), .lk_error(lk_error), .lk_held(lk_held)
    );
    reg [LK-1:0] seen;
    always @(posedge clk) seen <= lock_seen;
    assign assume_one_lock = seen == lock_seen;

    // The lanes of the window that ask for the lock, and the lowest of them.
    reg [L-1:0] window;
    reg [L-1:0] asking;
    reg [L-1:0] lowest;
    integer i;
    always @* begin
        asking = 0;
        lowest = 0;
        for (i = 0; i < L; i = i + 1) begin
            window[i] = (LKG == 1) | (lk_win == i / (L / LKG));
            if (lk_valid & lk_req[i] & window[i] & (lk_addr[i*LK +: LK] == seen)) begin
                if (asking == 0) lowest[i] = 1;
                asking[i] = 1;
            end
        end
    end
    reg [L-1:0] here;
    always @* for (i = 0; i < L; i = i + 1) here[i] = lk_addr[i*LK +: LK] == seen;
    wire [L-1:0] takers = lk_success & here;
    wire take = lk_op == 3;
    wire give = lk_op == 4;

    // Whether a lane took the lock and nobody has unlocked it since.
    reg owned;
    reg was_rst, was_given;
    reg was_owned;
    always @(posedge clk) begin
        if (rst) owned <= 0;
        else if (takers != 0) owned <= 1;
        else if (give & (asking != 0)) owned <= 0;
        was_rst <= rst;
        was_given <= give & (asking != 0);
        was_owned <= owned;
    end
    assign keep_owned = lk_held[seen] == owned;
    assign check_one_owner = (takers == 0) | !owned;
    assign check_lowest = (takers & ~lowest) == 0;
    assign check_progress = !take | (asking == 0) | owned | (takers == lowest);
    assign check_success = ((takers & ~asking) == 0) & (take | (lk_success == 0));
    assign check_held = lk_held[seen] == owned;
    assign check_released = was_rst | !was_given | !lk_held[seen];
    assign check_error = lk_error == (lk_valid & (lk_op >= 5));
    assign cover_taken = was_given & was_owned & !was_rst & !rst & take & (asking != lowest) & (takers != 0);
    assign cover_refused = take & owned & (asking != 0) & !rst;
    assign cover_released = give & owned & (asking != 0) & !rst;
endmodule
