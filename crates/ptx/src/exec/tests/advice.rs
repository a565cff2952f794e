//! What is said to order the two sides of a race, and where nothing is.

use super::*;

/// The second sides of the races of a body between two barriers; `s` has a word of each of 64
/// threads.
fn races(body: &str) -> Vec<Finding> {
    let text = kernel(&format!(
        ".shared .b32 s[64]; .shared .b32 lock;
         mov.u32 %r1, s; mad.lo.u32 %r1, %t, 4, %r1; st.shared.u32 [%r1], %t;
         setp.lt.u32 %p1, %t, 16; xor.b32 %r9, %t, 1; and.b32 %r8, %t, 31;
         mov.u32 %r2, s; mad.lo.u32 %r2, %r9, 4, %r2;
         setp.eq.u32 %p4, %t, 0; @%p4 st.shared.u32 [lock], 0;
         bar.sync 0;
         {body}
         bar.sync 0; ret;"
    ));
    let text = format!(".file 1 \"k.cu\"\n.file 2 \"/opt/cub/cub/warp.cuh\"\n{text}");
    let run = run_with(&text, [64, 1, 1], [1; 3], &[0; 64], |options, _| {
        options.races = true;
    });
    // Lanes of one instruction are told apart.
    let order = |f: &Finding| f.other && !f.message.contains("lanes of");
    run.outcome.findings.into_iter().filter(order).collect()
}

/// What the races of a body are said to need.
fn advice(body: &str) -> Vec<String> {
    let about = |f: Finding| {
        let barrier = f.barrier.map(|place| format!("barrier {place}"));
        let wait = f.wait.map(|place| format!("wait {place}"));
        let warp = f.warp_barrier.map(|place| format!("warp {place}"));
        let atomic = f.atomic.then(|| "atomic".to_owned());
        barrier.or(wait).or(warp).or(atomic).unwrap_or_default()
    };
    races(body).into_iter().map(about).collect()
}

/// The one thing that all races are said to need.
fn only(body: &str) -> String {
    let all = advice(body);
    assert!(!all.is_empty(), "no race: {body}");
    assert!(all.iter().all(|a| *a == all[0]), "{all:?}");
    all[0].clone()
}

/// The word of the thread 32 further, of another warp.
const OTHER: &str = "add.u32 %r3, %t, 32; and.b32 %r3, %r3, 63; mad.lo.u32 %r3, %r3, 4, 0;
     mov.u32 %r7, s; add.u32 %r3, %r3, %r7;\n";

#[test]
fn a_barrier_stands_where_all_threads_pass() {
    let plain = "ld.shared.u32 %r4, [%r3];\n st.shared.u32 [%r1], %r4;\n";
    let between = only(&format!("{OTHER}{plain}"));
    assert!(between.starts_with("barrier after"), "{between}");
    let first = "@!%p1 bra L;\n ld.shared.u32 %r4, [%r3];\nL:\n st.shared.u32 [%r1], 7;\n";
    let behind = only(&format!("{OTHER}{first}"));
    assert!(behind.contains("right before"), "{behind}");
    let second = "ld.shared.u32 %r4, [%r3];\n @!%p1 bra L;\n st.shared.u32 [%r1], 7;\nL:\n";
    let before = only(&format!("{OTHER}{second}"));
    assert!(before.contains("right after"), "{before}");
    // Between two accesses of one condition there is no such place.
    let both = "setp.eq.u32 %p2, %r8, 3;\n @!%p2 bra L;\n ld.shared.u32 %r4, [%r3];
                st.shared.u32 [%r1], 7;\nL:\n";
    assert_eq!(only(&format!("{OTHER}{both}")), "");
}

/// A barrier there is as safe as the one that the loop has, though threads may have left.
#[test]
fn a_barrier_stands_beside_another_one() {
    let body = |barrier: &str| {
        format!(
            "{OTHER}setp.gt.u32 %p2, %t, 63;\n @%p2 bra E;\n mov.u32 %r5, 0;\nL:
             .loc 1 5 1\n st.shared.u32 [%r1], %t;\n {barrier}
             .loc 1 6 1\n ld.shared.u32 %r4, [%r3];\n .loc 1 7 1\n add.u32 %r5, %r5, 1;
             setp.lt.u32 %p2, %r5, 3;\n @%p2 bra L;\n st.global.u32 [%out], %r4;\n ret;\nE: ret;"
        )
    };
    let barrier = only(&body("bar.sync 0;"));
    assert_eq!(barrier, "barrier after k.cu:6, before k.cu:5");
    // That one is for some threads, or nobody knows for which.
    assert_eq!(only(&body("bar.sync 0, 64;")), "");
    assert_eq!(only(&body("bar.warp.sync -1;")), "");
}

/// Right behind a condition is in what it leads to, or outside of the loop that it closes.
#[test]
fn a_barrier_stands_not_right_behind_a_condition() {
    let body = |line: u32| {
        format!(
            "{OTHER}setp.gt.u32 %p3, %r9, 100;\nL:\n bar.sync 0;\n .loc 1 5 1
             @!%p1 bra N;\n .loc 1 6 1\n st.shared.u32 [s], 1;\nN:\n .loc 1 7 1\n bar.sync 0;
             .loc 1 8 1\n ld.shared.u32 %r4, [s];\n .loc 1 {line} 1
             setp.eq.u32 %p2, %r4, 0;\n @%p2 bra L;\n @!%p1 bra E;\n .loc 1 12 1
             st.shared.u32 [s], 1;\nE:\n .loc 1 13 1\n"
        )
    };
    let loops = |line| advice(&body(line));
    let has = |line: u32, text: &str| loops(line).iter().any(|a| a.contains(text));
    assert!(
        has(9, "right after k.cu:8, before k.cu:12"),
        "{:?}",
        loops(9)
    );
    assert!(!has(8, "right after"), "{:?}", loops(8));
}

#[test]
fn a_line_of_the_source_has_no_place_for_a_barrier() {
    let body = |line: u32| {
        format!(
            "{OTHER}.loc 1 5 1\n ld.shared.u32 %r4, [%r3];
             .loc 1 {line} 9\n st.shared.u32 [%r1], %r4;\n .loc 1 9 1\n"
        )
    };
    assert_eq!(only(&body(6)), "barrier after k.cu:5, before k.cu:6");
    assert_eq!(only(&body(5)), "");
}

/// What a library does in a call is not the user's: neither its lines nor its conditions.
#[test]
fn a_barrier_stands_between_the_calls_of_a_library() {
    // Line 5 and line 6 of a template, which line 40 of the kernel calls.
    let body = |condition: &str| {
        format!(
            "{OTHER}.loc 1 5 1, function_name $T, inlined_at 1 40 1\n
             {condition}\n @!%p1 bra A;
             .loc 2 30 1, function_name $L, inlined_at 1 5 1\n ld.shared.u32 %r4, [%r3];\nA:
             .loc 1 6 1, function_name $T, inlined_at 1 40 1
             .loc 2 70 1, function_name $L, inlined_at 1 6 1\n setp.lt.u32 %p2, %t, 50;
             @!%p2 bra B;\n st.shared.u32 [%r1], 7;\nB:\n .loc 1 9 1\n"
        )
    };
    let of_library = body(".loc 2 20 1, function_name $L, inlined_at 1 5 1");
    assert_eq!(only(&of_library), "barrier after k.cu:5, before k.cu:6");
    // The condition of the first is the template's.
    assert_eq!(only(&body("")), "barrier after k.cu:5, right before k.cu:6");
    // Or that of another call in the line.
    let other = body(".loc 1 5 9, function_name $T, inlined_at 1 40 1");
    let other = other.replace("inlined_at 1 5 1\n ld", "inlined_at 1 5 9\n ld");
    assert_eq!(only(&other), "barrier after k.cu:5, right before k.cu:6");
    // One call has both: nobody can put a barrier there.
    let one = of_library.replace("inlined_at 1 6 1", "inlined_at 1 5 1");
    assert_eq!(
        only(&one),
        "barrier after warp.cuh:30 (of k.cu:5), before warp.cuh:70 (of k.cu:5), outside of \
         their conditions"
    );
}

/// Lines of a library that several calls share are told apart by the calls.
#[test]
fn each_call_of_a_library_has_its_own_barrier() {
    let call = |line: u32| {
        format!(
            ".loc 1 {line} 1, function_name $T, inlined_at 1 40 1
             .loc 2 70 1, function_name $L, inlined_at 1 {line} 1\n st.shared.u32 [%r1], {line};
             bar.sync 0;\n
             .loc 2 30 1, function_name $L, inlined_at 1 {line} 1\n ld.shared.u32 %r4, [%r3];\n"
        )
    };
    let mut all = advice(&[OTHER, &call(5), &call(6), &call(7), ".loc 1 9 1\n"].concat());
    all.sort();
    let expected = [5, 6].map(|l| format!("barrier after k.cu:{l}, before k.cu:{}", l + 1));
    assert_eq!(all, expected);
}

/// In an `if` that a call of a library decides, nobody can put a barrier right behind it.
#[test]
fn a_barrier_stands_not_behind_a_call_that_decides() {
    let body = |line: u32| {
        format!(
            "{OTHER}.loc 2 30 1, function_name $L, inlined_at 1 5 1\n ld.shared.u32 %r4, [%r3];
             .loc 1 {line} 1\n setp.eq.u32 %p2, %r4, 9;\n @!%p2 bra A;\n .loc 1 7 1
             bar.warp.sync -1;\nA:\n .loc 1 8 1\n @!%p1 bra B;\n .loc 1 9 1
             st.shared.u32 [%r1], 7;\nB:\n .loc 1 12 1\n"
        )
    };
    assert_eq!(only(&body(6)), "barrier right after k.cu:5, before k.cu:9");
    assert_eq!(
        only(&body(5)),
        "barrier after k.cu:5, before k.cu:9, outside of their conditions"
    );
}

#[test]
fn lanes_of_a_warp_need_a_barrier_of_the_warp() {
    let plain = "ld.shared.u32 %r4, [%r2];\n st.shared.u32 [%r1], %r4;\n";
    assert!(only(plain).starts_with("warp after"), "{}", only(plain));
    // Whole warps are in this condition, and parts of them in that.
    let of_warp = format!("setp.lt.u32 %p2, %t, 32;\n @!%p2 bra L;\n{plain}L:\n");
    assert!(only(&of_warp).starts_with("warp after"));
    assert_eq!(only(&of_warp.replace("%t, 32", "%r8, 16")), "");
}

#[test]
fn who_loads_changes_and_stores_a_word_needs_an_atomic() {
    let count = "ld.shared.u32 %r4, [lock];\n add.u32 %r4, %r4, %t;\n st.shared.u32 [lock], %r4;\n";
    assert_eq!(only(count), "atomic");
    // What is loaded is stored to another word.
    let moved = count.replace("st.shared.u32 [lock]", "st.shared.u32 [s]");
    assert!(!advice(&moved).contains(&"atomic".to_owned()));
    // What is stored has nothing to do with what is loaded: no barrier orders the stores.
    assert_eq!(only(&count.replace("%r4, %r4, %t", "%r4, %r9, %t")), "");
}

#[test]
fn no_atomic_does_what_a_product_does() {
    let update = |change: &str| {
        let body = format!("ld.shared.u32 %r4, [lock];\n {change}\n st.shared.u32 [lock], %r4;\n");
        only(&body)
    };
    assert_eq!(update("sub.u32 %r4, %r4, %t;"), "atomic");
    assert_eq!(update("mad.lo.u32 %r4, %t, 3, %r4;"), "atomic");
    assert_eq!(update("min.u32 %r4, %t, %r4;"), "atomic");
    for change in [
        "mul.lo.u32 %r4, %r4, 3;",
        "mad.lo.u32 %r4, %r4, %t, 3;",
        "sub.u32 %r4, %t, %r4;",
        "shl.b32 %r4, %r4, 1; add.u32 %r4, %r4, %t;",
        // A field that is inserted.
        "and.b32 %r4, %r4, -16; or.b32 %r4, %r4, 3;",
    ] {
        assert_eq!(update(change), "", "{change}");
    }
    let bytes = "ld.shared.u8 %r4, [lock];\n add.u32 %r4, %r4, 1;\n st.shared.u8 [lock], %r4;\n";
    assert_eq!(only(bytes), "");
}

/// The up-sweep of a prefix sum without its barrier: others read the words that a thread
/// updates, in a later turn.
#[test]
fn an_atomic_does_not_order_who_only_reads() {
    let body = "mov.u32 %r5, 4;\nL:\n add.u32 %r3, %t, %r5;\n and.b32 %r3, %r3, 63;
        mov.u32 %r7, s;\n mad.lo.u32 %r3, %r3, 4, %r7;\n ld.shared.u32 %r4, [%r3];
        ld.shared.u32 %r6, [%r1];\n add.u32 %r4, %r4, %r6;\n st.shared.u32 [%r1], %r4;
        ld.shared.u32 %r6, [lock];\n add.u32 %r4, %r6, 1;\n st.shared.u32 [lock], %r4;
        shl.b32 %r5, %r5, 1;\n setp.lt.u32 %p2, %r5, 64;\n @%p2 bra L;\n";
    let mut all = advice(body);
    all.sort();
    all.dedup();
    // The counter has no other reader.
    assert_eq!(all, ["", "atomic"]);
    let read = body.replace("ld.shared.u32 %r4, [%r3]", "ld.shared.u32 %r4, [lock]");
    assert_eq!(only(&read), "");
    // Behind the updates, a barrier is for who reads.
    let behind = "ld.shared.u32 %r4, [lock];\n add.u32 %r4, %r4, 1;\n st.shared.u32 [lock], %r4;
        ld.shared.u32 %r5, [lock];\n st.shared.u32 [%r1], %r5;\n";
    assert!(advice(behind).contains(&"atomic".to_owned()));
}

#[test]
fn a_store_before_an_update_needs_a_barrier() {
    // An atomic in the place of the update would race with the store.
    let body = format!(
        "{OTHER}.loc 1 5 1\n st.shared.u32 [%r1], %t;\n .loc 1 6 1\n ld.shared.u32 %r4, [%r3];
         add.u32 %r4, %r4, 5;\n st.shared.u32 [%r3], %r4;\n .loc 1 9 1\n"
    );
    assert_eq!(only(&body), "barrier after k.cu:5, before k.cu:6");
    // Updates of one word by several threads race, too: lanes of all warps are in them.
    let one_word = body
        .replace("%r4, [%r3]", "%r4, [s]")
        .replace("[%r3], %r4", "[s], %r4");
    let mut all = advice(&one_word);
    all.sort();
    let before = "barrier after k.cu:5, before k.cu:6";
    assert_eq!(all, ["", "atomic", "atomic", before]);
}

#[test]
fn a_copy_is_ordered_behind_its_wait() {
    let copy = format!(
        "{OTHER}.loc 1 5 1\n cp.async.ca.shared.global [%r1], [%out], 4;
         .loc 1 6 1\n cp.async.wait_all;\n .loc 1 7 1\n ld.shared.u32 %r4, [%r3];\n .loc 1 9 1\n"
    );
    assert_eq!(only(&copy), "barrier after k.cu:5, right before k.cu:7");
    // Whether the wait is before a condition is not looked at.
    let conditional = copy.replace("ld.shared", "@!%p1 bra L;\n ld.shared") + "L:\n";
    assert_eq!(only(&conditional), "");
}

/// A double buffer whose last barrier is missing: the next copy overtakes who still reads.
#[test]
fn a_barrier_holds_the_next_copy_up() {
    let body = |wait: &str, end: &str| {
        format!(
            "{OTHER}mov.u32 %r5, 0;\n cp.async.ca.shared.global [%r1], [%out], 4;
             cp.async.commit_group;\nL:\n .loc 1 6 1\n {wait}\n bar.sync 0;
             .loc 1 7 1\n ld.shared.u32 %r4, [%r3];\n .loc 1 8 1\n {end}
             cp.async.ca.shared.global [%r1], [%out], 4;\n cp.async.commit_group;
             add.u32 %r5, %r5, 1;\n setp.lt.u32 %p2, %r5, 3;\n @%p2 bra L;\n .loc 1 9 1\n"
        )
    };
    let wait = "cp.async.wait_group 0;";
    assert_eq!(
        advice(&body(wait, "")),
        ["barrier after k.cu:7, before k.cu:8"]
    );
    assert_eq!(advice(&body(wait, "bar.sync 0;")), [""; 0]);
    // Without the wait, a barrier is not all that is missing.
    assert!(only(&body("", "")).is_empty());
    assert!(only(&body("", "bar.sync 0;")).is_empty());
}

/// The copy comes first, whose wait is missing: a barrier alone does not help.
#[test]
fn a_copy_needs_a_wait_before_a_barrier() {
    let body = |wait: &str, barrier: &str| {
        format!(
            "{OTHER}.loc 1 5 1\n cp.async.ca.shared.global [%r1], [%out], 4;\n {wait}\n {barrier}
             setp.lt.u32 %p2, %r8, 16;\n .loc 1 7 1\n @!%p2 bra L;\n ld.shared.u32 %r4, [%r3];
            L:\n .loc 1 9 1\n"
        )
    };
    let both = body("", "");
    let found = races(&both);
    assert_eq!(found.len(), 2);
    assert!(
        found[0].message.contains("waited for the copy"),
        "{found:?}"
    );
    assert!(found[1].message.contains("without a barrier"), "{found:?}");
    assert_eq!(only(&both), "wait right after k.cu:5, before k.cu:7");
    assert_eq!(advice(&body("cp.async.wait_all;", "bar.sync 0;")), [""; 0]);
    assert_eq!(only(&body("", "bar.sync 0;")), "");
}

#[test]
fn an_mbarrier_is_initialised_before_a_barrier() {
    let body = |uses: &str| {
        format!(
            ".shared .b64 mb;\n .loc 1 5 1\n @!%p4 bra N;\n mbarrier.init.shared.b64 [mb], 64;
             N:\n .loc 1 6 1\n {uses}\n .loc 1 9 1\n"
        )
    };
    let arrive = "mbarrier.arrive.shared.b64 %rd9, [mb];\n";
    let wait = "W:\n mbarrier.test_wait.shared.b64 %p2, [mb], %rd9;\n @!%p2 bra W;\n";
    let found = races(&body(&format!("{arrive} .loc 1 7 1\n {wait}")));
    let [side] = &found[..] else {
        panic!("{found:?}")
    };
    let place = side.barrier.as_deref();
    assert_eq!(place, Some("after k.cu:5, right before k.cu:6"));
    let said = "uses the mbarrier at byte 0 of mb, and nothing orders that behind its \
                initialisation by thread [0, 0, 0] at k.cu:5";
    assert_eq!(side.message, said);
    // Of two ways to it, neither comes before the other.
    let ways = format!(
        "@%p1 bra A;\n {arrive} bra.uni B;\nA:\n .loc 1 7 1\n {arrive}B:\n .loc 1 8 1\n {wait}"
    );
    assert_eq!(only(&body(&ways)), "");
}

#[test]
fn a_barrier_of_the_block_serves_a_pair_in_a_warp() {
    let stores = ".loc 1 6 1\n st.shared.u32 [%r1], 1;\n .loc 1 7 1\n setp.eq.u32 %p2, %t, 40;
        @%p2 st.shared.u32 [lock], 7;\n .loc 1 9 1\n";
    let of_warp = format!(".loc 1 5 1\n ld.shared.u32 %r4, [%r2];\n{stores}");
    assert_eq!(only(&of_warp), "warp after k.cu:5, before k.cu:6");
    let both = of_warp.replace("5 1\n", "5 1\n ld.shared.u32 %r5, [lock];\n");
    let mut all = advice(&both);
    all.sort();
    let expected = ["6", "7"].map(|line| format!("barrier after k.cu:5, before k.cu:{line}"));
    assert_eq!(all, expected);
}

#[test]
fn behind_a_lock_or_a_flag_nothing_is_said() {
    let lock = "setp.eq.u32 %p2, %r8, 0;\n @!%p2 bra E;
        L: atom.shared.cas.b32 %r5, [lock], 0, 1;\n setp.ne.u32 %p3, %r5, 0;\n @%p3 bra L;
        ld.shared.u32 %r4, [s];\n add.u32 %r4, %r4, 1;\n st.shared.u32 [s], %r4;
        atom.shared.exch.b32 %r5, [lock], 0;\nE:\n";
    assert_eq!(only(lock), "");
}
