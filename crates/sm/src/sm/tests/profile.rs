//! Issue slots by instruction: they add up to the statistics, and each is of the
//! instruction that is issued or waited at.

use super::*;

fn profiled(config: &Config, workload: &dyn Workload) -> (Statistics, Profile) {
    let sm = || Sm::new(config, workload).unwrap();
    let (statistics, profile, ended) = sm().run_profiled(&mut |_| true).unwrap();
    assert!(ended && statistics == sm().run().unwrap());
    (statistics, profile)
}

fn sum(profile: &Profile) -> Slots {
    let mut sum = Slots::default();
    let list = profile.list();
    list.iter().for_each(|(_, slots)| sum.add(slots));
    sum
}

#[test]
fn the_slots_add_up_to_the_statistics() {
    let mut kinds = 0;
    for preset in PRESETS {
        let config = Config::preset(preset).unwrap();
        for kernel in ["transpose:tile=16", "reduction", "fwt"] {
            let trace = generate(kernel).unwrap();
            let workload = AccessWorkload::new(&trace, 3).unwrap();
            let workload = workload.dependent(2).unwrap();
            if workload.info().warps() > config.path.warps {
                continue;
            }
            let (statistics, profile) = profiled(&config, &workload);
            let sum = sum(&profile);
            assert_eq!(sum.issued, statistics.issued, "{preset} {kernel}");
            assert_eq!(sum.stalls, statistics.stalls, "{preset} {kernel}");
            let slots = statistics.cycles * u64::from(config.sm.schedulers);
            assert_eq!(sum.total(), slots, "{preset} {kernel}");
            let stalls = sum.stalls.list();
            kinds = kinds.max(stalls.iter().filter(|s| s.1 > 0).count());
        }
    }
    assert!(kinds >= 3, "the kernels have stalls of several kinds");
}

/// The slots of each instruction of a program for one block.
fn by_pc(body: &str) -> (Statistics, Vec<Slots>) {
    let config = tiny(
        "[pipeline]\nkind = \"unified\"\n[global]\nlatency = 70\nsegment_bytes = 32\nbytes_per_cycle = 32\n",
    );
    let (statistics, profile) = profiled(&config, &program(&warps(body)));
    let list = profile.list();
    let slots = |pc: u32| {
        let found = list.iter().find(|(of, _)| *of == Some(pc));
        found.map_or(Slots::default(), |(_, slots)| *slots)
    };
    (statistics, (0..4).map(slots).collect())
}

#[test]
fn conflicts_are_of_the_access_and_waits_of_who_waits() {
    let (statistics, slots) = by_pc("ld.shared r1, [32*l]\nld.global r2, [4*l]\nalu r3, r2\n");
    assert_eq!(statistics.stalls.bank_conflict, 7);
    assert_eq!(slots[0].stalls.bank_conflict, 7, "{slots:?}");
    assert!(statistics.stalls.memory > 60);
    assert_eq!(slots[2].stalls.memory, statistics.stalls.memory);
    assert_eq!(
        slots[..3].iter().map(|s| s.issued).collect::<Vec<_>>(),
        [1; 3]
    );
}

/// With a private pipe for each scheduler, too.
#[test]
fn a_barrier_is_waited_for_at_the_barrier() {
    for schedulers in [1, 2] {
        let config = tiny(&format!(
            "[sm]\nalu_cycles = 9\n[scheduler]\ncount = {schedulers}\n"
        ));
        let body = ".warp_size 8\n.block 16\n.shared 1920\nwarp 0\nalu r1\nalu r1, r1\n\
                    alu r1, r1\nbar\nalu r2\nwarp 1\nbar\nalu r2\n";
        let (statistics, profile) = profiled(&config, &program(body));
        assert!(statistics.stalls.barrier > 0, "{schedulers}");
        let at_barriers = profile
            .list()
            .into_iter()
            .filter(|(_, s)| s.stalls.barrier > 0);
        let pcs: Vec<_> = at_barriers.map(|(pc, _)| pc).collect();
        assert!(
            !pcs.is_empty() && pcs.iter().all(|pc| [Some(3), Some(5)].contains(pc)),
            "{pcs:?}"
        );
    }
}
