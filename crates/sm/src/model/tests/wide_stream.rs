//! `spad_wide_stream` (microarchitecture/phases.md), compared with the counts of
//! `conflicts`, and with a memory that knows no phases.

use crate::config::Config;
use crate::model::spad_scratchpad::op;
use crate::model::{MAX_LANES, MAX_WORDS, WideAnswer, WideRequest, WideStream, WideStreamInputs};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use spadkit_mapping::trace::{Access, ConflictProfile, Op};
use std::collections::VecDeque;

/// Random accesses of 4, 8 and 16 bytes a lane: spread, by strides, in pairs, of some
/// lanes only.
fn accesses(count: usize, words: u32, seed: u64) -> Vec<Access> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut below = move |end: u32| rng.next_u32() % end;
    let mut access = |_| {
        let size = 1 << below(3);
        let (start, stride) = (below(words / 2), below(33));
        let kind = below(5);
        let active = [u32::MAX, u32::MAX, below(u32::MAX)][below(3) as usize];
        let place = |lane: u32| match kind {
            0 => start + lane * stride,
            1 => start + (lane & !1) * stride,
            2 => start + (lane & !2) * stride,
            3 => start + (lane >> 2) * stride,
            _ => start ^ (lane * lane * 7 + stride),
        };
        let addr =
            |lane: u32| (active >> lane & 1 == 1).then(|| (place(lane) % words) & !(size - 1));
        Access {
            warp: 0,
            pc: 0,
            op: [Op::Load, Op::Store][below(2) as usize],
            addrs: (0..32).map(addr).collect(),
            bytes: size * 4,
            increment: false,
            aggregated: false,
            extra: Default::default(),
        }
    };
    (0..count).map(&mut access).collect()
}

fn request(access: &Access, data: Vec<[u64; MAX_WORDS]>) -> WideRequest {
    let mut addr = [0; MAX_LANES];
    let mut mask = 0;
    for (lane, at) in access.addrs.iter().enumerate() {
        addr[lane] = at.unwrap_or(0) as u16;
        mask |= u64::from(at.is_some()) << lane;
    }
    WideRequest {
        op: if access.op == Op::Load {
            op::LOAD
        } else {
            op::STORE
        },
        atomic: None,
        size: access.words().trailing_zeros() as u8,
        mask,
        addr,
        data,
        be: [0xf; MAX_LANES],
        tag: 0,
    }
}

/// Cycles from the first request to the last answer, and the answers.
fn run(config: &Config, requests: Vec<WideRequest>) -> (u64, Vec<WideAnswer>) {
    let mut unit = WideStream::new(config);
    let mut offers: VecDeque<WideRequest> = requests.into();
    let (count, mut answers, mut cycles) = (offers.len(), Vec::new(), 0);
    while answers.len() < count {
        answers.extend(unit.answer());
        let taken = unit.req_ready();
        unit.commit(WideStreamInputs::offering(offers.front().cloned()));
        if taken {
            offers.pop_front();
        }
        cycles += 1;
        assert!(cycles < 1_000_000, "{} of {count} answered", answers.len());
    }
    (cycles, answers)
}

/// Without an answer taken, `spad_stream` fills up, and a last access waits.
#[test]
fn the_queue_of_accesses_never_stops_one() {
    for (stages, window) in [(2, 0), (4, 0), (2, 2), (2, 8)] {
        let text = format!("base = 'sm80'\n[stream]\nmem_stages = {stages}\nwindow = {window}\n");
        let config = Config::from_toml(&text, std::path::Path::new("t.toml")).unwrap();
        let access = request(&accesses(1, 32, 1)[0], vec![[0; MAX_WORDS]; 32]);
        let access = WideRequest { size: 0, ..access };
        let (mut unit, mut taken) = (WideStream::new(&config), 0);
        for _ in 0..100 {
            taken += u32::from(unit.req_ready());
            unit.commit(WideStreamInputs {
                rsp_ready: false,
                ..WideStreamInputs::offering(Some(access.clone()))
            });
        }
        assert_eq!(taken, 2 + stages.max(window) + 2 + 1, "{text}");
    }
}

#[test]
fn wide_accesses_take_the_wavefronts_that_are_counted() {
    for preset in ["sm70", "sm80", "sm90"] {
        let config = Config::preset(preset).unwrap();
        let words = config.capacity_words;
        let accesses = accesses(400, words, 7);
        let none = vec![[0; MAX_WORDS]; 32];
        let requests = accesses.iter().map(|a| request(a, none.clone())).collect();
        let (cycles, answers) = run(&config, requests);
        let rule = config.conflict_rule();
        let counted = |access: &Access| {
            let one = ConflictProfile::of(std::iter::once(access), &rule);
            one.count(|word| word % 32).wavefronts()
        };
        let mut all = 0;
        for (access, answer) in accesses.iter().zip(&answers) {
            let wavefronts = counted(access);
            assert_eq!(
                u64::from(answer.control.degree),
                wavefronts,
                "{preset}: {access:?}"
            );
            // An access without active lanes goes through, too.
            all += wavefronts.max(1);
        }
        // A wavefront a cycle from the first to the last; what is left is latency.
        assert!(
            (all..all + 8).contains(&cycles),
            "{preset}: {cycles} for {all}"
        );
    }
}

/// Words in program order, byte for byte as the contract has them.
#[test]
fn loads_return_what_was_stored_before() {
    for (preset, window) in [("sm80", 0), ("sm90", 4)] {
        let mut config = Config::preset(preset).unwrap();
        config.path.stream.window = window;
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut memory = vec![0; config.capacity_words as usize];
        // Few words, so that loads meet what was stored.
        let accesses = accesses(600, 256, 3);
        let mut expected = Vec::new();
        let mut requests = Vec::new();
        for access in &accesses {
            let words = access.words() as usize;
            let data: Vec<[u64; MAX_WORDS]> = (0..32)
                .map(|_| [(); MAX_WORDS].map(|()| rng.next_u32().into()))
                .collect();
            let mut shown = vec![[0; MAX_WORDS]; 32];
            // Later phases have the last word, within a phase its lowest lane has.
            let lanes_of_phase = 32 / words;
            for phase in 0..words {
                let lanes = phase * lanes_of_phase..(phase + 1) * lanes_of_phase;
                for lane in lanes.rev() {
                    let Some(at) = access.addrs[lane] else {
                        continue;
                    };
                    for word in 0..words {
                        let stored = &mut memory[at as usize + word];
                        match access.op {
                            Op::Load => shown[lane][word] = *stored,
                            _ => *stored = data[lane][word],
                        }
                    }
                }
            }
            expected.push((access.op == Op::Load).then_some(shown));
            requests.push(request(access, data));
        }
        let (_, answers) = run(&config, requests);
        for (answer, expected) in answers.iter().zip(&expected) {
            if let Some(words) = expected {
                assert_eq!(&answer.data, words, "{preset}");
            }
        }
    }
}
