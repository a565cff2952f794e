//! Any bytes as a full trace: refused, or programs that can be read to their end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::sm::{TraceFile, Workload};
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    read(bytes.to_vec());
    // Nobody guesses a checksum: what is behind them is to be reached, too.
    read(with_checksums(bytes.to_vec()));
});

fn read(bytes: Vec<u8>) {
    let Ok(trace) = TraceFile::from_bytes(bytes, Path::new("x.spt")) else {
        return;
    };
    let info = trace.info().clone();
    let mut read = 0;
    // Few of the blocks: a header can promise billions of empty ones.
    for block in 0..info.blocks.min(4) {
        for warp in 0..info.warps().min(64) {
            let mut stream = trace.open(block, warp).expect("a warp of the kernel");
            while let Ok(Some(part)) = stream.next_part() {
                read += part.len() as u64;
            }
        }
    }
    assert!(read <= trace.instructions());
}

/// The trace with the checksum of every part made right (docs/reference/formats.md).
fn with_checksums(mut trace: Vec<u8>) -> Vec<u8> {
    let number = |trace: &[u8], at: usize| {
        let bytes = trace.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    let seal = |trace: &mut Vec<u8>, from: usize, to: usize| {
        let sum = crc(trace.get(from..to)?);
        trace.get_mut(to..to + 4)?.copy_from_slice(&sum.to_le_bytes());
        Some(to + 4)
    };
    let mut next = || {
        let length = number(&trace, 10)?;
        let mut at = seal(&mut trace, 0, 14 + length)?;
        while trace.get(at) == Some(&b'C') {
            let length = number(&trace, at + 13)?;
            at = seal(&mut trace, at, at + 17 + length)?;
        }
        let end = trace.len().checked_sub(4).filter(|end| *end > at)?;
        seal(&mut trace, at, end)
    };
    let _ = next(); // a broken one stays broken
    trace
}

/// CRC-32 (IEEE), bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    !bytes
        .iter()
        .fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
