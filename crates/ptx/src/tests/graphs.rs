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
