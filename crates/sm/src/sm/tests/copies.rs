//! Bulk copies and `mbarrier` objects: copies whose time is a formula.

use super::*;
use crate::sm::workload::OnePart;

/// Programs of the warps of each block.
pub(super) struct Programs {
    pub info: KernelInfo,
    pub warps: Vec<Vec<Instr>>,
    pub incoming: Vec<Incoming>,
}

impl Workload for Programs {
    fn info(&self) -> &KernelInfo {
        &self.info
    }

    fn open(&self, _block: u32, warp: u32) -> Result<Box<dyn ProgramStream + '_>> {
        Ok(Box::new(OnePart(Some(
            self.warps[warp as usize].as_slice().into(),
        ))))
    }

    fn incoming(&self, _block: u32) -> Result<Vec<Incoming>> {
        Ok(self.incoming.clone())
    }
}

pub(super) fn on(config: &Config, warps: Vec<Vec<Instr>>) -> Result<Statistics> {
    on_blocks(config, (1, 1920), warps)
}

/// Runs a grid of so many equal blocks, each with so many bytes of shared memory.
pub(super) fn on_blocks(
    config: &Config,
    size: (u32, u32),
    warps: Vec<Vec<Instr>>,
) -> Result<Statistics> {
    in_cluster(config, size, warps, Vec::new())
}

/// The same, where other blocks do something to each block.
fn in_cluster(
    config: &Config,
    (blocks, shared_bytes): (u32, u32),
    warps: Vec<Vec<Instr>>,
    incoming: Vec<Incoming>,
) -> Result<Statistics> {
    let programs = Programs {
        info: KernelInfo {
            name: "copies".to_owned(),
            source: String::new(),
            block_dim: [8 * warps.len() as u32, 1, 1],
            blocks,
            shared_bytes,
            warp_size: 8,
            registers: 0,
            target: None,
            together: None,
        },
        warps,
        incoming,
    };
    let fast = Setup::default().run(config, &programs);
    if let Ok(fast) = &fast {
        let every = Sm::new(config, &programs)?.run_every_cycle()?;
        assert_eq!(*fast, every, "cycles that are passed over");
        assert_eq!(fast.issued + fast.stalls.total(), fast.cycles);
    }
    fast
}

/// [`tiny`] with rows of 32 bytes, segments of 32 bytes, of which the channel
/// takes one in every `32 / bandwidth` cycles.
pub(super) fn copying(bandwidth: u32) -> Config {
    tiny(&format!(
        "[global]\nlatency = 40\nsegment_bytes = 32\nbytes_per_cycle = {bandwidth}\n\
         max_segments = 1000\n"
    ))
}

const BARRIER: u64 = 1024;

pub(super) fn one(kind: InstrKind) -> Instr {
    Instr::new(kind, 0, 1)
}

fn barrier(op: MbarrierOp) -> Instr {
    let mut instr = one(InstrKind::Mbarrier);
    instr.detail = op.into();
    instr.addrs = Addresses::Affine {
        base: BARRIER,
        stride: 0,
    };
    instr
}

fn copy(stores: bool, bytes: u64, arrives: bool) -> Instr {
    let mut instr = one(InstrKind::BulkCopy);
    instr.addrs = Addresses::Copy(Box::new(Transfer {
        stores,
        shared: vec![(0, bytes)],
        global: vec![(4096, bytes)],
        arrives: arrives.then_some((BARRIER, bytes as u32)),
        others: false,
    }));
    instr
}

fn group(op: BulkGroupOp, number: u32) -> Instr {
    let mut instr = one(InstrKind::BulkGroup);
    instr.detail = Detail::BulkGroup(op, number);
    instr
}

/// A warp that copies into shared memory and waits for it.
fn load_and_wait(bytes: u64) -> Vec<Instr> {
    vec![
        barrier(MbarrierOp::Init { arrivals: 1 }),
        barrier(MbarrierOp::ArriveExpect {
            bytes: bytes as u32,
        }),
        copy(false, bytes, true),
        barrier(MbarrierOp::Wait { phase: 0 }),
    ]
}

/// The copy issues in cycle 3, is complete latency + rows cycles later, and the
/// wait, which takes as long as a load of shared memory, issues after that.
#[test]
fn a_copy_takes_the_latency_and_a_cycle_for_each_row() {
    for rows in [1, 2, 8, 32] {
        let s = on(&copying(32), vec![load_and_wait(32 * rows)]).unwrap();
        let complete = 3 + 40 + rows;
        assert_eq!(s.cycles, complete + 5);
        // Every cycle between the issue of the copy and that of the wait.
        assert_eq!(s.stalls.mbarrier, complete - 3, "{s:?}");
        assert_eq!(s.global_segments, rows);
    }
}

/// A slower channel gives a row every two or four cycles.
#[test]
fn the_channel_bounds_a_copy() {
    for (bandwidth, each) in [(16, 2), (8, 4)] {
        for rows in [1, 5, 20] {
            let s = on(&copying(bandwidth), vec![load_and_wait(32 * rows)]).unwrap();
            assert_eq!(s.stalls.mbarrier, 40 + each * (rows - 1) + 1);
        }
    }
}

/// The next copy proceeds during the computation on a tile: with one buffer,
/// every tile waits for its copy; with two, only the first one does.
#[test]
fn two_buffers_hide_the_copies() {
    const ROWS: u64 = 8;
    let bytes = 32 * ROWS;
    let begin = || {
        [
            barrier(MbarrierOp::ArriveExpect {
                bytes: bytes as u32,
            }),
            copy(false, bytes, true),
        ]
    };
    let compute = || {
        let mut alu = one(InstrKind::Alu);
        alu.dst = Some(1);
        alu.srcs = Sources::new(&[1]).unwrap();
        vec![alu; 60]
    };
    let program = |tiles: u32, ahead: bool| {
        let mut program = vec![barrier(MbarrierOp::Init { arrivals: 1 })];
        if ahead {
            program.extend(begin());
        }
        for tile in 0..tiles {
            if !ahead {
                program.extend(begin());
            }
            program.push(barrier(MbarrierOp::Wait { phase: tile }));
            if ahead {
                program.extend(begin());
            }
            program.extend(compute());
        }
        program
    };
    let of = |tiles, ahead| on(&copying(32), vec![program(tiles, ahead)]).unwrap();
    let copied = 40 + ROWS;
    for tiles in [2, 5, 9] {
        let (single, double) = (of(tiles, false), of(tiles, true));
        assert_eq!(single.stalls.mbarrier, u64::from(tiles) * copied);
        assert_eq!(double.stalls.mbarrier, copied);
        let more = of(tiles + 1, false).cycles - single.cycles;
        assert_eq!(more, 60 + 3 + copied);
        assert_eq!(of(tiles + 1, true).cycles - double.cycles, 60 + 3);
    }
}

/// A row takes a cycle of the banks, which loads then wait for.
#[test]
fn a_copy_competes_with_loads_for_the_banks() {
    let loads = || -> Vec<Instr> {
        let load = |register: usize| {
            let mut load = Instr::new(InstrKind::LdShared, 0, 0xff);
            load.dst = Some((register % 200) as u8);
            load.addrs = Addresses::Affine { base: 0, stride: 4 };
            load
        };
        (0..200).map(load).collect()
    };
    let of = |rows: u64| on(&copying(32), vec![load_and_wait(32 * rows), loads()]).unwrap();
    let one = of(1);
    for rows in [2, 10, 32] {
        let s = of(rows);
        assert_eq!(s.cycles - one.cycles, rows - 1);
        assert_eq!(s.stalls.async_copy - one.stalls.async_copy, rows - 1);
        assert_eq!(s.bank_conflicts, 0);
    }
}

/// A store reads a row in every cycle and sends a segment after each. Its
/// source is free when the last row was read. It is complete when the channel
/// has taken the last segment.
#[test]
fn a_store_reads_rows_and_sends_segments() {
    let program = |rows: u64, op| {
        vec![
            copy(true, 32 * rows, false),
            group(BulkGroupOp::Commit, 0),
            group(op, 0),
        ]
    };
    for rows in [2, 7, 30] {
        let of = |op| on(&copying(32), vec![program(rows, op)]).unwrap();
        let (read, whole) = (of(BulkGroupOp::WaitRead), of(BulkGroupOp::Wait));
        assert_eq!(read.stalls.async_copy, rows - 1);
        assert_eq!(whole.stalls.async_copy, rows);
        assert_eq!((read.global_segments, whole.global_segments), (rows, rows));
    }
}

/// A wait is only for the groups that it names.
#[test]
fn a_wait_may_leave_groups_on_their_way() {
    let program = |left| {
        vec![
            copy(true, 32 * 4, false),
            group(BulkGroupOp::Commit, 0),
            copy(true, 32 * 20, false),
            group(BulkGroupOp::Commit, 0),
            group(BulkGroupOp::WaitRead, left),
        ]
    };
    let of = |left| on(&copying(32), vec![program(left)]).unwrap();
    assert_eq!(of(2).stalls.async_copy, 0);
    // Rows are read from the second cycle on; the wait could issue in the fifth.
    assert_eq!(of(1).stalls.async_copy, 1);
    assert_eq!(of(0).stalls.async_copy, 4 + 20 + 1 - 4);
}

/// Each thread has bulk groups of its own: a lane waits for its own groups, and
/// may leave this many of them pending.
#[test]
fn every_lane_has_bulk_groups_of_its_own() {
    let by = |lanes: u64, mut instr: Instr| {
        instr.mask = lanes;
        instr
    };
    let program = |lanes, left| {
        vec![
            by(1, copy(true, 32 * 4, false)),
            by(1, group(BulkGroupOp::Commit, 0)),
            by(2, copy(true, 32 * 20, false)),
            by(2, group(BulkGroupOp::Commit, 0)),
            by(lanes, group(BulkGroupOp::WaitRead, left)),
        ]
    };
    let stalls = |lanes, left| {
        let s = on(&copying(32), vec![program(lanes, left)]).unwrap();
        s.stalls.async_copy
    };
    // The rows of the first are read by the sixth cycle, as above.
    assert_eq!((stalls(1, 0), stalls(2, 0)), (1, 4 + 20 + 1 - 4));
    assert_eq!((stalls(3, 0), stalls(3, 1)), (4 + 20 + 1 - 4, 0));
    assert_eq!(stalls(4, 0), 0, "a lane without groups");
}

/// `cp.async.mbarrier.arrive`: the arrival comes after the load of the copy.
#[test]
fn arrivals_behind_copies_wait_for_their_loads() {
    let load = || {
        let mut load = Instr::new(InstrKind::LdGlobal, 0, 1);
        load.dst = Some(9);
        load.addrs = Addresses::Affine {
            base: 4096,
            stride: 4,
        };
        load
    };
    let program = |op| {
        let mut program = vec![
            barrier(MbarrierOp::Init { arrivals: 1 }),
            load(),
            barrier(op),
        ];
        if matches!(op, MbarrierOp::CopiesJoin { .. }) {
            program.push(barrier(MbarrierOp::Arrive { arrivals: 1 }));
        }
        program.push(barrier(MbarrierOp::Wait { phase: 0 }));
        program
    };
    let stalls = |op| {
        let s = on(&copying(32), vec![program(op)]).unwrap();
        s.stalls.mbarrier
    };
    let of: [fn([u8; 4]) -> MbarrierOp; 2] = [
        |registers| MbarrierOp::CopiesArrive { registers },
        |registers| MbarrierOp::CopiesJoin { registers },
    ];
    for op in of {
        assert!(stalls(op([9, 255, 255, 255])) > 40);
        assert_eq!(stalls(op([8, 255, 255, 255])), 0, "another register");
    }
}

#[test]
fn misuse_is_refused() {
    let error = |program| {
        let error = on(&copying(32), vec![program]).unwrap_err();
        match &error {
            spadkit_base::error::Error::Usage { what, help } => {
                format!("{what}: {}", help.as_deref().unwrap_or(""))
            }
            other => other.to_string(),
        }
    };
    let never = error(vec![
        barrier(MbarrierOp::Init { arrivals: 2 }),
        barrier(MbarrierOp::Arrive { arrivals: 1 }),
        barrier(MbarrierOp::Wait { phase: 0 }),
    ]);
    assert!(never.contains("deadlock"), "{never}");
    let phase = "warp 0 of block 0 waits at pc 0 for phase 0 of the mbarrier at byte 1024";
    assert!(never.contains(phase), "{never}");
    let nobody = error(vec![barrier(MbarrierOp::Arrive { arrivals: 1 })]);
    assert!(nobody.contains("has not been initialised"), "{nobody}");
    let outside = error(vec![copy(true, 1952, false)]);
    assert!(outside.contains("a block has 1920 bytes"), "{outside}");
}

fn incoming(phase: u64, op: MbarrierOp, copy: Option<((u64, u64), bool)>) -> Incoming {
    Incoming {
        object: BARRIER,
        phase,
        op,
        copy,
    }
}

/// A copy of another block begins with the first use of the object, in cycle 2, and from then
/// on takes as long as one of the block's own.
#[test]
fn a_copy_of_another_block_comes_as_if_it_began_with_the_phase() {
    for rows in [1, 2, 8] {
        let bytes = 32 * rows as u32;
        let mut waits = load_and_wait(32 * rows);
        waits.remove(2);
        let from = |global| {
            let copy = Some(((0, 32 * rows), global));
            let comes = incoming(0, MbarrierOp::Complete { bytes }, copy);
            in_cluster(&copying(32), (1, 1920), vec![waits.clone()], vec![comes])
        };
        let s = from(true).unwrap();
        let complete = 2 + 40 + rows;
        assert_eq!(
            (s.cycles, s.stalls.mbarrier),
            (complete + 5, complete - 2),
            "{s:?}"
        );
        // From shared memory of the other block, with the latency of the way there.
        let far = from(false).unwrap().cycles;
        assert_eq!(far - s.cycles, 180 - 40);
        assert_eq!(s.global_segments, 0);
    }
}

/// Arrivals and bytes of other blocks, phase by phase: none comes before its phase.
#[test]
fn what_other_blocks_do_waits_for_its_phase() {
    let wait = |phase| barrier(MbarrierOp::Wait { phase });
    let program = vec![
        barrier(MbarrierOp::Init { arrivals: 2 }),
        barrier(MbarrierOp::Arrive { arrivals: 1 }),
        wait(0),
        barrier(MbarrierOp::Arrive { arrivals: 1 }),
        wait(1),
    ];
    let arrives = |phase| incoming(phase, MbarrierOp::Arrive { arrivals: 1 }, None);
    let expects = incoming(1, MbarrierOp::Expect { bytes: 32 }, None);
    let comes = incoming(1, MbarrierOp::Complete { bytes: 32 }, None);
    let all = vec![arrives(0), arrives(1), expects, comes];
    let s = in_cluster(&copying(32), (1, 1920), vec![program.clone()], all).unwrap();
    // Two phases of 180 cycles, and the latency of the last wait.
    assert!((360..375).contains(&s.cycles), "{s:?}");
    let error = in_cluster(&copying(32), (1, 1920), vec![program], vec![arrives(0)]).unwrap_err();
    assert!(error.to_string().contains("deadlock"), "{error}");
    let beyond = incoming(
        0,
        MbarrierOp::Complete { bytes: 32 },
        Some(((1900, 32), true)),
    );
    let error = in_cluster(&copying(32), (1, 1920), vec![vec![]], vec![beyond]).unwrap_err();
    assert!(
        error.to_string().contains("beyond the shared memory"),
        "{error}"
    );
}

/// The bytes of an `st.async` are there after the latency of a remote access; the block keeps
/// its slot until then.
#[test]
fn sent_bytes_take_the_remote_latency() {
    let program = |last: Option<Instr>| {
        let mut all = vec![
            barrier(MbarrierOp::Init { arrivals: 1 }),
            barrier(MbarrierOp::ArriveExpect { bytes: 4 }),
            barrier(MbarrierOp::Sent { bytes: 4 }),
        ];
        all.extend(last);
        all
    };
    let wait = barrier(MbarrierOp::Wait { phase: 0 });
    let cycles = |last| on(&copying(32), vec![program(last)]).unwrap().cycles;
    assert_eq!(cycles(None), 3 + 180);
    assert_eq!(cycles(Some(wait)), 3 + 180 + 5);
}
