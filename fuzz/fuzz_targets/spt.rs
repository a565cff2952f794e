//! Any bytes as a full trace: refused, or programs that can be read to their end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::sm::{TraceFile, Workload};
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let Ok(trace) = TraceFile::from_bytes(bytes.to_vec(), Path::new("x.spt")) else {
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
});
