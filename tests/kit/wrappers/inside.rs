//! The assertions about the inside of a module: they hold in the random stimulus
//! of the co-simulation, and each notices an edit that breaks what it is about.

use super::missing;
use super::rtl::machine;
use super::rules::{Case, asserted, tripped};
use spadkit::error::Error;
use spadkit::rtl::SourceFile;
use std::path::Path;

/// An edit of a module, from one text to another, and the assertion that notices
/// it.
type Fault = (&'static str, [&'static str; 2], &'static str);

/// The unit keeps its assertions; each of the faults breaks one.
fn expect(unit: &str, faults: &[Fault]) {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let config = machine(2, 0);
    Case::new(unit, &config);
    for (module, [from, to], name) in faults {
        let of_module = [format!("{module}.v"), format!("{module}.sv")];
        let edit = |file: &mut SourceFile| {
            if of_module.contains(&file.name) {
                assert_eq!(file.text.matches(from).count(), 1, "{}", file.text);
                file.text = file.text.replace(from, to);
            }
        };
        let error = Case::run(unit, &config, edit).err();
        let error = error.unwrap_or_else(|| panic!("{name} does not notice {to}"));
        let (_, mut files) = asserted(unit, &config);
        files.iter_mut().for_each(edit);
        assert_eq!(tripped(&files, &error.to_string()), *name, "{to}");
        assert_describes(&error, name);
    }
}

/// The help names the line of the description that states the assertion.
fn assert_describes(error: &Error, name: &str) {
    let Error::CheckFailed {
        help: Some(help), ..
    } = error
    else {
        panic!("{error:?}")
    };
    let (_, at) = help.split_once(" is written by ").expect(help);
    let (file, line) = at.split_once(':').expect(at);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = std::fs::read_to_string(path).expect(file);
    let line: usize = line.parse().expect(line);
    // The call may be in several lines.
    let call: String = text.lines().skip(line - 1).take(4).collect();
    assert!(call.contains(&format!("\"{name}\"")), "{at}: {call}");
}

/// A fault of the buffer that several units have: its first entry stays empty.
const SKID: [&str; 2] = ["move = ~first_valid_q | out_ready", "move = out_ready"];

#[test]
fn the_writeback_port_takes_one_result() {
    let taken = ["take_nm = nm_valid & nm_ready", "take_nm = nm_valid"];
    let faults = [
        ("spad_skid", SKID, "first_comes_first"),
        ("spad_writeback_mux", taken, "one_is_taken"),
    ];
    expect("spad_writeback_mux", &faults);
}

#[test]
fn queues_keep_their_entries() {
    let fault = (
        "spad_nonmem_queue",
        ["valid_q & ~older", "valid_q"],
        "one_is_offered",
    );
    expect("spad_nonmem_queue", &[fault]);
    let fault = (
        "spad_premem_queue",
        ["(cfg_on & ~full)", "cfg_on"],
        "no_overflow",
    );
    expect("spad_premem_queue", &[fault]);
}

#[test]
fn queues_notice_a_change_of_their_configuration() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let queues = [
        ("spad_nonmem_queue", "stage_valid", "cfg_elastic"),
        ("spad_premem_queue", "count", "cfg_on"),
    ];
    for (unit, entries, cfg) in queues {
        let case = Case::new(unit, &machine(2, 0));
        let occupied = |t| case.output(t, entries) != 0 && case.output(t - 1, entries) != 0;
        let t = case.cycle("an entry", occupied);
        case.expect("cfg_static", t, &[(cfg, case.input(t, cfg) ^ 1)]);
    }
}

#[test]
fn the_bus_units_count_their_accesses() {
    let up = "else if (enters & ~leaves) count_q";
    let down = "else if (leaves & ~enters) count_q";
    let faults = [
        ("spad_skid", SKID, "first_comes_first"),
        (
            "spad_stream",
            [up, "else if (enters & leaves) count_q"],
            "answer_has_access",
        ),
        (
            "spad_stream",
            [down, "else if (1'b0) count_q"],
            "accesses_fit",
        ),
    ];
    expect("spad_stream", &faults);
}

#[test]
fn the_arbiter_serves_groups_without_conflicts() {
    let served = "grp_served = pend_q & ~kept_off";
    let leader = "grp_leader = pend_q & ~follows";
    let upper = "grp_leader = {pend_q[L-1:1] & ~follows[L-1:1], 1'b0}";
    let clash = "clash_d[j] = same_bank_d[j] & (req_row[i*R +: R] != req_row[j*R +: R])";
    let first = "first[k*L + i] = wants[k*L + i] & ~(|(same_word & wants[k*L +: i]))";
    let faults = [
        (served, "grp_served = ~kept_off", "served_waits"),
        (
            served,
            "grp_served = pend_q & ~kept_off & ~grp_leader",
            "some_is_served",
        ),
        ("~(|clash_remaining)", "~(|clash_coming)", "last_serves_all"),
        ("busy_d = fire | ~last_q", "busy_d = fire", "idle_is_empty"),
        ("fire ? 3'd0", "fire ? cnt_q", "degree_within_lanes"),
        (leader, "grp_leader = pend_q", "one_leader"),
        (leader, upper, "lowest_leads"),
        (first, "first[k*L + i] = wants[k*L + i]", "one_writer"),
        (clash, "clash_d[j] = 1'b0", "served_with_leader"),
        (
            "= pend_q[i] & be_q[i*DB + k]",
            "= be_q[i*DB + k]",
            "writer_is_served",
        ),
    ];
    let of_unit = |(from, to, name)| ("spad_conflict_arbiter", [from, to], name);
    expect("spad_conflict_arbiter", &faults.map(of_unit));
}

#[test]
fn a_lock_has_one_owner() {
    let wins = "win = req & {P{take}} & ~beaten & ~held";
    let next = "lock_d = (lock_q & ~asked) | (asked & {LOCKS{take}})";
    let faults = [
        (wins, "win = req & {P{take}} & ~held", "one_owner"),
        (wins, "win = req & {P{take}} & ~beaten", "taken_was_free"),
        (next, "lock_d = lock_q & ~asked", "taken_is_held"),
        (
            next,
            "lock_d = lock_q | (asked & {LOCKS{take}})",
            "given_is_free",
        ),
    ];
    let of_unit = |(from, to, name)| ("spad_lock_unit", [from, to], name);
    expect("spad_lock_unit", &faults.map(of_unit));
}

#[test]
fn the_shared_part_has_one_owner() {
    let acquires = ["acq_valid & (|(takes & mine))", "acq_valid & (|takes)"];
    let allow = ["allow = ~wait_sh & ~viol", "allow = ~viol"];
    let passes_on = ["owner ^ (~owner_needs & other_needs)", "owner"];
    let faults = [
        ("spad_access_unit", acquires, "one_acquires"),
        ("spad_access_unit", allow, "owner_acquires"),
        ("spad_access_pair", passes_on, "owner_needs"),
    ];
    expect("spad_access_unit", &faults);
}

#[test]
fn a_block_releases_once() {
    let released = [
        "released_now = released | (marks & active)",
        "released_now = marks & active",
    ];
    let rises = [" & ~(&(~mine | was_done))", ""];
    let faults = [
        ("spad_relssp_warp", released, "stays_released"),
        ("spad_relssp_block", rises, "one_unlock"),
    ];
    expect("spad_relssp", &faults);
}

#[test]
fn the_retry_loop_asks_once_and_ends() {
    let asks = "asking_q <= locks_next |";
    let waits = "waiting_q <= waiting_q & ~winners_q";
    let faults = [
        (" & ~sent_d;", ";", "one_request"),
        (
            asks,
            "asking_q <= (locks_next & ~asking_q) |",
            "request_held",
        ),
        (
            "writing & answered",
            "(state_q == SEQ_UPDATE)",
            "winners_wait",
        ),
        (waits, "waiting_q <= waiting_q", "winners_leave"),
    ];
    let of_unit = |(from, to, name)| ("spad_retry_sequencer", [from, to], name);
    expect("spad_retry_sequencer", &faults.map(of_unit));
}

/// What the retry sequencer relies on.
#[test]
fn the_retry_loop_notices_answers_that_are_not_its_own() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let case = Case::new("spad_retry_sequencer", &machine(2, 0));
    let (i, o) = (
        |t, port| case.input(t, port),
        |t, port| case.output(t, port),
    );
    let t = case.cycle("an idle cycle", |t| o(t, "state") == 0);
    case.expect("answer_has_request", t, &[("sr_valid", 1)]);
    let read = |t| o(t, "state") == 1 && i(t, "sr_valid") == 1;
    let t = case.cycle("an answer", |t| read(t) && i(t, "sr_mask") != 0b1111);
    let others = !i(t, "sr_mask") & 0b1111;
    case.expect("lock_was_asked", t, &[("sr_success", others)]);
}

#[test]
fn a_look_up_finds_one_value() {
    let fault = (
        "spad_conflict_history",
        [" & ~hit_update", ""],
        "one_answers",
    );
    expect("spad_conflict_history", &[fault]);
}

#[test]
fn the_scheduler_selects_one_ready_warp() {
    let selects = ["only_others ? of_others : of_all;", "of_others | of_all;"];
    let unmasked = ["unmasked = ready & ~put_off", "unmasked = ~put_off"];
    let faults = [
        ("spad_warp_scheduler", selects, "one_is_selected"),
        ("spad_warp_scheduler", unmasked, "selected_is_ready"),
    ];
    expect("spad_warp_scheduler", &faults);
}
