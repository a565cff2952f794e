//! Speed of the golden model of the SM path: clock cycles a second, 32 lanes,
//! every warp always offering the same instruction.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use spadkit::config::Config;
use spadkit::model::spad_sm_path::kind;
use spadkit::model::{Offer, Offers, Operands, PathConfig, SmPath, SmPathInputs};
use std::hint::black_box;

const CYCLES: u64 = 10_000;

/// Runs `CYCLES` cycles of `kind` with lanes `stride` words apart.
fn run(path: &mut SmPath, cfg: PathConfig, offers: &Offers, stride: u16) -> u64 {
    let addr: Vec<u16> = (0..32).map(|i| i * stride).collect();
    let data: Vec<u64> = (0..32).collect();
    let be = [0xf; 32];
    let mut inputs = SmPathInputs {
        rst: true,
        kernel_clear: false,
        cfg,
        hash_wr: None,
        row_wr: None,
        launch: None,
        exit: None,
        offers,
        op: Operands {
            mask: u64::from(u32::MAX),
            addr: &addr,
            data: &data,
            be: &be,
            aop: 0,
        },
        icn: None,
        wb_ready: true,
        age: &[],
        active: 0,
    };
    path.step(&inputs);
    inputs.rst = false;
    (0..CYCLES)
        .map(|_| u64::from(path.step(black_box(&inputs)).wb.is_some()))
        .sum()
}

fn sm_path(c: &mut Criterion) {
    let mut group = c.benchmark_group("sm_path");
    group.throughput(Throughput::Elements(CYCLES));
    for preset in ["fermi", "sharing-48k"] {
        let config = Config::preset(preset).expect("a preset");
        let warps = config.path.warps as usize;
        let cfg = PathConfig::of(&config);
        for (name, kinds, stride) in [
            ("alu", vec![kind::ALU], 1),
            ("load", vec![kind::LOAD], 1),
            ("load-degree-8", vec![kind::LOAD], 8),
            (
                "load-store-alu",
                vec![kind::LOAD, kind::ALU, kind::STORE],
                2,
            ),
            ("atomic", vec![kind::ATOMIC], 1),
        ] {
            let mut offers = Offers::none(warps);
            for warp in 0..warps {
                let kind = kinds[warp % kinds.len()];
                let offer = Offer {
                    kind,
                    pc: warp as u16,
                    ..Offer::default()
                };
                offers.set(warp, Some(offer));
            }
            let mut path = SmPath::new(&config);
            group.bench_function(format!("{preset}/{name}"), |b| {
                b.iter(|| run(&mut path, cfg, &offers, stride));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, sm_path);
criterion_main!(benches);
