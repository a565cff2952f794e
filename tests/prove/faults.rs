//! Faults for the proofs of `tests/prove.rs`, and the machines that they are in.

/// Small machines for the units of the path: two lanes where a payload is as
/// wide as all lanes, else four.
pub const PAIR: &str = "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 2, \
                    warp_size = 8, capacity_words = 512 }\n\
                    path = { mem_stages = 2, ahead = 0 }\n";
pub const QUAD: &str = "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 4, \
                    warp_size = 8, capacity_words = 512 }\n\
                    path = { warps = 4, blocks = 4, locks = 32, lock_group_cycles = 2, \
                    history_sets = 2, mem_stages = 2, ahead = 0 }\n";
/// Two lanes, and latencies of an atomic that let a round end in few cycles.
pub const ATOMIC: &str = "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 2, \
                      warp_size = 8, capacity_words = 512 }\n\
                      path = { locks = 32, lock_group_cycles = 2, mem_stages = 2, ahead = 0 }\n\
                      retry = { read = 2, update = 2, write = 2, branch = 1 }\n";
/// Banks of four rows.
pub const ROWS: &str = "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 4, \
                    warp_size = 8, capacity_words = 32 }\n\
                    path = { locks = 32, lock_group_cycles = 2, mem_stages = 2, ahead = 0 }\n";
/// As `QUAD`, with the issue decided three stages ahead.
pub const AHEAD: &str = "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 4, \
                     warp_size = 8, capacity_words = 512 }\n\
                     path = { warps = 4, blocks = 4, locks = 32, lock_group_cycles = 2, \
                     history_sets = 2, mem_stages = 2, ahead = 3 }\n";

/// A fault, and the properties that it breaks.
pub struct Mutant {
    pub unit: &'static str,
    pub file: &'static str,
    pub edits: &'static [(&'static str, &'static str)],
    pub broken: &'static [&'static str],
}

/// `mutant!(unit, file, from => to, ...; broken, ...)`; the file is the unit's
/// own if none is named.
macro_rules! mutant {
    ($unit:literal, $($from:literal => $to:literal),+; $($broken:literal),+) => {
        mutant!($unit in $unit, $($from => $to),+; $($broken),+)
    };
    ($unit:literal in $file:literal, $($from:literal => $to:literal),+; $($broken:literal),+) => {
        Mutant {
            unit: $unit,
            file: concat!($file, ".v"),
            edits: &[$(($from, $to)),+],
            broken: &[$($broken),+],
        }
    };
}

/// Faults in hash units: exactly the properties named with one are disproved.
pub const HASH_FAULTS: &[Mutant] = &[
    mutant!("spad_hash_bitvec_xor" in "spad_hash_decode_bitvec_xor", "4'd6" => "4'd7"; "function", "bijection"),
    mutant!("spad_hash_bitwise_perm" in "spad_hash_decode_bit", "4'd7" => "4'd6"; "function", "bijection"),
    mutant!("spad_hash_bitwise_xor" in "spad_hash_decode_pair", "is_second[4] &" => "is_second[4] |"; "function", "bijection"),
    mutant!("spad_hash_matrix", "addr[9]" => "addr[8]"; "function", "bijection"),
    mutant!("spad_hash_xor", " ^ " => " | "; "function", "bijection"),
    // Another hash, but a bijection still.
    mutant!("spad_hash_add", "low + high" => "low ^ high"; "function"),
    mutant!("spad_rap", "column + shift" => "column | shift"; "function", "bijection"),
    mutant!("spad_row_map", "addr[5]" => "addr[4]"; "function", "bijection"),
    mutant!("spad_hash_config_matrix", "r1 <= wr_data" => "r0 <= wr_data"; "registers"),
    mutant!("spad_hash_config_bitwise_perm", "r2 <= 4'd2" => "r2 <= 4'd3"; "registers", "reset"),
    // What a simulator sets at its start does not count as reset.
    mutant!("spad_hash_config_bitvec_perm", "reg [2:0] k;" => "reg [2:0] k = 0;", "k <= 3'd0;" => "k <= k;"; "registers", "reset"),
    // What nothing defines may be any value.
    mutant!("spad_rap", "column + shift;" => "(column + shift) | 3'b00x;"; "function", "bijection"),
];

/// Faults in the units of the path: each disproves the properties named with
/// it, with a run from reset to show.
const PAIR_FAULTS: &[Mutant] = &[
    mutant!("spad_premem_queue", "wire pop = ~empty & out_ready" => "wire pop = ~empty"; "count"),
    mutant!("spad_premem_queue", "<= entry[(k+1)*PWID" => "<= entry[k*PWID"; "order"),
    mutant!("spad_premem_queue", "(cfg_on & ~full)" => "(cfg_on & empty)"; "ready"),
    mutant!("spad_premem_queue", "assign out_valid = ~empty | in_valid" => "assign out_valid = ~empty"; "source"),
    mutant!("spad_premem_queue", "& {PWID{out_valid}}" => "& {PWID{out_valid & (out_ready | empty)}}"; "hold"),
    mutant!("spad_nonmem_queue", "{PWID{offer[1]}}" => "{PWID{offer[1] & out_ready}}"; "hold"),
    mutant!("spad_nonmem_queue", "<= d[(k-1)*PWID +: PWID]" => "<= in_data"; "order"),
    mutant!("spad_nonmem_queue", "wire bypass = cfg_elastic & empty" => "wire bypass = empty"; "source"),
    mutant!("spad_nonmem_queue", "assign free[k] = |room" => "assign free[k] = room[0]"; "ready"),
    mutant!("spad_nonmem_queue", "assign move[k] = v[k] & ~give[k] & free[k+1]" => "assign move[k] = v[k] & ~give[k] & free[k+1] & in_valid"; "latency"),
    mutant!("spad_nonmem_queue", "v[k] <= move[k-1] |" => "v[k] <= move[k-1] | push |"; "count"),
    mutant!("spad_nonmem_queue", "{1'b1, {(NQ-1){cfg_elastic}}}" => "{1'b1, {(NQ-1){1'b0}}}"; "bypass"),
    mutant!("spad_writeback_mux", "free & ~turn & ~mem_valid" => "free & ~turn"; "one"),
    mutant!("spad_writeback_mux", "assign mem_ready = free & ~turn" => "assign mem_ready = free & ~turn & ~nm_valid"; "grant", "priority"),
    mutant!("spad_writeback_mux", "assign icn_ready = free" => "assign icn_ready = free & ~mem_valid"; "icn"),
    mutant!("spad_writeback_mux", "(mem_data & {PWID{take_mem}})" => "(nm_data & {PWID{take_mem}})"; "next"),
    mutant!("spad_writeback_mux", "first_valid <= second_valid | in_valid" => "first_valid <= 1'b1"; "empty"),
    mutant!("spad_writeback_mux", "end else if (free) begin" => "end else begin"; "next"),
];

/// Faults in units of four lanes or warps.
const QUAD_FAULTS: &[Mutant] = &[
    mutant!("spad_conflict_arbiter", "pend <= remain" => "pend <= pend & follows"; "once"),
    mutant!("spad_conflict_arbiter", "last <= ~(|clash_remaining)" => "last <= ~(|remain)"; "all"),
    mutant!("spad_conflict_arbiter", "assign grp_served = pend & ~kept_off" => "assign grp_served = pend & ~kept_off & bank[L-1:0]"; "progress"),
    mutant!("spad_conflict_arbiter", "assign grp_leader = pend & ~follows" => "assign grp_leader = pend & ~kept_off"; "leader"),
    mutant!("spad_conflict_arbiter", "|(clash & pend[i-1:0] & ~follows[i-1:0])" => "|(clash & pend[i-1:0])"; "served"),
    mutant!("spad_conflict_arbiter", "pend[i] & (bank[i*M +: M] == b)" => "(bank[i*M +: M] == b)"; "banks"),
    mutant!("spad_conflict_arbiter", "~busy | (adv & last)" => "~busy | last"; "ready"),
    mutant!("spad_conflict_arbiter", "if (~last) cnt <= cnt" => "if (~last) cnt <= cnt & 3'd1"; "degree", "cycles"),
    mutant!("spad_conflict_arbiter", "wire step = busy & adv" => "wire step = busy"; "stall"),
    mutant!("spad_conflict_arbiter", "req_mask & {L{req_access}}" => "req_mask"; "pass"),
    mutant!("spad_lock_unit", "& ~lock[addr[i*LK +: LK]] & ~(|same)" => "& ~(|same)"; "one_owner"),
    mutant!("spad_lock_unit", "& ~lock[addr[i*LK +: LK]] & ~(|same)" => "& ~lock[addr[i*LK +: LK]]"; "lowest", "progress"),
    mutant!("spad_lock_unit", "req[0] & ~lock[" => "req[0] & ~(|lock) & ~lock["; "progress"),
    mutant!("spad_lock_unit", "lk_success[i*P +: P] = win & {P{lk_win == i}}" => "lk_success[i*P +: P] = win"; "success"),
    mutant!("spad_lock_unit", "(lk_op == OP_STUL)" => "(lk_op == 3'd5)"; "held", "released"),
    mutant!("spad_lock_unit", "(lock & ~asked)" => "lock"; "released"),
    mutant!("spad_lock_unit", "lk_op > OP_STUL" => "lk_op > 3'd5"; "error"),
    mutant!("spad_access_unit", "own_e[q] = own[q] ^ (~owner_needs & other_needs)" => "own_e[q] = own[q]"; "locked"),
    mutant!("spad_access_unit", "& (|(slot_locked & mine)) & ~owns" => "& (|(slot_locked & mine)) & ~owns & cfg_limit[0]"; "exclusive"),
    mutant!("spad_access_unit", "& (|(slot_locked & mine)) & ~owns" => "& ~owns"; "wait"),
    mutant!("spad_access_unit", "acquired ? acquires[2*q+1]" => "(acquired & ~lk_e[q]) ? acquires[2*q]"; "owner"),
    mutant!("spad_access_unit", "need[w] & (|(rel_done & mine))" => "need[w] & (|(rel_done & mine & live))"; "released"),
    mutant!("spad_access_unit", "need[w] & ~viol[w]" => "off_shmem[w] & ~viol[w]"; "unshared"),
    mutant!("spad_access_unit", "{shared & ~owns, ~shared}" => "{~owns, ~shared}"; "class"),
    mutant!("spad_relssp", "rel_done[b] & was_live & ~was_done" => "rel_done[b] & was_live"; "unlock"),
    mutant!("spad_relssp", "rel_done[b] = &(~mine | done_e)" => "rel_done[b] = &(~mine | done_r)"; "done"),
    mutant!("spad_relssp", "live[b] = |(mine & live_e)" => "live[b] = |(mine & live_r)"; "live"),
    mutant!("spad_relssp", "r | (marks & a)" => "(r | marks)", "&(~a_e | r_e)" => "&(r_e)"; "inactive"),
    mutant!("spad_degree_accumulator", "assign up_excess = excess" => "assign up_excess = excess | {3{excess[2]}}"; "sum"),
    mutant!("spad_degree_accumulator", "d_valid & d_last & ~clear" => "d_valid & ~clear"; "pulse"),
    mutant!("spad_degree_accumulator", "d_valid & d_last & ~clear" => "d_valid & d_last"; "clear"),
    mutant!("spad_warp_mask", "cnt + (excess & {CW{answered}})" => "cnt | (excess & {CW{answered}})"; "remaining"),
    mutant!("spad_warp_mask", "rst | clear" => "rst"; "clear"),
    mutant!("spad_warp_mask", "mask & ~hold" => "mask & ~(hold & ~pend)"; "hold"),
    mutant!("spad_warp_scheduler", "behind <= behind_sel" => "behind <= ~behind_sel"; "order"),
    mutant!("spad_warp_scheduler", "cfg_violate & ~(|unmasked)" => "cfg_violate"; "candidate"),
    mutant!("spad_warp_scheduler", "|(unmasked & members)" => "&(unmasked & members)"; "some"),
    mutant!("spad_warp_scheduler", "present[1] & ~present[0]" => "present[1]"; "class"),
    mutant!("spad_warp_scheduler", "assign masked = ~use_masked & cfg_aware" => "assign masked = cfg_aware"; "masked"),
    mutant!("spad_relssp", "assign mine[w] = warp_blk[w*TW +: TW] == b;" => "assign mine[w] = warp_blk[w*TW] == (b % 2);"; "other"),
    mutant!("spad_warp_mask", "assign mask = (|cnt) | (answered & (|excess))" => "assign mask = |cnt"; "distance"),
    mutant!("spad_conflict_history", "(found1[EX-1:0] & {EX{hit1}})" => "(found1[EX-1:0] & found0[EX-1:0] & {EX{hit1}})"; "found"),
    mutant!("spad_conflict_history", "lru[u_set] <= ~u_way" => "lru[u_set] <= u_way"; "found"),
    mutant!("spad_conflict_history", "u_hit1 ? 1'b1" => "u_hit1 ? 1'b0"; "one_way"),
    mutant!("spad_conflict_history", "if (rst | clear)" => "if (rst)"; "gone"),
    mutant!("spad_conflict_history", "written <= lk_valid & " => "written <= "; "answer"),
    mutant!("spad_conflict_history", "written <= lk_valid & lk_beside & (u_tag == lk_pc[PCW-1:SETW])" => "written <= 1'b0"; "found"),
    mutant!("spad_conflict_history", "~(lk_beside & ~u_way)" => "1'b1"; "gone"),
    mutant!("spad_conflict_history", "u_beside1 ? u_again : " => ""; "one_way"),
    mutant!("spad_conflict_history", "u_valid <= up_valid & ~clear" => "u_valid <= up_valid"; "gone"),
    mutant!("spad_crossbar", ".pick(leader & here)" => ".pick(served & here)"; "row"),
    mutant!("spad_crossbar", "from = writes[k*L +: L] & here" => "from = writes[k*L +: L]"; "enables"),
    mutant!("spad_crossbar", "lane_data[i*D + k*8 +: 8]" => "lane_data[i*D +: 8]"; "data"),
    mutant!("spad_crossbar", "& ~(|(ahead & enables[k*L +: L]))" => ""; "data"),
    mutant!("spad_crossbar", "sel_valid[i] & (sel_bank" => "(sel_bank"; "response"),
];

/// Faults in the bank, and in the scratchpad with its banks.
const ROWS_FAULTS: &[Mutant] = &[
    mutant!("spad_scratchpad", "mem1_tag <= mem0_tag" => "mem1_tag <= req_tag"; "fields"),
    mutant!("spad_scratchpad", "assign resp_valid = mem1_valid & mem1_last" => "assign resp_valid = mem1_valid"; "answered"),
    mutant!("spad_scratchpad", ".adv(adv & last_window)" => ".adv(adv)"; "ready"),
    mutant!("spad_scratchpad", "assign busy_more = mem0_valid & ~mem0_last" => "assign busy_more = mem0_valid & ~grp_last"; "busy"),
    mutant!("spad_scratchpad", "wire adv = resp_ready | ~resp_valid" => "wire adv = 1'b1"; "stall"),
    mutant!("spad_scratchpad", "mem0_served & {L{read}}" => "mem0_served & {L{mem0_op == OP_LDLK}}"; "load"),
    mutant!("spad_scratchpad", "wire pass = mem0_valid & adv & (mem0_op == OP_PASS)" => "wire pass = mem0_valid & adv & (mem0_op == 3'd1)"; "pass"),
    mutant!("spad_scratchpad", "answers & ~mem1_error" => "answers"; "silent"),
    mutant!("spad_scratchpad", "(mem0_op == OP_STORE) | (mem0_op == OP_STUL);" => "(mem0_op == OP_STORE);"; "memory"),
    mutant!("spad_scratchpad", "mem1_success <= success | lk_success" => "mem1_success <= lk_success"; "winner"),
    mutant!("spad_scratchpad", "mem1_success & {L{resp_valid}}" => "mem1_success"; "losers"),
    mutant!("spad_scratchpad" in "spad_lock_unit", "if (rst) lock <= {LOCKS{1'b0}}" => "if (rst) lock <= {LOCKS{1'b1}}"; "lock"),
    mutant!("spad_bank_ram", "out <= mem[row]" => "out <= mem[row + 2'd1]"; "read"),
    mutant!("spad_bank_ram", "if (be[k])" => "if (be[0])"; "kept"),
    mutant!("spad_bank_ram", "we & ~rst" => "we"; "kept"),
    mutant!("spad_bank_ram", "else if (en & ~we) out" => "else if (en) out"; "stable"),
    mutant!("spad_bank_ram", "if (rst) out <= 32'd0" => "if (rst) out <= out"; "reset"),
];

/// Faults in the retry loop.
const ATOMIC_FAULTS: &[Mutant] = &[
    mutant!("spad_retry_sequencer", "reading ? waiting : winners" => "waiting"; "released"),
    mutant!("spad_retry_sequencer", "(cnt >= due)" => "(cnt > due)"; "moves"),
    mutant!("spad_retry_sequencer", "SEQ_WRITE: if (answered) next = SEQ_BRANCH" => "SEQ_WRITE: if (answered) next = SEQ_UPDATE"; "nearer"),
    mutant!("spad_retry_sequencer", "(writing & ~sent)" => "writing"; "requests"),
    mutant!("spad_retry_sequencer", "lock[i*LK +: LK] & {LK{asks}}" => "lock[i*LK +: LK] & {LK{locking}}"; "where"),
    mutant!("spad_retry_sequencer", "assign sp_error = err & (now == SEQ_DONE)" => "assign sp_error = 1'b0"; "result"),
];

/// Faults where the issue is decided ahead.
const AHEAD_FAULTS: &[Mutant] = &[
    mutant!("spad_writeback_mux", "else if (free) turn <=" => "else turn <="; "icn"),
    mutant!("spad_writeback_mux", "turn <= icn_valid & ~turn" => "turn <= icn_valid"; "icn"),
    mutant!("spad_warp_mask", "late <= pend & ~set_valid" => "late <= pend"; "remaining"),
];

/// Every fault with its machine.
pub fn path_faults() -> impl Iterator<Item = (&'static str, &'static Mutant)> {
    let groups = [
        (PAIR, PAIR_FAULTS),
        (QUAD, QUAD_FAULTS),
        (ROWS, ROWS_FAULTS),
        (ATOMIC, ATOMIC_FAULTS),
        (AHEAD, AHEAD_FAULTS),
    ];
    let of_group =
        |(machine, faults): (_, &'static [Mutant])| faults.iter().map(move |f| (machine, f));
    groups.into_iter().flat_map(of_group)
}
