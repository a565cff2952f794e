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

fn assert_same(spec: &str, kernel: &Kernel) {
    if let Err(e) = std::panic::catch_unwind(|| same(spec, kernel)) {
        eprintln!("XX {spec} {}", e.downcast_ref::<String>().unwrap());
    }
}
fn same(spec: &str, kernel: &Kernel) {
    let (wanted, got) = (generated(spec), executed(kernel));
    assert_eq!(got.len(), wanted.len(), "{spec}: intervals");
    for (i, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
        let missing = wanted.iter().find(|(k, n)| got.get(*k) != Some(n));
        let surplus = got.iter().find(|(k, n)| wanted.get(*k) != Some(n));
        assert!(
            got == wanted,
            "{spec}, interval {i}: missing {missing:?}, surplus {surplus:?}"
        );
    }
}

#[test]
fn the_same_accesses_as_the_generated_traces() {
    let load = Kernel::load;
    assert_same("transpose:tile=16", &load("transpose", "transpose"));
    assert_same(
        "transpose:tile=16,pad=1",
        &load("transpose", "transpose_padded"),
    );
    assert_same("reduction:threads=256", &load("reduction", "reduction"));
    assert_same("fwt:log2n=11", &load("fwt", "fwt"));
    assert_same("fft:log2n=10", &load("fft", "fft_radix2"));
    assert_same("conv-rows", &load("convolution", "conv_rows"));
    assert_same("dct8x8", &load("dct8x8", "dct_plain"));
    assert_same("dct8x8:pad=1", &load("dct8x8", "dct"));
    assert_same("nw:block=16", &load("nw", "nw_upper"));
    assert_same("scan:threads=256", &load("scan", "scan"));
    assert_same("bitonic:log2n=10", &load("sort", "bitonic"));
    assert_same("matmul:tile=32,tiles=2", &load("matmul", "matmul"));
    assert_same("backprop", &load("backprop", "layer_forward"));
    assert_same(
        "lavamd:particles=100",
        &load("lavamd", "lavamd").grid([1, 1, 1]),
    );
}
