//! Device-side `malloc` and `free`: addresses against a plain list of
//! intervals, misuse, and objects with virtual functions as nvcc writes them.

use super::*;

const DECLARED: &str = "
    .extern .func (.param .b64 func_retval0) malloc (.param .b64 malloc_param_0);
    .extern .func free (.param .b64 free_param_0);\n";

/// `to = malloc(bytes)`, as nvcc calls it.
fn malloc(to: &str, bytes: &str) -> String {
    format!(
        "{{ .param .b64 param0; st.param.b64 [param0+0], {bytes}; .param .b64 retval0;
         call.uni (retval0), malloc, (param0); ld.param.b64 {to}, [retval0+0]; }}\n"
    )
}

fn free(pointer: &str) -> String {
    format!(
        "{{ .param .b64 param0; st.param.b64 [param0+0], {pointer};
         call.uni free, (param0); }}\n"
    )
}

/// Runs `body` in blocks of `count` threads on a heap of this many bytes.
fn on_heap(body: &str, count: u32, words: &[u32], heap: u64) -> Run {
    let text = DECLARED.to_owned() + &kernel(body);
    run_with(&text, [count, 1, 1], [1, 1, 1], words, |o, _| o.heap = heap)
}

fn messages(run: &Run) -> Vec<&str> {
    let findings = run.outcome.findings.iter();
    findings.map(|f| f.message.as_str()).collect()
}

/// Each round of a thread: a size to allocate, or `FREE` plus the round whose
/// allocation is freed. The kernel writes what it was given.
const FREE: u32 = 1 << 31;

#[test]
fn allocations_are_apart_and_full_heaps_give_null() {
    const ROUNDS: usize = 40;
    const HEAP: u64 = 3000;
    // Of thread t and round r: command at 3 * (t * ROUNDS + r), then 64 bits
    // of address.
    let body = format!(
        "mul.lo.u32 %r1, %t, {row}; mad.wide.u32 %rd1, %r1, 1, %base;
         mov.u32 %r2, 0;
         LOOP: mad.wide.u32 %rd2, %r2, 16, %rd1;
         ld.global.u32 %r3, [%rd2];
         setp.ge.u32 %p1, %r3, {FREE};
         @%p1 bra GIVE;
         cvt.u64.u32 %rd3, %r3;
         {malloc} st.global.u64 [%rd2+8], %rd4; bra NEXT;
         GIVE: and.b32 %r4, %r3, 0x7fffffff;
         mad.wide.u32 %rd5, %r4, 16, %rd1; ld.global.u64 %rd4, [%rd5+8];
         {free}
         NEXT: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, {ROUNDS}; @%p2 bra LOOP;
         ret;",
        row = 16 * ROUNDS,
        malloc = malloc("%rd4", "%rd3"),
        free = free("%rd4"),
    );
    let mut state = 12345u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for threads in [1u32, 32, 40] {
        let mut words = vec![0u32; threads as usize * ROUNDS * 4];
        for t in 0..threads as usize {
            let mut live: Vec<u32> = Vec::new();
            for r in 0..ROUNDS {
                let command = if !live.is_empty() && random(3) == 0 {
                    FREE | live.swap_remove(random(live.len() as u64) as usize)
                } else {
                    live.push(r as u32);
                    random(400) as u32
                };
                words[4 * (t * ROUNDS + r)] = command;
            }
        }
        let run = on_heap(&body, threads, &words, HEAP);
        assert_eq!(messages(&run), Vec::<&str>::new());
        let at = |t: usize, r: usize| {
            let at = 4 * (t * ROUNDS + r);
            let address = u64::from(run.words[at + 2]) | u64::from(run.words[at + 3]) << 32;
            (run.words[at], address)
        };
        // The order of lanes in a warp is that of their numbers, and whole
        // warps run one after the other: nothing lets another one run.
        let mut live: Vec<(u64, u64)> = Vec::new();
        let mut nulls = 0;
        for warp in 0..threads.div_ceil(32) as usize {
            let lanes = 32 * warp..(32 * warp + 32).min(threads as usize);
            for r in 0..ROUNDS {
                // Lanes of one round may free and allocate in either order.
                let (frees, allocates): (Vec<usize>, Vec<usize>) =
                    lanes.clone().partition(|&t| at(t, r).0 & FREE != 0);
                let before: u64 = live.iter().map(|l| l.1).sum();
                for t in frees {
                    let (_, address) = at(t, (at(t, r).0 & !FREE) as usize);
                    if address != 0 {
                        let known = live.iter().position(|l| l.0 == address).unwrap();
                        live.swap_remove(known);
                    }
                }
                let mut wanted = 0;
                for t in allocates {
                    let (bytes, address) = at(t, r);
                    let bytes = u64::from(bytes.max(1)).next_multiple_of(16);
                    let now: u64 = live.iter().map(|l| l.1).sum();
                    if address == 0 {
                        nulls += 1;
                        assert!(before + wanted + bytes > HEAP, "{before} {wanted} {bytes}");
                        continue;
                    }
                    wanted += bytes;
                    assert!(now + bytes <= HEAP, "more than the heap has");
                    assert_eq!(address % 16, 0);
                    let apart = |l: &(u64, u64)| address + bytes <= l.0 || l.0 + l.1 <= address;
                    assert!(live.iter().all(apart));
                    live.push((address, bytes));
                }
            }
        }
        assert_eq!(nulls > 0, threads > 1, "{threads} threads");
    }
}

#[test]
fn memory_is_a_threads_own_and_shared_by_pointer() {
    // A list of three nodes for each thread, summed by its neighbour.
    let body = [
        malloc("%rd1", "16"),
        malloc("%rd2", "16"),
        malloc("%rd3", "16"),
        "st.u64 [%rd1], %rd2; st.u64 [%rd2], %rd3; mov.u64 %rd4, 0; st.u64 [%rd3], %rd4;
         mov.u32 %r4, 0; st.u32 [%rd1+12], %r4; st.u32 [%rd2+12], %r4; st.u32 [%rd3+12], %r4;
         st.u32 [%rd1+8], %t; add.u32 %r1, %t, 100; st.global.u32 [%rd2+8], %r1;
         add.u32 %r2, %t, 1000; st.u32 [%rd3+8], %r2;
         .shared .b64 heads[64]; mov.u64 %rd5, heads; mad.wide.u32 %rd6, %t, 8, %rd5;
         st.shared.u64 [%rd6], %rd1; bar.sync 0;
         xor.b32 %r3, %t, 1; mad.wide.u32 %rd6, %r3, 8, %rd5; ld.shared.u64 %rd7, [%rd6];
         NEXT: ld.u32 %r5, [%rd7+8]; add.u32 %r4, %r4, %r5; atom.add.u32 %r6, [%rd7+12], 1;
         mov.u64 %rd8, %rd7; ld.u64 %rd7, [%rd7];"
            .to_owned(),
        free("%rd8"),
        "setp.ne.u64 %p1, %rd7, 0; @%p1 bra NEXT; st.global.u32 [%out], %r4; ret;".to_owned(),
    ]
    .concat();
    let run = on_heap(&body, 64, &[0; 64], 1 << 16);
    assert_eq!(messages(&run), Vec::<&str>::new());
    let sums = (0..64).map(|t| 3 * (t ^ 1) + 1100);
    assert_eq!(run.words, sums.collect::<Vec<u32>>());
}

#[test]
fn misuse_is_found() {
    let case = |after: &str, kind: FindingKind, message: &str| {
        let body = malloc("%rd1", "40") + after + "ret;";
        let run = on_heap(&body, 1, &[0], 1 << 16);
        assert_eq!(kinds(&run), [kind], "{after}: {:?}", messages(&run));
        assert_eq!(messages(&run), [message], "{after}");
    };
    use FindingKind::{InvalidFree, Misaligned, OutOfBounds};
    case(
        "ld.u32 %r1, [%rd1+40];",
        OutOfBounds,
        "load of 4 bytes at byte 40 of an allocation of 40 bytes",
    );
    case(
        "st.global.v2.u64 [%rd1+32], {%rd1, %rd1};",
        OutOfBounds,
        "store of 16 bytes at byte 32 of an allocation of 40 bytes",
    );
    // A GPU refuses the address before it looks how far the access goes.
    case(
        "st.global.u64 [%rd1+36], %rd1;",
        Misaligned,
        "store of 8 bytes at byte 36 of an allocation is not aligned",
    );
    case(
        "ld.u32 %r1, [%rd1+2];",
        Misaligned,
        "load of 4 bytes at byte 2 of an allocation is not aligned",
    );
    case(
        "ld.u32 %r1, [%rd1+-4];",
        OutOfBounds,
        "load of 4 bytes of the heap where nothing is allocated",
    );
    let freed = free("%rd1");
    case(
        &format!("{freed} st.u32 [%rd1+8], %t;"),
        OutOfBounds,
        "store of 4 bytes at byte 8 of 40 bytes that have been freed",
    );
    case(
        &format!("{freed}{freed}"),
        InvalidFree,
        "free of 40 bytes that have been freed before",
    );
    case(
        &format!("add.u64 %rd2, %rd1, 8; {}", free("%rd2")),
        InvalidFree,
        "free of byte 8 of an allocation of 40 bytes",
    );
    case(
        &free("%base"),
        InvalidFree,
        "free of address 0x10000000000, which malloc has not given",
    );
    let null = on_heap(
        &format!("mov.u64 %rd1, 0; {} ret;", free("%rd1")),
        1,
        &[0],
        64,
    );
    assert_eq!(messages(&null), Vec::<&str>::new());
}

#[test]
fn what_malloc_gives_is_not_written() {
    let case = |after: &str, missing: Option<u32>| {
        let body = malloc("%rd1", "16") + after + &free("%rd1") + "ret;";
        let run = on_heap(&body, 1, &[0], 1 << 16);
        let told = run.outcome.findings.iter();
        let told: Vec<_> = told.map(|f| (f.kind, f.warning)).collect();
        let expected = missing.map(|_| (FindingKind::Uninitialised, true));
        assert_eq!(told, Vec::from_iter(expected), "{after}");
        for (message, byte) in messages(&run).iter().zip(missing) {
            assert!(message.ends_with(&format!("byte {byte}")), "{message}");
        }
    };
    case("ld.u32 %r1, [%rd1+4];", Some(4));
    case("st.u32 [%rd1], %t; ld.u32 %r1, [%rd1];", None);
    case("st.u32 [%rd1], %t; ld.u64 %rd2, [%rd1];", Some(4));
    // What was freed and given again is new.
    let again = free("%rd1") + &malloc("%rd1", "16");
    case(
        &format!("st.u32 [%rd1], %t; {again} ld.u32 %r1, [%rd1];"),
        Some(0),
    );
}

#[test]
fn the_heap_outlives_a_launch_and_what_is_left_is_told() {
    let text = [
        ".version 8.5\n.target sm_80\n.address_size 64\n",
        DECLARED,
        ".global .u64 kept;
         .visible .entry make() { .reg .b64 %rd<4>; .reg .b32 %r<4>; mov.u32 %r1, 77;\n",
        &malloc("%rd1", "24"),
        "st.u32 [%rd1], %r1; st.global.u64 [kept], %rd1;\n",
        &malloc("%rd2", "100"),
        "ret; }
         .visible .entry use(.param .u64 p) { .reg .b64 %rd<4>; .reg .b32 %r<4>;
         ld.param.u64 %rd2, [p]; ld.global.u64 %rd1, [kept]; ld.u32 %r1, [%rd1];
         st.global.u32 [%rd2], %r1;\n",
        &free("%rd1"),
        "ret; }",
    ]
    .concat();
    let module = Module::parse(&text, "t.ptx").unwrap();
    let program = Program::new(&module).unwrap();
    let mut memory = Memory::new();
    let out = memory.alloc("out", vec![0; 4]);
    let mut run = |entry: &str, params: Vec<u8>, blocks| {
        let launch = Launch {
            entry: entry.to_owned(),
            grid: [blocks, 1, 1],
            block: [1, 1, 1],
            dynamic_shared: 0,
            params,
        };
        let outcome = program.run(&mut memory, &launch, &Options::default());
        assert_eq!(outcome.unwrap().findings, []);
        let leaks = memory.leaks();
        let told = leaks.iter().map(|f| (f.kind, f.warning, f.message.clone()));
        (told.collect::<Vec<_>>(), memory.address(out))
    };
    let leak = |text: &str| (FindingKind::Leak, true, text.to_owned());
    let (leaks, out_address) = run("make", Vec::new(), 1);
    let both = [
        leak("24 bytes of malloc are not freed"),
        leak("100 bytes of malloc are not freed"),
    ];
    assert_eq!(leaks, both);
    let (leaks, _) = run("use", out_address.to_le_bytes().to_vec(), 1);
    assert_eq!(leaks, both[1..]);
    let (leaks, _) = run("make", Vec::new(), 2);
    let again = [
        leak("3 allocations, 300 bytes in all, are not freed"),
        leak("2 allocations, 48 bytes in all, are not freed"),
    ];
    assert_eq!(leaks, again);
    assert_eq!(memory.bytes(out), 77u32.to_le_bytes());
}

/// Two classes with a table of virtual functions, `new` and `delete`, as nvcc
/// 13.3 compiles them: the table is data with addresses of functions.
#[test]
fn virtual_functions_are_called_through_tables() {
    let class = |name: &str, body: &str| {
        format!(
            ".func (.param .b32 func_retval0) {name}(.param .b64 {name}_0, .param .b32 {name}_1)
             {{ .reg .b32 %r<4>; .reg .b64 %rd<4>; ld.param.u32 %r1, [{name}_1];
                ld.param.u64 %rd1, [{name}_0]; {body}
                st.param.b32 [func_retval0+0], %r2; ret; }}\n"
        )
    };
    let text = [
        DECLARED,
        ".func (.param .b32 func_retval0) plus(.param .b64 plus_0, .param .b32 plus_1);
         .func (.param .b32 func_retval0) times(.param .b64 times_0, .param .b32 times_1);
         .func gone(.param .b64 gone_0);
         .global .align 8 .u64 _ZTV1B[4] = {0, 0, plus, gone};
         .const .align 8 .u64 _ZTV1D[4] = {0, 0, times, gone};\n",
        &class("plus", "add.s32 %r2, %r1, 1;"),
        &class("times", "ld.u32 %r3, [%rd1+8]; mul.lo.s32 %r2, %r3, %r1;"),
        ".func gone(.param .b64 gone_0) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [gone_0];\n",
        &free("%rd1"),
        "ret; }\n",
        &kernel(
            &[
                "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN;",
                &malloc("%rd1", "16"),
                "mov.u64 %rd2, _ZTV1D; cvta.const.u64 %rd3, %rd2; add.s64 %rd4, %rd3, 16;
                 st.u64 [%rd1], %rd4; st.u32 [%rd1+8], %t; bra.uni CALL;
                 EVEN:",
                &malloc("%rd1", "8"),
                "mov.u64 %rd2, _ZTV1B; cvta.global.u64 %rd3, %rd2; add.s64 %rd4, %rd3, 16;
                 st.u64 [%rd1], %rd4;
                 CALL: ld.u64 %rd5, [%rd1]; ld.u64 %rd6, [%rd5];
                 { .param .b64 param0; st.param.b64 [param0+0], %rd1;
                   .param .b32 param1; st.param.b32 [param1+0], 10; .param .b32 retval0;
                   prototype_6 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);
                   call (retval0), %rd6, (param0, param1), prototype_6;
                   ld.param.b32 %r2, [retval0+0]; }
                 st.global.u32 [%out], %r2;
                 ld.u64 %rd5, [%rd1]; ld.u64 %rd6, [%rd5+8];
                 { .param .b64 param0; st.param.b64 [param0+0], %rd1;
                   prototype_8 : .callprototype ()_ (.param .b64 _);
                   call %rd6, (param0), prototype_8; }
                 ret;",
            ]
            .concat(),
        ),
    ]
    .concat();
    let run = run_with(&text, [40, 1, 1], [1, 1, 1], &[0; 40], |_, _| {});
    assert_eq!(messages(&run), Vec::<&str>::new());
    let value = |t: u32| if t % 2 == 1 { 10 * t } else { 11 };
    assert_eq!(run.words, (0..40).map(value).collect::<Vec<u32>>());
}
