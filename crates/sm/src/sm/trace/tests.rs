//! Round trips, size, and damaged files.

use super::*;
use crate::sm::incoming::Incoming;
use crate::sm::instr::{
    Addresses, BulkGroupOp, Detail, Instr, InstrKind, KernelInfo, Meeting, Sources, Unit, full_mask,
};
use crate::sm::mbarrier::MbarrierOp;
use crate::sm::transfer::Transfer;
use crate::sm::workload::Workload;
use proptest::prelude::*;
use spadkit_ptx::exec::BarrierOp;
use std::path::Path;

fn info(blocks: u32) -> KernelInfo {
    KernelInfo {
        name: "k".to_owned(),
        source: "test".to_owned(),
        block_dim: [64, 1, 1],
        blocks,
        shared_bytes: 4096,
        warp_size: 32,
        registers: 16,
        target: None,
        together: None,
    }
}

fn read(file: &TraceFile, block: u32, warp: u32) -> spadkit_base::error::Result<Vec<Instr>> {
    let mut stream = file.open(block, warp)?;
    let mut all = Vec::new();
    while let Some(part) = stream.next_part()? {
        assert!(part.len() <= CHUNK_INSTRS as usize);
        all.extend(part.iter().cloned());
    }
    Ok(all)
}

fn write(path: &Path, programs: &[((u32, u32), Vec<Instr>)]) -> TraceSummary {
    let mut writer = TraceWriter::create(path, &info(2)).unwrap();
    let longest = programs.iter().map(|p| p.1.len()).max().unwrap_or(0);
    // Interleaved, as a functional run produces them.
    for i in 0..longest {
        for ((block, warp), program) in programs {
            if let Some(instr) = program.get(i) {
                writer.push(*block, *warp, instr).unwrap();
            }
        }
    }
    writer.finish().unwrap()
}

prop_compose! {
    fn transfer()(
        stores in any::<bool>(),
        shared in prop::collection::vec((any::<u64>(), 1..1000u64), 0..3),
        global in prop::collection::vec((any::<u64>(), 1..1u64 << 24), 0..9),
        arrives in any::<Option<(u64, u32)>>(),
        others in any::<bool>(),
    ) -> Transfer {
        Transfer { stores, shared, global, arrives, others }
    }
}

prop_compose! {
    fn instr()(
        kind in 0..InstrKind::ALL.len(),
        pc in prop_oneof![0..5u32, any::<u32>()],
        mask in prop_oneof![Just(u64::from(u32::MAX)), any::<u32>().prop_map(u64::from)],
        dst in any::<Option<u8>>(),
        srcs in prop::collection::vec(any::<u8>(), 0..=4),
        width in 0..5u32,
        (byte, amount) in any::<(u8, u32)>(),
        base in any::<u64>(),
        stride in prop_oneof![Just(4i64), any::<i64>()],
        list in any::<Option<[u64; 32]>>(),
        transfer in transfer(),
    ) -> Instr {
        let kind = InstrKind::ALL[kind];
        let mut instr = Instr::new(kind, pc, mask);
        instr.dst = dst;
        instr.srcs = Sources::new(&srcs).unwrap();
        instr.detail = match instr.detail {
            Detail::Atomic(_) => Detail::Atomic(byte),
            Detail::Barrier(_) => Detail::Barrier(Meeting {
                number: byte,
                threads: if amount & 4 == 0 { 0 } else { (amount >> 16) as u16 },
                arrives: amount & 1 != 0,
                cluster: amount & 2 != 0,
            }),
            Detail::Product { .. } => Detail::Product {
                bits: byte & 0x7f,
                macs: amount,
                group: byte > 0x7f,
            },
            Detail::Mbarrier(..) => {
                let op = BarrierOp::ALL[usize::from(byte) % BarrierOp::ALL.len()];
                Detail::Mbarrier(op, amount)
            }
            Detail::BulkGroup(..) => {
                let op = BulkGroupOp::ALL[usize::from(byte) % BulkGroupOp::ALL.len()];
                Detail::BulkGroup(op, amount)
            }
            _ if kind == InstrKind::LdGlobal && amount & 1 == 1 => {
                Detail::PastL1 { writes: amount & 2 != 0 }
            }
            _ if matches!(kind, InstrKind::Alu | InstrKind::Sfu) && amount & 1 == 1 => {
                Detail::Unit(Unit::ALL[(amount >> 1) as usize % Unit::ALL.len()])
            }
            none => none,
        };
        if kind == InstrKind::BulkCopy {
            instr.addrs = Addresses::Copy(Box::new(transfer));
        } else if kind == InstrKind::Mbarrier {
            instr.addrs = Addresses::Affine { base, stride };
        } else if kind.is_memory() {
            instr.bytes = 1 << width;
            instr.addrs = match list {
                None => Addresses::Affine { base, stride },
                Some(list) => Addresses::List(
                    (0..32).map(|l| if mask >> l & 1 == 1 { list[l] } else { 0 }).collect(),
                ),
            };
        }
        instr
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn programs_survive_a_round_trip(
        a in prop::collection::vec(instr(), 0..40),
        b in prop::collection::vec(instr(), 0..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.spt");
        let written = write(&path, &[((0, 1), a.clone()), ((1, 0), b.clone())]);
        prop_assert_eq!(written.bytes, std::fs::metadata(&path).unwrap().len());
        let file = TraceFile::open(&path).unwrap();
        prop_assert_eq!(file.instructions(), (a.len() + b.len()) as u64);
        prop_assert_eq!(read(&file, 0, 1).unwrap(), a);
        prop_assert_eq!(read(&file, 1, 0).unwrap(), b);
        prop_assert!(read(&file, 0, 0).unwrap().is_empty());
    }
}

/// A loop of five instructions with strided accesses.
fn looping(count: u32) -> Vec<Instr> {
    let full = full_mask(32);
    (0..count)
        .map(|i| {
            let kinds = [
                InstrKind::LdGlobal,
                InstrKind::Alu,
                InstrKind::StShared,
                InstrKind::LdShared,
                InstrKind::Branch,
            ];
            let kind = kinds[i as usize % 5];
            let mut instr = Instr::new(kind, i % 5, full);
            instr.dst = Some(3);
            instr.srcs = Sources::new(&[1, 2]).unwrap();
            if kind.is_memory() {
                let base = u64::from(i) * 128;
                instr.addrs = Addresses::Affine { base, stride: 4 };
            }
            instr
        })
        .collect()
}

#[test]
fn strided_code_takes_few_bytes_an_instruction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.spt");
    let summary = write(&path, &[((0, 0), looping(20_000))]);
    let per_instr = summary.bytes as f64 / summary.instructions as f64;
    assert!(per_instr < 8.0, "{per_instr} bytes an instruction");
}

#[test]
fn every_truncation_and_every_changed_byte_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.spt");
    write(&path, &[((0, 0), looping(30)), ((1, 1), looping(7))]);
    let good = std::fs::read(&path).unwrap();
    let bad = folder.path().join("bad.spt");
    let problem = |bytes: &[u8]| {
        std::fs::write(&bad, bytes).unwrap();
        let whole = || -> spadkit_base::error::Result<()> {
            let file = TraceFile::open(&bad)?;
            for block in 0..2 {
                for warp in 0..2 {
                    read(&file, block, warp)?;
                }
            }
            Ok(())
        };
        let error = whole().expect_err("the damage goes unnoticed");
        assert_eq!(error.exit_status(), 2, "{error}");
        error.to_string()
    };
    for length in 0..good.len() {
        let error = problem(&good[..length]);
        assert!(error.contains("truncated at byte"), "{length}: {error}");
    }
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        problem(&bytes);
    }
    let mut version = good.clone();
    let next = VERSION + 1;
    version[MAGIC.len()..][..2].copy_from_slice(&next.to_le_bytes());
    assert!(problem(&version).contains(&format!("version {next} is not supported")));
    assert!(problem(b"{\"name\": \"an access trace\"}").contains("is not a full trace"));
    let mut longer = good.clone();
    longer.extend([0; 40]);
    assert!(problem(&longer).contains("follow the end"));
}

/// The same bytes, but for the version and the header's checksum.
#[test]
fn the_first_version_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.spt");
    write(&path, &[((0, 0), looping(30))]);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[MAGIC.len()] = 1;
    let at = MAGIC.len() + 2;
    let length = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let end = at + 4 + length;
    let sum = checksum(&bytes[..end]).to_le_bytes();
    bytes[end..end + 4].copy_from_slice(&sum);
    let file = TraceFile::from_bytes(bytes, &path).unwrap();
    assert_eq!(read(&file, 0, 0).unwrap(), looping(30));
}

#[test]
fn nothing_is_left_of_an_unfinished_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.spt");
    let mut writer = TraceWriter::create(&path, &info(1)).unwrap();
    assert!(writer.push(1, 0, &looping(1)[0]).is_err());
    writer.push(0, 0, &looping(1)[0]).unwrap();
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_other_blocks_do_survives_a_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.spt");
    let all: Vec<Incoming> = (0..1200u64)
        .map(|n| Incoming {
            object: 8 * (n % 3),
            phase: n / 3,
            op: MbarrierOp::new(BarrierOp::ALL[n as usize % 12], n as u32),
            copy: (n % 3 > 0).then_some(((16 * n, 64), n % 3 == 1)),
        })
        .collect();
    let mut writer = TraceWriter::create(&path, &info(2)).unwrap();
    writer.push(1, 0, &looping(1)[0]).unwrap();
    writer.incoming(1, &all).unwrap();
    writer.finish().unwrap();
    let file = TraceFile::open(&path).unwrap();
    assert_eq!(file.incoming(1).unwrap(), all);
    assert!(file.incoming(0).unwrap().is_empty());
    assert_eq!(
        (file.instructions(), read(&file, 1, 0).unwrap().len()),
        (1, 1)
    );
    // A copy of the trace has it, too.
    let again = folder.path().join("again.spt");
    record(&file, &again).unwrap();
    assert_eq!(TraceFile::open(&again).unwrap().incoming(1).unwrap(), all);
    // A changed byte is noticed.
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.iter().rposition(|b| *b == 64).unwrap();
    bytes[at] ^= 1;
    let damaged = TraceFile::from_bytes(bytes, &path).unwrap();
    assert!(damaged.incoming(1).is_err());
}
