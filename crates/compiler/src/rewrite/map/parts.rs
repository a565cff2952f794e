//! A region whose parts have layouts of their own.
//!
//! Each part is mapped as if it began at the base, and then moved behind the
//! parts before it, to a multiple of the banks. If the part of an address is not
//! known statically, the results for all parts are computed and one is selected.

use super::{Map, WORD};
use crate::rewrite::code::{Arg, Op};
use spadkit_mapping::software::Layout;
use std::ops::Range;

/// Some words of a region, and how they are mapped.
struct Segment {
    words: Range<u32>,
    /// The map of the words, counted from the first; none if they are kept together.
    map: Option<Map>,
    /// The new index of its first word.
    to: u32,
}

impl Map {
    /// A map of `words` words with these parts under layouts of their own, in the
    /// order of their words; others stay together. With it the maps for
    /// addresses that are certainly in one of the parts.
    pub fn of_parts(parts: &[(Range<u32>, Layout)], words: u32, banks: u32) -> (Map, Vec<Map>) {
        let segments = segments(parts, words, banks);
        let places = |s: &Segment| -> Vec<u32> {
            let own = |i: u32| s.map.as_ref().map_or(i, |map| map.places[i as usize]);
            (0..s.words.len() as u32).map(|i| s.to + own(i)).collect()
        };
        let maps = || segments.iter().filter_map(|s| s.map.as_ref());
        let table: Vec<u32> = maps().flat_map(|map| map.table.clone()).collect();
        let all: Vec<u32> = segments.iter().flat_map(places).collect();
        let whole = Map {
            first: 0,
            needed: all.iter().map(|p| p + 1).max().unwrap_or(0),
            places: all,
            align: maps()
                .map(|m| m.align)
                .max()
                .unwrap_or(WORD)
                .max(banks * WORD),
            period: None,
            ops: Vec::new(),
            table,
        };
        let mut ops = Ops(Vec::new());
        let offset = ops.push(Op::Sub(Arg::Input, Arg::Base));
        let (mut chosen, mut from, mut views) = (None, 0, Vec::new());
        for segment in &segments {
            let value = ops.moved(segment, from);
            chosen = Some(match chosen {
                None => value,
                Some(below) => {
                    let by = ops.plus(offset, (segment.words.start * WORD).wrapping_neg());
                    ops.push(Op::Pick {
                        by,
                        above: value,
                        below,
                    })
                }
            });
            if let Some(map) = &segment.map {
                let mut own = Ops(Vec::new());
                own.moved(segment, from);
                views.push(Map {
                    first: segment.words.start,
                    places: places(segment),
                    period: map.period,
                    ops: own.0,
                    ..whole.clone()
                });
                from += map.table.len() as u32;
            }
        }
        // The selected result is the last operation, unless nothing moves.
        let moves = !whole.is_identity();
        let ops = if moves { ops.0 } else { Vec::new() };
        (Map { ops, ..whole }, views)
    }
}

fn segments(parts: &[(Range<u32>, Layout)], words: u32, banks: u32) -> Vec<Segment> {
    let mut list: Vec<Segment> = Vec::new();
    // The end of the words so far, before and after mapping.
    let (mut at, mut end) = (0, 0);
    let rest = |words: Range<u32>, end: &mut u32, list: &mut Vec<Segment>| {
        if words.is_empty() {
            return;
        }
        // In the same banks as before.
        let behind = end.saturating_sub(words.start).next_multiple_of(banks);
        let to = words.start + behind;
        *end = to + words.len() as u32;
        list.push(Segment {
            words,
            map: None,
            to,
        });
    };
    for (own, layout) in parts {
        rest(at..own.start, &mut end, &mut list);
        let map = Map::new(layout, own.len() as u32);
        let to = end.max(own.start).next_multiple_of(banks);
        (at, end) = (own.end, to + map.needed);
        list.push(Segment {
            words: own.clone(),
            map: Some(map),
            to,
        });
    }
    rest(at..words, &mut end, &mut list);
    list
}

struct Ops(Vec<Op>);

impl Ops {
    fn push(&mut self, op: Op) -> Arg {
        self.0.push(op);
        Arg::Op(self.0.len() - 1)
    }

    fn plus(&mut self, value: Arg, constant: u32) -> Arg {
        match constant {
            0 => value,
            _ => self.push(Op::Plus(value, constant)),
        }
    }

    /// The mapped address in a segment, whose table begins at word `from`.
    fn moved(&mut self, segment: &Segment, from: u32) -> Arg {
        let (start, to) = (segment.words.start * WORD, segment.to * WORD);
        let Some(map) = segment.map.as_ref().filter(|map| !map.ops.is_empty()) else {
            return self.plus(Arg::Input, to.wrapping_sub(start));
        };
        let input = self.plus(Arg::Input, start.wrapping_neg());
        let mut results: Vec<Arg> = Vec::new();
        for op in &map.ops {
            let arg = |arg: Arg| match arg {
                Arg::Input => input,
                Arg::Base => Arg::Base,
                Arg::Op(at) => results[at],
            };
            let op = match op.with_args(arg, arg) {
                Op::Entry(row) => Op::Entry(self.plus(row, from)),
                op => op,
            };
            let result = self.push(op);
            results.push(result);
        }
        let place = results.last().copied().unwrap_or(input);
        self.plus(place, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spadkit_mapping::geometry::Geometry;

    fn layout(spec: &str) -> Layout {
        let geometry = Geometry::new(14, 5).unwrap();
        Layout::new(&spec.parse().unwrap(), geometry).unwrap()
    }

    /// Every byte goes where its part's layout maps it, from any base; no two go to one address.
    #[test]
    fn each_part_has_its_own_places() {
        let specs = [
            ["pad:every=32,by=1", "swizzle:3,2,3"],
            ["rap:seed=3", "rap:seed=4"],
            ["xor", "add"],
            ["mod", "pad:every=33,by=3"],
        ];
        for [first, second] in specs {
            let [first, second] = [first, second].map(layout);
            let parts = [(8..1032, first), (1040..1552, second)];
            let (whole, views) = Map::of_parts(&parts, 1600, 32);
            let mut taken = vec![false; whole.needed as usize];
            for byte in 0..6400 {
                let place = whole.place(byte).unwrap();
                for base in [1, 5, 37].map(|odd| odd * whole.align()) {
                    assert_eq!(whole.evaluate(base, byte), place, "{byte}");
                }
                assert_eq!(place % 4, byte % 4);
                let word = &mut taken[(place / 4) as usize];
                assert!(!std::mem::replace(word, true) || byte % 4 != 0);
                let word = byte as u32 / 4;
                let own = parts.iter().position(|(words, _)| words.contains(&word));
                for (at, view) in views.iter().enumerate() {
                    let expected = (own == Some(at)).then_some(place);
                    assert_eq!(view.place(byte), expected);
                    if own == Some(at) {
                        assert_eq!(view.evaluate(whole.align() * 3, byte), place);
                        let (start, layout) = (parts[at].0.start, &parts[at].1);
                        let bank = layout.bank(word - start);
                        assert_eq!(place as u32 / 4 % 32, bank, "{word}");
                    }
                }
                if own.is_none() {
                    assert_eq!(place as u32 % 128, byte as u32 % 128);
                }
            }
        }
    }

    #[test]
    fn wide_accesses_are_torn_by_their_own_part_alone() {
        let parts = [
            (0..1024, layout("pad:every=32,by=1")),
            (1024..1088, layout("mod")),
        ];
        let (whole, _) = Map::of_parts(&parts, 1088, 32);
        assert!(whole.torn(4, None).is_some());
        assert!(whole.torn(4, Some((0, 4092))).is_some());
        assert_eq!(whole.torn(4, Some((4096, 4336))), None);
    }
}
