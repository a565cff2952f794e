//! Bulk copies and `mbarrier` objects in the part of the scratchpad that two blocks share.

use super::copies::{copying, on_blocks, one};
use super::*;

/// Bytes of a block: two have room if they share, and the private part ends at byte 240.
const BYTES: u32 = 2400;
const PRIVATE: u64 = 0;
const SHARED: u64 = 1024;

fn barrier(at: u64, op: MbarrierOp) -> Instr {
    let mut instr = one(InstrKind::Mbarrier);
    instr.detail = op.into();
    instr.addrs = Addresses::Affine {
        base: at,
        stride: 0,
    };
    instr
}

fn copy(transfer: Transfer) -> Instr {
    let mut instr = one(InstrKind::BulkCopy);
    instr.addrs = Addresses::Copy(Box::new(transfer));
    instr
}

/// A block of one warp that copies 128 bytes to byte `to`, waits at the object at byte
/// `object`, and computes for as long again.
fn loads(object: u64, to: u64) -> Vec<Instr> {
    let bytes = 128;
    let mut program = vec![
        barrier(object, MbarrierOp::Init { arrivals: 1 }),
        barrier(object, MbarrierOp::ArriveExpect { bytes }),
        copy(Transfer {
            shared: vec![(to, bytes.into())],
            global: vec![(4096, bytes.into())],
            arrives: Some((object, bytes)),
            ..Transfer::default()
        }),
        barrier(object, MbarrierOp::Wait { phase: 0 }),
    ];
    program.extend((0..40).map(|_| one(InstrKind::Alu)));
    program
}

fn sharing(on: bool) -> Config {
    let mut config = copying(32);
    (config.sm.sharing.on, config.sm.sharing.threshold) = (on, 0.1);
    config
}

fn run(on: bool, program: &[Instr]) -> Result<Statistics> {
    on_blocks(&sharing(on), (2, BYTES), vec![program.to_vec()])
}

#[test]
fn a_copy_or_an_object_in_the_shared_part_claims_it() {
    let alone = run(false, &loads(PRIVATE, 64)).unwrap();
    let private = run(true, &loads(PRIVATE, 64)).unwrap();
    // Nothing of the pair is in common.
    assert_eq!(private.shared_progress.holding, 0);
    assert!(private.cycles + 30 < alone.cycles, "{private:?}");
    for (object, to) in [(PRIVATE, SHARED), (SHARED, 64), (SHARED, SHARED + 64)] {
        let s = run(true, &loads(object, to)).unwrap();
        let progress = s.shared_progress;
        // The blocks take turns from the first claim to the end of the block.
        assert!(s.cycles + 20 > alone.cycles, "{object} {to}: {s:?}");
        assert!(progress.holding > 140, "{object} {to}: {progress:?}");
    }
}

/// A store that nobody waits for reads the shared part until the block ends: the partner
/// begins when it has.
#[test]
fn a_block_holds_the_shared_part_until_its_copies_have_read() {
    let store = |from: u64| {
        vec![copy(Transfer {
            stores: true,
            shared: vec![(from, 1024)],
            global: vec![(4096, 1024)],
            ..Transfer::default()
        })]
    };
    let rows = 1024 / 32;
    let s = run(true, &store(SHARED)).unwrap();
    assert!(s.shared_progress.holding >= 2 * rows, "{s:?}");
    assert!(s.cycles > 2 * rows, "{s:?}");
}

#[test]
fn a_copy_behind_the_release_is_found() {
    let mut program = loads(PRIVATE, SHARED);
    program.insert(2, Instr::new(InstrKind::RelSsp, 0, 0xff));
    let error = run(true, &program).unwrap_err().to_string();
    assert!(
        error.contains("cp.async.bulk touches the shared scratchpad after relssp"),
        "{error}"
    );
}
