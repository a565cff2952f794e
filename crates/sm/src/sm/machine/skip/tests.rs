//! Runs on the fast path, which skip quiet cycles, compared with the plain
//! model in each cycle, and with runs of every cycle.

use super::super::{Sm, Statistics};
use crate::config::{Barrel, Config, Pipeline, Scheduler};
use crate::model::SmPath;
use crate::sm::workload::OnePart;
use crate::sm::{Addresses, Instr, InstrKind, KernelInfo, ProgramStream, Sources, Workload};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use spadkit_mapping::hash::uniform;
use std::path::Path;
use std::sync::Arc;

const PIPELINES: [Pipeline; 3] = [Pipeline::Unified, Pipeline::Split, Pipeline::Elastic];
const BARRELS: [Barrel; 3] = [Barrel::Strict, Barrel::Relaxed, Barrel::RelaxedInOrder];
const SCHEDULERS: [Scheduler; 7] = [
    Scheduler::Lrr,
    Scheduler::Gto,
    Scheduler::TwoLevel,
    Scheduler::ConflictAware,
    Scheduler::Owf,
    Scheduler::OwfSlot,
    Scheduler::LowestSlot,
];

fn one_of<T: Copy>(rng: &mut ChaCha8Rng, choice: &[T]) -> T {
    choice[uniform(rng, choice.len() as u32) as usize]
}

/// Warps with programs of their own, the same in every block.
struct RandomWorkload {
    info: KernelInfo,
    programs: Vec<Arc<[Instr]>>,
}

impl Workload for RandomWorkload {
    fn info(&self) -> &KernelInfo {
        &self.info
    }

    fn open(&self, _: u32, warp: u32) -> spadkit_base::error::Result<Box<dyn ProgramStream + '_>> {
        Ok(Box::new(OnePart(self.programs.get(warp as usize).cloned())))
    }
}

impl RandomWorkload {
    /// Random programs with as many barriers in each warp.
    fn random(rng: &mut ChaCha8Rng, words: u32) -> Self {
        let info = KernelInfo {
            name: "random".to_owned(),
            source: String::new(),
            block_dim: [32 + uniform(rng, 64), 1, 1],
            blocks: 1 + uniform(rng, 5),
            shared_bytes: 4 * words,
            warp_size: 32,
            registers: 0,
            target: None,
            together: None,
        };
        let parts = 1 + uniform(rng, 3);
        let programs = (0..info.warps()).map(|warp| {
            let full = info.warp_mask(warp);
            let mut program = Vec::new();
            for part in 0..parts {
                if part > 0 {
                    program.push(Instr::new(InstrKind::Bar, 900 + part, full));
                }
                for _ in 0..uniform(rng, 5) {
                    push_random(rng, words, full, &mut program);
                }
            }
            if uniform(rng, 2) == 0 {
                program.push(Instr::new(InstrKind::RelSsp, 990, full));
            }
            program.into()
        });
        RandomWorkload {
            programs: programs.collect(),
            info,
        }
    }
}

fn push_random(rng: &mut ChaCha8Rng, words: u32, full: u64, program: &mut Vec<Instr>) {
    use InstrKind::{
        Alu, AtomShared, Branch, LdGlobal, LdLock, LdShared, Sfu, StGlobal, StShared, StUnlock,
    };
    let kinds = [
        Alu, Alu, Sfu, Branch, LdShared, LdShared, StShared, AtomShared, LdLock, LdGlobal, StGlobal,
    ];
    let kind = one_of(rng, &kinds);
    let mask = match uniform(rng, 3) {
        0 => rng.next_u64() & full,
        _ => full,
    };
    let mut instr = Instr::new(kind, uniform(rng, 64), mask);
    let register = |rng: &mut ChaCha8Rng| uniform(rng, 4) as u8;
    instr.srcs = Sources::new(&[register(rng)]).unwrap();
    if !matches!(kind, StShared | StGlobal) {
        instr.dst = Some(register(rng));
    }
    let stride = one_of(rng, &[0, 1, 2, 8, words / 32]).min((words - 1) / 31);
    let base = uniform(rng, words - 31 * stride);
    if kind.is_memory() {
        instr.addrs = Addresses::Affine {
            base: u64::from(4 * base),
            stride: i64::from(4 * stride),
        };
    }
    let unlock = (kind == LdLock).then(|| {
        let mut unlock = Instr::new(StUnlock, 980, mask);
        unlock.srcs = Sources::new(&[instr.dst.unwrap_or(0)]).unwrap();
        unlock.addrs = instr.addrs.clone();
        unlock
    });
    program.push(instr);
    program.extend(unlock);
}

/// What a run leaves: statistics, or the error; and the scratchpad.
type End = (Result<Statistics, String>, Vec<u64>);

fn run(config: &Config, workload: &dyn Workload, skip: bool) -> (End, u64) {
    let mut sm = Sm::new(config, workload).unwrap().with_values(7);
    let mut plain = SmPath::new(config);
    let (mut steps, mut cycle) = (0, 0);
    let mut result = Ok(());
    while result.is_ok() && !sm.is_done() {
        result = sm.step::<false>(skip, &mut |path, inputs, out, cycles| {
            for _ in 0..cycles {
                assert_eq!(plain.step(inputs), *out, "cycle {cycle}");
                assert_eq!(plain.wb_data(), path.wb_data(), "cycle {cycle}");
                cycle += 1;
            }
            assert_eq!(plain.all_atomic_rounds(), path.all_atomic_rounds());
        });
        steps += 1;
    }
    assert_eq!(contents(config, &plain), contents(config, sm.path.model()));
    let words = contents(config, sm.path.model());
    let result = result.map_err(|e| e.to_string());
    ((result.map(|()| sm.finish()), words), steps)
}

/// The words of the scratchpad, and how many locks are taken.
fn contents(config: &Config, path: &SmPath) -> Vec<u64> {
    let view = path.scratchpad();
    let words = (0..config.capacity_words).map(|a| view.word(a as u16));
    words.chain([u64::from(view.held_locks())]).collect()
}

#[test]
fn passing_over_quiet_cycles_changes_nothing() {
    let machines = [
        "base = \"small\"\n",
        "base = \"small\"\n[sharing]\non = true\n",
        "base = \"gt200\"\n",
        "base = \"fermi\"\n",
        "base = \"sharing-48k\"\n[sharing]\non = true\n",
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut all, mut made, mut stores) = (0, 0, 0);
    for round in 0..80 {
        let text = one_of(&mut rng, &machines);
        let mut config = Config::from_toml(text, Path::new("m.toml")).unwrap();
        let settings = &mut config.settings;
        settings.pipeline = one_of(&mut rng, &PIPELINES);
        settings.barrel = one_of(&mut rng, &BARRELS);
        settings.scheduler = one_of(&mut rng, &SCHEDULERS);
        settings.aware = one_of(&mut rng, &[None, Some(true)]);
        config.sm.frontend_stages = uniform(&mut rng, 3) * 5;
        config.path.mem_stages = 2 + uniform(&mut rng, 4);
        config.path.ahead = uniform(&mut rng, 4);
        config.sm.global.max_stores = 1 + uniform(&mut rng, 3);
        let bytes = [16.0, 8.0, 2.5, 24.0, 17.777];
        config.sm.global.bytes_per_cycle = one_of(&mut rng, &bytes);
        config.sm.global.merge = one_of(&mut rng, &[false, true]);
        config.sm.l1.size_bytes = one_of(&mut rng, &[0, 512, 4096]);
        config.sm.l1.mshrs = one_of(&mut rng, &[1, 3, 32]);
        let words = match round % 2 {
            0 => config.capacity_words * 2 / 5,
            _ => 64 + uniform(&mut rng, 200),
        };
        let kernel = RandomWorkload::random(&mut rng, words);
        let (plain, cycles) = run(&config, &kernel, false);
        let (quick, steps) = run(&config, &kernel, true);
        assert!(
            plain == quick,
            "round {round}: {:?}\n{:?}",
            plain.0,
            quick.0
        );
        let stalls = quick.0.as_ref().map(|s| s.stalls);
        stores += stalls.map_or(0, |s| s.store_queue);
        (all, made) = (all + cycles, made + steps);
    }
    assert!(made * 5 < all * 3, "{made} steps for {all} cycles");
    assert!(stores > 1000, "{stores} cycles with no entry for a store");
}
