//! Random control flow.

use crate::ptx_oracle::run::{THREADS, both};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::fmt::Write;

/// Random functions of blocks that jump anywhere: each block mixes its number
/// into the thread's sum and picks the next by the sum, a fuel counter ends
/// it. Irreducible loops, early exits, guarded exits and tables included.
fn random_flow(seed: u64) -> String {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut below = |n: u32| rng.next_u32() % n;
    let blocks = 2 + below(14);
    let mut text = String::from(
        ".version 8.5\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
         .reg .b64 %at, %base; .reg .b32 %t, %x, %y, %fuel; .reg .pred %p, %q;\n\
         ld.param.u64 %base, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %at, %t, 8, %base;\n\
         mad.lo.u32 %x, %t, 2654435761, 12345;\n",
    );
    writeln!(text, "mov.u32 %fuel, {};", 5 + below(60)).unwrap();
    let tables = below(2) == 1;
    for block in 0..blocks {
        writeln!(text, "B{block}:").unwrap();
        writeln!(
            text,
            "sub.u32 %fuel, %fuel, 1; setp.eq.u32 %p, %fuel, 0; @%p bra END;"
        )
        .unwrap();
        writeln!(text, "mad.lo.u32 %x, %x, 1664525, {};", 1013904223 + block).unwrap();
        writeln!(text, "shr.u32 %y, %x, {};", 8 + below(16)).unwrap();
        let target = below(blocks);
        match below(8) {
            0 if tables => {
                let list: Vec<String> = (0..4).map(|_| format!("B{}", below(blocks))).collect();
                writeln!(text, "T{block}: .branchtargets {};", list.join(", ")).unwrap();
                writeln!(text, "and.b32 %y, %y, 3; brx.idx %y, T{block};").unwrap();
            }
            0 | 1 => writeln!(text, "bra B{target};").unwrap(),
            2 => {
                writeln!(
                    text,
                    "and.b32 %y, %y, {}; setp.eq.u32 %q, %y, 0;",
                    1 + below(15)
                )
                .unwrap();
                writeln!(text, "@%q st.global.u32 [%at], %x; @%q exit;").unwrap();
            }
            3 => {
                writeln!(text, "and.b32 %y, %y, 1; setp.eq.u32 %q, %y, 1;").unwrap();
                writeln!(text, "@!%q add.u32 %x, %x, {block};").unwrap();
            }
            _ => {
                let mask = [1, 2, 3, 4, 7][below(5) as usize];
                writeln!(text, "and.b32 %y, %y, {mask}; setp.ne.u32 %q, %y, 0;").unwrap();
                writeln!(
                    text,
                    "@{}%q bra B{target};",
                    if below(2) == 0 { "!" } else { "" }
                )
                .unwrap();
            }
        }
    }
    text += "END:\nst.global.u32 [%at], %x; st.global.u32 [%at+4], %fuel; ret;\n}\n";
    text
}

#[test]
fn random_control_flow_gives_what_one_thread_at_a_time_gives() {
    for seed in 0..500 {
        let text = random_flow(seed);
        let words = vec![0u64; THREADS as usize];
        let (ours, expected) = both(&text, &words, seed % 2 == 0);
        assert_eq!(ours, expected, "seed {seed}\n{text}");
    }
}
