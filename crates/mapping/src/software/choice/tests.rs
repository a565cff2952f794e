mod variables;

use super::*;
use crate::geometry::Geometry;
use crate::hash::{Gf2Matrix, Mapping};
use crate::search::reduced;
use crate::trace::{Access, AccessTrace, Atomics, ConflictRule, Op, Wide};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// 32 lanes, 32 banks.
fn geometry() -> Geometry {
    Geometry::new(9, 5).unwrap()
}

fn phases() -> ConflictRule {
    ConflictRule {
        wide: Wide::Phases,
        atomics: Atomics::Lanes,
        ..ConflictRule::from(32)
    }
}

/// Warp accesses of (bytes, word of each lane) in `words` words.
fn trace(words: u32, accesses: Vec<(u32, Vec<u32>)>) -> AccessTrace {
    let access = |(bytes, addrs): (u32, Vec<u32>)| Access {
        warp: 0,
        pc: 0,
        op: Op::Load,
        addrs: addrs.into_iter().map(Some).collect(),
        bytes,
        increment: false,
        aggregated: false,
        extra: Default::default(),
    };
    AccessTrace {
        name: "t".to_owned(),
        source: String::new(),
        block_dim: [32, 1, 1],
        shared_bytes: 4 * words,
        warp_size: 32,
        barriers: Vec::new(),
        accesses: accesses.into_iter().map(access).collect(),
        executed: Default::default(),
        extra: Default::default(),
    }
}

/// Some strides and some scattered words.
fn mixed(seed: u64, words: u32, widest: u32) -> AccessTrace {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut below = |n: u32| rng.next_u32() % n;
    let accesses = (0..12).map(|_| {
        let width = 1 << below(widest.ilog2() + 1);
        let units = words / width;
        let (first, stride, scatter) = (below(units), 1 + below(40), below(4) == 0);
        let lane = |l: u32| {
            if scatter {
                below(units)
            } else {
                (first + l * stride) % units
            }
        };
        (4 * width, (0..32).map(lane).map(|u| u * width).collect())
    });
    trace(words, accesses.collect())
}

fn array(trace: &AccessTrace, room: u32) -> Array {
    Array::new(trace, geometry(), phases(), room)
}

/// More time than any search here needs, on a machine that does much else, too.
fn effort() -> Effort<'static> {
    Effort {
        control: Control::none(),
        budget: Duration::from_secs(1800),
    }
}

fn of_kind(found: &Choices, kind: MappingKind) -> Vec<&Choice> {
    found.ranked.iter().filter(|c| c.kind == kind).collect()
}

#[test]
fn what_is_found_is_what_it_says() {
    for (seed, words, widest) in [
        (1, 400, 1),
        (2, 400, 2),
        (3, 400, 4),
        (4, 48, 1),
        (5, 176, 1),
    ] {
        let trace = mixed(seed, words, widest);
        let array = array(&trace, 512);
        let found = choices(&array, &MappingKind::all(), &effort()).unwrap();
        for choice in &found.ranked {
            let layout = &choice.layout;
            let spec = layout.spec();
            assert_eq!(array.count(layout).conflicts, choice.conflicts, "{spec}");
            assert_eq!(
                super::super::Steps::of(layout).count(),
                choice.added,
                "{spec}"
            );
            assert!(choice.lower_bound <= choice.conflicts);
            // Every word is stored at a distinct index, within the words that the mapping uses.
            let mut seen = vec![false; (words + choice.wasted_words) as usize];
            for word in 0..words {
                let place = layout.place(word) as usize;
                assert!(!std::mem::replace(&mut seen[place], true), "{spec} {word}");
            }
            // Vectors of the trace stay whole.
            for access in &trace.accesses {
                for addr in access.addrs.iter().flatten() {
                    let place = layout.place(*addr);
                    let whole = (0..access.words()).all(|i| layout.place(addr + i) == place + i);
                    assert!(
                        whole && place.is_multiple_of(access.words()),
                        "{spec} {addr}"
                    );
                }
            }
        }
        assert!(found.ranked.is_sorted_by_key(Choice::costs));
        assert!(found.fewest_proved());
        for choice in found.ranked.iter().filter(|c| c.optimal()) {
            let better = |c: &&Choice| {
                let wastes_no_more = c.wasted_words <= choice.wasted_words;
                c.kind == choice.kind && wastes_no_more && c.conflicts < choice.conflicts
            };
            assert_eq!(
                found.ranked.iter().find(better).map(|c| c.layout.spec()),
                None
            );
        }
        assert_eq!(of_kind(&found, MappingKind::Mod).len(), 1);
        let torn: Vec<String> = found.left_out.iter().map(|(s, _)| s.to_string()).collect();
        match array.vector_words() {
            1 => assert_eq!(torn, Vec::<String>::new()),
            _ => assert_eq!(torn, ["xor", "add", "rap:seed=1"]),
        }
    }
}

/// Every padding up to twice the banks, counted by its layout.
#[test]
fn no_padding_beats_those_that_are_found() {
    for (seed, widest, room) in [(5, 1, 512), (6, 1, 420), (7, 2, 512), (8, 4, 512)] {
        let trace = mixed(seed, 320, widest);
        let array = array(&trace, room);
        let found = choices(&array, &[MappingKind::Pad], &effort()).unwrap();
        let pads = of_kind(&found, MappingKind::Pad);
        let by_cost = |wasted: u32| {
            let within = found.ranked.iter().filter(|c| c.wasted_words <= wasted);
            within.map(|c| c.conflicts).min().unwrap()
        };
        let mut fewest = u64::MAX;
        for every in 1..320 {
            for by in 1..64 {
                let layout = Layout::new(&LayoutSpec::Pad { every, by }, geometry()).unwrap();
                if array.refuses(&layout).is_some() {
                    continue;
                }
                let (conflicts, wasted) = (array.count(&layout).conflicts, array.wasted(&layout));
                assert!(by_cost(wasted) <= conflicts, "{every} {by}");
                fewest = fewest.min(conflicts);
                if let Some(own) = pads.iter().find(|c| c.layout == layout) {
                    assert_eq!((own.conflicts, own.wasted_words), (conflicts, wasted));
                }
            }
        }
        let searched = pads.iter().filter(|c| c.method == "exhaustive");
        assert!(searched.clone().all(|c| c.optimal()));
        // The identity may be as good as any.
        let best = searched.map(|c| c.conflicts).min();
        let unpadded = of_kind(&found, MappingKind::Mod)[0].conflicts;
        assert_eq!(best.unwrap_or(unpadded), fewest.min(unpadded));
    }
}

/// All pairs of shifted copies, by their matrices.
#[test]
fn no_two_shifts_beat_those_that_are_found() {
    let mut improved = 0;
    for seed in 10..16 {
        let trace = mixed(seed, 512, 1);
        let array = array(&trace, 512);
        let kinds = [
            MappingKind::Hash(HashKind::BitvecXor),
            MappingKind::TwoShifts,
        ];
        let found = choices(&array, &kinds, &effort()).unwrap();
        let best = found.best().conflicts;
        let mut fewest = u64::MAX;
        for (d, e) in (1..9).flat_map(|d| (d + 1..9).map(move |e| (d, e))) {
            for (p, q) in (0..32u32).flat_map(|p| (0..32u32).map(move |q| (p, q))) {
                let row = |j: u32| {
                    let copy = |mask: u32, d: u32| (mask >> j & 1) << (j + d) & 0x1ff;
                    1 << j ^ copy(p, d) ^ copy(q, e)
                };
                let rows: Vec<u32> = (0..5).map(row).collect();
                fewest = fewest.min(array.problem().passes().conflicts(&rows, u64::MAX));
            }
        }
        // One copy is among them, with an empty mask for the other.
        assert_eq!(best.min(fewest), fewest, "{seed}");
        let two = of_kind(&found, MappingKind::TwoShifts);
        improved += two.len();
        for choice in two {
            assert!(choice.added <= 4 && choice.optimal());
            assert_eq!((choice.conflicts, choice.wasted_words), (fewest, 0));
        }
    }
    assert!(improved > 0);
}

#[test]
fn arranged_mappings_have_the_same_banks_but_for_their_names() {
    let trace = mixed(21, 512, 1);
    let array = array(&trace, 512);
    let found = choices(&array, &MappingKind::all(), &effort()).unwrap();
    for kind in [HashKind::BitwiseXor, HashKind::Matrix] {
        for choice in of_kind(&found, MappingKind::Hash(kind)) {
            let LayoutSpec::Hash(spec) = choice.layout.spec() else {
                panic!("{}", choice.layout.spec());
            };
            let mapping = Mapping::new(spec, geometry()).unwrap();
            let crate::hash::BankFunction::Linear(matrix) = mapping.bank_function() else {
                panic!("{spec}");
            };
            // Reduced: a bank bit whose pivot is a bank bit is that bit.
            let pivots = Gf2Matrix::from_rows(matrix.rows().to_vec()).lowest_pivots();
            for bit in (0..5).filter(|bit| pivots >> bit & 1 == 1) {
                assert_eq!(matrix.rows()[bit as usize].trailing_zeros(), bit, "{spec}");
            }
            let mut sorted = matrix.rows().to_vec();
            sorted.sort_by_key(|row| row.trailing_zeros());
            assert_eq!(sorted, reduced(matrix.rows()), "{spec}");
        }
    }
}

#[test]
fn the_front_is_what_nothing_beats() {
    let trace = mixed(30, 500, 1);
    let found = choices(&array(&trace, 1000), &MappingKind::all(), &effort()).unwrap();
    let front: Vec<_> = found.ranked.iter().filter(|c| c.front).collect();
    assert!(front.len() > 1 && front.len() < found.ranked.len());
    for choice in &found.ranked {
        let own = choice.costs();
        let beats = |c: &&&Choice| {
            let other = c.costs();
            other != own && other.0 <= own.0 && other.1 <= own.1 && other.2 <= own.2
        };
        if choice.front {
            assert_eq!(found.ranked.iter().filter(|c| beats(&c)).count(), 0)
        } else {
            let equal = front.iter().any(|c| c.costs() == own);
            assert!(equal || front.iter().any(|c| beats(&c)));
        }
    }
}

/// Conflicts plainly, of accesses of a word.
struct Plainly<'a>(&'a AccessTrace);

impl Plainly<'_> {
    fn count(&self, bank: impl Fn(u32) -> u32) -> u64 {
        let of = |access: &Access| {
            let mut words: Vec<u32> = access.addrs.iter().copied().flatten().collect();
            words.sort_unstable();
            words.dedup();
            let load = |b: u32| words.iter().filter(|w| bank(**w) == b).count() as u64;
            (0..32).map(load).max().unwrap_or(1) - 1
        };
        self.0.accesses.iter().map(of).sum()
    }
}

/// 128-bit stores by rows and loads by columns.
#[test]
fn narrower_accesses_leave_fewer_conflicts() {
    let rows = (0..8).map(|r| (16, (0..32).map(|l| 128 * (r % 4) + 4 * l).collect()));
    let columns = (0..16).map(|c| (4, (0..32).map(|l| 16 * l + c).collect()));
    let trace = trace(512, rows.chain(columns).collect());
    let own = array(&trace, 512);
    let found = choices(&own, &MappingKind::all(), &effort()).unwrap();
    assert_eq!(found.best().max_degree, 4);
    let found = narrower(
        &trace,
        geometry(),
        phases(),
        (&own, &found),
        &MappingKind::all(),
        &effort(),
    );
    let found = found.unwrap();
    let best: Vec<_> = found
        .iter()
        .map(|n| (n.bytes, n.array.accesses(), n.choices.best().max_degree))
        .collect();
    assert_eq!(best, [(8, 32, 2), (4, 48, 1)]);
}

/// Vectors that stay whole bound the conflicts of words: what reaches the bound
/// is proved, whatever became of the searches.
#[test]
fn what_reaches_the_bound_of_whole_vectors_is_proved_without_a_search() {
    let rows = (0..8).map(|r| (16, (0..32).map(|l| 128 * (r % 4) + 4 * l).collect()));
    let columns = (0..16).map(|c| (4, (0..32).map(|l| 16 * l + c).collect()));
    let array = array(&trace(512, rows.chain(columns).collect()), 512);
    let no_time = Effort {
        budget: Duration::ZERO,
        ..effort()
    };
    let kinds = [
        MappingKind::Swizzle,
        MappingKind::Pad,
        MappingKind::Hash(HashKind::Matrix),
    ];
    let found = choices(&array, &kinds, &no_time).unwrap();
    // Each of 16 columns: 32 words in eight banks.
    assert_eq!((found.any_floor, found.floor), (0, 16 * 3));
    assert_eq!(found.best().kind, MappingKind::Swizzle);
    assert!(found.best().conflicts == found.floor && found.fewest_proved());
}

#[test]
fn a_stopped_search_proves_nothing() {
    let trace = mixed(40, 512, 1);
    let stopped = Effort {
        control: Control::none().stop_when(&|| true),
        budget: Duration::from_secs(1),
    };
    let found = choices(&array(&trace, 512), &MappingKind::all(), &stopped).unwrap();
    assert_eq!(found.ranked.len(), 1);
    assert!(!found.fewest_proved() && !found.best().optimal());
}

/// `wgmma` computes the addresses from its descriptor.
#[test]
fn what_a_descriptor_names_has_no_mapping() {
    let mut trace = trace(1024, vec![(4, (0..32).map(|l| 32 * l).collect())]);
    let found = |trace: &AccessTrace| {
        let kinds = MappingKind::all();
        choices(&array(trace, 2048), &kinds, &effort()).unwrap()
    };
    assert_eq!(found(&trace).best().conflicts, 0);
    let extra = &mut trace.accesses[0].extra;
    extra.insert(crate::trace::BY_DESCRIPTOR_FIELD.to_owned(), true.into());
    let found = found(&trace);
    assert_eq!(found.ranked.len(), 1);
    assert_eq!((found.best().conflicts, found.none_fewer), (31, None));
    let reasons = found.left_out.iter().map(|(_, why)| *why);
    assert!(reasons.eq([Refusal::Descriptor; 2]));
}

/// A bulk copy without a tensor map takes words in their order.
#[test]
fn what_a_bulk_copy_keeps_in_order_has_no_mapping() {
    let column: Vec<u32> = (0..32).map(|l| 32 * l).collect();
    let mut trace = trace(1024, vec![(4, column)]);
    let copy = |offset: u32, stores: bool| serde_json::json!([{"ptx_line": 7, "stores": stores, "offset": offset, "bytes": 64}]);
    let mut found = |copies: serde_json::Value| {
        let field = crate::trace::BULK_COPIES_FIELD.to_owned();
        trace.extra.insert(field, copies);
        let kinds = MappingKind::all();
        choices(&array(&trace, 2048), &kinds, &effort()).unwrap()
    };
    for stores in [false, true] {
        let found = found(copy(128, stores));
        assert_eq!((found.ranked.len(), found.best().conflicts), (1, 31));
        assert_eq!(found.none_fewer, None);
        let reasons = found.left_out.iter().map(|(_, why)| *why);
        assert!(reasons.eq([Refusal::InOrder(stores); 2]));
    }
    assert_eq!(found(serde_json::json!([])).best().conflicts, 0);
}

#[test]
fn kinds_have_names() {
    for kind in MappingKind::all() {
        assert_eq!(kind.name().parse::<MappingKind>().unwrap(), kind);
    }
    let error = "nope".parse::<MappingKind>().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("'nope' is not a kind of mapping")
    );
}

/// Two lanes in rows whose shifts are in one word of the table: its load takes as long as
/// the conflict that it removes.
#[test]
fn a_table_costs_its_look_ups() {
    let kinds = [MappingKind::Rap];
    let found = choices(
        &array(&trace(512, vec![(4, vec![0, 32])]), 512),
        &kinds,
        &effort(),
    );
    let found = found.unwrap();
    let costs = |kind| {
        let choice = found.ranked.iter().find(|c| c.kind == kind).unwrap();
        (choice.conflicts, choice.look_ups)
    };
    assert_eq!(
        (costs(MappingKind::Mod), costs(MappingKind::Rap)),
        ((1, 0), (0, 1))
    );
    assert_eq!(found.best().kind, MappingKind::Mod);
    // Sixteen rows are in three words, each loaded for the lanes that need it.
    let column: Vec<u32> = (0..16).map(|row| 32 * row).collect();
    let of_column = array(&trace(512, vec![(4, column.clone()), (4, column)]), 512);
    let layout = |spec: &str| Layout::new(&spec.parse().unwrap(), geometry()).unwrap();
    assert_eq!(of_column.look_ups(&layout("rap:seed=1")), 2 * 3);
    assert_eq!(of_column.look_ups(&layout("swizzle:4,0,5")), 0);
}
