//! What the kernels do to shared memory against the generated traces of the
//! same algorithms (which equal recorded ones), per barrier interval and warp
//! as multisets: compilers reorder accesses, merge and drop some.

use crate::harness::Kernel;
use spadkit::ptx::Space;
use spadkit::ptx::exec::{BlockSink, Event, Kind, Options, Sink};
use spadkit::trace::{AccessTrace, Op, kernels};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Warp, operation, bytes a lane, word addresses of the lanes.
type What = (u32, &'static str, u32, Vec<Option<u32>>);
/// How often each access occurs between two barriers.
type Interval = BTreeMap<What, usize>;

fn op_name(op: Op) -> &'static str {
    match op {
        Op::Load => "load",
        Op::Store => "store",
        Op::Atomic => "atomic",
    }
}

/// The intervals in which anything happens.
fn generated(spec: &str) -> Vec<Interval> {
    let trace: AccessTrace = kernels::generate(spec).unwrap();
    let mut intervals = vec![Interval::new(); trace.barriers.len() + 1];
    for (i, access) in trace.accesses.iter().enumerate() {
        let at = trace.barriers.partition_point(|b| *b as usize <= i);
        let what = (
            access.warp,
            op_name(access.op),
            access.bytes,
            access.addrs.clone(),
        );
        *intervals[at].entry(what).or_default() += 1;
    }
    intervals.retain(|i| !i.is_empty());
    intervals
}

/// Records block 0.
struct Recorder {
    kinds: Vec<Kind>,
    done: Mutex<Vec<Interval>>,
}

struct Recording<'a> {
    recorder: &'a Recorder,
    intervals: Vec<Interval>,
}

impl Sink for Recorder {
    fn block(&self, block: [u32; 3]) -> Option<Box<dyn BlockSink + '_>> {
        let recording = || Recording {
            recorder: self,
            intervals: vec![Interval::new()],
        };
        (block == [0; 3]).then(|| Box::new(recording()) as Box<dyn BlockSink>)
    }
}

impl BlockSink for Recording<'_> {
    fn instruction(&mut self, event: &Event) {
        let Some(access) = event.access.filter(|a| a.space == Space::Shared) else {
            return;
        };
        let name = match self.recorder.kinds[event.pc as usize] {
            Kind::Load => "load",
            Kind::Store => "store",
            _ => "atomic",
        };
        let lane = |l: usize| (event.exec >> l & 1 == 1).then(|| access.addresses[l] as u32 / 4);
        let what = (event.warp, name, access.bytes, (0..32).map(lane).collect());
        if event.exec != 0 {
            *self.intervals.last_mut().unwrap().entry(what).or_default() += 1;
        }
    }

    fn barrier_passed(&mut self, _barrier: u32) {
        self.intervals.push(Interval::new());
    }

    fn finish(mut self: Box<Self>) {
        self.intervals.retain(|i| !i.is_empty());
        *self.recorder.done.lock().unwrap() = self.intervals;
    }
}

/// What block 0 of a kernel does, as its launch file says.
fn executed(kernel: &Kernel) -> Vec<Interval> {
    let mut prepared = kernel.file.prepare().unwrap();
    let entry = prepared.launches()[0].entry.clone();
    let instructions = prepared.program().instructions(&entry).unwrap();
    let recorder = Recorder {
        kinds: instructions.iter().map(|i| i.kind).collect(),
        done: Mutex::default(),
    };
    let options = Options {
        sink: Some(&recorder),
        only_block: Some(0),
        ..Options::default()
    };
    prepared.run(&options).unwrap();
    recorder.done.into_inner().unwrap()
}

/// How compilers change what the source says.
#[derive(Clone, Copy, PartialEq)]
enum Compared {
    /// Not at all.
    Exactly,
    /// Neighbouring words are accessed by one wide access: it is taken apart.
    ByWords,
    /// A word that is accessed again between two barriers stays in a register
    /// instead: how often is not compared.
    Once,
}

impl Compared {
    fn of(self, interval: Interval) -> Interval {
        let mut out = Interval::new();
        for ((warp, op, bytes, addrs), count) in interval {
            let parts = if self == Compared::ByWords {
                bytes / 4
            } else {
                1
            };
            for part in 0..parts {
                let addrs = addrs.iter().map(|a| a.map(|a| a + part)).collect();
                *out.entry((warp, op, bytes / parts, addrs)).or_default() += count;
            }
        }
        if self == Compared::Once {
            out.values_mut().for_each(|count| *count = 1);
        }
        out
    }
}

/// What differs; empty where nothing does.
fn difference(spec: &str, kernel: &Kernel, how: Compared) -> String {
    let (wanted, got) = (generated(spec), executed(kernel));
    if got.len() != wanted.len() {
        return format!("{spec}: {} intervals, not {}\n", got.len(), wanted.len());
    }
    // At the end of the scan all threads of the radix sort read the total, here
    // thread 0 alone.
    let compared = got.len() - usize::from(spec.starts_with("scan"));
    let pairs = got.into_iter().zip(wanted).take(compared).enumerate();
    let differences = pairs.filter_map(|(i, (got, wanted))| {
        let (got, wanted) = (how.of(got), how.of(wanted));
        let missing = wanted.iter().find(|(k, n)| got.get(*k) != Some(n));
        let surplus = got.iter().find(|(k, n)| wanted.get(*k) != Some(n));
        (got != wanted).then(|| {
            let counts = (got.values().sum::<usize>(), wanted.values().sum::<usize>());
            format!("{spec}, interval {i}, {counts:?}: missing {missing:?}, surplus {surplus:?}\n")
        })
    });
    differences.take(1).collect()
}

#[test]
fn the_same_accesses_as_the_generated_traces() {
    use Compared::{ByWords, Exactly, Once};
    let cases = [
        ("transpose:tile=16", "transpose/transpose", Exactly),
        (
            "transpose:tile=16,pad=1",
            "transpose/transpose_padded",
            Exactly,
        ),
        ("reduction:threads=256", "reduction/reduction", Exactly),
        ("fwt:log2n=11", "fwt/fwt", ByWords),
        ("fft:log2n=10", "fft/fft_radix2", Exactly),
        ("conv-rows", "convolution/conv_rows", Exactly),
        ("dct8x8", "dct8x8/dct_plain", Exactly),
        ("dct8x8:pad=1", "dct8x8/dct", Exactly),
        ("nw:block=16", "nw/nw_upper", Exactly),
        ("scan:threads=256", "scan/scan", Once),
        ("bitonic:log2n=10", "sort/bitonic", Exactly),
        ("matmul:tile=32,tiles=2", "matmul/matmul", Exactly),
        ("backprop", "backprop/layer_forward", Exactly),
        ("lavamd:particles=100", "lavamd/lavamd", Once),
    ];
    let differences = cases.map(|(spec, kernel, how)| {
        let (family, name) = kernel.split_once('/').unwrap();
        let mut kernel = Kernel::load(family, name);
        if name == "lavamd" {
            // The generated trace has the home box alone.
            kernel = kernel.grid([1, 1, 1]);
        }
        if name == "scan" {
            // The first launch alone; the others use the same kernel.
            kernel = kernel.alone(4);
        }
        difference(spec, &kernel, how)
    });
    let all = differences.concat();
    assert!(all.is_empty(), "{all}");
}
