//! The exhaustive bit-vector XOR search against a plain loop over
//! configurations and accesses, and how the search scales.
//!
//! `cargo bench -p spadkit-benches --bench search` prints the ratios measured in this one run,
//! then criterion's figures.

mod timing;

use criterion::{BenchmarkId, Criterion, Throughput};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::ThreadPool;
use spadkit::geometry::Geometry;
use spadkit::search::bitvec::{all_pairs, search_xor};
use spadkit::search::{Control, Problem};
use spadkit::trace::{AccessTrace, ConflictProfile, kernels};
use std::hint::black_box;
use timing::timed;

const LANES: usize = 32;
const ACCESSES: usize = 4000;

type Accesses = Vec<Vec<Option<u32>>>;

fn geometry() -> Geometry {
    Geometry::new(14, 5).expect("a supported geometry")
}

/// Accesses with the stride of each of several instructions, from random
/// offsets that are no multiple of anything: what loops over tiles do.
fn strided(count: usize) -> Accesses {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let strides = [1, 2, 8, 16, 17, 32, 48, 96];
    let access = |i: usize| {
        let stride = strides[i % strides.len()];
        let offset = rng.next_u32() % (12288 - 31 * stride);
        (0..LANES as u32)
            .map(|lane| Some(offset + lane * stride))
            .collect()
    };
    (0..count).map(access).collect()
}

/// Uniform random addresses: no two passes alike, nothing to merge.
fn random(count: usize) -> Accesses {
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    let mut access = || (0..LANES).map(|_| Some(rng.next_u32() % 12288)).collect();
    (0..count).map(|_| access()).collect()
}

/// The accesses of generated kernels, one after the other and over again.
fn kernels(count: usize) -> Accesses {
    let names = [
        "transpose",
        "reduction",
        "fwt",
        "lavamd",
        "nw",
        "dct8x8",
        "hist256",
    ];
    let traces: Vec<AccessTrace> = names
        .iter()
        .filter_map(|name| kernels::generate(name).ok())
        .collect();
    let accesses = traces.iter().flat_map(|trace| &trace.accesses);
    accesses
        .map(|a| a.addrs.clone())
        .cycle()
        .take(count)
        .collect()
}

/// The plain loop over configurations and accesses.
fn plain_loop(accesses: &Accesses, degree: impl Fn(&[Option<u32>], [u32; 3]) -> u8) -> u64 {
    let mut fewest = u64::MAX;
    for k1 in 0..=9 {
        for k2 in 0..14 {
            for mask in 0..32 {
                if k1 == k2 && mask != 0 {
                    continue; // no mapping
                }
                let conflicts = accesses
                    .iter()
                    .map(|access| u64::from(degree(access, [k1, k2, mask]).saturating_sub(1)))
                    .sum();
                fewest = fewest.min(conflicts);
            }
        }
    }
    fewest
}

fn bank(addr: u32, [k1, k2, mask]: [u32; 3]) -> usize {
    (((addr >> k1) ^ ((addr >> k2) & mask)) & 31) as usize
}

/// Degree by the definition: lanes on one address are served together.
fn degree(access: &[Option<u32>], configuration: [u32; 3]) -> u8 {
    let mut words = [[0; LANES]; 32];
    let mut load = [0; 32];
    for &addr in access.iter().flatten() {
        let bank = bank(addr, configuration);
        let count = load[bank] as usize;
        if !words[bank][..count].contains(&addr) {
            words[bank][count] = addr;
            load[bank] += 1;
        }
    }
    load.into_iter().max().unwrap_or(0)
}

/// Degree of an access whose duplicates were removed beforehand.
fn degree_of_distinct(access: &[Option<u32>], configuration: [u32; 3]) -> u8 {
    let mut load = [0; 32];
    let mut degree = 0;
    for &addr in access.iter().flatten() {
        let load = &mut load[bank(addr, configuration)];
        *load += 1;
        degree = degree.max(*load);
    }
    degree
}

fn without_duplicates(accesses: &Accesses) -> Accesses {
    let distinct = |access: &Vec<Option<u32>>| {
        let mut access = access.clone();
        access.sort_unstable();
        access.dedup();
        access
    };
    accesses.iter().map(distinct).collect()
}

/// The search from the raw accesses: merging is part of its time.
fn fast(accesses: &Accesses) -> u64 {
    let profile = ConflictProfile::of_accesses(accesses.iter().map(Vec::as_slice), LANES as u32);
    let problem = Problem::new(&profile, geometry());
    search_xor(&problem, &all_pairs(geometry()), &Control::none())
        .expect("some configuration is legal")
        .conflicts
}

fn pool(threads: usize) -> ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a thread pool")
}

/// Processor time of the fastest of several runs, all on this thread.
fn seconds<T>(mut work: impl FnMut() -> T, repeat: usize) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..repeat {
        let (value, seconds) = timed(|| black_box(work()));
        result = Some(value);
        best = best.min(seconds);
    }
    (best, result.expect("at least one run"))
}

fn ratios() {
    let one = pool(1);
    println!(
        "exhaustive bit-vector XOR search, 4480 configurations, {ACCESSES} accesses, one core"
    );
    println!("(in brackets: the plain loop with duplicate addresses removed beforehand)");
    for (name, accesses) in [
        ("kernels", kernels(ACCESSES)),
        ("strided", strided(ACCESSES)),
        ("random", random(ACCESSES)),
    ] {
        let (search, found) = one.install(|| seconds(|| fast(&accesses), 9));
        let (plain, conflicts) = seconds(|| plain_loop(&accesses, degree), 2);
        let distinct = without_duplicates(&accesses);
        let (bare, same) = seconds(|| plain_loop(&distinct, degree_of_distinct), 2);
        assert_eq!(
            [found; 2],
            [conflicts, same],
            "the search must find the true minimum"
        );
        println!(
            "  {name}: plain loop {:.0} ms ({:.0} ms), search {:.2} ms, ratio {:.0} ({:.0})",
            plain * 1e3,
            bare * 1e3,
            search * 1e3,
            plain / search,
            bare / search
        );
    }
}

fn scaling(c: &mut Criterion) {
    let mut group = c.benchmark_group("trace length");
    group.sample_size(10);
    for count in [1000, 4000, 16000] {
        let accesses = random(count);
        group.throughput(Throughput::Elements(count as u64));
        group.bench_with_input(
            BenchmarkId::new("random", count),
            &accesses,
            |b, accesses| {
                let one = pool(1);
                b.iter(|| one.install(|| fast(accesses)));
            },
        );
    }
    group.finish();

    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let accesses = random(16000);
    let mut group = c.benchmark_group("cores");
    group.sample_size(10);
    for threads in (0..).map(|i| 1 << i).take_while(|&t| t <= cores) {
        group.bench_with_input(
            BenchmarkId::new("random", threads),
            &threads,
            |b, &threads| {
                let pool = pool(threads);
                b.iter(|| pool.install(|| fast(&accesses)));
            },
        );
    }
    group.finish();
}

fn main() {
    // `cargo test --benches` runs this too: only see that it works.
    let mut criterion = Criterion::default().configure_from_args();
    if std::env::args().any(|arg| arg == "--bench") {
        ratios();
    }
    scaling(&mut criterion);
    criterion.final_summary();
}
