//! Any workload as a full trace.

use super::{TraceSummary, TraceWriter};
use crate::sm::workload::Workload;
use spadkit_base::error::Result;
use std::path::Path;

/// Writes the programs of all warps of `workload` to `path`.
pub fn record(workload: &dyn Workload, path: &Path) -> Result<TraceSummary> {
    let info = workload.info();
    let mut writer = TraceWriter::create(path, info)?;
    for block in 0..info.blocks {
        for warp in 0..info.warps() {
            let mut stream = workload.open(block, warp)?;
            while let Some(part) = stream.next_part()? {
                for instr in part.iter() {
                    writer.push(block, warp, instr)?;
                }
            }
            writer.end_warp(block, warp)?;
        }
        writer.incoming(block, &workload.incoming(block)?)?;
    }
    writer.finish()
}
