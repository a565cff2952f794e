//! The assertions about the inside of a module: they hold in the random stimulus
//! of the co-simulation, and each notices an edit that breaks what it is about.
//! `make test` makes the first edit of each unit, `make campaign` all of them.

use super::missing;
use super::rtl::machine;
use super::rules::{Case, asserted, tripped};
use rayon::prelude::*;
use spadkit::error::Error;
use spadkit::rtl::SourceFile;
use std::path::Path;

/// An edit of a module, from one text to another, and the assertion that notices
/// it.
type Fault = (&'static str, [&'static str; 2], &'static str);

/// A unit, and the edits of its modules.
type Faults = (&'static str, &'static [Fault]);

/// The unit keeps its assertions, and the first edit breaks one.
fn expect_first((unit, faults): Faults) {
    expect(unit, &faults[..1]);
}

/// The unit keeps its assertions; each of the edits breaks one.
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

const WRITEBACK: Faults = (
    "spad_writeback_mux",
    &[
        (
            "spad_writeback_mux",
            ["take_nm = nm_valid & nm_ready", "take_nm = nm_valid"],
            "one_is_taken",
        ),
        ("spad_skid", SKID, "first_comes_first"),
    ],
);

const NONMEM: Faults = (
    "spad_nonmem_queue",
    &[(
        "spad_nonmem_queue",
        ["valid_q & ~older", "valid_q"],
        "one_is_offered",
    )],
);

const PREMEM: Faults = (
    "spad_premem_queue",
    &[(
        "spad_premem_queue",
        ["(cfg_on & ~full)", "cfg_on"],
        "no_overflow",
    )],
);

const ENTERS: &str = "else if (enters & ~leaves) count_q";
const LEAVES: &str = "else if (leaves & ~enters) count_q";

const STREAM: Faults = (
    "spad_stream",
    &[
        (
            "spad_stream",
            [ENTERS, "else if (enters & leaves) count_q"],
            "answer_has_access",
        ),
        (
            "spad_stream",
            [LEAVES, "else if (1'b0) count_q"],
            "accesses_fit",
        ),
        ("spad_skid", SKID, "first_comes_first"),
    ],
);

const SERVED: &str = "grp_served = pend_q & ~kept_off";
const LEADER: &str = "grp_leader = pend_q & ~follows";
const CLASH: &str = "clash_d[j] = same_bank_d[j] & (req_row[i*R +: R] != req_row[j*R +: R])";
const FIRST: &str = "first[k*L + i] = wants[k*L + i] & ~(|(same_word & wants[k*L +: i]))";

/// An edit of the arbiter itself.
const fn arbiter(from: &'static str, to: &'static str, name: &'static str) -> Fault {
    ("spad_conflict_arbiter", [from, to], name)
}

const ARBITER: Faults = (
    "spad_conflict_arbiter",
    &[
        arbiter(SERVED, "grp_served = ~kept_off", "served_waits"),
        arbiter(
            SERVED,
            "grp_served = pend_q & ~kept_off & ~grp_leader",
            "some_is_served",
        ),
        arbiter("~(|clash_remaining)", "~(|clash_coming)", "last_serves_all"),
        arbiter("busy_d = fire | ~last_q", "busy_d = fire", "idle_is_empty"),
        arbiter("fire ? 3'd0", "fire ? cnt_q", "degree_within_lanes"),
        arbiter(LEADER, "grp_leader = pend_q", "one_leader"),
        arbiter(
            LEADER,
            "grp_leader = {pend_q[L-1:1] & ~follows[L-1:1], 1'b0}",
            "lowest_leads",
        ),
        arbiter(FIRST, "first[k*L + i] = wants[k*L + i]", "one_writer"),
        arbiter(CLASH, "clash_d[j] = 1'b0", "served_with_leader"),
        arbiter(
            "= pend_q[i] & be_q[i*DB + k]",
            "= be_q[i*DB + k]",
            "writer_is_served",
        ),
    ],
);

const WINS: &str = "win = req & {P{take}} & ~beaten & ~held";
const NEXT: &str = "lock_d = (lock_q & ~asked) | (asked & {LOCKS{take}})";

/// An edit of the lock unit.
const fn lock(from: &'static str, to: &'static str, name: &'static str) -> Fault {
    ("spad_lock_unit", [from, to], name)
}

const LOCK: Faults = (
    "spad_lock_unit",
    &[
        lock(WINS, "win = req & {P{take}} & ~held", "one_owner"),
        lock(WINS, "win = req & {P{take}} & ~beaten", "taken_was_free"),
        lock(NEXT, "lock_d = lock_q & ~asked", "taken_is_held"),
        lock(
            NEXT,
            "lock_d = lock_q | (asked & {LOCKS{take}})",
            "given_is_free",
        ),
    ],
);

const ACCESS: Faults = (
    "spad_access_unit",
    &[
        (
            "spad_access_unit",
            ["acq_valid & (|(takes & mine))", "acq_valid & (|takes)"],
            "one_acquires",
        ),
        (
            "spad_access_unit",
            ["allow = ~wait_sh & ~viol", "allow = ~viol"],
            "owner_acquires",
        ),
        (
            "spad_access_pair",
            ["owner ^ (~owner_needs & other_needs)", "owner"],
            "owner_needs",
        ),
    ],
);

const RELSSP: Faults = (
    "spad_relssp",
    &[
        (
            "spad_relssp_warp",
            [
                "released_now = released | (marks & active)",
                "released_now = marks & active",
            ],
            "stays_released",
        ),
        (
            "spad_relssp_block",
            [" & ~(&(~mine | was_done))", ""],
            "one_unlock",
        ),
    ],
);

/// An edit of the retry sequencer.
const fn retry(from: &'static str, to: &'static str, name: &'static str) -> Fault {
    ("spad_retry_sequencer", [from, to], name)
}

const RETRY: Faults = (
    "spad_retry_sequencer",
    &[
        retry(" & ~sent_d;", ";", "one_request"),
        retry(
            "asking_q <= locks_next |",
            "asking_q <= (locks_next & ~asking_q) |",
            "request_held",
        ),
        retry(
            "writing & answered",
            "(state_q == SEQ_UPDATE)",
            "winners_wait",
        ),
        retry(
            "waiting_q <= waiting_q & ~winners_q",
            "waiting_q <= waiting_q",
            "winners_leave",
        ),
    ],
);

const HISTORY: Faults = (
    "spad_conflict_history",
    &[(
        "spad_conflict_history",
        [" & ~hit_update", ""],
        "one_answers",
    )],
);

const SCHEDULER: Faults = (
    "spad_warp_scheduler",
    &[
        (
            "spad_warp_scheduler",
            ["only_others ? of_others : of_all;", "of_others | of_all;"],
            "one_is_selected",
        ),
        (
            "spad_warp_scheduler",
            ["unmasked = ready & ~put_off", "unmasked = ~put_off"],
            "selected_is_ready",
        ),
    ],
);

#[test]
#[ignore = "part of make campaign"]
fn every_assertion_notices_its_fault() {
    let all = [
        WRITEBACK, NONMEM, PREMEM, STREAM, ARBITER, LOCK, ACCESS, RELSSP, RETRY, HISTORY, SCHEDULER,
    ];
    all.into_par_iter()
        .for_each(|(unit, faults)| expect(unit, faults));
}

#[test]
fn the_writeback_port_takes_one_result() {
    expect_first(WRITEBACK);
}

#[test]
fn queues_keep_their_entries() {
    expect_first(NONMEM);
    expect_first(PREMEM);
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
    expect_first(STREAM);
}

#[test]
fn the_arbiter_serves_groups_without_conflicts() {
    expect_first(ARBITER);
}

#[test]
fn a_lock_has_one_owner() {
    expect_first(LOCK);
}

#[test]
fn the_shared_part_has_one_owner() {
    expect_first(ACCESS);
}

#[test]
fn a_block_releases_once() {
    expect_first(RELSSP);
}

#[test]
fn the_retry_loop_asks_once_and_ends() {
    expect_first(RETRY);
}

#[test]
fn a_look_up_finds_one_value() {
    expect_first(HISTORY);
}

#[test]
fn the_scheduler_selects_one_ready_warp() {
    expect_first(SCHEDULER);
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
