//! The differences of a run from the figure's file.

use super::figure::Workload;
use spadkit_base::error::{Error, Result};
use spadkit_launch::launch::{Arg, ArgKind, Buffer, Init, LaunchFile};

/// The change for a sensitivity analysis; none by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Keys of the machine, set last.
    pub sets: Vec<String>,
    /// Added to every seed of the inputs.
    pub seed: u64,
    /// Half of the blocks.
    pub half_grid: bool,
}

impl Change {
    /// Puts into a workload what is not about the machine.
    pub(super) fn apply(&self, work: &mut Workload) {
        work.seed = (self.seed != 0).then_some(self.seed);
        work.half_grid = self.half_grid;
    }
}

/// The launch file with the workload's arguments and grid.
pub(super) fn adapt(file: &mut LaunchFile, work: &Workload) -> Result<()> {
    if let Some(grid) = work.grid {
        file.first.grid = grid;
    }
    if let Some(block) = work.block {
        file.first.block = block;
    }
    for (name, value) in &work.args {
        match (name.as_str(), u32::try_from(*value)) {
            ("dynamic_shared", Ok(bytes)) => file.first.dynamic_shared = bytes,
            _ => set_argument(file, name, *value)?,
        }
    }
    if work.half_grid {
        halve(&mut file.first.grid);
    }
    if let Some(more) = work.seed {
        let symbols = file.symbols.iter_mut().map(|s| &mut s.buffer);
        let buffers = file.args.iter_mut().filter_map(buffer).chain(symbols);
        buffers
            .filter_map(|b| seed_of(&mut b.init))
            .for_each(|seed| {
                *seed = seed.wrapping_add(more);
            });
    }
    Ok(())
}

/// Half of the blocks, along the longest side.
fn halve(grid: &mut [u32; 3]) {
    let longest = grid.iter().copied().max().unwrap_or(1);
    if let Some(side) = grid.iter_mut().find(|n| **n == longest) {
        *side = longest.div_ceil(2);
    }
}

fn buffer(arg: &mut Arg) -> Option<&mut Buffer> {
    match &mut arg.kind {
        ArgKind::Buffer(buffer) => Some(buffer),
        _ => None,
    }
}

fn seed_of(init: &mut Init) -> Option<&mut u64> {
    match init {
        Init::Random(random) => Some(&mut random.seed),
        Init::Image(image) => Some(&mut image.seed),
        _ => None,
    }
}

/// Sets an integer scalar, or with `NAME.seed` and `NAME.count` seed and size of
/// a buffer.
fn set_argument(file: &mut LaunchFile, name: &str, value: i64) -> Result<()> {
    let (name, part) = name.split_once('.').unwrap_or((name, ""));
    let unknown = Error::usage(
        format!(
            "{}: no argument '{name}' to replace",
            file.ptx.value.display()
        ),
        "expected an integer scalar, NAME.seed or NAME.count of a buffer, or dynamic_shared",
    );
    let arg = file.args.iter_mut().find(|a| a.name == name);
    match arg.map(|a| &mut a.kind) {
        Some(ArgKind::Value(_, bytes)) if part.is_empty() && bytes.len() <= 8 => {
            let length = bytes.len();
            bytes.copy_from_slice(&value.to_le_bytes()[..length]);
            Ok(())
        }
        Some(ArgKind::Buffer(buffer)) if part == "count" && value > 0 => {
            buffer.count = value as u64;
            Ok(())
        }
        Some(ArgKind::Buffer(buffer)) if part == "seed" => match &mut buffer.init {
            Init::Random(random) => {
                random.seed = value as u64;
                Ok(())
            }
            _ => Err(unknown),
        },
        _ => Err(unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_blocks_is_taken_along_the_longest_side() {
        for (grid, half) in [
            ([16, 1, 1], [8, 1, 1]),
            ([3, 5, 1], [3, 3, 1]),
            ([1, 1, 1], [1, 1, 1]),
        ] {
            let mut changed = grid;
            halve(&mut changed);
            assert_eq!(changed, half);
        }
    }
}
