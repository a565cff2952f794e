//! Exchanges inside the warp and reductions of barriers against what the PTX
//! ISA says of them, written over vectors of 32 lanes: `shfl.sync`,
//! `vote.sync`, `match.sync`, `redux.sync`, `activemask`, `bar.red`.

use crate::ptx_oracle::run::{THREADS, ours};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Words of a thread: result, predicate, a, b, c, members, side.
const SLOTS: usize = 7;
/// Runs of each instruction.
const ROUNDS: usize = 12;

/// The lanes of a warp.
type Lanes = [u64; 32];

/// What the threads of one warp bring.
struct Warp {
    a: Lanes,
    b: Lanes,
    c: Lanes,
}

/// What one side of the warp's branch gets, for its lanes `members`: result
/// and predicate of a lane, none where the ISA leaves them open.
type Definition = fn(&Warp, members: u32, lane: usize) -> (Option<u64>, u64);

/// An instruction: its text, whether it has a predicate, and what it does.
struct Exchange {
    text: String,
    define: Definition,
}

/// Lanes of a mask.
fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

/// A kernel whose threads go two ways, each with the members of its side; they
/// meet again behind.
fn kernel(text: &str) -> String {
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .b64 %at, %base, %wide; .reg .b32 %t, %d, %a, %b, %c, %m, %s; .reg .pred %q, %p, %side;\n\
         ld.param.u64 %base, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %at, %t, {}, %base;\n\
         ld.global.u64 %wide, [%at+16]; cvt.u32.u64 %a, %wide; ld.global.u32 %b, [%at+24];\n\
         ld.global.u32 %c, [%at+32]; ld.global.u32 %m, [%at+40]; ld.global.u32 %s, [%at+48];\n\
         and.b32 %d, %a, 1; setp.ne.u32 %p, %d, 0; setp.ne.u32 %q, %s, %s; mov.u32 %d, 0;\n\
         setp.ne.u32 %side, %s, 0; @%side bra ONE;\n{text}\nbra JOIN;\nONE: {text}\nJOIN:\n\
         st.global.u32 [%at], %d; selp.u32 %d, 1, 0, %q; st.global.u32 [%at+8], %d; ret;\n}}\n",
        8 * SLOTS
    )
}

/// Every instruction on random lanes, both sides of the branch.
fn check(exchanges: &[Exchange]) {
    let mut rng = ChaCha12Rng::seed_from_u64(exchanges.len() as u64);
    for Exchange { text, define } in exchanges {
        let ptx = kernel(text);
        for round in 0..ROUNDS {
            let mut words = vec![0u64; SLOTS * THREADS as usize];
            for warp in words.chunks_exact_mut(32 * SLOTS) {
                fill(warp, round, &mut rng);
            }
            let (after, _) = ours(&ptx, &words, round % 2 == 0);
            for (at, (before, after)) in words
                .chunks_exact(32 * SLOTS)
                .zip(after.chunks_exact(32 * SLOTS))
                .enumerate()
            {
                compare(text, at, before, after, *define);
            }
        }
    }
}

/// Random operands of a warp: values of which some are equal, distances and
/// clamps as compilers write them and any others, and the sides.
fn fill(warp: &mut [u64], round: usize, rng: &mut ChaCha12Rng) {
    let side = match round % 4 {
        0 => 0,
        1 => rng.next_u32() | 1,
        2 => 1 << (rng.next_u32() % 32),
        _ => rng.next_u32() & rng.next_u32(),
    };
    let width = 1u32 << (rng.next_u32() % 6);
    let same = rng.next_u64();
    for (lane, thread) in warp.chunks_exact_mut(SLOTS).enumerate() {
        let random = rng.next_u64();
        thread[2] = match round % 3 {
            0 => random,
            1 => same ^ (random & 0x1_0000_0001),
            _ => same,
        };
        thread[3] = match rng.next_u32() % 2 {
            0 => random % 32,
            _ => random >> 32,
        };
        let clamp = if random & 1 == 0 { 31 } else { 0 };
        thread[4] = match round % 2 {
            0 => u64::from((32 - width) << 8 | clamp),
            _ => u64::from(rng.next_u32()),
        };
        let one = side >> lane & 1;
        thread[5] = u64::from(if one == 1 { side } else { !side });
        thread[6] = u64::from(one);
    }
}

fn compare(text: &str, warp: usize, before: &[u64], after: &[u64], define: Definition) {
    let column = |slot: usize| -> Lanes { std::array::from_fn(|l| before[SLOTS * l + slot]) };
    let operands = Warp {
        a: column(2),
        b: column(3),
        c: column(4),
    };
    for lane in 0..32 {
        let members = before[SLOTS * lane + 5] as u32;
        let (result, predicate) = define(&operands, members, lane);
        let got = (after[SLOTS * lane], after[SLOTS * lane + 1]);
        let expected = (result.unwrap_or(got.0), predicate);
        assert_eq!(
            got, expected,
            "{text}, warp {warp}, lane {lane}: {before:x?}"
        );
    }
}

/// `shfl.sync`: `toward` gives the source lane of a lane by distance, first and
/// last lane of its segment; the predicate says whether it is inside.
fn shuffled(
    warp: &Warp,
    members: u32,
    lane: usize,
    toward: fn(i64, i64, [i64; 2]) -> (i64, bool),
) -> (Option<u64>, u64) {
    let (b, c) = (warp.b[lane] as u32, warp.c[lane] as u32);
    let segment = c >> 8 & 31;
    let first = lane as u32 & segment;
    let last = first | (c & 31 & !segment & 31);
    let (from, inside) = toward(
        lane as i64,
        i64::from(b & 31),
        [i64::from(first), i64::from(last)],
    );
    let from = if inside { from as usize } else { lane };
    // A lane that is no member gives what nobody can say.
    let known = members >> from & 1 == 1;
    (known.then(|| warp.a[from] & 0xffff_ffff), u64::from(inside))
}

#[test]
fn shuffles() {
    let modes: [(&str, Definition); 4] = [
        ("up", |w, m, l| {
            // Here the clamp is the least lane.
            shuffled(w, m, l, |lane, by, [_, last]| {
                (lane - by, lane - by >= last)
            })
        }),
        ("down", |w, m, l| {
            shuffled(w, m, l, |lane, by, [_, last]| {
                (lane + by, lane + by <= last)
            })
        }),
        ("bfly", |w, m, l| {
            shuffled(w, m, l, |lane, by, [_, last]| {
                (lane ^ by, lane ^ by <= last)
            })
        }),
        ("idx", |w, m, l| {
            let segment = (w.c[l] >> 8 & 31) as i64;
            // A distance counts inside the segment.
            let mut own = Warp {
                a: w.a,
                b: w.b,
                c: w.c,
            };
            own.b[l] = (w.b[l] as i64 & 31 & !segment) as u64;
            shuffled(&own, m, l, |_, by, [first, last]| {
                (first | by, first | by <= last)
            })
        }),
    ];
    let exchanges = modes.map(|(mode, define)| Exchange {
        text: format!("shfl.sync.{mode}.b32 %d|%q, %a, %b, %c, %m;"),
        define,
    });
    check(&exchanges);
}

/// The members whose predicate, bit 0 of `a`, is set.
fn agreeing(warp: &Warp, members: u32) -> u32 {
    lanes(members).fold(0, |set, l| set | (warp.a[l] as u32 & 1) << l)
}

#[test]
fn votes() {
    let votes: [(&str, Definition); 9] = [
        ("vote.sync.all.pred %q, %p, %m;", |w, m, _| {
            (Some(0), u64::from(agreeing(w, m) == m))
        }),
        ("vote.sync.any.pred %q, %p, %m;", |w, m, _| {
            (Some(0), u64::from(agreeing(w, m) != 0))
        }),
        ("vote.sync.uni.pred %q, %p, %m;", |w, m, _| {
            (Some(0), u64::from([0, m].contains(&agreeing(w, m))))
        }),
        ("vote.sync.all.pred %q, !%p, %m;", |w, m, _| {
            (Some(0), u64::from(agreeing(w, m) == 0))
        }),
        ("vote.sync.any.pred %q, !%p, %m;", |w, m, _| {
            (Some(0), u64::from(agreeing(w, m) != m))
        }),
        ("vote.sync.uni.pred %q, !%p, %m;", |w, m, _| {
            (Some(0), u64::from([0, m].contains(&agreeing(w, m))))
        }),
        ("vote.sync.ballot.b32 %d, %p, %m;", |w, m, _| {
            (Some(agreeing(w, m).into()), 0)
        }),
        ("vote.sync.ballot.b32 %d, !%p, %m;", |w, m, _| {
            (Some((m & !agreeing(w, m)).into()), 0)
        }),
        ("activemask.b32 %d;", |_, m, _| (Some(m.into()), 0)),
    ];
    check(&votes.map(|(text, define)| Exchange {
        text: text.to_owned(),
        define,
    }));
}

/// The members whose value, the low `bits` bits of `a`, is that of the lane.
fn equal(warp: &Warp, members: u32, lane: usize, mask: u64) -> u32 {
    let same = |l: &usize| warp.a[*l] & mask == warp.a[lane] & mask;
    lanes(members).filter(same).fold(0, |set, l| set | 1 << l)
}

#[test]
fn matches() {
    fn all(w: &Warp, m: u32, l: usize, mask: u64) -> (Option<u64>, u64) {
        if equal(w, m, l, mask) == m {
            (Some(m.into()), 1)
        } else {
            (Some(0), 0)
        }
    }
    let kinds: [(&str, Definition); 4] = [
        ("match.any.sync.b32 %d, %a, %m;", |w, m, l| {
            (Some(equal(w, m, l, 0xffff_ffff).into()), 0)
        }),
        ("match.any.sync.b64 %d, %wide, %m;", |w, m, l| {
            (Some(equal(w, m, l, u64::MAX).into()), 0)
        }),
        ("match.all.sync.b32 %d|%q, %a, %m;", |w, m, l| {
            all(w, m, l, 0xffff_ffff)
        }),
        ("match.all.sync.b64 %d|%q, %wide, %m;", |w, m, l| {
            all(w, m, l, u64::MAX)
        }),
    ];
    check(&kinds.map(|(text, define)| Exchange {
        text: text.to_owned(),
        define,
    }));
}

/// The members' values combined, in any order.
fn over(warp: &Warp, members: u32, combine: fn(i64, i64) -> i64, signed: bool) -> Option<u64> {
    let value = |l: usize| {
        if signed {
            i64::from(warp.a[l] as i32)
        } else {
            i64::from(warp.a[l] as u32)
        }
    };
    let result = lanes(members).map(value).reduce(combine);
    result.map(|r| r as u64 & 0xffff_ffff)
}

#[test]
fn reductions() {
    let kinds: [(&str, Definition); 9] = [
        ("add.u32", |w, m, _| (over(w, m, |a, b| a + b, false), 0)),
        ("add.s32", |w, m, _| (over(w, m, |a, b| a + b, true), 0)),
        ("min.u32", |w, m, _| (over(w, m, i64::min, false), 0)),
        ("max.u32", |w, m, _| (over(w, m, i64::max, false), 0)),
        ("min.s32", |w, m, _| (over(w, m, i64::min, true), 0)),
        ("max.s32", |w, m, _| (over(w, m, i64::max, true), 0)),
        ("and.b32", |w, m, _| (over(w, m, |a, b| a & b, false), 0)),
        ("or.b32", |w, m, _| (over(w, m, |a, b| a | b, false), 0)),
        ("xor.b32", |w, m, _| (over(w, m, |a, b| a ^ b, false), 0)),
    ];
    check(&kinds.map(|(kind, define)| Exchange {
        text: format!("redux.sync.{kind} %d, %a, %m;"),
        define,
    }));
}

/// Threads of the block, and of a part of it, whose predicates are random with
/// shares from none to all.
#[test]
fn reductions_of_barriers() {
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    let ptx = "
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b64 %at, %base; .reg .b32 %t, %d, %x; .reg .pred %p, %q, %low, %not;
ld.param.u64 %base, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %at, %t, 56, %base;
ld.global.u32 %x, [%at]; setp.ne.u32 %p, %x, 0;
bar.red.popc.u32 %d, 0, %p; st.global.u32 [%at+8], %d;
bar.red.and.pred %q, 0, %p; selp.u32 %d, 1, 0, %q; st.global.u32 [%at+16], %d;
bar.red.or.pred %q, 1, %p; selp.u32 %d, 1, 0, %q; st.global.u32 [%at+24], %d;
bar.red.popc.u32 %d, 0, !%p; st.global.u32 [%at+32], %d;
setp.lt.u32 %low, %t, 64; @%low bra LOW;
barrier.red.popc.u32 %d, 2, 64, %p; bra END;
LOW: barrier.red.popc.u32 %d, 3, 64, %p;
END: st.global.u32 [%at+40], %d; ret;
}
";
    for round in 0..60u32 {
        let mut words = vec![0u64; 7 * THREADS as usize];
        for thread in words.chunks_exact_mut(7) {
            thread[0] = match round % 6 {
                0 => 0,
                1 => 1,
                2 => u64::from(rng.next_u32().is_multiple_of(100)),
                3 => u64::from(!rng.next_u32().is_multiple_of(100)),
                _ => u64::from(rng.next_u32() & 1),
            };
        }
        let (after, _) = ours(ptx, &words, round % 2 == 0);
        let set = |range: std::ops::Range<usize>| {
            words[7 * range.start..7 * range.end]
                .chunks(7)
                .map(|t| t[0])
                .sum::<u64>()
        };
        let (all, low) = (set(0..128), set(0..64));
        for (t, thread) in after.chunks_exact(7).enumerate() {
            let part = if t < 64 { low } else { all - low };
            let flags = (u64::from(all == 128), u64::from(all > 0));
            let expected = [words[7 * t], all, flags.0, flags.1, 128 - all, part, 0];
            assert_eq!(thread, expected, "round {round}, thread {t}");
        }
    }
}
