//! The command `prove`: what is right is proved, and what is wrong is not.

use assert_cmd::Command;
use rayon::prelude::*;
use serde_json::Value;
use spadkit::rtl::Design;
use spadkit::tool::{Kind, Toolbox};
use tempfile::TempDir;

/// Whether Yosys is there; where not, says that the test is skipped.
fn yosys() -> bool {
    let found = Toolbox::new().get_optional(Kind::Yosys).unwrap().is_some();
    if !found {
        eprintln!("skipped: Yosys is not installed");
    }
    found
}

/// Small machines for the units of the path: two lanes where a payload is as
/// wide as all lanes, else four.
const PAIR: &str = "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 2, \
                    warp_size = 8, capacity_words = 512 }\n";
const QUAD: &str = "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 4, \
                    warp_size = 8, capacity_words = 512 }\n\
                    path = { warps = 4, locks = 32, lock_group_cycles = 2, history_sets = 2 }\n";
/// Two lanes, and latencies of an atomic that let a round end in few cycles.
const ATOMIC: &str = "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 2, \
                      warp_size = 8, capacity_words = 512 }\n\
                      path = { locks = 32, lock_group_cycles = 2 }\n\
                      retry = { read = 2, update = 2, write = 2, branch = 1 }\n";
/// Banks of four rows.
const ROWS: &str = "base = 'small'\ngeometry = { addr_bits = 9, bank_bits = 3, lanes = 2, \
                    warp_size = 8, capacity_words = 32 }\n\
                    path = { locks = 32, lock_group_cycles = 2 }\n";

/// A busy machine must not turn a proof into `unknown`.
const TIMEOUT: [&str; 2] = ["--timeout", "3000"];

fn spadkit(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.args(args).args(["--format", "json", "-q"]);
    let has_machine = args.iter().any(|a| ["--preset", "--config"].contains(a));
    if !has_machine {
        command.args(["--preset", "small"]);
    }
    command
}

/// Exit status and results of `prove`.
fn prove(args: &[&str]) -> (i32, Vec<Value>) {
    let output = spadkit(&[&["prove"], args].concat()).output().unwrap();
    let status = output.status.code().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"));
    (status, json["results"].as_array().unwrap().clone())
}

/// The emitted Verilog of a machine (`small` if none), with its edits.
struct Rtl {
    dir: TempDir,
    machine: Vec<String>,
}

impl Rtl {
    fn emit(machine: Option<&str>, units: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let machine = match machine {
            None => Vec::new(),
            Some(text) => {
                let path = dir.path().join("machine.toml");
                std::fs::write(&path, text).unwrap();
                vec!["--config".to_owned(), path.to_str().unwrap().to_owned()]
            }
        };
        let rtl = Rtl { dir, machine };
        let args = rtl.args(&[&["emit"], units, &["-o", rtl.path()]].concat());
        spadkit(&args).assert().success();
        rtl
    }

    fn path(&self) -> &str {
        self.dir.path().to_str().unwrap()
    }

    fn args<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        let machine = self.machine.iter().map(String::as_str);
        args.iter().copied().chain(machine).collect()
    }

    /// Replaces the first occurrence of each text by another.
    fn edit(self, file: &str, edits: &[(&str, &str)]) -> Self {
        let path = self.dir.path().join(file);
        let mut text = std::fs::read_to_string(&path).unwrap();
        for (from, to) in edits {
            assert!(text.contains(from), "{file} has no '{from}'");
            text = text.replacen(from, to, 1);
        }
        std::fs::write(path, text).unwrap();
        self
    }

    /// Exit status, and the result of each property that is not about the
    /// software.
    fn results(&self, unit: &str) -> (i32, Vec<(String, Value)>) {
        let args = [&[unit, "--rtl", self.path()], &TIMEOUT[..]].concat();
        let (status, results) = prove(&self.args(&args));
        let rtl = results.into_iter().filter(|r| r["method"] != "exhaustive");
        let named = rtl.map(|r| (r["property"].as_str().unwrap().to_owned(), r));
        (status, named.collect())
    }
}

/// The units that are proved around their definitions, and the units of the
/// path.
fn hash_and_path_units() -> (Vec<String>, Vec<String>) {
    let unknown = spadkit(&["prove", "spad_nothing"]).output().unwrap();
    let error = String::from_utf8_lossy(&unknown.stderr).into_owned();
    let known = Design::all_units()
        .into_iter()
        .filter(|u| error.contains(u.as_str()));
    known.partition(|u| u.contains("_hash_") || u == "spad_rap" || u == "spad_row_map")
}

fn number(text: &Value) -> u32 {
    let text = text
        .as_str()
        .unwrap_or_else(|| panic!("{text} is no number"));
    u32::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}

#[test]
fn every_hash_unit_is_proved() {
    if !yosys() {
        return;
    }
    let rtl = Rtl::emit(None, &[]);
    let (units, _) = hash_and_path_units();
    let units = units.iter().map(String::as_str);
    // From a directory: the machine's own geometry only.
    let args = units.chain(["--rtl", rtl.path()]).chain(TIMEOUT);
    let args: Vec<&str> = args.collect();
    let (status, results) = prove(&args);
    assert_eq!(status, 0);
    for result in &results {
        assert_eq!(result["result"], "proved", "{result}");
        assert_eq!(result["geometry"]["addr_bits"], 10);
    }
    let count = |property| results.iter().filter(|r| r["property"] == property).count();
    assert_eq!(count("function"), 9);
    assert_eq!(count("bijection"), 9 + 4, "9 by SAT, 4 by exhaustion, too");
    assert_eq!(count("registers"), 8);
    assert_eq!(count("reset"), 8);
}

/// Units of which a proof takes more than a few seconds.
const LONG: [&str; 4] = [
    "spad_crossbar",
    "spad_access_unit",
    "spad_retry_sequencer",
    "spad_scratchpad",
];

/// All that is asked of `units` is proved, by induction.
fn proved_by_induction(units: &[&str], machine: &[&str]) {
    let (status, results) = prove(&[units, machine, &TIMEOUT].concat());
    for result in &results {
        assert_eq!(result["result"], "proved", "{result}");
        assert_eq!(result["method"], "induction");
    }
    assert_eq!(status, 0);
    for unit in units {
        assert!(results.iter().any(|r| r["unit"] == *unit), "{unit}");
    }
}

#[test]
fn units_of_the_path_are_proved() {
    if !yosys() {
        return;
    }
    let (_, units) = hash_and_path_units();
    let units = units.iter().map(String::as_str);
    let short: Vec<&str> = units.filter(|u| !LONG.contains(u)).collect();
    proved_by_induction(&short, &[]);
    // On two lanes it takes seconds.
    let rtl = Rtl::emit(Some(ATOMIC), &["spad_retry_sequencer"]);
    let machine = rtl.args(&["--rtl", rtl.path()]);
    proved_by_induction(&["spad_retry_sequencer"], &machine);
}

#[test]
#[ignore = "takes minutes; part of make campaign"]
fn the_other_units_of_the_path_are_proved() {
    if yosys() {
        proved_by_induction(&LONG, &[]);
    }
}

#[test]
fn the_usual_geometries_are_proved_of_a_fixed_hash() {
    if !yosys() {
        return;
    }
    let (status, results) = prove(&[&["spad_hash_add"], &TIMEOUT[..]].concat());
    assert_eq!(status, 0);
    assert_eq!(results.len(), 2 * 6);
}

#[test]
fn a_wrong_address_bit_gives_a_counterexample_that_is_one() {
    if !yosys() {
        return;
    }
    let rtl = Rtl::emit(None, &[]).edit("spad_hash_bitvec_perm.v", &[("addr[4]", "addr[5]")]);
    let (status, results) = rtl.results("spad_hash_bitvec_perm");
    assert_eq!(status, 1);
    let (_, function) = &results[0];
    assert_eq!(function["result"], "disproved");
    let values = &function["counterexample"]["values"];
    let (k, addr) = (number(&values["k"]), number(&values["addr"]));
    assert!(k <= 7, "the configuration is legal");
    assert_eq!(number(&values["expected"]), addr >> k & 7);
    assert_ne!(number(&values["bank"]), addr >> k & 7);
}

/// A fault, and the properties that it breaks.
struct Mutant {
    unit: &'static str,
    file: &'static str,
    edits: &'static [(&'static str, &'static str)],
    broken: &'static [&'static str],
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

/// Exactly the broken properties are disproved.
#[test]
fn hash_mutants_are_disproved() {
    if !yosys() {
        return;
    }
    let mutants = [
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
        mutant!("spad_rap", "(column + shift)" => "(column + shift) | 3'b00x"; "function", "bijection"),
    ];
    for Mutant {
        unit,
        file,
        edits,
        broken,
    } in mutants
    {
        let (status, results) = Rtl::emit(None, &[]).edit(file, edits).results(unit);
        assert_eq!(status, 1, "{unit}");
        for (property, result) in results {
            let disproved = broken.contains(&property.as_str());
            let expected = if disproved { "disproved" } else { "proved" };
            assert_eq!(result["result"], expected, "{unit}, {file}: {result}");
            assert_eq!(result["counterexample"].is_object(), disproved);
        }
    }
}

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
    mutant!("spad_writeback_mux", "free & ~icn_valid & ~mem_valid" => "free & ~icn_valid"; "one"),
    mutant!("spad_writeback_mux", "assign mem_ready = free & ~icn_valid" => "assign mem_ready = free & ~icn_valid & ~nm_valid"; "grant", "priority"),
    mutant!("spad_writeback_mux", "assign icn_ready = free" => "assign icn_ready = free & ~mem_valid"; "icn"),
    mutant!("spad_writeback_mux", "mem_valid ? mem_data : nm_data" => "nm_valid ? nm_data : mem_data"; "next"),
    mutant!("spad_writeback_mux", "valid <= any" => "valid <= 1'b1"; "empty"),
    mutant!("spad_writeback_mux", "end else if (free) begin" => "end else begin"; "hold"),
];

/// Faults in units of four lanes or warps.
const QUAD_FAULTS: &[Mutant] = &[
    mutant!("spad_conflict_arbiter", "pend <= pend & kept_off" => "pend <= pend & follows"; "once"),
    mutant!("spad_conflict_arbiter", "assign grp_last = busy & ~(|clashes)" => "assign grp_last = busy & ~(|follows)"; "all"),
    mutant!("spad_conflict_arbiter", "wire [L-1:0] served = pend & ~kept_off" => "wire [L-1:0] served = pend & ~kept_off & bank[L-1:0]"; "progress"),
    mutant!("spad_conflict_arbiter", "wire [L-1:0] leader = pend & ~follows" => "wire [L-1:0] leader = pend & ~clashes"; "leader"),
    mutant!("spad_conflict_arbiter", "|(other_row & ~follows[i-1:0])" => "|other_row"; "served"),
    mutant!("spad_conflict_arbiter", "bank[i*M +: M] & {M{served[i]}}" => "bank[i*M +: M] & {M{pend[i]}}"; "banks"),
    mutant!("spad_conflict_arbiter", "~busy | (adv & grp_last)" => "~busy | grp_last"; "ready"),
    mutant!("spad_conflict_arbiter", "if (~grp_last) cnt <= cnt" => "if (~grp_last) cnt <= cnt & 3'd1"; "degree", "cycles"),
    mutant!("spad_conflict_arbiter", "end else if (busy & adv)" => "end else if (busy)"; "stall"),
    mutant!("spad_conflict_arbiter", "req_mask & {L{req_access}}" => "req_mask"; "pass"),
    mutant!("spad_lock_unit", "& ~lock[addr[i*LK +: LK]] & ~(|same)" => "& ~(|same)"; "one_owner"),
    mutant!("spad_lock_unit", "& ~lock[addr[i*LK +: LK]] & ~(|same)" => "& ~lock[addr[i*LK +: LK]]"; "lowest", "progress"),
    mutant!("spad_lock_unit", "req[0] & ~lock[" => "req[0] & ~(|lock) & ~lock["; "progress"),
    mutant!("spad_lock_unit", "lk_success[i*P +: P] = win & {P{lk_win == i}}" => "lk_success[i*P +: P] = win"; "success"),
    mutant!("spad_lock_unit", "(lk_op == 3'd4)" => "(lk_op == 3'd5)"; "held", "released"),
    mutant!("spad_lock_unit", "(lock & ~asked)" => "lock"; "released"),
    mutant!("spad_lock_unit", "lk_op >= 3'd5" => "lk_op >= 3'd6"; "error"),
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
    mutant!("spad_warp_mask", "pend ? passes + excess : cnt" => "pend ? passes | excess : cnt"; "remaining"),
    mutant!("spad_warp_mask", "rst | clear" => "rst"; "clear"),
    mutant!("spad_warp_scheduler", "last <= sel_warp" => "last <= next"; "order"),
    mutant!("spad_warp_scheduler", "cfg_violate & ~(|unmasked)" => "cfg_violate"; "candidate"),
    mutant!("spad_warp_scheduler", "assign present[c] = |of_class" => "assign present[c] = &of_class"; "some"),
    mutant!("spad_warp_scheduler", "present[1] & ~present[0]" => "present[1]"; "class"),
    mutant!("spad_warp_scheduler", "|(ready & ~cand)" => "|(ready & ~unmasked)"; "masked"),
    mutant!("spad_relssp", "assign mine[w] = warp_blk[w*TW +: TW] == b;" => "assign mine[w] = warp_blk[w*TW] == (b % 2);"; "other"),
    mutant!("spad_warp_mask", "assign mask = |left" => "assign mask = |(left & ~{{(CW-1){1'b0}}, ~pend})"; "distance"),
    mutant!("spad_conflict_history", "lk_hit1 ? excess1[lk_set]" => "lk_hit1 ? excess1[lk_set] & excess0[lk_set]"; "found"),
    mutant!("spad_conflict_history", "lru[up_set] <= ~way" => "lru[up_set] <= way"; "found"),
    mutant!("spad_conflict_history", "up_hit1 ? 1'b1" => "up_hit1 ? 1'b0"; "one_way"),
    mutant!("spad_conflict_history", "if (rst | clear)" => "if (rst)"; "gone"),
    mutant!("spad_conflict_history", "hit <= lk_valid & (" => "hit <= ("; "answer"),
    mutant!("spad_crossbar", "leader_row & {R{bank_valid[b]}}" => "leader_row"; "row"),
    mutant!("spad_crossbar", "(here[i] & lane_be[i*BE + k])" => "lane_be[i*BE + k]"; "enables"),
    mutant!("spad_crossbar", "lane_data[i*D + k*8 +: 8]" => "lane_data[i*D +: 8]"; "data"),
    mutant!("spad_crossbar", "read & {D{sel_valid[i]}}" => "read"; "response"),
];

/// Faults in the bank, and in the scratchpad with its banks.
const ROWS_FAULTS: &[Mutant] = &[
    mutant!("spad_scratchpad", "p_tag <= q_tag" => "p_tag <= req_tag"; "fields"),
    mutant!("spad_scratchpad", "assign resp_valid = p_valid & p_last" => "assign resp_valid = p_valid"; "answered"),
    mutant!("spad_scratchpad", "wire arb_adv = adv & last_window" => "wire arb_adv = adv"; "ready"),
    mutant!("spad_scratchpad", "assign busy_more = grp_valid & ~last" => "assign busy_more = grp_valid & ~grp_last"; "busy"),
    mutant!("spad_scratchpad", "wire adv = resp_ready | ~(p_valid & p_last)" => "wire adv = 1'b1"; "stall"),
    mutant!("spad_scratchpad", "grp_served & {L{read}}" => "grp_served & {L{q_op == 3'd3}}"; "load"),
    mutant!("spad_scratchpad", "wire pass = step & (q_op == 3'd0)" => "wire pass = step & (q_op == 3'd1)"; "pass"),
    mutant!("spad_scratchpad", "(p_op != 3'd2) & ~p_err" => "(p_op != 3'd2)"; "silent"),
    mutant!("spad_scratchpad", "(q_op == 3'd2) | (q_op == 3'd4);" => "(q_op == 3'd2);"; "memory"),
    mutant!("spad_scratchpad", "p_succ <= q_succ | lk_success" => "p_succ <= lk_success"; "winner"),
    mutant!("spad_scratchpad", "p_succ & {L{resp_valid}}" => "p_succ"; "losers"),
    mutant!("spad_scratchpad" in "spad_lock_unit", "if (rst) lock <= {LOCKS{1'b0}}" => "if (rst) lock <= {LOCKS{1'b1}}"; "lock"),
    mutant!("spad_bank_ram", "in_range ? mem[row]" => "in_range ? mem[row + 2'd1]"; "read"),
    mutant!("spad_bank_ram", "if (be[k])" => "if (be[0])"; "kept"),
    mutant!("spad_bank_ram", "in_range & ~rst" => "in_range"; "kept"),
    mutant!("spad_bank_ram", "else if (en & ~we) out" => "else if (en) out"; "stable"),
    mutant!("spad_bank_ram", "if (rst) out <= 32'd0" => "if (rst) out <= out"; "reset"),
];

/// Faults in the retry loop.
const ATOMIC_FAULTS: &[Mutant] = &[
    mutant!("spad_retry_sequencer", "reading ? waiting : winners" => "waiting"; "released"),
    mutant!("spad_retry_sequencer", "(cnt >= due)" => "(cnt > due)"; "moves"),
    mutant!("spad_retry_sequencer", "WRITE: if (answered) next = BRANCH" => "WRITE: if (answered) next = UPDATE"; "nearer"),
    mutant!("spad_retry_sequencer", "(writing & ~sent)" => "writing"; "requests"),
    mutant!("spad_retry_sequencer", "lock[i*LK +: LK] & {LK{asks}}" => "lock[i*LK +: LK] & {LK{locking}}"; "where"),
    mutant!("spad_retry_sequencer", "assign sp_error = err & (now == DONE)" => "assign sp_error = 1'b0"; "result"),
];

/// Every fault with its machine.
fn path_faults() -> impl Iterator<Item = (&'static str, &'static Mutant)> {
    let groups = [
        (PAIR, PAIR_FAULTS),
        (QUAD, QUAD_FAULTS),
        (ROWS, ROWS_FAULTS),
        (ATOMIC, ATOMIC_FAULTS),
    ];
    let of_group =
        |(machine, faults): (_, &'static [Mutant])| faults.iter().map(move |f| (machine, f));
    groups.into_iter().flat_map(of_group)
}

/// Those of `faults` that are not caught.
fn missed(faults: &[(&str, &Mutant)]) -> Vec<String> {
    faults.par_iter().filter_map(|(m, f)| f.missed(m)).collect()
}

/// The first faults of each unit; all of them in the campaign.
#[test]
fn some_faults_of_the_path_are_disproved() {
    if !yosys() {
        return;
    }
    let mut seen: Vec<&str> = Vec::new();
    let mut faults = Vec::new();
    for fault in path_faults() {
        let unit = fault.1.unit;
        let before = seen.iter().filter(|u| **u == unit).count();
        if before < if LONG.contains(&unit) { 1 } else { 2 } {
            faults.push(fault);
        }
        seen.push(unit);
    }
    assert_eq!(missed(&faults), [""; 0]);
}

#[test]
#[ignore = "takes minutes; part of make campaign"]
fn all_faults_of_the_path_are_disproved() {
    if yosys() {
        assert_eq!(missed(&path_faults().collect::<Vec<_>>()), [""; 0]);
    }
}

impl Mutant {
    /// What is wrong if the fault does not disprove its properties by a run
    /// from reset.
    fn missed(&self, machine: &str) -> Option<String> {
        let rtl = Rtl::emit(Some(machine), &[self.unit]).edit(self.file, self.edits);
        let (status, results) = rtl.results(self.unit);
        // The crossbar has no state, so no reset.
        let combinational = self.unit == "spad_crossbar";
        let from_reset =
            |example: &Value| combinational || example["values"]["rst (cycle 1)"] == "0x1";
        let disproved = results.iter().filter(|(_, r)| r["result"] == "disproved");
        let disproved = disproved.filter(|(_, r)| from_reset(&r["counterexample"]));
        let disproved: Vec<&str> = disproved.map(|(name, _)| name.as_str()).collect();
        let caught = status == 1 && self.broken.iter().all(|p| disproved.contains(p));
        let (unit, edits, broken) = (self.unit, self.edits, self.broken);
        (!caught).then(|| format!("{unit} {edits:?}: {broken:?}, not {disproved:?}"))
    }
}

/// A register that cannot hold every configuration would leave out cases.
#[test]
fn registers_that_are_none_are_refused() {
    if !yosys() {
        return;
    }
    let constant = [
        ("reg [2:0] k;", "wire [2:0] k = 3'd5; reg [2:0] other;"),
        ("k <=", "other <="),
        ("k <=", "other <="),
    ];
    let renamed = [
        ("reg [2:0] k;", "reg [2:0] kk;"),
        ("            k <=", "            kk <="),
        ("            k <=", "            kk <="),
        ("(k)", "(kk)"),
    ];
    let config = "spad_hash_config_bitvec_perm.v";
    let queue = [
        (
            "d[k*PWID +: PWID] <= in_data",
            "dd[k*PWID +: PWID] <= in_data",
        ),
        (
            "d[k*PWID +: PWID] <= d[(k-1)*PWID +: PWID]",
            "dd[k*PWID +: PWID] <= dd[(k-1)*PWID +: PWID]",
        ),
        ("reg [NQ*PWID-1:0] d;", "reg [NQ*PWID-1:0] dd;"),
        ("(d[0*PWID", "(dd[0*PWID"),
        ("(d[1*PWID", "(dd[1*PWID"),
    ];
    let cases = [
        ("spad_hash_bitvec_perm", config, &constant[..]),
        ("spad_hash_bitvec_perm", config, &renamed[..]),
        ("spad_nonmem_queue", "spad_nonmem_queue.v", &queue[..]),
    ];
    for (unit, file, edits) in cases {
        let rtl = Rtl::emit(None, &[]).edit(file, edits);
        let output = spadkit(&["prove", unit, "--rtl", rtl.path()])
            .assert()
            .code(2);
        let error = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(error.contains("does not have the registers"), "{error}");
    }
}

#[test]
fn bad_usage_and_missing_tools() {
    let error = |args: &[&str], variables: &[(&str, &str)], status: i32| {
        let mut command = spadkit(args);
        command.envs(variables.iter().copied());
        let output = command.assert().code(status);
        String::from_utf8_lossy(&output.get_output().stderr).into_owned()
    };
    let unknown = error(&["prove", "spad_nothing"], &[], 2);
    assert!(
        unknown.contains("nothing is proved of a unit 'spad_nothing'"),
        "{unknown}"
    );
    let missing = error(&["prove"], &[("SPADKIT_YOSYS", "/nowhere/yosys")], 3);
    assert!(missing.contains("Yosys is needed"), "{missing}");
    let none = error(&["prove", "spad_rap", "--timeout", "0"], &[], 2);
    assert!(none.contains("0 is not in 1..=1000000"), "{none}");
    if !yosys() {
        return;
    }
    for unit in ["spad_rap", "spad_relssp"] {
        let prove_in = |dir: &str| ["prove", unit, "--rtl", dir].map(str::to_owned);
        let error = |dir: &str, status: i32| {
            error(&prove_in(dir).each_ref().map(|a| a.as_str()), &[], status)
        };
        let nowhere = error("/nowhere", 2);
        assert!(nowhere.contains("/nowhere"), "{nowhere}");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str().unwrap();
        let file = format!("{unit}.v");
        let no_file = error(path, 2);
        assert!(no_file.contains(&file), "{no_file}");
        let is_file = error("Cargo.toml", 2);
        assert!(is_file.contains("Cargo.toml"), "{is_file}");
        let rtl = Rtl::emit(None, &[]);
        // No Verilog at all, another module, other ports.
        let others = [
            "\u{0}garbage",
            "module other; endmodule",
            "module unit (input a); endmodule",
        ];
        for text in others {
            let text = text.replace(" unit ", &format!(" {unit} "));
            std::fs::write(rtl.dir.path().join(&file), text).unwrap();
            let refused = error(rtl.path(), 3);
            assert!(refused.contains("Yosys"), "{refused}");
        }
        std::fs::write(rtl.dir.path().join(&file), b"\xff\xfe").unwrap();
        let binary = error(rtl.path(), 2);
        assert!(binary.contains(&file), "{binary}");
    }
    // With one pass per warp instruction there is no queue.
    let wires = error(
        &[
            "prove",
            "spad_premem_queue",
            "--preset",
            "fermi",
            "--rtl",
            ".",
        ],
        &[],
        2,
    );
    assert!(wires.contains("depth 0"), "{wires}");
}

/// A solver that takes too long has proved nothing.
#[test]
fn what_is_not_decided_is_no_success() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let slow = dir.path().join("yosys");
    let script = "#!/bin/sh\n[ \"$1\" = -V ] && { echo 'Yosys 0.23 (fake)'; exit 0; }\nsleep 60\n";
    std::fs::write(&slow, script).unwrap();
    std::fs::set_permissions(&slow, std::fs::Permissions::from_mode(0o755)).unwrap();
    let rtl = Rtl::emit(None, &[]);
    let units = ["spad_rap", "spad_writeback_mux"];
    let args = [
        &["prove"],
        &units[..],
        &["--timeout", "1", "--rtl", rtl.path()],
    ]
    .concat();
    let output = spadkit(&args).env("SPADKIT_YOSYS", &slow).assert().code(1);
    let json: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    for result in json["results"].as_array().unwrap() {
        assert_eq!(result["result"], "unknown");
        assert_eq!(result["reason"], "not decided in 1 s");
    }
}
