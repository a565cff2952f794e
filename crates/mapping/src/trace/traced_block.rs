//! The block of a launch that a trace is of.

use super::AccessTrace;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// The field of a trace that has the blocks of the launch in x, y, z.
pub const GRID_FIELD: &str = "grid";
/// The field that has the index of the block in x, y, z.
pub const BLOCK_FIELD: &str = "block";

/// One block of a launch: its counts are not those of the launch, which a profiler shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TracedBlock {
    /// The linear index of the block.
    pub block: u64,
    /// Blocks of the launch.
    pub blocks: u64,
}

impl fmt::Display for TracedBlock {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "block {} of {}", self.block, self.blocks)
    }
}

impl AccessTrace {
    /// The block that was traced, where the trace names the launch.
    pub fn traced_block(&self) -> Option<TracedBlock> {
        let of = |field: &str| {
            let values = self.extra.get(field)?.as_array()?;
            let values = values
                .iter()
                .map(Value::as_u64)
                .collect::<Option<Vec<_>>>()?;
            <[u64; 3]>::try_from(values).ok()
        };
        let (grid, at) = (of(GRID_FIELD)?, of(BLOCK_FIELD)?);
        let is_inside = grid.iter().zip(&at).all(|(blocks, at)| at < blocks);
        let blocks = grid.iter().try_fold(1u64, |all, n| all.checked_mul(*n))?;
        is_inside.then(|| TracedBlock {
            block: at[0] + grid[0] * (at[1] + grid[1] * at[2]),
            blocks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn block(grid: &Value, block: &Value) -> Option<String> {
        let mut trace = AccessTrace::from_json(
            r#"{"name":"t","source":"s","block_dim":[32,1,1],"shared_bytes":64,"warp_size":32,
            "accesses":[]}"#,
            std::path::Path::new("t.json"),
        )
        .unwrap();
        trace.extra.insert(GRID_FIELD.to_owned(), grid.clone());
        trace.extra.insert(BLOCK_FIELD.to_owned(), block.clone());
        trace.traced_block().map(|traced| traced.to_string())
    }

    #[test]
    fn the_linear_index_counts_x_first() {
        let found = block(&json!([4, 3, 2]), &json!([1, 2, 1]));
        assert_eq!(found.unwrap(), "block 21 of 24");
    }

    #[test]
    fn other_fields_of_these_names_are_no_block() {
        for (grid, at) in [
            (json!([4, 3, 2]), json!([4, 0, 0])),
            (json!([4, 3]), json!([0, 0])),
            (json!("4x3"), json!([0, 0, 0])),
            (json!([u64::MAX, 2, 1]), json!([0, 0, 0])),
        ] {
            assert_eq!(block(&grid, &at), None, "{grid} {at}");
        }
    }
}
