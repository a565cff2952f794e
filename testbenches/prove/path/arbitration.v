// The group that is to be served: of each bank the lowest waiting lane, the
// leader, and the waiting lanes on its row
// (microarchitecture/conflict-arbiter.md).
module group #(parameter L = 4, parameter m = 3, parameter R = 6) (
    input wire [L-1:0] waiting,
    input wire [L*m-1:0] bank,
    input wire [L*R-1:0] row,
    output reg [L-1:0] leader,
    output reg [L-1:0] served,
    output reg [(1<<m)-1:0] used
);
    integer i, j;
    always @* begin
        leader = waiting;
        served = 0;
        used = 0;
        for (i = 0; i < L; i = i + 1)
            for (j = 0; j < i; j = j + 1)
                if (waiting[j] & (bank[j*m +: m] == bank[i*m +: m])) leader[i] = 0;
        for (i = 0; i < L; i = i + 1)
            for (j = 0; j < L; j = j + 1)
                if (waiting[i] & leader[j] & (bank[j*m +: m] == bank[i*m +: m]) & (row[j*R +: R] == row[i*R +: R]))
                    served[i] = 1;
        for (i = 0; i < L; i = i + 1)
            for (j = 0; j < (1<<m); j = j + 1)
                if (leader[i] & (bank[i*m +: m] == j)) used[j] = 1;
    end
endmodule

// The bytes that each lane of a group writes: of a word, the lowest lane that
// enables the byte, or the leader all of it (MERGE = 0).
module writers #(parameter L = 4, parameter m = 3, parameter DB = 4, parameter MERGE = 1) (
    input wire [L-1:0] served,
    input wire [L-1:0] leader,
    input wire [L*m-1:0] bank,
    input wire [L*DB-1:0] be,
    output reg [L*DB-1:0] writes
);
    integer i, j;
    always @* begin
        for (i = 0; i < L; i = i + 1) begin
            writes[i*DB +: DB] = MERGE ? be[i*DB +: DB] & {DB{served[i]}} : {DB{leader[i]}};
            for (j = 0; j < i; j = j + 1)
                if ((MERGE != 0) & served[j] & (bank[j*m +: m] == bank[i*m +: m]))
                    writes[i*DB +: DB] = writes[i*DB +: DB] & ~be[j*DB +: DB];
        end
    end
endmodule

// Whether it is known which lanes share a bank, and which of these clash.
module pairs_known #(parameter L = 4, parameter m = 3, parameter R = 6) (
    input wire [L*m-1:0] bank,
    input wire [L*R-1:0] row,
    input wire [L*L-1:0] same_bank,
    input wire [L*L-1:0] clash,
    output reg holds
);
    integer i, j;
    reg same;
    always @* begin
        holds = 1;
        same = 0;
        for (i = 0; i < L; i = i + 1)
            for (j = 0; j < i; j = j + 1) begin
                same = bank[i*m +: m] == bank[j*m +: m];
                if (same_bank[i*L + j] != same) holds = 0;
                if (clash[i*L + j] != (same & (row[i*R +: R] != row[j*R +: R]))) holds = 0;
            end
    end
endmodule
