//! What observers are told of a product: the reads of its factors, then the
//! product.

use super::*;
use std::sync::Mutex;

/// Warp, lanes and addresses of each access; none of the product.
type Seen = (u32, Option<(u32, Vec<u64>)>);

#[derive(Default)]
struct Recorder(Mutex<Vec<Seen>>);

struct Block<'a>(&'a Recorder);

impl Sink for Recorder {
    fn block(&self, _block: [u32; 3]) -> Option<Box<dyn BlockSink + '_>> {
        Some(Box::new(Block(self)))
    }
}

impl BlockSink for Block<'_> {
    fn instruction(&mut self, event: &Event) {
        let access = event.access.filter(|a| a.bytes == 16);
        let seen = access.map(|a| {
            assert_eq!(event.exec, a.lanes);
            let lanes = (0..32).filter(|lane| a.lanes >> lane & 1 == 1);
            (a.lanes, lanes.map(|lane| a.addresses[lane]).collect())
        });
        self.0.0.lock().unwrap().push((event.warp, seen));
    }
}

#[test]
fn observers_see_the_reads_of_both_factors() {
    let mut p = Product::new(24, "f32.f16.f16", false);
    p.descriptors = [descriptor(0, 1, 16, 1024), descriptor(OF_B, 3, 16, 256)];
    let recorder = Recorder::default();
    let words = {
        let mut words = vec![0; WORDS];
        for (n, bits) in p.descriptors.iter().enumerate() {
            words[DESCRIPTORS + 2 * n] = *bits as u32;
            words[DESCRIPTORS + 2 * n + 1] = (bits >> 32) as u32;
        }
        words
    };
    run_block(&p.kernel(), &words, THREADS, |o| o.sink = Some(&recorder));
    let seen = recorder.0.into_inner().unwrap();
    let reads: Vec<_> = seen
        .iter()
        .filter_map(|(warp, access)| Some((*warp, access.as_ref()?)))
        .collect();
    // Each warp its rows of a; the first b, too: 24 columns of two pieces.
    let lanes: Vec<(u32, u32)> = reads.iter().map(|(w, a)| (*w, a.0.count_ones())).collect();
    assert_eq!(
        lanes,
        [(0, 32), (0, 32), (0, 16), (1, 32), (2, 32), (3, 32)]
    );
    for (warp, (_, addresses)) in &reads {
        // Eight at a time, in all banks.
        for phase in addresses.chunks(8) {
            let banks: std::collections::BTreeSet<u64> = phase.iter().map(|a| a / 16 % 8).collect();
            assert_eq!(banks.len(), 8, "{warp} {phase:?}");
        }
    }
    let all = |n: usize| reads[n].1.1.iter().copied();
    let of_b: std::collections::BTreeSet<u64> = all(1).chain(all(2)).collect();
    let expected = (0..48).map(|n| u64::from(OF_B) + 16 * n);
    assert_eq!(
        of_b,
        expected.collect(),
        "24 runs of 32 bytes, each piece once"
    );
}
