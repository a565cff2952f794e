//! Control-flow graphs: where paths meet.

use super::*;

/// Blocks and post-dominators of a body, by the first instruction of each.
fn post_dominators(body: &str) -> Vec<(u32, Option<u32>)> {
    let module = entry(body);
    let cfg = Cfg::new(&module.functions[0]);
    let start = |b: u32| cfg.blocks.get(b as usize).map(|b| b.start);
    let pairs = cfg.blocks.iter().zip(&cfg.post_dominator);
    pairs.map(|(block, &p)| (block.start, start(p))).collect()
}

#[test]
fn paths_meet_at_the_post_dominator() {
    let diamond = ".reg .pred %p; @%p bra A; nop1; bra B; A: nop2; B: ret;";
    assert_eq!(
        post_dominators(diamond),
        [(0, Some(4)), (1, Some(4)), (3, Some(4)), (4, None)]
    );
    let endless = ".reg .pred %p; @%p bra B; A: bra A; B: ret;";
    assert_eq!(post_dominators(endless), [(0, None), (1, None), (2, None)]);
    // Irreducible: a loop with two entries.
    let irreducible = ".reg .pred %p; @%p bra B; A: nop; B: @%p bra A; nop; ret;";
    assert_eq!(
        post_dominators(irreducible),
        [(0, Some(2)), (1, Some(2)), (2, Some(3)), (3, None)]
    );
    let exits = ".reg .pred %p; @%p exit; @%p bra A; exit; A: ret;";
    assert_eq!(
        post_dominators(exits),
        [(0, None), (1, None), (2, None), (3, None)]
    );
}

/// The post-dominators of random graphs, against their definition: `d`
/// post-dominates `b` if without `d` no way leads from `b` to the exit.
#[test]
fn post_dominators_are_as_defined() {
    let mut state = 1u64;
    let mut random = move |n: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    for _ in 0..1000 {
        let count = 2 + random(10);
        let mut body = ".reg .pred %p;\n".to_owned();
        for block in 0..count {
            let target = random(count);
            body += &match random(4) {
                0 => format!("L{block}: @%p bra L{target};\n"),
                1 => format!("L{block}: @%p exit;\n"),
                2 => format!("L{block}: bra L{target};\n"),
                _ => format!("L{block}: nop;\n"),
            };
        }
        let module = entry(&format!("{body} ret;"));
        let cfg = Cfg::new(&module.functions[0]);
        let exit = cfg.exit();
        let reaches = |from: u32, without: u32| {
            let (mut seen, mut stack) = (vec![from], vec![from]);
            while let Some(block) = stack.pop() {
                for &next in cfg.blocks[block as usize]
                    .successors
                    .iter()
                    .filter(|&&s| s != without)
                {
                    if next == exit {
                        return true;
                    }
                    if !seen.contains(&next) {
                        seen.push(next);
                        stack.push(next);
                    }
                }
            }
            false
        };
        // Endless loops end at a place that is pretended.
        if !(0..exit).all(|block| reaches(block, u32::MAX)) {
            continue;
        }
        for block in 0..exit {
            let strict: Vec<u32> = (0..exit)
                .filter(|&d| d != block && !reaches(block, d))
                .collect();
            let found = cfg.post_dominator[block as usize];
            if found == exit {
                assert!(strict.is_empty(), "{body}: {strict:?}")
            } else {
                // The immediate one is post-dominated by all others.

                assert!(
                    strict.contains(&found)
                        && strict.iter().all(|&d| d == found || !reaches(found, d)),
                    "{body}: block {block} has {found} of {strict:?}"
                )
            }
        }
    }
}

/// Where the sides of branches meet, by the first instructions of the blocks.
fn meetings(body: &str) -> Vec<(u32, Option<u32>)> {
    let module = entry(body);
    let cfg = Cfg::new(&module.functions[0]);
    let meets = crate::analysis::Meets::new(&cfg);
    let branches = (0..cfg.exit()).filter(|&b| cfg.blocks[b as usize].successors.len() > 1);
    let start = |block: u32| cfg.blocks[block as usize].start;
    branches
        .map(|b| (start(b), meets.of(b).map(|at| start(at.block))))
        .collect()
}

/// As the machine code of `ptxas` has it (`BSSY` and `BREAK`), for sm_80 to sm_100.
#[test]
fn branches_meet_where_the_machine_code_has_them_meet() {
    let of = |body: &str| meetings(&format!(".reg .pred %p; {body}"));
    // if (a) { if (b) break; } in a loop: the inner branch meets behind the loop.
    let breaks = "L: @%p bra J; @%p bra OUT; J: nop; @%p bra L; OUT: nop; ret;";
    assert_eq!(of(breaks), [(0, Some(2)), (1, Some(4)), (2, Some(4))]);
    // Code of the break alone: both ways meet behind it.
    let own = "L: @%p bra J; @%p bra MINE; J: nop; @%p bra L; bra OUT; MINE: nop; OUT: nop; ret;";
    assert_eq!(of(own), [(0, Some(2)), (1, Some(6)), (2, Some(6))]);
    // if (a) { if (b) return; }: whoever returns meets nobody.
    let returns = "@%p bra J; @%p bra END; J: nop; nop; END: ret;";
    assert_eq!(of(returns), [(0, Some(2)), (1, None)]);
    // if (a && b) T else E: the first branch meets at E, which the second one leads past.
    let both = "@%p bra E; @%p bra E; nop; bra J; E: nop; J: nop; ret;";
    assert_eq!(of(both), [(0, Some(4)), (1, Some(5))]);
    // A loop whose head leaves it, and a break.
    let head = "L: @%p bra OUT; @%p bra J; @%p bra OUT; J: bra L; OUT: nop; ret;";
    assert_eq!(of(head), [(0, Some(4)), (1, Some(3)), (2, Some(4))]);
    // Both ways go round: at the head.
    let round = "L: nop; @%p bra A; @%p bra L; bra OUT; A: bra L; OUT: ret;";
    assert_eq!(of(round)[0], (0, Some(0)));
}
